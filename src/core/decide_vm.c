/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules on a VM: what its RunStrategy wants, its queue of requests, its start failures and
 * crash loops, its deletion.
 */
#include "core/decide_private.h"

#include "core/backoff.h"
#include "core/crashloop.h"
#include "core/phase.h"
#include "core/strategy.h"

/* Boot time until which no run is created: a start failed, or the last run ended too soon. */
static msec held_back_until(const struct vm *vm)
{
	return MAX(vm->failure.count ? vm->failure.retry_at : 0, vm->crash.retry_at);
}

static enum intent intent_of(const struct view *v)
{
	struct strategy_facts facts = {
		.strategy = v->vm->strategy,
		.recorded = v->vm->recorded,
		.stage = vmi_stage_of(v->vmi),
		.backoff_left = v->host->now.boot < held_back_until(v->vm),
		.ran_once = v->vm->ran_once,
		.restore = v->vm->restore,
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

/* A run that belongs to nobody becomes the VM's of its name, final or not, unless it
 * is to go (§7.3). */
bool rule_adopt(const struct view *v, struct plan *plan)
{
	return v->vm && !v->vm->meta.deleted && vmi_is_orphan(v->vmi) &&
		plan_step(plan, STEP_ADOPT_VMI);
}

bool is_to_be_restored(const struct view *v, const struct plan *plan)
{
	const struct vm *vm = v->vm;

	if (plan->step != STEP_SET_PHASE || !phase_is_final(plan->phase) || !vm_is_managed(v))
		return false;
	if (v->host->tuning->boot_policy != BOOT_RESTORE_RUNNING || v->vmi->meta.deleted)
		return false;
	if (!strategy_restores(vm->strategy) ||
		(vm->n_requests && vm->requests[0].action == REQUEST_STOP))
		return false;
	return streq(plan->reason, "HostShutdown") || streq(plan->reason, "HostRebooted");
}

/* A final run is counted before the strategy makes it go; one that was to end anyway never is. */
bool rule_count_failure(const struct view *v, struct plan *plan)
{
	return vm_is_managed(v) && v->vmi && !vmi_is_stopping(v->vmi) &&
		!start_failure_is_over(v->vm, v->vmi) && start_failure_counts(v->vm, v->vmi) &&
		plan_step(plan, STEP_COUNT_FAILURE);
}

bool rule_clear_failure(const struct view *v, struct plan *plan)
{
	return vm_is_managed(v) && v->vm->failure.count && start_failure_is_over(v->vm, v->vmi) &&
		plan_step(plan, STEP_CLEAR_FAILURE);
}

bool rule_count_crash(const struct view *v, struct plan *plan)
{
	return vm_is_managed(v) && v->vmi && crash_loop_counts(v->vm, v->vmi, v->host->tuning) &&
		plan_step(plan, STEP_COUNT_CRASH);
}

/* That a run lasts is not concluded while libvirt cannot be asked. */
bool rule_clear_crash(const struct view *v, struct plan *plan)
{
	msec at;

	if (!vm_is_managed(v) || !v->vm->crash.count)
		return false;
	at = crash_loop_over_at(v->vm, v->vmi, v->host->tuning);
	if (v->host->now.boot < at)
		return wake_at(plan, at);
	return (at == AT_ONCE || v->settled) && plan_step(plan, STEP_CLEAR_CRASH);
}

/* Also of one that is halted: what it names now is what it has. Trouble is said once. */
bool rule_types(const struct view *v, struct plan *plan)
{
	const struct types_look *look = v->host->types;

	if (!v->vm || v->vm->meta.deleted || !v->vm->unpinned || !look)
		return false;
	if (look->trouble && look->trouble == v->vm->type_trouble &&
		streq(look->words, v->vm->type_words))
		return false;
	plan->types = look;
	return plan_step(plan, STEP_PIN);
}

bool rule_strategy(const struct view *v, struct plan *plan)
{
	if (!vm_is_managed(v) || (v->host->going_down && !vmi_is_live(v)))
		return false;
	switch (intent_of(v)) {
	case INTENT_CREATE:
		return !v->host->hold && !v->vm->unpinned && v->m->volumes == VOLUMES_READY &&
			plan_step(plan, STEP_CREATE_VMI);
	case INTENT_DELETE:
		return plan_step(plan, STEP_DELETE_VMI);
	case INTENT_DELETE_AND_START:
		return plan_step(plan, STEP_RERUN_VMI);
	case INTENT_BECOME_ALWAYS:
		return plan_step(plan, STEP_BECOME_ALWAYS);
	case INTENT_WAIT:
		return wake_at(plan, held_back_until(v->vm));
	case INTENT_NONE:
	case INTENT_ERROR:
	case INTENT_MAX:
		return false;
	}
	return false;
}

bool rule_pop_request(const struct view *v, struct plan *plan)
{
	return vm_is_managed(v) && v->vm->n_requests &&
		request_is_spent(&v->vm->requests[0], v->vmi) && plan_step(plan, STEP_POP_REQUEST);
}

/* Not while a start is only waiting: a new RerunOnFailure is told from an old one by the record. */
bool rule_record_strategy(const struct view *v, struct plan *plan)
{
	if (!vm_is_managed(v) || v->vm->recorded == v->vm->strategy)
		return false;
	return (v->vm->recorded != STRATEGY_UNSET || v->vmi) && intent_of(v) != INTENT_WAIT &&
		intent_of(v) != INTENT_CREATE && plan_step(plan, STEP_RECORD_STRATEGY);
}

/* What a VM kept from run to run goes before the VM does; a run that outlives it still has it. */
static bool keeps_something(const struct view *v)
{
	return v->vm->keeps && !v->vmi && !v->m->purged;
}

bool rule_delete_vm(const struct view *v, struct plan *plan)
{
	if (!v->vm || !v->vm->meta.deleted)
		return false;
	if (keeps_something(v) && v->host->now.boot < v->m->purge_at)
		return wake_at(plan, v->m->purge_at);
	if (keeps_something(v))
		return v->host->connected && lane_is_free(v, LANE_MAIN) &&
			plan_step(plan, STEP_PURGE);
	if (!v->vmi || !streq(v->vmi->owner, v->vm->meta.uid))
		return plan_step(plan, STEP_FORGET_VM);
	return !v->vmi->meta.deleted && plan_step(plan, STEP_DELETE_VMI);
}
