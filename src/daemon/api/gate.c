/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate of the read-only socket, in one place: two methods, no upgrade, and what is shut though
 * it only reads. The socket for everything has no gate: the file's mode is that.
 */
#include "daemon/api/gate.h"

#define SUBRESOURCES "subresources.kubevirt.io"

static const enum object_kind secret_kinds[] = { KIND_SECRET };

/* What is not about a machine is discovery. */
static bool reaches_into_a_guest(const struct route_path *path)
{
	return path->group && streq(path->group->name, SUBRESOURCES) && *path->ns;
}

static bool is_secret(const struct route_path *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(secret_kinds); i++) {
		if (path->resource && path->kind == secret_kinds[i])
			return true;
	}
	return false;
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
	if (reaches_into_a_guest(&call->path))
		return refuse(call, err, "what reaches into a guest");
	if (is_secret(&call->path))
		return refuse(call, err, "a secret");
	return true;
}
