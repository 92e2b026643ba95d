/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on what a run needs next: to be stopped, read, prepared, started, cleaned away.
 */
#include "core/decide_private.h"

#include "core/phase.h"
#include "core/shutdown.h"
#include "core/status.h"

/* Whether the last kill has had its time; it may be lost on the way, so it is repeated. */
static bool may_kill(const struct view *v, struct plan *plan)
{
	msec again = v->vmi->signal_last + SECONDS(RESIGNAL_S);

	if (!may_retry(v, plan) || !lane_is_free(v, LANE_URGENT))
		return false;
	return !v->vmi->end.killed || v->host->now.boot >= again || wake_at(plan, again);
}

/* What has not begun stays as it is, and begins after the next boot. */
bool may_live(const struct view *v)
{
	if (!vmi_is_live(v) || !v->vmi->prepared || vmi_is_unclaimed(v))
		return false;
	if (v->vmi->phase == PHASE_RUNNING || v->m->ops[LANE_MAIN].kind == OP_START)
		return true;
	return v->vmi->phase == PHASE_SCHEDULED && (!v->settled || domain_is_alive(v->state));
}

bool rule_host_stop(const struct view *v, struct plan *plan)
{
	return v->m->stop_by && may_live(v) && !v->vmi->host_shutdown &&
		plan_step(plan, STEP_HOST_STOP);
}

/* A domain that was seen since libvirt is back (design §4); what it does now may be
 * about to be read. */
static bool is_seen(const struct view *v)
{
	return v->state != DOMAIN_UNKNOWN && v->m->dom.agreed >= READS_TO_AGREE;
}

/* libvirt has had its time to start it, or to say how it is. */
static bool is_overdue(const struct view *v)
{
	return v->m->ops[LANE_MAIN].overdue || v->m->ops[LANE_READ].overdue;
}

/*
 * Whether there is something to stop. Signals and kills are owner-checked where they land, so they
 * need no fresh read, and one that hangs must eat nothing of the grace: what was seen last is
 * enough. After an op or a read that was reported as hung, not even that is needed.
 */
static bool is_to_be_stopped(const struct view *v)
{
	if (!v->vmi->prepared || vmi_is_unclaimed(v) || !v->host->connected)
		return false; /* it never got as far as a domain of ours, or nothing can be sent */
	if (is_overdue(v) || (!v->settled && v->vmi->signal_first))
		return true;
	return is_seen(v) && domain_is_alive(v->state);
}

/* Of a state that is not fresh nothing is concluded: it may have been paused then. */
static struct shutdown_facts shutdown_facts_of(const struct view *v)
{
	const struct vmi *vmi = v->vmi;
	bool blind = !is_seen(v) && !is_overdue(v);

	return (struct shutdown_facts){
		.grace = vmi->typed.grace,
		.state = v->settled ? v->state : DOMAIN_UNKNOWN,
		.first = vmi->signal_first,
		.kill_at = vmi->kill_at,
		.now = v->host->now.boot,
		.ways[WAY_AGENT] = { .heard = vmi_has_agent(vmi, &v->m->dom),
			.busy = blind || !lane_is_free(v, LANE_AGENT),
			.last = vmi->asked_last },
		.ways[WAY_BUTTON] = { .heard = vmi->typed.acpi,
			.busy = blind || !lane_is_free(v, LANE_SIGNAL),
			.last = vmi->signal_last },
	};
}

bool rule_stop(const struct view *v, struct plan *plan)
{
	struct shutdown_facts facts;
	msec again = NEVER;

	if (!vmi_is_live(v) || !vmi_is_stopping(v->vmi) || !is_to_be_stopped(v))
		return false;
	if (v->vmi->end.killed) /* it is on its way out, in whatever state it is seen */
		return (v->settled || v->vmi->signal_first || is_overdue(v)) && may_kill(v, plan) &&
			plan_step(plan, STEP_KILL);
	facts = shutdown_facts_of(v);
	switch (shutdown_decide(&facts, &again)) {
	case SHUTDOWN_KILL:
		return may_kill(v, plan) && plan_step(plan, STEP_KILL);
	case SHUTDOWN_ASK_AGENT:
		return !wake_at(plan, again) && plan_step(plan, STEP_ASK_AGENT);
	case SHUTDOWN_PRESS_BUTTON:
		return !wake_at(plan, again) && plan_step(plan, STEP_SIGNAL);
	case SHUTDOWN_WAIT:
		break;
	}
	return wake_at(plan, again);
}

bool rule_read(const struct view *v, struct plan *plan)
{
	if (!v->vmi || !v->vmi->prepared || v->vmi->cleaned || !v->host->connected)
		return false;
	if (!lane_is_free(v, LANE_READ) || !lane_is_free(v, LANE_MAIN))
		return false;
	if (!v->host->settled && v->m->dom.agreed < READS_TO_AGREE)
		return false; /* the lists after a connect come first */
	if (!v->m->dom.look_again && v->m->dom.state != DOMAIN_UNKNOWN)
		return false;
	return may_retry(v, plan) && plan_step(plan, STEP_READ);
}

/* An adopted run was started by others. */
bool wants_slot(const struct view *v, struct plan *plan)
{
	return vmi_is_live(v) && !v->vmi->claim && v->vmi->phase != PHASE_RUNNING &&
		!vmi_is_stopping(v->vmi) && !v->host->hold && !is_overdue(v) && may_retry(v, plan);
}

bool is_coming(const struct view *v, const struct plan *plan)
{
	if (is_overdue(v) || (v->vmi && v->vmi->tries))
		return false; /* nobody waits for what failed */
	if (vmi_is_live(v) && v->vmi->rebooted && v->vmi->prepared && !v->settled)
		return true; /* whether it is over is not known yet */
	return plan->wants_slot || plan->step != STEP_NONE || !lane_is_free(v, LANE_MAIN);
}

bool rule_schedule(const struct view *v, struct plan *plan)
{
	if (!plan->wants_slot || v->m->slot != SLOT_HELD || !lane_is_free(v, LANE_MAIN))
		return false;
	if (phase_is_unprocessed(v->vmi->phase))
		return plan_phase(plan, PHASE_SCHEDULING, REASON_UNKNOWN, NULL);
	if (v->vmi->phase != PHASE_SCHEDULING)
		return false;
	if (v->vmi->prepared)
		return plan_phase(plan, PHASE_SCHEDULED, REASON_UNKNOWN, NULL);
	plan->obstacle = v->host->obstacle;
	plan->obstacle_words = v->host->obstacle_words;
	return plan_step(plan, plan->obstacle ? STEP_WAIT_FOR : STEP_PREPARE);
}

/* Before anything else is done to an adopted domain, its stop included, it becomes ours. */
bool rule_claim(const struct view *v, struct plan *plan)
{
	if (!vmi_is_live(v) || !vmi_is_unclaimed(v) || v->vmi->hopeless || !v->settled)
		return false;
	return lane_is_free(v, LANE_MAIN) && may_retry(v, plan) && plan_step(plan, STEP_CLAIM);
}

bool rule_start(const struct view *v, struct plan *plan)
{
	if (!plan->wants_slot || v->m->slot != SLOT_HELD || v->vmi->phase != PHASE_SCHEDULED)
		return false;
	if (!v->settled || domain_is_alive(v->state) || !lane_is_free(v, LANE_MAIN))
		return false;
	return plan_step(plan, STEP_START);
}

/* QEMU's output is read before anything of the run goes. It is a file: libvirt is
 * not needed for it. */
bool rule_words(const struct view *v, struct plan *plan)
{
	return v->vmi && v->vmi->words == WORDS_WANTED && lane_is_free(v, LANE_WORDS) &&
		plan_step(plan, STEP_READ_WORDS);
}

/* … but a log that hangs is not waited for. */
static bool has_words(const struct view *v)
{
	return v->vmi->words != WORDS_WANTED || v->m->ops[LANE_WORDS].overdue;
}

/* A final run leaves nothing behind: its QEMU, its definition, its files; then itself. */
bool rule_clean(const struct view *v, struct plan *plan)
{
	if (!v->vmi || vmi_is_live(v))
		return false;
	if (v->vmi->cleaned)
		return v->vmi->meta.deleted && plan_step(plan, STEP_FORGET_VMI);
	if (!has_words(v) || !lane_is_free(v, LANE_MAIN) || !may_retry(v, plan))
		return false;
	if (!v->vmi->prepared)
		return plan_step(plan, STEP_CLEAN);
	if (!v->settled)
		return false;
	if (v->state == DOMAIN_NONE)
		return plan_step(plan, STEP_CLEAN);
	if (v->m->dom.active)
		return lane_is_free(v, LANE_URGENT) && plan_step(plan, STEP_KILL);
	return plan_step(plan, STEP_UNDEFINE);
}
