#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What stands in the way of a migration is told before anything is copied, all of it at once and in words: the target has
# too little memory and disk, not the network, not the storage class, not all of the CPU, and cannot be reached the way that
# the guest would go; and what only its start would miss there: a bridge, a file. What is mended is not told any more.
# environments: system
# takes: 70
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=guests.sh
. "$(dirname "$0")/guests.sh"

SAID=$T/log/check.txt
check() { at a migrate one --to=host-b --check >"$SAID" 2>&1; }
checked() { check || [ $? = 1 ]; }                # … whatever it found
found() { grep -q "^  $1: .*$2" "$SAID"; }        # CHECK WORDS
tells() { checked && found "$@"; }
tells_not() { checked && not grep -q "^  $1:" "$SAID"; } # CHECK
set_b() # TEXT BY: in b's configuration
{
	host_agent_stop b
	sed -i "s|$1|$2|" "$T/b/config.yaml"
	host_agent_start b
	await 'the agents see each other' peers_see_each_other
}

# What a CPU can have at b is what its libvirtd found out about QEMU once, and wrote down.
forget_at_b() # CPU-FEATURE
{
	host_libvirtd_stop b TERM
	sed -i "/<hostCPU/,/<.hostCPU>/s/\(name='$1' type='boolean' value='\)true/\1false/" \
		"$T"/b/var/cache/libvirt/qemu/capabilities/*.xml
	host_libvirtd_start b
}

hosts_begin
on a ip link add lan0 type bridge
on a mount -t sysfs sysfs /sys # of its own network namespace
mkdir "$T/a/disks/fast" "$T/b/disks/slow"
for host in "${HOSTS[@]}"; do
	echo '  migrations: { enabled: true }' >>"$T/$host/config.yaml"
done
cat >>"$T/a/config.yaml" <<-YAML
	  networks: { lan: { type: bridge, bridge: lan0 } }
	  storage: { classes: { fast: $T/a/disks/fast } }
YAML
sed -i "s|address: '${HOST_ADDRESS[b]}'|address: '${HOST_ADDRESS[b]}:9'|" "$T/a/config.yaml"
cat >>"$T/b/config.yaml" <<-YAML
	  storage: { classes: { slow: $T/b/disks/slow } }
	  reserved: { memory: 100Ti }
YAML
host_agent_start a
host_agent_start b
await 'the agents see each other, for one reaches the other' peers_see_each_other
soon 'the other does not, and says what is not possible so' same 'no guest can be moved there' \
	sh -c "VMAGENT_SOCKET=$T/a/run/vmagent/vmagent.sock '$B/vmactl' get peer host-b -o 'jsonpath={.status.message}' | cut -d , -f 1"

put_at a big <<-YAML
	apiVersion: v1
	kind: PersistentVolumeClaim
	metadata: { name: big }
	spec: { accessModes: [ReadWriteMany], storageClassName: fast, resources: { requests: { storage: 1Mi } } }
YAML
machine_at a one <<-YAML
	domain:
	  memory: { guest: 128Mi }
	  devices:
	    interfaces: [ { name: lan, bridge: {} } ]
	    disks: [ { name: root, disk: { bus: virtio } }, { name: data, disk: { bus: virtio } }, { name: big, disk: { bus: virtio } } ]
	networks: [ { name: lan, multus: { networkName: lan } } ]
	volumes:
	- { name: root, containerDisk: { image: 'file://$T/img/guest.img' } }
	- { name: data, emptyDisk: { capacity: 9Ti } }
	- { name: big, persistentVolumeClaim: { claimName: big } }
YAML
await 'it runs' runs_at a one
learn_run a one
# What the other host does not say within a few seconds, or as long as it has no libvirt, is not among the rest.
hears_all() { not check && not found libvirt . && found storageClasses . && found capacity .; }
soon 'it is not to be moved' hears_all
holds '… for the port that it would go by' found port 'Connection refused'
holds '… for the memory' found capacity 'Insufficient memory: needs'
holds '… for the disks that would be copied' found disk 'copies of its disks may take 9216Gi, and .* are free'
holds '… for its network' found networks "no NetworkAttachmentDefinition 'lan'"
holds '… for the storage class' found storageClasses "it has no storage class 'fast'"
holds '… and nothing was made for that' lacks b vm one
holds 'who orders it all the same waits in vain' not migrate a one b --wait
holds '… and hears of all of it' grep -q 'was not moved: .*storage class.*9216Gi\|was not moved: .*9216Gi.*storage class' \
	"$T/log/migrate-one-b.txt"
is '… as the record says' "$(at a get vmim -o jsonpath='{.items[0].status.phase}')" Failed
last=$(last_tick a one)
soon '… while the guest counts on' counts_at a one "${last:-0}"
set_b 'reserved: { memory: 100Ti }' 'networks: { lan: { type: bridge, bridge: lan0 } }'
soon 'with memory and a network of that name they are not told any more' eval 'tells_not capacity && found networks lan0'
holds '… but that its bridge is not there' found networks "there is no network device 'lan0'.*an order that names its target waits"
holds '… and the rest is' found storageClasses fast
on b ip link add lan0 type bridge
on b mount -t sysfs sysfs /sys
soon '… until there is one' eval 'tells_not networks && found storageClasses fast && not found peer .'
set_b "slow: $T/b/disks/slow" "fast: $T/b/elsewhere" # below no hostDiskRoots: claims need none
soon 'where the storage class is, the file of the claim is missed' tells volumes "$T/b/elsewhere/default/big/disk.img': No such file"
holds '… and the class is not' not found storageClasses .
holds '… and nothing was made for that, either' test ! -e "$T/b/elsewhere"
mkdir -p "$T/b/elsewhere/default/big"
truncate -s 1M "$T/b/elsewhere/default/big/disk.img"
soon '… until it is there' eval 'tells_not volumes && found disk 9216Gi && not found peer .'
soon 'a CPU like the guest'\''s can be had there' eval 'tells_not cpu && found disk 9216Gi'
forget_at_b smap
soon 'where one of its features is missing, that is told' tells cpu "the guest's CPU cannot be had there: .*smap"
