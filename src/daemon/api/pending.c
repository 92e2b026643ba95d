/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that the agent owes: it gives each exactly once, after the commit of the turn that
 * handled the request. By then the client, or the API itself, may be gone.
 */
#include "daemon/api/reply.h"

struct pending {
	struct api *api;   /* borrowed; NULL after the API went */
	uint64_t id;       /* of the HTTP request */
	unsigned status;   /* on success */
	bool empty;        /* … without a body, as KubeVirt's verbs answer */
	bool as_is;        /* … in the version that it has: the path names none */
	bool in_words;     /* … by what is to be said alone */
	struct reply then; /* gets the answer in the client's place, unless empty */
	struct route_path path;
	struct pending *next;
	struct pending **self;
};

static void unlink_pending(struct pending *p)
{
	*p->self = p->next;
	if (p->next)
		p->next->self = p->self;
}

static void send_answer(const struct pending *p, const struct answer *answer)
{
	struct reply_status status = { .err = answer->err,
		.findings = answer->findings,
		.has_kind = true,
		.kind = answer->kind,
		.name = answer->name };
	struct err noted = { .code = ERR_OK };
	struct buf text = { 0 };

	copy_str(noted.msg, sizeof(noted.msg), answer->note ? answer->note : "");
	if (answer->err && answer->err->code != ERR_OK) {
		reply_status(p->api, p->id, &status, answer->note);
	} else if (p->in_words) {
		status.err = &noted;
		reply_json(p->api, p->id, p->status, status_json(&status), NULL);
	} else if (p->empty) {
		reply_json(p->api, p->id, p->status, NULL, answer->note);
	} else if (answer->object && p->as_is) {
		reply_json(p->api, p->id, p->status, xstrdup(answer->object), answer->note);
	} else if (answer->object) {
		object_text(&text, answer->object, p->path.kind, p->path.version);
		reply_json(p->api, p->id, p->status, text.data, answer->note);
	} else {
		status.err = &noted;
		reply_status(p->api, p->id, &status, answer->note);
	}
}

static void on_answer(void *ctx, const struct answer *answer)
{
	struct pending *p = ctx;

	if (p->api)
		unlink_pending(p);
	if (p->then.answer)
		p->then.answer(p->then.ctx, p->api ? answer : NULL);
	else if (p->api)
		send_answer(p, answer);
	free(p);
}

static struct reply pending_new(const struct call *call, unsigned status)
{
	struct pending *p = xcalloc(1, sizeof(*p));

	p->api = call->api;
	p->id = call->id;
	p->status = status;
	p->path = call->path;
	p->next = call->api->pending;
	p->self = &call->api->pending;
	if (p->next)
		p->next->self = &p->next;
	call->api->pending = p;
	return (struct reply){ .ctx = p, .answer = on_answer };
}

/* The agent answers what it owes even when it ends; then nobody is there to be told. */
void pendings_drop(struct api *api)
{
	struct pending *next;

	for (struct pending *p = api->pending; p; p = next) {
		next = p->next;
		p->api = NULL;
	}
	api->pending = NULL;
}

struct request request_of(const struct call *call)
{
	return (struct request){ .actor = { .kind = ACTOR_USER, .uid = call->request->uid },
		.kind = call->path.kind,
		.ns = call->path.ns,
		.name = call->path.name,
		.grace = GRACE_UNSET };
}

void request_submit(const struct call *call, enum input_kind kind, struct request *request,
	unsigned status)
{
	struct api *api = call->api;
	struct input input = { .kind = kind };

	request->reply = pending_new(call, status);
	api->pending->empty = kind == INPUT_VERB || kind == INPUT_VMI_VERB;
	api->pending->as_is = kind == INPUT_ADOPT;
	api->pending->in_words = kind == INPUT_MIGRATE;
	input.request = *request;
	agent_input(api->options.agent, &input, api->options.clock());
}

void request_submit_part(const struct call *call, enum input_kind kind, struct request *request,
	const struct reply *then)
{
	struct api *api = call->api;
	struct input input = { .kind = kind };

	request->reply = pending_new(call, 0);
	api->pending->then = *then;
	input.request = *request;
	agent_input(api->options.agent, &input, api->options.clock());
}
