# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# lib.sh: what the end-to-end tests are written in. A test is a script that sources this file and runs in one of three
# environments, in a folder $T of its own:
#   embed   the agent hosts libvirt's QEMU driver itself (qemu:///embed), as root or as an ordinary user
#   system  a libvirtd of its own in a private mount namespace (qemu:///system), as root; no systemd, no cgroups
#   test    libvirt's test driver, which pretends: for what needs many machines
# Nothing here sleeps in the hope that something has happened: it is waited for, with a deadline.
# test/e2e/run sets B (the built programs), T, NAME and ENV.
set -u
ulimit -c 0

M=$T/manifests S=$T/state LOG=$T/log/agent.log
PATIENCE=${PATIENCE:-300} # seconds after which something that was waited for is missing
AS=()                     # as whom, a command that runs another: agent and vmactl
AGENT=                    # pid of the agent while it is meant to run; embedded: of the parent of the two
LIBVIRTD=                 # of libvirtd while that is meant to run
URI=qemu:///system
RUN=/run/libvirt/qemu # where libvirt keeps QEMU's pid files
export VMAGENT_SOCKET=$T/sock
# Threads of libvirt's still run when an agent that hosts it ends, which makes the search for leaks crash.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# ---- verdicts ----------------------------------------------------------------------------------------------------

# shellcheck disable=SC2153 # run gives us the name
ok() { echo "ok $NAME: $*"; }

fail()
{
	echo "FAIL $NAME: $* (line ${BASH_LINENO[-2]})"
	exit 1
}

# is WHAT GOT WANTED
is() { if [ "$2" = "$3" ]; then ok "$1"; else fail "$1: got '$2', not '$3'"; fi; }

# isnt WHAT GOT UNWANTED: something, and not that.
isnt() { if [ -n "$2" ] && [ "$2" != "$3" ]; then ok "$1"; else fail "$1: got '$2'"; fi; }

# holds WHAT COMMAND...
holds()
{
	local what=$1
	shift
	"$@" >/dev/null 2>&1 || fail "$what"
	ok "$what"
}

# await WHAT COMMAND...: until the command succeeds. No check of its own; says what took long.
await()
{
	local what=$1 start=$SECONDS deadline=$((SECONDS + PATIENCE))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $deadline ] || fail "waited in vain: $what"
		[ -z "$AGENT" ] || alive "$AGENT" || fail "the agent ended; waited for: $what"
		sleep 0.1
	done
	[ $((SECONDS - start)) -lt 6 ] || echo "# $((SECONDS - start)) s: $what"
}

# soon WHAT COMMAND...: the same as a check.
soon()
{
	await "$@"
	ok "$1"
}

not() { ! "$@"; }
same() { [ "$("${@:2}" 2>/dev/null)" = "$1" ]; }                # same TEXT COMMAND...: that is what it prints
other() { local got; got=$("${@:2}" 2>/dev/null) && [ -n "$got" ] && [ "$got" != "$1" ]; } # something else

# ---- processes ---------------------------------------------------------------------------------------------------

alive() { [ -e "/proc/$1/status" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }
qemu_pid() { cat "$RUN/default_$1.pid"; }

# signal SIGNAL PID: sends it and waits for the end, without the shell's remark on it.
signal()
{
	kill "-$1" "$2" 2>/dev/null || :
	{ wait "$2" || :; } 2>/dev/null
	await "process $2 ends" not alive "$2"
}

agent_start()
{
	"${AS[@]}" "$B/vmagent" --config "$T/config.yaml" --libvirt "$URI" --manifests "$M" --state "$S" \
		--socket "$VMAGENT_SOCKET" >>"$LOG" 2>&1 &
	AGENT=$!
	await "the agent answers" vmactl get vm
}

agent_stop()
{
	local pid=$AGENT
	AGENT=
	finish "$pid" || fail "the agent did not end well when asked to"
}

# agent_kill [parent]: kill -9 of the agent. Embedded it is two processes; whichever is killed, both end. The child is
# the oldest: a QEMU is a child of the parent too, and has the agent's name until it is executed.
agent_kill()
{
	local parent=$AGENT child
	child=$(pgrep -o -x vmagent -P "$AGENT")
	AGENT=
	if [ "$ENV" = embed ] && [ "${1-}" != parent ]; then
		kill -9 "$child"
	else
		kill -9 "$parent"
	fi
	{ wait "$parent" || :; } 2>/dev/null
	[ "$ENV" != embed ] || await "the agent's child ends" not alive "$child"
}

# A libvirtd that was killed in the middle of a start may take the domain for active ever after: vmagent(8), DIAGNOSTICS.
forget_cut_starts()
{
	local file
	for file in /run/libvirt/qemu/*.xml; do
		! grep -q -s "^<domstatus .* pid='0'>" "$file" || { echo "# a start was cut off: ${file##*/}"; rm "$file"; }
	done
}

libvirtd_start()
{
	forget_cut_starts
	libvirtd --config "$T/libvirtd.conf" --pid-file "$T/libvirtd.pid" >>"$T/log/libvirtd.log" 2>&1 &
	LIBVIRTD=$!
	await "libvirtd answers" virsh -q -c qemu:///system list
}

libvirtd_stop() # SIGNAL
{
	local pid=$LIBVIRTD
	LIBVIRTD=
	signal "$1" "$pid"
}

# free_ports N: ports of which nobody has any, and that the kernel gives nobody who connects: those lie above.
free_ports()
{
	perl -MIO::Socket::INET -e '
		my %s;
		while (keys %s < $ARGV[0]) {
			my $port = 20000 + int rand 10000;
			$s{$port} //= IO::Socket::INET->new(LocalAddr => "0.0.0.0", LocalPort => $port, Listen => 1) or delete $s{$port};
		}
		print join(" ", keys %s), "\n";' "$1"
}

# ---- the environments --------------------------------------------------------------------------------------------

embed_begin()
{
	URI="qemu:///embed?root=$T/lv"
	RUN=$T/lv/run/qemu
}

test_begin()
{
	URI=test:///default
	RUN=$T
}

# A KVM that root and the QEMU user can both open, as udev arranges it; else libvirt probes QEMU at each look-up.
private_kvm()
{
	[ -c /dev/kvm ] || return 0
	mkdir "$T/dev" &&
		mount -t tmpfs none "$T/dev" &&
		mknod "$T/dev/kvm" c 10 232 &&
		chgrp kvm "$T/dev/kvm" &&
		chmod 660 "$T/dev/kvm" &&
		mount --bind "$T/dev/kvm" /dev/kvm
}

# This script runs in a mount namespace of its own by now, and below a subreaper.
system_begin()
{
	local dir
	for dir in run/libvirt var/lib/libvirt etc/libvirt var/cache/libvirt var/log/libvirt; do
		mkdir -p "$T/h/$dir"
		mount --bind "$T/h/$dir" "/$dir" || fail "cannot mount in a namespace"
	done
	private_kvm || echo '# /dev/kvm stays as it is'
	printf '%s\n' 'stdio_handler = "file"' 'cgroup_controllers = [ ]' 'security_driver = "none"' \
		>/etc/libvirt/qemu.conf
	printf '%s\n' 'auth_unix_ro = "none"' 'auth_unix_rw = "none"' >"$T/libvirtd.conf"
	libvirtd_start
}

# finish PID: asks it to end, and makes it. Fails if it had to be made, or ended with an error.
finish()
{
	local deadline=$((SECONDS + 30))
	kill "$1" 2>/dev/null || :
	while alive "$1" && [ $SECONDS -lt $deadline ]; do
		sleep 0.1
	done
	kill -9 "$1" 2>/dev/null || :
	{ wait "$1"; } 2>/dev/null
}

# kill_of FILE...: kill -9 of whom each pid file names. Who was killed before leaves it, and another test's process may have
# the number by now: that one is younger than the file.
kill_of()
{
	local file pid age
	for file; do
		pid=$(cat "$file" 2>/dev/null) || continue
		age=$(ps -o etimes= -p "$pid") || continue
		[ "$age" -lt $(($(date +%s) - $(stat -c %Y "$file") - 2)) ] || kill -9 "$pid" 2>/dev/null || :
	done
}

# end: everything that was started, each by its pid. The folder is run's to keep or remove.
end()
{
	local status=$? file
	trap '' INT TERM
	[ -z "$AGENT" ] || vmactl get vm,vmi,events >"$T/log/objects.txt" 2>&1 || :
	[ -z "$AGENT" ] || finish "$AGENT" || complain 'the agent did not end well when asked to'
	[ -z "$LIBVIRTD" ] || finish "$LIBVIRTD" || :
	kill_of "$RUN"/*.pid "$T"/h/run/libvirt/network/*.pid
	! grep -q -s -E 'Sanitizer|runtime error:' "$LOG" || complain 'a sanitizer has found something, see the log'
	for file in "$S"/vmi/*/*.log "$T"/h/var/log/libvirt/qemu "$T"/lv/log; do
		[ ! -e "$file" ] || cp -r "$file" "$T/log/"
	done
	exit "$status"
}

# complain WHY: a failure, on the way out. Once is enough.
complain()
{
	[ "$status" != 0 ] || echo "FAIL $NAME: $*"
	status=1
}

set_up()
{
	mkdir -p "$M" "$S" "$T/log" "$T/disks"
	trap end EXIT
	trap 'exit 1' INT TERM
	cat >"$T/config.yaml" <<-YAML
		apiVersion: vmagent.io/v1
		kind: AgentConfiguration
		spec:
		  hostDiskRoots: [ $T/disks ]
		  imageRoots: [ $T, $B/guest ]
		  podNetwork: { type: ${POD_NETWORK:-user} }
	YAML
	"${ENV}_begin"
}

begin()
{
	set_up
	agent_start
}

# ---- what the tests say ------------------------------------------------------------------------------------------

vmactl() { "${AS[@]}" "$B/vmactl" "$@"; }

# get KIND NAME FIELD
get() { vmactl get "$1" "$2" -o jsonpath="{$3}"; }
vm_uid() { get vm "$1" .metadata.uid; }
vmi_uid() { get vmi "$1" .metadata.uid; }
phase() { get vmi "$1" .status.phase; }
status() { get vm "$1" .status.printableStatus; }
strategy() { get vm "$1" .spec.runStrategy; }
no_vmi() { vmactl get vmi "$1" 2>&1 | grep -q 'NotFound'; }
no_vm() { vmactl get vm "$1" 2>&1 | grep -q 'NotFound'; }

# manifest NAME STRATEGY [WORD...] prints a VM. Words: deaf, agent, blank (has no system), headless, panic, net, grace=N, order=N,
# memory=N, scratch=SIZE, disk=PATH.
manifest()
{
	local name=$1 strategy=$2 image=guest grace=30 memory=128Mi panic='' net=false nics='' pod='' disks='' volumes='' order='' display='' word
	local root='{ name: root, disk: { bus: virtio } }' source
	for word in "${@:3}"; do
		case $word in
		deaf)      image=deaf ;;
		agent)     image=agent ;;
		blank)     image= ;;
		headless)  display='autoattachGraphicsDevice: false' ;;
		panic)     panic='panicDevices: [ { model: isa } ]' ;;
		net)       net=true nics='interfaces: [ { name: default, masquerade: {} } ]'
		           pod='networks: [ { name: default, pod: {} } ]' ;;
		grace=*)   grace=${word#*=} ;;
		order=*)   order="annotations: { vmagent.io/start-order: '${word#*=}' }" ;;
		memory=*)  memory=${word#*=} ;;
		scratch=*) disks+=', { name: scratch, disk: { bus: virtio } }'
		           volumes+=", { name: scratch, emptyDisk: { capacity: ${word#*=} } }" ;;
		disk=*)    disks+=', { name: data, disk: { bus: virtio } }'
		           volumes+=", { name: data, hostDisk: { path: ${word#*=}, type: Disk } }" ;;
		*)         fail "manifest: what is $word?" ;;
		esac
	done
	source="{ name: root, containerDisk: { image: 'file://$T/img/$image.img' } }"
	[ -n "$image" ] || source='{ name: root, emptyDisk: { capacity: 1Mi } }'
	grep -v '^ *$' <<-YAML
		apiVersion: kubevirt.io/v1
		kind: VirtualMachine
		metadata:
		  name: $name
		  $order
		spec:
		  runStrategy: $strategy
		  template:
		    spec:
		      terminationGracePeriodSeconds: $grace
		      domain:
		        memory:
		          guest: $memory
		        devices:
		          autoattachPodInterface: $net
		          $display
		          $nics
		          $panic
		          disks: [ $root$disks ]
		      $pod
		      volumes: [ $source$volumes ]
	YAML
}

# put FILE: standard input becomes that file of the agent's folder, all at once.
put()
{
	cat >"$T/new"
	mv "$T/new" "$M/$1"
}

# vm NAME STRATEGY [WORD...]: its file, and the agent has taken it.
vm()
{
	manifest "$@" | put "$1.yaml"
	await "VM $1 is known" vmactl get vm "$1"
}

running() { await "VMI $1 is Running" same Running phase "$1"; }
says() { [ "$(grep -a -c -e "$2" "$S/vmi/$(vmi_uid "$1")/serial0.log")" -ge "${3:-1}" ]; } # NAME PATTERN [TIMES]
up() { await "guest $1 is up" says "$1" '^guest up'; }
type_in() { printf '%s\n' "$2" | vmactl console "$1" >/dev/null 2>&1; } # NAME WORDS
# answers NAME WORDS PATTERN: the guest says so on its console when it is told WORDS. Ask again, it may be slow.
answers() { printf '%s\n' "$2" | vmactl console "$1" 2>/dev/null | tr -d '\r' | grep -a -q -e "$3"; }

# tell NAME WORDS: to the guest, past the agent: its serial line is a socket of QEMU's.
tell()
{
	perl -MIO::Socket::UNIX -e '
		my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "$ARGV[0]: $!\n";
		$s->send("$ARGV[1]\n");
		$s->shutdown(1);
		1 while $s->sysread(my $answer, 4096);
	' "$1" "$2"
}

# story NAME [UID]: the events of a VM and its runs, or of one run: "UID REASON MESSAGE" each.
story()
{
	vmactl events --for="vm/$1" --no-headers \
		-o custom-columns=UID:.involvedObject.uid,REASON:.reason,MESSAGE:.message | grep "^${2-}"
}
told() { story "$1" "$2" | grep -q -e "$3"; } # NAME UID PATTERN

# log_has PATTERN [TIMES]: the agent's log, over all its lives.
log_count() { grep -c -e "$1" "$LOG"; }
log_has() { [ "$(log_count "$1")" -ge "${2:-1}" ]; }
