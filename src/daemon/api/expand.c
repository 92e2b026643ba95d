/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a VM is with its instancetype and its preference worked in: of a stored one, or of one that is sent.
 * Neither is worked in yet, so a VM that names one is refused, and any other is what it says.
 */
#include "daemon/api/body.h"
#include "daemon/api/jsonspan.h"
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"

static bool needs_more(const struct call *call, const char *vm)
{
	static const char *const fields[] = { "spec.instancetype", "spec.preference" };
	struct jsonspan value;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!jsonspan_path(jsonspan_of(vm), fields[i], &value) || *value.at == 'n')
			continue;
		reply_refuse(call, ERR_NOT_BUILT,
			"%s is not worked into VMs yet: write out what it stands for", fields[i]);
		return true;
	}
	return false;
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
	struct buf text = { 0 };
	struct err err;

	if (selection_each(call->api, &selection, keep_text, &vm, &err)) {
		reply_error(call, &err);
	} else if (!vm) {
		reply_not_found(call);
	} else if (!needs_more(call, vm)) {
		object_text(&text, vm, KIND_VM, call->path.version);
		reply_json(call->api, call->id, 200, text.data, NULL);
	}
}

void expand_sent(const struct call *call)
{
	struct node *doc = NULL;
	struct err err = { .code = ERR_OK };
	autofree char *vm = NULL;

	if (!body_parse(call, &doc, &err) && !streq(node_text(doc, "kind"), "VirtualMachine"))
		err_set(&err, ERR_BAD_REQUEST, "the body is no VirtualMachine: send the whole one");
	if (!err.code && node_at(doc, "metadata.namespace") &&
		!streq(node_text(doc, "metadata.namespace"), call->path.ns))
		err_set(&err, ERR_BAD_REQUEST, "the VM's namespace is not '%s', as in the path",
			call->path.ns);
	if (err.code) {
		reply_error(call, &err);
	} else {
		vm = node_json(doc);
		if (!needs_more(call, vm))
			reply_json(call->api, call->id, 200, take(&vm), NULL);
	}
	node_free(doc);
}
