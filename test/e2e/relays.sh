# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# relays.sh: a migration through relays, as the agents will do it, for tests that have sourced hosts.sh.

MIGRATION=5e1f0000-0000-4000-8000-000000000001
TOKEN=00112233445566778899aabbccddeeff
MIG=/run/vmagent/mig/$MIGRATION # the same on both hosts, as libvirt wants it

# The XML of a text in a JSON string.
json_text() { sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' | awk '{ printf "%s\\n", $0 }'; }

# relay_start HOST source|target XML-FILE [JSON-FIELD...]; fields override what is said here.
relay_start() { relay_start_as "$MIGRATION" "$@"; }

# relay_start_as FOLDER HOST source|target XML-FILE [JSON-FIELD...]
relay_start_as()
{
	local folder=${MIG%/*}/$1 host=$2 peer json field
	peer=$(peer_of "$host")
	json="\"id\": \"$MIGRATION\", \"token\": \"$TOKEN\", \"peer\": \"host-$peer\",
		\"address\": \"${HOST_ADDRESS[$peer]}\", \"source\": $([ "$3" = source ] && echo true || echo false),
		\"ca\": \"$T/$host/pki/cacert.pem\", \"cert\": \"$T/$host/pki/nodecert.pem\",
		\"key\": \"$T/$host/pki/nodekey.pem\", \"libvirt\": \"/run/libvirt/libvirt-sock\",
		\"user\": \"libvirt-qemu\", \"xml\": \"$(json_text <"$4")\""
	for field in "${@:5}"; do
		json=$(grep -v -F "${field%%:*}:" <<<"${json//, /,$'\n'}")
		json+=", $field"
	done
	on "$host" mkdir -p /run/vmagent/mig
	rm -f "$T/$host/ready-relay"
	echo "{ $json }" | become "$host" "$B/vmagent" migrate-relay "$folder" >"$T/$host/ready-relay" \
		2>>"$T/log/relay-$host.log" &
	RELAY[$1-$host]=$!
	await "the relay of $host is ready" grep -q ready "$T/$host/ready-relay"
}

ask_relay() { on "$1" "$B/vmagent" migrate-relay "$MIG" "${@:2}"; }                    # HOST VERB [WORD]
relay_field() { ask_relay "$1" status | sed -n "s/^$2=//p"; }                          # HOST KEY
relay_says() { grep -q -e "$2" "$T/log/relay-$1.log"; }                                # HOST PATTERN
relay_end()
{
	local pid=${RELAY[$MIGRATION-$1]}
	unset "RELAY[$MIGRATION-$1]"
	ask_relay "$1" end >/dev/null
	await "the relay of $1 ends" not alive "$pid"
}

# move_guest FROM TO NAME DESTINATION-XML [FLAG...]: by the source's libvirtd, through the relays.
move_guest()
{
	on "$1" timeout "$PATIENCE" virsh -q -c qemu:///system migrate --live --p2p --persistent --unsafe --xml "$4" --persistent-xml "$4" "${@:5}" "$3" \
		"qemu+unix:///system?socket=$MIG/rpc" "unix://$MIG/qemu/data"
}
COPY=(--copy-storage-all --disks-uri "unix://$MIG/qemu/disks")
