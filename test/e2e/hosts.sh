# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# hosts.sh: two hosts on this machine, for tests that have sourced lib.sh and run in the environment "system". A host is a
# network namespace, joined to the other's by a veth pair, with private mounts of where libvirt and the agent keep their
# things, a host name and a machine UUID of its own, a libvirtd and, if wanted, an agent. What lies below $T is seen by
# both: that is their shared storage. Their QEMUs are reaped by the subreaper that run started.
#
#   hosts_begin             both, with a libvirtd each and certificates
#   on HOST COMMAND...      runs the command there; HOST is a or b
#   host_agent_start HOST   the agent there, the other's peer; host_agent_kill, host_agent_stop
#   ticks_watch             writes down what both hosts' guests say on their lines, see ticks.pl
#   ticks_follow            the same for guests of the agents, whose lines QEMU logs
#   ticks_in_order          whether no guest ran twice, nor from an older state
#   post_copy_allow         lets QEMU use post-copy until the test ends; fails where that cannot be
# Everything that was started is ended by its pid, also after a failure.

declare -A HOST_PID=() HOST_LIBVIRTD=() HOST_AGENT=() HOST_WATCHER=()
declare -A RELAY=() # of relays.sh
declare -A HOST_ADDRESS=([a]=10.213.0.1 [b]=10.213.0.2)
HOSTS=(a b)
TICKS_PORT=4700       # UDP on the loopback of each host: guests' serial lines
TICKS=$T/log/ticks.txt

# The files that $T shows are the same everywhere; become is for the background, whose pid is then the command's.
become() { exec nsenter --target "${HOST_PID[$1]}" --mount --net --uts --wd="$PWD" -- "${@:2}"; } # HOST COMMAND...
on() { (become "$@"); }

at() { on "$1" env VMAGENT_SOCKET=/run/vmagent/vmagent.sock "$B/vmactl" "${@:2}"; } # HOST COMMAND...: vmactl there
virsh_on() { on "$1" virsh -q -c qemu:///system "${@:2}"; }                         # HOST COMMAND...
domain_state() { virsh_on "$1" domstate "$2" --reason; }                            # HOST DOMAIN
has_domain() { virsh_on "$1" dominfo "$2"; }                                        # HOST DOMAIN
peer_of() { if [ "$1" = a ]; then echo b; else echo a; fi; }                        # HOST

# ---- a host ------------------------------------------------------------------------------------------------------

# What a host's first process does in its new namespaces; it then only keeps them.
host_prepare()
{
	local dir
	hostname "host-$1"
	for dir in run/libvirt var/lib/libvirt etc/libvirt var/cache/libvirt var/log/libvirt; do
		mkdir -p "$T/$1/$dir"
		mount --bind "$T/$1/$dir" "/$dir" || return
	done
	mkdir -p "$T/$1/run/vmagent" "$T/$1/disks"
	mount --bind "$T/$1/run/vmagent" /run/vmagent || return
	printf '%s\n' 'stdio_handler = "file"' 'cgroup_controllers = [ ]' 'security_driver = "none"' \
		'remember_owner = 0' 'keepalive_interval = 2' 'keepalive_count = 3' >/etc/libvirt/qemu.conf
	printf '%s\n' 'auth_unix_ro = "none"' 'auth_unix_rw = "none"' "host_uuid = \"$(host_uuid "$1")\"" \
		'listen_tls = 0' 'listen_tcp = 1' 'auth_tcp = "none"' >/etc/libvirt/libvirtd.conf
	ip link set lo up
	: >"$T/$1/ready"
	exec cat "$T/$1/hold"
}

host_uuid() { printf '0b5e55ed-0000-4000-8000-%012d' "$(($(printf %d "'$1")))"; }

host_new() # HOST
{
	mkdir -p "$T/$1/manifests" "$T/$1/state"
	mkfifo "$T/$1/hold"
	export -f host_prepare host_uuid
	unshare --mount --net --uts --propagation private bash -c "host_prepare $1" >>"$T/log/host-$1.log" 2>&1 &
	HOST_PID[$1]=$!
	await "host $1 is there" test -e "$T/$1/ready"
}

# By the tool of this machine: a host that is a whole system of its own need not have it.
hosts_join()
{
	local host
	ip link add name ve-a netns "${HOST_PID[a]}" type veth peer name ve-b netns "${HOST_PID[b]}" ||
		fail 'cannot join the hosts'
	for host in "${HOSTS[@]}"; do
		nsenter --target "${HOST_PID[$host]}" --net ip address add "${HOST_ADDRESS[$host]}/24" dev "ve-$host"
		nsenter --target "${HOST_PID[$host]}" --net ip link set "ve-$host" up
	done
}

host_libvirtd_start() # HOST
{
	become "$1" libvirtd --listen --pid-file /run/libvirt/libvirtd.pid >>"$T/log/libvirtd-$1.log" 2>&1 &
	HOST_LIBVIRTD[$1]=$!
	await "libvirtd of $1 answers" virsh_on "$1" list
}

host_libvirtd_stop() # HOST SIGNAL
{
	local pid=${HOST_LIBVIRTD[$1]}
	unset "HOST_LIBVIRTD[$1]"
	signal "$2" "$pid"
}

# ---- agents ------------------------------------------------------------------------------------------------------

hosts_certify() # FOLDER of a's, FOLDER of b's
{
	{
		vmactl peer init --name=host-a --pki="$1" &&
			vmactl peer cert host-b "$T/bundle" --pki="$1" &&
			vmactl peer join "$T/bundle" --pki="$2"
	} >"$T/log/pki.txt" 2>&1 || fail 'cannot make certificates'
}

host_peers() # HOST: what its configuration begins with
{
	cat <<-YAML
		apiVersion: vmagent.io/v1
		kind: AgentConfiguration
		spec:
		  nodeName: host-$1
		  peers:
		  - { name: host-a, address: '${HOST_ADDRESS[a]}' }
		  - { name: host-b, address: '${HOST_ADDRESS[b]}' }
	YAML
}

host_configure() # HOST
{
	host_peers "$1" >"$T/$1/config.yaml"
	cat >>"$T/$1/config.yaml" <<-YAML
		  manifests: $T/$1/manifests
		  state: $T/$1/state
		  hostDiskRoots: [ $T/disks, $T/$1/disks ]
		  imageRoots: [ $T, $B/guest ]
		  peerListen: ${HOST_ADDRESS[$1]}
		  tls: { ca: $T/$1/pki/cacert.pem, cert: $T/$1/pki/nodecert.pem, key: $T/$1/pki/nodekey.pem }
	YAML
}

host_agent_start() # HOST
{
	become "$1" "$B/vmagent" --config "$T/$1/config.yaml" >>"$T/log/agent-$1.log" 2>&1 &
	HOST_AGENT[$1]=$!
	await "the agent of $1 answers" at "$1" get vm
}

host_agent_kill() # HOST
{
	local pid=${HOST_AGENT[$1]}
	unset "HOST_AGENT[$1]"
	signal KILL "$pid"
}

host_agent_stop() # HOST
{
	local pid=${HOST_AGENT[$1]}
	unset "HOST_AGENT[$1]"
	finish "$pid" || fail "the agent of $1 did not end well when asked to"
}

host_agent_says() { grep -q -e "$2" "$T/log/agent-$1.log"; } # HOST PATTERN
peers_see_each_other()
{
	[ "$(at a get peer host-b -o jsonpath='{.status.state}') $(at b get peer host-a -o jsonpath='{.status.state}')" = \
		'Reachable Reachable' ]
}

# ---- what the guests say -----------------------------------------------------------------------------------------

# A guest whose serial line is a UDP socket to 127.0.0.1:$TICKS_PORT is heard wherever it runs, however short.
ticks_watch()
{
	local host
	: >"$T/log/runs.txt"
	for host in "${HOSTS[@]}"; do
		become "$host" perl test/e2e/ticks.pl listen "$host" "$TICKS_PORT" "$TICKS" 2>>"$T/log/ticks.log" &
		HOST_WATCHER[$host]=$!
	done
	await 'the watchers listen' same 2 grep -c listens "$TICKS"
}

# The agents' guests; run_is tells which run is whose.
ticks_follow()
{
	: >"$T/log/runs.txt"
	perl test/e2e/ticks.pl follow "$TICKS" "a=$T/a/state/vmi" "b=$T/b/state/vmi" 2>>"$T/log/ticks.log" &
	HOST_WATCHER[all]=$!
	await 'the watcher listens' same 2 grep -c listens "$TICKS"
}
run_is() { grep -q -s "^$1 " "$T/log/runs.txt" || echo "$1 $2" >>"$T/log/runs.txt"; } # UID NAME

ticks_in_order() { perl test/e2e/ticks.pl check "$TICKS" "$T/log/runs.txt"; } # prints why not
ticks_from() { grep -c -s " $1 tick" "$TICKS"; }              # HOST: how many
ticks_more() { [ "$(ticks_from "$1")" -gt "$2" ]; }           # HOST NUMBER

# ---- post-copy ---------------------------------------------------------------------------------------------------

# Whether QEMU may use userfaultfd is a setting of the whole machine. While a test has it changed it has a lock; the last of
# them puts back what was there before, which the file holds.
FAULTS=/proc/sys/vm/unprivileged_userfaultfd FAULTS_WERE=/run/vmagent-e2e.userfaultfd
post_copy_allow()
{
	[ -e $FAULTS ] && exec 7>>$FAULTS_WERE || return
	if flock -n 7; then
		[ -s $FAULTS_WERE ] || cat $FAULTS >$FAULTS_WERE
		{ echo 1 >$FAULTS; } 2>/dev/null
	fi
	flock -s 7
	[ "$(cat $FAULTS)" = 1 ]
}

post_copy_restore()
{
	{ true >&7; } 2>/dev/null && flock -n 7 || return 0
	{ cat $FAULTS_WERE >$FAULTS; } 2>/dev/null
	: >$FAULTS_WERE # which stays: a lock of one that was removed keeps nobody out
}

# ---- both --------------------------------------------------------------------------------------------------------

hosts_end()
{
	local status=$? host pid
	trap '' INT TERM
	post_copy_restore
	for host in "${!HOST_AGENT[@]}"; do
		finish "${HOST_AGENT[$host]}" || complain "the agent of $host did not end well when asked to"
	done
	for host in "${!HOST_LIBVIRTD[@]}"; do
		finish "${HOST_LIBVIRTD[$host]}" || :
	done
	kill_of "$T"/[ab]/run/libvirt/{qemu,network}/*.pid
	for pid in "${RELAY[@]}" "${HOST_WATCHER[@]}" "${HOST_PID[@]}"; do
		kill -9 "$pid" 2>/dev/null || :
		{ wait "$pid" || :; } 2>/dev/null
	done
	for host in "${HOSTS[@]}"; do
		! grep -q -s -E 'Sanitizer|runtime error:' "$T/log/agent-$host.log" "$T/log/relay-$host.log" ||
			complain "a sanitizer has found something, see the log of $host"
		[ ! -d "$T/$host/var/log/libvirt/qemu" ] || cp -r "$T/$host/var/log/libvirt/qemu" "$T/log/qemu-$host"
	done
	exit "$status"
}

# Without KVM, QEMU before 9.0 loses writes of a guest that is migrated: after it has looked which pages of a block of memory
# are dirty, those that the CPU has in its TLB are not seen to be written again ("physmem: Fix migration dirty bitmap
# coherency with TCG memory access"). That is so where the block is a multiple of 64 pages, as libvirt makes it. So these
# tests' QEMUs get two pages more.
QEMU=/usr/bin/qemu-system-x86_64 QEMU_ASIDE=/usr/bin/qemu-system-i386 # where its real one goes: it finds its data from there
qemu_loses_writes()
{
	local version
	version=$($QEMU --version | sed -n 's/.* version \([0-9]*\).*/\1/p')
	! grep -q -w -E 'vmx|svm' /proc/cpuinfo && [ "$version" -lt 9 ] && [ -e $QEMU_ASIDE ]
}

qemu_script()
{
	cat <<-SH
		#!/bin/bash
		args=() before=
		for arg in "\$@"; do
			if [[ "\$before \$arg" =~ ^-m\ [0-9]+$ ]]; then
				arg=size=\$((arg * 1024 + 8))k
			elif [[ \$arg =~ ^(.*\"id\":\"pc.ram\",\"size\":)([0-9]+)(.*)$ ]]; then
				arg=\${BASH_REMATCH[1]}\$((BASH_REMATCH[2] + 8192))\${BASH_REMATCH[3]}
			fi
			args+=("\$arg")
			before=\$arg
		done
		exec -a $QEMU $QEMU_ASIDE "\${args[@]}"
	SH
}

qemu_sees_writes()
{
	qemu_loses_writes || return 0
	qemu_script >"$T/qemu"
	chmod 755 "$T/qemu"
	mount --bind $QEMU $QEMU_ASIDE && mount --bind "$T/qemu" $QEMU || fail 'cannot put a script in front of QEMU'
}

# In place of set_up.
hosts_begin()
{
	local host
	mkdir -p "$T/log" "$T/disks"
	trap hosts_end EXIT
	trap 'exit 1' INT TERM
	private_kvm || echo '# /dev/kvm stays as it is'
	qemu_sees_writes
	for host in "${HOSTS[@]}"; do
		host_new "$host"
	done
	hosts_join
	hosts_certify "$T/a/pki" "$T/b/pki"
	for host in "${HOSTS[@]}"; do
		host_configure "$host"
		host_libvirtd_start "$host"
	done
}

# ---- guests of libvirt alone -------------------------------------------------------------------------------------

# domain NAME DISK: the XML of a guest that counts on its line and on its disk, a raw image. MEMORY may be set, MiB.
domain()
{
	cat <<-XML
		<domain type='qemu'>
		  <name>$1</name>
		  <uuid>$(domain_uuid "$1")</uuid>
		  <memory unit='MiB'>${MEMORY:-128}</memory>
		  <vcpu>1</vcpu>
		  <os>
		    <type arch='x86_64' machine='pc'>hvm</type>
		    <kernel>$T/img/vmlinuz</kernel>
		    <initrd>$T/img/initrd.img</initrd>
		    <cmdline>console=ttyS0 quiet</cmdline>
		  </os>
		  <features><acpi/></features>
		  <on_crash>destroy</on_crash>
		  <devices>
		    <emulator>$(command -v qemu-system-x86_64)</emulator>
		    <disk type='file' device='disk'>
		      <driver name='qemu' type='raw' cache='none'/>
		      <source file='$2'/>
		      <target dev='vda' bus='virtio'/>
		    </disk>
		    <serial type='udp'>
		      <source mode='connect' host='127.0.0.1' service='$TICKS_PORT'/>
		      <target port='0'/>
		    </serial>
		    <memballoon model='none'/>
		  </devices>
		</domain>
	XML
}
domain_uuid() { printf 'd0000000-0000-4000-8000-%s\n' "$(printf %s "$1" | md5sum | cut -c 1-12)"; }

blank_disk() { rm -f "$1" && truncate -s "${2:-8M}" "$1" && chmod 666 "$1"; } # FILE [SIZE]

guest_start() # HOST NAME DISK
{
	domain "$2" "$3" >"$T/$2.xml"
	virsh_on "$1" define "$T/$2.xml" >/dev/null || fail "cannot define $2"
	virsh_on "$1" start "$2" >/dev/null || fail "cannot start $2"
}
