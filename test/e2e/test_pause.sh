#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pause, unpause, reset, soft-reboot and the paused start: a paused guest stands still, also while agent and libvirtd are
# killed and come back; a guest that is reset or rebooted is the same run. Each verb is refused once.
# environments: embed system
# takes: 60
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

declare -A run
ticks() { grep -a -c '^tick' "$S/vmi/${run[$1]}/serial0.log"; }
ticked_since() { [ "$(ticks "$1")" -gt "$2" ]; }

# A second guest tells that there was time to tick.
time_passes() { await 'time passes' ticked_since clock $(($(ticks clock) + 1)); }

stands_still() # WHILE WHAT
{
	time_passes
	soon "$1: the VM is shown as Paused" same Paused status web
	is "$1: … by the user" "$(get vmi web '.status.conditions[?(@.type=="Paused")].reason')" PausedByUser
	is "$1: … and stands still" "$(ticks web)" "$stand"
	is "$1: … as the same run in the same QEMU" "$(picture web)" "$picture"
}

refused() # PATTERN COMMAND...
{
	local words
	! words=$("${@:2}" 2>&1) && grep -q -e "$1" <<<"$words"
}

picture() { echo "$(vmi_uid "$1") $(phase "$1") $(qemu_pid "$1")"; }

begin
for name in web clock; do
	vm $name Always
	running $name
	up $name
	run[$name]=$(vmi_uid $name)
done
picture=$(picture web)

holds 'unpause is refused while it runs' refused 'Conflict.*is not paused' vmactl unpause web
holds 'pause is accepted' vmactl pause vm web
holds 'it is paused' vmactl wait vmi/web --for=condition=Paused --timeout="${PATIENCE}s"
stand=$(ticks web)
stands_still 'paused'
holds 'pause is refused twice' refused 'Conflict.*is already paused' vmactl pause web
holds 'soft-reboot is refused while paused' refused 'Conflict.*unpause it first' vmactl soft-reboot vmi web
agent_kill
agent_start
stands_still 'kill -9 of the agent'
if [ "$ENV" = system ]; then
	connections=$(log_count 'libvirt: connected')
	libvirtd_stop KILL
	await 'the agent notices' log_has 'libvirt: not connected'
	libvirtd_start
	await 'the agent is connected again' log_has 'libvirt: connected' "$((connections + 1))"
	stands_still 'kill -9 of libvirtd'
fi
holds 'unpause is accepted' vmactl unpause vmi web
soon 'the guest goes on' ticked_since web "$stand"
soon 'the VM is shown as Running' same Running status web
holds 'the events tell it' told web "${run[web]}" Paused
holds '… and who did it' told web "${run[web]}" 'Unpaused.*unpause accepted'

holds 'reset is accepted' vmactl reset web
soon 'a guest that was reset boots again' says web '^guest up' 2
is '… as the same run in the same QEMU' "$(picture web)" "$picture"
holds 'soft-reboot is accepted' vmactl soft-reboot vm/web
soon 'a guest that was asked to reboot boots again' says web '^guest up' 3
holds '… having been asked' says web '^button pressed'
is '… as the same run in the same QEMU' "$(picture web)" "$picture"

vm cold Halted
holds 'reset is refused without a run' refused 'NotFound' vmactl reset cold
holds 'a paused start is accepted' vmactl start cold --paused
soon 'it is Paused' same 'Paused Always' eval 'echo $(status cold) $(strategy cold)'
run[cold]=$(vmi_uid cold)
time_passes
holds '… and has not begun' not says cold .
holds 'unpause lets it begin' vmactl unpause cold
up cold
holds 'it is paused once more' vmactl pause cold
soon '… and stands' same Paused status cold
holds 'a paused guest can be stopped' vmactl stop cold
soon '… at once' told cold "${run[cold]}" 'phase Running -> Failed: killed at once'
holds 'the VMI goes' vmactl wait vmi/cold --for=delete --timeout="${PATIENCE}s"
is 'a stop is a stop' "$(status cold)" Stopped
holds 'and all can be stopped' vmactl delete vm --all --timeout="${PATIENCE}s"
