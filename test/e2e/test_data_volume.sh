#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Storage that lasts: a root disk that a VM's template fills from an image, and a claim beside it, in which the next run finds
# what the last one wrote, whoever the file belonged to meanwhile. The claim is copied when no run writes to it.
# environments: embed system
# takes: 60
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

FILE=$S/pvc/default

dv() { get dv "$1" .status.phase; }
claim() { get pvc "$1" .status.phase; }
no() { vmactl get "$1" "$2" 2>&1 | grep -q NotFound; }

# data_volume NAME SOURCE SIZE prints one.
data_volume()
{
	cat <<-YAML
		apiVersion: cdi.kubevirt.io/v1beta1
		kind: DataVolume
		metadata: { name: $1 }
		spec: { source: { $2 }, storage: { $3 } }
		---
	YAML
}

size() { echo "resources: { requests: { storage: $1 } }"; }

db()
{
	manifest db Always headless grace=10 | sed -e "s|containerDisk: .*} }|dataVolume: { name: db-root } }, { name: data, dataVolume: { name: db-data } }|" \
		-e "s/disks: \[ \(.*\) \]/disks: [ \1, { name: data, disk: { bus: virtio } } ]/" \
		-e "s|^  runStrategy:|  dataVolumeTemplates: [ { metadata: { name: db-root }, spec: { source: { registry: { url: docker://example.org/guest:1 } }, storage: { $(size 128Mi) } } } ]\n&|"
}

set_up
printf '  images: [ { match: "example.org/*", path: %s } ]\n' "$T/img/guest.img" >>"$T/config.yaml"
agent_start

db | put db.yaml
soon 'a VM waits for what it names' same ErrorPvcNotFound status db
data_volume db-data 'blank: {}' "$(size 16Mi)" | put data.yaml
soon 'a template is filled from an image' same Succeeded dv db-root
soon 'an empty one is made' same Succeeded dv db-data
soon 'its claim is bound' same Bound claim db-data
holds 'the image is whole' cmp -n "$(stat -c %s "$T/img/guest.img")" "$T/img/guest.img" "$FILE/db-root/disk.img"
running db
up db
soon 'the guest has an empty disk' says db "data disk /dev/vdb held ''"
data_volume db-copy 'pvc: { name: db-data }' '' | put copy.yaml
soon 'a claim that a run writes to is not copied' same Pending dv db-copy
await 'the guest writes' says db '^tick 5'

vmactl stop db >/dev/null || fail 'it cannot be stopped'
soon 'it is copied when the run has ended' same Succeeded dv db-copy
is 'the files are the agent'\''s again' "$(stat -c '%u %a' "$FILE/db-data/disk.img" "$FILE/db-root/disk.img" | sort -u)" "$(id -u) 600"
holds 'the copy is one' cmp "$FILE/db-data/disk.img" "$FILE/db-copy/disk.img"
held=$(head -c 9 "$FILE/db-data/disk.img" | head -n 1)
holds 'the guest wrote into its claim' test "$held" -ge 5

agent_kill
agent_start
vmactl start db >/dev/null || fail 'it cannot be started'
running db
up db
soon 'the next run finds it' says db "data disk /dev/vdb held '$held'"

rm "$M/db.yaml"
await 'the VM is gone' no_vm db
soon 'its own claim goes when its manifest vanished' no pvc db-root
holds '… and its data stays' test -s "$FILE/db-root/disk.img"
vmactl delete dv db-data >/dev/null || fail 'it cannot be deleted'
soon 'a claim goes with its DataVolume' no pvc db-data
holds '… and by command with its data' not test -e "$FILE/db-data"
