/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The migrations' part of a turn: what their decider wants of each that is not over, and
 * what that changes in the machine. It comes before the machines' own part, so that both are
 * saved in one transaction.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/fold.h"
#include "core/migration.h"
#include "core/phase.h"
#include "daemon/agent_private.h"
#include "daemon/arrivals.h"
#include "daemon/migration_objects.h"
#include "daemon/migrations_private.h"

/* ---- steps ----------------------------------------------------------------------------------- */

static void step_say(struct migration_call *c)
{
	handover_say(c->agent, c->g, c->plan->say, c->now);
	c->g->said = c->plan->say;
	c->g->say_at = c->now.boot + SECONDS(MIGRATION_REPEAT_S);
}

static void step_look(struct migration_call *c)
{
	c->m->dom.look_again = true;
	c->g->look_at = c->now.boot + SECONDS(MIGRATION_REPEAT_S);
	agent_mark(c->agent, c->m);
}

static void step_begin(struct migration_call *c)
{
	struct migration *g = c->g;

	g->epoch = MAX(c->m->vmi->epoch, 1) + 1;
	g->began = c->now.boot;
	g->waits = MIGRATION_WAITS_FOR_NOTHING;
	copy_str(g->database, UID_SIZE, c->agent->database_id);
	migration_limits_freeze(c->agent, g, c->m->vmi);
	replace_str(&g->address, peers_find(c->agent, g->peer)->config->address);
	migration_set_state(g, MIGRATION_OUT);
	c->m->migration = g;
	migration_note_peer(c, "PreparingTarget", "asking", " to get ready for it");
	migration_changed(c);
}

/* The other host is told no more of it than that, and shows the same. */
static void set_reason(struct migration_call *c)
{
	char words[PEER_WHY_SIZE];

	if (c->plan->because) {
		snprintf(words, sizeof(words), "%s: %s", c->plan->reason, c->plan->because);
		replace_str(&c->g->reason, words);
	} else if (c->plan->reason != c->g->reason) {
		replace_str(&c->g->reason, c->plan->reason);
	}
}

static void end(struct migration_call *c, bool succeeded)
{
	struct migration *g = c->g;

	g->succeeded = succeeded;
	set_reason(c);
	migration_set_state(g, MIGRATION_DONE);
	migration_changed(c);
	migrations_prune(c->agent, g);
}

static void step_fail(struct migration_call *c)
{
	c->g->acked = true;
	end(c, false);
	migration_note_failed(c);
}

static void step_wait(struct migration_call *c)
{
	c->g->waits = c->plan->waits;
	migration_touch(c->agent, c->g);
}

/* A guest that its disks, or an earlier migration, have stopped is to go on. */
static bool is_paused_by_others(const struct machine *m)
{
	return m->vmi->pause == PAUSE_AS_IS && machine_domain_state(m) == DOMAIN_PAUSED &&
		m->dom.reason != REASON_IOERROR && m->dom.reason != REASON_MIGRATION;
}

static void step_perform(struct migration_call *c)
{
	c->g->performing = c->g->watched = true;
	c->g->performing_at = c->now.boot;
	c->g->stands = is_paused_by_others(c->m);
	migration_note_peer(c, "Migrating", "moving to", "");
	migration_changed(c);
}

/* Whatever it comes to: only libvirt's own word tells how the migration ended. */
static void step_watch(struct migration_call *c)
{
	c->g->watched = true;
	c->g->performing_at = c->now.boot;
	migration_note_peer(c, NULL, "watching it again on its way to", "");
}

static void step_cut(struct migration_call *c)
{
	c->g->cut = true;
	if (c->agent->options->relay_end)
		c->agent->options->relay_end(c->agent->options->relay_ctx, c->g->meta.uid);
	migration_note_peer(c, NULL, c->plan->reason, "");
}

/* What the target made ready for the first attempt is of no use to it. */
static void step_again(struct migration_call *c)
{
	struct migration *g = c->g;

	g->post_copy = true;
	g->performing = g->admitted = g->prepared = g->watched = g->wants_post_copy = false;
	g->held = g->unsealed = g->cut = false;
	g->calling_off_at = g->call_off_at = 0;
	g->began = c->now.boot;
	g->say_at = g->complete_at = 0;
	free(take(&g->offer));
	free(take(&g->refusal));
	memset(&g->progress, 0, sizeof(g->progress));
	g->mode = MIGRATION_MODE_PRE_COPY;
	migration_note_peer(c, NULL, "it takes too long: trying again with post-copy, to", "");
	migration_changed(c);
}

static void step_break(struct migration_call *c)
{
	bool source = c->g->role == MIGRATION_SOURCE;

	c->g->broke_at = c->now.boot;
	if (source) {
		c->g->recovery++;
		c->g->prepared = false;
		c->g->say_at = 0;
	}
	migration_note_peer(c, "MigrationInterrupted",
		source ? "the way broke down: asking for a new one to"
		       : "the way broke down: the guest waits for the rest of its memory from",
		"");
	migration_changed(c);
}

static void step_mended(struct migration_call *c)
{
	c->g->broke_at = 0;
	c->g->prepared = true;
	migration_note(c, false, "MigrationResumed", "the way is mended: the rest of it follows");
	migration_changed(c);
}

/* What came of it is seen at the domain: another attempt is another relay's. */
static void step_recover(struct migration_call *c)
{
	c->g->prepared = false;
	migration_note_peer(c, NULL, "sending the rest of its memory to", "");
	migration_changed(c);
}

static void step_discard(struct migration_call *c)
{
	c->m->vmi->end.discarded = c->m->vmi_changed = true;
	if (c->g->discard)
		return;
	c->g->discard = true; /* not all of its memory came */
	migration_changed(c);
}

static void step_pass_on(struct migration_call *c)
{
	migration_note(c, false, NULL, "letting the guest go on while its memory comes");
}

static void step_seal(struct migration_call *c)
{
	migration_note(c, false, NULL, "it is there: ending its QEMU, while libvirt waits");
}

static void step_let_go(struct migration_call *c)
{
	c->g->let_go = true;
}

static void step_cancel(struct migration_call *c)
{
	struct migration *g = c->g;

	g->call_off_at = c->now.boot + SECONDS(MIGRATION_REPEAT_S);
	if (g->calling_off_at)
		return;
	g->calling_off_at = c->now.boot;
	migration_note_peer(c, NULL, "calling off the move to", "");
}

static void step_note_evidence(struct migration_call *c)
{
	c->g->evidence_at = c->now.boot;
}

static void step_release(struct migration_call *c)
{
	migration_set_state(c->g, MIGRATION_RELEASED);
	if (c->g->post_copy)
		c->g->mode = MIGRATION_MODE_POST_COPY; /* nobody need have told how far it was */
	c->g->ready_wall = c->now.wall;
	if (c->g->stands && c->m->vmi->pause == PAUSE_AS_IS)
		c->m->vmi->pause = PAUSE_HELD; /* the target tells nobody's pause from its own */
	if (c->g->cancelled)
		migration_note(c, true, "FailedAbortMigration",
			"it is too late to call it off: all of it was at the target already");
	migration_note_peer(c, "Released", "handed over to", "");
	migration_changed(c);
	if (c->agent->options->tuning.handover.memory)
		return;
	migration_move_away(c);
	c->g->removed = true;
	c->m->migration = NULL;
}

/* Whoever vouched for that has said that nobody there has to hear of anything. */
static bool is_dead(struct agent *agent, const char *peer)
{
	const struct peer_facts *p = peers_find(agent, peer);

	return p && p->dead.wall;
}

static void step_abort(struct migration_call *c)
{
	struct migration *g = c->g;

	g->acked |= g->role == MIGRATION_SOURCE && is_dead(c->agent, g->peer);
	set_reason(c);
	migration_set_state(g, MIGRATION_ABORTED);
	migration_note_failed(c);
	if (g->role == MIGRATION_TARGET && c->m && c->m->vmi) {
		if (!domain_is_alive(machine_domain_state(c->m)))
			fold_look_again(c->m); /* it may have come meanwhile, and no event yet */
		migration_end_run(c, PHASE_FAILED);
		vmi_delete(c->m, c->now);
		migration_leave(c, false);
	}
	migration_changed(c);
}

static void step_resume(struct migration_call *c)
{
	migration_note(c, false, NULL, "resuming the guest");
}

static void step_announce(struct migration_call *c)
{
	c->g->announced = true;
	migration_note(c, false, NULL, "telling the network that the guest is here");
}

/* libvirt's reason for the end says that it lives elsewhere; the truth is that it is lost. */
static void step_restore(struct migration_call *c)
{
	struct machine *m = c->m;

	c->g->restored = true;
	migration_changed(c);
	if (!m || !m->vmi || domain_is_alive(machine_domain_state(m)))
		return;
	if (domain_end_reason(&m->vmi->end, m->dom.state, m->dom.reason) != REASON_MIGRATED)
		return;
	replace_str(&m->vmi->reason, "MigrationFailed");
	migration_end_run(c, PHASE_FAILED);
	migration_note(c, true, "Stopped", "its guest was lost on the way");
}

static void step_complete(struct migration_call *c)
{
	c->g->complete_at = c->now.boot;
	c->g->ready_wall = c->now.wall;
	migration_set_state(c->g, MIGRATION_COMPLETE);
	migration_note_peer(c, "Complete", "it is here; waiting for", " to hand it over");
	migration_changed(c);
}

static void step_take_over(struct migration_call *c)
{
	migration_own(c->agent, c->g, c->g->document, c->now);
}

/* What is not taken will be said again. */
static void step_own(struct migration_call *c)
{
	autofree char *commit = take(&c->g->commit);

	migration_own(c->agent, c->g, commit, c->now);
}

static void step_nothing(struct migration_call *c)
{
	(void)c;
}

/* The source's guest changed hands, or it is as before; the target's is the target's. */
static void step_finish(struct migration_call *c)
{
	struct migration *g = c->g;
	bool released = g->state == MIGRATION_RELEASED;

	g->acked = g->role == MIGRATION_SOURCE || g->taken;
	end(c, c->plan->succeeded);
	if (!g->succeeded && (released || g->role == MIGRATION_TARGET))
		migration_note_failed(c);
	else if (g->succeeded)
		migration_note_peer(c, "Migrated", released ? "moved to" : "moved here from", "");
	if (!released)
		return;
	g->moved = true;
	migration_move_away(c);
}

static void step_clean(struct migration_call *c)
{
	c->g->acked = true;
	end(c, false);
}

static void step_tell_doubt(struct migration_call *c)
{
	autofree char *words = migration_doubt_words(c->g);

	c->g->doubt_told = true;
	migration_note(c, true, "MigrationInDoubt", words);
}

/* clang-format off */
static void (*const steps[MIGRATION_STEP_MAX])(struct migration_call *c) = {
	[MIGRATION_STEP_SAY]           = step_say,
	[MIGRATION_STEP_LOOK]          = step_look,
	[MIGRATION_STEP_BEGIN]         = step_begin,
	[MIGRATION_STEP_WAIT]          = step_wait,
	[MIGRATION_STEP_FAIL]          = step_fail,
	[MIGRATION_STEP_PERFORM]       = step_perform,
	[MIGRATION_STEP_WATCH]         = step_watch,
	[MIGRATION_STEP_CUT]           = step_cut,
	[MIGRATION_STEP_AGAIN]         = step_again,
	[MIGRATION_STEP_PASS_ON]       = step_pass_on,
	[MIGRATION_STEP_SEAL]          = step_seal,
	[MIGRATION_STEP_LET_GO]        = step_let_go,
	[MIGRATION_STEP_CANCEL]        = step_cancel,
	[MIGRATION_STEP_NOTE_EVIDENCE] = step_note_evidence,
	[MIGRATION_STEP_RELEASE]       = step_release,
	[MIGRATION_STEP_ABORT]         = step_abort,
	[MIGRATION_STEP_RESUME]        = step_resume,
	[MIGRATION_STEP_ANNOUNCE]      = step_announce,
	[MIGRATION_STEP_RESTORE]       = step_restore,
	[MIGRATION_STEP_PREPARE]       = step_nothing,
	[MIGRATION_STEP_COMPLETE]      = step_complete,
	[MIGRATION_STEP_TAKE_OVER]     = step_take_over,
	[MIGRATION_STEP_READ_NVRAM]    = step_nothing,
	[MIGRATION_STEP_WRITE_NVRAM]   = step_nothing,
	[MIGRATION_STEP_OWN]           = step_own,
	[MIGRATION_STEP_BREAK]         = step_break,
	[MIGRATION_STEP_MENDED]        = step_mended,
	[MIGRATION_STEP_RELAY]         = step_nothing,
	[MIGRATION_STEP_RECOVER]       = step_recover,
	[MIGRATION_STEP_DISCARD]       = step_discard,
	[MIGRATION_STEP_FINISH]        = step_finish,
	[MIGRATION_STEP_CLEAN]         = step_clean,
	[MIGRATION_STEP_TELL_DOUBT]    = step_tell_doubt,
};
/* clang-format on */

/* ---- the turn -------------------------------------------------------------------------------- */

/* Whoever declares this host dead takes or reclaims the guest, wherever it is by then: it leaves
 * for a third host only when the other one of every earlier migration has heard how that ended. */
static bool is_unsettled(const struct agent *agent, const struct migration *g)
{
	for (size_t i = 0; i < agent->migrations.n; i++) {
		const struct migration *other = agent->migrations.list[i];

		if (!other->removed && migration_may_be_lost(other) &&
			!streq(other->peer, g->peer) && streq(other->meta.ns, g->meta.ns) &&
			streq(other->vmi, g->vmi))
			return true;
	}
	return false;
}

struct migration_view migration_view_of(const struct agent *agent, const struct migration *g,
	struct now now)
{
	return (struct migration_view){
		.g = g,
		.m = machines_find(&agent->machines, g->meta.ns, g->vmi),
		.rules = &agent->options->tuning.handover,
		.now = now,
		.connected = agent->connected,
		.peer_up = peers_is_up(agent, g->peer),
		.may_begin = migration_limits_allow(agent, g),
		.unsettled = g->state == MIGRATION_PENDING && is_unsettled(agent, g),
	};
}

static bool decide(struct agent *agent, struct migration *g, struct now now)
{
	struct migration_view view = migration_view_of(agent, g, now);
	struct migration_plan plan = migration_decide(&view);
	struct migration_call call = { .agent = agent,
		.g = g,
		.m = machines_find(&agent->machines, g->meta.ns, g->vmi),
		.plan = &plan,
		.now = now };

	agent->migrations.wake_at = MIN(agent->migrations.wake_at, plan.wake_at);
	if (plan.step == MIGRATION_STEP_NONE)
		return false;
	steps[plan.step](&call);
	if (migration_step_op(plan.step) != OP_NONE)
		ops_plan(agent, call.m, migration_step_op(plan.step), now);
	return true;
}

void migrations_turn(struct agent *agent, struct now now)
{
	struct migrations *gs = &agent->migrations;

	gs->wake_at = NEVER;
	gs->dirty = false;
	migration_objects_turn(agent);
	for (size_t i = 0; i < gs->n; i++) {
		if (migration_is_over(gs->list[i]) || gs->list[i]->removed)
			continue;
		checks_choose(agent, gs->list[i], now);
		migration_note_doubt(gs->list[i], now);
		gs->dirty |= decide(agent, gs->list[i], now);
	}
}
