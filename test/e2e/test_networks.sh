#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Networks of a privileged libvirtd: guests on the pod network behind NAT reach each other and are reached from the host;
# NetworkAttachmentDefinitions of Open vSwitch: those of one VLAN reach each other, of another they do not; what is not
# there is waited for. All of it lies in a network namespace of this test's own and goes with that, whatever happens.
# environments: system
# takes: 90
# shellcheck source-path=SCRIPTDIR source=lib.sh
[ -n "${IN_NETWORK-}" ] || IN_NETWORK=1 exec unshare -n bash "$0"
POD_NETWORK=auto
. "$(dirname "$0")/lib.sh"

address() { get vmi "$1" .status.interfaces[0].ipAddress; }
nad() # NAME VLAN
{
	cat <<-YAML
		---
		apiVersion: k8s.cni.cncf.io/v1
		kind: NetworkAttachmentDefinition
		metadata: { name: $1 }
		spec: { config: '{"cniVersion": "0.3.1", "type": "ovs", "bridge": "ovs0", "vlan": $2}' }
	YAML
}

# guest NAME PORTS NAD: with an interface to the pod network and, unless NAD is empty, one to that.
guest()
{
	local nic='' net=''
	[ -z "$3" ] || nic=", { name: vlan, bridge: {} }" net=", { name: vlan, multus: { networkName: $3 } }"
	manifest "$1" Always | sed "s/^\( *\)devices:/&\n\1  interfaces: [ { name: default, masquerade: {}$2 }$nic ]/
		s/^\( *\)volumes:/\1networks: [ { name: default, pod: {} }$net ]\n&/; /autoattachPod/d" | put "$1.yaml"
	await "VM $1 is known" vmactl get vm "$1"
}

# shell NAME COMMAND: in the guest; what it says is on its console's log.
shell() { type_in "$1" "$2"; }
# Said again, for a shell that begins drops what comes too soon. To leave it would hang up the line, so it stays.
has_shell() { type_in "$1" shell && type_in "$1" "printf 'in-%s\\n' shell" && says "$1" '^in-shell'; }
# reaches NAME ADDRESS WORD: the guest says WORD and whether that address answers, once.
reaches()
{
	shell "$1" "ping -c 3 -W 2 $2 >/dev/null && echo the-$3 answers || echo the-$3 is silent"
	await "guest $1 has looked for $2" says "$1" "^the-$3 [ai]"
	says "$1" "^the-$3 answers"
}

open_vswitch()
{
	mkdir -p "$T/ovs" /run/openvswitch && mount --bind "$T/ovs" /run/openvswitch &&
		ovsdb-tool create "$T/ovs/conf.db" /usr/share/openvswitch/vswitch.ovsschema || fail 'no Open vSwitch'
	ovsdb-server "$T/ovs/conf.db" --remote=punix:/run/openvswitch/db.sock --pidfile="$T/ovs/db.pid" \
		--unixctl="$T/ovs/db.ctl" >"$T/log/ovsdb.log" 2>&1 &
	OVS=$!
	await 'ovsdb-server answers' ovs-vsctl --timeout=2 --no-wait init
	ovs-vswitchd unix:/run/openvswitch/db.sock --pidfile="$T/ovs/vs.pid" --unixctl="$T/ovs/vs.ctl" \
		>"$T/log/ovs.log" 2>&1 &
	OVS+=" $!"
}

close_vswitch()
{
	local pid
	for pid in ${OVS-}; do
		finish "$pid" || :
	done
}

mount -t sysfs none /sys && ip link set lo up || fail 'no network namespace'
[ -w /proc/sys/net ] || mount -t proc none /proc || fail 'no settings of the network' # in a container they are read-only
set_up
trap 'status=$?; close_vswitch; (exit $status); end' EXIT
agent_start

nad red 10 | put red.yaml
guest one ', ports: [ { port: 7070 } ]' red
guest two '' red
soon 'a bridge that is not there is waited for, by its name' \
	eval "get vmi one .status.conditions | grep -q \"there is no network device 'ovs0'\""
guest three '' blue
soon '… and so is a definition' \
	eval "get vmi three .status.conditions | grep -q \"no NetworkAttachmentDefinition 'blue'\""
open_vswitch
holds 'a bridge of Open vSwitch' ovs-vsctl --timeout=10 add-br ovs0 -- set bridge ovs0 datapath_type=netdev
nad blue 20 | put blue.yaml
for name in one two three; do
	running "$name"
	up "$name"
	await "guest $name has its address" says "$name" "^net eth0 $(address "$name")"
done
for name in one two three; do
	await "guest $name has a shell" has_shell "$name"
done
ok 'each guest has the address that its status told before it was up'
isnt 'no two have the same' "$(address one)" "$(address two)"

holds 'guests on the pod network reach each other' reaches one "$(address two)" two
shell one 'mkdir /www; echo hello from one >/www/index.html; httpd -p 7070 -h /www; httpd -p 7071 -h /www; echo it serves'
await 'guest one serves pages' says one '^it serves'
is 'a masqueraded port is reached from the host' "$(curl -s -m 20 "http://$(address one):7070/")" 'hello from one'
page() { printf 'GET / HTTP/1.0\r\n\r\n' | vmactl port-forward --stdio vm/one "$1" 2>&1 | tail -n 1; }
is '… by port-forward, too' "$(page 7070)" 'hello from one'
is '… which goes to no port that is not listed' "$(page 7071)" \
	"Error from server (BadRequest): port 7071 of 'one' is closed: the ports of its interface do not list it"

n=0
for name in one two three; do
	n=$((n + 1))
	shell "$name" "ip addr add 192.0.2.$n/24 dev eth1; echo addr-is-set"
	await "guest $name has an address on its VLAN" says "$name" '^addr-is-set'
done
holds 'guests of one VLAN reach each other' reaches one 192.0.2.2 same
holds 'guests of different VLANs do not' not reaches one 192.0.2.3 other

vmactl delete vm three >/dev/null 2>&1
reserved() { virsh -q -c qemu:///system net-dumpxml vmagent | grep -c '<host mac='; }
soon 'a guest gives its address back when it is gone' same 2 reserved
