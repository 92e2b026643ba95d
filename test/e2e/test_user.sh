#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An ordinary user can run the agent. The demo ends well without a question, and leaves neither process nor file, as
# root and as that user; with KEEP=1 it leaves them until it is told otherwise.
# environments: embed
# takes: 90
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# An ordinary user with a home; what he needs of this tree lies in the test's folder, for he may not see the tree.
become_user()
{
	AS=(env HOME="$T/home")
	[ "$(id -u)" != 0 ] || AS+=(setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups)
}

demo() # WHO
{
	local folder
	"${AS[@]}" env B="$B" NO_COLOR=1 timeout 300 bash "$T/b/demo" </dev/null >"$T/log/demo-$1.log" 2>&1
	is "the demo ends well as $1" $? 0
	holds '… having shown a guest that answers' grep -q 'hello from the guest$' "$T/log/demo-$1.log"
	folder=$(grep -o -m 1 '/tmp/vmd\.[[:alnum:]]*' "$T/log/demo-$1.log")
	isnt '… in a folder of its own' "$folder" ''
	holds '… which is gone' not test -e "$folder"
	soon '… and no process is left' not grep -q -a -F "$folder" /proc/[0-9]*/cmdline
}

# kept: the agent that KEEP=1 leaves answers, and the command that was printed ends it.
kept()
{
	local log=$T/log/kept.log folder
	"${AS[@]}" env B="$B" KEEP=1 NO_COLOR=1 timeout 300 bash "$T/b/demo" </dev/null >"$log" 2>&1
	is 'KEEP=1: the demo ends well' $? 0
	folder=$(grep -o -m 1 '/tmp/vmd\.[[:alnum:]]*' "$log")
	is '… its agent stays, and the machine' "$(VMAGENT_SOCKET=$folder/sock status demo)" Running
	holds '… until the printed command' "${AS[@]}" "$(grep -o -m 1 '/.*/demo-end$' "$log")"
	holds '… which removes its folder' not test -e "$folder"
	soon '… and leaves no process' not grep -q -a -F "$folder" /proc/[0-9]*/cmdline
}

mkdir -p "$T/home" "$T/log" "$T/b/guest" "$M" "$S"
cp "$B/vmagent" "$B/vmactl" "$(dirname "$0")/../../tools/demo" "$T/b/"
ln "$T/img/guest.img" "$T/b/guest/"
B=$T/b
[ "$(id -u)" != 0 ] || { demo root; chown -R nobody "$T"; }
become_user
demo user
kept

begin
vm web Always net
running web
up web
first=$(vmi_uid web)
is 'the agent is that user' "$(stat -c %U "/proc/$(qemu_pid web)")" "$("${AS[@]}" id -un)"
holds 'stop is accepted' vmactl stop web
soon 'the guest shuts down' told web "$first" 'phase Running -> Succeeded: the guest shut down'
soon 'the VMI goes' no_vmi web
holds 'start is accepted' vmactl start web
running web
isnt 'it runs anew' "$(vmi_uid web)" "$first"
rm "$M/web.yaml"
soon 'its file gone, it is deleted' no_vm web

# The same user's own libvirtd, which libvirt starts when it is asked for the first time.
agent_stop
mkdir -m 700 "$T/x"
[ "$(id -u)" != 0 ] || chown nobody "$T/x"
AS=("${AS[0]}" XDG_RUNTIME_DIR="$T/x" XDG_CONFIG_HOME="$T/x/config" XDG_CACHE_HOME="$T/x/cache" "${AS[@]:1}")
URI=qemu:///session
RUN=$T/x/libvirt/qemu/run
agent_start
vm own Always
running own
up own
first=$(vmi_uid own)
is 'qemu:///session: QEMU is that user' "$(stat -c %U "/proc/$(qemu_pid own)")" "$("${AS[@]}" id -un)"
holds 'qemu:///session: stop is accepted' vmactl stop own
soon 'qemu:///session: the guest shuts down' told own "$first" 'phase Running -> Succeeded: the guest shut down'
soon 'qemu:///session: the VMI goes' no_vmi own
agent_stop
for daemon in libvirtd virtlogd; do
	file=$T/x/libvirt/$daemon.pid
	[ ! -e "$file" ] || signal TERM "$(cat "$file")"
done
