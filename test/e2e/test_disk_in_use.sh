#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two VMs name the same disk: the second waits for the first, and says so. A disk that another process holds is named,
# with what to do about it; when it is free the VM starts. A VM for which the host is too small, or on which it may not be,
# waits as well; limits are in force, or a warning says why not.
# environments: embed
# takes: 35
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
soon '… over a kill -9 of the agent' explains second 'in use by'
is 'the first one runs on' "$(phase first)" Running
holds 'the first one is stopped' vmactl stop first --force --grace-period=0
soon 'then the second one starts' same Running phase second
soon '… and says nothing any more' same '' out_of_sync second

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

unschedulable() { get vmi "$1" '.status.conditions[?(@.type=="PodScheduled")].message' | grep -q -F -e "$2"; } # NAME WORDS
vm huge Always memory=64Ti
soon 'a VM that is too big for the host says so' unschedulable huge 'Insufficient memory: needs 65'
is '… in its status' "$(status huge)" ErrorUnschedulable
holds '… and in words' grep -q 'which is never enough' <(vmactl explain huge)
manifest picky Always | sed 's/^      domain:/      nodeSelector: { disk: ssd }\n&/' | put picky.yaml
soon 'one that is meant for another host says so' unschedulable picky "didn't match Pod's node affinity/selector"
agent_stop
printf '  labels: { disk: ssd }\n' >>"$T/config.yaml"
agent_start
soon 'when the host gets that label it starts' same Running phase picky

limits='resources: { requests: { cpu: 100m }, limits: { cpu: 500m, memory: 256Mi } }'
manifest small Always | sed "s/^        devices:/        $limits\n&/" | put small.yaml
running small
said=$(vmactl events --for=vmi/small | grep -c LimitsNotInForce)
cgroup=$(sed -n 's/^[0-9]*:memory://p' "/proc/$(qemu_pid small)/cgroup" 2>/dev/null)
cgroup=${cgroup:-$(sed -n 's/^0:://p' "/proc/$(qemu_pid small)/cgroup" 2>/dev/null)}
limit=$(cat "/sys/fs/cgroup/memory$cgroup/memory.limit_in_bytes" "/sys/fs/cgroup$cgroup/memory.max" 2>/dev/null | tail -n 1)
echo "# said $said times, limit '$limit'"
# 256 MiB, and for QEMU 30 + 2 * 8 + 32 + 128 + 1024 MiB and a 512th of the guest's.
expected=$((1486 * 1024 * 1024 + 256 * 1024))
is 'limits are in force, or it is said that they are not' "$([ "$limit" = "$expected" ] || [ "$said" = 1 ] && echo yes)" yes
holds 'and all can be stopped' vmactl delete vm --all --timeout="${PATIENCE}s"
