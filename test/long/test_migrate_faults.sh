#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A guest changes its host ROUNDS times, and each time something dies on the way, in each phase of the hand-over in turn.
# environments: system
# takes: 1500
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../e2e/hosts.sh
. "$(dirname "$0")/../e2e/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=../e2e/guests.sh
. "$(dirname "$0")/../e2e/guests.sh"
# shellcheck source-path=SCRIPTDIR source=../e2e/faults.sh
. "$(dirname "$0")/../e2e/faults.sh"

RANDOM=$SEED
faults_begin
faults_run "$ROUNDS" "${CASES-.}" # a pattern of those in faults.sh
print_phases
if [ "$ROUNDS" -ge 60 ] && [ -z "${CASES-}" ]; then # less would show too little
	for phases in prepare perform 'call reply evidence' 'released owner' finalized; do
		# shellcheck disable=SC2086
		holds "at least 5 in: $phases" test "$(count_in $phases)" -ge 5
	done
fi
