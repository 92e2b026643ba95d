#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What reaches into a guest that runs: folders of the host that it mounts, passwords and keys that its agent is told.
# environments: system
# takes: 40
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

begin
put objects.yaml <<-'YAML'
	apiVersion: v1
	kind: ConfigMap
	metadata: { name: settings }
	data: { color: blue }
	---
	apiVersion: v1
	kind: Secret
	metadata: { name: keys }
	stringData: { token: hush }
	---
	apiVersion: v1
	kind: Secret
	metadata: { name: passwords }
	stringData: { admin: first }
	---
	apiVersion: v1
	kind: PersistentVolumeClaim
	metadata: { name: common }
	spec: { accessModes: [ ReadWriteOnce ], resources: { requests: { storage: 16Mi } } }
YAML
manifest web Always agent |
	sed -e 's/^        devices:/&\n          filesystems:\n          - { name: settings, virtiofs: {} }\n          - { name: keys, virtiofs: {} }\n          - { name: common, virtiofs: {} }/' \
		-e '/^      volumes/r /dev/fd/3' \
		-e 's/^      volumes: \[ /&{ name: settings, configMap: { name: settings } }, { name: keys, secret: { secretName: keys } }, { name: common, persistentVolumeClaim: { claimName: common } }, /' 3<<-'YAML' |
	      accessCredentials:
	      - userPassword: { source: { secret: { secretName: passwords } }, propagationMethod: { qemuGuestAgent: {} } }
	      - sshPublicKey:
	          source: { secret: { secretName: keys } }
	          propagationMethod: { qemuGuestAgent: { users: [ root, admin ] } }
	YAML
	put web.yaml
await 'VM web is known' vmactl get vm web
running web
up web

# The guest's module for it is loaded after it is up.
soon 'the guest mounts a ConfigMap' answers web 'folder settings' '^folder settings color=blue'
soon '… and a Secret' answers web 'folder keys' '^folder keys token=hush'
soon '… and a claim, to which it writes' answers web 'folder common a.txt from-the-guest' '^folder common a.txt=from-the-guest'
is '… what the host reads' "$(cat "$S/pvc/default/common/files/a.txt")" from-the-guest
echo from-the-host >"$S/pvc/default/common/files/b.txt"
soon '… and the other way round' answers web 'folder common' '^folder common b.txt=from-the-host'
is 'nobody else gets to them on the host' "$(stat -c %a "$S/vmi/$(vmi_uid web)/folders")" 700

# Its agent is told of passwords and keys.
soon "the agent's guest has its password" says web "^password of admin is 'first'"
soon '… and its keys' answers web 'keys admin' '^keys admin hush'
synchronized() { get vmi web '.status.conditions[?(@.type=="AccessCredentialsSynchronized")].status'; }
soon '… which a condition says' same True synchronized
sed 's/admin: first/admin: second/; s/token: hush/token: other/' "$M/objects.yaml" | put objects.yaml
soon 'a Secret that changes is told again' says web "^password of admin is 'second'"
soon '… with its keys' answers web 'keys root' '^keys root other'
sed 's/admin: second/stranger: third/' "$M/objects.yaml" | put objects.yaml
soon 'of a user that the guest does not know the condition is False' same False synchronized
soon '… and an event says why' told web "$(vmi_uid web)" 'AccessCredentialsSyncFailed.*stranger'
is '… but not which password' "$(story web | grep -c third)" 0

run=$(vmi_uid web)
holds 'it stops' vmactl stop web
soon '… as every guest' told web "$run" 'phase Running -> Succeeded'
soon '… and the VMI goes' no_vmi web
await 'the folders of the run are gone' not test -e "$S/vmi/$run"
is 'what is in the claim stays' "$(cat "$S/pvc/default/common/files/a.txt")" from-the-guest
