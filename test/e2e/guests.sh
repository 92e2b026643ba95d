# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# guests.sh: guests of the agents of two hosts, for tests that have sourced lib.sh and hosts.sh. Each has a root disk and a
# data disk, on which it counts.

declare -A uid # of the latest run of each, by its name
IMAGES=$T/img # where the agents find guest.img

vmi_at() { at "$1" get vmi "$2" -o jsonpath="{$3}" 2>/dev/null; }     # HOST NAME PATH
runs_at() { [ "$(vmi_at "$1" "$2" .status.phase)" = Running ]; }      # HOST NAME
lacks() { at "$1" get "$2" "$3" 2>&1 | grep -q NotFound; }            # HOST KIND NAME
gone_from() { lacks "$1" vm "$2" && lacks "$1" vmi "$2"; }            # HOST NAME
line_at() { echo "$T/$1/state/vmi/${uid[$2]}/serial0.log"; }          # HOST NAME
ticks_of() { grep -a '^tick' "$(line_at "$1" "$2")" | tr -cd '0-9\n'; } # HOST NAME
last_tick() { ticks_of "$1" "$2" 2>/dev/null | tail -n 1; }           # HOST NAME
counts_at() { [ "$(last_tick "$1" "$2")" -gt "$3" ] 2>/dev/null; }    # HOST NAME MORE-THAN
relay_pid() # HOST: the one that carries a migration
{
	local pid net
	net=$(readlink "/proc/${HOST_PID[$1]}/ns/net")
	for pid in $(pgrep -f 'migrate-relay /run/vmagent/mig/[0-9a-f-]*$'); do
		[ "$(readlink "/proc/$pid/ns/net")" != "$net" ] || echo "$pid"
	done
}
no_relays() { same '' find "$T/a/run/vmagent/mig" "$T/b/run/vmagent/mig" -mindepth 1 -print -quit; }
run_folders() { find "$T/$1/state/vmi" -mindepth 1 -maxdepth 1 -printf '%f\n'; } # HOST

# movers_begin [SETTING...]: both hosts' agents, between which guests may move.
movers_begin()
{
	local host
	for host in "${HOSTS[@]}"; do
		echo "  migrations: { enabled: true${1:+, $1} }" >>"$T/$host/config.yaml"
		host_agent_start "$host"
	done
	await 'the agents see each other' peers_see_each_other
}

# ---- what they are given -------------------------------------------------------------------------------------------

# put_at HOST NAME: standard input becomes a file of the agent's folder, all at once.
put_at()
{
	cat >"$T/new"
	mv "$T/new" "$T/$1/manifests/$2.yaml"
}

# machine_at HOST NAME: standard input is the rest of its template's spec. When it is stopped it has GRACE seconds.
machine_at()
{
	{
		cat <<-YAML
			apiVersion: kubevirt.io/v1
			kind: VirtualMachine
			metadata: { name: $2 }
			spec:
			  runStrategy: Always
			  template:
			    metadata: { labels: { guest: $2 } }
			    spec:
			      terminationGracePeriodSeconds: ${GRACE:-10}
		YAML
		sed 's/^/      /'
	} | put_at "$1" "$2"
}

# policy_at HOST NAME GUEST TERMS: the one MigrationPolicy that there is, for that guest.
policy_at()
{
	put_at "$1" policy <<-YAML
		apiVersion: migrations.kubevirt.io/v1alpha1
		kind: MigrationPolicy
		metadata: { name: $2 }
		spec: { selectors: { virtualMachineInstanceSelector: { guest: $3 } }, $4 }
	YAML
	await "policy $2 is known at $1" at "$1" get migrationpolicy "$2"
}

shared_disk() { echo "hostDisk: { path: $T/disks/$1.img, type: Disk, shared: true }"; } # NAME: the source of a volume

learn_run() # HOST NAME
{
	uid[$2]=$(vmi_at "$1" "$2" .metadata.uid)
	run_is "${uid[$2]}" "$2"
}

# vm_at HOST NAME DATA [DISK VOLUME]: DATA is the source of its second volume; a third one, of that disk and that source, is
# called seed. NETWORKED=true: it has an interface. ROOT, if it is set, is the source of the first volume.
vm_at()
{
	local root="containerDisk: { image: 'file://$IMAGES/guest.img' }"
	machine_at "$1" "$2" <<-YAML
		domain:
		  memory: { guest: 128Mi }
		  devices:
		    autoattachPodInterface: ${NETWORKED:-false}
		    disks: [ { name: root, disk: { bus: virtio } }, { name: data, disk: { bus: virtio } } ${4:+, { name: seed, $4 \}} ]
		volumes:
		- { name: root, ${ROOT:-$root} }
		- { name: data, $3 }
		${5:+- { name: seed, $5 \}}
	YAML
	await "$2 runs at $1" runs_at "$1" "$2"
	learn_run "$1" "$2"
	await "$2 counts" counts_at "$1" "$2" 2
}

migrate() { at "$1" migrate "$2" --to="host-$3" "${@:4}" >"$T/log/migrate-$2-$3.txt" 2>&1; } # FROM NAME TO OPTION...

# ---- what a guest writes -------------------------------------------------------------------------------------------

says_at() { grep -a -c -e "$3" "$(line_at "$1" "$2")" 2>/dev/null; } # HOST NAME PATTERN: how many lines
said_more() { [ "$(says_at "$1" "$2" "$3")" -gt "$4" ] 2>/dev/null; }

# tell_at HOST NAME WORDS PATTERN: again until the guest has answered with one more line of that kind. It may be slow, and
# what it is told twice it does twice.
tell_at()
{
	local before deadline=$((SECONDS + PATIENCE)) i
	before=$(says_at "$1" "$2" "$4")
	while [ $SECONDS -lt $deadline ]; do
		printf '%s\n' "$3" | at "$1" console "$2" >/dev/null 2>&1
		for i in {1..300}; do
			! said_more "$1" "$2" "$4" "${before:-0}" || return 0
			sleep 0.1
		done
	done
	fail "$2 does not answer to '$3'"
}

writes_at() { tell_at "$1" "$2" write $'^writing\r*$'; } # HOST NAME: it writes to memory and disk from now on

# What a ring of 16 blocks holds when block N was the last, see test/guest/README.md.
ring_sum() # N
{
	local slot
	for ((slot = 0; slot < 16; slot++)); do
		yes "block $(($1 - ($1 - slot) % 16))" | head -c 4096
	done | md5sum | cut -d ' ' -f 1
}

# wrote_well HOST NAME: it ends to write, and what it finds in its memory and on its disk is what it wrote, to the last
# block. Prints what is wrong.
WROTE='^wrote [0-9]* [0-9a-f]\{32\} [0-9a-f]\{32\}' # all of the line: half of it may be there first
wrote_well()
{
	local line n
	tell_at "$1" "$2" write-off "$WROTE"
	line=$(grep -a "$WROTE" "$(line_at "$1" "$2")" | tail -n 1 | tr -d '\r')
	n=$(cut -d ' ' -f 2 <<<"$line")
	[ "$n" -ge 16 ] || echo "only $n blocks"
	[ "$line" = "wrote $n $(ring_sum "$n") $(ring_sum "$n")" ] || echo "$line; both should hold $(ring_sum "$n")"
}
