# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# thousand.sh: many machines, and what it costs the agent to list them.

VMS=/apis/kubevirt.io/v1/namespaces/default/virtualmachines
VMIS=/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances
TABLE='application/json;as=Table;v=v1;g=meta.k8s.io'

# many N STRATEGY: one file with that many machines m1, m2, …
many()
{
	local i
	for ((i = 1; i <= $1; i++)); do
		cat <<-YAML
			---
			apiVersion: kubevirt.io/v1
			kind: VirtualMachine
			metadata: { name: m$i, labels: { app: many, number: '$i' } }
			spec:
			  runStrategy: $2
			  template:
			    metadata: { labels: { app: many } }
			    spec:
			      terminationGracePeriodSeconds: 1
			      domain:
			        memory: { guest: 16Mi }
			        devices: { autoattachPodInterface: false }
		YAML
	done | put many.yaml
}

# items PATH [ACCEPT]: how many objects an answer has.
items() { ask 1 "$@" | grep -o '"metadata":{"name":' | wc -l; }
count_is() { [ "$(items "${@:2}")" = "$1" ]; } # N PATH [ACCEPT]

# ask TIMES PATH [ACCEPT]: that request over one connection; prints the last answer.
ask()
{
	perl -MIO::Socket::UNIX -e '
		my ($path, $times, $url, $accept) = @ARGV;
		my $s = IO::Socket::UNIX->new(Peer => $path) or die "$path: $!\n";
		my $body;
		for (1 .. $times) {
			$s->print("GET $url HTTP/1.1\r\nHost: localhost\r\nAccept: $accept\r\n\r\n");
			$s->flush;
			my ($status, $line) = scalar <$s>;
			my $length = 0;
			while (($line = <$s>) ne "\r\n") {
				$length = $1 if $line =~ /^Content-Length: (\d+)/i;
			}
			read($s, $body, $length) == $length or die "$url: the answer ends early\n";
			die "$url: $status$body\n" if $status !~ / 200 /;
		}
		print $body;
	' "$VMAGENT_SOCKET" "$1" "$2" "${3:-application/json}"
}

ticks() { awk '{ print $14 + $15 }' "/proc/$AGENT/stat"; }

# cost PATH [ACCEPT]: the agent's CPU for one such request, in tenths of a millisecond; of many, for a tick is 10 ms.
cost()
{
	local from n=20
	from=$(ticks)
	ask $n "$@" >/dev/null || return 1
	echo $((($(ticks) - from) * 10000 / $(getconf CLK_TCK) / n))
}
tenths() { echo "$(($1 / 10)).$(($1 % 10))"; }
