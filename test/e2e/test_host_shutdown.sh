#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The host goes down: guests are stopped in the reverse of their start order, each run says why it ended, nothing is
# started any more, not by a restarted agent either; called off, the strategies go on.
# environments: embed system
# takes: 50
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

declare -A run
first() { grep -n -m1 -e "$1" "$LOG" | cut -d : -f 1; } # the number of the first log line with PATTERN
ended() { echo "$(phase "$1") $(get vmi "$1" .status.reason)"; }

begin
vm database RerunOnFailure order=1
vm application Always order=2
vm any Manual
vmactl start any >"$T/log/start.txt"
for name in database application any; do
	running $name
	up $name
	run[$name]=$(vmi_uid $name)
done

is 'a system that does not stop leaves guests alone' "$(vmactl host-shutdown --if-system-stops)" \
	'the system is not going down: guests are left alone'
is '… and all still run' "$(phase database) $(phase application) $(phase any)" 'Running Running Running'

holds 'the host goes down' eval 'vmactl host-shutdown --wait --timeout="${PATIENCE}s" >"$T/log/shutdown.txt"'
is 'it waits for the last guest' "$(tail -n 1 "$T/log/shutdown.txt")" 'no guest is running'
is '… and shows how many are left' "$(head -n 1 "$T/log/shutdown.txt")" \
	'3 guests are still running: default/database default/application default/any'
for name in database application any; do
	is "$name has shut itself down" "$(ended $name)" 'Succeeded HostShutdown'
	holds '… the event says who wanted it' told $name "${run[$name]}" 'HostShutdown *the host goes down'
	is '… and it is shown as Stopped' "$(status $name)" Stopped
done
holds 'a higher order ends before a lower one is told' test \
	"$(first 'application: phase Running -> Succeeded')" -lt "$(first 'database: the host goes down')"
holds 'who has no order is first' test \
	"$(first 'any: phase Running -> Succeeded')" -lt "$(first 'application: the host goes down')"

holds 'a start is refused' eval '! vmactl start any 2>"$T/refused" && grep -q "Conflict.*the host goes down" "$T/refused"'
vm late Always
agent_kill
agent_start
is 'a restarted agent starts nothing either' "$(status application) $(status late) $(vmi_uid application)" \
	"Stopped Stopped ${run[application]}"

holds 'it is called off' vmactl host-shutdown --cancel
soon 'Always runs again' other "${run[application]}" vmi_uid application
soon 'what was created meanwhile is started' same Running phase late
is 'RerunOnFailure does not' "$(status database)" Stopped
is 'Manual does not' "$(status any)" Stopped
holds 'all can be deleted' vmactl delete vm --all --grace-period=0 --timeout="${PATIENCE}s"
