/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on probes: a guest that runs is asked in time, and what its answers come to is
 * stored before anything follows from it. One that stands still is not asked: it would only
 * seem to be ill.
 */
#include "core/decide_private.h"

#include "core/probe.h"

static bool is_to_be_asked(const struct view *v)
{
	return vmi_is_live(v) && v->vmi->phase == PHASE_RUNNING && !vmi_is_stopping(v->vmi) &&
		v->settled && v->state == DOMAIN_RUNNING;
}

static enum probe_verdict verdict_of(const struct view *v, enum probe_of of)
{
	return probe_verdict(&v->vmi->typed.probes[of], &v->m->dom.probes[of]);
}

bool rule_probe_verdict(const struct view *v, struct plan *plan)
{
	const struct vmi *vmi = v->vmi;

	if (!is_to_be_asked(v))
		return false;
	if (verdict_of(v, PROBE_OF_LIVENESS) == PROBE_FAILED)
		return plan_step(plan, STEP_UNHEALTHY);
	switch (verdict_of(v, PROBE_OF_READINESS)) {
	case PROBE_PASSED:
		return !vmi->ready && plan_step(plan, STEP_READINESS);
	case PROBE_FAILED:
		return (vmi->ready || !vmi->probe_words) && plan_step(plan, STEP_READINESS);
	case PROBE_UNDECIDED:
		break;
	}
	return false;
}

bool rule_probe(const struct view *v, struct plan *plan)
{
	msec first = NEVER;

	if (!is_to_be_asked(v) || !lane_is_free(v, LANE_PROBE))
		return false;
	for (int of = 0; of < PROBE_OF_MAX; of++) {
		const struct probe *probe = &v->vmi->typed.probes[of];
		msec at = probe->kind == PROBE_NONE
			? NEVER
			: probe_at(probe, &v->m->dom.probes[of], v->vmi->running_at);

		if (at >= first)
			continue;
		first = at;
		plan->probe = (enum probe_of)of;
	}
	return v->host->now.boot < first ? wake_at(plan, first) : plan_step(plan, STEP_PROBE);
}
