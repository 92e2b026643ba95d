#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every verb once in its good case, on a real guest, and once refused: what is refused, or only tried (--dry-run=server), has
# changed nothing. A VM deleted without its guest, and one that adopts it.
# environments: embed system
# takes: 60
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

picture() { vmactl get vm,vmi -o json | grep -v '"resourceVersion"'; }

# leaves PICTURE WHAT: all is as it was.
leaves()
{
	local now
	now=$(picture)
	[ "$now" = "$1" ] || fail "$2 changed something: $(diff <(echo "$1") <(echo "$now"))"
	ok "$2"
}

# refused REASON COMMAND...
refused()
{
	local before words
	before=$(picture)
	! words=$(vmactl "${@:2}" 2>&1) || fail "${*:2} is not refused"
	[[ $words == *"($1)"* ]] || fail "${*:2}: $words"
	leaves "$before" "${*:2} is refused: $1"
}

# tried COMMAND...
tried()
{
	local before
	before=$(picture)
	vmactl "$@" --dry-run=server >/dev/null || fail "$* is refused"
	leaves "$before" "$* is only tried"
}

does() { holds "$*" vmactl "$@"; }
owner() { get vmi "$1" '.metadata.ownerReferences[0].uid'; }
run_of() { echo "$(vmi_uid "$1") $(phase "$1") $(qemu_pid "$1")"; }

begin
vm web Always
vm job Manual
vm deaf Always deaf grace=1
vm cold Halted
vm idle Manual
does start job
does start cold --paused
running web
running job
running deaf
await 'cold is paused' same Paused status cold
up web
up job
first=$(vmi_uid job)
uuid=$(get vmi web .spec.domain.firmware.uuid)

# A run under Always, one that is paused, and none at all.
refused Conflict start web
refused Conflict stop idle
refused Conflict restart idle
refused BadRequest restart web --force --grace-period=5
refused Conflict pause cold
refused NotFound pause idle
refused Conflict unpause web
refused Conflict soft-reboot cold
refused NotFound reset idle
refused NotFound delete vm nobody
refused AlreadyExists create -f "$M/web.yaml"
tried start idle
tried stop web
tried restart web
tried pause web
tried unpause cold
tried reset web
tried delete vm web --cascade=orphan

# Without a limit nothing is forced, although its own grace is a second.
deaf=$(run_of deaf)
does stop deaf --grace-period=infinity
does soft-reboot web
does reset job
does unpause cold
soon 'a guest that was asked to reboot is up again' says web '^guest up' 2
soon 'a guest that was reset is up again' says job '^guest up' 2
soon 'a guest that was started paused is up' says cold '^guest up'
is '… while a deaf one is let be' "$(status deaf) $(run_of deaf)" "Stopping $deaf"
refused Conflict stop deaf
does stop deaf --force --grace-period=0
does pause web
soon 'web is paused' same Paused status web
does unpause web
soon 'web goes on' same Running status web
does restart job
does stop cold
await 'a restart makes another run' other "$first" vmi_uid job
running job
holds '… of a guest that was shut down' told job "$first" 'phase Running -> Succeeded: the guest shut down'

# The guest does not notice that its VM goes.
run=$(run_of web)
does delete vm web --cascade=orphan --timeout="${PATIENCE}s"
holds 'the VM is gone' no_vm web
is 'its guest runs on and is nobody'"'"'s' "$(run_of web) $(owner web)" "$run "
agent_kill
agent_start
is '… whoever is killed' "$(run_of web) $(owner web)" "$run "
soon '… and answers' answers web 'echo still here' '^still here$'
holds 'a VM of that name is made' sh -c "'$B/vmactl' apply -f '$M/web.yaml'"
is '… and adopts it' "$(run_of web) $(owner web)" "$run $(vm_uid web)"
is '… with nothing to wait for' "$(get vm web .status.observedGeneration)" "$(get vm web .metadata.generation)"
holds '… as the events tell' told web "${run%% *}" 'Adopted'
does restart web
await 'web runs anew' other "${run%% *}" vmi_uid web
running web
soon 'the next run is the same machine to the guest' answers web info "info uuid=${uuid,,}"

is 'what was stopped is stopped' "$(status cold) $(status deaf) $(status idle)" 'Stopped Stopped Stopped'
does delete vm --all --force --timeout="${PATIENCE}s"
is 'no run is left' "$(ls "$S/vmi")" ''
