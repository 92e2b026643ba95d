#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# EFI and media, as the guest sees them: with secure boot a system that is signed boots to user space and one that is not
# is refused by the firmware; a variable of the firmware outlives the run; what media are made of can be read on them.
# environments: system
# takes: 90
PATIENCE=${PATIENCE:-400} # such guests are long in booting where there is no KVM and much else runs
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

VARIABLE=/sys/firmware/efi/efivars/Kept-7a0e0f60-0f5e-4c50-9f1f-3d1c8e6c0a01

# efi NAME IMAGE SECURE: a VM with firmware that keeps its variables, and smm, which secure boot needs.
efi()
{
	manifest "$1" Always memory=512Mi grace=0 | sed -e "s|/guest.img|/$2.img|" -e "s/^      domain:/&\n        features: { smm: {} }\n\
        firmware: { bootloader: { efi: { secureBoot: $3, persistent: true } } }/"
}

# In place of shim, the kernel itself: it is signed, but not with a key that the firmware knows.
cp --sparse=always "$PWD/build/guest/efi.img" "$T/img/"
cp --sparse=always "$T/img/efi.img" "$T/img/unknown.img"
mcopy -o -i "$T/img/unknown.img" "$T/img/vmlinuz" ::EFI/BOOT/BOOTX64.EFI || fail 'cannot make the image'

begin
efi signed efi true | sed -e 's/disks: \[/& { name: seed, disk: { bus: virtio } }, { name: settings, cdrom: { bus: scsi } }, /' -e \
	's/volumes: \[/& { name: seed, cloudInitNoCloud: { secretRef: { name: seed } } }, { name: settings, configMap: { name: settings } }, /' |
	put signed.yaml
efi unknown unknown true | put unknown.yaml
efi free unknown false | put free.yaml
soon 'what lacks its Secret waits for it' told signed '' "there is no Secret .*seed"
put media.yaml <<-YAML
	apiVersion: v1
	kind: Secret
	metadata: { name: seed }
	stringData: { userdata: '#cloud-config of a test' }
	---
	apiVersion: v1
	kind: ConfigMap
	metadata: { name: settings }
	data: { site.conf: listen 80 }
YAML

running unknown
soon 'secure boot refuses a system with an unknown key' says unknown 'failed to load.*Access Denied'
running free
soon '… and without it that is started' says free 'BdsDxe: starting.*Block Boot Device'
holds '… by firmware that refused nothing' not says free 'Access Denied'
vmactl delete vm unknown free >/dev/null || fail 'they cannot be deleted'

running signed
await 'guest signed is up' says signed 'guest up' # behind what GRUB says of its colours
soon 'what is signed boots to user space' answers signed 'run dmesg | grep -i -o secure.boot.enabled' '^Secure boot enabled'
soon 'a medium on virtio has its file' \
	answers signed 'run mkdir -p /v; mount -t iso9660 -o ro LABEL=cidata /v; cat /v/user-data' '^#cloud-config of a test'
soon 'a medium in a CD drive has its file' \
	answers signed 'run mkdir -p /c; mount -t iso9660 -o ro LABEL=cfgdata /c; cat /c/site.conf' '^listen 80'
soon 'the guest gives the firmware a variable' answers signed \
	"run mount -t efivarfs e ${VARIABLE%/*}; [ -e $VARIABLE ] || printf '\\007\\000\\000\\000by the first run' >$VARIABLE; tail -c 16 $VARIABLE; echo" '^by the first run'

run=$(vmi_uid signed)
vmactl restart signed >/dev/null || fail 'it cannot be restarted'
await 'another run begins' other "$run" vmi_uid signed
running signed
await 'guest signed is up' says signed 'guest up' # behind what GRUB says of its colours
soon '… and the next run reads it' \
	answers signed "run mount -t efivarfs e ${VARIABLE%/*}; tail -c 16 $VARIABLE; echo" '^by the first run'
