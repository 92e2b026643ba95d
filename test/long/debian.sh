# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# debian.sh: Debians that systemd has booted, each a container below $T, for tests that have sourced
# lib.sh. Their base is made once, in build/long (or where DEBIAN_BASE says): half a GB.
#
#   machines_begin             leaves the test out where that cannot be
#   machine_new NAME           below $T/NAME; what is written there before it boots it finds
#   machine_tool install NAME
#   machine_boot NAME, machine_off NAME
#   within NAME COMMAND...     there, as its root
# Whatever runs in them ends with the test.

BASE=${DEBIAN_BASE:-$PWD/build/long/debian}
BUILT=$B # the programs to install
declare -A MACHINE=() INIT=() # pids: the container, and its PID 1

left_out() { echo "# $NAME is left out: $*"; exit 0; }

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

machines_begin()
{
	[ "$(id -u)" = 0 ] || left_out "needs root"
	[ "$(. /etc/os-release && echo "$ID")" = debian ] || left_out "needs Debian, to make another of its kind"
	tools/deps --probe long 2>/dev/null || left_out "needs what 'tools/deps long' brings"
	mkdir -p "$T/log"
	make_base
	trap machines_end EXIT
	trap 'exit 1' INT TERM
}

machine_tool() { B=$BUILT DESTDIR=$T/$2 PREFIX=/usr/local tools/install "$1"; } # install|uninstall NAME

machine_new() # NAME
{
	cp -a --reflink=auto "$BASE/." "$T/$1" || fail "copy of the base"
	echo 'cgroup_controllers = [ ]' >>"$T/$1/etc/libvirt/qemu.conf" # those of a container are read-only
}

within() # NAME COMMAND...
{
	nsenter -t "${INIT[$1]}" -m -u -i -n -p -r -w env -i HOME=/root \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${@:2}"
}

machine_is_up() { within "$1" systemctl is-system-running 2>&1 | grep -q -E 'running|degraded'; }

# Where systemd is not there to do it, a control group for each: else they take each other's processes for their own.
CGROUPS=()
[ -d /run/systemd/system ] || mapfile -t CGROUPS < <(awk '$3 == "cgroup2" || $4 ~ /name=systemd/ { print $2 }' /proc/mounts)
cgroup_of() { echo "$1/${T##*/}-$2"; } # HIERARCHY NAME
cgroup_enter() # NAME
{
	local dir
	for dir in "${CGROUPS[@]}"; do
		mkdir -p "$(cgroup_of "$dir" "$1")"
		echo "$BASHPID" >"$(cgroup_of "$dir" "$1")/cgroup.procs"
	done
}
cgroup_remove() # NAME
{
	local dir
	for dir in "${CGROUPS[@]}"; do
		find "$(cgroup_of "$dir" "$1")" -depth -type d -exec rmdir {} +
	done
}

machine_run() # NAME [NSPAWN-OPTION...]
{
	local unit=()
	cgroup_enter "$1"
	[ -d /run/systemd/system ] || unit=(--keep-unit)
	exec systemd-nspawn -q -b -D "$T/$1" --register=no "${unit[@]}" --capability=all --private-network "${@:2}"
}

machine_boot() # NAME [NSPAWN-OPTION...]
{
	machine_run "$@" </dev/null >>"$T/log/boot-$1.txt" 2>&1 &
	MACHINE[$1]=$!
	await "$1 has a PID 1" pgrep -P "${MACHINE[$1]}"
	INIT[$1]=$(pgrep -P "${MACHINE[$1]}")
	await "$1 is up" machine_is_up "$1"
}

machine_off() # NAME
{
	within "$1" systemctl poweroff
	await "$1 is off" not alive "${MACHINE[$1]}"
	await "$1 has no process left" cgroup_remove "$1"
	unset "MACHINE[$1]"
}

# shellcheck disable=SC2317 # the trap calls it
machines_end()
{
	local name
	for name in "${!MACHINE[@]}"; do
		within "$name" journalctl --no-pager >"$T/log/journal-$name.txt" 2>&1
		kill -9 "${INIT[$name]}" # and with it all that runs in there
		wait "${MACHINE[$name]}"
		await "$name is off" cgroup_remove "$name"
	done
}
