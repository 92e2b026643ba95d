#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ten minutes of churn on 200 machines: the agent grows neither in descriptors nor in threads, memory or database.
# environments: test
# takes: 650
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../e2e/churn.sh
. "$(dirname "$0")/../e2e/churn.sh"

begin
churn "${CHURN:-600}" 200
