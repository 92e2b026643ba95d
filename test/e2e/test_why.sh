#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# environments: embed system
# takes: 45
# Why a machine is as it is: `vmactl explain` tells an end by the guest from one that was asked for, from a panic and from
# a QEMU that was killed; and a start that QEMU refuses is told in QEMU's own words.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

explains() { vmactl explain "$1" | grep -q -e "$2"; }    # NAME PATTERN: some line of it
because() { vmactl explain "$1" | head -n 1 | grep -q -e "$2"; } # … the first one
words() { vmactl explain "$1" | grep -c '^QEMU:'; }
me=$(id -u)

begin

# A kernel that is none: the files are there, so only QEMU can find out.
mkdir "$T/boot"
head -c 100 /dev/zero >"$T/boot/no-kernel"
chmod -R a+rX "$T/boot"
manifest broken Always | sed "s|^    *domain:|&\n        firmware: { kernelBoot: { container: { image: \"file://$T/boot\", kernelPath: /no-kernel } } }|" |
	put broken.yaml
for name in ended killed panicked; do
	vm $name Manual panic
	holds "$name: start is accepted" vmactl start $name
done

soon 'a start that QEMU refuses: its own words' explains broken '^QEMU:.*kernel'
holds '… and that it is tried again' because broken 'broken is \(Starting\|CrashLoopBackOff\): .*start'
is '… as an event with a number' "$(vmactl events --for=vm/broken --no-headers | grep -c QEMUOutput)" 1
holds '… with its type and its source' grep -q '^Warning vmagent [^ ]* QEMU wrote:.*kernel' <<<"$(vmactl get events \
	-o 'jsonpath={range .items[?(@.reason=="QEMUOutput")]}{.type} {.source.component} {.source.host} {.message}{end}' |
	tr '\n' ' ')"
holds 'a VM that is deleted' vmactl delete vm broken --grace-period=0
holds '… is explained by what is left of it' because broken "broken is gone: user $me asked for 'delete'"
holds '… with QEMU'\''s words' vmactl events --for=vm/broken

for name in ended killed panicked; do
	running $name
done
kill -9 "$(qemu_pid killed)"
soon 'kill -9 of QEMU: the cause' because killed 'killed is Stopped: QEMU ended without a shutdown'
holds '… with what libvirt says, and whose doing it was' explains killed '(libvirt: Shutoff/Crashed) (host)'

up panicked
type_in panicked panic &
up ended
type_in ended poweroff
soon 'a guest that powers off: the cause' because ended 'ended is Stopped: the guest powered itself off'
holds '… with what libvirt says, and whose doing it was' explains ended '(libvirt: Shutoff/Shutdown) (guest)'
is '… and nothing of QEMU' "$(words ended)" 0
soon 'a panic: the cause' because panicked 'panicked is Stopped: the guest panicked'
is '… and nothing of QEMU' "$(words panicked)" 0

holds 'start is accepted' vmactl start ended
running ended
up ended
is 'a guest that runs' "$(vmactl explain ended | head -n 1 | cut -d , -f 1)" 'default/ended is Running: its guest runs'
holds 'stop is accepted' vmactl stop ended
soon 'the guest shuts down' same Stopped status ended
holds 'a stop: whose it was' because ended "user $me asked for 'stop'"
holds '… and the end, when asked to' explains ended 'the guest shut down when asked to (libvirt: Shutoff/Shutdown) (guest)'
is '… and nothing of QEMU' "$(words ended)" 0
is 'as JSON' "$(vmactl explain vm/ended -o 'jsonpath={.status} {.todo}')" 'Stopped vmactl start ended'
is 'no such VM' "$(vmactl explain nothing 2>&1)" "error: there is no VM 'default/nothing', and no event tells of one"
agent_stop
is 'no agent' "$(vmactl explain ended 2>&1 | cut -d : -f 1-2)" "error: cannot reach the agent at '$VMAGENT_SOCKET'"
