# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# churn.sh: an agent under churn for some time, and whether it grows: descriptors, threads, memory, database. What is compared
# is the last third of the samples with the middle one; the first is for getting warm, and for the windows of events and
# changes to fill. test/e2e runs it for a minute, test/long for ten.

WINDOWS=40960 # kB that ten thousand events and as many changes may take; a slow machine never fills them in a minute

sample() # one line: descriptors, threads, memory in kB, database in kB
{
	local fds threads rss database
	fds=$(find "/proc/$AGENT/fd" -mindepth 1 | wc -l)
	threads=$(find "/proc/$AGENT/task" -mindepth 1 -maxdepth 1 | wc -l)
	rss=$(awk '/^VmRSS/ { print $2 }' "/proc/$AGENT/status")
	database=$(du -k -c "$S"/db/vmagent.db* | awk 'END { print $1 }')
	echo "$fds $threads $rss $database"
}

# third WHICH COLUMN HOW: of the samples, in the second or last third, the median or the most.
third()
{
	local n
	n=$(($(wc -l <"$T/log/samples.txt") / 3))
	tail -n $((n * (4 - $1))) "$T/log/samples.txt" | head -n $n | cut -d ' ' -f "$2" | sort -n |
		if [ "$3" = most ]; then tail -n 1; else sed -n "$(((n + 1) / 2))p"; fi
}

# flat WHAT COLUMN HOW PERCENT MORE [ENOUGH]: no greater in the last third than in the second, but for so much, or no
# greater than that at all.
flat()
{
	local before after
	before=$(third 2 "$2" "$3") after=$(third 3 "$2" "$3")
	[ "$after" -le $((before * (100 + $4) / 100 + $5)) ] || [ "$after" -le "${6-0}" ] || fail "$1 grow: from $before to $after"
	ok "$1 do not grow: $before, then $after"
}

churn() # SECONDS MACHINES
{
	local driver pause
	pause=$(awk "BEGIN { print $1 / 60 }")
	perl test/e2e/churn "$VMAGENT_SOCKET" "$1" "$2" "$SEED" >"$T/log/churn.txt" 2>&1 &
	driver=$!
	await 'all machines are made' grep -q 'all are made' "$T/log/churn.txt"
	echo '# descriptors threads memory database'
	while alive "$driver"; do
		sample >>"$T/log/samples.txt"
		sleep "$pause"
	done
	awk 'NR % 6 == 1 { print "#", $0 }' "$T/log/samples.txt"
	wait "$driver" || fail "the client ended: $(cat "$T/log/churn.txt")"
	echo "# SEED=$SEED; $(tail -n 1 "$T/log/churn.txt")"
	flat 'descriptors' 1 most 0 4
	flat 'threads'     2 most 0 0
	flat 'kB of memory' 3 median 10 1024
	flat 'kB of database' 4 median 10 1024 $WINDOWS
	holds 'all can be deleted' vmactl delete vm --all --grace-period=0 --timeout="${PATIENCE}s"
	soon 'no folder of a run is left' same '' find "$S/vmi" -mindepth 1
}
