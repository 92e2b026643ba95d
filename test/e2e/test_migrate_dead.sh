#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The source loses power when all of a guest is at the target. It is declared dead, and the guest goes on at the target, whose
# copies of the disks are as old as its memory. When the source is back it starts nothing, asks, gives the guest up, and keeps
# its own disks aside.
# environments: system
# takes: 60
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=guests.sh
. "$(dirname "$0")/guests.sh"
# shellcheck source-path=SCRIPTDIR source=phases.sh
. "$(dirname "$0")/phases.sh"

export guest=one s=a t=b # of phases.sh

power_off() # HOST
{
	local pids
	pids="$(relay_pid "$1") $(cat "$(qemu_file "$1")")"
	host_agent_kill "$1"
	host_libvirtd_stop "$1" KILL
	# shellcheck disable=SC2086
	kill -9 $pids
}

# What lies in /run is gone, and the kernel says that it is another boot.
power_on() # HOST
{
	rm -rf "$T/$1/run/libvirt/"* "$T/$1/run/vmagent/"*
	echo '0b5e55ed-1111-4000-8000-000000000001' >"$T/$1/boot_id"
	# A container has one that was removed once it was mounted, and nothing can be mounted over it.
	on "$1" umount -q /proc/sys/kernel/random/boot_id
	on "$1" mount --bind "$T/$1/boot_id" /proc/sys/kernel/random/boot_id || fail "cannot boot $1"
	host_libvirtd_start "$1"
	host_agent_start "$1"
}

declare_dead() { at b peer declare-dead host-a --power-off-verified >"$T/log/dead.txt" 2>&1; }
reason_at() { at "$1" get vmim -o jsonpath='{.items[0].status.migrationState.failureReason}'; } # HOST
says_where() { reason_at a | grep -q "its disks here are kept in '$lost'"; }

hosts_begin
movers_begin
ticks_follow
vm_at a one 'emptyDisk: { capacity: 8Mi }'
writes_at a one
since[a]=$(wc -l <"$T/log/agent-a.log") since[b]=$(wc -l <"$T/log/agent-b.log")
reach_complete
power_off a
soon 'the target waits, as it cannot know' same 'paused (user)' domain_state b default_one
soon 'a source without power is declared dead' declare_dead
holds '… and what that means is said' grep -q 'default/one: it goes on here' "$T/log/dead.txt"
soon '… the guest runs at the target' runs_at b one
soon '… and counts on' counts_at b one 2
is '… as the same run' "$(vmi_at b one .metadata.uid)" "${uid[one]}"
is '… with all that it wrote' "$(wrote_well b one)" ''

lost=$T/a/state/lost/default_one.${uid[one]}
power_on a
soon 'the source is back, and gives it up' gone_from a one
is '… has no domain of it' "$(virsh_on a list --all --name | tr -d '\n')" ''
holds '… keeps its disks' test -s "$lost/root.qcow2"
is '… where only root looks' "$(stat -c %a "$T/a/state/lost")" 700
soon '… and says where' says_where
is '… and nobody has heard two of it' "$(ticks_in_order)" ''
soon '… no relay is left' no_relay_left
last=$(last_tick b one)
soon '… and it counts where it is' counts_at b one "$last"
