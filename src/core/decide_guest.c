/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on a run that lives: what a user wants of it (pause, unpause, reboot,
 * reset), and I/O errors.
 */
#include "core/decide_private.h"

#include "core/ioretry.h"
#include "core/phase.h"
#include "core/status.h"

static bool is_at_hand(const struct view *v)
{
	return vmi_is_live(v) && v->vmi->phase == PHASE_RUNNING && !vmi_is_stopping(v->vmi) &&
		v->settled && lane_is_free(v, LANE_GUEST);
}

bool rule_act(const struct view *v, struct plan *plan)
{
	if (!is_at_hand(v))
		return false;
	switch (v->vmi->act) {
	case ACT_REBOOT:
		if (v->vmi->typed.acpi && !vmi_has_agent(v->vmi, &v->m->dom))
			return plan_step(plan, STEP_REBOOT);
		return lane_is_free(v, LANE_AGENT) && plan_step(plan, STEP_REBOOT_BY_AGENT);
	case ACT_RESET:
		return plan_step(plan, STEP_RESET);
	case ACT_NONE:
	case ACT_MAX:
		break;
	}
	return false;
}

/* A guest that others paused is resumed only when a user says so; a user's own pause is kept. */
bool rule_pause(const struct view *v, struct plan *plan)
{
	bool runs = v->state == DOMAIN_RUNNING || v->state == DOMAIN_BLOCKED;

	if (!is_at_hand(v))
		return false;
	switch (v->vmi->pause) {
	case PAUSE_HELD:
		return runs && may_retry(v, plan) && plan_step(plan, STEP_SUSPEND);
	case PAUSE_RELEASED:
		if (v->state == DOMAIN_PAUSED && v->m->dom.reason != REASON_IOERROR)
			return may_retry(v, plan) && plan_step(plan, STEP_RESUME);
		return plan_step(plan, STEP_UNPAUSED);
	case PAUSE_AS_IS:
	case PAUSE_MAX:
		break;
	}
	return false;
}

/*
 * Paused by an I/O error: resumed by the schedule of §8.1, unless a user wants it paused. A user's
 * unpause ends here, too: that step forgets the schedule, so that the next resume comes at once.
 */
bool rule_io_error(const struct view *v, struct plan *plan)
{
	msec now = v->host->now.boot, delay;

	if (!is_at_hand(v) || v->vmi->pause != PAUSE_AS_IS || v->state != DOMAIN_PAUSED ||
		v->m->dom.reason != REASON_IOERROR)
		return false;
	switch (io_retry_decide(&v->vmi->io, now, &delay)) {
	case IO_RESUME:
		return plan_step(plan, STEP_IO_RESUME);
	case IO_FAILED:
		return plan_step(plan, STEP_IO_FAILED);
	case IO_WAIT:
		break;
	}
	return wake_at(plan, now + delay + 1);
}

/* The guest runs: after a while what failed before is over. */
bool rule_io_over(const struct view *v, struct plan *plan)
{
	msec at;

	if (!is_at_hand(v) || v->state == DOMAIN_PAUSED || (!v->vmi->io.errors && !v->vmi->io.last))
		return false;
	return io_retry_is_over(&v->vmi->io, v->host->now.boot, &at) ? plan_step(plan, STEP_IO_OVER)
								     : wake_at(plan, at);
}

/* Nothing is left to be done: what failed before is over (Synchronized, §1.3). */
bool rule_synchronized(const struct view *v, struct plan *plan)
{
	bool held_back = v->vmi && v->vmi->pause == PAUSE_HELD && v->state != DOMAIN_PAUSED;

	if (!is_at_hand(v) || !v->vmi->sync_error || held_back || v->vmi->pause == PAUSE_RELEASED)
		return false;
	return plan_step(plan, STEP_CLEAR_ERROR);
}
