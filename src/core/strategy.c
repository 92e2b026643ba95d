/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RunStrategy decision (semantics §4.3) and the queue of start and stop requests (§4.4).
 *
 * Owns the decision table. It must not know how a VMI is made or ended, nor the clock: whether the
 * start back-off is over is a fact that it is given.
 */
#include "core/strategy.h"

#include "core/enum.h"
#include "core/phase.h"

#include <string.h>

ENUM_DEFINE(intent, INTENT, INTENTS)

typedef enum intent decision(const struct strategy_facts *f);

static bool start_requested(const struct strategy_facts *f)
{
	return f->head.action == REQUEST_START;
}

/* A Stop counts for the VMI that it names and no other. */
static bool stop_requested(const struct strategy_facts *f)
{
	return f->head.action == REQUEST_STOP && f->head.uid[0] && streq(f->head.uid, f->vmi_uid);
}

static enum intent nothing(const struct strategy_facts *f)
{
	(void)f;
	return INTENT_NONE;
}

static enum intent unsupported(const struct strategy_facts *f)
{
	(void)f;
	return INTENT_ERROR;
}

static enum intent del(const struct strategy_facts *f)
{
	(void)f;
	return INTENT_DELETE;
}

static enum intent stop(const struct strategy_facts *f)
{
	return stop_requested(f) ? INTENT_DELETE : INTENT_NONE;
}

static enum intent start(const struct strategy_facts *f)
{
	return f->backoff_left ? INTENT_WAIT : INTENT_CREATE;
}

/* Asked for, or the first time that the VM is seen under this strategy. */
static enum intent first(const struct strategy_facts *f)
{
	if (start_requested(f) || f->recorded != STRATEGY_RERUN_ON_FAILURE)
		return start(f);
	return INTENT_NONE;
}

/* A run that was told to stop and fails on the way stays stopped: a stop is a stop (design §6). */
static enum intent rerun(const struct strategy_facts *f)
{
	return stop_requested(f) ? INTENT_DELETE : INTENT_DELETE_AND_START;
}

static enum intent on_start(const struct strategy_facts *f)
{
	return start_requested(f) ? INTENT_CREATE : INTENT_NONE;
}

static enum intent become(const struct strategy_facts *f)
{
	return start_requested(f) ? INTENT_BECOME_ALWAYS : INTENT_NONE;
}

static enum intent once(const struct strategy_facts *f)
{
	return f->ran_once ? INTENT_NONE : INTENT_CREATE;
}

static enum intent create(const struct strategy_facts *f)
{
	(void)f;
	return INTENT_CREATE;
}

/* clang-format off */
static decision *const table[STRATEGY_MAX][STAGE_MAX] = {
	/*                             no VMI       active       Succeeded    Failed       deleting */
	[STRATEGY_UNSET]            = { unsupported, unsupported, unsupported, unsupported, unsupported },
	[STRATEGY_ALWAYS]           = { start,       stop,        del,         del,         nothing },
	[STRATEGY_RERUN_ON_FAILURE] = { first,       stop,        del,         rerun,       nothing },
	[STRATEGY_MANUAL]           = { on_start,    stop,        stop,        stop,        nothing },
	[STRATEGY_HALTED]           = { become,      del,         del,         del,         nothing },
	[STRATEGY_ONCE]             = { once,        nothing,     nothing,     nothing,     nothing },
	[STRATEGY_WAIT_AS_RECEIVER] = { create,      nothing,     nothing,     nothing,     nothing },
};
/* clang-format on */
_Static_assert(STAGE_NONE == 0 && STAGE_DELETING == 4 && STAGE_MAX == 5, "the order of columns");

/* What ran when the host went down runs again (§4.6 [P], hostBoot.policy restore-running). */
static decision *const restoring[STAGE_MAX] = {
	[STAGE_NONE] = start,
	[STAGE_SUCCEEDED] = del,
	[STAGE_FAILED] = del,
};

bool strategy_restores(enum run_strategy strategy)
{
	return strategy == STRATEGY_ALWAYS || strategy == STRATEGY_RERUN_ON_FAILURE ||
		strategy == STRATEGY_MANUAL || strategy == STRATEGY_ONCE;
}

enum intent strategy_decide(const struct strategy_facts *facts)
{
	if (facts->strategy >= STRATEGY_MAX || facts->stage >= STAGE_MAX)
		return INTENT_ERROR;
	if (facts->restore && strategy_restores(facts->strategy) && restoring[facts->stage])
		return restoring[facts->stage](facts);
	return table[facts->strategy][facts->stage](facts);
}

enum vmi_stage vmi_stage_of(const struct vmi *vmi)
{
	if (!vmi)
		return STAGE_NONE;
	if (vmi->meta.deleted)
		return STAGE_DELETING;
	if (vmi->phase == PHASE_SUCCEEDED)
		return STAGE_SUCCEEDED;
	return vmi->phase == PHASE_FAILED ? STAGE_FAILED : STAGE_ACTIVE;
}

bool stop_is_requested(const struct vm *vm, const struct vmi *vmi)
{
	return vm->n_requests && vm->requests[0].action == REQUEST_STOP &&
		!request_is_spent(&vm->requests[0], vmi);
}

bool vm_would_start(const struct vm *vm)
{
	struct strategy_facts facts = {
		.strategy = vm->strategy,
		.recorded = vm->recorded,
		.ran_once = vm->ran_once,
	};

	if (vm->n_requests)
		facts.head = vm->requests[0];
	return strategy_decide(&facts) == INTENT_CREATE;
}

bool request_is_spent(const struct state_request *head, const struct vmi *vmi)
{
	switch (head->action) {
	case REQUEST_STOP:
		return !vmi || !head->uid[0] || !streq(head->uid, vmi->meta.uid);
	case REQUEST_START:
		return vmi_stage_of(vmi) == STAGE_ACTIVE;
	case REQUEST_NONE:
	case REQUEST_ACTION_MAX:
		break;
	}
	return false;
}

void requests_pop(struct vm *vm)
{
	if (vm->n_requests == 0)
		return;
	vm->n_requests--;
	memmove(vm->requests, vm->requests + 1, vm->n_requests * sizeof(vm->requests[0]));
	vm->requests[vm->n_requests] = (struct state_request){ 0 };
}

bool requests_push(struct vm *vm, const struct state_request *request)
{
	if (vm->n_requests >= REQUESTS_MAX)
		return false;
	vm->requests[vm->n_requests++] = *request;
	return true;
}
