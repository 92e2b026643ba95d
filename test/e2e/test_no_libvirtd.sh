#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What happens to guests while libvirtd is down is judged when it is back, and judged the same; meanwhile the agent goes on
# answering and concludes nothing.
# environments: system
# takes: 50
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=ends.sh
. "$(dirname "$0")/ends.sh"

begin
ends_create
libvirtd_stop TERM
soon 'the agent notices that libvirtd is gone' log_has 'libvirt: not connected'
ends_cause
is 'nothing is concluded without libvirtd' "$(phase ended) $(phase killed) $(phase panicked)" 'Running Running Running'
libvirtd_start
ends_judge 'while libvirtd was down'
