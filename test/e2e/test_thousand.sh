#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A thousand machines that run: a list of them, as objects or as a Table, costs the agent less than 50 ms of CPU.
# environments: test
# takes: 60
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=thousand.sh
. "$(dirname "$0")/thousand.sh"

N=1000
LIMIT_MS=50

# cheap WHAT PATH [ACCEPT]
cheap()
{
	local tenths
	tenths=$(cost "${@:2}") || fail "$1: no answer"
	[ "$tenths" -lt $((10 * LIMIT_MS)) ] || fail "$1: it costs $(tenths "$tenths") ms, not below $LIMIT_MS"
	ok "$1: $(tenths "$tenths") ms"
}

settled() { count_is $N "$VMIS" && [ "$(ask 1 "$VMIS" | grep -o '"status":{"phase":"Running"' | wc -l)" = $N ]; }

begin
many $N Always
await 'all are there' count_is $N "$VMS"
await 'all run' settled
is 'one is found by its label' "$(items "$VMS?labelSelector=app=many,number=500")" 1
is 'a few are found by theirs' "$(items "$VMS?labelSelector=number+in+(1,2,1000,1001)")" 3
is 'one is found by its name' "$(items "$VMS?fieldSelector=metadata.name=m77")" 1
if [ -n "${VMAGENT_SAN-}" ]; then
	echo '# costs are not counted in a build with sanitizers'
	exit
fi
cheap 'a list of VMs' "$VMS"
cheap 'a list of VMIs' "$VMIS"
cheap 'VMs as a Table' "$VMS" "$TABLE"
cheap 'VMIs as a Table' "$VMIS" "$TABLE"
cheap 'VMs by label' "$VMS?labelSelector=app=many,number!=7"
cheap 'pods' /api/v1/pods
cheap 'pods as a Table' /api/v1/pods "$TABLE"
