#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# KubeVirt's own example manifests are started for real, one after the other, as they are: those that
# test/fixtures/kubevirt/examples.started names. Images of the registry that they name are the test guest's.
# environments: embed
# takes: 90
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

EXAMPLES=test/fixtures/kubevirt/examples
AT_LEAST=16

# Only what lies elsewhere here: the folder of host disks.
example() { sed "s#/var/data/#$T/disks/#" "$EXAMPLES/$1"; }
name_of() { sed -n '/^metadata:/,/^[a-z]*:$/s/^  name: //p' "$EXAMPLES/$1" | head -n 1; }
is_vm() { grep -q '^kind: VirtualMachine$' "$EXAMPLES/$1"; }

configure()
{
	cat >"$T/config.yaml" <<-YAML
		apiVersion: vmagent.io/v1
		kind: AgentConfiguration
		spec:
		  hostDiskRoots: [ $T/disks ]
		  imageRoots: [ $T ]
		  images:
		  - { match: '*ext-kernel-boot-demo*', path: $T/kernel }
		  - { match: 'registry:5000/kubevirt/*', path: $T/img/guest.img }
		  overcommit: { memory: 10000, cpu: 1000 }
	YAML
	mkdir -p "$T/kernel/boot"
	cp build/guest/vmlinuz "$T/kernel/boot/vmlinuz-virt"
	cp build/guest/initrd.img "$T/kernel/boot/initramfs-virt"
}

# What they refer to, of theirs: instancetypes and preferences.
put_types()
{
	local file
	for file in "$EXAMPLES"/*.yaml; do
		! grep -q -E '^kind: VirtualMachine(Cluster)?(Instancetype|Preference)$' "$file" || cp "$file" "$M/"
	done
}

started=0
run_example() # FILE
{
	local name kind=vmi
	name=$(name_of "$1")
	! is_vm "$1" || kind=vm
	example "$1" >"$T/example.yaml"
	vmactl apply -f "$T/example.yaml" >"$T/log/$1.apply" 2>&1 || fail "$1 is not accepted: $(tail -n 1 "$T/log/$1.apply")"
	[ $kind = vmi ] || [ "$(status "$name")" != Stopped ] || vmactl start "$name" >/dev/null
	soon "$1 runs" same Running phase "$name"
	vmactl delete $kind "$name" --force --grace-period=0 >/dev/null 2>&1
	await "$name is gone" no_vmi "$name"
	started=$((started + 1))
}

set_up
configure
agent_start
put_types
while read -r file <&8; do
	run_example "$file"
done 8< <(grep -v '^#' test/fixtures/kubevirt/examples.started)
holds "at least $AT_LEAST were started: $started" [ "$started" -ge $AT_LEAST ]
