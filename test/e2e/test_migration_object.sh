#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The order to move a guest as an object: kubectl makes it, waits for it and deletes it, a file declares it, and both hosts
# show one and the same. What runs is called off by deleting it; what cannot be is said in words.
# environments: system
# takes: 90
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=kubectl.sh
. "$(dirname "$0")/kubectl.sh"
# shellcheck source-path=SCRIPTDIR source=guests.sh
. "$(dirname "$0")/guests.sh"

KIND=kubectl
KUBECTL=$(new_kubectl || old_kubectl)
PHASES='Pending Scheduling Scheduled PreparingTarget TargetReady Running Succeeded'

k() { HOME=$T "$KUBECTL" --server "$SERVER" --cache-dir "$T/kube" "$@" 2>&1; }
move_at() { at "$1" get vmim "$2" -o jsonpath="{$3}" 2>/dev/null; } # HOST NAME PATH
move_has() { [ -n "$(move_at "$@")" ]; }                                # HOST NAME PATH
has_phase() { [ "$(move_at "$1" "$2" .status.phase)" = "$3" ]; }      # HOST NAME PHASE

move() # NAME VMI PEER
{
	cat <<-YAML
		apiVersion: kubevirt.io/v1
		kind: VirtualMachineInstanceMigration
		metadata: { name: $1, labels: { test: object } }
		spec: { vmiName: $2, addedNodeSelector: { kubernetes.io/hostname: host-$3 } }
	YAML
}

# What both hosts say of a migration that has ended, but for when each has heard of that.
told_of() # HOST NAME
{
	local path
	for path in .metadata.uid .metadata.labels.test .metadata.creationTimestamp .spec.vmiName .status.phase \
		.status.migrationState.{sourceNode,targetNode,mode,startTimestamp,endTimestamp,targetNodeDomainReadyTimestamp,completed} \
		.status.migrationState.{sourcePod,targetPod,targetNodeAddress,migrationConfiguration,sourceState,targetState} \
		.status.phaseTransitionTimestamps; do
		move_at "$1" "$2" "$path"
		echo
	done
}

hosts_begin
movers_begin
AS=(env "VMAGENT_SOCKET=$T/a/run/vmagent/vmagent.sock")
proxy_start
vm_at a one 'emptyDisk: { capacity: 8Mi }'

move none nobody b >"$T/none.yaml"
denies 'what does not run is not moved' 'the VMI .*nobody.* does not exist' k create -f "$T/none.yaml"
sed 's/host-b/host-c/' <(move where one b) >"$T/where.yaml"
denies 'a peer that is none' "'host-c' is no peer" k create -f "$T/where.yaml"

# One that takes its time is called off.
cat >"$T/policy.yaml" <<-YAML
	apiVersion: migrations.kubevirt.io/v1alpha1
	kind: MigrationPolicy
	metadata: { name: slow }
	spec:
	  bandwidthPerMigration: 1Mi
	  selectors: { namespaceSelector: { kubernetes.io/metadata.name: default } }
YAML
holds 'a policy that makes it slow' k create -f "$T/policy.yaml"
move slow one b >"$T/slow.yaml"
shows 'an order is created' 'slow created' k create -f "$T/slow.yaml"
soon '… and runs' has_phase a slow Running
soon '… as the other host says, too' has_phase b slow Running
soon '… and how far it is' move_has b slow .status.progress.bytesRemaining
is '… under which terms' "$(move_at b slow .status.migrationState.migrationConfiguration.bandwidthPerMigration)" 1048576
is '… of which policy' "$(move_at b slow .status.migrationState.migrationPolicyName)" slow
is '… for how long at most' "$(move_at b slow '.status.phaseTransitionTimestamps[?(@.phase=="Running")].timeoutSeconds')" 150
is '… to which Pod' "$(move_at a slow .status.migrationState.targetPod)" "$(at b get pods -o jsonpath='{.items[0].metadata.name}')"
is '… where it is and goes are labels of its run' "$(at a get vmi -o name \
	-l kubevirt.io/nodeName=host-a,kubevirt.io/migrationTargetNodeName=host-b)" virtualmachineinstance.kubevirt.io/one
shows '… its VM says where it goes' "on its way to 'host-b'" at a explain one
shows '… and whence it comes' "on its way here from 'host-a'" at b explain one
shows '… which are shown' 'kubevirt.io/migrationTargetNodeName=host-b,kubevirt.io/nodeName=host-a' at a get vmi one --show-labels
is '… its VM waits for it as one that migrates' "$(at b get vm one -o jsonpath='{.spec.runStrategy} {.status.printableStatus}')" \
	'WaitAsReceiver Migrating'
is '… and nobody has paused it' "$(vmi_at b one '.status.conditions[?(@.type=="Paused")].reason')" ''
denies '… and there it takes no orders' "on its way here from 'host-a': give the order there" at b start one
denies '… a second one is refused' "it is to move to 'host-b' already: slow" k create -f <(move again one b)
denies '… on the other host it cannot be deleted' "cancel it there" at b delete vmim slow
shows '… deleting it calls it off' 'deleted' k delete vmim slow --timeout="${PATIENCE}s"
denies '… and it is gone' 'NotFound' k get vmim slow
soon '… the other host says that, too' same Succeeded move_at b slow .status.migrationState.abortStatus
soon '… the other host says why' same 'it was cancelled' move_at b slow .status.migrationState.failureReason
last=$(last_tick a one)
soon '… and the guest counts on where it was' counts_at a one "$last"
# The same by virtctl, which looks for what it calls off by its label.
v() { HOME=$T KUBECONFIG=/dev/null virtctl --server "$SERVER" "$@" 2>&1; }
active() { at a get vmim -l kubevirt.io/vmi-name=one -o jsonpath='{.items[*].status.phase}'; }
if command -v virtctl >/dev/null; then
	shows 'virtctl migrate --dry-run' 'VM one was scheduled to migrate' v migrate one --dry-run
	denies 'virtctl migrate to a peer that is none' "'host-c' is no peer" \
		v migrate one --addedNodeSelector=kubernetes.io/hostname=host-c
	shows 'virtctl migrate' 'VM one was scheduled to migrate' v migrate one
	soon '… and it runs' same Running active
	denies '… a second time' "to move to 'host-b' already" v migrate one
	shows '… migrate-cancel' 'VM one was scheduled to migrate-cancel' v migrate-cancel one
	soon '… calls it off' same '' active
	denies '… once' 'no migration to cancel' v migrate-cancel one
else
	skipped 'virtctl migrate, migrate-cancel: there is none on PATH'
fi
holds 'without the policy' k delete migrationpolicy slow

move there one b >"$T/there.yaml"
shows 'another order is created' 'there created' k create -f "$T/there.yaml"
soon '… and is carried out' has_phase a there Succeeded
soon '… as the other host says, too' has_phase b there Succeeded
soon '… the guest runs there' runs_at b one
soon '… and is gone here' gone_from a one
soon '… and has that host on its label alone' same virtualmachineinstance.kubevirt.io/one at b get vmi -o name \
	-l 'kubevirt.io/nodeName=host-b,!kubevirt.io/migrationTargetNodeName'
show_the_same() { told_of a "$1" >"$T/log/told-a.txt" && told_of b "$1" >"$T/log/told-b.txt" && cmp "$T"/log/told-[ab].txt; }
soon '… both hosts show one and the same' show_the_same there
is '… with all phases' "$(move_at b there '.status.phaseTransitionTimestamps[*].phase')" "$PHASES"
is '… as its run does' "$(vmi_at b one .status.migrationState.migrationUid)" "$(move_at b there .metadata.uid)"
shows '… in KubeVirt.s columns' '^there  *Succeeded  *one' k get vmims
shows '… with its events' "SuccessfulMigration.*moved to 'host-b'" k describe vmim there
shows '… and for vmactl' '^there  *Succeeded  *one  *host-a  *host-b' at a get vmim -o wide
denies '… where it was it cannot be ordered any more' "it has moved to 'host-b'" k create --dry-run=server -f <(move again one b)
shows 'its fields are explained' 'addedNodeSelector' k explain vmim.spec

move back one a >"$T/new"
mv "$T/new" "$T/b/manifests/back.yaml"
soon 'a file orders it back' has_phase b back Succeeded
soon '… and it runs here again' runs_at a one
rm "$T/b/manifests/back.yaml"
soon '… without its file the record goes' lacks b vmim back
soon '… on that host' has_phase a back Succeeded
proxy_stop
