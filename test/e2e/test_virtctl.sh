#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real virtctl through `vmactl proxy`, if there is one on PATH: its verbs, its streams, the manifests that it writes, and
# what it is refused. What it sends is tried without it in test/io/test_api_virtctl.c.
# environments: embed
# takes: 45
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=kubectl.sh
. "$(dirname "$0")/kubectl.sh"

KIND=virtctl
VIRTCTL=$(command -v virtctl)
PORT_OF_VNC=$(free_ports 1)

v() { HOME=$T KUBECONFIG=/dev/null "$VIRTCTL" --server "$SERVER" "$@" 2>&1; }

# On a terminal: without one it has no console.
types() # WORDS PATTERN
{
	v_console=$(printf '%q ' env "HOME=$T" KUBECONFIG=/dev/null "$VIRTCTL" --server "$SERVER" console web)
	(printf '\r%s\r' "$1"; sleep 2; printf '\035') |
		timeout 30 script -qec "$v_console" /dev/null | tr -d '\r' | grep -a -q -e "$2"
}

lifecycle()
{
	denies 'stop of what does not run' "virtual machine 'default/web' is not running" v stop web
	shows  'start --dry-run'    'VM web was scheduled to start' v start web --dry-run
	is     '… starts nothing'   "$(status web)" Stopped
	shows  'start --paused'     'VM web was scheduled to start' v start web --paused
	soon   '… it is paused'     same Paused status web
	denies 'start, again'       'is already running' v start web
	shows  'unpause vm'         'VMI web was scheduled to unpause' v unpause vm web
	up web
	shows  'pause vmi'          'VMI web was scheduled to pause' v pause vmi web
	soon   '… it is paused'     same Paused status web
	denies 'pause, again'       'is already paused' v pause vm web
	shows  'unpause vmi'        'VMI web was scheduled to unpause' v unpause vmi web
	denies 'restart --grace-period=5 --force' 'only 0 is' v restart web --grace-period=5 --force
	denies 'migrate where it is not enabled' 'live migration is not enabled' v migrate web
	denies 'migrate-cancel of none' 'no migration to cancel' v migrate-cancel web
}

streams()
{
	soon   'console'            types 'echo by virtctl' '^by virtctl'
	shows  'vnc screenshot'     '' v vnc screenshot web -f "$T/web.png"
	is     '… is a picture'     "$(head -c 4 "$T/web.png" | tail -c 3)" PNG
	v vnc web --proxy-only --port="$PORT_OF_VNC" >"$T/log/vnc.txt" &
	local vnc=$!
	await  'vnc --proxy-only listens' grep -q "\"port\":$PORT_OF_VNC" "$T/log/vnc.txt"
	is     'virtctl: vnc --proxy-only' "$(head -c 3 <"/dev/tcp/127.0.0.1/$PORT_OF_VNC")" RFB
	{ wait $vnc; } 2>/dev/null
	denies 'port-forward of what does not listen' 'nothing listens on port 22' v port-forward --stdio vmi/web 22
}

told_of_the_guest()
{
	soon   'guestosinfo'        lists guestosinfo '"guestAgentVersion"'
	shows  'userlist'           '"items"' v userlist web
	shows  'fslist'             '"items"' v fslist web
}
lists() { v "$1" web | grep -q "$2"; }

# What it writes is taken as it is.
manifests()
{
	v create vm --name=made --memory=128Mi --run-strategy=Manual "--volume-containerdisk=src:file://$T/img/guest.img" \
		--volume-import=type:blank,size:16Mi,name:data --user=root --ssh-key='ssh-rsa x' >"$M/made.yaml"
	soon   'create vm'          same Stopped status made
	v create instancetype --name=small --cpu=1 --memory=128Mi >"$M/small.yaml"
	v create preference --name=plain --machine-type=q35 >"$M/plain.yaml"
	v create vm --name=typed --instancetype=small --preference=plain --run-strategy=Halted \
		"--volume-containerdisk=src:file://$T/img/guest.img" >"$M/typed.yaml"
	soon   'create instancetype, preference' same Stopped status typed
	shows  'expand'             'guest: 128Mi' v expand --vm typed
	shows  'credentials add-ssh-key' '' v credentials add-ssh-key --create-secret --user root --value 'ssh-rsa y' typed
	shows  '… another one'      '' v credentials add-ssh-key --user root --value 'ssh-rsa z' typed
	isnt   '… the VM has it'    "$(get vm typed '.spec.template.spec.accessCredentials[0].sshPublicKey.source.secret.secretName')" ''
}

refused()
{
	denies 'addvolume'          'edit its volumes and restart it' v addvolume web --volume-name=data
	denies 'removevolume'       'edit its volumes and restart it' v removevolume web --volume-name=data
	denies 'image-upload pvc'   'uploads are not built' v image-upload pvc up --size=1Mi --image-path="$T/web.png"
	denies 'image-upload dv'    "use source.registry" v image-upload dv up --size=1Mi --image-path="$T/web.png"
	denies 'expose'             'vmagent.io/host-ports' v expose vm web --name web --port 22
	denies 'memory-dump'        'virsh dump' v memory-dump get web --claim-name=data
	denies 'vmexport'           'exports are not built' v vmexport create web --vm=web
	denies 'evacuate-cancel'    'no evacuation to cancel' v evacuate-cancel vm web
}

ends()
{
	local run
	run=$(vmi_uid web)
	shows  'restart'            'VM web was scheduled to restart' v restart web
	soon   '… another run'      other "$run" vmi_uid web
	running web
	shows  'soft-reboot'        'VMI web was scheduled to soft-reboot' v soft-reboot web
	shows  'stop --force'       'VM web was scheduled to stop' v stop web --force --grace-period=0
	soon   '… it is stopped'    same Stopped status web
	await  'its run is gone'    no_vmi web
	denies 'pause of what does not run' 'it was not found' v pause vm web
	denies 'console of what does not run' 'not found' v console web
}

[ -n "$VIRTCTL" ] || {
	skipped 'all of it: there is no virtctl on PATH'
	exit 0
}
begin
proxy_start
shows 'version' 'GitVersion:"v1.9.0+vmagent-' v version
vm web Manual agent net
lifecycle
told_of_the_guest
streams
manifests
refused
ends
proxy_stop
