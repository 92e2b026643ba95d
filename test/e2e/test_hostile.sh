#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Clients that are slow or mean no good, a thousand at a time: whoever else asks is served, and afterwards nothing is left
# of them. As root also as another user, who takes all the connections that there are.
# environments: test
# takes: 90
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

MACHINES=300
RO=$T/sock-ro

fds() { find "/proc/$AGENT/fd" -mindepth 1 | wc -l; }
no_more_than() { [ "$(fds)" -le "$1" ]; } # NUMBER
# How many there are when all that is open for a moment is closed again: for a second the same.
settled()
{
	local n=0 now was=''
	while [ $n -lt 10 ]; do
		now=$(fds)
		n=$((now == was ? n + 1 : 0)) was=$now
		sleep 0.1
	done
	echo "$was"
}
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$AGENT/status"; }
known() { vmactl get vm -o name | wc -l; }

manifests() # many in one file, so that a list of them is more than a socket holds
{
	local i
	for ((i = 0; i < MACHINES; i++)); do
		echo ---
		manifest "m$i" Halted
	done
}

# besiege SOCKET HOW COUNT [AS...]: in the background; $inside is how many were let in.
besiege()
{
	local socket=$1 how=$2 count=$3
	shift 3
	rm -f "$T/hold"
	mkfifo "$T/hold"
	: >"$T/inside"
	"$@" "$B/hostile" "$socket" "$how" "$count" <"$T/hold" >"$T/inside" &
	besieger=$!
	exec 9>"$T/hold"
	await "$how: they are there" test -s "$T/inside"
	inside=$(<"$T/inside")
}

relieve()
{
	exec 9>&-
	wait "$besieger"
	await "nothing is left of them" no_more_than "$before"
}

siege() # HOW COUNT
{
	besiege "$VMAGENT_SOCKET" "$1" "$2"
	echo "# $1: $inside of $2 are in, $(fds) descriptors, $(rss) kB"
	[ "$1" = flood ] || [ "$inside" -gt 0 ] || fail "$1: none was let in"
	is "$1: a list is answered in full" "$(known)" "$MACHINES"
	holds "$1: an order is carried out" vmactl start m0
	await 'm0 runs' same Running phase m0
	holds "$1: … and another" vmactl stop m0 --force --grace-period=0
	await 'm0 has stopped' not vmactl get vmi m0
	relieve
}

begin
[ -x "$B/hostile" ] || fail 'there is no hostile client: make build/test/hostile'
manifests | put many.yaml
await 'all machines are known' same "$MACHINES" known
vmactl start m0 >/dev/null && await 'm0 runs' same Running phase m0 # what is opened once, is open
vmactl stop m0 --force --grace-period=0 >/dev/null && await 'm0 has stopped' not vmactl get vmi m0
before=$(settled)

for round in 1 2; do
	for how in silent drip deaf watch deafwatch flood; do
		siege $how 1000
	done
	size[round]=$(rss)
	echo "# round $round: ${size[round]} kB"
done
[ "${size[2]}" -le $((size[1] * 5 / 4)) ] || fail "memory grows: ${size[1]} kB after one round, ${size[2]} after two"
ok 'descriptors and memory are what they were'

besiege "$RO" silent 1000
[ "$inside" -le 128 ] || fail "$inside are let in by the socket for monitoring"
ok 'the socket for monitoring takes few'
is 'the other one has room' "$(known)" "$MACHINES"
relieve

besiege "$VMAGENT_SOCKET" silent 3000
[ "$inside" -le 1280 ] || fail "$inside of one user are let in"
holds 'one user has a share, and is told so' sh -c "'$B/vmactl' get vm 2>&1 | grep -q 'connections open, which is the limit'"
relieve
is '… until they have left' "$(known)" "$MACHINES"

if [ "$(id -u)" = 0 ]; then
	chmod 711 "$T"
	chmod 666 "$VMAGENT_SOCKET"
	besiege "$VMAGENT_SOCKET" deafwatch 3000 setpriv --reuid nobody --clear-groups
	is 'another user does not lock root out' "$(known)" "$MACHINES"
	relieve
fi
