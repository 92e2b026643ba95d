#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Real kubectls through `vmactl proxy`: Debian's old one, and the one on PATH if there is another. Each does the whole
# round on a VM of its own, while one guest runs for both.
# environments: embed
# takes: 50
# shellcheck source-path=SCRIPTDIR source=lib.sh source=kubectl.sh
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/kubectl.sh"

k() { HOME=$T "$KUBECTL" --server "$SERVER" --cache-dir "$T/kube" "$@" 2>&1; }

reads()
{
	shows 'api-resources'        'virtualmachines  *vm,vms  *kubevirt.io/v1  *true  *VirtualMachine' k api-resources
	shows 'get'                  "^$VM  *[0-9a-z]*  *Stopped  *False" k get vms
	shows 'get by short name'    '^guest  *[0-9a-z]*  *Running  *True' k get vm guest
	shows 'get -o wide'          'LIVE-MIGRATABLE  *PAUSED' k get vmis -o wide
	shows 'get -A'               "^default  *$VM " k get vms -A
	shows 'get -o name'          "^virtualmachine.kubevirt.io/$VM" k get vm "$VM" -o name
	shows 'get -o json'          '"kind": "VirtualMachine"' k get vm "$VM" -o json
	shows 'get -o yaml'          '^kind: VirtualMachine' k get vm "$VM" -o yaml
	shows 'get -o jsonpath'      '^Stopped$' k get vm "$VM" -o 'jsonpath={.status.printableStatus}{"\n"}'
	shows 'get -o custom-columns' "^$VM  *Manual" \
		k get vm "$VM" -o custom-columns=NAME:.metadata.name,STRATEGY:.spec.runStrategy
	shows 'get -l'               "^$VM " k get vms -l "who=$VM"
	shows 'get -l, no match'     'No resources found' k get vms -l 'who=nobody'
	shows 'get --field-selector' "^$VM " k get vms --field-selector "metadata.name=$VM"
	shows 'describe'             'Printable Status:  *Running' k describe vm guest
	shows 'describe shows events' 'SuccessfulCreate' k describe vm guest
	shows 'events'               'SuccessfulCreate  *virtualmachine/guest' k get events
	shows 'get nodes'            "Ready  *[0-9a-z]*  *vmagent" k get nodes -o wide
	shows 'describe node'        "virt-launcher-guest" k describe nodes
	shows 'get kubevirt'         'kubevirt  *[0-9a-z]*  *Deployed' k get kubevirt -A
	shows 'get pods'             '^virt-launcher-guest-[0-9a-f]*  *1/1  *Running  *0' k get pods -o wide
	is "$KIND: the pod is the VMI's" "$(k get pods -l kubevirt.io=virt-launcher,vm.kubevirt.io/name=guest \
		-o 'jsonpath={.items[*].metadata.ownerReferences[0].uid}')" "$(vmi_uid guest)"
	shows 'explain'              'whether\|runStrategy' k explain vm.spec
	shows 'explain a field'      'host-passthrough' k explain vm.spec.template.spec.domain.cpu.model
	shows 'explain what is open' 'values in base64' k explain secret.data
	shows 'explain an event'     'Normal or Warning' k explain events.type
	shows 'events of events.k8s.io' 'SuccessfulCreate  *virtualmachine/guest' \
		k get events.events.k8s.io --field-selector regarding.name=guest
	denies 'a reason for what is not served' 'replica sets are not built' \
		k get --raw /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstancereplicasets
	shows 'explain of a core kind' 'KIND: *Pod' k explain pod.spec
	shows 'version'              'vmagent' k version
	shows 'api-versions'         '^subresources.kubevirt.io/v1alpha3$' k api-versions
	shows 'get all'              "^pod/virt-launcher-guest-" k get all
	shows '… KubeVirt is elsewhere' '^ *0$' echo "$(k get all -o name | grep -c kubevirt/)"
	shows 'get --show-labels'    "who=$VM" k get vm "$VM" --show-labels
	shows 'get -o go-template'   "^$VM\$" k get vms -o 'go-template={{range .items}}{{.metadata.name}}{{"\n"}}{{end}}'
	shows 'get --sort-by'        '^guest ' k get vms --sort-by=.metadata.creationTimestamp
	shows 'get of two kinds'     '^virtualmachineinstance.kubevirt.io/guest ' k get vm/guest vmi/guest
	shows 'get -l, a set'        "^$VM " k get vms -l "who in ($VM,x),!absent"
	denies 'a field that selects nothing' 'field label not supported' k get vms --field-selector spec.x=y
	denies 'get of what is not there' 'virtualmachines.kubevirt.io "nobody" not found' k get vm nobody
	denies 'a type that is not there' "doesn't have a resource type" k get nothings
	shows 'get events.events.k8s.io' 'SuccessfulCreate  *virtualmachine/guest' k get events.events.k8s.io
	if [ "$KIND" = old ]; then
		skipped 'kubectl events: 1.20 has none'
	else
		shows 'kubectl events'   'SuccessfulCreate  *VirtualMachine/guest' k events --for vm/guest
	fi
}

# What is written by labels, annotations and an editor.
edits()
{
	denies 'label of what has one' 'already has a value' k label vm "$VM" who=other
	shows 'label --overwrite'    'labeled' k label vm "$VM" who=other --overwrite
	shows 'label -: it goes'     'labeled' k label vm "$VM" who-
	is "$KIND: … it is gone" "$(get vm "$VM" .metadata.labels.who)" ''
	k label vm "$VM" "who=$VM" >/dev/null
	is "$KIND: annotate: it is there" "$(get vm "$VM" .metadata.annotations.note)" x
	shows 'annotate -'           'annotated' k annotate vm "$VM" note-
	is "$KIND: … it is gone, too" "$(get vm "$VM" .metadata.annotations.note)" ''
	# It takes the terminal if there is one, and is stopped for it in the background.
	HOME=$T KUBE_EDITOR='sed -i s/Manual/Halted/' shows 'edit' 'edited' setsid -w "$KUBECTL" --server "$SERVER" \
		--cache-dir "$T/kube" edit vm "$VM"
	is "$KIND: … what was typed is there" "$(strategy "$VM")" Halted
}

writes()
{
	local file=$T/$VM.yaml
	manifest "$VM" Manual >"$file"
	shows 'apply'                'created' k apply -f "$file"
	shows 'apply again'          'unchanged' k apply -f "$file"
	shows 'apply --validate=false' 'unchanged' k apply --validate=false -f "$file"
	denies 'apply --server-side' "use 'kubectl apply' without --server-side" k apply --server-side -f "$file"
	shows 'label'                'labeled' k label vm "$VM" "who=$VM"
	shows 'annotate'             'annotated' k annotate vm "$VM" note=x
	reads
	sed -i 's/128Mi/192Mi/' "$file"
	denies 'diff finds a difference' '^+ .*192Mi' k diff -f "$file"
	shows 'server-side dry run'  'configured (server dry run)' k apply --dry-run=server -f "$file"
	is "$KIND: … changes nothing" "$(get vm "$VM" .spec.template.spec.domain.memory.guest)" 128Mi
	shows 'apply of a change'    'configured' k apply -f "$file"
	is "$KIND: … keeps the label" "$(get vm "$VM" .metadata.labels.who)" "$VM"
	shows 'diff finds none'      '^$' echo "$(k diff -f "$file")"
	edits
	shows 'patch --type merge'   'patched' k patch vm "$VM" --type merge -p '{"spec":{"runStrategy":"Halted"}}'
	shows 'patch --type json'    'patched' k patch vm "$VM" --type json \
		-p '[{"op":"replace","path":"/spec/runStrategy","value":"Manual"}]'
	is "$KIND: … what it says is there" "$(strategy "$VM")" Manual
	denies 'patch --type strategic' '.--type merge\|not supported' k patch vm "$VM" -p '{}'
	denies 'a patch that does not fit' 'cpu.cores' k patch vm "$VM" --type merge \
		-p '{"spec":{"template":{"spec":{"domain":{"cpu":{"cores":-1}}}}}}'
	denies 'create of what is there' 'already exists' k create -f "$file"
	shows 'replace'              'replaced' k replace -f "$file"
	denies 'a bad field'         'memoryy' k create -f - < <(sed "s/memory:/memoryy:/;s/name: $VM/name: bad/" "$file")
}

secret()
{
	printf 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: key\n  namespace: %s\nstringData:\n  a: %s\n' "lab-$VM" "$1"
}

# What a newer kubectl sends as protobuf, because it knows these kinds itself.
creates()
{
	shows 'create namespace'     "namespace/lab-$VM created" k create namespace "lab-$VM"
	shows 'create configmap'     'created' k -n "lab-$VM" create configmap cfg --from-literal=a=b
	shows '… what it holds'      '^b$' k -n "lab-$VM" get configmap cfg -o 'jsonpath={.data.a}{"\n"}'
	shows 'create secret'        'created' k -n "lab-$VM" create secret generic pw --from-literal=pw=x
	shows '… what it holds'      '^eA==$' k -n "lab-$VM" get secret pw -o 'jsonpath={.data.pw}{"\n"}'
	shows 'apply of a secret'    'created' k apply -f - < <(secret x)
	shows '… again'              'unchanged\|configured' k apply -f - < <(secret x)
	shows '… changed'            'configured' k apply -f - < <(secret z)
	shows '… what it holds'      '^eg==$' k -n "lab-$VM" get secret key -o 'jsonpath={.data.a}{"\n"}'
	shows 'patch of a secret'    'patched' k -n "lab-$VM" patch secret key -p '{"data":{"b":"eA=="}}'
	denies 'create namespace, again' 'already exists' k create namespace "lab-$VM"
	shows 'delete namespace'     'deleted' k delete namespace "lab-$VM"
	denies '… all of it is gone' 'NotFound' k -n "lab-$VM" get configmap cfg
}

has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE NUMBER
follows()
{
	k get vms "$VM" -w >"$T/log/watch.$VM" &
	local watch=$!
	await 'the watch begins' grep -q "^$VM" "$T/log/watch.$VM"
	shows 'wait --for=condition' 'condition met' k wait vm/guest --for=condition=Ready --timeout=120s
	shows 'delete -l, none'      'No resources found' k delete vms -l who=nobody
	shows 'delete --wait'        'deleted' k delete vm "$VM" --wait
	denies '… and it is gone'    'NotFound' k get vm "$VM"
	await 'the watch shows it' has_lines "$T/log/watch.$VM" 2
	signal TERM $watch
}

round()
{
	KIND=$1 KUBECTL=$2 VM=$1
	[ -x "$KUBECTL" ] || { skipped 'there is none'; return; }
	echo "# $KIND: $(k version --client 2>&1 | head -n 1)"
	writes
	creates
	follows
}

begin
vm guest Always
proxy_start
running guest
round old "$(old_kubectl)"
round new "$(new_kubectl)"

KUBECTL=curl
denied() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
is 'a web page does not get through the proxy' "$(denied -H 'Origin: http://localhost' "$SERVER/version")" 403
is 'nor another host name' "$(denied -H 'Host: evil.example' "$SERVER/version")" 403
is 'this machine does' "$(denied "$SERVER/version")" 200
proxy_stop
