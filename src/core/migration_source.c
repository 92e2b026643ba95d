/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source decides: it asks the target to get ready, has libvirt copy the guest, and then either
 * RELEASES it or aborts. It releases only with evidence that its own guest has not run since the
 * switch: libvirt's word that it was done while its QEMU is gone, or its reason "migrated", or that
 * the relay kept the target's answer from it until its QEMU was gone. That QEMU is gone is none:
 * libvirt resumes the guest when it misses the target's answer, and it may have crashed after that.
 */
#include "core/migration_private.h"

#include "core/migration_monitor.h"
#include "core/nvram.h"
#include "core/phase.h"

typedef bool rule_fn(const struct migration_view *v, struct migration_plan *plan);

static bool has_run(const struct migration_view *v)
{
	return v->m && v->m->vmi && streq(v->m->vmi->meta.uid, v->g->vmi_uid);
}

static bool is_wanted(const struct migration_view *v)
{
	return has_run(v) && v->m->vmi->phase == PHASE_RUNNING && !vmi_is_stopping(v->m->vmi);
}

/* ---- PENDING --------------------------------------------------------------------------------- */

static const char *why_it_waited(const struct migration_view *v)
{
	if (!v->peer_up)
		return "the target could not be reached for 15 minutes";
	return v->unsettled ? "the other host of an earlier migration has not heard for 15 minutes "
			      "how that one ended"
			    : "it was not its turn for 15 minutes";
}

static bool rule_pending(const struct migration_view *v, struct migration_plan *plan)
{
	msec limit = v->g->began + SECONDS(MIGRATION_PENDING_S);

	if (v->g->state != MIGRATION_PENDING)
		return false;
	if (v->g->cancelled)
		return plan_migration(plan, MIGRATION_STEP_FAIL, "it was cancelled");
	if (!is_wanted(v))
		return plan_migration(plan, MIGRATION_STEP_FAIL,
			"the virtual machine instance does not run any more");
	if (v->g->refusal)
		return plan_migration(plan, MIGRATION_STEP_FAIL, v->g->refusal);
	if (v->now.boot >= limit)
		return plan_migration(plan, MIGRATION_STEP_FAIL, why_it_waited(v));
	if (v->may_begin && v->peer_up && !v->unsettled)
		return plan_migration(plan, MIGRATION_STEP_BEGIN, NULL);
	plan->waits = !v->peer_up ? MIGRATION_WAITS_FOR_PEER
		: v->unsettled    ? MIGRATION_WAITS_FOR_WORD
				  : MIGRATION_WAITS_FOR_TURN;
	if (plan->waits != v->g->waits)
		return plan_migration(plan, MIGRATION_STEP_WAIT, NULL);
	return migration_wake(plan, limit);
}

/* ---- OUT, until libvirt is told -------------------------------------------------------------- */

static const char *why_it_did_not_begin(const struct migration *g)
{
	if (g->waits == MIGRATION_WAITS_FOR_ROOM)
		return "the target took no more for 15 minutes";
	return g->prepared
		? "the target was ready, but libvirt at the source could not be told to begin"
		: "the target did not get ready in time";
}

static bool rule_prepare(const struct migration_view *v, struct migration_plan *plan)
{
	const struct migration *g = v->g;
	bool busy = g->waits == MIGRATION_WAITS_FOR_ROOM;
	msec limit = g->began + SECONDS(busy ? MIGRATION_PENDING_S : MIGRATION_PREPARE_S);

	if (g->state != MIGRATION_OUT || g->performing)
		return false;
	if (g->cancelled)
		return plan_migration(plan, MIGRATION_STEP_ABORT, "it was cancelled");
	if (!is_wanted(v))
		return plan_migration(plan, MIGRATION_STEP_ABORT,
			"the virtual machine instance does not run any more");
	if (g->refusal)
		return plan_migration(plan, MIGRATION_STEP_ABORT, g->refusal);
	if (v->now.boot >= limit) {
		plan->because = g->trouble;
		return plan_migration(plan, MIGRATION_STEP_ABORT, why_it_did_not_begin(g));
	}
	migration_wake(plan, limit);
	if (!g->prepared)
		return migration_say(v, HANDOVER_PREPARE, plan);
	return migration_knows(v) && domain_is_alive(machine_domain_state(v->m)) &&
		migration_may_act(v, LANE_MAIN, plan) && migration_may_act(v, LANE_MIGRATE, plan) &&
		plan_migration(plan, MIGRATION_STEP_PERFORM, NULL);
}

/* ---- OUT, since then ------------------------------------------------------------------------- */

static bool is_copying(const struct migration_view *v)
{
	return v->m->ops[LANE_MIGRATE].kind != OP_NONE || v->m->dom.migrating;
}

/* An earlier life of the agent has begun it: who watches it, and ends its relay, is
 * to be found anew. */
static bool rule_watch(const struct migration_view *v, struct migration_plan *plan)
{
	if (v->g->watched || v->m->ops[LANE_MIGRATE].kind != OP_NONE)
		return false;
	if (v->connected && migration_may_act(v, LANE_MIGRATE, plan))
		plan_migration(plan, MIGRATION_STEP_WATCH, NULL);
	return true;
}

/* Once it has sent something it has its watcher, who knows limits. A target that is large takes
 * its time to start. */
static bool has_not_begun(const struct migration_view *v, struct migration_plan *plan)
{
	msec time = migration_time_limit(&v->g->limits, v->m->vmi->typed.memory);
	msec limit = v->g->performing_at + MAX(time, SECONDS(MIGRATION_BEGIN_S));

	if (v->g->progress.total || !v->g->performing_at || time == NEVER)
		return false;
	return v->now.boot >= limit || migration_wake(plan, limit);
}

/* That is told again while it goes on, for libvirt may not have begun when it was told first. It
 * hears of nothing while it waits for the target's libvirt, or QEMU: then the way there ends, which
 * it does notice. With post-copy the guest's memory may be on both sides by then. */
static bool rule_call_off(const struct migration_view *v, struct migration_plan *plan)
{
	const struct migration *g = v->g;
	msec limit = g->calling_off_at + SECONDS(MIGRATION_SWITCH_S);
	bool may_cut = g->calling_off_at && !g->cut && !(g->post_copy && g->progress.total);

	if (may_cut && v->now.boot >= limit)
		return plan_migration(plan, MIGRATION_STEP_CUT,
			"it is not called off: ending the way to");
	if (may_cut)
		migration_wake(plan, limit);
	if (v->now.boot < g->call_off_at)
		return migration_wake(plan, g->call_off_at);
	return migration_may_act(v, LANE_URGENT, plan) &&
		plan_migration(plan, MIGRATION_STEP_CANCEL, NULL);
}

/* The host goes down: what is not there in time is to be told to stop while there is some left. */
static bool has_no_time(const struct migration_view *v, struct migration_plan *plan)
{
	msec limit = v->m->stop_by - SECONDS(MIGRATION_GRACE_S);

	return v->m->stop_by && (v->now.boot >= limit || migration_wake(plan, limit));
}

static bool is_unwanted(const struct migration_view *v, struct migration_plan *plan)
{
	return v->g->cancelled || vmi_is_stopping(v->m->vmi) || v->g->progress.given_up ||
		has_no_time(v, plan) || has_not_begun(v, plan);
}

/* While it is copied, by an op of this life of the agent or of an earlier one. */
static bool rule_copying(const struct migration_view *v, struct migration_plan *plan)
{
	if (!is_copying(v))
		return false;
	if (is_unwanted(v, plan) && rule_call_off(v, plan))
		return true;
	if (v->m->ops[LANE_MIGRATE].kind == OP_NONE)
		migration_look(v, plan);
	return true;
}

/* E1, E2, E3 of the design: nothing else shows that the guest did not run on. */
static bool has_evidence(const struct migration_view *v)
{
	const struct machine *m = v->m;

	if (!v->rules->evidence)
		return true;
	return v->g->performed || v->g->sealed || m->vmi->end.stopped == REASON_MIGRATED ||
		(m->dom.state == DOMAIN_SHUTOFF && m->dom.reason == REASON_MIGRATED);
}

static bool is_fresh(const struct migration_view *v)
{
	return v->g->complete_at && v->now.boot - v->g->complete_at <= MIGRATION_FRESH_MS;
}

/* There may be evidence yet. */
static bool may_seal(const struct migration *g)
{
	return g->held && !g->sealed && !g->unsealed;
}

static bool rule_gone_over(const struct migration_view *v, struct migration_plan *plan)
{
	msec limit = v->g->evidence_at + SECONDS(MIGRATION_GRACE_S);

	if (!has_evidence(v) && !may_seal(v->g))
		return plan_migration(plan, MIGRATION_STEP_ABORT,
			"its guest ended before it had gone over for certain");
	if (v->g->no_image)
		return plan_migration(plan, MIGRATION_STEP_ABORT, "the target has lost it");
	if (is_fresh(v) && has_evidence(v))
		return plan_migration(plan, MIGRATION_STEP_RELEASE, NULL);
	if (!v->g->evidence_at)
		return plan_migration(plan, MIGRATION_STEP_NOTE_EVIDENCE, NULL);
	if (v->now.boot >= limit)
		return plan_migration(plan, MIGRATION_STEP_ABORT,
			"the target has not said within 30 s that it has it");
	return migration_wake(plan, limit);
}

/* libvirt resumes the guest only after it has missed the target's answer. While that is held, and
 * the target has the guest, QEMU is ended here, which libvirt would look for each 0.2 s; still held
 * after that, it is the evidence. */
static bool rule_seal(const struct migration_view *v, struct migration_plan *plan)
{
	if (v->m->ops[LANE_GUEST].kind == OP_MIGRATE_SEAL)
		return true;
	if (v->g->sealed) {
		rule_gone_over(v, plan);
		return true;
	}
	return may_seal(v->g) && !v->g->no_image && is_fresh(v) &&
		(is_copying(v) || migration_knows(v)) && migration_may_act(v, LANE_GUEST, plan) &&
		plan_migration(plan, MIGRATION_STEP_SEAL, NULL);
}

/* While it is held, and its QEMU stands still: libvirt that misses it resumes the guest, of which
 * nothing is anywhere else. */
static bool rule_lost_there(const struct migration_view *v, struct migration_plan *plan)
{
	return v->g->held && v->g->no_image && !v->g->cut &&
		plan_migration(plan, MIGRATION_STEP_CUT,
			"that host has lost it: ending the way to");
}

static const char *failure(const struct migration_view *v)
{
	const struct migration *g = v->g;

	if (g->cancelled)
		return "it was cancelled";
	if (g->no_image)
		return "the target has lost it";
	if (g->calling_off_at && vmi_is_stopping(v->m->vmi))
		return "its virtual machine instance is being stopped";
	if (g->calling_off_at && v->m->stop_by)
		return "the host goes down";
	if (g->calling_off_at && !g->progress.total)
		return "nothing of it was sent in time";
	if (g->post_copy && g->cut)
		return "it stood still before it could go over";
	return g->refusal ? g->refusal : "libvirt did not carry it through";
}

/* All of its memory was sent before it could go over, or something else has stopped it, as a full
 * disk does: the target lets nothing run that comes so. When the way ends, libvirt resumes what
 * it has stopped itself. */
static bool rule_came_too_early(const struct migration_view *v, struct migration_plan *plan)
{
	msec limit = v->g->evidence_at + SECONDS(MIGRATION_SWITCH_S);

	if (!v->g->evidence_at)
		return plan_migration(plan, MIGRATION_STEP_NOTE_EVIDENCE, NULL);
	if (v->now.boot < limit)
		return migration_wake(plan, limit);
	return !v->g->cut &&
		plan_migration(plan, MIGRATION_STEP_CUT,
			"it stands still before it could go over: ending the way to");
}

/* With post-copy QEMU itself is the evidence: a guest that stands still for it never runs here
 * again. The target's relay holds libvirt's last call back until the target owns it. One whose way
 * broke down before is lost. */
static bool rule_switched(const struct migration_view *v, struct migration_plan *plan)
{
	if (!migration_knows(v) || machine_domain_state(v->m) != DOMAIN_PAUSED)
		return false;
	if (v->m->dom.reason == REASON_POSTCOPY)
		return plan_migration(plan, MIGRATION_STEP_RELEASE, NULL);
	if (v->m->dom.reason == REASON_POSTCOPY_FAILED)
		return plan_migration(plan, MIGRATION_STEP_ABORT, failure(v));
	return is_copying(v) && rule_came_too_early(v, plan);
}

static bool wants_again(const struct migration_view *v)
{
	return v->g->wants_post_copy && !v->g->post_copy && !v->g->cancelled && is_wanted(v) &&
		machine_domain_state(v->m) == DOMAIN_RUNNING;
}

static bool rule_performed(const struct migration_view *v, struct migration_plan *plan)
{
	if (v->g->state != MIGRATION_OUT || !v->g->performing)
		return false;
	if (!has_run(v))
		return plan_migration(plan, MIGRATION_STEP_ABORT, "its run is gone");
	if (v->g->post_copy && rule_switched(v, plan))
		return true;
	if (rule_watch(v, plan) || rule_seal(v, plan) || rule_lost_there(v, plan) ||
		rule_copying(v, plan))
		return plan->step != MIGRATION_STEP_NONE;
	if (!migration_knows(v))
		return false;
	if (wants_again(v))
		return plan_migration(plan, MIGRATION_STEP_AGAIN, NULL);
	if (domain_is_alive(machine_domain_state(v->m)))
		return plan_migration(plan, MIGRATION_STEP_ABORT, failure(v));
	return rule_gone_over(v, plan);
}

/* ---- RELEASED, ABORTED ----------------------------------------------------------------------- */

/* The target's QEMU has told the network that the guest is there, if it had all of it. */
static bool goes_on(const struct migration_view *v, struct migration_plan *plan)
{
	if (migration_announce(v, plan))
		return plan->step != MIGRATION_STEP_NONE;
	return plan_migration(plan, MIGRATION_STEP_RESTORE, NULL);
}

/* What libvirt left standing goes on, but for what runs elsewhere for ever; what is gone is
 * the machine's own decider's. */
static bool rule_restore(const struct migration_view *v, struct migration_plan *plan)
{
	enum domain_state state;

	if (v->g->state != MIGRATION_ABORTED || !v->g->performing || v->g->restored)
		return false;
	if (!has_run(v))
		return plan_migration(plan, MIGRATION_STEP_RESTORE, NULL);
	if (!migration_knows(v))
		return false;
	state = machine_domain_state(v->m);
	if (state == DOMAIN_PAUSED && v->m->dom.reason == REASON_POSTCOPY)
		return migration_may_act(v, LANE_URGENT, plan) &&
			plan_migration(plan, MIGRATION_STEP_DISCARD, NULL);
	if (state != DOMAIN_PAUSED || v->m->dom.reason != REASON_MIGRATION)
		return goes_on(v, plan);
	return migration_may_act(v, LANE_GUEST, plan) &&
		plan_migration(plan, MIGRATION_STEP_RESUME, NULL);
}

/* The file in which its firmware keeps its variables has them all now that it does not
 * run here any more. */
static bool has_nvram(const struct migration_view *v, struct migration_plan *plan)
{
	if (v->g->nvram_known || !has_run(v) || !nvram_is_kept(v->m->vmi))
		return true;
	if (v->m->ops[LANE_MAIN].kind == OP_NONE)
		plan_migration(plan, MIGRATION_STEP_READ_NVRAM, NULL);
	return false;
}

/* The target is told of all that it needs as the owner, which both of these make it. */
static bool say_all(const struct migration_view *v, enum handover_kind kind,
	struct migration_plan *plan)
{
	return has_nvram(v, plan) ? migration_say(v, kind, plan)
				  : plan->step != MIGRATION_STEP_NONE;
}

/* A way that broke down is made anew: the rest of its memory is here, and the guest
 * waits for it there. */
static bool rule_recover(const struct migration_view *v, struct migration_plan *plan)
{
	const struct migration *g = v->g;
	msec limit = g->broke_at + SECONDS(MIGRATION_RECOVER_S);

	if (g->state != MIGRATION_RELEASED || !g->post_copy || g->ended || !has_run(v))
		return false;
	if (v->m->ops[LANE_MIGRATE].kind != OP_NONE)
		return false;
	if (migration_look(v, plan))
		return true;
	if (!migration_knows(v))
		return g->broke_at && v->connected;
	if (!migration_is_broken(v))
		return g->broke_at && domain_is_alive(machine_domain_state(v->m)) &&
			plan_migration(plan, MIGRATION_STEP_MENDED, NULL);
	if (!g->broke_at)
		return plan_migration(plan, MIGRATION_STEP_BREAK, NULL);
	if (v->now.boot >= limit)
		return false;
	migration_wake(plan, limit);
	if (!g->prepared)
		return say_all(v, HANDOVER_RECOVER, plan) || v->peer_up;
	return migration_may_act(v, LANE_MIGRATE, plan) &&
		plan_migration(plan, MIGRATION_STEP_RECOVER, NULL);
}

static bool rule_tell(const struct migration_view *v, struct migration_plan *plan)
{
	if (v->g->state == MIGRATION_RELEASED)
		return say_all(v, HANDOVER_COMMIT, plan);
	return v->g->state == MIGRATION_ABORTED && !v->g->acked &&
		migration_say(v, HANDOVER_ABORT, plan);
}

/* libvirt has had its answer kept from it for long enough. */
static bool rule_let_go(const struct migration_view *v, struct migration_plan *plan)
{
	return v->g->state == MIGRATION_RELEASED && v->g->held && !v->g->let_go && has_run(v) &&
		migration_may_act(v, LANE_GUEST, plan) &&
		plan_migration(plan, MIGRATION_STEP_LET_GO, NULL);
}

/* libvirt ends its part when all of the memory is there, and it knows that; a way that
 * broke down never ends. */
static bool is_sending(const struct migration_view *v)
{
	if (!has_run(v))
		return false;
	if (v->g->sealed)
		return v->m->ops[LANE_MIGRATE].kind != OP_NONE;
	return v->g->post_copy && v->g->ended_well && is_copying(v);
}

/* The target has said why, unless it is of an older version. */
static const char *loss(const struct migration *g)
{
	return g->trouble ? g->trouble : "the target lost it after it had been handed over";
}

static bool rule_end(const struct migration_view *v, struct migration_plan *plan)
{
	const struct migration *g = v->g;

	plan->succeeded = g->ended_well;
	if (g->state == MIGRATION_RELEASED && g->ended && !is_sending(v))
		return plan_migration(plan, MIGRATION_STEP_FINISH, g->ended_well ? NULL : loss(g));
	return g->state == MIGRATION_ABORTED && g->acked && (g->restored || !g->performing) &&
		plan_migration(plan, MIGRATION_STEP_FINISH, g->reason);
}

static rule_fn *const rules[] = {
	rule_pending,
	rule_prepare,
	rule_performed,
	rule_restore,
	rule_end,
	rule_recover,
	rule_tell,
	rule_let_go,
	migration_tell_doubt,
};

void migration_decide_source(const struct migration_view *v, struct migration_plan *plan)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i](v, plan))
			break;
	}
}
