#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# REFUSALS migrations that a target refuses, as one of that name is there already, leave nothing behind in either agent: no
# descriptor, thread or child, and no memory that grows with them.
# environments: system
# takes: 600
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../e2e/hosts.sh
. "$(dirname "$0")/../e2e/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=../e2e/guests.sh
. "$(dirname "$0")/../e2e/guests.sh"

REFUSALS=${REFUSALS-1000}
WARM=100    # of which the first five are kept, and the change log gets its size
GROWTH=2048 # kB

count_of() { find "/proc/${HOST_AGENT[$1]}/$2" -mindepth 1 -maxdepth 1 | wc -l; }     # HOST fd|task
children_of() { pgrep -c -P "${HOST_AGENT[$1]}" || true; }                            # HOST
memory_of() { awk '/^VmRSS/ { print $2 }' "/proc/${HOST_AGENT[$1]}/status"; }          # HOST: kB
sample_of() { echo "$(count_of "$1" fd) $(count_of "$1" task) $(children_of "$1")"; } # HOST

declare -A before memory
has_no_more() # HOST
{
	local -a now was
	read -r -a now <<<"$(sample_of "$1")"
	read -r -a was <<<"${before[$1]}"
	[ "${now[0]}" -le "${was[0]}" ] && [ "${now[1]}" -le "${was[1]}" ] && [ "${now[2]}" -le "${was[2]}" ]
}

refuse() # TIMES
{
	local i
	for ((i = 0; i < $1; i++)); do
		! at a migrate one --to=host-b --wait --timeout="${PATIENCE}s" >>"$T/log/refused.txt" 2>&1 || fail 'it is not refused'
	done
}

hosts_begin
movers_begin
vm_at a one 'emptyDisk: { capacity: 8Mi }'
sed -e 's/runStrategy: .*/runStrategy: Halted/' "$T/a/manifests/one.yaml" >"$T/new"
mv "$T/new" "$T/b/manifests/one.yaml"
await 'another one is there' at b get vm one
refuse $WARM
holds 'its target has one of that name' grep -q "it has a virtual machine of that name" "$T/log/refused.txt"
for host in a b; do
	before[$host]=$(sample_of "$host") memory[$host]=$(memory_of "$host")
done
refuse "$REFUSALS"
for host in a b; do
	echo "# $host: descriptors, threads, children: ${before[$host]}, then $(sample_of "$host");" \
		"memory ${memory[$host]} kB, then $(memory_of "$host") kB"
	soon "$REFUSALS refusals leave nothing open in $host" has_no_more "$host"
	# Each is a migration, two events and some changes, all of which are forgotten in time.
	holds '… and hardly any memory' test "$(memory_of "$host")" -le $((memory[$host] + GROWTH))
done
last=$(last_tick a one)
soon 'the guest has seen nothing of it' counts_at a one "$last"
