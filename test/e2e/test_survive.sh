#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Guests survive: the agent is killed with -9 and started again, libvirtd is stopped, killed and started again, and each
# time the same QEMUs run the same VMIs, nothing is started or stopped, and what guests do afterwards is noticed.
# environments: embed system
# takes: 40
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# What must not change: the run, its QEMU, and the number of its events.
picture()
{
	local uid pid
	uid=$(vmi_uid "$1") pid=$(qemu_pid "$1")
	echo "$uid $(phase "$1") $pid $(story "$1" "$uid" | wc -l) $(alive "$pid" && echo lives)"
}

unchanged() # AFTER WHAT
{
	local name
	for name in one two; do
		soon "$1: $name is the same run in the same QEMU" same "${pictures[$name]}" picture "$name"
	done
}

ticks() { grep -a -c '^tick' "$S/vmi/$one/serial0.log"; }
ticked_since() { [ "$(ticks)" -gt "$1" ]; }

noticed() # AFTER WHAT: a guest that powers off is
{
	local run
	vm "$2" RerunOnFailure
	running "$2"
	up "$2"
	run=$(vmi_uid "$2")
	type_in "$2" poweroff
	soon "$1: a guest's end is noticed" told "$2" "$run" 'phase Running -> Succeeded: the guest powered itself off'
}

begin
declare -A pictures
vm one Always
vm two Manual
holds 'start is accepted' vmactl start two
for name in one two; do
	running "$name"
	up "$name"
	pictures[$name]=$(picture "$name")
done
one=$(vmi_uid one)

for who in child parent; do
	[ "$ENV$who" != systemchild ] || continue
	agent_kill "$who"
	before=$(ticks)
	await 'the guest goes on without an agent' ticked_since "$before"
	agent_start
	unchanged "kill -9 of the agent ($who)"
done
noticed 'kill -9 of the agent' three
unchanged 'a while after it'

agent_stop
holds 'stopping the agent leaves guests running' alive "$(qemu_pid one)"
agent_start
unchanged 'stop and start of the agent'

if [ "$ENV" = system ]; then
	for how in TERM KILL; do
		connections=$(log_count 'libvirt: connected')
		losses=$(($(log_count 'libvirt: not connected') + 1))
		libvirtd_stop "$how"
		await 'the agent notices' log_has 'libvirt: not connected' "$losses"
		libvirtd_start
		await 'the agent is connected again' log_has 'libvirt: connected' "$((connections + 1))"
		unchanged "libvirtd ended by $how"
		noticed "libvirtd ended by $how" "after-$(tr '[:upper:]' '[:lower:]' <<<"$how")"
		unchanged "a while after libvirtd ended by $how"
	done
fi

before=$(ticks)
soon 'the guest has run all the time' ticked_since "$before"
holds 'and all can be stopped' vmactl delete vm --all --timeout="${PATIENCE}s"
