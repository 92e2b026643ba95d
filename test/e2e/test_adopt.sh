#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Adoption: a guest that somebody defined and started with virsh is shown, then taken over as it runs: the same QEMU, and
# its clock ticks on. Its stop is graceful, its next start is under our name with the same UUID and MAC address. A shut-off
# one is left as it is until its first start. What cannot be adopted is refused with every reason, and nothing is changed.
# environments: system
# takes: 50
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

v() { virsh -q -c qemu:///system "$@"; }

# domain NAME DISK: as virt-install would have it, with a few things that no manifest can say.
domain()
{
	cat <<-XML
		<domain type='qemu'>
		  <name>$1</name>
		  <memory unit='MiB'>128</memory>
		  <vcpu>1</vcpu>
		  <os><type arch='x86_64' machine='q35'>hvm</type><boot dev='hd'/></os>
		  <features><acpi/><apic/></features>
		  <clock offset='utc'/>
		  <devices>
		    <disk type='file' device='disk'>
		      <driver name='qemu' type='raw'/>
		      <source file='$2'/>
		      <target dev='vda' bus='virtio'/>
		    </disk>
		    <interface type='user'><mac address='52:54:00:ad:0b:$([ "$1" = db ] && echo 01 || echo 02)'/><model type='virtio'/></interface>
		    <serial type='pty'><log file='$T/disks/$1.log' append='on'/><target port='0'/></serial>
		    <watchdog model='i6300esb' action='none'/>
		  </devices>
		</domain>
	XML
}

define() # NAME DISK
{
	cp --sparse=always "$T/img/guest.img" "$2"
	domain "$1" "$2" >"$T/$1.xml"
	v define "$T/$1.xml" >"$T/log/define.txt" 2>&1 || fail "virsh cannot define $1: $(cat "$T/log/define.txt")"
}

listed() { vmactl get domains --no-headers | grep -q -E "^$1 +[0-9a-f-]{36} +$2 +foreign "; } # NAME STATE
ticks() { grep -a -c '^tick' "$T/disks/db.log"; }
ticked_since() { [ "$(ticks)" -gt "$1" ]; }
pid_of() { cat "$RUN/$1.pid"; }

# words COMMAND...: what a command says that must fail.
refused() # PATTERN COMMAND...
{
	local words
	! words=$("${@:2}" 2>&1 </dev/null) && grep -q -e "$1" <<<"$words"
}

begin
mkdir "$T/elsewhere"
define db "$T/disks/db.img"
v start db
await 'the guest is up' grep -a -q '^guest up' "$T/disks/db.log"
uuid=$(v domuuid db) pid=$(pid_of db)

soon 'a foreign domain is shown' listed db Running
before=$(v dumpxml db)
review=$(vmactl adopt db --dry-run) || fail 'the dry run failed'
holds 'a dry run shows the manifest' grep -q "uuid: $uuid" <<<"$review"
holds '… and what would be lost' grep -q "<watchdog model='i6300esb' action='none'>" <<<"$review"
holds '… and changes nothing' no_vm db
is '… of the domain either' "$(v dumpxml db)" "$before"
vmactl adopt db -o yaml >"$T/db.yaml" 2>"$T/log/losses.txt"
holds 'the manifest alone is a valid one' vmactl validate "$T/db.yaml"
holds 'without a terminal it must be told' refused 'give --yes' vmactl adopt db
holds '… and has done nothing' no_vm db

define Far_1 "$T/elsewhere/far.img"
v autostart Far_1 >/dev/null
refusal=$(vmactl adopt Far_1 --yes 2>&1) && fail 'a disk outside of all roots was adopted'
holds 'a disk outside is refused, and where to allow it' \
	grep -q "add $T/elsewhere to hostDiskRoots in vmagent.yaml" <<<"$refusal"
holds '… with every other reason, the name' grep -q 'give one with --name, such as far-1' <<<"$refusal"
holds '… and autostart' grep -q 'virsh autostart --disable Far_1' <<<"$refusal"
is 'a refusal changes nothing' "$(vmactl get vm --no-headers 2>/dev/null)" ''
holds 'a domain that is not there is refused' refused "no domain 'nobody'" vmactl adopt nobody --yes

holds 'it is adopted' vmactl adopt db --yes
running db
run=$(vmi_uid db)
is 'it is the same QEMU' "$(pid_of db)" "$pid"
is 'under the name that it had' "$(v domname "$uuid")" db
soon '… which goes on' ticked_since "$(ticks)"
is 'the VM runs, and will respect a poweroff' "$(status db) $(strategy db)" 'Running RerunOnFailure'
holds 'it is not foreign any more' not listed db Running
holds 'nor can it be adopted again' refused 'carries the metadata of a run' vmactl adopt db --name again --yes
soon 'its console is at hand' answers db 'echo pty works' '^pty works'

agent_kill
agent_start
running db
is 'kill -9 of the agent: the same run in the same QEMU' "$(vmi_uid db) $(pid_of db)" "$run $pid"
soon '… which goes on' ticked_since "$(ticks)"

vmactl get vm db -o yaml | put db.yaml
soon 'kept as a file, it is the same VM' told db '' 'manifest applied'
is '… and the same run' "$(vmi_uid db) $(get vm db .metadata.generation)" "$run 1"

holds 'stop is accepted' vmactl stop db
soon 'the guest was asked to shut down, and did' told db "$run" 'phase Running -> Succeeded: the guest shut down'
await 'the run is gone' no_vmi db
holds 'its old definition is gone' not v domuuid db
holds 'its disk is not' test -s "$T/disks/db.img"
holds 'start is accepted' vmactl start db
running db
is 'the next run is under our name, with the same UUID' "$(v domuuid default_db)" "$uuid"
holds '… and the same MAC address' grep -q "52:54:00:ad:0b:01" <(v dumpxml default_db)
up db

define cold "$T/disks/cold.img"
uuid=$(v domuuid cold)
holds 'a shut-off domain is adopted' vmactl adopt cold --yes
is '… as a VM that is Halted' "$(status cold) $(strategy cold)" 'Stopped Halted'
is 'its definition is as it was' "$(v domuuid cold)" "$uuid"
holds 'start is accepted' vmactl start cold
running cold
is 'its first start takes the definition over' "$(v domuuid default_cold)" "$uuid"
holds '… and the old name is gone' not v domuuid cold
up cold
holds 'what it was is kept with it' grep -q "watchdog model='i6300esb'" <(vmactl get vm cold -o json)
holds 'and all can be stopped' vmactl delete vm --all --timeout="${PATIENCE}s"
soon 'what was refused is still there, and still foreign' listed Far_1 Shutoff
