/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The migrations' part of a turn: what their decider wants of each that is not over, and what that changes in
 * the machine. It comes before the machines' own part, so that both are saved in one transaction.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/migration.h"
#include "core/phase.h"
#include "daemon/agent_private.h"
#include "daemon/arrivals.h"
#include "daemon/migration_objects.h"

struct call {
	struct agent *agent;
	struct migration *g;
	struct machine *m; /* or NULL */
	const struct migration_plan *plan;
	struct now now;
};

/* ---- words ------------------------------------------------------------------------------------------ */

static void note(struct call *c, bool warning, const char *reason, const char *text)
{
	struct happening what = { .warning = warning };

	if (!c->m || !c->m->vmi)
		return;
	happen(&what, KIND_VMI, reason, "%s", text);
	agent_note(c->agent, &c->m->vmi->meta, &what);
}

static void note_peer(struct call *c, const char *reason, const char *before, const char *after)
{
	autofree char *text = xasprintf("%s '%s'%s", before, c->g->peer, after);

	note(c, false, reason, text);
}

static void note_failed(struct call *c)
{
	autofree char *text = xasprintf("migration %s '%s' failed: %s",
		c->g->role == MIGRATION_SOURCE ? "to" : "from", c->g->peer,
		c->g->reason ? c->g->reason : "the other host gave no reason");

	note(c, true, "FailedMigration", text);
}

/* ---- the machine ------------------------------------------------------------------------------------ */

static void changed(struct call *c)
{
	migration_touch(c->agent, c->g);
	if (!c->m)
		return;
	c->m->vmi_changed |= c->m->vmi != NULL;
	c->m->vm_changed |= c->m->vm != NULL;
	agent_mark(c->agent, c->m);
}

/* Its guest went over, or is nothing any more, without anybody's having stopped it. */
static void end_run(struct call *c, enum phase phase)
{
	struct vmi *vmi = c->m->vmi;

	if (!phase_is_final(vmi->phase))
		vmi_set_phase(vmi, phase, c->now);
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL;
}

/* What a file declares of it is the target's from now on. */
static void move_origin(struct call *c, enum object_kind kind, const char *uid)
{
	struct origin *o = origins_find(c->agent, kind, c->m->ns, c->m->name);

	if (!o || o->removed || !streq(o->uid, uid))
		return;
	o->state = PROVENANCE_MOVED;
	o->changed = c->agent->origins.changed = true;
}

/* … and its file is heeded again. */
static void return_origin(struct call *c, enum object_kind kind, const struct object_meta *meta)
{
	struct origin *o = origins_find(c->agent, kind, c->m->ns, c->m->name);

	if (!o || o->removed || o->state != PROVENANCE_MOVED)
		return;
	o->state = PROVENANCE_LIVE;
	copy_str(o->uid, UID_SIZE, meta->uid);
	o->changed = c->agent->origins.changed = true;
}

/* Nothing of it stays here but what others name. */
static void leave(struct call *c, bool moved)
{
	struct machine *m = c->m;

	luggage_leave(c->agent, m, moved, c->now);
	if (m->vm)
		vm_delete(m, c->now);
}

static void move_away(struct call *c)
{
	struct machine *m = c->m;

	if (!m || !m->vmi || !streq(m->vmi->meta.uid, c->g->vmi_uid))
		return;
	move_origin(c, KIND_VMI, m->vmi->meta.uid);
	end_run(c, PHASE_SUCCEEDED);
	vmi_delete(m, c->now);
	if (m->vm)
		move_origin(c, KIND_VM, m->vm->meta.uid);
	leave(c, true);
}

/* A row that never was begun here stands for the one that was lost. */
void migration_settle_away(struct agent *agent, struct machine *m, const char *peer, struct now now)
{
	struct migration *g = xcalloc(1, sizeof(*g));
	struct call c = { .agent = agent, .g = g, .m = m, .now = now };

	agent_uuid(agent, g->meta.uid);
	g->meta.ns = xstrdup(m->ns);
	g->meta.name = xasprintf("%.200s-%.8s", m->name, g->meta.uid);
	g->meta.created = now.wall;
	g->state = MIGRATION_DONE;
	g->vmi = xstrdup(m->name);
	g->peer = xstrdup(peer);
	g->moved = g->acked = g->succeeded = true;
	migrations_add(agent, g);
	m->migration = g;
	move_origin(&c, KIND_VM, m->vm->meta.uid);
	vm_delete(m, now);
	changed(&c);
	log_text(LOG_LEVEL_NOTICE, "%s/%s: peer '%s' has it", m->ns, m->name, peer);
}

/* What this host would not take any more leaves what it has taken with PREPARE: its guest is here, and whole. */
static int take_cargo(struct call *c, const char *document)
{
	struct migration *g = c->g;
	struct err err;
	int ret = cargo_take(c->agent, c->m, document, c->now, &err);

	if (ret < 0)
		log_text(LOG_LEVEL_ERROR, "%s/%s: what '%s' sent of it is not taken: %s",
			g->meta.ns, g->vmi, g->peer, err.msg);
	if (ret < 0 && g->document && document != g->document)
		ret = cargo_take(c->agent, c->m, g->document, c->now, &err);
	return ret;
}

void migration_own(struct agent *agent, struct migration *g, const char *document, struct now now)
{
	struct call c = { .agent = agent, .g = g, .now = now };

	c.m = machines_get(&agent->machines, g->meta.ns, g->vmi);
	if (take_cargo(&c, document) < 0)
		return;
	migration_object_commits(g, document);
	c.m->migration = g;
	c.m->vmi->epoch = g->epoch;
	return_origin(&c, KIND_VMI, &c.m->vmi->meta);
	if (c.m->vm) {
		c.m->vm->epoch = g->epoch;
		return_origin(&c, KIND_VM, &c.m->vm->meta);
	}
	g->moved = true;
	free(take(&g->document));
	migration_set_state(g, MIGRATION_OWNER);
	note_peer(&c, "Migrated", "taken over from", "");
	changed(&c);
}

/* The target was declared dead: the next epoch is ours again, and what may come back of it is stale. */
void migration_reclaim(struct agent *agent, struct migration *g, struct now now)
{
	struct call c = { .agent = agent, .g = g, .now = now };

	c.m = machines_find(&agent->machines, g->meta.ns, g->vmi);
	migration_set_state(g, MIGRATION_ABORTED);
	replace_str(&g->reason, "its target was declared dead");
	g->acked = g->reclaimed = true;
	if (c.m && c.m->vmi)
		c.m->vmi->epoch = g->epoch + 1;
	if (c.m && c.m->vm)
		c.m->vm->epoch = g->epoch + 1;
	note_failed(&c);
	changed(&c);
}

/* This host was declared dead, and the peer is the guest's home: what is left of it here ends, but for its disks. */
void migration_lose(struct agent *agent, struct migration *g, struct now now)
{
	struct call c = { .agent = agent, .g = g, .now = now };

	c.m = machines_find(&agent->machines, g->meta.ns, g->vmi);
	if (c.m && c.m->migration != g)
		c.m = NULL; /* another one of that name */
	replace_str(&g->reason, "this host was declared dead, and the other one has it");
	if (g->state != MIGRATION_DONE)
		migration_set_state(g, MIGRATION_DONE);
	g->lost = g->moved = g->acked = true;
	g->succeeded = false;
	log_text(LOG_LEVEL_WARNING,
		"%s/%s: peer '%s' has it since this host was declared dead: what runs of it here ends, "
		"its disks are left as they are",
		g->meta.ns, g->vmi, g->peer);
	if (c.m && c.m->vmi) {
		move_origin(&c, KIND_VMI, c.m->vmi->meta.uid);
		note_failed(&c);
		end_run(&c, PHASE_FAILED);
		vmi_delete(c.m, now);
	}
	if (c.m && c.m->vm) {
		move_origin(&c, KIND_VM, c.m->vm->meta.uid);
		vm_delete(c.m, now);
	}
	changed(&c);
}

/* ---- steps ------------------------------------------------------------------------------------------- */

static void step_say(struct call *c)
{
	handover_say(c->agent, c->g, c->plan->say, c->now);
	c->g->said = c->plan->say;
	c->g->say_at = c->now.boot + SECONDS(MIGRATION_REPEAT_S);
}

static void step_look(struct call *c)
{
	c->m->dom.look_again = true;
	c->g->look_at = c->now.boot + SECONDS(MIGRATION_REPEAT_S);
	agent_mark(c->agent, c->m);
}

static void step_begin(struct call *c)
{
	struct migration *g = c->g;

	g->epoch = MAX(c->m->vmi->epoch, 1) + 1;
	g->began = c->now.boot;
	g->waits = MIGRATION_WAITS_FOR_NOTHING;
	copy_str(g->database, UID_SIZE, c->agent->database_id);
	migration_limits_freeze(c->agent, g, c->m->vmi);
	migration_set_state(g, MIGRATION_OUT);
	c->m->migration = g;
	note_peer(c, "PreparingTarget", "asking", " to get ready for it");
	changed(c);
}

static void end(struct call *c, bool succeeded)
{
	struct migration *g = c->g;

	g->succeeded = succeeded;
	if (c->plan->reason != g->reason)
		replace_str(&g->reason, c->plan->reason);
	migration_set_state(g, MIGRATION_DONE);
	changed(c);
	migrations_prune(c->agent, g);
}

static void step_fail(struct call *c)
{
	c->g->acked = true;
	end(c, false);
	note_failed(c);
}

static void step_wait(struct call *c)
{
	c->g->waits = c->plan->waits;
	migration_touch(c->agent, c->g);
}

static void step_perform(struct call *c)
{
	c->g->performing = c->g->watched = true;
	note_peer(c, "Migrating", "moving to", "");
	changed(c);
}

/* Whatever it comes to: only libvirt's own word tells how the migration ended. */
static void step_watch(struct call *c)
{
	c->g->watched = true;
	note_peer(c, NULL, "watching it again on its way to", "");
}

static void step_cut(struct call *c)
{
	c->g->cut = true;
	if (c->agent->options->relay_end)
		c->agent->options->relay_end(c->agent->options->relay_ctx, c->g->meta.uid);
	note_peer(c, NULL, "it was there before it could go over: ending the way to", "");
}

/* What the target made ready for the first attempt is of no use to it. */
static void step_again(struct call *c)
{
	struct migration *g = c->g;

	g->post_copy = true;
	g->performing = g->admitted = g->prepared = g->watched = g->wants_post_copy = false;
	g->began = c->now.boot;
	g->say_at = 0;
	free(take(&g->offer));
	free(take(&g->refusal));
	memset(&g->progress, 0, sizeof(g->progress));
	note_peer(c, NULL, "it takes too long: trying again with post-copy, to", "");
	changed(c);
}

static void step_discard(struct call *c)
{
	if (c->g->discard)
		return;
	c->g->discard = true; /* not all of its memory came */
	changed(c);
}

static void step_pass_on(struct call *c)
{
	note(c, false, NULL, "letting the guest go on while its memory comes");
}

static void step_cancel(struct call *c)
{
	c->g->cancelling = true;
	note_peer(c, NULL, "calling off the move to", "");
}

static void step_note_evidence(struct call *c)
{
	c->g->evidence_at = c->now.boot;
}

static void step_release(struct call *c)
{
	migration_set_state(c->g, MIGRATION_RELEASED);
	c->g->ready_wall = c->now.wall;
	note_peer(c, "Released", "handed over to", "");
	changed(c);
	if (c->agent->options->tuning.handover.memory)
		return;
	move_away(c);
	c->g->removed = true;
	c->m->migration = NULL;
}

static void step_abort(struct call *c)
{
	struct migration *g = c->g;

	if (c->plan->reason != g->reason)
		replace_str(&g->reason, c->plan->reason);
	migration_set_state(g, MIGRATION_ABORTED);
	note_failed(c);
	if (g->role == MIGRATION_TARGET && c->m && c->m->vmi) {
		end_run(c, PHASE_FAILED);
		vmi_delete(c->m, c->now);
		leave(c, false);
	}
	changed(c);
}

static void step_resume(struct call *c)
{
	note(c, false, NULL, "resuming the guest");
}

/* libvirt's reason for the end says that it lives elsewhere; the truth is that it is lost. */
static void step_restore(struct call *c)
{
	struct machine *m = c->m;

	c->g->restored = true;
	changed(c);
	if (!m || !m->vmi || domain_is_alive(machine_domain_state(m)))
		return;
	if (domain_end_reason(&m->vmi->end, m->dom.state, m->dom.reason) != REASON_MIGRATED)
		return;
	replace_str(&m->vmi->reason, "MigrationFailed");
	end_run(c, PHASE_FAILED);
	note(c, true, "Stopped", "its guest was lost on the way");
}

static void step_complete(struct call *c)
{
	c->g->complete_at = c->now.boot;
	c->g->ready_wall = c->now.wall;
	migration_set_state(c->g, MIGRATION_COMPLETE);
	note_peer(c, "Complete", "it is here; waiting for", " to hand it over");
	changed(c);
}

static void step_take_over(struct call *c)
{
	migration_own(c->agent, c->g, c->g->document, c->now);
}

static void step_nothing(struct call *c)
{
	(void)c;
}

/* The source's guest changed hands, or it is as before; the target's is the target's. */
static void step_finish(struct call *c)
{
	struct migration *g = c->g;
	bool released = g->state == MIGRATION_RELEASED;

	g->acked = g->role == MIGRATION_SOURCE || g->taken;
	end(c, c->plan->succeeded);
	if (!g->succeeded && (released || g->role == MIGRATION_TARGET))
		note_failed(c);
	else if (g->succeeded)
		note_peer(c, "Migrated", released ? "moved to" : "moved here from", "");
	if (!released)
		return;
	g->moved = true;
	move_away(c);
}

static void step_clean(struct call *c)
{
	c->g->acked = true;
	end(c, false);
}

static void step_tell_doubt(struct call *c)
{
	autofree char *words = migration_doubt_words(c->g);

	c->g->doubt_told = true;
	note(c, true, "MigrationInDoubt", words);
}

/* clang-format off */
static void (*const steps[MIGRATION_STEP_MAX])(struct call *c) = {
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
	[MIGRATION_STEP_CANCEL]        = step_cancel,
	[MIGRATION_STEP_NOTE_EVIDENCE] = step_note_evidence,
	[MIGRATION_STEP_RELEASE]       = step_release,
	[MIGRATION_STEP_ABORT]         = step_abort,
	[MIGRATION_STEP_RESUME]        = step_resume,
	[MIGRATION_STEP_RESTORE]       = step_restore,
	[MIGRATION_STEP_PREPARE]       = step_nothing,
	[MIGRATION_STEP_COMPLETE]      = step_complete,
	[MIGRATION_STEP_TAKE_OVER]     = step_take_over,
	[MIGRATION_STEP_DISCARD]       = step_discard,
	[MIGRATION_STEP_FINISH]        = step_finish,
	[MIGRATION_STEP_CLEAN]         = step_clean,
	[MIGRATION_STEP_TELL_DOUBT]    = step_tell_doubt,
};
/* clang-format on */

/* ---- the turn ---------------------------------------------------------------------------------------- */

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
	};
}

static bool decide(struct agent *agent, struct migration *g, struct now now)
{
	struct migration_view view = migration_view_of(agent, g, now);
	struct migration_plan plan = migration_decide(&view);
	struct call call = { .agent = agent,
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
