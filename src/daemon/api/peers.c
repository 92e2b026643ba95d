/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collection of peers: this node itself and the agents that are configured, as they were last heard of.
 * It is not stored and not watched.
 */
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
