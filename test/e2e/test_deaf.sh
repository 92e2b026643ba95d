#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A guest that does not hear the power button is asked at once, killed when its grace period is over and not before, and
# stays stopped although its run has failed; without a grace period it is killed at once, and that is no failure.
# environments: embed
# takes: 30
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

clock() { date +%s%3N; } # ms
at() { vmactl events --for="vm/$1" --no-headers -o custom-columns=R:.reason,T:.lastTimestamp | sed -n "s/^$2 *//p"; }
seconds() { date -d "$(at "$1" "$2")" +%s; } # NAME REASON

GRACE=10 # s, in which much is looked at

begin
declare -A run qemu
vm always Always deaf grace=$GRACE
vm rerun RerunOnFailure deaf grace=$GRACE
vm force Always deaf grace=600
for name in always rerun force; do
	running "$name"
	up "$name"
	run[$name]=$(vmi_uid "$name") qemu[$name]=$(qemu_pid "$name")
done

asked=$(clock)
holds 'stop is accepted' vmactl stop always rerun
for name in always rerun; do
	soon "$name: the guest is signalled at once" told "$name" "${run[$name]}" ShuttingDown
done
is 'it is Stopping meanwhile' "$(status always)" Stopping
soon 'the guest sees the button, and ignores it' says always 'button ignored'
for name in always rerun; do
	await "$name is killed" not alive "${qemu[$name]}"
	took=$(($(clock) - asked))
	holds "$name: killed not before $GRACE s" test "$took" -ge $((GRACE * 1000))
	soon "$name: the run ends Failed" told "$name" "${run[$name]}" \
		'phase Running -> Failed: killed when its grace period was over'
	holds "$name: … $GRACE s after the signal" test $(($(seconds "$name" Deleted) - $(seconds "$name" ShuttingDown))) -ge $GRACE
	soon "$name: the VMI goes" no_vmi "$name"
done

holds 'a long grace period is awaited' vmactl stop force
soon '… after the signal' told force "${run[force]}" ShuttingDown
holds '… by a guest that lives' alive "${qemu[force]}"
holds '… and can be cut short' vmactl stop force --force --grace-period=0
soon '… which ends Succeeded' told force "${run[force]}" 'phase Running -> Succeeded'
soon '… with the VMI gone' no_vmi force

vm force Always deaf grace=600 memory=120Mi
holds 'it can be started again' vmactl start force
running force
again=$(vmi_uid force)
holds 'force without a grace period kills at once' vmactl stop force --force --grace-period=0
soon '… which ends Succeeded' told force "$again" 'phase Running -> Succeeded'
holds '… without a signal' not told force "$again" ShuttingDown

for name in always rerun force; do
	is "$name: stopped, and not started again" \
		"$(status "$name") $(story "$name" | grep -c SuccessfulCreate)" \
		"Stopped $([ "$name" = force ] && echo 2 || echo 1)"
done
