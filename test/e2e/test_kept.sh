#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# EFI and a TPM on real QEMU: what both remember outlives the runs of their VM, and goes with it.
# environments: embed
# takes: 15
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
manifest web Always headless grace=0 memory=256Mi |
	sed -e 's/^      domain:/&\n        firmware: { bootloader: { efi: { secureBoot: false, persistent: true } } }/' \
		-e 's/^        devices:/&\n          tpm: { persistent: true }/' | put web.yaml
await 'VM web is known' vmactl get vm web
running web
uid=$(get vm web .metadata.uid)
nvram=$S/vm/$uid/nvram
tpm() { find "$T/lv" -path '*swtpm*' -name tpm2-00.permall | grep -q .; }
soon 'the firmware keeps its variables in the folder of its VM' test -s "$nvram"
soon '… and the TPM its state' tpm
run=$(vmi_uid web)
holds 'it is restarted' vmactl restart web
soon '… and another run begins' other "$run" vmi_uid web
running web
holds '… with the same variables' test -s "$nvram"
holds '… and the same TPM' tpm
holds 'it is deleted' vmactl delete vm web
await 'VM web is gone' not vmactl get vm web
holds '… with its variables' not test -e "$S/vm/$uid"
holds '… and its TPM' not tpm
