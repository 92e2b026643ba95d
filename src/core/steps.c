/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function per step, in a table. They change the machine as the decider planned, in the words of
 * KubeVirt's events; they decide nothing themselves and must not know of store or hypervisor.
 */
#include "core/steps.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/backoff.h"
#include "core/edit.h"
#include "core/phase.h"
#include "core/strategy.h"

struct step_call {
	struct machine *m;
	const struct plan *plan;
	const struct step_env *env;
	struct happening *ret;
};

void happen(struct happening *h, enum object_kind kind, const char *reason, const char *fmt, ...)
{
	va_list ap;

	h->kind = kind;
	h->reason = reason;
	va_start(ap, fmt);
	vsnprintf(h->text, sizeof(h->text), fmt, ap);
	va_end(ap);
}

msec retry_delay(unsigned tries)
{
	unsigned shift = MIN(tries ? tries - 1 : 0, 8);

	return MIN(SECONDS(RETRY_FIRST_S) << shift, SECONDS(RETRY_MAX_S));
}

void vmi_delete(struct machine *m, struct now now)
{
	if (m->vmi->meta.deleted)
		return;
	m->vmi->meta.deleted = now.wall;
	m->vmi->retry_at = 0; /* a stop does not wait for the back-off of a start */
	m->vmi->tries = 0;
	m->vmi_changed = true;
}

void vm_delete(struct machine *m, struct now now)
{
	if (m->vm->meta.deleted)
		return;
	m->vm->meta.deleted = now.wall;
	m->vm_changed = true;
}

/* ---- steps on the run -------------------------------------------------------------------- */

static const char *phase_event(enum phase phase)
{
	/* clang-format off */
	static const char *const reasons[PHASE_MAX] = {
		[PHASE_SCHEDULED] = "Created",
		[PHASE_RUNNING]   = "Started",
		[PHASE_SUCCEEDED] = "Stopped",
		[PHASE_FAILED]    = "Stopped",
	};
	/* clang-format on */

	return reasons[phase];
}

/* Why a run ended, in words for people; the table of semantics §2.2 read backwards. */
static const char *cause_text(const struct vmi *vmi, enum domain_reason cause)
{
	/* clang-format off */
	static const char *const texts[DOMAIN_REASON_MAX] = {
		[REASON_SHUTDOWN]  = "the guest shut down",
		[REASON_DESTROYED] = "destroyed from outside vmagent",
		[REASON_CRASHED]   = "QEMU ended without a shutdown",
		[REASON_PANICKED]  = "the guest panicked",
		[REASON_SAVED]     = "saved from outside vmagent",
		[REASON_FAILED]    = "libvirt gave the domain up",
		[REASON_DAEMON]    = "libvirt gave the domain up",
	};
	/* clang-format on */

	if (vmi->end.panicked)
		return texts[REASON_PANICKED];
	if (cause == REASON_DESTROYED && vmi->end.killed)
		return vmi->signal_first ? "killed when its grace period was over"
					 : "killed at once";
	return texts[cause] ? texts[cause] : "the domain vanished, and nothing tells why";
}

static const char *phase_why(const struct vmi *vmi, const struct plan *plan)
{
	if (!phase_is_final(plan->phase))
		return NULL;
	if (streq(plan->reason, "DeletedBeforeRunning"))
		return "deleted before it ran";
	if (streq(plan->reason, "StartFailed"))
		return vmi->sync_error ? vmi->sync_error : "it cannot be started";
	if (streq(plan->reason, "StartTimeout"))
		return "it could not be started in time";
	if (streq(plan->reason, "HostRebooted"))
		return "the host was restarted";
	return cause_text(vmi, plan->cause);
}

static void enter_phase(struct vmi *vmi, const struct plan *plan, struct now now)
{
	vmi_set_phase(vmi, plan->phase, now);
	if (plan->reason)
		replace_str(&vmi->reason, plan->reason);
	if (plan->phase == PHASE_RUNNING || plan->phase == PHASE_SCHEDULED)
		replace_str(&vmi->sync_error, NULL);
	vmi->tries = 0; /* what comes next does not wait for what failed before */
	vmi->retry_at = 0;
}

static void step_set_phase(struct step_call *c)
{
	struct vmi *vmi = c->m->vmi;
	enum phase before = vmi->phase;
	const char *why = phase_why(vmi, c->plan);

	enter_phase(vmi, c->plan, c->env->now);
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL; /* its status shows the VMI's */
	c->ret->warning = vmi->phase == PHASE_FAILED;
	c->ret->actor.kind = vmi->phase == PHASE_SUCCEEDED && !vmi->end.killed ? ACTOR_GUEST
									       : ACTOR_AGENT;
	happen(c->ret, KIND_VMI, phase_event(vmi->phase), "phase %s -> %s%s%s", phase_name(before),
		phase_name(vmi->phase), why ? ": " : "", why ? why : "");
}

static void step_signal(struct step_call *c)
{
	struct vmi *vmi = c->m->vmi;
	bool first = !vmi->signal_first;

	if (first)
		vmi->signal_first = c->env->now.boot;
	vmi->signal_last = c->env->now.boot;
	c->m->vmi_changed = true;
	happen(c->ret, KIND_VMI, first ? "ShuttingDown" : NULL,
		"signalled the guest to shut down%s", first ? "" : " again");
}

static void step_kill(struct step_call *c)
{
	struct vmi *vmi = c->m->vmi;

	c->m->vmi_changed = true;
	if (phase_is_final(vmi->phase)) {
		happen(c->ret, KIND_VMI, NULL, "removing what is left of its QEMU");
		return;
	}
	c->ret->warning = vmi->typed.grace != 0;
	happen(c->ret, KIND_VMI, vmi->end.killed ? NULL : "Deleted", "killing the guest%s%s",
		vmi->end.killed ? " again" : "",
		vmi->signal_first ? ": its grace period is over" : "");
	vmi->end.killed = true;
	vmi->signal_last = c->env->now.boot;
}

static void step_op_line(struct step_call *c)
{
	if (c->plan->step != STEP_READ)
		happen(c->ret, KIND_VMI, NULL, "%s", step_name(c->plan->step));
}

/* ---- what a user wants of the run -------------------------------------------------------- */

static void step_suspend(struct step_call *c)
{
	happen(c->ret, KIND_VMI, NULL, "suspending the guest");
}

static void step_resume(struct step_call *c)
{
	happen(c->ret, KIND_VMI, NULL, "resuming the guest");
}

/* Forgotten in the commit after which it leaves: it is done once or, after a crash, not at all. */
static void step_act(struct step_call *c)
{
	c->m->vmi->act = ACT_NONE;
	c->m->vmi_changed = true;
	happen(c->ret, KIND_VMI, NULL,
		c->plan->step == STEP_RESET ? "resetting the guest" : "asking the guest to reboot");
}

static void step_unpaused(struct step_call *c)
{
	c->m->vmi->pause = PAUSE_AS_IS;
	c->m->vmi_changed = true;
}

static void step_clear_error(struct step_call *c)
{
	replace_str(&c->m->vmi->sync_error, NULL);
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL;
}

static void step_forget_vmi(struct step_call *c)
{
	happen(c->ret, KIND_VMI, NULL, "gone");
	c->m->gone_vmi = take(&c->m->vmi);
	c->m->vmi_changed = true;
	memset(&c->m->dom, 0, sizeof(c->m->dom));
	c->m->vm_changed = c->m->vm != NULL;
}

/* ---- steps on the VM --------------------------------------------------------------------- */

static void step_delete_vmi(struct step_call *c)
{
	vmi_delete(c->m, c->env->now);
	c->m->vm_changed = c->m->vm != NULL;
	happen(c->ret, KIND_VM, "SuccessfulDelete",
		"Stopped the virtual machine by deleting the virtual machine instance %s",
		c->m->vmi->meta.uid);
}

static void step_rerun_vmi(struct step_call *c)
{
	struct state_request start = { .action = REQUEST_START };

	requests_push(c->m->vm, &start);
	step_delete_vmi(c);
}

static void step_become_always(struct step_call *c)
{
	vm_change_strategy(c->m, STRATEGY_ALWAYS);
	happen(c->ret, KIND_VM, NULL, "run strategy Halted -> Always, as start asked");
}

static void step_pop_request(struct step_call *c)
{
	requests_pop(c->m->vm);
	c->m->vm_changed = true;
}

static void step_count_failure(struct step_call *c)
{
	struct vm *vm = c->m->vm;

	start_failure_count(vm, c->m->vmi, c->env->now, c->env->random);
	c->m->vm_changed = true;
	c->ret->warning = true;
	happen(c->ret, KIND_VM, "StartFailed",
		"start failed %u time%s in a row; next try in %lld s", vm->failure.count,
		vm->failure.count == 1 ? "" : "s",
		(long long)((vm->failure.retry_at - c->env->now.boot) / 1000));
}

static void step_clear_failure(struct step_call *c)
{
	memset(&c->m->vm->failure, 0, sizeof(c->m->vm->failure));
	c->m->vm_changed = true;
}

static void step_record_strategy(struct step_call *c)
{
	c->m->vm->recorded = c->m->vm->strategy;
	c->m->vm_changed = true;
}

static void step_forget_vm(struct step_call *c)
{
	happen(c->ret, KIND_VM, NULL, "deleted");
	c->m->gone_vm = take(&c->m->vm);
	c->m->vm_changed = true;
}

/* ---- creating a run ---------------------------------------------------------------------- */

static char *template_text(const struct node *spec, const char *path)
{
	const struct node *node = node_at(spec, path);

	return node && node->n_children ? node_json(node) : NULL;
}

/* Of this run only: the VM's own spec stays (§5.1, §14 no. 5). */
static bool is_paused_start(const struct vm *vm)
{
	return vm->n_requests && vm->requests[0].action == REQUEST_START && vm->requests[0].paused;
}

static int vmi_fill(struct vmi *vmi, const struct vm *vm, struct err *err)
{
	struct node *vm_spec = text_tree(vm->spec);
	struct node *spec = vmi_spec_tree(vm_spec);
	int ret;

	if (is_paused_start(vm))
		node_set(spec, "startStrategy", node_new(NODE_STRING, "Paused"));
	ret = spec_parse(spec, &vmi->typed, err);
	if (ret == 0) {
		vmi->spec = node_json(spec);
		vmi->meta.labels = template_text(vm_spec, "template.metadata.labels");
		vmi->meta.annotations = template_text(vm_spec, "template.metadata.annotations");
	}
	node_free(spec);
	node_free(vm_spec);
	return ret;
}

struct vmi *vmi_of_vm(const struct vm *vm, const struct step_env *env, struct err *err)
{
	struct vmi *vmi = xcalloc(1, sizeof(*vmi));

	if (vmi_fill(vmi, vm, err) < 0) {
		vmi_free(vmi);
		return NULL;
	}
	vmi->meta.ns = xstrdup(vm->meta.ns);
	vmi->meta.name = xstrdup(vm->meta.name);
	copy_str(vmi->meta.uid, UID_SIZE, env->uid);
	vmi->meta.generation = 1;
	vmi->meta.created = env->now.wall;
	copy_str(vmi->owner, UID_SIZE, vm->meta.uid);
	vmi->vm_generation = vm->meta.generation;
	vmi_set_phase(vmi, PHASE_PENDING, env->now);
	return vmi;
}

static int step_create_vmi(struct step_call *c, struct err *err)
{
	struct machine *m = c->m;
	struct vmi *vmi = vmi_of_vm(m->vm, c->env, err);

	if (!vmi)
		return -(int)err->code;
	m->vmi = vmi;
	vmi_begin(m);
	m->vm->ran_once = m->vm->strategy == STRATEGY_ONCE;
	m->vm_changed = m->vmi_changed = true;
	happen(c->ret, KIND_VM, "SuccessfulCreate",
		"Started the virtual machine by creating the new virtual machine instance %s",
		vmi->meta.uid);
	return 0;
}

typedef void step_fn(struct step_call *c);

/* clang-format off */
static step_fn *const steps[STEP_MAX] = {
	[STEP_SET_PHASE]       = step_set_phase,
	[STEP_DELETE_VMI]      = step_delete_vmi,
	[STEP_RERUN_VMI]       = step_rerun_vmi,
	[STEP_BECOME_ALWAYS]   = step_become_always,
	[STEP_POP_REQUEST]     = step_pop_request,
	[STEP_COUNT_FAILURE]   = step_count_failure,
	[STEP_CLEAR_FAILURE]   = step_clear_failure,
	[STEP_RECORD_STRATEGY] = step_record_strategy,
	[STEP_FORGET_VMI]      = step_forget_vmi,
	[STEP_FORGET_VM]       = step_forget_vm,
	[STEP_READ]            = step_op_line,
	[STEP_PREPARE]         = step_op_line,
	[STEP_START]           = step_op_line,
	[STEP_SUSPEND]         = step_suspend,
	[STEP_RESUME]          = step_resume,
	[STEP_REBOOT]          = step_act,
	[STEP_RESET]           = step_act,
	[STEP_UNPAUSED]        = step_unpaused,
	[STEP_CLEAR_ERROR]     = step_clear_error,
	[STEP_SIGNAL]          = step_signal,
	[STEP_KILL]            = step_kill,
	[STEP_UNDEFINE]        = step_op_line,
	[STEP_CLEAN]           = step_op_line,
};
/* clang-format on */

int step_apply(struct machine *m, const struct plan *plan, const struct step_env *env,
	struct happening *ret, struct err *err)
{
	struct step_call call = { .m = m, .plan = plan, .env = env, .ret = ret };

	memset(ret, 0, sizeof(*ret));
	if (plan->step == STEP_CREATE_VMI)
		return step_create_vmi(&call, err);
	assert(steps[plan->step]);
	steps[plan->step](&call);
	return 0;
}
