/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vnc/screenshot, portforward, and what a guest's agent tells: what is fetched from a guest by an
 * errand of the agent's. Its answer finds the client by the id of its request, or nobody.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "core/guest_look.h"
#include "daemon/api/bridge.h"
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"

static const struct bridge_plan port_plan = {
	.what = "port",
	.ended = "the guest has closed the connection",
};

static void refuse(const struct errand *errand, const struct err *err)
{
	struct reply_status status = { .err = err,
		.has_kind = true,
		.kind = errand->named,
		.name = errand->name };

	reply_status(errand->ctx, errand->id, &status, NULL);
}

static void submit(const struct call *call, const struct errand *errand)
{
	struct input input = { .kind = INPUT_ERRAND, .errand = *errand };

	input.errand.named = call->path.kind;
	input.errand.ns = call->path.ns;
	input.errand.name = call->path.name;
	input.errand.ctx = call->api;
	input.errand.id = call->id;
	agent_input(call->api->options.agent, &input, call->api->options.clock());
}

/* ---- the display's picture ------------------------------------------------------------------- */

static void picture_taken(const struct errand *errand, const struct op_result *result)
{
	static const struct http_head head = { .status = 200,
		.fields = { { "Content-Type", "image/png" } } };
	struct api *api = errand->ctx;
	char *copy;

	if (result->err.code) {
		refuse(errand, &result->err);
		return;
	}
	copy = xcalloc(1, result->image_len + 1);
	memcpy(copy, result->image, result->image_len);
	http_respond(api->http, errand->id, &head, copy, result->image_len);
}

void screenshot_get(const struct call *call)
{
	struct errand errand = { .kind = OP_SCREENSHOT,
		.wake = query_bool(call, "moveCursor"),
		.done = picture_taken };

	submit(call, &errand);
}

/* ---- what its agent tells -------------------------------------------------------------------- */

static void agent_told(const struct errand *errand, const struct op_result *result)
{
	struct api *api = errand->ctx;
	struct err err = result->err;
	char *object = NULL;

	if (!err.code)
		guest_look_document(errand->look, result->text, &object, &err);
	if (err.code)
		refuse(errand, &err);
	else
		reply_json(api, errand->id, 200, object, NULL);
}

void guest_look_get(const struct call *call)
{
	struct errand errand = { .kind = OP_AGENT_LOOK,
		.look = call->path.look,
		.done = agent_told };

	submit(call, &errand);
}

/* ---- a port of the guest's ------------------------------------------------------------------- */

static void port_connected(const struct errand *errand, const struct op_result *result)
{
	struct bridge *b = bridge_find(errand->ctx, errand->id);
	struct err err = result->err;
	int port = b && !err.code ? fcntl(result->fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (!b)
		return; /* the client has left */
	if (port < 0 && !err.code)
		err_set(&err, ERR_UNAVAILABLE, "cannot keep the connection: %s", strerror(errno));
	if (err.code) {
		refuse(errand, &err);
		return;
	}
	fcntl(port, F_SETFL, O_NONBLOCK);
	bridge_connect(b, port);
}

void portforward_open(const struct call *call)
{
	struct errand errand = { .kind = OP_FORWARD,
		.port = call->path.port,
		.done = port_connected };

	if (!call->path.port)
		reply_refuse(call, ERR_BAD_REQUEST,
			"the port must be a number between 1 and 65535");
	else if (*call->path.protocol && !streq(call->path.protocol, "tcp"))
		reply_refuse(call, ERR_BAD_REQUEST,
			"protocol '%s' cannot be forwarded in this version, only tcp",
			call->path.protocol);
	else if (bridge_new(call, &port_plan))
		submit(call, &errand);
}
