#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two VMs name the same disk: the second waits for the first, and says so. A disk that another process holds is named,
# with what to do about it; when it is free the VM starts.
# environments: embed
# takes: 30
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

out_of_sync() { get vmi "$1" '.status.conditions[?(@.type=="Synchronized")].message'; }
explains() { out_of_sync "$1" | grep -q -F -e "$2"; } # NAME WORDS

begin
truncate -s 1M "$T/disks/a.img" "$T/disks/b.img"
vm first Always disk="$T/disks/a.img"
running first
vm second Always disk="$T/disks/a.img"
soon 'the second VM with the same disk says for whom it waits' explains second \
	"volume 'data' ('$T/disks/a.img') is in use by 'default/first', which must stop first"
is '… and is shown as Starting' "$(status second)" Starting
agent_kill
agent_start
holds '… over a kill -9 of the agent' explains second 'in use by'
is 'the first one runs on' "$(phase first)" Running
holds 'the first one is stopped' vmactl stop first --force --grace-period=0
soon 'then the second one starts' same Running phase second
is '… and says nothing any more' "$(out_of_sync second)" ''

# Another QEMU, which is none of ours; it need not run.
qemu-system-x86_64 -S -accel tcg -m 16 -display none -nodefaults -drive "file=$T/disks/b.img,format=raw,if=virtio" \
	>"$T/log/qemu.log" 2>&1 &
holder=$!
await 'the other process has locked it' grep -q ":$(stat -c %i "$T/disks/b.img") " /proc/locks
vm third Always disk="$T/disks/b.img"
soon 'a disk that another process has open is named' explains third \
	"disk image '$T/disks/b.img' is open in another process; find it with 'fuser"
signal KILL $holder
soon 'when it is gone the VM starts' same Running phase third
holds 'and all can be stopped' vmactl delete vm --all --timeout="${PATIENCE}s"
