# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# faults.sh: a guest changes its host, and on the way something dies: an agent, a libvirtd, a QEMU, a relay, the link. What
# must have come of it: one guest, where the crash table of the hand-over says, with all that it had in memory and on its
# disk or booted anew where the table says so; both hosts with the same verdict; and nothing else left. test/e2e runs a
# few of these cases, test/long many. SEED says which, and when within a phase, but any machine has a hand in that.
# shellcheck source-path=SCRIPTDIR source=phases.sh
. "${BASH_SOURCE[0]%/*}/phases.sh"

faults=0
declare -A in_phase # how many cases, by phase

# PHASE VICTIM OUTCOME...: those that the table allows. S, T: the guest goes on at the source, at the target; coldS, coldT:
# it boots there anew. A cut link is healed after a while, in time or too late. agents: both; both-s: agent and
# libvirtd; host-s: these, relay and QEMU, all that the host has of this guest. cancel: nothing dies, but somebody calls it
# off; cancel-s: … and the source's agent dies at once.
cases='
prepare   agent-s    T
prepare   agent-t    T
prepare   libvirtd-s T S
prepare   libvirtd-t T S
prepare   qemu-s     coldS
prepare   link       T S
prepare   host-s     coldS
prepare   host-t     T S
prepare   cancel     S
prepare   cancel-s   S
prepare   cancel-t   S
perform   agent-s    T
perform   agent-t    T
perform   libvirtd-s S
perform   libvirtd-t S
perform   qemu-s     coldS
perform   qemu-t     S
perform   relay-s    S
perform   relay-t    S
perform   agents     T
perform   both-s     S
perform   host-s     coldS
perform   host-t     S
perform   link       S T
perform   cancel     S
perform   cancel-s   S
perform   cancel-t   S
call      agent-s    T
call      agent-t    T
call      libvirtd-s S
call      libvirtd-t S
call      qemu-s     T
call      qemu-t     S
call      relay-s    S
call      relay-t    S
call      agents     T
call      both-s     S
call      host-s     coldS
call      host-t     S
call      link       S T
call      cancel     S T
call      cancel-s   S T
reply     agent-s    T
reply     agent-t    T
reply     libvirtd-s S
reply     libvirtd-t S T
reply     qemu-s     T
reply     qemu-t     S coldS
reply     relay-s    S
reply     relay-t    S T
reply     agents     T
reply     both-s     S
reply     both-t     S T
reply     host-s     coldS
reply     host-t     S coldS
reply     link       S T
reply     cancel     T
reply     cancel-t   T
evidence  agent-s    T
evidence  agent-t    T
evidence  libvirtd-s T coldS
evidence  libvirtd-t T
evidence  qemu-t     coldS coldT
evidence  relay-t    T
evidence  agents     T
evidence  both-s     coldS
evidence  both-t     T
evidence  host-s     coldS
evidence  host-t     coldS coldT
evidence  link       T coldS
released  agent-s    T
released  agent-t    T
released  libvirtd-s T
released  libvirtd-t T
released  qemu-t     coldT
released  agents     T
released  both-s     T
released  both-t     T
released  host-s     T
released  host-t     coldT
released  link       T
released  cancel     T
owner     agent-s    T
owner     agent-t    T
owner     libvirtd-t T
owner     qemu-t     coldT
owner     agents     T
owner     both-t     T
owner     host-t     coldT
owner     link       T
finalized agent-s    T
finalized agent-t    T
finalized libvirtd-s T
finalized libvirtd-t T
finalized qemu-t     coldT
finalized agents     T
finalized both-s     T
finalized both-t     T
finalized host-s     T
finalized host-t     coldT
finalized link       T
postcopy  agent-s    T
postcopy  agent-t    T
postcopy  libvirtd-s T
postcopy  libvirtd-t T
postcopy  qemu-s     coldT
postcopy  qemu-t     coldT
postcopy  relay-s    T
postcopy  relay-t    T
postcopy  agents     T
postcopy  both-s     T
postcopy  both-t     T
postcopy  host-s     coldT
postcopy  host-t     coldT
postcopy  link       T
'

# ---- victims: each is dead for a while, and then there again ---------------------------------------------------------

# kill_agents HOST...: whoever begins anew while the guest is copied, has it watched again.
kill_agents()
{
	local host
	for host in "$@"; do
		host_agent_kill "$host"
	done
	nap $((RANDOM % 1500))
	go_on
	for host in "$@"; do
		host_agent_start "$host"
	done
	[[ "$phase $* " != @(perform|call|reply|evidence)*" $s "* ]] || says_soon "$s" 'watching it again'
	release
}

kill_libvirtd()
{
	host_libvirtd_stop "$1" KILL
	nap $((RANDOM % 1500))
	host_libvirtd_start "$1"
	go_on
	release
}

kill_both()
{
	host_agent_kill "$1"
	host_libvirtd_stop "$1" KILL
	nap $((RANDOM % 1500))
	host_libvirtd_start "$1"
	go_on
	host_agent_start "$1"
	release
}

kill_host()
{
	local pids
	pids="$(relay_pid "$1") $(cat "$(qemu_file "$1")" 2>/dev/null)"
	host_agent_kill "$1"
	host_libvirtd_stop "$1" KILL
	# shellcheck disable=SC2086
	kill -9 $pids 2>/dev/null || :
	nap $((RANDOM % 1500))
	host_libvirtd_start "$1"
	go_on
	host_agent_start "$1"
	release
}

kill_pid()
{
	kill -9 "$1" || fail "there is no process $1 to be killed"
	nap $((RANDOM % 1500))
	go_on
	release
}

fault_agent-s() { kill_agents "$s"; }
fault_agent-t() { kill_agents "$t"; }
fault_agents() { kill_agents "$s" "$t"; }
fault_both-s() { kill_both "$s"; }
fault_both-t() { kill_both "$t"; }
fault_host-s() { kill_host "$s"; }
fault_host-t() { kill_host "$t"; }
fault_libvirtd-s() { kill_libvirtd "$s"; }
fault_libvirtd-t() { kill_libvirtd "$t"; }
fault_qemu-s() { kill_pid "$(cat "$(qemu_file "$s")")"; }
fault_qemu-t() { kill_pid "$(cat "$(qemu_file "$t")")"; }
fault_relay-s() { kill_pid "$(relay_pid "$s")"; }
fault_relay-t() { kill_pid "$(relay_pid "$t")"; }

call_off() { at "$s" migrate-cancel "$guest" >"$T/log/cancel.txt" 2>&1; }
fault_cancel()
{
	call_off || grep -q 'it is too late' "$T/log/cancel.txt" || fail "it is not called off: $(cat "$T/log/cancel.txt")"
	nap $((RANDOM % 1500))
	go_on
	release
}
fault_cancel-s()
{
	call_off
	fault_agent-s
}
fault_cancel-t()
{
	call_off
	fault_agent-t
}

# libvirt gives up after 8 s here.
fault_link()
{
	on "$s" ip link set "ve-$s" down
	go_on
	nap $((RANDOM % 3 ? 10000 + RANDOM % 3000 : RANDOM % 3000))
	on "$s" ip link set "ve-$s" up
	release
}

# Without KVM interrupts are delivered under QEMU's lock: a guest that misses a page just then takes QEMU's main loop along,
# libvirt can tell it no new way, and it waits until its time is over. Here that is at once.
stuck=0
is_stuck()
{
	local pid i
	pid=$(cat "$(qemu_file "$t")" 2>/dev/null) || return
	for ((i = 0; i < 50; i++)); do
		grep -q -s '^futex' "/proc/$pid/wchan" || return
		nap 100
	done
}

end_if_stuck()
{
	local deadline=$((SECONDS + PATIENCE))
	until { has_verdict "$s" && has_verdict "$t"; } || [ $SECONDS -ge $deadline ]; do
		if is_stuck; then
			echo '# QEMU waits for a page while it has its lock'
			stuck=$((stuck + 1))
			allowed=coldT
			kill -9 "$(cat "$(qemu_file "$t")")"
			return
		fi
		nap 500
	done
}

# ---- what must have come of it -----------------------------------------------------------------------------------------

# Where the guest is, once it is at one host alone and that host runs it; an agent that began just now may not know yet that
# it does not.
settles_at()
{
	for owner in "$s" "$t"; do
		other=$(peer_of "$owner")
		! { domain_runs "$owner" && runs_at "$owner" "$guest" && gone_from "$other" "$guest"; } || return 0
	done
	return 1
}

verdict() # HOST: of this case's migration, in its log
{
	tail -n "+$((${since[$1]} + 1))" "$T/log/agent-$1.log" | grep -o -e "default/$guest: moved to" \
		-e "default/$guest: moved here from" -e "default/$guest: migration \(to\|from\) 'host-.' failed: .*" |
		sed -e 's/.*moved.*/Succeeded/' -e 's/.*failed.*/Failed/' | sort -u | tr '\n' ' '
}
has_verdict() { [ -n "$(verdict "$1")" ]; }
took_part() { said "$1" "the relay of migration .* runs"; } # HOST
one_verdict() { has_verdict "$s" && { ! took_part "$t" || [ "$(verdict "$s")" = "$(verdict "$t")" ]; }; }
domains_of() { virsh_on "$1" list --all --name | grep -c -x "default_$guest"; }
has_folders() { same "$(printf '%s\n' "${uid[@]}" | sort)" eval 'for h in a b; do run_folders $h; done | sort'; }

judge() # CASE OUTCOME...
{
	local before=${uid[$guest]} what=$1 outcome tick
	await "$what: both hosts have ended it alike" one_verdict
	await "$what: it is at one host" settles_at
	learn_run "$owner" "$guest"
	outcome=S
	[ "$owner" = "$s" ] || outcome=T
	[ "${uid[$guest]}" = "$before" ] || outcome=cold$outcome
	[[ " ${*:2} " == *" $outcome "* ]] ||
		fail "$what: the guest is $outcome, not $(sed 's/ / or /g' <<<"${*:2}")"
	case $outcome in
	S | coldS) [ "$(verdict "$s")" = 'Failed ' ] ;;
	T)         [ "$(verdict "$s")" = 'Succeeded ' ] ;;
	coldT)     true ;;
	esac || fail "$what: the guest is $outcome, and the verdict $(verdict "$s")"
	tick=$(last_tick "$owner" "$guest")
	await "$what: it counts" counts_at "$owner" "$guest" "${tick:-0}"
	domain_runs "$owner" || fail "$what: its domain does not run"
	[ "$(domains_of "$other")" = 0 ] || fail "$what: a domain is left at the other host"
	case $outcome in
	S | T) judge_bytes ;;
	*)     await "$what: it writes again" writes_at "$owner" "$guest" ;;
	esac
	[ "$(ticks_in_order)" = '' ] || fail "$what: $(ticks_in_order)"
	await "$what: no relay is left" no_relay_left
	await "$what: no folder is left" has_folders
	ok "$what: $outcome"
}

judge_bytes()
{
	local wrong
	wrong=$(wrote_well "$owner" "$guest")
	[ -z "$wrong" ] || fail "$what: $wrong"
	writes_at "$owner" "$guest"
}

# ---- one case ------------------------------------------------------------------------------------------------------------

fault() # GUEST PHASE VICTIM OUTCOME...
{
	local host stopped='' held='' missed='' allowed=''
	guest=$1 phase=$2 s=a
	runs_at a "$1" || s=b
	t=$(peer_of "$s")
	await 'the agents see each other' peers_see_each_other
	for host in a b; do
		since[$host]=$(wc -l <"$T/log/agent-$host.log")
	done
	faults=$((faults + 1))
	echo "# $faults: $1 moves from $s to $t; in $2 $3 dies"
	"reach_$2"
	[ -z "$missed" ] || echo "# too late: $missed"
	[ -n "$missed" ] || in_phase[$2]=$((${in_phase[$2]-0} + 1))
	"fault_$3"
	speed $FAST
	[ "$2" != postcopy ] || [ "$4" != T ] || end_if_stuck
	# shellcheck disable=SC2086
	judge "$faults, $2 $3, $1 from $s" ${allowed:-${*:4}}
}

# Both disks of copied, one of shared and none of late are copied; so late alone can be moved with post-copy.
begin_copied() { vm_at a copied 'emptyDisk: { capacity: 8Mi }'; }
begin_shared() { vm_at a shared "$(shared_disk shared)"; }
begin_late()
{
	cp "$T/img/guest.img" "$T/disks/root.img"
	ROOT=$(shared_disk root) vm_at a late "$(shared_disk late)"
}

guest_begin() # NAME
{
	blank_disk "$T/disks/$1.img"
	"begin_$1"
	writes_at a "$1"
}

allow_post_copy()
{
	local host
	if ! post_copy_allow; then
		echo '# post-copy is left out: this machine does not let QEMU use userfaultfd'
		cases=$(grep -v '^postcopy' <<<"$cases")
		return
	fi
	for host in "${HOSTS[@]}"; do
		policy_at "$host" late late 'allowPostCopy: true, bandwidthPerMigration: 4Mi, completionTimeoutPerGiB: 1'
	done
}

# In a random order, but of prepare, perform, what ends it, what hands it over, finalized, and postcopy in turn.
shuffled_cases()
{
	grep . <<<"$cases" |
		awk -v seed="$SEED" 'BEGIN { srand(seed) } { print rand(), $0 }' | sort | # a subshell has a RANDOM of its own
		awk '{ part = $2; sub(/call|reply|evidence/, "finish", part); sub(/owner/, "released", part)
			print ++n[part], $0 }' | sort -s -n -k1,1 | cut -d ' ' -f 3-
}

faults_begin()
{
	hosts_begin
	movers_begin
	allow_post_copy
	ticks_follow
}

count_in() # PHASE...
{
	local n=0 phase
	for phase in "$@"; do
		n=$((n + ${in_phase[$phase]-0}))
	done
	echo $n
}

print_phases()
{
	echo "# $faults migrations with a fault with SEED=$SEED; it came in: PREPARE $(count_in prepare), Perform $(count_in perform)," \
		"Finish $(count_in call reply evidence) (call $(count_in call), reply $(count_in reply), evidence $(count_in evidence))," \
		"RELEASED to OWNER $(count_in released owner) (released $(count_in released), owner $(count_in owner))," \
		"FINALIZED $(count_in finalized), post-copy $(count_in postcopy) ($stuck could not be mended)"
}

# faults_run NUMBER [PATTERN]: so many cases, or of those that match so many; over again where there are fewer.
faults_run()
{
	local -a list words
	local i guests=(copied shared)
	mapfile -t list < <(shuffled_cases | grep -e "${2-.}")
	for ((i = 0; i < $1; i++)); do
		read -r -a words <<<"${list[i % ${#list[@]}]}"
		guest=${guests[(RANDOM >> 4) % 2]}
		[ "${words[0]}" != postcopy ] || guest=late
		[ -n "${uid[$guest]-}" ] || guest_begin "$guest"
		fault "$guest" "${words[@]}"
	done
}
