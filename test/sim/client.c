/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that does what clients do: it sends one request, waits for the answer, and sends it
 * again when none comes or when it is told that nothing can be saved now.
 */
#include <string.h>

#include "daemon/agent_private.h"
#include "sim.h"

#define RETRY_AFTER SECONDS(1)
#define PATIENCE    SECONDS(120)

void client_done(struct client_request *c)
{
	if (c->manifest.root)
		manifest_done(&c->manifest);
	free(c->note);
	memset(c, 0, sizeof(*c));
}

static void on_answer(void *ctx, const struct answer *answer)
{
	struct world *w = ctx;
	struct client_request *c = &w->client;
	autofree char *words = NULL;

	if (!world_action(w))
		return;
	if (answer->err->code == ERR_UNAVAILABLE || answer->err->code == ERR_UNSAVED ||
		answer->err->code == ERR_HYPERVISOR) {
		c->retry_at = w->t + RETRY_AFTER;
		c->lost = true; /* it is kept, and done when it can be saved */
		if (c->wish != WISH_EITHER)
			return;
	}
	c->waiting = false;
	c->answered = true;
	c->err = *answer->err;
	words = findings_words(answer->findings);
	if (words)
		err_set(&c->err, c->err.code, "%.150s: %.350s", answer->err->msg, words);
	replace_str(&c->note, answer->note);
}

/* Whether it undoes a stop when it is accepted. */
static bool may_start(const struct client_request *c)
{
	if (c->kind == INPUT_VERB)
		return c->request.verb != VERB_STOP;
	return c->kind != INPUT_VMI_VERB && c->kind != INPUT_HOST_SHUTDOWN;
}

void client_submit(struct world *w)
{
	struct client_request *c = &w->client;
	struct input input = { .kind = c->kind, .request = c->request };

	if (!c->waiting || w->t < c->retry_at)
		return;
	c->retry_at = w->t + RETRY_AFTER;
	if (!w->agent)
		return;
	input.request.reply = (struct reply){ w, on_answer };
	input.request.actor = (struct actor){ .kind = ACTOR_USER, .uid = 1000 };
	if (c->kind == INPUT_CREATE || c->kind == INPUT_REPLACE)
		input.request.manifest = &c->manifest;
	if (c->wish != WISH_REFUSED && may_start(c))
		watch_stop(w, c->request.name, false);
	c->sent = true;
	world_input(w, &input);
	world_settle(w);
}

/* An answer that says the thing is done already is as good as the lost one. */
static bool is_fine(const struct client_request *c)
{
	return c->err.code == ERR_OK ||
		(c->lost &&
			(c->err.code == ERR_CONFLICT || c->err.code == ERR_EXISTS ||
				c->err.code == ERR_NOT_FOUND));
}

static const char *what(const struct client_request *c)
{
	if (c->kind == INPUT_VMI_VERB)
		return vmi_verb_name(c->request.vmi_verb);
	return c->kind == INPUT_VERB ? verb_name(c->request.verb) : "the request";
}

/* A refusal is one for a reason that the table of the verbs has. */
static bool is_refusal(const struct client_request *c)
{
	return c->err.code == ERR_CONFLICT || c->err.code == ERR_EXISTS ||
		c->err.code == ERR_NOT_FOUND || c->err.code == ERR_BAD_REQUEST ||
		c->err.code == ERR_FORBIDDEN;
}

static void check_refused(struct world *w, const char *before)
{
	struct client_request *c = &w->client;
	autofree char *after = look_all(w);

	if (c->err.code == ERR_OK)
		world_fail(w, "%s %s was to be refused, and was not", what(c), c->request.name);
	else if (world_trouble(w) == TROUBLE_NONE && !streq(before, after))
		world_fail(w, "%s %s was refused and changed something all the same", what(c),
			c->request.name);
}

static void check_answer(struct world *w, const char *before)
{
	struct client_request *c = &w->client;
	bool good = c->wish == WISH_EITHER ? c->lost || !c->err.code || is_refusal(c) : is_fine(c);

	if (c->waiting)
		world_fail(w, "%s %s got no answer", what(c), c->request.name);
	else if (c->wish == WISH_REFUSED)
		check_refused(w, before);
	else if (!good)
		world_fail(w, "%s %s was refused: %s", what(c), c->request.name, c->err.msg);
}

/* A VM that is being deleted may have a successor, which nobody stopped. */
static bool has_stopped(struct world *w)
{
	const struct client_request *c = &w->client;
	autofree char *object = look_object(w, KIND_VM, c->request.name);

	if (c->wish == WISH_REFUSED || c->kind != INPUT_VERB || c->request.verb != VERB_STOP)
		return false;
	if (object && strstr(object, "\"deletionTimestamp\""))
		return false;
	return c->wish == WISH_EITHER ? !c->err.code : is_fine(c);
}

void client_do(struct world *w, enum wish wish)
{
	struct client_request *c = &w->client;
	msec limit = w->t + PATIENCE;
	autofree char *before = wish == WISH_REFUSED ? look_all(w) : NULL;

	c->waiting = true;
	c->wish = wish;
	c->was_stopped = watch_is_stopped(w, c->request.name);
	client_submit(w);
	while (c->waiting && world_step(w, limit))
		;
	check_answer(w, before);
	if (wish == WISH_EITHER && c->err.code && !c->lost)
		watch_stop(w, c->request.name, c->was_stopped);
	else if (has_stopped(w))
		watch_stop(w, c->request.name, true);
	c->waiting = false;
}

/* Text of a manifest, as `vmactl create -f` reads it. */
void client_create(struct world *w, const char *text)
{
	struct client_request *c = &w->client;
	struct documents docs = { 0 };
	struct findings findings = { 0 };
	struct place place;

	if (nodes_parse(text, strlen(text), &docs, &place, NULL) < 0 || docs.n != 1 ||
		manifest_check(docs.roots[0], &w->options.policy, &c->manifest, &findings) < 0) {
		autofree char *why = findings_text(&findings, "create");

		world_fail(w, "create: the manifest is bad: %s", why ? why : "");
	}
	findings_done(&findings);
	documents_done(&docs);
	c->kind = INPUT_CREATE;
	c->request.kind = c->manifest.kind;
	c->request.ns = c->manifest.ns;
	c->request.name = c->manifest.name;
}
