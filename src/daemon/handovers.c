/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said about migrations: what a peer says is folded, and what it is told leaves with the
 * commit of the turn that decided it. Nothing of it is sure to arrive.
 */
#include <string.h>

#include "core/json.h"
#include "core/migration_told.h"
#include "daemon/arrivals.h"
#include "daemon/migrations.h"

struct handover *handover_letter(struct agent *agent, const char *peer, enum handover_kind kind,
	char *document)
{
	struct letter *l = LIST_ADD(agent->letters, agent->n_letters, agent->cap_letters);

	l->peer = peers_name(agent, peer);
	l->handover.kind = kind;
	l->handover.document = l->document = document;
	return &l->handover;
}

struct handover *handover_answer(struct agent *agent, const char *peer, const struct handover *to,
	enum handover_kind kind)
{
	struct handover *h = handover_letter(agent, peer, kind, NULL);

	*h = *to;
	h->kind = kind;
	h->document = NULL;
	h->why[0] = '\0';
	return h;
}

/* ---- saying ---------------------------------------------------------------------------------- */

/* Owned by the caller; NULL: none. */
static char *document_of(const struct agent *agent, const struct migration *g,
	enum handover_kind kind, struct now now)
{
	const struct machine *m = machines_find(&agent->machines, g->meta.ns, g->vmi);

	if (kind == HANDOVER_PREPARED)
		return xstrdup(g->offer);
	if ((kind == HANDOVER_PREPARE || kind == HANDOVER_COMMIT || kind == HANDOVER_RECOVER) &&
		m && m->vmi)
		return cargo_of(agent, m, g, now);
	if (kind == HANDOVER_OUT)
		return migration_course(g);
	if (kind == HANDOVER_ABORT)
		return migration_last_word(g);
	return NULL;
}

/* "": for no reason that the other host is to hear. */
static const char *why_of(const struct migration *g)
{
	bool waits = g->state == MIGRATION_IN || g->state == MIGRATION_COMPLETE;
	const char *why = waits ? g->trouble : g->reason;

	return why ? why : "";
}

void handover_say(struct agent *agent, struct migration *g, enum handover_kind kind, struct now now)
{
	struct handover *h =
		handover_letter(agent, g->peer, kind, document_of(agent, g, kind, now));

	copy_str(h->migration, UID_SIZE, g->meta.uid);
	copy_str(h->database, UID_SIZE, g->database);
	h->epoch = g->epoch;
	h->succeeded = g->succeeded;
	h->ended = migration_end_of(g);
	h->cancelled = g->role == MIGRATION_SOURCE && g->cancelled;
	copy_str(h->why, sizeof(h->why), why_of(g));
}

void handovers_send(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_letters; i++) {
		struct letter *l = &agent->letters[i];

		if (agent->options->peers && l->peer)
			peer_send(agent->options->peers, l->peer, &l->handover);
		free(l->document);
	}
	agent->n_letters = 0;
}

void handovers_done(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_letters; i++)
		free(agent->letters[i].document);
	free(agent->letters);
}

/* ---- who has what ---------------------------------------------------------------------------- */

struct handover *handover_ask(struct agent *agent, const char *peer, char *names)
{
	struct handover *h = handover_letter(agent, peer, HANDOVER_WHOSE, names);

	copy_str(h->database, UID_SIZE, agent->database_id);
	return h;
}

/* What is said to an earlier database is of an earlier time. */
static void hear_mine(struct agent *agent, const struct peer_event *event, struct now now)
{
	if (!streq(event->handover->database, agent->database_id))
		return;
	if (*event->handover->migration)
		contested_heard(agent, event->name, event->handover);
	else
		rebuild_heard(agent, event->name, event->handover->document, now);
}

/* ---- hearing --------------------------------------------------------------------------------- */

/* The source's QEMU has ended: with all of it sent, or with the rest of it lost. */
static bool says_gone(const struct handover *h)
{
	cJSON *json = json_read(h->document);
	bool gone = json_is_true(json, "gone");

	cJSON_Delete(json);
	return gone;
}

static bool is_commit(const struct migration *g, const struct handover *h)
{
	bool waits = g->state == MIGRATION_IN || g->state == MIGRATION_COMPLETE;

	return h->kind == HANDOVER_COMMIT || (h->kind == HANDOVER_RECOVER && waits);
}

/* Its decider has the guest taken over, in this turn if there is nothing to be written before. */
static void take_commit(struct agent *agent, struct migration *g, const struct handover *h)
{
	if (g->commit)
		return; /* what is written is of this one */
	g->commit = xstrdup(h->document ? h->document : "");
	variables_await(g, machines_find(&agent->machines, g->meta.ns, g->vmi));
}

static void hear_commit(struct agent *agent, struct migration *g, const struct handover *h,
	struct now now)
{
	if (g->role != MIGRATION_TARGET || h->epoch != g->epoch)
		return;
	g->cancelled |= h->cancelled;
	if (g->state == MIGRATION_IN || g->state == MIGRATION_COMPLETE)
		take_commit(agent, g, h);
	else if (g->state == MIGRATION_OWNER && g->post_copy) {
		g->forsaken |= says_gone(h);
		handover_say(agent, g, HANDOVER_OWNED, now);
	} else if (g->state == MIGRATION_DONE && g->taken)
		handover_say(agent, g, HANDOVER_FINALIZED, now);
}

static void hear_known(struct agent *agent, struct migration *g, const struct peer_event *event,
	struct now now)
{
	struct machine *m = machines_find(&agent->machines, g->meta.ns, g->vmi);
	struct migration_answer say;

	if (!streq(g->peer, event->name))
		return; /* it is none of that peer's */
	if (is_commit(g, event->handover)) {
		hear_commit(agent, g, event->handover, now);
		return;
	}
	say = migration_hear(g, event->handover, now);
	agent->migrations.changed |= g->changed;
	if (g->changed && m) {
		agent_mark(agent, m);             /* it may be held no longer */
		m->vmi_changed |= m->vmi != NULL; /* they show how far it is */
		m->vm_changed |= m->vm != NULL;
	}
	if (say.lost)
		migration_lose(agent, g, now);
	else if (say.any)
		handover_say(agent, g, say.say, now);
}

/* What cannot be saved now is not heard: it will be said again. */
void input_handover(struct agent *agent, const struct peer_event *event, struct now now)
{
	struct migration *g = migrations_find(agent, event->handover->migration);
	struct migration_answer say;

	if (agent->uncommitted)
		return;
	if (event->handover->kind == HANDOVER_WHOSE) {
		mine_answer(agent, event);
		return;
	}
	if (event->handover->kind == HANDOVER_MINE) {
		hear_mine(agent, event, now);
		return;
	}
	if (event->handover->kind == HANDOVER_CHECKED) {
		checks_hear(agent, event, now);
		return;
	}
	if (g && !g->removed) {
		hear_known(agent, g, event, now);
		return;
	}
	if (event->handover->kind == HANDOVER_PREPARE || event->handover->kind == HANDOVER_CHECK) {
		arrival_hear(agent, event, now);
		return;
	}
	if (past_hear(agent, event->name, event->handover))
		return;
	say = migration_unknown(event->handover, agent->database_id,
		&agent->options->tuning.handover);
	if (say.any)
		handover_answer(agent, event->name, event->handover, say.say);
}
