#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A database of each schema version (test/fixtures/db) is taken over while guests run that it knows: same runs in the same
# QEMUs, nothing started that was stopped; what it knows and is not there any more goes as the host's restart has it.
# environments: system
# takes: 20
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

fixtures=$PWD/test/fixtures
declare -A run uuid qemu

picture() { echo "$(vmi_uid "$1") $(phase "$1") $(qemu_pid "$1") $(strategy "$1") $(status "$1")"; }
vms() { vmactl get vm -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.uid}{"\n"}{end}' | sort; }

# What the database knows, told by an agent that has no libvirt, out of a copy.
peek() # DATABASE
{
	local name
	libvirtd_stop TERM
	mkdir -p "$T/peek/db"
	cp "$1" "$T/peek/db/vmagent.db"
	S=$T/peek agent_start
	known=$(vms)
	for name in manual once rerunonfailure; do
		run[$name]=$(vmi_uid $name)
		uuid[$name]=$(get vmi $name .spec.domain.firmware.uuid)
	done
	agent_stop
	rm -rf "$T/peek"
	libvirtd_start
}

domain() # NAME: as that run has it, as far as it matters
{
	cat <<-XML
		<domain type="qemu">
		  <name>default_$1</name>
		  <uuid>${uuid[$1]}</uuid>
		  <metadata>
		    <vmagent:domain xmlns:vmagent="https://vmagent.io/domain/1" vmi="${run[$1]}" epoch="1"/>
		  </metadata>
		  <memory unit="MiB">16</memory>
		  <os><type machine="q35">hvm</type></os>
		  <features><acpi/></features>
		</domain>
	XML
}

taken_over() # DATABASE
{
	local version name
	version=$(basename "$1" .db)
	peek "$1"
	for name in manual once; do
		domain $name >"$T/$name.xml"
		holds "$version: $name runs" virsh -q -c "$URI" define "$T/$name.xml"
		virsh -q -c "$URI" start "default_$name" || fail 'virsh start'
		qemu[$name]=$(qemu_pid $name)
	done
	rm -rf "$S"
	mkdir -p "$S/db"
	cp "$1" "$S/db/vmagent.db"
	agent_start
	for name in manual once; do
		soon "$version: $name is the same run in the same QEMU" same \
			"${run[$name]} Running ${qemu[$name]} ${name^} Running" picture $name
	done
	soon "$version: a run without a domain has failed" told rerunonfailure "${run[rerunonfailure]}" \
		'phase Running -> Failed'
	await 'rerunonfailure runs anew' other "${run[rerunonfailure]}" vmi_uid rerunonfailure
	running rerunonfailure
	holds "$version: what was stopped stays stopped" no_vmi always
	is "$version: ... whatever its file says" "$(strategy always) $(status always)" 'Halted Stopped'
	holds "$version: what was deleted stays deleted" no_vm halted
	is "$version: all VMs are there" "$(vms)" "$known"
	for name in manual once; do
		is "$version: $name still is" "$(picture $name)" \
			"${run[$name]} Running ${qemu[$name]} ${name^} Running"
	done
	holds "$version: and all can be deleted" vmactl delete vm --all --grace-period=0 --timeout="${PATIENCE}s"
	agent_stop
}

set_up
cp "$fixtures"/manifests/*.yaml "$M/"
for database in "$fixtures"/db/*.db; do
	taken_over "$database"
done
