/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes all objects of a collection that selectors leave in it: each as by a request of its own,
 * some at a time, and one answer when all have theirs. The first refusal ends it, as in Kubernetes;
 * what is deleted by then stays so, and the answer says how far it came.
 */
#include <stdio.h>

#include "daemon/api/body.h"
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"

#define COLLECTION_IN_FLIGHT 16 /* requests that the agent has of one collection */

struct doomed {
	char *ns, *name, *uid; /* owned */
};

struct collection {             /* lives until its last request is answered */
	struct call call;       /* without the request, which is over by then */
	struct request request; /* what all of them say */
	struct doomed *list;    /* owned */
	size_t n, next, done;
	unsigned open;
	bool submitting, gone;
	struct err err; /* the first refusal */
	char *note;     /* owned or NULL: the first thing that the caller should be told */
};

static void collection_free(struct collection *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->list[i].ns);
		free(c->list[i].name);
		free(c->list[i].uid);
	}
	free(c->list);
	free(c->note);
	free(c);
}

static void finish(struct collection *c)
{
	struct reply_status status = { .err = &c->err,
		.has_kind = true,
		.kind = c->call.path.kind };
	const char *plural = object_kind_plural(c->call.path.kind);

	if (c->gone) {
		collection_free(c);
		return;
	}
	if (c->err.code)
		err_wrap(&c->err, "%zu of %zu %s deleted", c->done, c->n, plural);
	else
		snprintf(c->err.msg, sizeof(c->err.msg), "%zu %s deleted", c->done, plural);
	reply_status(c->call.api, c->call.id, &status, c->note);
	collection_free(c);
}

static void go_on(struct collection *c);

/* What somebody else deleted meanwhile, or made anew, is no longer one of those that are meant. */
static bool is_passed(const struct err *err)
{
	return err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT;
}

static void take_answer(struct collection *c, const struct answer *answer)
{
	if (answer->err->code == ERR_OK)
		c->done++;
	else if (!is_passed(answer->err) && !c->err.code)
		c->err = *answer->err;
	if (answer->note && !c->note)
		c->note = xasprintf("'%s': %s", answer->name, answer->note);
}

static void on_answer(void *ctx, const struct answer *answer)
{
	struct collection *c = ctx;

	c->open--;
	if (answer)
		take_answer(c, answer);
	else
		c->gone = true;
	go_on(c);
}

static void submit(struct collection *c, const struct doomed *d)
{
	struct reply then = { .ctx = c, .answer = on_answer };
	struct request request = c->request;

	request.ns = d->ns;
	request.name = d->name;
	request.if_uid = d->uid;
	c->open++;
	request_submit_part(&c->call, INPUT_DELETE, &request, &then);
}

/* An answer may come while its request is still being submitted. */
static void go_on(struct collection *c)
{
	if (c->submitting)
		return;
	c->submitting = true;
	while (c->next < c->n && c->open < COLLECTION_IN_FLIGHT && !c->err.code && !c->gone)
		submit(c, &c->list[c->next++]);
	c->submitting = false;
	if (!c->open)
		finish(c);
}

static int add_doomed(void *ctx, const struct object_row *row)
{
	struct collection *c = ctx;

	c->list = xrealloc_array(c->list, c->n + 1, sizeof(*c->list));
	c->list[c->n++] =
		(struct doomed){ xstrdup(row->ns), xstrdup(row->name), xstrdup(row->uid) };
	return 0;
}

static int prepare(struct collection *c, const struct call *call, struct err *err)
{
	struct selection selection = { 0 };
	struct node *options = NULL;
	int rc;

	c->request = request_of(call);
	if (!(rc = body_parse(call, &options, err)) &&
		!(rc = delete_options_read(call, options, &c->request, err)) &&
		(c->request.if_uid || c->request.if_rv))
		rc = err_set(err, ERR_BAD_REQUEST,
			"preconditions name one object, and the path is that of a collection");
	if (!rc && !(rc = selection_of(call, &selection, err)))
		rc = selection_each(call->api, &selection, add_doomed, c, err);
	selection_done(&selection);
	node_free(options);
	return rc;
}

void object_delete_all(const struct call *call)
{
	struct collection *c = xcalloc(1, sizeof(*c));
	struct err err;

	c->call = *call;
	c->call.request = NULL;
	if (prepare(c, call, &err)) {
		reply_error(call, &err);
		collection_free(c);
		return;
	}
	go_on(c);
}
