/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What start, stop and restart do to a virtual machine, or why they are refused (semantics §5).
 *
 * Owns the matrix of §5.5 and the words of its refusals. It must not know how the effect is applied
 * or stored, nor what the RunStrategy makes of it afterwards (strategy.c).
 */
#include "core/verbs.h"

#include "core/crashloop.h"
#include "core/phase.h"
#include "core/strategy.h"

/* The rows of §5.5. A run in phase "" or Unknown is no obstacle to a start, but can be stopped. */
enum situation { VMI_NONE, VMI_UNSET, VMI_ACTIVE, VMI_SUCCEEDED, VMI_FAILED, SITUATION_MAX };

enum outcome {
	NO_STRATEGY, /* refusals first: each has its words below */
	NO_RUNNING,
	NO_MANUAL,
	NO_FAILED,
	NO_STOPPED,
	NO_RESTART,
	NO_RUN,
	REFUSAL_MAX,
	NOOP = REFUSAL_MAX,
	ALWAYS, /* spec becomes Always */
	HALTED, /* spec becomes Halted */
	START,  /* queue [Start] */
	STOP,   /* queue [Stop] */
	AGAIN,  /* queue [Stop, Start] */
	HURRY,  /* queue [Stop], if its grace is shorter than the one that runs */
	NOW,    /* queue [Start] instead of what waits */
	CANCEL, /* queue nothing instead of what waits */
	OUTCOME_MAX
};

/* clang-format off */
static const unsigned char matrix[VERB_MAX][SITUATION_MAX][STRATEGY_MAX] = {
	/*                      unset        Always      RerunOnF.   Manual      Halted      Once        Receiver */
	[VERB_START] = {
		[VMI_NONE]      = { NO_STRATEGY, NO_MANUAL,  START,      START,      ALWAYS,     NO_MANUAL,  NOOP },
		[VMI_UNSET]     = { NO_STRATEGY, NO_MANUAL,  START,      START,      ALWAYS,     NO_MANUAL,  NOOP },
		[VMI_ACTIVE]    = { NO_RUNNING,  NO_RUNNING, NO_RUNNING, NO_RUNNING, NO_RUNNING, NO_RUNNING, NO_RUNNING },
		[VMI_SUCCEEDED] = { NO_STRATEGY, NO_MANUAL,  AGAIN,      AGAIN,      ALWAYS,     NO_MANUAL,  NOOP },
		[VMI_FAILED]    = { NO_STRATEGY, NO_MANUAL,  NO_FAILED,  AGAIN,      ALWAYS,     NO_MANUAL,  NOOP },
	},
	[VERB_STOP] = {
		[VMI_NONE]      = { NO_STRATEGY, HALTED,     NO_STOPPED, NO_STOPPED, NO_STOPPED, HALTED,     NOOP },
		[VMI_UNSET]     = { NO_STRATEGY, HALTED,     STOP,       STOP,       HURRY,      HALTED,     NOOP },
		[VMI_ACTIVE]    = { NO_STRATEGY, HALTED,     STOP,       STOP,       HURRY,      HALTED,     NOOP },
		[VMI_SUCCEEDED] = { NO_STRATEGY, HALTED,     NO_STOPPED, NO_STOPPED, NO_STOPPED, HALTED,     NOOP },
		[VMI_FAILED]    = { NO_STRATEGY, HALTED,     NO_STOPPED, NO_STOPPED, NO_STOPPED, HALTED,     NOOP },
	},
	[VERB_RESTART] = {
		[VMI_NONE]      = { NO_STRATEGY, NO_RUN,     NO_RUN,     NO_RUN,     NO_RESTART, NO_RESTART, NO_RUN },
		[VMI_UNSET]     = { NO_STRATEGY, AGAIN,      AGAIN,      AGAIN,      NO_RESTART, NO_RESTART, AGAIN },
		[VMI_ACTIVE]    = { NO_STRATEGY, AGAIN,      AGAIN,      AGAIN,      NO_RESTART, NO_RESTART, AGAIN },
		[VMI_SUCCEEDED] = { NO_STRATEGY, AGAIN,      AGAIN,      AGAIN,      NO_RESTART, NO_RESTART, AGAIN },
		[VMI_FAILED]    = { NO_STRATEGY, AGAIN,      AGAIN,      AGAIN,      NO_RESTART, NO_RESTART, AGAIN },
	},
};

static const struct {
	const char *what; /* "virtual machine 'ns/name' …" */
	const char *then; /* comes after the strategy's name; NULL where that is not said */
} refusals[] = {
	[NO_STRATEGY] = { "has an unsupported runStrategy; set one in its spec", NULL },
	[NO_RUNNING]  = { "is already running", NULL },
	[NO_MANUAL]   = { "does not support manual start requests with runStrategy",
			  "; set runStrategy Manual to start it by hand" },
	[NO_FAILED]   = { "cannot be started from a failed state with runStrategy",
			  ", which starts it again by itself" },
	[NO_STOPPED]  = { "is not running", NULL },
	[NO_RESTART]  = { "does not support manual restart requests with runStrategy",
			  "; start it instead, or set another runStrategy" },
	[NO_RUN]      = { "is not running; start it instead", NULL },
};
/* clang-format on */
_Static_assert(ARRAY_SIZE(refusals) == REFUSAL_MAX, "words for each refusal");
_Static_assert(STRATEGY_ALWAYS == 1 && STRATEGY_RERUN_ON_FAILURE == 2 && STRATEGY_MANUAL == 3 &&
		STRATEGY_HALTED == 4 && STRATEGY_ONCE == 5 && STRATEGY_WAIT_AS_RECEIVER == 6,
	"the order of the matrix's columns");

struct call { /* what is asked, of what; all borrowed */
	enum verb verb;
	const struct verb_options *options;
	const struct vm *vm;
	const struct vmi *vmi;
};

static enum situation situation_of(const struct vmi *vmi)
{
	if (!vmi)
		return VMI_NONE;
	switch (vmi->phase) {
	case PHASE_UNSET:
	case PHASE_UNKNOWN:
		return VMI_UNSET;
	case PHASE_SUCCEEDED:
		return VMI_SUCCEEDED;
	case PHASE_FAILED:
		return VMI_FAILED;
	case PHASE_PENDING:
	case PHASE_SCHEDULING:
	case PHASE_SCHEDULED:
	case PHASE_RUNNING:
	case PHASE_WAITING_FOR_SYNC:
	case PHASE_MAX:
		break;
	}
	return VMI_ACTIVE;
}

static bool is_running(const struct vmi *vmi)
{
	return vmi && !phase_is_final(vmi->phase);
}

static int conflict(const struct vm *vm, const char *what, struct err *err)
{
	return err_set(err, ERR_CONFLICT, "virtual machine '%s/%s' %s", vm->meta.ns, vm->meta.name,
		what);
}

static int refuse(const struct call *call, enum outcome outcome, struct err *err)
{
	autofree char *what = NULL;

	if (outcome == NO_RUNNING && call->vmi->meta.deleted)
		return conflict(call->vm,
			"is already running and being stopped; start it when it is stopped", err);
	if (!refusals[outcome].then)
		return conflict(call->vm, refusals[outcome].what, err);
	what = xasprintf("%s %s%s", refusals[outcome].what, run_strategy_name(call->vm->strategy),
		refusals[outcome].then);
	return conflict(call->vm, what, err);
}

static void push_start(const struct call *call, struct verb_effect *effect)
{
	struct state_request *start = &effect->requests[effect->n_requests++];

	start->action = REQUEST_START;
	start->paused = call->verb == VERB_START && call->options->paused;
	effect->set_requests = true;
}

/* One change at a time; only a lone Stop overtakes what is queued. */
static int queue(const struct call *call, enum outcome outcome, struct verb_effect *effect,
	struct err *err)
{
	if (call->vm->n_requests && outcome != STOP)
		return conflict(call->vm,
			"has another start or restart already underway; try again when it is done",
			err);
	if (outcome == STOP || outcome == AGAIN) {
		struct state_request *stop = &effect->requests[effect->n_requests++];

		stop->action = REQUEST_STOP;
		copy_str(stop->uid, sizeof(stop->uid), call->vmi->meta.uid);
	}
	if (outcome == START || outcome == AGAIN)
		push_start(call, effect);
	effect->set_requests = true;
	return 0;
}

/* Halted and still running: it is being stopped, and only a shorter grace changes anything. */
static int hurry(const struct call *call, struct verb_effect *effect, struct err *err)
{
	int64_t grace = call->vmi->typed.grace;
	autofree char *what = NULL;

	if (!call->options->has_grace)
		return conflict(call->vm,
			"is being stopped already; give a shorter grace period to hurry", err);
	if (grace == GRACE_UNSET || call->options->grace < grace)
		return queue(call, STOP, effect, err);
	if (grace >= GRACE_FOREVER_S)
		return conflict(call->vm,
			"is being stopped already, however long it takes; give a grace period to hurry",
			err);
	what = xasprintf(
		"is being stopped already with a grace period of %lld s; give a shorter one to hurry",
		(long long)grace);
	return conflict(call->vm, what, err);
}

/*
 * Between the runs of a crash loop the matrix would refuse what a person wants most: to have it
 * start now, and to have it end. So would it refuse to stop whatever else is only about to start.
 */
static enum outcome outcome_of(const struct call *call)
{
	enum outcome outcome = matrix[call->verb][situation_of(call->vmi)][call->vm->strategy];

	if (is_running(call->vmi))
		return outcome;
	if (call->verb == VERB_START && crash_loop_holds(call->vm))
		return NOW;
	return outcome == NO_STOPPED && vm_would_start(call->vm) ? CANCEL : outcome;
}

static int apply(const struct call *call, enum outcome outcome, struct verb_effect *effect,
	struct err *err)
{
	switch (outcome) {
	case NO_STRATEGY:
	case NO_RUNNING:
	case NO_MANUAL:
	case NO_FAILED:
	case NO_STOPPED:
	case NO_RESTART:
	case NO_RUN:
		return refuse(call, outcome, err);
	case ALWAYS:
		if (call->options->paused) /* the request carries it; strategy.c flips the spec */
			return queue(call, START, effect, err);
		effect->strategy = STRATEGY_ALWAYS;
		return 0;
	case HALTED:
		effect->strategy = STRATEGY_HALTED;
		effect->set_requests = call->vm->n_requests > 0; /* a stop also ends a restart */
		return 0;
	case START:
	case STOP:
	case AGAIN:
		return queue(call, outcome, effect, err);
	case HURRY:
		return hurry(call, effect, err);
	case NOW:
		push_start(call, effect);
		return 0;
	case CANCEL:
		effect->set_requests = effect->record_strategy = true;
		return 0;
	case NOOP:
	case OUTCOME_MAX:
		break;
	}
	effect->clear_start_failure = false;
	return 0;
}

static int check_grace(const struct call *call, struct err *err)
{
	long long grace = call->options->grace;

	if (!call->options->has_grace || call->verb == VERB_START)
		return 0;
	if (grace < 0)
		return err_set(err, ERR_BAD_REQUEST, "%s: grace period %lld is negative",
			verb_name(call->verb), grace);
	if (grace > GRACE_FOREVER_S)
		return err_set(err, ERR_BAD_REQUEST,
			"%s: grace period %lld is over %d, which is for ever",
			verb_name(call->verb), grace, GRACE_FOREVER_S);
	if (grace > 0 && call->verb == VERB_RESTART)
		return err_set(err, ERR_BAD_REQUEST,
			"restart: grace period %lld is not supported, only 0 is (restart at once)",
			grace);
	return 0;
}

static void set_grace(const struct call *call, struct verb_effect *effect)
{
	if (!call->options->has_grace)
		return;
	if (call->verb == VERB_STOP && is_running(call->vmi))
		effect->vmi_grace = call->options->grace;
	if (call->verb == VERB_RESTART)
		effect->vmi_grace = 1; /* not 0: the guest hears one signal */
}

static int no_vm(const struct vmi *vmi, struct err *err)
{
	if (!vmi)
		return err_set(err, ERR_NOT_FOUND, "virtual machine not found");
	return err_set(err, ERR_NOT_FOUND,
		"virtual machine '%s/%s' not found; the virtual machine instance of that name belongs to none, delete it to stop it",
		vmi->meta.ns, vmi->meta.name);
}

int verb_check(enum verb verb, const struct verb_options *options, const struct verb_target *target,
	struct verb_effect *ret_effect, struct err *err)
{
	const struct verb_effect none = { .vmi_grace = GRACE_UNSET };
	const struct call call = { verb, options, target->vm, target->vmi };
	struct verb_effect effect = none;
	int rc = check_grace(&call, err);

	if (rc)
		return rc;
	if (!call.vm)
		return no_vm(call.vmi, err);
	effect.clear_start_failure = true;
	set_grace(&call, &effect);
	rc = apply(&call, outcome_of(&call), &effect, err);
	if (rc)
		return rc;
	*ret_effect = options->dry_run ? none : effect;
	return 0;
}
