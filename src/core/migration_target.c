/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target obeys: it gets ready, says when all of the guest is here, and waits for as long as it
 * takes. It runs the guest only as its OWNER, which the source's COMMIT alone makes it; it removes
 * the image only after the source's ABORT is stored.
 */
#include "core/migration_private.h"

#include "core/phase.h"

typedef bool rule_fn(const struct migration_view *v, struct migration_plan *plan);

#define IMPATIENCE_MS 10000 /* of one that does not wait, as the simulation has it */

static bool has_run(const struct migration_view *v)
{
	return v->m && v->m->vmi && streq(v->m->vmi->meta.uid, v->g->vmi_uid);
}

/* All of it is here, and stands still: libvirt has ended its part, and the guest's clock
 * is ours to start. */
static bool has_image(const struct migration_view *v)
{
	enum domain_state state = machine_domain_state(v->m);

	return domain_is_alive(state) && state != DOMAIN_UNKNOWN &&
		!(state == DOMAIN_PAUSED &&
			(v->m->dom.reason == REASON_MIGRATION ||
				v->m->dom.reason == REASON_STARTING_UP));
}

static bool rule_called_off(const struct migration_view *v, struct migration_plan *plan)
{
	return v->g->called_off &&
		(v->g->state == MIGRATION_IN || v->g->state == MIGRATION_COMPLETE) &&
		plan_migration(plan, MIGRATION_STEP_ABORT, v->g->refusal);
}

/* The source has handed it over. Before it is this host's, what its firmware keeps is in the file
 * from which its next run takes it. */
static bool rule_commit(const struct migration_view *v, struct migration_plan *plan)
{
	if (!v->g->commit || (v->g->state != MIGRATION_IN && v->g->state != MIGRATION_COMPLETE))
		return false;
	if (!v->g->nvram || !has_run(v))
		return plan_migration(plan, MIGRATION_STEP_OWN, NULL);
	return v->m->ops[LANE_MAIN].kind == OP_NONE &&
		plan_migration(plan, MIGRATION_STEP_WRITE_NVRAM, NULL);
}

static bool rule_make_ready(const struct migration_view *v, struct migration_plan *plan)
{
	return v->g->state == MIGRATION_IN && !v->g->prepared && v->connected &&
		migration_may_act(v, LANE_MAIN, plan) &&
		plan_migration(plan, MIGRATION_STEP_PREPARE, NULL);
}

static bool rule_complete(const struct migration_view *v, struct migration_plan *plan)
{
	if (v->g->state != MIGRATION_IN || !v->g->prepared)
		return false;
	if (migration_knows(v) && has_image(v))
		return plan_migration(plan, MIGRATION_STEP_COMPLETE, NULL);
	return migration_look(v, plan) || migration_say(v, HANDOVER_QUERY, plan);
}

/* Whether the image still lives is looked at again: an event may be lost. */
static bool rule_wait(const struct migration_view *v, struct migration_plan *plan)
{
	if (v->g->state != MIGRATION_COMPLETE)
		return false;
	if (!v->rules->patience && v->now.boot >= v->g->complete_at + IMPATIENCE_MS)
		return plan_migration(plan, MIGRATION_STEP_TAKE_OVER, NULL);
	if (migration_look(v, plan))
		return true;
	return migration_knows(v) &&
		migration_say(v, has_image(v) ? HANDOVER_COMPLETE : HANDOVER_NOIMAGE, plan);
}

static bool finish(struct migration_plan *plan, bool succeeded, const char *reason)
{
	plan->succeeded = succeeded;
	return plan_migration(plan, MIGRATION_STEP_FINISH, reason);
}

/* There is nothing left at the source that could come. */
static bool is_forsaken(const struct migration *g)
{
	return g->forsaken || g->taken;
}

/* Of what broke down on the way the source has the rest, and asks for a new way. When it does not
 * come, or has nothing any more, the guest cannot go on; who has sent all of it has nothing either,
 * and libvirt is given time to see that here. */
static bool rule_mend(const struct migration_view *v, struct migration_plan *plan)
{
	const struct migration *g = v->g;
	msec limit =
		g->broke_at + SECONDS(is_forsaken(g) ? MIGRATION_GRACE_S : MIGRATION_RECOVER_S);

	if (!g->broke_at)
		return plan_migration(plan, MIGRATION_STEP_BREAK, NULL);
	if (v->now.boot >= limit)
		return !migration_may_act(v, LANE_URGENT, plan) ||
			plan_migration(plan, MIGRATION_STEP_DISCARD, NULL);
	migration_wake(plan, limit);
	if (g->recovery && !g->prepared && migration_may_act(v, LANE_GUEST, plan))
		return plan_migration(plan, MIGRATION_STEP_RELAY, NULL);
	migration_look(v, plan);
	return true;
}

/* Of post-copy: libvirt's last call is passed on now that the guest is this host's, and all of it
 * is here when its memory is. */
static bool rule_pass_on(const struct migration_view *v, struct migration_plan *plan)
{
	if (!has_image(v) && !v->g->passed)
		return !migration_may_act(v, LANE_GUEST, plan) ||
			plan_migration(plan, MIGRATION_STEP_PASS_ON, NULL);
	if (migration_is_broken(v) ||
		(is_forsaken(v->g) && (!has_image(v) || v->m->dom.reason == REASON_POSTCOPY)))
		return rule_mend(v, plan);
	if (v->g->broke_at)
		return plan_migration(plan, MIGRATION_STEP_MENDED, NULL);
	if (has_image(v) && v->m->dom.reason != REASON_POSTCOPY)
		return false;
	migration_look(v, plan);
	return true;
}

/* QEMU has announced the guest when all of it had come. Where that is long ago, it has not
 * been heard of since. */
static bool is_unheard(const struct migration_view *v)
{
	return !v->g->complete_at || v->now.boot - v->g->complete_at > MIGRATION_HEARD_MS;
}

static bool goes_on(const struct migration_view *v, struct migration_plan *plan)
{
	if (is_unheard(v) && migration_announce(v, plan))
		return plan->step != MIGRATION_STEP_NONE;
	return finish(plan, true, NULL);
}

/* What it says of its own end it can only have done here, where it ran. */
static bool ended_by_itself(const struct migration_view *v)
{
	return !v->g->discard && (v->m->vmi->end.guest_shutdown || v->m->vmi->end.panicked);
}

static bool rule_own(const struct migration_view *v, struct migration_plan *plan)
{
	enum domain_state state;

	if (v->g->state != MIGRATION_OWNER)
		return false;
	if (!has_run(v))
		return finish(plan, false, "its run is gone");
	if (v->m->ops[LANE_MAIN].kind == OP_MIGRATE_WRITE_NVRAM)
		return true; /* of before it runs; its source was declared dead meanwhile */
	if (!migration_knows(v))
		return false;
	state = machine_domain_state(v->m);
	if (!domain_is_alive(state))
		return ended_by_itself(v)
			? finish(plan, true, NULL)
			: finish(plan, false, "the target lost it after it had been handed over");
	if (v->g->post_copy && !v->g->discard && rule_pass_on(v, plan))
		return plan->step != MIGRATION_STEP_NONE;
	if (v->g->discard)
		return migration_may_act(v, LANE_URGENT, plan) &&
			plan_migration(plan, MIGRATION_STEP_DISCARD, NULL);
	if (state != DOMAIN_PAUSED || v->m->vmi->pause == PAUSE_HELD)
		return goes_on(v, plan);
	return migration_may_act(v, LANE_GUEST, plan) &&
		plan_migration(plan, MIGRATION_STEP_RESUME, NULL);
}

/* When the machine has removed all of it, the source may hear so. */
static bool rule_cleaned(const struct migration_view *v, struct migration_plan *plan)
{
	return v->g->state == MIGRATION_ABORTED && !has_run(v) &&
		plan_migration(plan, MIGRATION_STEP_CLEAN, v->g->reason);
}

static bool rule_report(const struct migration_view *v, struct migration_plan *plan)
{
	return v->g->state == MIGRATION_DONE && !v->g->acked &&
		migration_say(v, HANDOVER_FINALIZED, plan);
}

static rule_fn *const rules[] = {
	rule_called_off,
	rule_commit,
	rule_make_ready,
	rule_complete,
	rule_wait,
	rule_own,
	rule_cleaned,
	rule_report,
	migration_tell_doubt,
};

void migration_decide_target(const struct migration_view *v, struct migration_plan *plan)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i](v, plan))
			break;
	}
}
