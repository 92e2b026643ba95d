#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Live migration between two Debians with the installed service: what of it outlives what of the unit.
# environments: systemd
# takes: 250
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../e2e/hosts.sh
. "$(dirname "$0")/../e2e/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=../e2e/guests.sh
. "$(dirname "$0")/../e2e/guests.sh"
# shellcheck source-path=SCRIPTDIR source=debian.sh
. "$(dirname "$0")/debian.sh"

IMAGES=/var/lib/vmagent/images

on() { within "$@"; }
at() { within "$1" vmactl "${@:2}"; }
unit_of() { within "$1" systemctl "${@:2}" vmagent; } # HOST VERB...

qemu_installed() # HOST: as qemu_sees_writes
{
	qemu_loses_writes || return 0
	cp "$T/$1$QEMU" "$T/$1$QEMU_ASIDE"
	qemu_script >"$T/$1$QEMU"
}

# In place of host_new and what follows it.
machines_joined()
{
	local host
	for host in "${HOSTS[@]}"; do
		machine_new "$host"
		machine_tool install "$host"
		qemu_installed "$host"
		systemctl -q --root="$T/$host" enable vmagent
		echo "host_uuid = \"$(host_uuid "$host")\"" >>"$T/$host/etc/libvirt/libvirtd.conf"
		mkdir -p "$T/$host/etc/vmagent"
		{ host_peers "$host"; echo '  migrations: { enabled: true }'; } >"$T/$host/etc/vmagent/vmagent.yaml"
		ln -s etc/vmagent "$T/$host/manifests"
		ln -s var/lib/vmagent "$T/$host/state"
		mkdir -p "$T/$host$IMAGES"
		cp --sparse=always "$T/img/guest.img" "$T/$host$IMAGES/"
	done
	hosts_certify "$T/a/etc/vmagent/pki" "$T/b/etc/vmagent/pki"
	for host in "${HOSTS[@]}"; do
		machine_boot "$host"
		HOST_PID[$host]=${INIT[$host]}
	done
	hosts_join
}

has_move() { at "$1" get vmim --no-headers 2>/dev/null | grep -q -w -E "$2"; } # HOST PHASE: one that is in it
relay_of() { within "$1" pgrep -f '^vmagent migrate-relay'; }                  # HOST: its pid
relays_run() { relay_of a && relay_of b; }
relays_are_gone() { ! relay_of a && ! relay_of b; }
left_of_relays() { within "$1" find /run/vmagent/mig -mindepth 1; }            # HOST
is_moving() { has_move a Running && has_move b 'TargetReady|Running'; }

# still WHAT: each host has the relay that it had, and the guest is still on its way.
still()
{
	local host
	for host in "${HOSTS[@]}"; do
		await "the agent of $host answers" at "$host" get vm
		is "$1: the relay of $host is the same" "$(relay_of "$host")" "${relay[$host]}"
	done
	soon "$1: the guest is still on its way" is_moving
}

put_slow() # HOST: what moves from there takes its time
{
	cat >"$T/new" <<-YAML
		apiVersion: migrations.kubevirt.io/v1alpha1
		kind: MigrationPolicy
		metadata: { name: slow }
		spec:
		  bandwidthPerMigration: 2Mi
		  completionTimeoutPerGiB: 10000
		  selectors: { namespaceSelector: { kubernetes.io/metadata.name: default } }
	YAML
	mv "$T/new" "$T/$1/manifests/slow.yaml"
	await "$1 has a policy" at "$1" get migrationpolicies slow
}

# shellcheck disable=SC2317 # the trap calls it
end()
{
	[ -z "${HOST_WATCHER[all]-}" ] || signal KILL "${HOST_WATCHER[all]}"
	machines_end
}

# ---- two hosts ---------------------------------------------------------------------------------------------------

machines_begin
trap end EXIT
machines_joined
await 'the agents see each other' peers_see_each_other
ticks_follow
put_slow a
put_slow b
vm_at a one 'emptyDisk: { capacity: 8Mi }'
holds 'it writes' writes_at a one

# ---- what a relay outlives ---------------------------------------------------------------------------------------

last=$(last_tick a one)
holds 'it is to move' migrate a one b
soon 'both hosts have a relay' relays_run
soon 'it is on its way' is_moving
declare -A relay=([a]=$(relay_of a) [b]=$(relay_of b))
is "a relay's name says what it is" "$(within a ps -o comm= -p "${relay[a]}")" vmagent-relay
for host in a b; do
	unit_of "$host" restart
	still "systemctl restart at $host"
done
for host in a b; do
	pid=$(unit_of "$host" show -P MainPID)
	unit_of "$host" kill --kill-whom=main -s KILL
	await "the unit of $host is started again" other "$pid" unit_of "$host" show -P MainPID
	still "kill -9 of the agent at $host"
done
unit_of b stop
is 'systemctl stop: the relay of b runs on' "$(relay_of b)" "${relay[b]}"
is 'systemctl stop: its folder is kept' "$(within b find /run/vmagent/mig -name control | grep -c .)" 1
unit_of b start
still 'systemctl stop and start at b'
soon 'it is gone here' gone_from a one
soon 'it runs there' runs_at b one
soon 'it counts on' counts_at b one "$last"
is 'its memory and disk hold the last byte that it wrote' "$(wrote_well b one)" ''
is 'nobody has heard two of it' "$(ticks_in_order)" ''
soon 'no relay is left' relays_are_gone
is 'nor anything of it' "$(left_of_relays a)$(left_of_relays b)" ''

# ---- what it does not outlive ------------------------------------------------------------------------------------

last=$(last_tick b one)
holds 'it is to move back' migrate b one a
soon 'both hosts have a relay again' relays_run
soon 'it is on its way back' has_move b Running
unit_of b kill -s KILL # of all that is in the unit
soon 'the relay of b ends with its whole unit' not relay_of b
soon 'then the guest is not moved' has_move b Failed
soon 'as the other host knows' has_move a Failed
soon 'it goes on where it was' counts_at b one "$last"
soon 'no relay is left behind' relays_are_gone
is 'nor anything of them' "$(left_of_relays a)$(left_of_relays b)" ''
is 'nobody has heard two of it, either' "$(ticks_in_order)" ''
