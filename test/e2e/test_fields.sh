#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a manifest may say of a machine, on real QEMU: libvirt takes it, the guest starts with it, and what has no effect is
# named.
# environments: embed
# takes: 30
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
manifest rich Always net scratch=8Mi >"$T/rich.yaml"
sed -i -e "/^      domain:/r /dev/stdin" "$T/rich.yaml" <<-'YAML'
	        cpu: { cores: 2, features: [ { name: aes, policy: disable } ] }
	        chassis: { manufacturer: A & B, version: '1', serial: '2', asset: '3', sku: '4' }
	        clock:
	          utc: { offsetSeconds: 3600 }
	          timer: { rtc: { tickPolicy: catchup }, pit: { tickPolicy: delay }, hpet: { present: false }, hyperv: {}, kvm: {} }
	        features:
	          apic: { endOfInterrupt: true }
	          kvm: { hidden: true }
	          pvspinlock: {}
	          hyperv: { relaxed: {}, vapic: {}, spinlocks: { spinlocks: 8191 }, synictimer: { direct: {} }, runtime: {},
	            frequencies: {}, reset: {}, tlbflush: {}, ipi: {}, vendorid: { vendorid: KVM Hv } }
	        firmware: { bootloader: { bios: { useSerial: true } } }
YAML
sed -i -e "/^        devices:/r /dev/stdin" -e 's/^      domain:/&\n        ioThreadsPolicy: auto/' "$T/rich.yaml" <<-'YAML'
	          autoattachInputDevice: true
	          autoattachMemBalloon: false
	          blockMultiQueue: true
	          sound: { name: voice }
	          watchdog: { name: dog, i6300esb: { action: reset } }
YAML
sed -i -e 's/name: root, disk: { bus: virtio }/&, dedicatedIOThread: true, errorPolicy: report, cache: none, io: native/' \
	-e 's/name: scratch, disk: { bus: virtio/&, pciAddress: "0000:00:10.0"/' \
	-e 's/name: scratch, disk: {[^}]*}/&, blockSize: { custom: { logical: 4096, physical: 4096 } }/' \
	-e 's/masquerade: {}/&, state: down, acpiIndex: 7, pciAddress: "0000:00:11.0"/' "$T/rich.yaml"
sed -i -e 's/^    spec:/&\n      schedulerName: mine/' "$T/rich.yaml"

holds 'the manifest is valid' vmactl validate "$T/rich.yaml"
put rich.yaml <"$T/rich.yaml"
await 'VM rich is known' vmactl get vm rich
running rich
await 'guest rich is up' says rich 'guest up'
holds '… and its firmware spoke on the serial console' says rich SeaBIOS
soon '… and what has no effect is named' told rich '' 'ManifestApplied.*schedulerName: no effect'
# rebootPolicy: the run ends well where others go on, and its strategy says what is next.
manifest once RerunOnFailure | sed -e 's/^      domain:/&\n        rebootPolicy: Terminate/' | put once.yaml
await 'VM once is known' vmactl get vm once
running once
up once
run=$(vmi_uid once)
type_in once reboot
soon 'a guest that reboots under rebootPolicy Terminate has ended well' told once "$run" 'phase Running -> Succeeded'
soon '… and stays down' same Stopped status once

holds 'it stops' vmactl stop rich
soon '… as every guest' no_vmi rich
