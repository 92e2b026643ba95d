#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent, libvirtd or both are killed at random moments under a load of orders: ROUNDS kills, judged after each eight.
# environments: embed system
# takes: 600
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../e2e/kills.sh
. "$(dirname "$0")/../e2e/kills.sh"

RANDOM=$SEED
kills_begin
while [ "$kills" -lt "$ROUNDS" ]; do
	burst $((ROUNDS - kills < 8 ? ROUNDS - kills : 8))
done
print_moments
