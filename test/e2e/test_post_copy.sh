#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A migration that takes too long: called off where the MigrationPolicy allows nothing else, and with post-copy where it
# does. The way breaks down while the memory follows, and is mended: the guest's counter goes on.
# environments: system
# takes: 75
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"

vmi_at() { at "$1" get vmi one -o jsonpath="{$2}"; } # HOST PATH
runs_at() { [ "$(vmi_at "$1" .status.phase)" = Running ]; }
gone_from() { at "$1" get vm one 2>&1 | grep -q NotFound; }
ticks_of() { grep -a '^tick' "$T/$1/state/vmi/$uid/serial0.log" | tr -cd '0-9\n'; }       # HOST
counts_at() { [ "$(ticks_of "$1" 2>/dev/null | tail -n 1)" -gt "$2" ] 2>/dev/null; }       # HOST MORE-THAN
says() { grep -q -F "$2" "$T/log/agent-$1.log"; }                                          # HOST WORDS

is_sending() { [ "$(domain_state b default_one)" = 'running (post-copy)' ]; }

relay_pid() # HOST
{
	local pid

	for pid in $(pgrep -f "migrate-relay /run/vmagent/mig/[0-9a-f-]*\$"); do
		[ "$(readlink "/proc/$pid/ns/net")" = "$(readlink "/proc/${HOST_PID[$1]}/ns/net")" ] && echo "$pid"
	done
}

# policy NAME SPEC: the one that there is at host a.
policy()
{
	cat >"$T/new" <<-YAML
		apiVersion: migrations.kubevirt.io/v1alpha1
		kind: MigrationPolicy
		metadata: { name: $1 }
		spec: { selectors: { virtualMachineInstanceSelector: { size: small } }, $2 }
	YAML
	mv "$T/new" "$T/a/manifests/policy.yaml"
	await "policy $1 is known" at a get migrationpolicy "$1"
}

hosts_begin
for host in "${HOSTS[@]}"; do
	echo '  migrations: { enabled: true, progressTimeout: 600 }' >>"$T/$host/config.yaml"
	host_agent_start "$host"
done
await 'the agents see each other' peers_see_each_other

blank_disk "$T/disks/one.img"
cp "$T/img/guest.img" "$T/disks/root.img"
cat >"$T/new" <<-YAML
	apiVersion: kubevirt.io/v1
	kind: VirtualMachine
	metadata: { name: one }
	spec:
	  runStrategy: Always
	  template:
	    metadata: { labels: { size: small } }
	    spec:
	      domain:
	        memory: { guest: 128Mi }
	        devices:
	          autoattachPodInterface: false
	          disks: [ { name: root, disk: { bus: virtio } }, { name: data, disk: { bus: virtio } } ]
	      volumes:
	      - { name: root, hostDisk: { path: $T/disks/root.img, type: Disk, shared: true } }
	      - { name: data, hostDisk: { path: $T/disks/one.img, type: Disk, shared: true } }
YAML
mv "$T/new" "$T/a/manifests/one.yaml"
await 'it runs' runs_at a
uid=$(vmi_at a .metadata.uid)
await 'it counts' counts_at a 2

policy patient 'bandwidthPerMigration: 2Mi, completionTimeoutPerGiB: 2'
holds 'a guest is to move' at a migrate one --to=host-b
soon '… it is called off when time is up' says a 'it took longer than completionTimeoutPerGiB'
is '… as the policy says' "$(vmi_at a .status.migrationState.migrationPolicyName)" patient
is '… of which all is frozen' "$(vmi_at a .status.migrationState.migrationConfiguration.bandwidthPerMigration)" 2097152
last=$(ticks_of a | tail -n 1)
soon '… and goes on where it is' counts_at a "$last"

policy hasty 'bandwidthPerMigration: 4Mi, completionTimeoutPerGiB: 1, allowPostCopy: true'
post_copy_allow && allowed=yes || allowed=
last=$(ticks_of a | tail -n 1)
holds 'it is to move, with post-copy' at a migrate one --to=host-b
soon '… in a second attempt' says a 'trying again with post-copy'
if [ -n "$allowed" ]; then
	soon '… it goes on there when it is released' says b 'letting the guest go on while its memory comes'
	# Emulated interrupts are delivered under QEMU's lock: a guest that misses a page just then takes the monitor along.
	await 'it counts on there' counts_at b "$last"
	await 'the rest of its memory is on its way' is_sending
	kill -KILL "$(relay_pid a)"
	soon '… the way breaks down' says a 'the way broke down: asking for a new one'
	soon '… at both ends' says b 'the way broke down: the guest waits'
	soon '… and is mended' says b 'the way is mended'
	soon '… it runs there' runs_at b
	soon '… and is gone here' gone_from a
	last=$(ticks_of b | tail -n 1)
	soon '… it counts on' counts_at b "$last"
	holds '… without having begun anew' test "$(ticks_of b | head -n 1)" -gt 1
	is '… once: its source has no domain' "$(virsh_on a list --all --name | tr -d '\n')" ''
	is '… and its target runs it' "$(domain_state b default_one | cut -d ' ' -f 1)" running
else
	echo '# post-copy itself is left out: this machine does not let QEMU use userfaultfd'
	soon '… which QEMU may not use here' says a 'userfaultfd'
	last=$(ticks_of a | tail -n 1)
	soon '… and goes on where it is' counts_at a "$last"
fi
