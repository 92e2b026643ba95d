/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on what a run needs next: to be stopped, read, prepared, started, cleaned away.
 */
#include "core/decide_private.h"

#include "core/phase.h"
#include "core/shutdown.h"

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

/* The kill needs no fresh read: it is owner-checked where it lands, and a hung read must not eat it. */
bool rule_stop(const struct view *v, struct plan *plan)
{
	if (!vmi_is_live(v) || !vmi_is_stopping(v->vmi) || !v->host->connected)
		return false;
	if (!v->vmi->prepared || vmi_is_unclaimed(v))
		return false; /* it never got as far as a domain of ours */

	bool overdue = v->m->ops[LANE_MAIN].overdue || v->m->ops[LANE_READ].overdue;
	bool known = v->settled && domain_is_alive(v->state);

	if (!known && !v->vmi->signal_first && !overdue)
		return false;
	if (v->settled && !domain_is_alive(v->state) && !overdue)
		return false;

	if (v->vmi->end.killed) /* it is on its way out, in whatever state it is seen */
		return may_kill(v, plan) && plan_step(plan, STEP_KILL);

	struct shutdown_facts facts = {
		.grace = v->vmi->typed.grace,
		.acpi = v->vmi->typed.acpi,
		.state = v->state,
		.first = v->vmi->signal_first,
		.last = v->vmi->signal_last,
		.kill_at = v->vmi->kill_at,
		.now = v->host->now.boot,
	};
	msec again = NEVER;

	switch (shutdown_decide(&facts, &again)) {
	case SHUTDOWN_KILL:
		return may_kill(v, plan) && plan_step(plan, STEP_KILL);
	case SHUTDOWN_SIGNAL:
		wake_at(plan, again);
		return (known || overdue) && lane_is_free(v, LANE_SIGNAL) &&
			plan_step(plan, STEP_SIGNAL);
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

/* libvirt has had its time to start it, or to say how it is. */
static bool hangs(const struct view *v)
{
	return v->m->ops[LANE_MAIN].overdue || v->m->ops[LANE_READ].overdue;
}

/* An adopted run was started by others. */
bool wants_slot(const struct view *v, struct plan *plan)
{
	return vmi_is_live(v) && !v->vmi->claim && v->vmi->phase != PHASE_RUNNING &&
		!vmi_is_stopping(v->vmi) && !v->host->hold && !hangs(v) && may_retry(v, plan);
}

bool is_coming(const struct view *v, const struct plan *plan)
{
	if (hangs(v) || (v->vmi && v->vmi->tries))
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
	plan->in_use = v->host->in_use;
	return plan_step(plan, plan->in_use ? STEP_DISK_IN_USE : STEP_PREPARE);
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

/* QEMU's output is read before anything of the run goes. It is a file: libvirt is not needed for it. */
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
