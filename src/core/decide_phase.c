/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on a run's phase: what its domain says, and the start that never came to be.
 */
#include "core/decide_private.h"

#include "core/phase.h"

static const char *end_reason_text(const struct view *v, enum phase next, enum domain_reason cause)
{
	if (phase_is_final(next) && vmi_ends_with_host(v->vmi))
		return "HostShutdown";
	if (next != PHASE_FAILED || cause != REASON_UNKNOWN)
		return NULL;
	if (v->vmi->rebooted)
		return "HostRebooted";
	if (v->vmi->end.discarded)
		return "ImageDiscarded";
	return v->state == DOMAIN_NONE ? "DomainVanished" : "DomainEndUnknown";
}

/* The domain says what the phase is, once it can be started at all. */
bool rule_phase(const struct view *v, struct plan *plan)
{
	if (!vmi_is_live(v) || !v->settled || !v->vmi->prepared || vmi_is_unclaimed(v))
		return false;

	enum domain_reason cause = domain_end_reason(&v->vmi->end, v->state, v->m->dom.reason);
	struct phase_facts facts = {
		.state = v->state,
		.reason = cause,
		.prior = v->vmi->claim ? PHASE_RUNNING
				       : v->vmi->phase, /* it ran before it was ours */
		.grace = v->vmi->typed.grace,
		.acpi_feature = v->vmi->typed.acpi,
	};
	enum phase next = phase_of(&facts);

	return next != v->vmi->phase &&
		plan_phase(plan, next, cause, end_reason_text(v, next, cause));
}

static bool is_known_not_to_live(const struct view *v)
{
	return v->settled && !domain_is_alive(v->state) && lane_is_free(v, LANE_MAIN);
}

/* Deleted before it ran (files that are still being made are removed afterwards), or a start that
 * never came to be: Failed (§7.3, §2.3). */
bool rule_never_ran(const struct view *v, struct plan *plan)
{
	if (!vmi_is_live(v) || v->vmi->phase == PHASE_RUNNING)
		return false;
	if (v->vmi->claim && !v->vmi->hopeless)
		return false; /* it did */
	if (vmi_is_stopping(v->vmi) && (!v->vmi->prepared || is_known_not_to_live(v)))
		return plan_phase(plan, PHASE_FAILED, REASON_UNKNOWN,
			vmi_ends_with_host(v->vmi) ? "HostShutdown" : "DeletedBeforeRunning");
	if (v->vmi->hopeless && lane_is_free(v, LANE_MAIN))
		return plan_phase(plan, PHASE_FAILED, REASON_UNKNOWN, "StartFailed");
	if (v->vmi->phase != PHASE_SCHEDULED || !v->vmi->scheduled_at)
		return false; /* after a boot its time begins with its slot */

	msec limit = v->vmi->scheduled_at + SECONDS(START_TIMEOUT_S);

	if (v->host->now.boot < limit)
		return wake_at(plan, limit);
	return is_known_not_to_live(v) &&
		plan_phase(plan, PHASE_FAILED, REASON_UNKNOWN, "StartTimeout");
}
