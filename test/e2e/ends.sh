# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ends.sh: three guests under RerunOnFailure that end in three ways while nobody looks, and the verdicts on them.

declare -A run qemu
ends=(ended killed panicked)

ends_create()
{
	local name
	vm ended RerunOnFailure
	vm killed RerunOnFailure
	vm panicked RerunOnFailure panic
	for name in "${ends[@]}"; do
		running "$name"
		up "$name"
		run[$name]=$(vmi_uid "$name")
		qemu[$name]=$(qemu_pid "$name")
		cp "$RUN/default_$name.pid" "$T/log/"
	done
}

# Nobody is there to ask for the console, so the words go straight to QEMU's socket.
ends_cause()
{
	tell "$S/vmi/${run[ended]}/serial0" poweroff &
	tell "$S/vmi/${run[panicked]}/serial0" panic &
	kill -9 "${qemu[killed]}"
	await 'QEMU dies' not alive "${qemu[killed]}"
	await 'the guest panics' grep -a -q 'Kernel panic' "$S/vmi/${run[panicked]}/serial0.log"
	# QEMU stays when the guest powers off, until somebody tells it to go: its last words are the kernel's.
	await 'the guest powers off' grep -a -q -i 'power down' "$S/vmi/${run[ended]}/serial0.log"
}

ends_judge() # WHEN
{
	local name
	soon "poweroff $1: Succeeded" told ended "${run[ended]}" 'phase Running -> Succeeded: the guest powered itself off'
	soon "kill -9 of QEMU $1: Failed" told killed "${run[killed]}" 'phase Running -> Failed'
	# A libvirtd that was there when it happened has ended QEMU, and tells it from a crash to those who listened only.
	soon "panic $1: Failed" told panicked "${run[panicked]}" 'phase Running -> Failed'
	soon '… the one is not started again' no_vmi ended
	is '… and has stopped' "$(status ended)" Stopped
	for name in killed panicked; do
		await "$name runs anew" other "${run[$name]}" vmi_uid "$name"
		running "$name"
		is "… $name runs again" "$(status "$name")" Running
	done
	for name in "${ends[@]}"; do
		soon "no QEMU is left of $name" not alive "${qemu[$name]}"
		soon "no folder is left of $name" not test -e "$S/vmi/${run[$name]}"
	done
	holds 'all of them can be deleted' vmactl delete vm "${ends[@]}" --grace-period=0 --timeout="${PATIENCE}s"
}
