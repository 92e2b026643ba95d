#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two agents find each other: certificates by vmactl peer, both see both, a cut is noticed and heals, a stranger is
# refused in words.
# environments: test
# takes: 30
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

declare -A port node

# configure NODE PEER...: its configuration, with its certificates in $T/NODE/pki.
configure()
{
	local name=$1 peer
	mkdir -p "$T/$name/manifests" "$T/$name/state"
	{
		cat <<-YAML
			apiVersion: vmagent.io/v1
			kind: AgentConfiguration
			spec:
			  nodeName: $name
			  peerListen: 127.0.0.1:${port[$name]}
			  tls:
			    ca: $T/$name/pki/cacert.pem
			    cert: $T/$name/pki/nodecert.pem
			    key: $T/$name/pki/nodekey.pem
			  peers:
		YAML
		for peer in "${@:2}"; do
			echo "  - { name: $peer, address: '127.0.0.1:${port[$peer]}' }"
		done
	} >"$T/$name/config.yaml"
}

at() { VMAGENT_SOCKET=$T/$1/sock vmactl "${@:2}"; } # NODE COMMAND...
state() { at "$1" get peer "$2" -o jsonpath='{.status.state}'; }
why() { at "$1" get peer "$2" -o jsonpath='{.status.message}'; }
node_says() { grep -q -e "$2" "$T/log/$1.log"; } # NODE PATTERN

node_start()
{
	"$B/vmagent" --config "$T/$1/config.yaml" --libvirt test:///default --manifests "$T/$1/manifests" \
		--state "$T/$1/state" --socket "$T/$1/sock" >>"$T/log/$1.log" 2>&1 &
	node[$1]=$!
	await "the agent of $1 answers" at "$1" get vm
}

node_stop()
{
	local pid=${node[$1]}
	unset "node[$1]"
	finish "$pid" || fail "the agent of $1 did not end well"
}

end_nodes()
{
	local name
	for name in "${!node[@]}"; do
		finish "${node[$name]}" || :
	done
}

set_up
trap 'status=$?; end_nodes; (exit $status); end' EXIT
read -r port[host-a] port[host-b] port[host-c] < <(free_ports 3)


# One list serves both: each passes over itself.
configure host-a host-a host-b
configure host-b host-a host-b
node_start host-b
soon 'without a certificate it says so, and runs' node_says host-b 'no peer can be reached: cannot read the CA'

holds 'init makes an authority' vmactl peer init --name=host-a --pki="$T/host-a/pki"
is '… whose key is its own' "$(stat -c %a "$T/host-a/pki/cakey.pem")" 600
holds '… only once' eval '! vmactl peer init --name=host-a --pki="$T/host-a/pki" 2>"$T/again" && grep -q "is there already" "$T/again"'
node_start host-a
soon 'a peer that has no certificate is unreachable' same Unreachable state host-a host-b

holds 'cert and join bring one, through a pipe' \
	eval 'vmactl peer cert host-b - --pki="$T/host-a/pki" | vmactl peer join - --pki="$T/host-b/pki" >"$T/joined"'
holds '… which says whose it is' grep -q "This node is 'host-b'" "$T/joined"
is '… and its key is secret' "$(stat -c %a "$T/host-b/pki/nodekey.pem")" 600
soon 'without a restart a sees b' same Reachable state host-a host-b
soon 'b sees a' same Reachable state host-b host-a
at host-a peer ls >"$T/log/ls.txt"
is 'peer ls shows both' "$(awk 'NR > 1 { print $1, $3 }' "$T/log/ls.txt" | tr '\n' ' ')" \
	'host-a Self host-b Reachable '
soon '… with the clock' eval '[ "$(at host-a get peer host-b -o jsonpath="{.status.clockDifferenceMilliseconds}")" != "" ]'
is '… the version' "$(at host-a get peer host-b -o jsonpath='{.status.version}')" \
	"$(at host-b get peer host-b -o jsonpath='{.status.version}')"

manifest web Always blank >"$T/host-b/manifests/web.yaml"
soon 'a is told of a guest that b starts' same 1 eval 'at host-a get peer host-b -o jsonpath="{.status.guests}"'

node_stop host-b
soon 'a notices that b is gone' same Unreachable state host-a host-b
node_start host-b
soon '… and that it is back' same Reachable state host-a host-b

# A stranger: it has an authority of its own, and says that it is b.
holds 'a stranger makes its own certificates' vmactl peer init --name=host-x --pki="$T/x/pki"
holds '… also for a name that it is not' vmactl peer cert host-b "$T/x/bundle" --pki="$T/x/pki"
holds '… which do not replace those of another authority' \
	eval '! vmactl peer join "$T/x/bundle" --pki="$T/host-b/pki" 2>"$T/other" && grep -q "another authority" "$T/other"'
node_stop host-b
configure host-c host-a
sed -i 's/nodeName: host-c/nodeName: host-b/' "$T/host-c/config.yaml"
holds 'it installs them' vmactl peer join "$T/x/bundle" --pki="$T/host-c/pki"
cp "$T/host-a/pki/cacert.pem" "$T/host-c/pki/"
node_start host-c
soon 'a refuses the stranger, in words' node_says host-a "refused a connection from 127.0.0.1:[0-9]*: the certificate of 'host-b' is refused"
soon '… which is told why' node_says host-c "peer 'host-a' cannot be reached: it refuses: the certificate of 'host-b' is refused"
isnt '… and is no peer' "$(state host-a host-b)" Reachable
