#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A guest moves with its firmware's variables and its TPM, which are kept with the VM: they are there for its next run at
# its new home, and not left where it was. What comes to nothing leaves nothing at the target, and all at the source. What
# is of a run alone moves as well.
# environments: system
# takes: 100
PATIENCE=${PATIENCE:-400} # one guest is long in booting where there is no KVM and much else runs
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=guests.sh
. "$(dirname "$0")/guests.sh"

EFIVARS=/sys/firmware/efi/efivars GUID=7a0e0f60-0f5e-4c50-9f1f-3d1c8e6c0a01
DESCRIPTIONS=/usr/share/qemu/firmware

kept() { find "$T/$1/state/vm" "$T/$1/var/lib/libvirt/swtpm" "$T/$1/var/lib/libvirt/qemu/nvram" -type f 2>/dev/null; } # HOST
nvram() { find "$T/$1/state/vm" -name nvram -type f; }                    # HOST
tpm() { find "$T/$1/var/lib/libvirt/swtpm" -name 'tpm2-*.permall'; }      # HOST
tpm_sum() { sha256sum <"$(tpm "$1")"; }                                   # HOST
# The variables are UCS-2 and bytes: what the tests write is ASCII.
has_variable() { grep -q -a -F "$2" "$(nvram "$1")"; }                    # HOST TEXT
check() { at "$1" migrate kept --to="host-$2" --check >"$T/log/check.txt" 2>&1; } # FROM TO
hide_firmware() { on b mount --bind "$T/b/none" $DESCRIPTIONS; }
show_firmware() { on b umount $DESCRIPTIONS; }

set_variable() # HOST NAME TEXT
{
	tell_at "$1" kept "run mount -t efivarfs e $EFIVARS 2>/dev/null; printf '\\007\\000\\000\\000$3' >$EFIVARS/$2-$GUID; echo is-set" '^is-set'
}
shows_variable() # HOST NAME TEXT
{
	tell_at "$1" kept "run mount -t efivarfs e $EFIVARS 2>/dev/null; tail -c ${#3} $EFIVARS/$2-$GUID; echo" "^$3"
}

isnt_empty() { [ -n "$("$@")" ]; }

moved() # FROM TO NAME
{
	soon "… it is gone from $1" gone_from "$1" "$3"
	is "… where no domain is left" "$(virsh_on "$1" list --all --name | tr -d '\n')" ''
	soon '… nothing of what it keeps' same '' kept "$1"
	soon '… and no relay' no_relays
}

cp --sparse=always "$PWD/build/guest/efi.img" "$T/efi.img"
hosts_begin
cp --sparse=always "$T/efi.img" "$T/img/efi.img"
mkdir "$T/b/none"
movers_begin
ticks_follow

export GRACE=0 # of guests.sh
machine_at a kept <<-YAML
	domain:
	  memory: { guest: 512Mi }
	  features: { smm: {} }
	  firmware: { bootloader: { efi: { secureBoot: true, persistent: true } } }
	  devices:
	    autoattachPodInterface: false
	    tpm: { persistent: true }
	    disks: [ { name: root, disk: { bus: virtio } } ]
	volumes: [ { name: root, containerDisk: { image: 'file://$T/img/efi.img' } } ]
YAML
# Meanwhile one whose TPM is of its run alone, and one with EFI of whose variables that is so, and which has nothing to boot.
machine_at a brief <<-YAML
	domain:
	  memory: { guest: 128Mi }
	  devices:
	    autoattachPodInterface: false
	    tpm: {}
	    disks: [ { name: root, disk: { bus: virtio } } ]
	volumes: [ { name: root, containerDisk: { image: 'file://$T/img/guest.img' } } ]
YAML
machine_at a bare <<-YAML
	domain:
	  memory: { guest: 128Mi }
	  firmware: { bootloader: { efi: { secureBoot: false } } }
	  devices: { autoattachPodInterface: false }
YAML
await 'it runs at a' runs_at a brief
learn_run a brief
await 'it counts' counts_at a brief 1
last=$(last_tick a brief)
holds 'a guest with a TPM of its run is to move' migrate a brief b
soon '… it is gone here' gone_from a brief
soon '… it counts on there' counts_at b brief "$last"
is '… where its TPM is' "$(tpm b | grep -c .)" 1
soon '… and not here' same 1 eval 'tpm a | grep -c .' # that of the other guest
await 'it runs at a' runs_at a bare
holds 'one whose variables are of its run is to move' migrate a bare b
soon '… it is gone here' gone_from a bare
soon '… it runs there' runs_at b bare
is '… where its variables are' "$(find "$T/b/state/vmi/$(vmi_at b bare .metadata.uid)" -name nvram | grep -c .)" 1
is '… and not here' "$(find "$T/a/var/lib/libvirt/qemu/nvram" -type f | grep -c .)" 0
at b delete vm brief bare >/dev/null
soon '… they go with them' same '' find "$T/b/state/vmi" "$T/b/state/vm" -type f

await 'it runs at a' runs_at a kept
learn_run a kept
is 'a guest with EFI can be moved' "$(vmi_at a kept '.status.conditions[?(@.type=="LiveMigratable")].status')" True
await 'it counts' counts_at a kept 2
set_variable a One 'of the first host'
soon 'its variables are kept here' has_variable a 'of the first host'

hide_firmware
lacks_firmware() { not check a b && grep -q "firmware: it does not have the guest's EFI firmware, '/.*' with variables as in '/" "$T/log/check.txt"; }
soon 'that its firmware is not there is told' lacks_firmware
show_firmware
soon '… until it is' check a b

sum=$(sha256sum "$(nvram a)")
policy_at a slow kept 'bandwidthPerMigration: 1Mi'
holds 'it is to move slowly' migrate a kept b
soon '… what it keeps is made ready for there' isnt_empty nvram b
holds '… and is called off' at a migrate-cancel kept
soon '… nothing of it is left there' gone_from b kept
soon '… not even of what it keeps' same '' kept b
is '… and all of it here' "$(sha256sum "$(nvram a)")" "$sum"
holds '… with its TPM' test -s "$(tpm a)"
last=$(last_tick a kept)
soon '… where it goes on' counts_at a kept "$last"
at a delete migrationpolicy slow >/dev/null

# It stands still there, so that nothing is as it ought to be because it ran.
at a pause vmi kept >/dev/null
soon 'it is paused' same 'paused (user)' domain_state a default_kept
sum=$(tpm_sum a)
soon '… and is to move' migrate a kept b # it was called off, which may have to end yet
moved a b kept
is '… it stands still there' "$(domain_state b default_kept)" 'paused (user)'
holds '… with its variables' has_variable b 'of the first host'
is '… and its TPM' "$(tpm_sum b)" "$sum"
at b unpause vmi kept >/dev/null
soon '… until it is to go on' counts_at b kept "$last"
shows_variable b One 'of the first host'
ok '… and reads them'
set_variable b Two 'of the second host'

last=$(last_tick b kept)
holds 'it is to move back' migrate b kept a
soon '… it runs there' runs_at a kept
moved b a kept
soon '… it counts on' counts_at a kept "$last"
holds '… with its variables' has_variable a 'of the second host'
shows_variable a Two 'of the second host'
ok '… which it reads'

run=${uid[kept]}
kill -9 "$(on a cat /run/libvirt/qemu/default_kept.pid)"
await 'another run begins' other "$run" vmi_at a kept .metadata.uid
await 'it runs at a' runs_at a kept
learn_run a kept
await 'its firmware has begun' said_more a kept BdsDxe 0
holds 'its next run takes them for what they are' has_variable a 'of the first host'
at a delete vm kept >/dev/null
soon 'nothing is left of it' same '' kept a
