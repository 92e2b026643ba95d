/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collection of domains that are not ours: what libvirt has beside the agent's runs. It is not
 * stored and not watched; each answer is made of what was seen last.
 */
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"

void domain_get(const struct call *call)
{
	struct agent *agent = call->api->options.agent;
	const char *name = *call->path.name ? call->path.name : NULL;
	char *text;

	if (query_bool(call, "watch")) {
		reply_refuse(call, ERR_METHOD, "domains cannot be watched; list them again");
		return;
	}
	text = agent_domains(agent, name);
	if (text)
		reply_json(call->api, call->id, 200, text, NULL);
	else
		reply_refuse(call, ERR_NOT_FOUND,
			"domains.vmagent.io \"%s\" not found: libvirt has none, or it is a run of the "
			"agent's",
			name);
}
