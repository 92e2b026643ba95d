#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A guest that ends soon after each start, under Always: started again at once as often as the configuration says, then
# held back a little longer each time, with count, cause and next try for whoever looks. A start in the wait starts it at
# once; a stop in the wait ends the loop for good (kubevirt-semantics §4.5 [P], §6 row 14).
# environments: embed system
# takes: 50
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

creations() { story loop | grep -c SuccessfulCreate; }
condition() { vmactl get vm loop -o jsonpath="{.status.conditions[?(@.type==\"CrashLoop\")].$1}"; }
described() { vmactl describe vm loop | grep -E -q "$1"; }
kill_it() { kill -9 "$(qemu_pid loop)"; }
text() { echo "ended $1 in a row within 3600 s of its start, the last time: $2"; }
is_past() { [ "$(date -u +%FT%TZ)" \> "$1" ]; }

# ends_again RUN COMMAND...: the command ends the run that goes on now; what comes of it is awaited by the caller.
ends_again()
{
	running loop
	is "run $1 is the one that runs" "$(creations)" "$1"
	"${@:2}"
}

set_up
cat >>"$T/config.yaml" <<-YAML
	  crashLoop: { stableSeconds: 3600, freeRestarts: 1 }
YAML
agent_start
vm loop Always

ends_again 1 kill_it
soon 'the first quick end is not held back' same 2 creations
is '… and nothing is said of a loop' "$(condition reason)" ''
ends_again 2 kill_it
soon 'the second one is' same CrashLoopBackOff status loop
soon '… by 10 to 15 s' told loop "$(vm_uid loop)" "$(text '2 times' 'QEMU ended without a shutdown'); next try in 1[0-5] s"
soon '… and then tried again' same 3 creations

up loop
ends_again 3 type_in loop poweroff
soon 'the guest powers off: held back again' same CrashLoopBackOff status loop
soon '… by 40 to 60 s' told loop "$(vm_uid loop)" "$(text '3 times' 'the guest powered itself off'); next try in [4-6]. s"
soon '… without a VMI' no_vmi loop
is 'a condition says so' "$(condition reason)" GuestKeepsEnding
holds 'describe tells how often, why, and when it is tried next' \
	described "GuestKeepsEnding: $(text '3 times' 'the guest powered itself off'); next try at [0-9-]+T[0-9:]+Z$"
holds '… and shows the event' described "Warning +CrashLoopBackOff .*$(text '3 times' 'the guest powered itself off')"
holds 'so does get -o wide' \
	sh -c "'$B/vmactl' get vm loop -o wide | grep -q 'CrashLoopBackOff .*$(text '3 times' 'the guest powered itself off')'"
is 'the start failure of upstream is another' "$(get vm loop .status.startFailure)" ''

holds 'a start in the wait is accepted' vmactl start loop
running loop
is '… and makes the count begin anew' "$(condition reason) $(creations)" ' 4'
ends_again 4 kill_it
soon 'so that the next quick end is not held back' same 5 creations

ends_again 5 kill_it
soon 'held back once more' same CrashLoopBackOff status loop
next=$(condition message)
holds 'a stop in the wait is accepted' vmactl stop loop
is '… and shows at once' "$(status loop) $(strategy loop) $(condition reason)" 'Stopped Halted '
soon '… with the VMI gone' no_vmi loop
await 'the time of the next try passes' is_past "${next##*next try at }"
is 'it is not started again' "$(creations) $(status loop)" '5 Stopped'
