#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A disk's file system fills up while the guest writes: it is paused, and disk and reason are told; it goes on by itself
# when there is room again, as the same run in the same QEMU, also if the agent is killed meanwhile.
# environments: embed system
# takes: 50
# shellcheck source-path=SCRIPTDIR source=lib.sh
[ "$(id -u)" = 0 ] || { echo "# $NAME is left out: only root can mount a file system that fills up"; exit 0; }
# The file system is to be seen here only, and to go with this process.
[ -n "${PRIVATE-}" ] || [ "$ENV" = system ] || PRIVATE=yes exec unshare -m --propagation private bash "$0"
. "$(dirname "$0")/lib.sh"

small=$T/disks/small

ticks() { grep -a -c '^tick' "$S/vmi/$(vmi_uid "$1")/serial0.log"; }
ticked_since() { [ "$(ticks "$1")" -gt "$2" ]; }
picture() { echo "$(vmi_uid "$1") $(phase "$1") $(qemu_pid "$1")"; }
paused() { get vm web ".status.conditions[?(@.type==\"Paused\")].$1"; }

# Room for the file's name, none for what is in it: the guest's first write fails.
mkdir -p "$small"
mount -t tmpfs -o size=1M none "$small" || fail 'cannot mount a file system'
truncate -s 1M "$small/data.img"
dd if=/dev/zero of="$small/filler" bs=64K 2>/dev/null
[ "$(stat -f -c %f "$small")" = 0 ] || fail 'the file system is not full'

begin
vm web Always disk="$small/data.img"
running web
up web
soon 'a full disk pauses the guest' same Paused status web
soon '… the condition says why' same PausedIOError paused reason
soon '… and which disk it is' same "the domain is paused: no space left for disk 'data'" paused message
run=$(vmi_uid web) picture=$(picture web)
holds 'the event names the file as well' told web "$run" "IOerror.*no space left for disk 'data' ('$small/data.img')"
stand=$(ticks web)
agent_kill
agent_start
soon 'the agent that comes after a kill -9 knows it, too' same "the domain is paused: no space left for disk 'data'" \
	paused message
is 'that is no failure' "$(picture web)" "$picture"
rm "$small/filler"
soon 'with room again the guest goes on by itself' ticked_since web "$stand"
soon 'the VM is shown as Running' same Running status web
soon '… and not as paused' same '' paused reason
soon '… having written' eval 'head -n 1 "$small/data.img" | tr -d "\0" | grep -q "^[1-9]"'
is '… as the same run in the same QEMU' "$(picture web)" "$picture"
is 'the error was told once' "$(story web "$run" | grep -c IOerror)" 1
holds 'and it can be stopped' vmactl stop web
holds 'the VMI goes' vmactl wait vmi/web --for=delete --timeout="${PATIENCE}s"
