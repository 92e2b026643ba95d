#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A guest changes its host some times, and each time something dies on the way: test/long does more of it.
# environments: system
# takes: 150
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=guests.sh
. "$(dirname "$0")/guests.sh"
# shellcheck source-path=SCRIPTDIR source=faults.sh
. "$(dirname "$0")/faults.sh"

SEED=${SEED:-2} # the same here each time; test/long draws others
RANDOM=$SEED
echo "# SEED=$SEED"
faults_begin
faults_run 6 '^\([^p]\|p[er]\)' # those of post-copy want a third guest; test_post_copy has one
print_phases
