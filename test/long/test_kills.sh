#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent, or libvirtd under it, is killed at random moments while machines are being started, stopped, edited and
# deleted. Each time what was asked for comes about, nothing runs twice, nothing is left behind, and a guest that nobody
# touched has not noticed.
# environments: embed system
# takes: 600
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

RANDOM=$SEED
one_of() { local list=("$@"); REPLY=${list[RANDOM % $#]}; } # in REPLY: a subshell would not advance RANDOM

# ---- what may be going on ----------------------------------------------------------------------------------------

op_stop()     { vmactl stop "$1"; }
op_force()    { vmactl stop "$1" --force --grace-period=0; }
op_start()    { vmactl start "$1"; }
op_restart()  { vmactl restart "$1" --force --grace-period=0; }
op_crash()    { kill -9 "$(qemu_pid "$1")"; }
op_edit()     { one_of Always Halted; manifest "$1" "$REPLY" "memory=$((96 + RANDOM % 64))Mi" grace=3 | put "$1.yaml"; }
op_delete()   { vmactl delete vm "$1" --wait=false --grace-period=0; }
op_remove()   { rm -f "$M/$1.yaml"; }
op_nothing()  { :; }

# ---- what may be killed ------------------------------------------------------------------------------------------

kill_child()    { agent_kill child; agent_start; }
kill_parent()   { agent_kill parent; agent_start; }
kill_libvirtd() { libvirtd_stop KILL; libvirtd_start; }
end_libvirtd()  { libvirtd_stop TERM; libvirtd_start; }
kill_both()     { agent_kill parent; libvirtd_stop KILL; libvirtd_start; agent_start; }

victims=(kill_child kill_parent)
[ "$ENV" = embed ] || victims=(kill_parent kill_libvirtd end_libvirtd kill_both)

# ---- what must come about ----------------------------------------------------------------------------------------

qemus() # NAME: how many there are, of this test's
{
	local pid n=0
	for pid in $(pgrep -f "guest=default_$1,"); do
		! grep -q -a -s -F "$T/" "/proc/$pid/cmdline" || ! alive "$pid" || n=$((n + 1))
	done
	echo $n
}

# What the VM's strategy says is so: one QEMU and a Running VMI, or neither.
is_settled() # NAME
{
	local strategy
	if ! vmactl get vm "$1" >/dev/null 2>&1; then
		no_vm "$1" && no_vmi "$1" && [ "$(qemus "$1")" = 0 ]
		return
	fi
	[ -z "$(get vm "$1" .metadata.deletionTimestamp)" ] || return
	strategy=$(strategy "$1")
	if [ "$strategy" = Halted ]; then
		no_vmi "$1" && [ "$(qemus "$1")" = 0 ]
	else
		[ "$(phase "$1") $(get vmi "$1" .metadata.deletionTimestamp) $(qemus "$1")" = 'Running  1' ]
	fi
}

folders() { find "$S/vmi" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort; }
uids() { vmactl get vmi -o jsonpath='{range .items[*]}{.metadata.uid}{"\n"}{end}' | sort; }
only_folders_of_runs() { [ "$(folders)" = "$(uids)" ]; }
rock() { echo "$(vmi_uid rock) $(qemu_pid rock) $(phase rock)"; }

round()
{
	local name op when victim
	one_of a b; name=$REPLY
	one_of "${victims[@]}"; victim=$REPLY
	one_of stop force start restart crash edit edit delete remove nothing; op=op_$REPLY
	when=$((RANDOM % 2000))
	echo "# round $1: $op $name, $victim after $when ms"
	"$op" "$name" >>"$T/log/ops.log" 2>&1 || :
	sleep "$((when / 1000)).$(printf %03d $((when % 1000)))" # the moment is what is tried
	"$victim"
	for name in a b; do
		await "round $1: $name is as it should be" is_settled "$name"
	done
	await "round $1: no folder is left of a run that is gone" only_folders_of_runs
	[ "$(rock)" = "$before" ] || fail "round $1: the untouched guest: '$(rock)', before '$before'"
	vmactl get vm a >/dev/null 2>&1 || op_edit a
	vmactl get vm b >/dev/null 2>&1 || op_edit b
}

begin
vm rock Always
running rock
up rock
before=$(rock)
vm a Always grace=3
vm b Always grace=3
for ((i = 1; i <= ROUNDS; i++)); do
	round "$i"
done
ok "$ROUNDS rounds with seed $SEED"
