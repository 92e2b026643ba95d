/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collection of domains that are not ours: what libvirt has beside the agent's runs. It is not
 * stored and not watched; each answer is made of what was seen last. Its one subresource, adopt,
 * makes a VM of such a domain; with dryRun it only tells what that would come to.
 */
#include "core/names.h"
#include "daemon/api/body.h"
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

/* {"namespace": …, "vmName": …, "digest": …, "dryRun": ["All"]}, each of which may be absent. */
static int read_options(const struct call *call, const struct node *body, struct request *request,
	struct err *err)
{
	const char *ns = node_text(body, "namespace"), *name = node_text(body, "vmName");

	if (body && body->kind != NODE_MAP)
		return err_set(err, ERR_BAD_REQUEST, "the body is no options object");
	request->kind = KIND_VM;
	request->domain = call->path.name;
	request->ns = ns ? ns : call->api->options.policy->default_namespace;
	request->name = name ? name : "";
	request->digest = node_text(body, "digest");
	if (!is_dns_label(request->ns))
		return err_set(err, ERR_BAD_REQUEST, "'%.100s' cannot be a namespace", request->ns);
	return option_dry_run(body, &request->dry_run, err);
}

void domain_adopt(const struct call *call)
{
	struct request request = request_of(call);
	struct node *body = NULL;
	struct err err;

	if (body_parse(call, &body, &err) || read_options(call, body, &request, &err) ||
		query_dry_run(call, &request.dry_run, &err))
		reply_error(call, &err);
	else
		request_submit(call, INPUT_ADOPT, &request, request.dry_run ? 200 : 201);
	node_free(body);
}
