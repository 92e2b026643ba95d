/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules by which a machine moves, one step at a time, in order of precedence. Each rule is a
 * small predicate that fills the plan when it applies. Everything numeric or tabular is asked of
 * the calculators (phase, strategy, shutdown, backoff); nothing is changed here.
 */
#include "core/decide_private.h"

#include "core/migration.h"
#include "core/phase.h"

const char *step_name(enum step step)
{
	static const char *const names[] = {
#define X(c, name, op) [STEP_##c] = name,
		STEPS(X)
#undef X
	};

	return names[step];
}

enum op_kind step_op(enum step step)
{
	static const enum op_kind ops[] = {
#define X(c, name, op) [STEP_##c] = OP_##op,
		STEPS(X)
#undef X
	};

	return ops[step];
}

bool plan_step(struct plan *plan, enum step step)
{
	plan->step = step;
	return true;
}

bool plan_phase(struct plan *plan, enum phase phase, enum domain_reason cause, const char *reason)
{
	plan->phase = phase;
	plan->cause = cause;
	plan->reason = reason;
	return plan_step(plan, STEP_SET_PHASE);
}

bool wake_at(struct plan *plan, msec at)
{
	plan->wake_at = MIN(plan->wake_at, at);
	return false;
}

bool lane_is_free(const struct view *v, enum op_lane lane)
{
	return v->m->ops[lane].kind == OP_NONE;
}

bool may_retry(const struct view *v, struct plan *plan)
{
	if (v->host->now.boot >= v->vmi->retry_at)
		return true;
	return wake_at(plan, v->vmi->retry_at);
}

bool vmi_is_live(const struct view *v)
{
	return v->vmi && !phase_is_final(v->vmi->phase);
}

bool vmi_is_unclaimed(const struct view *v)
{
	return v->vmi->claim && v->m->dom.state != DOMAIN_NONE && !machine_owns_domain(v->m);
}

static rule_fn *const rules[] = {
	rule_phase,
	rule_never_ran,
	rule_adopt,
	rule_count_failure,
	rule_clear_failure,
	rule_count_crash,
	rule_clear_crash,
	rule_delete_vm,
	rule_types,
	rule_strategy,
	rule_pop_request,
	rule_record_strategy,
	rule_host_stop,
	rule_stop,
	rule_read,
	rule_schedule,
	rule_claim,
	rule_start,
	rule_act,
	rule_pause,
	rule_io_error,
	rule_io_over,
	rule_set_time,
	rule_agent_info,
	rule_credentials_told,
	rule_credentials,
	rule_probe_verdict,
	rule_probe,
	rule_synchronized,
	rule_words,
	rule_clean,
};

/* An op that hangs is to be reported when its deadline passes. */
static void wake_for_deadlines(const struct machine *m, struct plan *plan)
{
	for (int lane = 0; lane < LANE_MAX; lane++) {
		if (m->ops[lane].kind != OP_NONE && !m->ops[lane].overdue)
			wake_at(plan, m->ops[lane].deadline);
	}
}

/* On its way to another host, or from one: what it is to be told there is noted as long
 * as it is ours. */
static void decide_held(const struct view *v, struct plan *plan)
{
	if (v->m->migration->state == MIGRATION_OUT &&
		(rule_delete_vm(v, plan) || rule_strategy(v, plan)))
		return;
	rule_read(v, plan);
}

struct plan machine_decide(const struct machine *m, const struct host_facts *host)
{
	struct plan plan = { .wake_at = NEVER };
	struct view v = { .m = m, .host = host, .vm = m->vm, .vmi = m->vmi };

	v.state = machine_domain_state(m);
	v.settled = host->connected && v.state != DOMAIN_UNKNOWN &&
		m->dom.agreed >= READS_TO_AGREE && !m->dom.look_again && !m->dom.reading;
	wake_for_deadlines(m, &plan);
	if (machine_is_held(m)) {
		plan.may_live = may_live(&v);
		decide_held(&v, &plan);
		return plan;
	}
	plan.wants_slot = wants_slot(&v, &plan);
	plan.may_live = may_live(&v);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i](&v, &plan))
			break;
	}
	plan.restore = is_to_be_restored(&v, &plan);
	plan.is_coming = is_coming(&v, &plan);
	return plan;
}
