#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the agent refuses, and in which words: Kubernetes' status codes and reasons through vmactl, and through curl where
# there is one.
# environments: embed
# takes: 15
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# refused WHAT CODE WORDS COMMAND...: the exit code, and the beginning of the message.
refused()
{
	local what=$1 code=$2 words=$3 message status
	shift 3
	message=$("$@" 2>&1)
	status=$?
	[ $status = "$code" ] || fail "$what: exit code $status, not $code: $message"
	case $message in
	"$words"*) ok "$what" ;;
	*) fail "$what: '$message' does not begin with '$words'" ;;
	esac
}

begin
vm always Always
vm halted Halted
vm once Once
vm manual Manual
running always
running once

refused 'start under Always is refused'    1 'Error from server (Conflict)' vmactl start always
refused 'start under Once is refused'      1 'Error from server (Conflict)' vmactl start once
refused 'restart under Once is refused'    1 'Error from server (Conflict)' vmactl restart once
refused 'stop of a Halted VM is refused'   1 'Error from server (Conflict)' vmactl stop halted
refused 'stop of a Manual VM that does not run is refused' 1 'Error from server (Conflict)' vmactl stop manual
refused 'restart of a Halted VM is refused' 1 'Error from server (Conflict)' vmactl restart halted
refused 'a VM that is not there is NotFound' 1 'Error from server (NotFound)' vmactl start nobody
refused '… also for get'                   1 'Error from server (NotFound)' vmactl get vm nobody
refused 'a second VM of a name is refused' 1 'Error from server (AlreadyExists)' \
	vmactl -n default create -f "$M/halted.yaml"
refused 'an unknown command is a usage error' 2 "error: unknown command 'frobnicate'" vmactl frobnicate
refused 'no agent is exit code 3'          3 '' vmactl --socket "$T/none" get vm
is 'a refusal is an event, too' "$(story always | grep -c 'Refused.*start refused')" 1
is 'nothing came of any of it' "$(status always) $(status once) $(status halted) $(status manual)" \
	'Running Running Stopped Stopped'

first=$(vmi_uid always)
holds 'restart is accepted' vmactl restart always --force --grace-period=0
await 'restart makes a new VMI' other "$first" vmi_uid always
running always
ok 'restart makes a new VMI'
holds 'apply makes a VM' sh -c "sed 's/name: halted/name: applied/' '$M/halted.yaml' | '$B/vmactl' apply -f -"
is '… which is there' "$(status applied)" Stopped
holds 'delete removes it' vmactl delete vm applied --timeout="${PATIENCE}s"

API=http://localhost/apis/kubevirt.io/v1/namespaces/default
SUB=http://localhost/apis/subresources.kubevirt.io/v1/namespaces/default
call() { curl -s -o "$T/answer" -w '%{http_code}' --unix-socket "$VMAGENT_SOCKET" "$@"; }
is 'curl: a list'           "$(call "$API/virtualmachines")" 200
is 'curl: one that is not there' "$(call "$API/virtualmachines/nobody")" 404
is 'curl: a refused verb'   "$(call -X PUT "$SUB/virtualmachines/always/start")" 409
holds '… with its reason'   grep -q '"reason":"Conflict"' "$T/answer"
is 'curl: a body that is no JSON' "$(call -X POST -H 'Content-Type: application/json' -d '{' "$API/virtualmachines")" 400
is 'curl: a VM without a spec' "$(call -X POST -H 'Content-Type: application/json' \
	-d '{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":"x"}}' "$API/virtualmachines")" 422
is 'curl: a verb'           "$(call -X PUT "$SUB/virtualmachines/always/stop")" 202
