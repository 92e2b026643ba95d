/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function per step, in a table. They change the machine as the decider planned, in the words
 * of KubeVirt's events; they decide nothing themselves and must not know of store or hypervisor.
 */
#include "core/steps_private.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void happen(struct happening *h, enum object_kind kind, const char *reason, const char *fmt, ...)
{
	va_list ap;

	h->kind = kind;
	h->reason = reason;
	va_start(ap, fmt);
	vsnprintf(h->text, sizeof(h->text), fmt, ap);
	va_end(ap);
}

void libvirt_view_text(const struct libvirt_view *view, char ret[LIBVIRT_VIEW_SIZE])
{
	bool reason = view->reason != REASON_UNKNOWN || view->state != DOMAIN_NONE;

	ret[0] = '\0';
	if (view->state != DOMAIN_UNKNOWN)
		snprintf(ret, LIBVIRT_VIEW_SIZE, "%s%s%s", domain_state_name(view->state),
			reason ? "/" : "", reason ? domain_reason_name(view->reason) : "");
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

static bool is_stop_due(const struct vm *vm, const struct vmi *vmi)
{
	const struct state_request *head = &vm->requests[0];

	return vm->meta.deleted || vm->strategy == STRATEGY_HALTED ||
		(vm->n_requests == 1 && head->action == REQUEST_STOP &&
			streq(head->uid, vmi->meta.uid));
}

void vm_orphan(struct machine *m, struct now now)
{
	if (m->vmi && streq(m->vmi->owner, m->vm->meta.uid)) {
		if (is_stop_due(m->vm, m->vmi))
			vmi_delete(m, now);
		m->vmi->owner[0] = '\0';
		m->vmi_changed = true;
	}
	vm_delete(m, now);
}

/* clang-format off */
static step_fn *const steps[STEP_MAX] = {
	[STEP_SET_PHASE]       = step_set_phase,
	[STEP_ADOPT_VMI]       = step_adopt_vmi,
	[STEP_DELETE_VMI]      = step_delete_vmi,
	[STEP_RERUN_VMI]       = step_rerun_vmi,
	[STEP_PIN]             = step_pin,
	[STEP_BECOME_ALWAYS]   = step_become_always,
	[STEP_POP_REQUEST]     = step_pop_request,
	[STEP_COUNT_FAILURE]   = step_count_failure,
	[STEP_CLEAR_FAILURE]   = step_clear_failure,
	[STEP_COUNT_CRASH]     = step_count_crash,
	[STEP_CLEAR_CRASH]     = step_clear_crash,
	[STEP_RECORD_STRATEGY] = step_record_strategy,
	[STEP_FORGET_VMI]      = step_forget_vmi,
	[STEP_FORGET_VM]       = step_forget_vm,
	[STEP_PURGE]           = step_purge,
	[STEP_READ]            = step_op_line,
	[STEP_PREPARE]         = step_op_line,
	[STEP_START]           = step_op_line,
	[STEP_CLAIM]           = step_claim,
	[STEP_SUSPEND]         = step_suspend,
	[STEP_RESUME]          = step_resume,
	[STEP_REBOOT]          = step_act,
	[STEP_RESET]           = step_act,
	[STEP_UNPAUSED]        = step_unpaused,
	[STEP_CLEAR_ERROR]     = step_clear_error,
	[STEP_IO_FAILED]       = step_io_failed,
	[STEP_IO_OVER]         = step_io_over,
	[STEP_IO_RESUME]       = step_io_resume,
	[STEP_WAIT_FOR]        = step_wait_for,
	[STEP_SIGNAL]          = step_signal,
	[STEP_ASK_AGENT]       = step_ask_agent,
	[STEP_REBOOT_BY_AGENT] = step_act,
	[STEP_SET_TIME]        = step_set_time,
	[STEP_AGENT_INFO]      = step_op_line,
	[STEP_TELL_CREDENTIALS] = step_tell_credentials,
	[STEP_CREDENTIALS]     = step_credentials,
	[STEP_PROBE]           = step_probe,
	[STEP_UNHEALTHY]       = step_unhealthy,
	[STEP_READINESS]       = step_readiness,
	[STEP_KILL]            = step_kill,
	[STEP_READ_WORDS]      = step_op_line,
	[STEP_UNDEFINE]        = step_op_line,
	[STEP_CLEAN]           = step_op_line,
	[STEP_HOST_STOP]       = step_host_stop,
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
