#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The data path of live migration: a guest that counts goes from one host to the other and back through a relay on each. The
# agents may die meanwhile, who is not the peer gets nowhere, and what libvirt's protocol can do beyond this one migration
# does not pass.
# environments: system
# takes: 130
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=relays.sh
. "$(dirname "$0")/relays.sh"

received_more() { [ "$(relay_field b rpc.received)" -ge "$1" ]; } # BYTES
is_at() { [ "$(relay_field "$1" "$2")" = "$3" ]; }          # HOST KEY VALUE
sent_more() { [ "$(relay_field a data.sent)" -gt "$1" ]; }  # BYTES
through() { on a timeout 60 virsh -q -c "qemu+unix:///system?socket=$1/rpc" "${@:2}" 2>"$T/refused"; } # FOLDER COMMAND...

disk_counter() { head -n 1 "$T/$1/disks/one.img" | tr -cd 0-9; } # HOST

hosts_begin
host_agent_start a
host_agent_start b
ticks_watch
await 'the agents see each other' peers_see_each_other
blank_disk "$T/a/disks/one.img"
blank_disk "$T/b/disks/one.img"
guest_start a one "$T/a/disks/one.img"
virsh_on a dumpxml --migratable one >"$T/here.xml"
sed "s|$T/a/disks|$T/b/disks|" "$T/here.xml" >"$T/there.xml"
domain two "$T/disks/two.img" >"$T/two.xml"

relay_start a source "$T/there.xml" '"disks": true'
relay_start b target "$T/there.xml" '"disks": true'
is 'the sockets are this host'\''s and QEMU'\''s alone' \
	"$(on a stat -c '%a %U' "$MIG/control" "$MIG/rpc" "$MIG/qemu/data" "$MIG/qemu" | tr '\n' ' ')" \
	'600 root 600 root 600 libvirt-qemu 700 libvirt-qemu '

# ---- who must not, and what must not ---------------------------------------------------------------------------

holds 'a domain cannot be defined through it' not through "$MIG" define "$T/two.xml"
soon '… the source says why' relay_says a 'rpc stream refused: DomainDefineXML .* is no part of a migration'
holds '… nor one be destroyed' not through "$MIG" destroy one
soon '… in words' relay_says a 'rpc stream refused: DomainLookupByName'
is '… and they are counted' "$(relay_field a refused)" 2
holds '… and b has no domain' not has_domain b two

holds 'a stranger makes certificates' vmactl peer init --name=host-a --pki="$T/stranger"
relay_start_as stranger a source "$T/there.xml" "\"cert\": \"$T/stranger/nodecert.pem\"" "\"key\": \"$T/stranger/nodekey.pem\""
holds '… and gets nowhere' not through "${MIG%/*}/stranger" list
soon '… since the target judges it' relay_says b "rpc stream refused: the certificate of 'host-a' is refused"
relay_start_as guesser a source "$T/there.xml" '"token": "00000000000000000000000000000001"'
holds 'a peer without the token gets nowhere' not through "${MIG%/*}/guesser" list
soon '… and is told' relay_says a 'the other side refuses: it does not know this migration.s token'
await 'a guest counts on a' ticks_more a 2

# ---- there, with its disk, while the agents die ------------------------------------------------------------------

move_guest a b one "$T/there.xml" --suspend --parallel --parallel-connections 2 --bandwidth 16 "${COPY[@]}" >"$T/log/move.txt" 2>&1 &
mover=$!
await 'memory is on its way' sent_more 20000000
host_agent_kill a
host_agent_kill b
holds 'it moves with its disk, over parallel streams, while both agents die' wait "$mover"
is '… the source has the evidence' "$(domain_state a one)" 'shut off (migrated)'
is '… and the target waits for the word' "$(domain_state b one)" 'paused (user)'
isnt '… its disk went by its own stream' "$(relay_field a disks.sent)" 0
is '… memory by three' "$(relay_field a data.opened)" 3
holds '… there it is resumed' virsh_on b resume one
soon '… and counts' ticks_more b 2
is '… once' "$(ticks_in_order)" ''
holds 'the disk arrived' test "$(disk_counter b)" -ge "$(disk_counter a)"
relay_end a
relay_end b
holds 'of a relay nothing is left' on a test ! -e "$MIG"
host_agent_start a
host_agent_start b

# ---- and back, with shared storage, while the answer is held -------------------------------------------------------

relay_start b source "$T/there.xml" '"hold": "finish-reply"'
relay_start a target "$T/there.xml"
n=$(ticks_from a)
move_guest b a one "$T/there.xml" --suspend >"$T/log/back.txt" 2>&1 &
mover=$!
soon 'the answer of the switch-over is held' is_at b finish reply-held
is '… while the source waits' "$(domain_state b one)" 'paused (migrating)'
more=$(($(relay_field b rpc.received) + 4 * 28))
soon '… and keepalives pass' received_more "$more"
is '… so that it still waits' "$(domain_state b one) $(relay_field b rpc.open)" 'paused (migrating) 1'
holds '… for which the relay vouches' ask_relay b vouch
holds 'released' ask_relay b release
holds '… it vouches no more' not ask_relay b vouch
holds '… it has moved with shared storage' wait "$mover"
holds '… and is resumed' virsh_on a resume one
soon '… and counts' ticks_more a $((n + 2))
is '… once' "$(ticks_in_order)" ''
relay_end a
relay_end b

# ---- the other host is away while the answer is held: soon nobody vouches for libvirt's waiting, and then it has ended --------

relay_start a source "$T/there.xml" '"hold": "finish-reply"'
relay_start b target "$T/there.xml"
move_guest a b one "$T/there.xml" --suspend >"$T/log/away.txt" 2>&1 &
mover=$!
soon 'the answer is held once more' is_at a finish reply-held
kill -9 "${RELAY[$MIGRATION-b]}"
resumed=
vouches() # and for what, as it was before that
{
	local state
	state=$(domain_state a one)
	ask_relay a vouch || return
	[ "$state" = 'paused (migrating)' ] || resumed=$state
}
soon '… without the other host its relay soon vouches no more' not vouches
is '… and never did for a guest that libvirt has resumed' "$resumed" ''
holds '… which it does' not wait "$mover"
is '… since the answer was lost' "$(relay_field a finish)" lost
n=$(ticks_from a)
soon '… the guest goes on at the source' ticks_more a $((n + 1))
virsh_on b destroy one >/dev/null
unset "RELAY[$MIGRATION-b]"
on b rm -r "$MIG"
relay_end a

# ---- what fails leaves it where it was ------------------------------------------------------------------------------

relay_start a source "$T/there.xml" '"hold": "finish-call"' '"plain": true'
relay_start b target "$T/there.xml" '"plain": true'
holds 'without TLS, both logs warn loudly' eval 'relay_says a "NOT ENCRYPTED" && relay_says b "NOT ENCRYPTED"'
move_guest a b one "$T/there.xml" --suspend >"$T/log/cut.txt" 2>&1 &
mover=$!
soon 'the call that switches over is held' is_at a finish call-held
holds '… and cut' ask_relay a cut
holds '… the migration fails' not wait "$mover"
soon '… what was held is lost' is_at a finish lost
n=$(ticks_from a)
soon '… the guest goes on at the source' ticks_more a $((n + 1))
move_guest a b one "$T/there.xml" --suspend --bandwidth 2 >"$T/log/killed.txt" 2>&1 &
mover=$!
await 'memory is on its way' is_at a data.open 1
await 'QEMU is there' on b test -e /run/libvirt/qemu/one.pid
kill -9 "$(cat "$T/b/run/libvirt/qemu/one.pid")"
PATIENCE=60 soon 'QEMU of the target dies, and nothing hangs' not alive "$mover" # longer than that if half of a stream stays open
holds '… the migration fails' not wait "$mover"
n=$(ticks_from a)
soon '… the guest goes on at the source' ticks_more a $((n + 1))
is '… once' "$(ticks_in_order)" ''

# ---- the watcher itself ---------------------------------------------------------------------------------------------

blank_disk "$T/disks/two.img"
n=$(ticks_from b)
holds 'the other host starts the same guest' guest_start b one "$T/disks/two.img"
soon '… which counts' ticks_more b $((n + 1))
isnt '… and the watcher says that it runs twice' "$(ticks_in_order)" ''
