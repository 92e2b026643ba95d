#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Live migration between two agents: a guest that counts, and writes to its memory and disk, goes there and back with its
# disks, and once more with a disk that both hosts reach; somebody who hears all that the guests say on both hosts never
# hears two at a time. What the target would not take stays where it is, and a stranger gets nothing.
# environments: system
# takes: 130
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=guests.sh
. "$(dirname "$0")/guests.sh"

says_why() { at "$1" get peer "$2" -o jsonpath='{.status}' | grep -q "$3"; } # HOST PEER PATTERN

moves() # FROM NAME TO WORDS
{
	local last
	holds "$2 writes" writes_at "$1" "$2"
	last=$(last_tick "$1" "$2")
	holds "$2 is to move $4" migrate "$1" "$2" "$3"
	soon '… it runs there' runs_at "$3" "$2"
	soon '… and is gone here' gone_from "$1" "$2"
	soon '… it counts on' counts_at "$3" "$2" "$last"
	holds '… without having begun anew' test "$(ticks_of "$3" "$2" | head -n 1)" -gt 1
	is '… once: its source has no domain' "$(virsh_on "$1" list --all --name | tr -d '\n')" ''
	is '… and its target runs it' "$(domain_state "$3" "default_$2" | cut -d ' ' -f 1)" running
	is '… as the same run' "$(vmi_at "$3" "$2" .metadata.uid)" "${uid[$2]}"
	is '… its memory and disk hold the last byte that it wrote' "$(wrote_well "$3" "$2")" ''
	is '… and nobody has heard two of it' "$(ticks_in_order)" ''
	soon '… no relay is left' no_relays
}

hosts_begin
for host in "${HOSTS[@]}"; do
	echo '  migrations: { enabled: true }' >>"$T/$host/config.yaml"
	host_agent_start "$host"
done
await 'the agents see each other' peers_see_each_other
ticks_follow

vm_at a one 'emptyDisk: { capacity: 8Mi }'
moves a one b 'with its disks'
moves b one a 'and back'
at a delete vm one >/dev/null

blank_disk "$T/disks/two.img"
vm_at a two "hostDisk: { path: $T/disks/two.img, type: Disk, shared: true }"
moves a two b 'with a disk that both have'
is '… whose counter goes on' "$(head -n 1 "$T/disks/two.img" | tr -cd 0-9 | grep -c .)" 1
at b delete vm two >/dev/null

blank_disk "$T/a/disks/three.img"
vm_at a three "hostDisk: { path: $T/a/disks/three.img, type: Disk }"
holds 'what lies on one host alone is not moved' not migrate a three b
holds '… in words' grep -q DisksNotLiveMigratable "$T/log/migrate-three-b.txt"
last=$(last_tick a three)
soon '… and goes on' counts_at a three "$last"
at a delete vm three >/dev/null

vm_at a four 'emptyDisk: { capacity: 8Mi }'
host_agent_stop b
vmactl peer init --name=host-b --pki="$T/stranger" >"$T/log/stranger.txt" 2>&1
mv "$T/b/pki" "$T/b/pki.true"
cp -r "$T/stranger" "$T/b/pki"
host_agent_start b
soon 'a stranger that says it is b is refused' says_why a host-b Unreachable
soon '… in words' host_agent_says a "the certificate of 'host-b' is refused"
holds 'a guest that is to move to it' migrate a four b
holds '… is not known there' gone_from b four
is '… has no domain there' "$(virsh_on b list --all --name | tr -d '\n')" ''
last=$(last_tick a four)
soon '… and goes on' counts_at a four "$last"
host_agent_stop b
rm -r "$T/b/pki"
mv "$T/b/pki.true" "$T/b/pki"
host_agent_start b
soon 'the true b gets it' gone_from a four
soon '… and runs it' runs_at b four
is '… and nobody has heard two of any' "$(ticks_in_order)" ''
