/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe: what is asked of a guest again and again, to see whether it is well.
 */
#include "core/schema_rows.h"

#define GUEST_ITSELF "who is asked over the host's network; the guest itself, if absent"

/* clang-format off */
static const struct schema_field rows[] = {
	F(PROBE, "exec",                        MAP),
	F(PROBE, "exec.command",                LIST, REQUIRED, RANGE(1, PROBE_WORDS_MAX)),
	F(PROBE, "exec.command[]",              STRING, RULE(WORD)),
	F(PROBE, "guestAgentPing",              MAP),
	F(PROBE, "httpGet",                     MAP),
	F(PROBE, "httpGet.host",                STRING, RULE(HOST), NOTE(GUEST_ITSELF)),
	F(PROBE, "httpGet.httpHeaders",         LIST, RANGE(0, PROBE_WORDS_MAX)),
	F(PROBE, "httpGet.httpHeaders[]",       MAP),
	F(PROBE, "httpGet.httpHeaders[].name",  STRING, REQUIRED, RULE(HEADER_NAME)),
	F(PROBE, "httpGet.httpHeaders[].value", STRING, REQUIRED, RULE(HEADER_VALUE)),
	F(PROBE, "httpGet.path",                STRING, RULE(URL_PATH), DEFAULT("/")),
	F(PROBE, "httpGet.port",                INTEGER, REQUIRED, RANGE(1, 65535)),
	F(PROBE, "httpGet.scheme",              ENUM, ONE("HTTP"), DEFAULT("HTTP")),
	F(PROBE, "tcpSocket",                   MAP),
	F(PROBE, "tcpSocket.host",              STRING, RULE(HOST), NOTE(GUEST_ITSELF)),
	F(PROBE, "tcpSocket.port",              INTEGER, REQUIRED, RANGE(1, 65535)),
	F(PROBE, "initialDelaySeconds",         INTEGER, RANGE(0, PROBE_SECONDS_MAX), DEFAULT("0")),
	F(PROBE, "timeoutSeconds",              INTEGER, RANGE(0, PROBE_TIMEOUT_MAX_S), DEFAULT("1")),
	F(PROBE, "periodSeconds",               INTEGER, RANGE(0, PROBE_SECONDS_MAX), DEFAULT("10")),
	F(PROBE, "successThreshold",            INTEGER, RANGE(0, PROBE_TIMES_MAX), DEFAULT("1")),
	F(PROBE, "failureThreshold",            INTEGER, RANGE(0, PROBE_TIMES_MAX), DEFAULT("3")),
};
/* clang-format on */

const struct schema_table schema_probe = { rows, ARRAY_SIZE(rows) };
