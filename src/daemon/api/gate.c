/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate of the read-only socket, in one place: two methods, no upgrade, and a table of what is shut
 * though it only reads. The socket for everything has no gate: the file's mode is that.
 */
#include <string.h>

#include "daemon/api/gate.h"

/* Paths, each with all that is below it. A segment "*" is any one. */
static const struct {
	const char *pattern, *what;
} shut[] = {
	{ "/apis/subresources.kubevirt.io/*/namespaces", "what reaches into a guest" },
	{ "/api/v1/secrets", "a secret" },
	{ "/api/v1/namespaces/*/secrets", "a secret" },
	{ "/api/v1/watch/secrets", "a secret" },
	{ "/api/v1/watch/namespaces/*/secrets", "a secret" },
};

static bool is_below(const char *path, const char *pattern)
{
	while (*pattern) {
		size_t want = strcspn(pattern + 1, "/"), have;

		if (*path != '/')
			return false;
		have = strcspn(path + 1, "/");
		if (pattern[1] != '*' && (want != have || memcmp(path, pattern, have + 1) != 0))
			return false;
		path += have + 1;
		pattern += want + 1;
	}
	return true;
}

static bool refuse(const struct call *call, struct err *err, const char *what)
{
	err_set(err, ERR_FORBIDDEN, "this socket is for reading, not for %s: use '%s'", what,
		call->api->options.socket_path);
	return false;
}

bool gate_opens(const struct call *call, struct err *err)
{
	const struct http_request *request = call->request;

	if (!request->read_only)
		return true;
	if (!streq(request->method, "GET") && !streq(request->method, "HEAD"))
		return refuse(call, err, request->method);
	if (http_header(request, "Upgrade"))
		return refuse(call, err, "an upgrade");
	for (size_t i = 0; i < ARRAY_SIZE(shut); i++) {
		if (is_below(request->path, shut[i].pattern))
			return refuse(call, err, shut[i].what);
	}
	return true;
}
