#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The installed service on a Debian that systemd has booted: install and uninstall, its rights and hardening, the
# watchdog, who may use the socket, what outlives what, and a reboot of the host.
# The Debian is a container below $T. Its base is made once, in build/long (or where DEBIAN_BASE says): half a GB.
# environments: systemd
# takes: 300
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

BASE=${DEBIAN_BASE:-$PWD/build/long/debian}
R=$T/debian
BUILT=$B            # the programs to install
MACHINE='' INIT=''  # pids: the container, and its PID 1
MADE=' creating the new virtual machine instance'
unset VMAGENT_SOCKET

# ---- the machine -------------------------------------------------------------------------------------------------

left_out() { echo "# $NAME is left out: $*"; exit 0; }

can_run()
{
	[ "$(id -u)" = 0 ] || left_out "needs root"
	[ "$(. /etc/os-release && echo "$ID")" = debian ] || left_out "needs Debian, to make another of its kind"
	tools/deps --probe long 2>/dev/null || left_out "needs what 'tools/deps long' brings"
}

# Packages of the shared libraries that our programs load.
libraries()
{
	ldd "$BUILT/vmagent" "$BUILT/vmactl" | awk '/=> \// { print $3; print "/usr" $3 }' |
		xargs dpkg -S 2>/dev/null | cut -d : -f 1 | sort -u | paste -s -d ,
}

mirror() { apt-get indextargets --format '$(SITE) $(CODENAME) $(CREATED_BY)' | awk '$3 == "Packages" { print $1; exit }'; }

make_base()
{
	[ ! -e "$BASE/made" ] || return 0
	echo "# making $BASE"
	rm -rf "$BASE"
	mkdir -p "$BASE"
	# libpam-systemd by name, because debootstrap does not see what provides logind
	debootstrap --variant=minbase --include="systemd,systemd-sysv,dbus,libpam-systemd,procps,$(libraries),\
libvirt-daemon-system,libvirt-clients,qemu-system-x86,qemu-utils" \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$BASE" "$(mirror)" >"$T/log/debootstrap.txt" 2>&1 ||
		fail "debootstrap"
	touch "$BASE/made"
}

tool() { B=$BUILT DESTDIR=$R PREFIX=/usr/local tools/install "$1"; }
files() { find "$R" -xdev ! -type d | sort; }

# inside COMMAND...: in the booted machine, as its root.
inside()
{
	nsenter -t "$INIT" -m -u -i -n -p -r -w env -i HOME=/root \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

is_booted() { inside systemctl is-system-running 2>&1 | grep -q -E 'running|degraded'; }

boot()
{
	local unit=--keep-unit
	[ ! -d /run/systemd/system ] || unit=
	systemd-nspawn -q -b -D "$R" --register=no $unit --capability=all --private-network </dev/null >>"$T/log/boot.txt" 2>&1 &
	MACHINE=$!
	await "the machine has a PID 1" pgrep -P "$MACHINE"
	INIT=$(pgrep -P "$MACHINE")
	await "the machine is up" is_booted
	RUN=/proc/$INIT/root/run/libvirt/qemu
}

power_off()
{
	inside systemctl poweroff
	await "the machine is off" not alive "$MACHINE"
	MACHINE=
}

# shellcheck disable=SC2317 # the trap calls it
end()
{
	[ -n "$MACHINE" ] || return
	inside journalctl --no-pager >"$T/log/journal.txt" 2>&1
	kill -9 "$INIT" # and with it all that runs in there
	wait "$MACHINE"
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

mkdir -p "$T/log"
can_run
make_base
trap end EXIT
trap 'exit 1' INT TERM
cp -a --reflink=auto "$BASE/." "$R" || fail "copy of the base"
echo 'cgroup_controllers = [ ]' >>"$R/etc/libvirt/qemu.conf" # those of a container are read-only
files >"$T/before"
tool install
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
power_off
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
	is "$name was shut down by the agent, and heard it" "$(journal_of -1 "default/$name: phase Running -> Succeeded: the guest shut down; the host goes down")" 1
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
power_off
tool uninstall
files >"$T/after"
comm -13 "$T/before" "$T/after" >"$T/log/left.txt"
is "uninstall leaves none of its files" "$(grep -E "^$R/(usr|etc/systemd)/" "$T/log/left.txt")" ''
is "and what is the node's own" "$(grep -c '/var/lib/vmagent/db/vmagent.db$' "$T/log/left.txt")" 1
