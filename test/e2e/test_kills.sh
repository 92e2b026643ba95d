#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Eight kills of agent, libvirtd or both at random moments while machines are started, stopped, restarted and paused:
# no guest is lost, none doubled, none started that was stopped. test/long does it for longer. SEED repeats one.
# environments: embed system
# takes: 45
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=kills.sh
. "$(dirname "$0")/kills.sh"

SEED=${SEED:-2} # the same here each time; test/long draws others
RANDOM=$SEED
echo "# SEED=$SEED"
kills_begin
burst 8
print_moments
