/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules by which a machine moves, one step at a time, in order of precedence. Each rule is a
 * small predicate that fills the plan when it applies. Everything numeric or tabular is asked of
 * the calculators (phase, strategy, shutdown, backoff); nothing is changed here.
 */
#include "core/decide.h"

#include "core/backoff.h"
#include "core/phase.h"
#include "core/shutdown.h"
#include "core/strategy.h"

struct view { /* what the rules look at */
	const struct machine *m;
	const struct host_facts *host;
	const struct vm *vm;     /* or NULL */
	const struct vmi *vmi;   /* or NULL */
	enum domain_state state; /* as this run's own */
	bool settled;            /* state is fresh and agreed upon */
};

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

static bool plan_step(struct plan *plan, enum step step)
{
	plan->step = step;
	return true;
}

static bool plan_phase(struct plan *plan, enum phase phase, enum domain_reason cause,
	const char *reason)
{
	plan->phase = phase;
	plan->cause = cause;
	plan->reason = reason;
	return plan_step(plan, STEP_SET_PHASE);
}

/* Asks to be woken, unless something earlier is planned already. Never matches. */
static bool wake_at(struct plan *plan, msec at)
{
	plan->wake_at = MIN(plan->wake_at, at);
	return false;
}

static bool lane_is_free(const struct view *v, enum op_lane lane)
{
	return v->m->ops[lane].kind == OP_NONE;
}

/* An op that failed is not tried again at once. */
static bool may_retry(const struct view *v, struct plan *plan)
{
	if (v->host->now.boot >= v->vmi->retry_at)
		return true;
	return wake_at(plan, v->vmi->retry_at);
}

static bool vmi_is_live(const struct view *v)
{
	return v->vmi && !phase_is_final(v->vmi->phase);
}

/* ---- the run's phase --------------------------------------------------------------------- */

static const char *end_reason_text(const struct view *v, enum phase next, enum domain_reason cause)
{
	if (next != PHASE_FAILED || cause != REASON_UNKNOWN)
		return NULL;
	if (v->vmi->rebooted)
		return "HostRebooted";
	return v->state == DOMAIN_NONE ? "DomainVanished" : "DomainEndUnknown";
}

/* The domain says what the phase is, once it can be started at all. */
static bool rule_phase(const struct view *v, struct plan *plan)
{
	if (!vmi_is_live(v) || !v->settled || !v->vmi->prepared)
		return false;

	enum domain_reason cause = domain_end_reason(&v->vmi->end, v->state, v->m->dom.reason);
	struct phase_facts facts = {
		.state = v->state,
		.reason = cause,
		.prior = v->vmi->phase,
		.grace = v->vmi->typed.grace,
		.acpi_feature = v->vmi->typed.acpi,
	};
	enum phase next = phase_of(&facts);

	return next != v->vmi->phase &&
		plan_phase(plan, next, cause, end_reason_text(v, next, cause));
}

/* Deleted before it ran, or a start that never came to be: Failed (§7.3, §2.3). */
static bool rule_never_ran(const struct view *v, struct plan *plan)
{
	if (!vmi_is_live(v) || v->vmi->phase == PHASE_RUNNING)
		return false;
	if (v->vmi->meta.deleted && lane_is_free(v, LANE_MAIN) &&
		(!v->vmi->prepared || (v->settled && !domain_is_alive(v->state))))
		return plan_phase(plan, PHASE_FAILED, REASON_UNKNOWN, "DeletedBeforeRunning");
	if (v->vmi->hopeless && lane_is_free(v, LANE_MAIN))
		return plan_phase(plan, PHASE_FAILED, REASON_UNKNOWN, "StartFailed");
	if (v->vmi->phase != PHASE_SCHEDULED)
		return false;

	msec limit = v->vmi->scheduled_at + SECONDS(START_TIMEOUT_S);

	if (v->host->now.boot < limit)
		return wake_at(plan, limit);
	return v->settled && !domain_is_alive(v->state) && lane_is_free(v, LANE_MAIN) &&
		plan_phase(plan, PHASE_FAILED, REASON_UNKNOWN, "StartTimeout");
}

/* ---- the VM's strategy ------------------------------------------------------------------- */

static enum intent intent_of(const struct view *v)
{
	struct strategy_facts facts = {
		.strategy = v->vm->strategy,
		.recorded = v->vm->recorded,
		.stage = vmi_stage_of(v->vmi),
		.backoff_left = v->vm->failure.count && v->host->now.boot < v->vm->failure.retry_at,
		.ran_once = v->vm->ran_once,
	};

	if (v->vm->n_requests)
		facts.head = v->vm->requests[0];
	if (v->vmi)
		copy_str(facts.vmi_uid, sizeof(facts.vmi_uid), v->vmi->meta.uid);
	return strategy_decide(&facts);
}

static bool vm_is_managed(const struct view *v)
{
	return v->vm && !v->vm->meta.deleted && (!v->vmi || streq(v->vmi->owner, v->vm->meta.uid));
}

/* A final run is counted before the strategy makes it go; one that was to end anyway never is. */
static bool rule_count_failure(const struct view *v, struct plan *plan)
{
	return vm_is_managed(v) && v->vmi && !v->vmi->meta.deleted &&
		!start_failure_is_over(v->vm, v->vmi) && start_failure_counts(v->vm, v->vmi) &&
		plan_step(plan, STEP_COUNT_FAILURE);
}

static bool rule_clear_failure(const struct view *v, struct plan *plan)
{
	return vm_is_managed(v) && v->vm->failure.count && start_failure_is_over(v->vm, v->vmi) &&
		plan_step(plan, STEP_CLEAR_FAILURE);
}

static bool rule_strategy(const struct view *v, struct plan *plan)
{
	if (!vm_is_managed(v))
		return false;
	switch (intent_of(v)) {
	case INTENT_CREATE:
		return !v->host->hold && plan_step(plan, STEP_CREATE_VMI);
	case INTENT_DELETE:
		return plan_step(plan, STEP_DELETE_VMI);
	case INTENT_DELETE_AND_START:
		return plan_step(plan, STEP_RERUN_VMI);
	case INTENT_BECOME_ALWAYS:
		return plan_step(plan, STEP_BECOME_ALWAYS);
	case INTENT_WAIT:
		return wake_at(plan, v->vm->failure.retry_at);
	case INTENT_NONE:
	case INTENT_RESTORE:
	case INTENT_ERROR:
	case INTENT_MAX:
		return false;
	}
	return false;
}

static bool rule_pop_request(const struct view *v, struct plan *plan)
{
	return vm_is_managed(v) && v->vm->n_requests &&
		request_is_spent(&v->vm->requests[0], v->vmi) && plan_step(plan, STEP_POP_REQUEST);
}

/* Not while a start is only waiting: a new RerunOnFailure is told from an old one by the record. */
static bool rule_record_strategy(const struct view *v, struct plan *plan)
{
	if (!vm_is_managed(v) || v->vm->recorded == v->vm->strategy)
		return false;
	return (v->vm->recorded != STRATEGY_UNSET || v->vmi) && intent_of(v) != INTENT_WAIT &&
		plan_step(plan, STEP_RECORD_STRATEGY);
}

static bool rule_delete_vm(const struct view *v, struct plan *plan)
{
	if (!v->vm || !v->vm->meta.deleted)
		return false;
	if (!v->vmi || !streq(v->vmi->owner, v->vm->meta.uid))
		return plan_step(plan, STEP_FORGET_VM);
	return !v->vmi->meta.deleted && plan_step(plan, STEP_DELETE_VMI);
}

/* ---- the run itself ---------------------------------------------------------------------- */

/* Whether the last kill has had its time; it may be lost on the way, so it is repeated. */
static bool may_kill(const struct view *v, struct plan *plan)
{
	msec again = v->vmi->signal_last + SECONDS(RESIGNAL_S);

	if (!may_retry(v, plan) || !lane_is_free(v, LANE_URGENT))
		return false;
	return !v->vmi->end.killed || v->host->now.boot >= again || wake_at(plan, again);
}

/* The kill needs no fresh read: it is owner-checked where it lands, and a hung read must not eat it. */
static bool rule_stop(const struct view *v, struct plan *plan)
{
	if (!vmi_is_live(v) || !v->vmi->meta.deleted || !v->host->connected)
		return false;
	if (!v->vmi->prepared)
		return false; /* it never got as far as a domain */

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

static bool rule_read(const struct view *v, struct plan *plan)
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

static bool rule_schedule(const struct view *v, struct plan *plan)
{
	if (!vmi_is_live(v) || v->vmi->meta.deleted || !lane_is_free(v, LANE_MAIN) || v->host->hold)
		return false;
	if (phase_is_unprocessed(v->vmi->phase))
		return plan_phase(plan, PHASE_SCHEDULING, REASON_UNKNOWN, NULL);
	if (v->vmi->phase != PHASE_SCHEDULING)
		return false;
	if (v->vmi->prepared)
		return plan_phase(plan, PHASE_SCHEDULED, REASON_UNKNOWN, NULL);
	return may_retry(v, plan) && plan_step(plan, STEP_PREPARE);
}

static bool rule_start(const struct view *v, struct plan *plan)
{
	if (!v->vmi || v->vmi->phase != PHASE_SCHEDULED || v->vmi->meta.deleted || !v->settled)
		return false;
	if (domain_is_alive(v->state) || !lane_is_free(v, LANE_MAIN))
		return false;
	return may_retry(v, plan) && plan_step(plan, STEP_START);
}

/* ---- what a user wants of a run that lives ----------------------------------------------- */

static bool is_at_hand(const struct view *v)
{
	return vmi_is_live(v) && v->vmi->phase == PHASE_RUNNING && !v->vmi->meta.deleted &&
		v->settled && lane_is_free(v, LANE_GUEST);
}

static bool rule_act(const struct view *v, struct plan *plan)
{
	if (!is_at_hand(v))
		return false;
	switch (v->vmi->act) {
	case ACT_REBOOT:
		return plan_step(plan, STEP_REBOOT);
	case ACT_RESET:
		return plan_step(plan, STEP_RESET);
	case ACT_NONE:
	case ACT_MAX:
		break;
	}
	return false;
}

/* A guest that others paused is resumed only when a user says so; a user's own pause is kept. */
static bool rule_pause(const struct view *v, struct plan *plan)
{
	bool runs = v->state == DOMAIN_RUNNING || v->state == DOMAIN_BLOCKED;

	if (!is_at_hand(v))
		return false;
	switch (v->vmi->pause) {
	case PAUSE_HELD:
		return runs && may_retry(v, plan) && plan_step(plan, STEP_SUSPEND);
	case PAUSE_RELEASED:
		if (v->state == DOMAIN_PAUSED)
			return may_retry(v, plan) && plan_step(plan, STEP_RESUME);
		return plan_step(plan, STEP_UNPAUSED);
	case PAUSE_AS_IS:
	case PAUSE_MAX:
		break;
	}
	return false;
}

/* Nothing is left to be done: what failed before is over (Synchronized, §1.3). */
static bool rule_synchronized(const struct view *v, struct plan *plan)
{
	bool held_back = v->vmi && v->vmi->pause == PAUSE_HELD && v->state != DOMAIN_PAUSED;

	if (!is_at_hand(v) || !v->vmi->sync_error || held_back || v->vmi->pause == PAUSE_RELEASED)
		return false;
	return plan_step(plan, STEP_CLEAR_ERROR);
}

/* A final run leaves nothing behind: its QEMU, its definition, its files; then itself. */
static bool rule_clean(const struct view *v, struct plan *plan)
{
	if (!v->vmi || vmi_is_live(v))
		return false;
	if (v->vmi->cleaned)
		return v->vmi->meta.deleted && plan_step(plan, STEP_FORGET_VMI);
	if (!lane_is_free(v, LANE_MAIN) || !may_retry(v, plan))
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

typedef bool rule_fn(const struct view *v, struct plan *plan);

static rule_fn *const rules[] = {
	rule_phase,
	rule_never_ran,
	rule_count_failure,
	rule_clear_failure,
	rule_delete_vm,
	rule_strategy,
	rule_pop_request,
	rule_record_strategy,
	rule_stop,
	rule_read,
	rule_schedule,
	rule_start,
	rule_act,
	rule_pause,
	rule_synchronized,
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

struct plan machine_decide(const struct machine *m, const struct host_facts *host)
{
	struct plan plan = { .wake_at = NEVER };
	struct view v = { .m = m, .host = host, .vm = m->vm, .vmi = m->vmi };

	v.state = machine_domain_state(m);
	v.settled = host->connected && v.state != DOMAIN_UNKNOWN &&
		m->dom.agreed >= READS_TO_AGREE && !m->dom.look_again && !m->dom.reading;
	wake_for_deadlines(m, &plan);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i](&v, &plan))
			break;
	}
	return plan;
}
