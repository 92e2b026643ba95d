#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Live migration between two agents: a guest that counts, and writes to its memory and disk, goes there and back with its
# disks, and once more with a disk that both hosts reach; somebody who hears all that the guests say on both hosts never
# hears two at a time. What the target would not take stays where it is, and a stranger gets nothing.
# environments: system
# takes: 150
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=guests.sh
. "$(dirname "$0")/guests.sh"

stands_at() { same 'paused (user)' domain_state "$1" "default_$2"; }
has_console() { ! at "$1" console "$2" </dev/null 2>&1 | grep -q 'No serial'; }
says_why() { at "$1" get peer "$2" -o jsonpath='{.status}' | grep -q "$3"; } # HOST PEER PATTERN

last_heard() { grep ' tick ' "$TICKS" | tail -n 1 | cut -d ' ' -f 2; } # by the watcher: HOST/RUN

moves() # FROM NAME TO WORDS
{
	local last
	holds "$2 writes" writes_at "$1" "$2"
	last=$(last_tick "$1" "$2")
	soon "$2 is to move $4" migrate "$1" "$2" "$3" # its last move may have to end yet
	soon '… it runs there' runs_at "$3" "$2"
	soon '… and is gone here' gone_from "$1" "$2"
	soon '… it counts on' counts_at "$3" "$2" "$last"
	holds '… without having begun anew' test "$(ticks_of "$3" "$2" | head -n 1)" -gt 1
	is '… once: its source has no domain' "$(virsh_on "$1" list --all --name | tr -d '\n')" ''
	is '… and its target runs it' "$(domain_state "$3" "default_$2" | cut -d ' ' -f 1)" running
	is '… as the same run' "$(vmi_at "$3" "$2" .metadata.uid)" "${uid[$2]}"
	is '… its memory and disk hold the last byte that it wrote' "$(wrote_well "$3" "$2")" ''
	soon '… where it is heard' same "$3/${uid[$2]}" last_heard
	is '… and nobody has heard two of it' "$(ticks_in_order)" ''
	soon '… no relay is left' no_relays
}

# secret_at HOST TEXT: what a seed is made of.
secret_at()
{
	printf 'apiVersion: v1\nkind: Secret\nmetadata: { name: seed }\nstringData: { userdata: "%s" }\n' "$2" >"$T/new"
	at "$1" apply -f "$T/new" >/dev/null
}
secret_of() { at "$1" get secret seed -o jsonpath='{.data.userdata}' | base64 -d; }     # HOST
seed_sum() { sha256sum <"$T/$1/state/vmi/${uid[$2]}/seed.iso"; }                        # HOST NAME
# Open descriptors and threads of both agents.
held_by_agents() { find "/proc/${HOST_AGENT[a]}/"{fd,task} "/proc/${HOST_AGENT[b]}/"{fd,task} -mindepth 1 -maxdepth 1 | wc -l; }
holds_no_more() { [ "$(held_by_agents)" -le "$1" ]; } # NUMBER
check() { at "$1" migrate "$2" --to="host-$3" --check >"$T/log/check-$2-$3.txt" 2>&1; } # FROM NAME TO
found() { grep -q "^  $3: .*$4" "$T/log/check-$1-$2.txt"; }                             # NAME TO CHECK WORDS
says_where() { at "$1" get vm "$2" 2>&1 | grep -q "it has moved to 'host-$3'"; }        # HOST NAME WHERE

hosts_begin
movers_begin
ticks_follow

secret_at a '#cloud-config'
secret_at b '#another'
vm_at a one 'emptyDisk: { capacity: 8Mi }' 'disk: { bus: virtio }' 'cloudInitNoCloud: { secretRef: { name: seed } }'
tells() { not check a one b && found one b "$@"; } # CHECK WORDS
soon 'what stands in its way is told, such as what the other host has by the name of what it needs' tells objects "Secret 'seed'"
holds '… and nothing of it is there for that' lacks b vm one
at b delete secret seed >/dev/null
soon 'nothing stands in its way any more' check a one b
holds '… in words' grep -q "it can be moved to 'host-b'" "$T/log/check-one-b.txt"
sum=$(seed_sum a one)
moves a one b 'with its disks'
holds '… and its QEMU was ended while libvirt waited' host_agent_says a 'ending its QEMU, while libvirt waits'
holds '… for certain' not host_agent_says a 'migrate-seal failed'
is '… with what its seed is made of' "$(secret_of b)" '#cloud-config'
is '… which is the same to the byte' "$(seed_sum b one)" "$sum"
holds '… and where it was one hears where it is' says_where a one b
moves b one a 'and back'
holds '… with its seed' lacks b secret seed
at a pause vmi one >/dev/null
soon 'it is paused' same 'paused (user)' domain_state a default_one
holds 'paused, it is to move' migrate a one b
soon '… is gone here' gone_from a one
is '… stands still there' "$(domain_state b default_one)" 'paused (user)'
is '… and has not run' "$(last_tick b one)" ''
at b unpause vmi one >/dev/null
soon '… until it is to' counts_at b one 2
at b delete vm one >/dev/null
await 'one is gone' gone_from b one
held=$(held_by_agents) # some of it for a moment

blank_disk "$T/disks/two.img"
vm_at a two "hostDisk: { path: $T/disks/two.img, type: Disk, shared: true }"
moves a two b 'with a disk that both have'
is '… whose counter goes on' "$(head -n 1 "$T/disks/two.img" | tr -cd 0-9 | grep -c .)" 1
at b pause two >/dev/null
holds 'it moves back, paused, and is waited for' migrate b two a --wait --timeout="${PATIENCE}s"
holds '… which says where it is' grep -q "VM two was moved to 'host-a'" "$T/log/migrate-two-a.txt"
soon '… it stands still there' stands_at a two
soon '… it is gone here' gone_from b two
soon '… no relay is left' no_relays
holds '… who wants to talk to it can' has_console a two
last=$(last_tick a two)
at a unpause two >/dev/null
soon '… and it goes on when it is told' counts_at a two "${last:-0}"
at a delete vm two >/dev/null
soon '… which leaves no descriptor and no thread behind' holds_no_more "$held"

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

# Plain TCP is a choice of both. What the agents say to each other is encrypted all the same.
disable_tls() # HOST
{
	host_agent_stop "$1"
	sed -i 's/  migrations: { enabled: true/&, disableTLS: true/' "$T/$1/config.yaml"
	host_agent_start "$1"
}
soon '… and counts there' counts_at b four 0
disable_tls b
await 'the agents see each other' peers_see_each_other
holds 'a guest is to move to where it would not be encrypted' migrate b four a
soon '… which is refused in words' host_agent_says b 'it takes only guests that are encrypted'
last=$(last_tick b four)
soon '… and it goes on' counts_at b four "$last"
disable_tls a
await 'the agents see each other' peers_see_each_other
moves b four a 'without encryption, which both have chosen'
holds '… and the logs warn' grep -q 'NOT ENCRYPTED' "$T/log/agent-a.log" "$T/log/agent-b.log"

# The watcher itself: another one where it was is heard.
mkdir -p "$T/b/state/vmi/${uid[four]}"
echo "tick $(last_tick a four)" >>"$(line_at b four)"
soon 'who hears all hears a second one' not same '' ticks_in_order
