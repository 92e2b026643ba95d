# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# kills.sh: the agent, libvirtd or both are killed at random moments under a load of orders, and what must have come of it:
# no guest lost, none doubled, none started that was stopped, nothing left behind. test/e2e and test/long run it, the one
# for a minute, the other for long. All that is random comes from SEED, but a load and a kill race on any machine.
#
#   rock   a guest that nobody touches: it must not notice
#   a b c  started, stopped, restarted, paused by the load; strategies Always, RerunOnFailure, Manual
#   d      crashed, edited, deleted, its file removed as well

kills=0 bursts=0
declare -A moments # how often a machine was in which phase when something was killed
orders=(stop stop force start start restart pause unpause)
wild=(crash edit edit delete remove start restart stop)

one_of() { local list=("$@"); REPLY=${list[RANDOM % $#]}; } # in REPLY: a subshell would not advance RANDOM
nap() { sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"; } # the moment is what is tried

# ---- the load ----------------------------------------------------------------------------------------------------

op_stop()    { vmactl stop "$1"; }
op_force()   { vmactl stop "$1" --force --grace-period=0; }
op_start()   { vmactl start "$1"; }
op_restart() { vmactl restart "$1" --force --grace-period=0; }
op_pause()   { vmactl pause "$1"; }
op_unpause() { vmactl unpause "$1"; }
op_crash()   { kill -9 "$(qemu_pid "$1")"; }
op_edit()    { one_of Always Halted; manifest "$1" "$REPLY" blank "memory=$((32 + RANDOM % 32))Mi" grace=2 | put "$1.yaml"; }
op_delete()  { vmactl delete vm "$1" --wait=false --grace-period=0; }
op_remove()  { rm -f "$M/$1.yaml"; }

load() # SEED
{
	local name
	RANDOM=$1
	while [ ! -e "$T/enough" ]; do
		one_of a b c d; name=$REPLY
		one_of "${orders[@]}"
		[ "$name" != d ] || one_of "${wild[@]}"
		echo "$REPLY $name"
		"op_$REPLY" "$name" || :
		nap $((RANDOM % 250))
	done
}

# Says each UUID that two QEMUs of this test have at the same time: both are still there when the second has been seen.
see_double()
{
	local uuid one other
	while [ ! -e "$T/enough" ]; do
		pgrep -a -f 'guest=default_' | grep -F "$T/" | sed -n 's/^\([0-9]*\) .* -uuid \([^ ]*\).*/\2 \1/p' |
			awk 'pid[$1] { print $1, pid[$1], $2 } { pid[$1] = $2 }' |
			while read -r uuid one other; do
				! { alive "$one" && alive "$other"; } || echo "$uuid"
			done
		sleep 0.1
	done
}

# ---- the kills ---------------------------------------------------------------------------------------------------

kill_child()    { agent_kill child; agent_start; }
kill_parent()   { agent_kill parent; agent_start; }
kill_agent()    { agent_kill; agent_start; }
kill_libvirtd() { libvirtd_stop KILL; libvirtd_start; }
end_libvirtd()  { libvirtd_stop TERM; libvirtd_start; }
kill_both()     { agent_kill parent; libvirtd_stop KILL; libvirtd_start; agent_start; }

victims=(kill_child kill_parent)
[ "$ENV" = embed ] || victims=(kill_agent kill_libvirtd end_libvirtd kill_both)

count_moments()
{
	local name phase deleted
	declare -A now=([rock]=gone [a]=gone [b]=gone [c]=gone [d]=gone)
	while read -r name phase deleted; do
		now[$name]=$phase
		[ "$deleted" = '<none>' ] || now[$name]=$phase,ending
	done < <(vmactl get vmi --no-headers \
		-o custom-columns=N:.metadata.name,P:.status.phase,D:.metadata.deletionTimestamp)
	for name in a b c d; do
		[ "${now[$name]}" != gone ] || now[$name]='no run'
		moments[${now[$name]}]=$((${moments[${now[$name]}]-0} + 1))
	done
}

kill_one()
{
	local when
	one_of "${victims[@]}"
	when=$((RANDOM % 1500))
	nap $when
	alive "$AGENT" || fail 'the agent ended by itself'
	count_moments
	kills=$((kills + 1))
	echo "# kill $kills: $REPLY after $when ms"
	"$REPLY"
}

print_moments()
{
	local phase text=''
	for phase in "${!moments[@]}"; do
		text+=", $phase ${moments[$phase]}"
	done
	echo "# $kills kills with SEED=$SEED; machines were at those moments: ${text#, }"
}

# ---- what must have come of it -----------------------------------------------------------------------------------

qemus() { pgrep -a -f "guest=default_$1," | grep -c -F "$T/"; } # NAME: how many there are, of this test's

# What the strategy says, or the last order where it leaves that open, is so: one QEMU and a Running VMI, or neither.
is_settled() # NAME
{
	if ! vmactl get vm "$1" >/dev/null 2>&1; then
		no_vm "$1" && no_vmi "$1" && [ "$(qemus "$1")" = 0 ]
		return
	fi
	[ -z "$(get vm "$1" .metadata.deletionTimestamp)" ] || return
	if is_wanted "$1"; then
		[ "$(phase "$1") $(get vmi "$1" .metadata.deletionTimestamp) $(qemus "$1")" = 'Running  1' ]
	else
		no_vmi "$1" && [ "$(qemus "$1")" = 0 ]
	fi
}

is_wanted() # NAME
{
	case $(strategy "$1") in
	Always) true ;;
	Halted) false ;;
	*)      orders_of "$1" | tail -n 1 | grep -q -v StopRequested ;;
	esac
}

# The events about a machine, by their number.
orders_of() { events_of "$1" | grep -o -E '(Start|Stop|Restart|Delete)Requested|ManifestApplied|SuccessfulCreate'; }
events_of()
{
	vmactl events --for="vm/$1" --no-headers -o custom-columns=N:.metadata.name,R:.reason,M:.message |
		sed 's/^[^ ]*\.//' | sort
}

# A run that begins although a stop was the last order before.
started_though_stopped() # NAME
{
	orders_of "$1" | awk '
	/^(Stop|Delete)Requested/ { stopped = 1 }
	/^(Start|Restart)Requested|^ManifestApplied/ { stopped = 0 }
	/^SuccessfulCreate/ && stopped { n++ }
	END { print n + 0 }'
}

# Runs that ended without anybody's doing: none may, whatever libvirt has forgotten.
lost_runs() { events_of "$1" | grep -E -c 'Running -> (Failed|Succeeded).*(vanish|crash|unknown)'; }

folders() { find "$S/vmi" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort; }
uids() { vmactl get vmi -o jsonpath='{range .items[*]}{.metadata.uid}{"\n"}{end}' | sort; }
only_folders_of_runs() { [ "$(folders)" = "$(uids)" ]; }
rock() { echo "$(vmi_uid rock) $(qemu_pid rock) $(phase rock) $(says rock '^guest up' 2 || echo once)"; }
rock_ticks() { grep -a -c '^tick' "$S/vmi/$(vmi_uid rock)/serial0.log"; }
rock_ticked_since() { [ "$(rock_ticks)" -gt "$1" ]; }

judge()
{
	local name
	for name in a b c d; do
		await "$name is as it was last told" is_settled "$name"
	done
	await 'no folder is left of a run that is gone' only_folders_of_runs
	for name in a b c; do
		is "$1: $name never began against an order" "$(started_though_stopped "$name")" 0
		is "$1: $name lost no run" "$(lost_runs "$name")" 0
	done
	is "$1: no machine had two QEMUs" "$(cat "$T/log/double.log")" ''
	is "$1: the untouched guest has not noticed" "$(rock)" "$before"
	await 'the untouched guest goes on' rock_ticked_since "$(rock_ticks)"
}

# ---- all of it ---------------------------------------------------------------------------------------------------

kills_begin()
{
	local name strategies=(Always RerunOnFailure Manual)
	begin
	vm rock Always
	for name in a b c; do
		vm $name "${strategies[0]}" blank memory=32Mi grace=2
		strategies=("${strategies[@]:1}")
	done
	op_edit d
	running rock
	up rock
	before=$(rock)
}

burst() # KILLS: that many under one load, then all is judged
{
	local i pids
	rm -f "$T/enough"
	bursts=$((bursts + 1))
	load "$((SEED + bursts))" >>"$T/log/load.log" 2>&1 &
	pids=$!
	see_double >>"$T/log/double.log" 2>&1 &
	pids+=" $!"
	for ((i = 0; i < $1; i++)); do
		kill_one
	done
	touch "$T/enough"
	# shellcheck disable=SC2086
	wait $pids
	vmactl get vm d >/dev/null 2>&1 || op_edit d
	judge "after $kills kills"
}
