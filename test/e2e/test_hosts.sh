#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The laboratory of two hosts: each has a libvirt and an agent of its own, a guest moves from one to the other, and the
# watcher of its counter sees that it went on, and would see if it ran twice.
# environments: system
# takes: 35
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"

hosts_begin
is 'each host has its own name' "$(on a hostname) $(on b hostname)" 'host-a host-b'
isnt '… and UUID' "$(virsh_on a capabilities | sed -n '0,/<uuid>/s/ *<uuid>//p')" \
	"$(virsh_on b capabilities | sed -n '0,/<uuid>/s/ *<uuid>//p')"
host_agent_start a
host_agent_start b
soon 'the agents see each other' peers_see_each_other

ticks_watch
blank_disk "$T/disks/one.img"
guest_start a one "$T/disks/one.img"
soon 'a guest counts on a' ticks_more a 2
holds 'libvirt moves it over TCP' virsh_on a migrate --live --p2p --persistent --unsafe one \
	"qemu+tcp://${HOST_ADDRESS[b]}/system" "tcp://${HOST_ADDRESS[b]}"
soon '… where it goes on' ticks_more b 2
is '… and is gone from a' "$(domain_state a one)" 'shut off (migrated)'
is 'it ran once at a time' "$(ticks_in_order)" ''
holds 'host b loses its agent' host_agent_kill b
host_agent_start b
soon '… and gets it back' peers_see_each_other

n=$(ticks_from a)
blank_disk "$T/disks/two.img"
guest_start a one "$T/disks/two.img"
soon 'started a second time it counts' ticks_more a $((n + 1))
isnt '… and the watcher says that it runs twice' "$(ticks_in_order)" ''
