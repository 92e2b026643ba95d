# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# phases.sh: the guest $guest on its way from the host $s to $t, held in a phase of the hand-over, for tests that have sourced
# guests.sh. What holds it goes on by go_on and release.
#
#   phase      held open by                                         where the hand-over stands (source/target)
#   prepare    the target's libvirtd is stopped                     Out/In
#   perform    libvirt may send only little                         Out/In, while it is copied
#   call       the source's relay holds the call that switches over Out/In, the guest stands still    \
#   reply      the target's, its answer to it                          Out/Complete                       > "Finish"
#   evidence   the source's agent is stopped before libvirt is done Out/Complete, the source is dead  /
#   released   the target's agent is stopped                        Released/Complete    \ "RELEASED to OWNER"
#   owner      … and then its libvirtd in its place                 Released/Owner       /
#   finalized  the source's agent is stopped                        Released/Done
#   postcopy   its memory follows slowly                            Released/Owner, the guest runs at the target without it

# ---- what there is to hold on to -----------------------------------------------------------------------------------

guest='' s='' t=''           # who moves, from where, where to
stopped='' held='' missed='' # pids; the host whose relay holds something; why the phase was missed
declare -A since             # up to which line of each agent's log the case had not begun

nap() { sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"; } # the moment is what is tried

# What an agent has said since the case began.
said() { tail -n "+$((${since[$1]} + 1))" "$T/log/agent-$1.log" | grep -q -e "$2"; } # HOST PATTERN
says_soon() { await "$1 says '$2'" said "$1" "$2"; }

relay_folder() { find "$T/$1/run/vmagent/mig" -mindepth 1 -maxdepth 1 -printf '/run/vmagent/mig/%f\n' -quit; } # HOST
ask_relay() { on "$1" "$B/vmagent" migrate-relay "$(relay_folder "$1")" "${@:2}"; } # HOST VERB [WORD]
relay_has() { ask_relay "$1" status | grep -q -x "$2=$3"; }                         # HOST KEY VALUE
relay_is_there() { ask_relay "$1" status; }
is_copied() { has_relay "$s" && has_relay "$t" && [ -e "$(qemu_file "$t")" ] && ! relay_has "$s" rpc.received 0; }

has_relay() { [ -n "$(relay_pid "$1")" ]; }
no_relay_left() { not has_relay a && not has_relay b && no_relays; }
qemu_file() { echo "$T/$1/run/libvirt/qemu/default_$guest.pid"; } # HOST
domain_runs() { domain_state "$1" "default_$guest" 2>/dev/null | grep -q '^running'; }
is_shut_off() { domain_state "$1" "default_$guest" | grep -q '^shut off'; }

stop() { kill -STOP "$1"; }
speed() { virsh_on "$s" migrate-setspeed "default_$guest" "$1" >/dev/null 2>&1 || :; } # MiB/s
SLOW=8 FAST=100000 # a root disk of 40 MiB goes first, then some 60 MiB of memory

release()
{
	[ -z "$held" ] || ask_relay "$held" release >/dev/null 2>&1 || :
	held=
}

go_on() # what is stopped
{
	local pid
	for pid in $stopped; do
		kill -CONT "$pid" 2>/dev/null || :
	done
	stopped=
}

# ---- phases: each returns within it --------------------------------------------------------------------------------

begin_move() { await "$guest is to move to $t" migrate "$s" "$guest" "$t"; } # its last move may have to end yet

reach_prepare()
{
	stop "${HOST_LIBVIRTD[$t]}"
	stopped+=" ${HOST_LIBVIRTD[$t]}"
	begin_move
	says_soon "$s" 'to get ready for it'
	nap $((RANDOM % 1000))
}

reach_perform()
{
	speed $SLOW
	begin_move
	await 'it is on its way' is_copied
	nap $((RANDOM % 4000))
}

reach_hold() # call|reply HOST
{
	speed $SLOW
	begin_move
	await 'it is on its way' relay_is_there "$2"
	ask_relay "$2" hold "finish-$1" >/dev/null || fail "the relay does not hold the $1"
	held=$2
	speed $FAST
	await "the $1 is held" relay_has "$2" finish "$1-held"
}

reach_call()
{
	reach_hold call "$s"
	nap $((RANDOM % 1000))
}

reach_reply()
{
	reach_hold reply "$t"
	nap $((RANDOM % 2000))
}

# The target has all of it and has said so.
reach_complete()
{
	reach_hold reply "$t"
	says_soon "$t" 'it is here; waiting'
	nap $((1000 + RANDOM % 500))
}

reach_evidence()
{
	reach_complete
	stop "${HOST_AGENT[$s]}"
	stopped+=" ${HOST_AGENT[$s]}"
	release
	await 'the guest has gone over' is_shut_off "$s"
	nap $((RANDOM % 500))
}

reach_released()
{
	reach_complete
	stop "${HOST_AGENT[$t]}"
	stopped+=" ${HOST_AGENT[$t]}"
	release
	until said "$s" 'handed over to'; do # where the last word was too long ago it says it once more
		nap 2000
		said "$s" 'handed over to' || { kill -CONT "${HOST_AGENT[$t]}"; nap 20; stop "${HOST_AGENT[$t]}"; }
	done
	! said "$t" 'taken over from' || missed='it was taken over already'
}

reach_owner()
{
	reach_released
	stop "${HOST_LIBVIRTD[$t]}"
	stopped+=" ${HOST_LIBVIRTD[$t]}"
	kill -CONT "${HOST_AGENT[$t]}"
	says_soon "$t" 'taken over from'
	! said "$t" 'moved here from' || missed='it runs already'
}

reach_finalized()
{
	reach_released
	stop "${HOST_AGENT[$s]}"
	stopped+=" ${HOST_AGENT[$s]}"
	kill -CONT "${HOST_AGENT[$t]}"
	says_soon "$t" 'moved here from'
	! said "$s" 'moved to' || missed='the source knows already'
}

is_sending() { domain_state "$t" "default_$guest" | grep -q -F '(post-copy)'; }
reach_postcopy()
{
	local tick
	tick=$(last_tick "$s" "$guest")
	begin_move
	says_soon "$t" 'letting the guest go on while its memory comes'
	await 'it counts on there' counts_at "$t" "$guest" "$tick"
	await 'the rest of it is on its way' is_sending
	nap $((RANDOM % 1500))
	is_sending || missed='all of it is there'
}
