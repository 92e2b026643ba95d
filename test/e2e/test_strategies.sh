#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How a run ends, and what comes of it, under each run strategy: the guest powers off, its QEMU is killed, it panics with a
# panic device and without (kubevirt-semantics §2.2, §4.3).
# environments: embed system
# takes: 60
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

strategies=(Always RerunOnFailure Manual Once)
declare -A first

machine() { echo "$1-$(tr '[:upper:]' '[:lower:]' <<<"$2")"; } # CAUSE STRATEGY

# Manual runs only when it is asked to.
create() # CAUSE [WORD...]
{
	local strategy name
	for strategy in "${strategies[@]}"; do
		name=$(machine "$1" "$strategy")
		vm "$name" "$strategy" "${@:2}"
		[ "$strategy" != Manual ] || holds "Manual: $name starts when told to" vmactl start "$name"
	done
	for strategy in "${strategies[@]}"; do
		name=$(machine "$1" "$strategy")
		running "$name"
		first[$name]=$(vmi_uid "$name")
	done
}

ended() # CAUSE PHASE WHY: each of the runs
{
	local strategy name
	for strategy in "${strategies[@]}"; do
		name=$(machine "$1" "$strategy")
		soon "$strategy, $1: the run ends $2" told "$name" "${first[$name]}" "phase Running -> $2: $3"
	done
}

runs_anew() # CAUSE STRATEGY
{
	local name
	name=$(machine "$1" "$2")
	await "$name has a new VMI" other "${first[$name]}" vmi_uid "$name"
	running "$name"
	is "$2, $1: a new VMI runs" "$(status "$name")" Running
}

stops() # CAUSE STRATEGY
{
	local name
	name=$(machine "$1" "$2")
	soon "$2, $1: the VMI goes" no_vmi "$name"
	is "$2, $1: the VM has stopped" "$(status "$name")" Stopped
}

is_kept() # CAUSE STRATEGY PHASE
{
	local name
	name=$(machine "$1" "$2")
	is "$2, $1: the VMI is kept" "$(phase "$name") $(vmi_uid "$name")" "$3 ${first[$name]}"
	is "$2, $1: the VM has stopped" "$(status "$name")" Stopped
}

# What came of it is still so once the others have settled.
discard() # CAUSE
{
	local strategy names=()
	for strategy in "${strategies[@]}"; do
		names+=("$(machine "$1" "$strategy")")
	done
	holds "$1: all of them can be deleted" vmactl delete vm "${names[@]}" --grace-period=0 \
		--timeout="${PATIENCE}s"
}

begin
vm halted Halted

create poweroff
for strategy in "${strategies[@]}"; do
	up "$(machine poweroff "$strategy")"
done
for strategy in "${strategies[@]}"; do
	type_in "$(machine poweroff "$strategy")" poweroff &
done
ended poweroff Succeeded 'the guest powered itself off'
runs_anew poweroff Always
stops     poweroff RerunOnFailure
is_kept   poweroff Manual Succeeded
is_kept   poweroff Once   Succeeded
discard   poweroff

create kill
for strategy in "${strategies[@]}"; do
	kill -9 "$(qemu_pid "$(machine kill "$strategy")")"
done
ended kill Failed 'QEMU ended without a shutdown'
runs_anew kill Always
runs_anew kill RerunOnFailure
is_kept   kill Manual Failed
is_kept   kill Once   Failed
discard   kill

vm bare Always
create panic panic
running bare
bare=$(vmi_uid bare)
up bare
type_in bare panic &
for strategy in "${strategies[@]}"; do
	up "$(machine panic "$strategy")"
	type_in "$(machine panic "$strategy")" panic &
done
await 'the guest without a panic device panics' says bare 'Kernel panic'
ended panic Failed 'the guest panicked'
for strategy in "${strategies[@]}"; do
	name=$(machine panic "$strategy")
	holds "$strategy, panic: an event says so" told "$name" "${first[$name]}" GuestPanicked
done
is 'panic without a device: stays Running' "$(phase bare) $(vmi_uid bare) $(status bare)" \
	"Running $bare Running"
holds 'it can be killed at once' vmactl stop bare --force --grace-period=0
soon '… and the run counts as Succeeded' told bare "$bare" 'phase Running -> Succeeded'
runs_anew panic Always
runs_anew panic RerunOnFailure
is_kept   panic Manual Failed
is_kept   panic Once   Failed
discard   panic

is 'Halted has not run meanwhile' "$(status halted) $(story halted | grep -c SuccessfulCreate)" 'Stopped 0'
