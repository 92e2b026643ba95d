/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a VM is with its instancetype and its preference worked in: of a stored one, or of
 * one that is sent.
 */
#include "core/edit.h"
#include "daemon/api/body.h"
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"

/* Takes doc over. */
static void answer(const struct call *call, struct node *doc)
{
	struct err err;

	if (agent_expand(call->api->options.agent, call->path.ns, doc, &err) < 0) {
		reply_error(call, &err);
	} else {
		autofree char *vm = node_json(doc);
		struct buf text = { 0 };

		object_text(&text, vm, KIND_VM, call->path.version);
		reply_json(call->api, call->id, 200, text.data, NULL);
	}
	node_free(doc);
}

static int keep_text(void *ctx, const struct object_row *row)
{
	*(char **)ctx = xstrdup(row->object);
	return 0;
}

void expand_stored(const struct call *call)
{
	struct selection selection = { .path = call->path };
	autofree char *vm = NULL;
	struct err err;

	if (selection_each(call->api, &selection, keep_text, &vm, &err))
		reply_error(call, &err);
	else if (!vm)
		reply_not_found(call);
	else
		answer(call, text_tree(vm));
}

void expand_sent(const struct call *call)
{
	struct node *doc = NULL;
	struct err err = { .code = ERR_OK };

	if (!body_parse(call, &doc, &err) && !streq(node_text(doc, "kind"), "VirtualMachine"))
		err_set(&err, ERR_BAD_REQUEST, "the body is no VirtualMachine: send the whole one");
	if (!err.code && node_at(doc, "metadata.namespace") &&
		!streq(node_text(doc, "metadata.namespace"), call->path.ns))
		err_set(&err, ERR_BAD_REQUEST, "the VM's namespace is not '%s', as in the path",
			call->path.ns);
	if (!err.code) {
		answer(call, doc);
		return;
	}
	reply_error(call, &err);
	node_free(doc);
}
