#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What happens to guests while no agent runs is judged when one is there again, and judged the same: poweroff Succeeded,
# kill -9 of QEMU and panic Failed; and no QEMU is left behind.
# environments: embed system
# takes: 50
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=ends.sh
. "$(dirname "$0")/ends.sh"

begin
ends_create
agent_stop
ends_cause
agent_start
ends_judge 'while no agent ran'
