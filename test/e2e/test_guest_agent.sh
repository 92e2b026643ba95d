#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The guest agent: it is seen, a soft-reboot and a stop go through it, and where it hangs it is in the way of neither the
# power button nor the kill; what was stopped is not started again, although its run has failed.
# environments: embed system
# takes: 90
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

connected() { vmactl get vmi "$1" -o jsonpath='{.status.conditions[?(@.type=="AgentConnected")].status}'; }
has_agent() { await "the agent of $1 is connected" same True connected "$1"; }

# tells NAME SUBRESOURCE PATTERN: what the guest says of itself.
tells()
{
	curl -s --unix-socket "$VMAGENT_SOCKET" \
		"http://host/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/$1/$2" | grep -q "$3"
}

# told_to NAME WORD PATTERN: the guest obeys the word.
told_to() { await "$1: $2" answers "$1" "$2" "$3"; }

begin
declare -A run
vm web Always agent
vm hung RerunOnFailure agent
vm dead RerunOnFailure agent grace=15
for name in web hung dead; do
	running "$name"
	up "$name"
	run[$name]=$(vmi_uid "$name")
done
for name in web hung dead; do
	soon "$name: condition AgentConnected" same True connected "$name"
done
is 'the VM shows it, too' "$(get vm web '.status.conditions[?(@.type=="AgentConnected")].status')" True
soon 'guestosinfo' tells web guestosinfo "\"kernelRelease\":\"[0-9]"
soon '… with the commands of the agent' tells web guestosinfo '"name":"guest-ping","enabled":true'
soon 'userlist' tells web userlist '"kind":"VirtualMachineInstanceGuestOSUserList".*"items":\['
soon 'filesystemlist' tells web filesystemlist '"kind":"VirtualMachineInstanceFileSystemList".*"items":\['

# hung: the agent is stopped, the button is heard.
told_to hung agent-hang '^agent hangs'
is 'an agent that hangs is still connected' "$(connected hung)" True
holds 'a stop with an agent that hangs' vmactl stop hung
# Which of the two is first depends on whether it hung before it had said what it can do: then its lane is taken.
soon '… asks for a shutdown' told hung "${run[hung]}" 'ShuttingDown.*\(asked the guest agent\|signalled the guest\)'
soon '… and ends by the button' told hung "${run[hung]}" 'phase Running -> Succeeded: the guest shut down'
holds '… without a kill' not told hung "${run[hung]}" Deleted
soon '… and the VMI goes' no_vmi hung

# dead: the agent is stopped, and the button is not heard.
told_to dead deaf '^deaf now'
told_to dead agent-hang '^agent hangs'
holds 'a stop of a guest that hears nothing' vmactl stop dead
soon '… reaches its button all the same' says dead '^button ignored'
holds '… while it lives and can be looked at' test "$(phase dead)" = Running
soon '… and kills it when its grace is over' told dead "${run[dead]}" \
	'phase Running -> Failed: killed when its grace period was over'
holds '… after the agent was asked' log_has 'default/dead: asked the guest agent'
soon '… and the VMI goes' no_vmi dead

# web: a soft-reboot by the agent, then a stop of a guest that hears nothing else.
holds 'soft-reboot is accepted' vmactl soft-reboot web
soon '… and done by the agent' says web '^agent reboots'
soon '… in the same run' says web '^guest up' 2
is '… which goes on' "$(vmi_uid web) $(phase web)" "${run[web]} Running"
await 'the agent is started again' says web '^agent started' 2
has_agent web
told_to web deaf '^deaf now'
holds 'a stop of a guest that only its agent reaches' vmactl stop web
soon '… ends gracefully' told web "${run[web]}" 'phase Running -> Succeeded: the guest shut down'
holds '… without a kill' not told web "${run[web]}" Deleted
soon '… and the VMI goes' no_vmi web

for name in web hung dead; do
	is "$name: stopped, and not started again" \
		"$(status "$name") $(story "$name" | grep -c SuccessfulCreate)" 'Stopped 1'
done
