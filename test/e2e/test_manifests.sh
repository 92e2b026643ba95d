#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The folder of manifests: what is bad, empty, gone or only touched does not harm what runs, and says so; what is changed
# changes just that.
# environments: embed
# takes: 20
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

picture() { echo "$(vm_uid web) $(get vm web .metadata.generation) $(vmi_uid web) $(qemu_pid web)"; }
rejected() # FILE PATTERN: an event about the file
{
	vmactl get events --no-headers \
		-o custom-columns=F:.involvedObject.name,R:.reason,M:.message | grep "^$1 *ManifestRejected" | grep -q -e "$2"
}

begin
vm web Always
running web
before=$(picture)

manifest web Always | sed -e 's/guest: 128Mi/guest: 128Mii/' | put web.yaml
line=$(grep -n 128Mii "$M/web.yaml" | cut -d : -f 1)
column=$(grep 128Mii "$M/web.yaml" | sed 's/128Mii.*//' | wc -c)
soon 'a bad value is reported with file, line and column' rejected web.yaml "web.yaml:$line:$column: "
is '… and what runs is untouched' "$(picture)" "$before"
message=$(vmactl validate "$M/web.yaml" 2>&1) && fail 'validate accepts a bad file'
case $message in
*"web.yaml:$line:$column: "*) ok 'vmactl validate says the same' ;;
*) fail "vmactl validate says '$message'" ;;
esac
condition=$(vmactl get vm web -o jsonpath='{.status.conditions[*].message}')
case $condition in
*"web.yaml:$line:$column"*) ok '… and so does a condition of the VM' ;;
*) fail "no condition tells: '$condition'" ;;
esac

printf 'kind: VirtualMachine\n  spec: [\n' | put broken.yaml
soon 'a file that is no YAML is reported' rejected broken.yaml 'broken.yaml:[0-9]*:[0-9]*: '
put web.yaml </dev/null
soon 'an empty file is reported' rejected web.yaml 'holds no object'
is '… and what runs is untouched' "$(picture)" "$before"
rm "$M/broken.yaml"

vm web Always
await 'the good file is taken' sh -c "! '$B/vmactl' get vm web -o jsonpath='{.status.conditions[*].message}' | grep -q web.yaml"
is 'the same content again changes nothing' "$(picture)" "$before"
cp "$M/web.yaml" "$M/.web.yaml.swp"
cp "$M/web.yaml" "$M/web.yaml~"
vm marker Halted
is 'droppings of editors are ignored' "$(vmactl get events -o custom-columns=F:.involvedObject.name | grep -c 'swp\|~')" 0

vm web Always memory=130Mi
soon 'a changed field is taken' same 130Mi get vm web .spec.template.spec.domain.memory.guest
is '… but not by the VMI that runs' "$(get vmi web .spec.domain.memory.guest) $(vmi_uid web)" \
	"128Mi $(cut -d ' ' -f 3 <<<"$before")"
holds 'stop is accepted' vmactl stop web --force --grace-period=0
holds '… and the VMI goes' vmactl wait vmi/web --for=delete --timeout="${PATIENCE}s"
vm web Always memory=132Mi
soon 'an edit of something else is taken' same 132Mi get vm web .spec.template.spec.domain.memory.guest
is '… and does not undo the stop' "$(strategy web)" Halted
vm web Manual memory=132Mi
soon 'an edit of the strategy does' same Manual strategy web

{ manifest two Halted; echo ---; manifest three Halted; } | put more.yaml
await 'a file may hold several' vmactl get vm two three
printf '{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":"four"},"spec":{"runStrategy":"Halted",
"template":{"spec":{"domain":{"memory":{"guest":"64Mi"},"devices":{}}}}}}\n' | put four.json
soon 'a file may be JSON' vmactl get vm four
printf 'apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: { name: bare }
spec: { terminationGracePeriodSeconds: 1, domain: { memory: { guest: 64Mi }, devices: {} } }\n' | put bare.yaml
running bare
ok 'a bare VMI runs'
bare=$(vmi_uid bare)

names='web marker two three four'
# shellcheck disable=SC2086
uids() { vmactl get vm $names -o jsonpath='{.items[*].metadata.uid}'; }
before=$(uids)
mkdir "$T/away"
mv "$M"/*.yaml "$M"/*.json "$T/away/"
soon 'the loss of most files is held' log_has 'are gone at once'
mv "$T/away"/* "$M/"
soon '… until they are back' log_has 'nothing is held any more'
is '… and nothing was deleted' "$(uids) $(vmi_uid bare)" "$before $bare"
mv "$M" "$T/elsewhere"
soon 'the loss of the folder is held' log_has 'cannot be read'
mv "$T/elsewhere" "$M"
soon '… until it is back' log_has 'nothing is held any more' 2
is '… and nothing was deleted' "$(uids) $(vmi_uid bare)" "$before $bare"

sed -i '/^---/,$d' "$M/more.yaml"
soon 'an object that leaves its file is deleted' no_vm three
holds '… and the other stays' vmactl get vm two
rm "$M/bare.yaml"
soon 'a bare VMI goes with its file' no_vmi bare
