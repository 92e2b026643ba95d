#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The installed service on a Debian that systemd has booted: install and uninstall, its rights and hardening, the
# watchdog, who may use the socket, what outlives what, and a reboot of the host.
# environments: systemd
# takes: 300
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=debian.sh
. "$(dirname "$0")/debian.sh"

MADE=' creating the new virtual machine instance'
R=$T/debian
unset VMAGENT_SOCKET

files() { find "$R" -xdev ! -type d | sort; }
inside() { within debian "$@"; }
boot()
{
	machine_boot debian
	RUN=/proc/${INIT[debian]}/root/run/libvirt/qemu
}

# ---- what the tests say ------------------------------------------------------------------------------------------

agent_pid() { inside systemctl show -P MainPID vmagent; }
is_active() { inside systemctl -q is-active vmagent; }
inside_mode() { inside stat -c '%a %U:%G' "$1"; }
made() { inside journalctl -b "$2" -u vmagent --no-pager | grep -c "default/$1:.*$MADE"; } # NAME BOOT

journal_of() { inside journalctl -q -b "$1" -u vmagent --no-pager | grep -c -e "$2"; } # BOOT PATTERN

# machine NAME STRATEGY: as lib.sh's vm, with the paths of an installed agent and a disk that does not exist yet.
machine()
{
	manifest "$1" "$2" disk="/var/lib/vmagent/disks/$1.img" |
		sed "s,$T/img,/var/lib/vmagent/images,; s,type: Disk ,type: DiskOrCreate\, capacity: 64Mi ," | put "$1.yaml"
	await "VM $1 is known" vmactl get vm "$1"
}

# unharmed WHAT: the guest that ran before still does, as the same run, and the agent knows it.
unharmed()
{
	await "the agent answers" vmactl get vm
	soon "$1: the VM is Running" same Running status web
	is "$1: the same QEMU" "$(qemu_pid web)" "$qemu"
	is "$1: the same VMI" "$(vmi_uid web)" "$uid"
}

# ---- installed ---------------------------------------------------------------------------------------------------

machines_begin
machine_new debian
files >"$T/before"
machine_tool install debian
systemctl -q --root="$R" enable vmagent
boot
inside useradd -m -G vmagent insider
inside useradd -m outsider
B=/usr/local/bin AS=(inside) M=$R/etc/vmagent S=$R/var/lib/vmagent
cp --sparse=always "$T/img/guest.img" "$S/images/"

soon "the service is up after boot" is_active
is "it says so itself" "$(inside systemctl show -P Type vmagent)" notify
is "the socket" "$(inside_mode /run/vmagent/vmagent.sock)" '660 root:vmagent'
is "the socket for monitoring" "$(inside_mode /run/vmagent/vmagent-ro.sock)" '660 root:vmagent-ro'
is "its state" "$(inside_mode /var/lib/vmagent)" '711 root:root'
is "its database" "$(inside_mode /var/lib/vmagent/db)" '700 root:root'
is "its manifests" "$(inside_mode /etc/vmagent)" '750 root:root'
echo "# $(inside systemd-analyze security vmagent --no-pager | tail -n 1)"

# ---- a guest -----------------------------------------------------------------------------------------------------

machine web Always
running web
up web
ok "a guest runs from a manifest"
is "its disk was made, and is QEMU's" "$(inside_mode /var/lib/vmagent/disks/web.img)" '600 libvirt-qemu:libvirt-qemu'
vmactl console web </dev/null 2>&1 | grep -a -q 'guest up' || fail "the console answers"
ok "the console answers"
holds "the journal knows its lines" \
	inside sh -c 'journalctl -q --no-pager VMAGENT_VM=default/web | grep -q "phase Scheduled -> Running"'
qemu=$(qemu_pid web) uid=$(vmi_uid web)

inside systemctl restart vmagent
unharmed restart
is "restart: ExecStop= has looked and done nothing" "$(journal_of 0 'the system is not going down: guests are left alone')" 1
inside systemctl stop vmagent
is "stop: the same QEMU" "$(inside pgrep -f guest=default_web,)" "$qemu"
is "stop: and the socket does not" "$(inside sh -c 'vmactl get vm 2>&1 | grep -c "no such socket"')" 1
inside systemctl start vmagent
unharmed "stop and start"
inside systemctl restart libvirtd
unharmed "restart of libvirtd"
inside kill -9 "$(agent_pid)"
unharmed "kill -9"
holds "reload" inside systemctl reload vmagent
inside kill -STOP "$(agent_pid)"
await "the watchdog has seen it" inside sh -c 'journalctl -q --no-pager -u vmagent | grep -q "Watchdog timeout"'
unharmed "an agent that hangs"

# ---- who may -----------------------------------------------------------------------------------------------------

holds "a member of the group may" inside runuser -u insider -- vmactl get vm web
inside runuser -u outsider -- vmactl get vm web >"$T/outsider" 2>&1
is "another is told why not" "$(grep -c "permission denied: root and the members of group 'vmagent'" "$T/outsider")" 1

# ---- the host goes down and comes back ---------------------------------------------------------------------------

machine rerun RerunOnFailure
machine manual Manual
vmactl start manual >"$T/log/start.txt"
for name in rerun manual; do
	running "$name"
	up "$name"
done
manual=$(vmi_uid manual)
is "no restart so far was taken for a shutdown" "$(journal_of 0 'HostShutdown\|the host goes down')" 0
machine_off debian
boot
await "the agent answers" vmactl get vm
soon "Always: a new run after a boot" other "$uid" vmi_uid web
soon "Always: it is Running" same Running status web
soon "RerunOnFailure: the guest had shut down, so it is over" no_vmi rerun
is "RerunOnFailure: it stays off" "$(status rerun)" Stopped
is "Manual: it stays off" "$(status manual)" Stopped
is "Manual: the old run says why" "$(vmi_uid manual) $(phase manual) $(get vmi manual .status.reason)" \
	"$manual Succeeded HostShutdown"
for name in web rerun manual; do
	is "$name was shut down by the agent, and heard it" "$(journal_of -1 "default/$name: phase Running -> Succeeded: the guest shut down when asked to; the host goes down")" 1
done
is "libvirt-guests had none of them to stop" "$(inside journalctl -q -b -1 -u libvirt-guests --no-pager | grep -c -i 'shutdown on guest')" 0
is "nothing was started while the host went down" "$(made web -1) $(made rerun -1)" '1 1'
up web
ok "its guest is up"

# ---- gone --------------------------------------------------------------------------------------------------------

vmactl delete vm web rerun manual >"$T/log/delete.txt" 2>&1
for name in web rerun manual; do
	await "VM $name is gone" no_vm "$name"
done
is "no QEMU is left" "$(inside pgrep -c qemu-system)" 0
inside systemctl -q disable --now vmagent
machine_off debian
machine_tool uninstall debian
files >"$T/after"
comm -13 "$T/before" "$T/after" >"$T/log/left.txt"
is "uninstall leaves none of its files" "$(grep -E "^$R/(usr|etc/systemd)/" "$T/log/left.txt")" ''
is "and what is the node's own" "$(grep -c '/var/lib/vmagent/db/vmagent.db$' "$T/log/left.txt")" 1
