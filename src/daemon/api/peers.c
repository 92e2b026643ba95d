/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collection of peers: this node itself and the agents that are configured, as they were
 * last heard of. It is not stored and not watched. What can be said of one is that it will not
 * come back; and of all of them together that none knows better than a database that was lost
 * and is filled again.
 */
#include "daemon/api/body.h"
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"

void peer_get(const struct call *call)
{
	const char *name = *call->path.name ? call->path.name : NULL;
	char *text;

	if (query_bool(call, "watch")) {
		reply_refuse(call, ERR_METHOD, "peers cannot be watched; list them again");
		return;
	}
	text = agent_peers(call->api->options.agent, name);
	if (text)
		reply_json(call->api, call->id, 200, text, NULL);
	else
		reply_refuse(call, ERR_NOT_FOUND,
			"peers.vmagent.io \"%s\" not found: the configuration names none so", name);
}

/* A node is what it is about. */
static void submit(const struct call *call, enum input_kind kind)
{
	struct call named = *call;
	struct request request;

	named.path.kind = KIND_NODE;
	named.path.version = "v1";
	request = request_of(&named);
	request_submit(&named, kind, &request, 200);
}

/* {"powerOffVerified": true}: nobody says so by mistake. */
static int read_proof(const struct node *body, struct err *err)
{
	bool verified = false;

	if (body && body->kind != NODE_MAP)
		return err_set(err, ERR_BAD_REQUEST, "the body is no options object");
	if (option_bool(body, "powerOffVerified", &verified, err) < 0)
		return -(int)err->code;
	if (!verified)
		return err_set(err, ERR_BAD_REQUEST,
			"option powerOffVerified: expected true: that a host does not answer is no proof "
			"that it does not run");
	return 0;
}

void peer_declare_dead(const struct call *call)
{
	struct node *body = NULL;
	struct err err;

	if (body_parse(call, &body, &err) || read_proof(body, &err))
		reply_error(call, &err);
	else
		submit(call, INPUT_DECLARE_DEAD);
	node_free(body);
}

void database_accept(const struct call *call)
{
	submit(call, INPUT_ACCEPT);
}
