/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before a guest is sent: peers are asked whether they would take it, and say all that stands in
 * its way at once. Whoever asked, a user or a migration that has no target yet, hears of it when
 * all have answered, or the time is over. Nothing of it is stored: after a restart a migration asks
 * anew, and a user has gone.
 */
#include <string.h>

#include "core/migratable.h"
#include "core/migration_check.h"
#include "daemon/arrivals.h"
#include "daemon/migrations.h"

#define CHECKS_MAX       16 /* at a time */
#define CHECK_PATIENCE_S 10 /* for the answers; libvirt's is among what is waited for */

struct candidate {
	const char *peer; /* borrowed from the configuration */
	bool answered;
	bool heard; /* … by the peer itself, which has found out all */
	int64_t room;
	struct findings found;
};

struct asked_check {
	char id[UID_SIZE];        /* that the answers carry */
	char migration[UID_SIZE]; /* for which a target is looked for; "": none */
	char *to;                 /* owned or NULL: the only one that is asked */
	/* Without a migration: who is answered; ns and name are owned, the rest of it is not
	 * used. */
	struct request request;
	msec until;
	struct findings own; /* what this host says */
	struct candidate list[PEERS_MAX];
	size_t n;
};

static struct asked_check *find(const struct agent *agent, const char *id)
{
	for (size_t i = 0; i < agent->n_checks; i++)
		if (streq(agent->checks[i]->id, id))
			return agent->checks[i];
	return NULL;
}

static void check_free(struct asked_check *c)
{
	for (size_t i = 0; i < c->n; i++)
		findings_done(&c->list[i].found);
	findings_done(&c->own);
	free((char *)c->request.ns);
	free((char *)c->request.name);
	free(c->to);
	free(c);
}

/* ---- what they said -------------------------------------------------------------------------- */

/* Of those that would take it the one with the most memory left, of equals the
 * first; NULL: none would. */
static const struct candidate *best_of(const struct asked_check *c)
{
	const struct candidate *best = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (!c->list[i].found.n && (!best || c->list[i].room > best->room))
			best = &c->list[i];
	return best;
}

/* "'host-c': its QEMU is …" for each of those that would not; owned by the caller, NULL: none. */
static char *refusals(const struct asked_check *c)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < c->n; i++) {
		autofree char *words = migration_findings_words(&c->list[i].found);

		if (words)
			buf_printf(&text, "%s'%s': %s", text.len ? "; " : "", c->list[i].peer,
				words);
	}
	return text.data;
}

static void add_all(struct findings *to, const struct findings *from, const char *peer)
{
	for (size_t i = 0; i < from->n; i++)
		findings_add(to, NULL, from->list[i].field, "%s%s%s", peer ? peer : "",
			peer ? ": " : "", from->list[i].message);
}

static struct findings *all_of(const struct asked_check *c)
{
	struct findings *all = xcalloc(1, sizeof(*all));

	add_all(all, &c->own, NULL);
	for (size_t i = 0; i < c->n; i++)
		add_all(all, &c->list[i].found, c->to ? NULL : c->list[i].peer);
	return all;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void answer_user(struct agent *agent, const struct asked_check *c, struct now now)
{
	const struct candidate *best = best_of(c);
	autofree char *others = refusals(c), *note = NULL;
	autofree char *expiry = best ? peers_expiry_words(agent, best->peer, now) : NULL;
	struct err err = { 0 };

	if (best && !c->own.n)
		note = xasprintf("it can be moved to '%s'%s%s%s%s", best->peer,
			others ? "; not to " : "", others ? others : "", expiry ? "; " : "",
			expiry ? expiry : "");
	else
		err_set(&err, ERR_CONFLICT, "'%s' cannot be moved to %s%s%s", c->request.name,
			c->to ? "'" : "any other host", c->to ? c->to : "", c->to ? "'" : "");
	agent_answer(agent, &c->request, &err, note);
	if (err.code)
		agent->replies[agent->n_replies - 1].findings = all_of(c);
}

static bool all_were_heard(const struct asked_check *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!c->list[i].heard)
			return false;
	return true;
}

/* Where all have refused it has failed; one that was not heard may take it yet,
 * and is asked again. */
static void answer_migration(struct agent *agent, const struct asked_check *c, struct now now)
{
	struct migration *g = migrations_find(agent, c->migration);
	const struct candidate *best = best_of(c);
	autofree char *others = refusals(c), *words = NULL;

	if (!g || g->removed || g->state != MIGRATION_PENDING || *g->peer)
		return;
	if (best) {
		replace_str(&g->peer, best->peer);
	} else if (!all_were_heard(c)) {
		g->say_at = now.boot + SECONDS(MIGRATION_BUSY_S);
	} else {
		words = xasprintf("no other host would take it: %s", others ? others : "?");
		replace_str(&g->refusal, words);
	}
	migration_touch(agent, g);
	agent->migrations.dirty = true;
	if (best && others)
		log_text(LOG_LEVEL_NOTICE, "%s/%s: moves to '%s'; not to %s", g->meta.ns, g->vmi,
			best->peer, others);
}

static bool is_complete(const struct asked_check *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (!c->list[i].answered)
			return false;
	return true;
}

static void settle(struct agent *agent, struct asked_check *c, struct now now)
{
	for (size_t i = 0; i < agent->n_checks; i++)
		if (agent->checks[i] == c)
			agent->checks[i] = agent->checks[--agent->n_checks];
	if (*c->migration)
		answer_migration(agent, c, now);
	else
		answer_user(agent, c, now);
	check_free(c);
}

void checks_hear(struct agent *agent, const struct peer_event *event, struct now now)
{
	struct asked_check *c = find(agent, event->handover->migration);

	for (size_t i = 0; c && i < c->n; i++) {
		struct candidate *one = &c->list[i];

		if (!streq(one->peer, event->name) || one->answered)
			continue;
		one->answered = true;
		one->room = event->handover->room;
		migration_findings_read(event->handover->document, &one->found);
		one->heard = !migration_findings_are_late(&one->found);
	}
	if (c && is_complete(c))
		settle(agent, c, now);
}

void checks_turn(struct agent *agent, struct now now)
{
	for (size_t i = 0; i < agent->n_checks;) {
		struct asked_check *c = agent->checks[i];

		if (now.boot < c->until && !is_complete(c)) {
			i++;
			continue;
		}
		for (size_t k = 0; k < c->n; k++)
			if (!c->list[k].answered)
				findings_add(&c->list[k].found, NULL,
					migration_check_name(MIGRATION_CHECK_LATE),
					"it has not answered within %d s", CHECK_PATIENCE_S);
		settle(agent, c, now);
	}
}

msec checks_wake_at(const struct agent *agent)
{
	msec at = NEVER;

	for (size_t i = 0; i < agent->n_checks; i++)
		at = MIN(at, is_complete(agent->checks[i]) ? 0 : agent->checks[i]->until);
	return at;
}

void checks_done(struct agent *agent)
{
	struct err err;

	err_set(&err, ERR_UNAVAILABLE, "the agent is ending");
	for (size_t i = 0; i < agent->n_checks; i++) {
		if (!*agent->checks[i]->migration)
			agent_answer(agent, &agent->checks[i]->request, &err, NULL);
		check_free(agent->checks[i]);
	}
	free(agent->checks);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void ask(struct agent *agent, struct asked_check *c, const char *peer,
	const struct machine *m, struct now now)
{
	struct candidate *one = &c->list[c->n++];
	struct handover *h;

	one->peer = peer;
	one->answered = !peers_can_check(agent, peer, &one->found);
	if (one->answered)
		return;
	h = handover_letter(agent, peer, HANDOVER_CHECK, cargo_of(agent, m, NULL, now));
	copy_str(h->migration, UID_SIZE, c->id);
	copy_str(h->database, UID_SIZE, agent->database_id);
	h->epoch = MAX(m->vmi->epoch, 1) + 1;
}

static struct asked_check *begin(struct agent *agent, const struct machine *m, const char *to,
	struct now now)
{
	struct asked_check *c = xcalloc(1, sizeof(*c));

	agent_uuid(agent, c->id);
	c->to = xstrdup(to);
	c->until = now.boot + SECONDS(CHECK_PATIENCE_S);
	for (size_t i = 0; i < agent->options->n_peers; i++) {
		const char *peer = agent->options->peer_list[i].name;

		if (!to || streq(to, peer))
			ask(agent, c, peer, m, now);
	}
	*LIST_ADD(agent->checks, agent->n_checks, agent->cap_checks) = c;
	return c;
}

void checks_ask(struct agent *agent, const struct machine *m, const char *to,
	const struct request *request, struct now now)
{
	struct asked_check *c;
	struct err err;

	if (agent->n_checks >= CHECKS_MAX) {
		err_set(&err, ERR_TOO_MANY, "too many ask at a time; try again");
		agent_answer(agent, request, &err, NULL);
		return;
	}
	c = begin(agent, m, to, now);
	c->request = (struct request){ .reply = request->reply,
		.kind = request->kind,
		.ns = xstrdup(request->ns),
		.name = xstrdup(request->name) };
	migratable_findings(m->vmi, &c->own);
	peers_check_self(agent, &c->own);
}

static bool is_asked_for(const struct agent *agent, const struct migration *g)
{
	for (size_t i = 0; i < agent->n_checks; i++)
		if (streq(agent->checks[i]->migration, g->meta.uid))
			return true;
	return false;
}

void checks_choose(struct agent *agent, struct migration *g, struct now now)
{
	const struct machine *m = machines_find(&agent->machines, g->meta.ns, g->vmi);

	if (g->state != MIGRATION_PENDING || *g->peer || g->refusal || g->cancelled || !m ||
		!m->vmi || is_asked_for(agent, g) || agent->n_checks >= CHECKS_MAX)
		return;
	if (now.boot < g->say_at)
		agent->migrations.wake_at = MIN(agent->migrations.wake_at, g->say_at);
	else
		copy_str(begin(agent, m, NULL, now)->migration, UID_SIZE, g->meta.uid);
}
