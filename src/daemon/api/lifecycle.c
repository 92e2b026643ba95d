/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subresources start, stop and restart of a VM, and pause, unpause, softreboot and reset of a
 * VMI, with the bodies that virtctl sends. Whether a verb is allowed, and what it does, is not
 * known here: core/verbs.h, core/vmi_verbs.h.
 */
#include "core/migration_order.h"
#include "daemon/api/body.h"
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"

/* StartOptions, StopOptions and RestartOptions in one: each has its own name for the grace. */
static int read_verb_options(const struct node *node, enum verb verb, struct verb_options *o,
	struct err *err)
{
	const char *grace = verb == VERB_STOP ? "gracePeriod" : "gracePeriodSeconds";
	int rc = 0;

	if (node && node->kind != NODE_MAP)
		return err_set(err, ERR_BAD_REQUEST, "the body is no options object");
	if (verb == VERB_START)
		rc = option_bool(node, "paused", &o->paused, err);
	else
		rc = option_int(node, grace, &o->has_grace, &o->grace, err);
	if (!rc)
		rc = option_dry_run(node, &o->dry_run, err);
	return rc;
}

void lifecycle_verb(const struct call *call)
{
	struct request request = request_of(call);
	struct verb_options *options = &request.options;
	struct node *body = NULL;
	struct err err;

	request.verb = call->path.verb;
	if (body_parse(call, &body, &err) ||
		read_verb_options(body, call->path.verb, options, &err) ||
		query_dry_run(call, &options->dry_run, &err)) {
		reply_error(call, &err);
	} else {
		request.dry_run = options->dry_run;
		request_submit(call, INPUT_VERB, &request, 202);
	}
	node_free(body);
}

/* PauseOptions and UnpauseOptions; the other two have no options upstream, and
 * take the same here. */
void lifecycle_vmi_verb(const struct call *call)
{
	struct request request = request_of(call);
	struct node *body = NULL;
	struct err err = { 0 };

	request.vmi_verb = call->path.vmi_verb;
	if (!body_parse(call, &body, &err) && body && body->kind != NODE_MAP)
		err_set(&err, ERR_BAD_REQUEST, "the body is no options object");
	if (err.code || option_dry_run(body, &request.dry_run, &err) ||
		query_dry_run(call, &request.dry_run, &err))
		reply_error(call, &err);
	else
		request_submit(call, INPUT_VMI_VERB, &request, 200);
	node_free(body);
}

/* MigrateOptions: the selector is the way in which KubeVirt's clients name a node. */
static int read_migrate_options(const struct node *body, struct request *request, struct err *err)
{
	if (body && body->kind != NODE_MAP)
		return err_set(err, ERR_BAD_REQUEST, "the body is no options object");
	if (migration_order_of_options(body, &request->to, err) < 0)
		return -(int)err->code;
	return option_dry_run(body, &request->dry_run, err);
}

void lifecycle_migrate(const struct call *call)
{
	struct request request = request_of(call);
	struct node *body = NULL;
	struct err err = { 0 };

	if (body_parse(call, &body, &err) || read_migrate_options(body, &request, &err) ||
		query_dry_run(call, &request.dry_run, &err))
		reply_error(call, &err);
	else
		request_submit(call, INPUT_MIGRATE, &request, 202);
	node_free(body);
}
