#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The golden domains and networks of test/unit pass libvirt's own validation: its schema, and what its QEMU driver says
# of this host and this QEMU. What a host like this cannot have is listed by name, with libvirt's words.
# environments: system
# takes: 15
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

GOLDEN=test/unit/golden
NO_KVM="does not support virt type 'kvm'"

lv() { virsh -q -c "$URI" "$@"; }

# as_started FILE: what goes to libvirt. The format of a backing image is found out at the start (io/virt_xml.h).
as_started() { sed 's|^\( *\)<source file="[^"]*\.base"/>|\1<format type="raw"/>\n&|' "$1"; }

# judge define|net-define FILE: nothing, or why libvirt does not take it.
judge()
{
	local name out why
	name=$(sed -n '0,/<name>/s/.*<name>\(.*\)<.name>.*/\1/p' "$2")
	if ! out=$(lv "$1" --validate "$2" 2>&1); then
		why=$(sed -n 's/^error: //p' <<<"$out" | grep -v '^Failed to define')
		echo "${why:-$out}"
	fi
	case $1 in
	define) lv undefine --keep-nvram --keep-tpm "$name" ;;
	*)      lv net-undefine "$name" ;;
	esac >/dev/null 2>&1
}

# Where the host has no KVM, as QEMU emulates it: all else of it is judged.
judge_domain()
{
	local why
	as_started "$1" >"$T/domain.xml"
	why=$(judge define "$T/domain.xml")
	if [[ $why == *"$NO_KVM"* ]]; then
		sed -i 's/^\(<domain .*\)type="kvm"/\1type="qemu"/' "$T/domain.xml"
		why=$(judge define "$T/domain.xml")
	fi
	echo "$why"
}

# expect FILE WHY: taken, or refused in the words of the table.
expect()
{
	local words
	words=$(sed -n "s|^$1  *||p" "$GOLDEN/refused")
	if [ -z "$2" ]; then
		ok "libvirt takes $1"
	elif [ -n "$words" ] && [[ $2 == *"$words"* ]]; then
		ok "libvirt refuses $1: $words"
	else
		fail "libvirt refuses $1: $2"
	fi
}

set_up
for file in "$GOLDEN"/*.xml "$GOLDEN"/manifests/*.xml; do
	expect "${file#"$GOLDEN"/}" "$(judge_domain "$file")"
done
for file in "$GOLDEN"/networks/*.xml; do
	expect "${file#"$GOLDEN"/}" "$(judge net-define "$file")"
done
for file in $(sed '/^#/d; s/ .*//' "$GOLDEN/refused"); do
	holds "the table's $file is there" [ -e "$GOLDEN/$file" ]
done
