#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Live migration between two agents: a guest that counts goes there and back with its disks, and once more with a disk
# that both hosts reach; what the target would not take stays where it is.
# environments: system
# takes: 120
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"

vmi_at() { at "$1" get vmi "$2" -o jsonpath="{$3}"; }                            # HOST NAME PATH
runs_at() { [ "$(vmi_at "$1" "$2" .status.phase)" = Running ]; }                 # HOST NAME
gone_from() { at "$1" get vm "$2" 2>&1 | grep -q NotFound; }                     # HOST NAME
ticks_of() { grep -a '^tick' "$T/$1/state/vmi/${uid[$2]}/serial0.log" | tr -cd '0-9\n'; } # HOST NAME
counts_at() { [ "$(ticks_of "$1" "$2" 2>/dev/null | tail -n 1)" -gt "$3" ] 2>/dev/null; } # HOST NAME MORE-THAN
no_relays() { same '' find "$T/a/run/vmagent/mig" "$T/b/run/vmagent/mig" -mindepth 1 -print -quit; }
declare -A uid

# vm_at HOST NAME DISK-AND-VOLUME: a guest with a root disk and a second one, on which it counts.
vm_at()
{
	cat >"$T/new" <<-YAML
		apiVersion: kubevirt.io/v1
		kind: VirtualMachine
		metadata: { name: $2 }
		spec:
		  runStrategy: Always
		  template:
		    spec:
		      domain:
		        memory: { guest: 128Mi }
		        devices:
		          autoattachPodInterface: false
		          disks: [ { name: root, disk: { bus: virtio } }, { name: data, disk: { bus: virtio } } ]
		      volumes:
		      - { name: root, containerDisk: { image: 'file://$T/img/guest.img' } }
		      - { name: data, $3 }
	YAML
	mv "$T/new" "$T/$1/manifests/$2.yaml"
	await "$2 runs at $1" runs_at "$1" "$2"
	uid[$2]=$(vmi_at "$1" "$2" .metadata.uid)
	await "$2 counts" counts_at "$1" "$2" 2
}

migrate() { at "$1" migrate "$2" --to="host-$3" >"$T/log/migrate-$2-$3.txt" 2>&1; } # FROM NAME TO

moves() # FROM NAME TO WORDS
{
	local last
	last=$(ticks_of "$1" "$2" | tail -n 1)
	holds "$2 is to move $4" migrate "$1" "$2" "$3"
	soon '… it runs there' runs_at "$3" "$2"
	soon '… and is gone here' gone_from "$1" "$2"
	soon '… it counts on' counts_at "$3" "$2" "$last"
	holds '… without having begun anew' test "$(ticks_of "$3" "$2" | head -n 1)" -gt 1
	is '… once: its source has no domain' "$(virsh_on "$1" list --all --name | tr -d '\n')" ''
	is '… and its target runs it' "$(domain_state "$3" "default_$2" | cut -d ' ' -f 1)" running
	is '… as the same run' "$(vmi_at "$3" "$2" .metadata.uid)" "${uid[$2]}"
	soon '… no relay is left' no_relays
}

hosts_begin
for host in "${HOSTS[@]}"; do
	echo '  migrations: { enabled: true }' >>"$T/$host/config.yaml"
	host_agent_start "$host"
done
await 'the agents see each other' peers_see_each_other

vm_at a one 'emptyDisk: { capacity: 8Mi }'
moves a one b 'with its disks'
moves b one a 'and back'
at a delete vm one >/dev/null

blank_disk "$T/disks/two.img"
vm_at a two "hostDisk: { path: $T/disks/two.img, type: Disk, shared: true }"
moves a two b 'with a disk that both have'
is '… whose counter goes on' "$(head -n 1 "$T/disks/two.img" | tr -cd 0-9 | grep -c .)" 1
at b delete vm two >/dev/null

blank_disk "$T/a/disks/three.img"
vm_at a three "hostDisk: { path: $T/a/disks/three.img, type: Disk }"
holds 'what lies on one host alone is not moved' not migrate a three b
holds '… in words' grep -q DisksNotLiveMigratable "$T/log/migrate-three-b.txt"
last=$(ticks_of a three | tail -n 1)
soon '… and goes on' counts_at a three "$last"
