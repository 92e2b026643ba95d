/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host goes down: begun by POST, looked at by GET, called off by DELETE. What that means is
 * not known here: daemon/hostdown.c.
 */
#include "daemon/api/body.h"
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"

void hostdown_get(const struct call *call)
{
	struct api *api = call->api;

	reply_json(api, call->id, 200,
		agent_host_shutdown(api->options.agent, api->options.clock()), NULL);
}

static void submit(const struct call *call, const struct request *order)
{
	struct call named = *call;
	struct request request;

	named.path.kind = KIND_HOST_SHUTDOWN;
	named.path.version = "v1";
	request = request_of(&named);
	request.call_off = order->call_off;
	request.timeout_s = order->timeout_s;
	request_submit(&named, INPUT_HOST_SHUTDOWN, &request, 200);
}

static int read_timeout(const struct node *body, unsigned *ret, struct err *err)
{
	bool given = false;
	int64_t seconds = 0;

	if (body && body->kind != NODE_MAP)
		return err_set(err, ERR_BAD_REQUEST, "the body is no options object");
	if (option_int(body, "timeoutSeconds", &given, &seconds, err) < 0)
		return -(int)err->code;
	if (given && (seconds < 1 || seconds > HOST_SHUTDOWN_MAX_S))
		return err_set(err, ERR_BAD_REQUEST,
			"option timeoutSeconds: expected a whole number from 1 to %d",
			HOST_SHUTDOWN_MAX_S);
	*ret = (unsigned)seconds;
	return 0;
}

void hostdown_begin(const struct call *call)
{
	struct request order = { 0 };
	struct node *body = NULL;
	struct err err;

	if (body_parse(call, &body, &err) || read_timeout(body, &order.timeout_s, &err))
		reply_error(call, &err);
	else
		submit(call, &order);
	node_free(body);
}

void hostdown_cancel(const struct call *call)
{
	submit(call, &(struct request){ .call_off = true });
}
