/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on what is asked of the agent in a guest that runs. What a stop or a reboot asks of it is decided there.
 */
#include "core/decide_private.h"

#include "core/phase.h"
#include "core/status.h"

/* An agent of a guest that stands still would only seem to hang. */
static bool is_agent_at_hand(const struct view *v)
{
	return vmi_is_live(v) && v->vmi->phase == PHASE_RUNNING && !vmi_is_stopping(v->vmi) &&
		v->settled && v->state == DOMAIN_RUNNING && vmi_has_agent(v->vmi, &v->m->dom) &&
		lane_is_free(v, LANE_AGENT);
}

/* A clock that stood still with its guest is behind (§5.4 unpause). */
bool rule_set_time(const struct view *v, struct plan *plan)
{
	if (!is_agent_at_hand(v) || v->host->now.boot >= v->vmi->set_time_until)
		return false;
	if (v->host->now.boot < v->m->dom.time_retry_at)
		return wake_at(plan, v->m->dom.time_retry_at);
	return plan_step(plan, STEP_SET_TIME);
}

/* Once per connection of an agent; one that does not answer is asked again, ever more seldom. */
bool rule_agent_info(const struct view *v, struct plan *plan)
{
	if (!is_agent_at_hand(v) || v->m->dom.agent_asked)
		return false;
	if (v->host->now.boot < v->m->dom.agent_retry_at)
		return wake_at(plan, v->m->dom.agent_retry_at);
	return plan_step(plan, STEP_AGENT_INFO);
}
