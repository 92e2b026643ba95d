#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A migration is called off in each of its phases, by each of the ways there are: the guest goes on where it was, nothing is
# left where it was to go, and both hosts say that it was cancelled. When the target has all of it, it is too late, which is
# said in words, and it goes over.
# environments: system
# takes: 80
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=guests.sh
. "$(dirname "$0")/guests.sh"
# shellcheck source-path=SCRIPTDIR source=phases.sh
. "$(dirname "$0")/phases.sh"

export guest=one s=a t=b # of phases.sh

move_at() { at "$1" get vmim "$2" -o jsonpath="{$3}" 2>/dev/null; } # HOST NAME PATH
has_phase() { [ "$(move_at "$1" "$2" .status.phase)" = "$3" ]; }      # HOST NAME PHASE
move_has() { [ -n "$(move_at "$@")" ]; }                             # HOST NAME PATH
at_target() { virsh_on b list --all --name | grep .; run_folders b; find "$T/b/run/vmagent/mig" -mindepth 1; }
reserved_at() { virsh_on "$1" net-dumpxml vmagent 2>/dev/null | grep -c '<host mac='; } # HOST: addresses on its own network
mac_at() { virsh_on "$1" dumpxml default_one | sed -n "s/.*<mac address='\(.*\)'.*/\1/p"; } # HOST
is_clean() { same '' at_target && gone_from b one && not has_relay a && no_relays; }
is_late() { at a "$@" 2>&1 | grep -q "it is too late: all of it is at 'host-b' already"; }

# The qemu-img of both hosts, which waits as long as it is to.
slow_qemu_img()
{
	local real
	real=$(command -v qemu-img)
	mkdir "$T/bin"
	printf '%s\n' '#!/bin/bash' "while [ -e $T/hold ]; do sleep 0.1; done" "exec $real \"\$@\"" >"$T/bin/qemu-img"
	chmod 755 "$T/bin/qemu-img"
	export PATH=$T/bin:$PATH
}

order() # NAME: in a file
{
	cat >"$T/new" <<-YAML
		apiVersion: kubevirt.io/v1
		kind: VirtualMachineInstanceMigration
		metadata: { name: $1 }
		spec: { vmiName: one, addedNodeSelector: { kubernetes.io/hostname: host-b } }
	YAML
	mv "$T/new" "$T/a/manifests/$1.yaml"
}

# What is so once the migration, which both hosts know or, if "alone", the source, has been called off.
goes_on() # NAME [alone]
{
	local last
	last=$(last_tick a one)
	soon '… nothing of it is left at the target' is_clean
	[ -n "${2-}" ] || is '… which knows why' "$(move_at b "$1" '.status.migrationState.failureReason')" 'it was cancelled'
	[ -n "${2-}" ] || is '… and who wanted it' "$(move_at b "$1" '.status.migrationState.abortStatus')" Succeeded
	soon '… and no address reserved there' same 0 reserved_at b
	is '… the source has its own' "$(reserved_at a)" "$reserved"
	soon '… the guest counts on' counts_at a one "$last"
	is '… as the same run' "$(vmi_at a one .metadata.uid)" "${uid[one]}"
}
called_off=0
was_cancelled() # NAME
{
	called_off=$((called_off + 1))
	soon '… the order goes' lacks a vmim "$1"
	is '… the source says why it has failed' "$(grep -c "migration to 'host-b' failed: it was cancelled" "$T/log/agent-a.log")" \
		$called_off
}

hosts_begin
slow_qemu_img
movers_begin
ticks_follow
NETWORKED=true vm_at a one 'emptyDisk: { capacity: 8Mi }'
mac=$(mac_at a)
reserved=$(reserved_at a) # 0 where QEMU's own network stack had to take its place
echo "# addresses reserved at the source: $reserved"

host_agent_stop b
order pending
soon 'while its target cannot be reached, a migration is Pending' has_phase a pending Pending
soon '… which says what it waits for' eval "at a get vmim pending -o wide | grep -q 'the target cannot be reached'"
holds '… and called off by vmactl' at a migrate-cancel one
was_cancelled pending
host_agent_start b
await 'the agents see each other' peers_see_each_other
goes_on pending alone

stop "${HOST_AGENT[b]}"
order scheduling
soon 'while its target does not answer, it is Scheduling' has_phase a scheduling Scheduling
rm "$T/a/manifests/scheduling.yaml"
await 'the file is missed' move_has a scheduling .metadata.deletionTimestamp
kill -CONT "${HOST_AGENT[b]}"
ok '… and called off when its file is removed'
was_cancelled scheduling
goes_on scheduling alone

: >"$T/hold"
order preparing
soon 'while its target makes disks, it is PreparingTarget' has_phase a preparing PreparingTarget
at a delete vmim preparing >"$T/log/delete.txt" 2>&1 & # it waits for its end
soon '… and called off by deleting it' move_has a preparing .metadata.deletionTimestamp
rm "$T/hold"
was_cancelled preparing
goes_on preparing

host_libvirtd_stop a TERM
order ready
soon 'while libvirt of its source is not there, it is TargetReady' has_phase a ready TargetReady
soon '… as its target says' has_phase b ready TargetReady
holds '… and called off by vmactl' at a migrate-cancel one
was_cancelled ready
host_libvirtd_start a
goes_on ready

# libvirt waits for another libvirt without end.
host_libvirtd_stop a TERM
order deaf
await 'its target is ready' has_phase a deaf TargetReady
stop "${HOST_LIBVIRTD[b]}"
host_libvirtd_start a
soon 'while libvirt of its target does not answer, it is Running' has_phase a deaf Running
holds '… and called off' at a migrate-cancel one
soon '… by ending the way there' host_agent_says a "it is not called off: ending the way to 'host-b'"
kill -CONT "${HOST_LIBVIRTD[b]}"
was_cancelled deaf
goes_on deaf

# Many that its target refuses, as one of that name is there already, leave nothing open, either.
n_open() { find "/proc/${HOST_AGENT[a]}/fd" "/proc/${HOST_AGENT[b]}/fd" -type l | wc -l; }
sed -e 's/runStrategy: .*/runStrategy: Halted/' "$T/a/manifests/one.yaml" >"$T/new"
mv "$T/new" "$T/b/manifests/one.yaml"
await 'another one is there' at b get vm one
refused() { not at a migrate one --to=host-b --wait --timeout=30s; }
holds 'its target has one of that name' refused
before=$(n_open) # some of it for a moment
has_no_more() { [ "$(n_open)" -le "$before" ]; }
for _ in {1..12}; do refused >/dev/null 2>&1 || fail 'it is not refused'; done
soon '… and 12 refusals leave nothing open' has_no_more
rm "$T/b/manifests/one.yaml"
await 'the other one is gone' gone_from b one

speed 2 # MiB/s, for it does not get there
order running
await 'it is on its way' is_copied
soon 'while it is copied, it is Running' has_phase a running Running
holds '… and called off, by an agent that dies at once' at a migrate-cancel one
host_agent_kill a
host_agent_start a
was_cancelled running
await 'the agents see each other' peers_see_each_other
goes_on running
holds '… and the network was told where it is' host_agent_says a 'telling the network that the guest is here'
holds '… which QEMU has done' not host_agent_says a 'migrate-announce failed'

since[a]=$(wc -l <"$T/log/agent-a.log") since[b]=$(wc -l <"$T/log/agent-b.log")
reach_complete
name=$(at a get vmim -o jsonpath='{.items[?(@.status.phase=="Running")].metadata.name}')
soon 'when its target has all of it, it is too late' is_late migrate-cancel one
holds '… also to delete it' is_late delete vmim "$name"
is '… of which nothing comes' "$(move_at a "$name" .status.migrationState.abortRequested)" ''
last=$(last_tick a one)
release
soon '… it goes over' has_phase a "$name" Succeeded
soon '… as the target says' has_phase b "$name" Succeeded
soon '… the guest counts on there' counts_at b one "$last"
is '… as the same run' "$(vmi_at b one .metadata.uid)" "${uid[one]}"
is '… with its address in the network' "$(mac_at b)" "${mac:-none}"
is '… for which the other host'\''s has a reservation' "$(reserved_at b)" "$reserved"
soon '… and this one'\''s has none' same 0 reserved_at a
is '… and nobody has heard two of it' "$(ticks_in_order)" ''
soon '… no relay is left' no_relay_left
