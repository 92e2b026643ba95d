#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The walk-through of "Understanding KubeVirt Internals: Controllers, QEMU/KVM and VM Lifecycle", which goes through one VM's
# life on a cluster: each of its commands, in its order, and all that it says is then to be observed. With kubectl, an old
# one and a new one, and with vmactl. What it does with virtctl, a kubectl does by the subresource. Its VM is
# examples/walkthrough.yaml, with the tests' own guest.
# environments: embed system
# takes: 110
# shellcheck source-path=SCRIPTDIR source=lib.sh source=kubectl.sh
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/kubectl.sh"

LAB=kubevirt-lab
VM=internals-demo
SUBRESOURCES=/apis/subresources.kubevirt.io/v1/namespaces/$LAB/virtualmachines/$VM

# ---- the clients -------------------------------------------------------------------------------------------------

is_vmactl() { [ "$KIND" = vmactl ]; }

# k ARGUMENT...: what the text does with kubectl; lab: in its namespace.
k() { "${CLIENT[@]}" "$@"; }
lab() { k -n "$LAB" "$@"; }
field() { lab get "$1" "$2" -o jsonpath="{$3}"; } # KIND NAME PATH

# virtctl VERB: what that sends.
virtctl()
{
	if is_vmactl; then
		vmactl -n "$LAB" "$1" "$VM"
	else
		k replace --raw "$SUBRESOURCES/$1" -f - <<<'{}'
	fi
}

can_wait() { is_vmactl || [ "$KIND" = new ]; } # kubectl 1.20 has no wait --for=jsonpath

await_running()
{
	if can_wait; then
		shows "wait until it is Running, $1" 'condition met' \
			lab wait --for=jsonpath='{.status.phase}'=Running "vmi/$VM" --timeout="${PATIENCE}s"
	else
		skipped "wait --for=jsonpath: kubectl $(k version --client --short 2>/dev/null | sed 's/.*: //') has none"
		soon "$KIND: it is Running, $1" same Running field vmi "$VM" .status.phase
	fi
}

launcher() { lab get pods -l kubevirt.io=virt-launcher -o "jsonpath={.items[*].metadata.$1}"; } # FIELD

# ---- "Before you start" ------------------------------------------------------------------------------------------

before()
{
	if is_vmactl; then
		shows 'version: an agent answers' '^Agent Version: [0-9]' k version
	else
		shows 'config current-context: the context' '^vmagent$' k config current-context
	fi
	node=$(k get nodes -o 'jsonpath={.items[0].metadata.name}')
	soon "$KIND: the node is ready" same True k get node "$node" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
	shows 'get nodes -o wide: this host, ready' "^$node  *Ready .*vmagent-" k get nodes -o wide
	shows 'get kubevirt -A: it is deployed' '^kubevirt  *kubevirt .*Deployed' k get kubevirt -A
}

# ---- "Create a VM without starting it" ---------------------------------------------------------------------------

create()
{
	shows 'create namespace' "namespace/$LAB created" k create namespace "$LAB"
	shows 'apply: the VM is created' "virtualmachine.kubevirt.io/$VM created" \
		lab apply -f - < <(sed "s|file:.*|file://$T/img/guest.img|" "$EXAMPLE")
	await 'the VM has its status' same Stopped field vm "$VM" .status.printableStatus
	shows 'get vm,vmi: the VM exists' "$VM .*Stopped" lab get vm,vmi
	lacks '… and there is no VMI' 'virtualmachineinstance' lab get vm,vmi
	vm=$(lab get vm "$VM" -o jsonpath='{.metadata.uid}{"\n"}')
	is "$KIND: its UID is assigned" "${#vm}" 36
}

# ---- "Start the VM and follow the objects" -----------------------------------------------------------------------

start()
{
	holds "$KIND: start is accepted" virtctl start
	await 'a pod appears, and where it is' other '' field vmi "$VM" .status.nodeName
	shows 'get vm,vmi,pods -o wide: the VM,' "virtualmachine.kubevirt.io/$VM " lab get vm,vmi,pods -o wide
	shows '… its VMI' "virtualmachineinstance.kubevirt.io/$VM .*$node" lab get vm,vmi,pods -o wide
	shows '… and a pod' "pod/virt-launcher-$VM-[^ ]* .*$node" lab get vm,vmi,pods -o wide
	await_running 'started'
}

owners()
{
	local out
	out=$(lab get vmi "$VM" -o jsonpath='VMI UID: {.metadata.uid}{"\n"}Owners: {.metadata.ownerReferences}{"\n"}Node: {.status.nodeName}{"\n"}')
	vmi=$(sed -n 's/^VMI UID: //p' <<<"$out")
	is "$KIND: the VMI has a UID" "${#vmi}" 36
	isnt "$KIND: … which is not the VM's" "$vmi" "$vm"
	is "$KIND: … and a node" "$(sed -n 's/^Node: //p' <<<"$out")" "$node"
	shows 'the VM owns the VMI' '^Owners: .*VirtualMachine\b' echo "$out"
	shows '… by its UID' "^Owners: .*$vm" echo "$out"
	shows 'get pods -l: the launcher pod is on the node' "^virt-launcher-$VM-[^ ]*  *[01]/1  *Running .*$node" \
		lab get pods -l kubevirt.io=virt-launcher -o wide
	pod=$(launcher name)
	is "$KIND: the VMI owns it: kind" "$(field pod "$pod" '.metadata.ownerReferences[0].kind')" VirtualMachineInstance
	is "$KIND: … and UID, not the VM's" "$(field pod "$pod" '.metadata.ownerReferences[0].uid')" "$vmi"
	shows 'custom-columns: name, owner, node of it' "^$pod  *$vmi  *$node\$" lab get pods -l kubevirt.io=virt-launcher \
		-o custom-columns='NAME:.metadata.name,OWNER:.metadata.ownerReferences[0].uid,NODE:.spec.nodeName'
}

# What happened is told in its order. Those of one second an old kubectl sorts anyhow; their names say their numbers.
events()
{
	local told
	told=$(lab get events --sort-by=.metadata.creationTimestamp \
		-o 'jsonpath={range .items[*]}{.metadata.creationTimestamp} {.metadata.name} {.reason}{"\n"}{end}')
	is "$KIND: get events --sort-by: they are sorted" "$(cut -d ' ' -f 1 <<<"$told")" "$(cut -d ' ' -f 1 <<<"$told" | sort)"
	told=$(sed 's/^[^ ]* [^ ]*\.\([^ ]*\) /\1 /' <<<"$told" | sort | cut -d ' ' -f 2 | tr '\n' ' ')
	shows "… $1" "$2" echo "$told"
}

# ---- "Where does QEMU/KVM fit?" ----------------------------------------------------------------------------------

# reads PATTERN: until that has come on the console, which goes on anyway after a while.
reads()
{
	local deadline=$((SECONDS + PATIENCE))
	until grep -a -q -e "$1" "$T/console" || [ $SECONDS -ge $deadline ]; do
		sleep 0.2
	done
}

# A person at a terminal, who leaves with Ctrl+].
at_console()
{
	: >"$T/console"
	{
		reads 'guest up'
		printf 'echo I am %s\r' guest
		reads '^I am guest'
		printf '\035'
	} | script -qefc "'$B/vmactl' -n $LAB console $VM" /dev/null >>"$T/console" 2>&1 &&
		grep -a -q '^I am guest' "$T/console"
}

inside()
{
	shows 'describe pod: its owner' "VirtualMachineInstance/$VM" lab describe pod "$pod"
	shows '… its node' "^Node: *$node" lab describe pod "$pod"
	is "$KIND: its node, its containers" "$(lab get pod "$pod" \
		-o jsonpath='{.spec.nodeName}{"\n"}{.spec.containers[*].name}{"\n"}' | tr '\n' ' ')" "$node compute "
	if is_vmactl; then
		skipped 'exec: vmactl has none'
	else
		denies 'exec is refused, and says what to do' 'vmactl console' lab exec "$pod" -c compute -- ps -ef
	fi
	holds "$KIND: console: the guest answers, and Ctrl+] leaves" at_console
}

# ---- "Stop and start: which identities survive?" -----------------------------------------------------------------

# A kubectl that comes too late to see it go says that it is not there, and an old one ends with an error.
stop()
{
	local out
	holds "$KIND: stop is accepted" virtctl stop
	out=$(lab wait --for=delete "vmi/$VM" --timeout="${PATIENCE}s" 2>&1) ||
		grep -q 'no matching resources\|NotFound' <<<"$out" || fail "$KIND: wait --for=delete: $out"
	ok "$KIND: wait --for=delete: the VMI disappears, $1"
	is "$KIND: … it is gone" "$(lab get vmi -o name 2>/dev/null)" ''
}

survives()
{
	local launcher again
	is "$KIND: recorded: the VM" "$(lab get vm "$VM" -o jsonpath='VM: {.metadata.uid}{"\n"}')" "VM: $vm"
	is "$KIND: … the VMI" "$(lab get vmi "$VM" -o jsonpath='VMI: {.metadata.uid}{"\n"}')" "VMI: $vmi"
	launcher=$(lab get pod "$pod" -o jsonpath='{.metadata.uid}')
	is "$KIND: … and the pod" "${#launcher}" 36
	stop 'stopped'
	shows 'get vm,vmi: the VM remains' "$VM .*Stopped" lab get vm,vmi
	holds "$KIND: start again is accepted" virtctl start
	await_running 'again'
	is "$KIND: the VM has its UID still" "$(field vm "$VM" .metadata.uid)" "$vm"
	again=$(field vmi "$VM" .metadata.uid)
	isnt "$KIND: the VMI is another" "$again" "$vmi"
	isnt "$KIND: so is the pod" "$(launcher uid)" "$launcher"
	shows '… whose owner is the new VMI' "^virt-launcher-$VM-[^ ]*  *$(launcher uid)  *$again\$" \
		lab get pods -l kubevirt.io=virt-launcher \
		-o custom-columns='NAME:.metadata.name,UID:.metadata.uid,OWNER:.metadata.ownerReferences[0].uid'
}

# ---- "Diagnosing a VM that does not start", "Cleanup" ------------------------------------------------------------

diagnose()
{
	shows 'describe vm' 'Status: *Running' lab describe vm "$VM"
	shows '… with its events' 'StopRequested' lab describe vm "$VM"
	shows 'describe vmi' 'Phase: *Running' lab describe vmi "$VM"
	events 'a life in order' 'StartRequested.* Started.* StopRequested.* Stopped.* StartRequested.* Started'
}

clean_up()
{
	stop 'at the end'
	shows 'delete vm' "\"$VM\" deleted" lab delete vm "$VM"
	shows 'get all: nothing is left' 'No resources found' lab get all # policies, too, lie in no namespace
	shows 'delete namespace' "namespace \"$LAB\" deleted" k delete namespace "$LAB"
	denies '… and it is gone' 'NotFound' k get namespace "$LAB"
	is "$KIND: … with its events" "$(lab get events -o name 2>/dev/null)" ''
}

walk() # KIND COMMAND...
{
	KIND=$1 CLIENT=("${@:2}")
	before
	create
	start
	owners
	events 'from the order to the start' 'StartRequested.* SuccessfulCreate.* Started'
	inside
	survives
	diagnose
	clean_up
}

# walk_kubectl KIND PATH: with a context of its own, as a user would make it.
walk_kubectl()
{
	local client=(env HOME="$T" KUBECONFIG="$T/kubeconfig.$1" "$2")
	KIND=$1
	[ -x "$2" ] || { skipped 'there is none'; return; }
	echo "# $1: $("${client[@]}" version --client 2>&1 | head -n 1)"
	{
		"${client[@]}" config set-cluster vmagent --server="$SERVER" &&
			"${client[@]}" config set-context vmagent --cluster=vmagent &&
			"${client[@]}" config use-context vmagent
	} >/dev/null 2>&1 || fail 'a context is written'
	walk "$1" "${client[@]}"
}

EXAMPLE=$(dirname "$0")/../../examples/walkthrough.yaml
begin
proxy_start
walk_kubectl old "$(old_kubectl)"
walk_kubectl new "$(new_kubectl)"
proxy_stop
walk vmactl vmactl
