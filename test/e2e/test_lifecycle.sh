#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A VM's life from its file to its deletion: identities, what the guest sees and says, what stays and what goes, and whose
# the files are.
# environments: embed system
# takes: 60
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

owner() { stat -c %u:%g "$1"; }
image=$T/img/guest.img
data=$T/disks/data.img

# A disk that somebody has lying about, and a containerDisk's image: neither is the agent's. QEMU's user needs access to
# what keeps its owner.
user_disk()
{
	truncate -s 4M "$data"
	[ "$(id -u)" != 0 ] || chown nobody "$data" "$image"
	chmod 666 "$data"
	chmod 644 "$image"
}

set_up
user_disk
owners="$(owner "$data") $(owner "$image")"
agent_start

vm web Always net "disk=$data" scratch=16Mi
running web
up web
first=$(vmi_uid web) vm=$(vm_uid web) qemu=$(qemu_pid web)
is 'a file with Always makes it run' "$(status web)" Running
isnt 'a VMI has a UID of its own' "$first" "$vm"
isnt 'the VMI has a firmware UUID' "$(get vmi web .spec.domain.firmware.uuid)" ''

soon 'the guest answers on its console' answers web 'echo well heard' '^well heard$'
soon 'a disk of the host is a disk of the guest' says web "^data disk /dev/vdb held ''"
soon 'the pod network gives it an address' says web '^net eth0 10\.'
soon 'an empty disk is there, of its size' answers web info 'info disk=vdc sectors=32768 ro=0'
uuid=$(get vmi web .spec.domain.firmware.uuid)
soon 'the guest sees the firmware UUID' answers web info "info uuid=${uuid,,}"

type_in web reboot
soon 'a guest that reboots is up a second time' says web '^guest up' 2
is '… as the same VMI' "$(vmi_uid web)" "$first"
is '… in the same QEMU' "$(qemu_pid web)" "$qemu"
soon '… and finds its counter on the disk' says web "^data disk /dev/vdb held '[1-9]"

holds 'stop is accepted' vmactl stop web
holds 'the VMI goes' vmactl wait vmi/web --for=delete --timeout="${PATIENCE}s"
holds 'the run ended well' told web "$first" 'phase Running -> Succeeded: the guest shut down'
is 'a stop is a stop' "$(status web) $(strategy web)" 'Stopped Halted'
holds 'no QEMU is left' not alive "$qemu"
holds "the run's folder is gone" not test -e "$S/vmi/$first"
is 'files keep their owners' "$(owner "$data") $(owner "$image")" "$owners"

holds 'start is accepted' vmactl start web
running web
up web
is "the VM's UID has survived" "$(vm_uid web)" "$vm"
isnt 'the new run has a UID of its own' "$(vmi_uid web)" "$first"
is 'the firmware UUID has stayed' "$(get vmi web .spec.domain.firmware.uuid)" "$uuid"
soon 'the counter has stayed on its disk' says web "^data disk /dev/vdb held '[1-9]"
second=$(vmi_uid web)

vmactl delete vm web --timeout="${PATIENCE}s" >"$T/log/delete.txt" 2>&1
is 'delete waits until the VM is gone' "$(vmactl get vm web -o name 2>/dev/null)" ''
holds '… and warns that its file is still there' grep -i 'warning.*web.yaml' "$T/log/delete.txt"
holds '… having shut the guest down' told web "$second" 'phase Running -> Succeeded'
touch "$M/web.yaml"
cp -p "$M/web.yaml" "$T/copy" && put web.yaml <"$T/copy"
vm other Halted
holds 'it stays deleted while its file has the same content' no_vm web
agent_stop
agent_start
holds '… also after a restart' no_vm web

vm web Always grace=20
running web
isnt 'new content makes a new VM' "$(vm_uid web)" "$vm"
up web
third=$(vmi_uid web)
rm "$M/web.yaml"
soon 'a file that is removed deletes its VM' no_vm web
holds '… gracefully' told web "$third" 'phase Running -> Succeeded: the guest shut down'
is "no run's folder is left" "$(ls "$S/vmi")" ''
is 'the disk is still there' "$(owner "$data")" "${owners% *}"
