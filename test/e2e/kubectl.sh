# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# kubectl.sh: real kubectls on the agent, through `vmactl proxy`. KIND is whose turn it is and stands before each verdict.

PROXY=

proxy_start()
{
	"${AS[@]}" "$B/vmactl" proxy --port 0 >"$T/log/proxy.log" 2>&1 &
	PROXY=$!
	await 'the proxy listens' grep -q '^Starting to serve on' "$T/log/proxy.log"
	SERVER=http://$(sed -n 's/^Starting to serve on //p' "$T/log/proxy.log")
}

proxy_stop()
{
	signal TERM "$PROXY"
	soon 'the proxy is closed with its command' not bash -c ": </dev/tcp/127.0.0.1/${SERVER##*:}"
}

# Debian's, which is old, and the one on PATH, if they are there: each prints a path or nothing.
old_kubectl() { (cd "$(dirname "$0")/../.." && VMAGENT_BUILD=$B tools/kubectl 2>/dev/null | sed "s|^build|$B|"); }
new_kubectl() { command -v kubectl; }

# shows WHAT PATTERN COMMAND...
shows()
{
	local out
	out=$("${@:3}" 2>&1) || fail "$KIND: $1: $out"
	grep -q -e "$2" <<<"$out" || fail "$KIND: $1: '$2' is not in: $out"
	ok "$KIND: $1"
}

# lacks WHAT PATTERN COMMAND...: it succeeds, and does not say that.
lacks()
{
	local out
	out=$("${@:3}" 2>&1) || fail "$KIND: $1: $out"
	! grep -q -e "$2" <<<"$out" || fail "$KIND: $1: '$2' is in: $out"
	ok "$KIND: $1"
}

# denies WHAT PATTERN COMMAND...
denies()
{
	local out
	! out=$("${@:3}" 2>&1) || fail "$KIND: $1: it was not refused: $out"
	grep -q -e "$2" <<<"$out" || fail "$KIND: $1: '$2' is not in: $out"
	ok "$KIND: $1"
}

skipped() { echo "# skipped $NAME: $KIND: $*"; }
