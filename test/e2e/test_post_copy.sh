#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A migration that takes too long: called off where the MigrationPolicy allows nothing else, and with post-copy where it
# does. The way breaks down while the memory follows, and is mended: the guest's counter goes on.
# environments: system
# takes: 75
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source-path=SCRIPTDIR source=guests.sh
. "$(dirname "$0")/guests.sh"

is_sending() { [ "$(domain_state b default_one)" = 'running (post-copy)' ]; }

hosts_begin
movers_begin 'progressTimeout: 600'
blank_disk "$T/disks/one.img"
cp "$T/img/guest.img" "$T/disks/root.img"
ROOT=$(shared_disk root) vm_at a one "$(shared_disk one)"

policy_at a patient one 'bandwidthPerMigration: 2Mi, completionTimeoutPerGiB: 2'
holds 'a guest is to move' migrate a one b
soon '… it is called off when time is up' host_agent_says a 'it took longer than completionTimeoutPerGiB'
is '… as the policy says' "$(vmi_at a one .status.migrationState.migrationPolicyName)" patient
is '… of which all is frozen' "$(vmi_at a one .status.migrationState.migrationConfiguration.bandwidthPerMigration)" 2097152
last=$(last_tick a one)
soon '… and goes on where it is' counts_at a one "$last"

policy_at a hasty one 'bandwidthPerMigration: 2Mi, completionTimeoutPerGiB: 1, allowPostCopy: true'
post_copy_allow && allowed=yes || allowed=
last=$(last_tick a one)
soon 'it is to move, with post-copy' migrate a one b # its last move may have to end yet
soon '… in a second attempt' host_agent_says a 'trying again with post-copy'
if [ -n "$allowed" ]; then
	soon '… it goes on there when it is released' host_agent_says b 'letting the guest go on while its memory comes'
	# Emulated interrupts are delivered under QEMU's lock: a guest that misses a page just then takes the monitor along.
	await 'it counts on there' counts_at b one "$last"
	await 'the rest of its memory is on its way' is_sending
	kill -KILL "$(relay_pid a)"
	soon '… the way breaks down' host_agent_says a 'the way broke down: asking for a new one'
	soon '… at both ends' host_agent_says b 'the way broke down: the guest waits'
	soon '… and is mended' host_agent_says b 'the way is mended'
	soon '… it runs there' runs_at b one
	soon '… and is gone here' gone_from a one
	last=$(last_tick b one)
	soon '… it counts on' counts_at b one "$last"
	holds '… without having begun anew' test "$(ticks_of b one | head -n 1)" -gt 1
	is '… once: its source has no domain' "$(virsh_on a list --all --name | tr -d '\n')" ''
	is '… and its target runs it' "$(domain_state b default_one | cut -d ' ' -f 1)" running
else
	echo '# post-copy itself is left out: this machine does not let QEMU use userfaultfd'
	soon '… which QEMU may not use here' host_agent_says a 'userfaultfd'
	last=$(last_tick a one)
	soon '… and goes on where it is' counts_at a one "$last"
fi
