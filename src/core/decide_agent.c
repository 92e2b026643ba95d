/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on what is asked of the agent in a guest that runs. What a stop or a reboot asks of
 * it is decided there.
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

bool rule_credentials_told(const struct view *v, struct plan *plan)
{
	return vmi_is_live(v) && v->m->dom.told.answered && plan_step(plan, STEP_CREDENTIALS);
}

/* Passwords and keys, when they are others than it was told last. One that does not say what it can
 * do is not told. */
bool rule_credentials(const struct view *v, struct plan *plan)
{
	int64_t wanted = v->host->credentials;

	if (!is_agent_at_hand(v) || !v->m->dom.agent_asked || !wanted ||
		wanted == v->vmi->credentials)
		return false;
	if (v->host->now.boot < v->m->dom.told.retry_at && wanted == v->m->dom.told.version)
		return wake_at(plan, v->m->dom.told.retry_at);
	plan->credentials = wanted;
	return plan_step(plan, STEP_TELL_CREDENTIALS);
}
