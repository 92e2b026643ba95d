#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A minute of churn on 200 machines: the agent grows neither in descriptors nor in threads, memory or database.
# environments: test
# takes: 70
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=churn.sh
. "$(dirname "$0")/churn.sh"

SEED=${SEED:-2} # the same here each time; test/long draws others
begin
churn "${CHURN:-60}" 200
