#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Probes: a guest is ready when its page is there, and no more when it is gone; one whose agent hangs is stopped, and runs anew.
# environments: embed
# takes: 120
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

ready() { vmactl get vmi web -o jsonpath='{.status.conditions[?(@.type=="Ready")].reason}'; }
differs() { local is; is=$("${@:2}" 2>/dev/null); [ -n "$is" ] && [ "$is" != "$1" ]; } # TEXT COMMAND...
reads() { vmactl get vmi web -o jsonpath='{.status.conditions[?(@.type=="Ready")].message}'; }

begin
manifest web Always agent net | sed 's/^      terminationGrace/\
      readinessProbe: { httpGet: { port: 80, path: \/index.html }, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 2 }\
      livenessProbe: { guestAgentPing: {}, initialDelaySeconds: 90, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 2 }\
&/' | put web.yaml
await 'VM web is known' vmactl get vm web
running web
up web
run=$(vmi_uid web)
soon 'a guest without its page is not ready' same ContainersNotReady ready
soon '… and why is told' told web "$run" 'the readiness probe failed'
is '… by its condition, too' "$(reads | grep -c 'the readiness probe failed: .* port 80')" 1
await 'the guest has a page' answers web 'page well' "^page is 'well'"
soon '… with it, it is' same '' ready
is '… and says no more of it' "$(reads)" ''
await 'the guest has none' answers web page "^page is ''"
soon 'without it again it is not' same 'the readiness probe failed: HTTP status 404 from port 80' reads
is '… which does nothing else to it' "$(vmi_uid web) $(phase web)" "$run Running"

await 'the agent hangs' answers web agent-hang '^agent hangs'
soon 'a guest whose agent hangs is stopped' told web "$run" 'the liveness probe failed'
soon '… as gracefully as ever' told web "$run" 'phase Running -> Succeeded: the guest shut down'
soon '… and runs anew' differs "$run" vmi_uid web
running web
