/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps on a run: its phase, what is sent to it, what a user wants of it, its end.
 */
#include "core/steps_private.h"

#include <stdio.h>
#include <string.h>

#include "core/ioretry.h"
#include "core/phase.h"
#include "core/shutdown.h"

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

/* libvirt may have forgotten a reason that it told once. */
static struct libvirt_view view_of(const struct machine *m)
{
	struct libvirt_view view = { machine_domain_state(m), m->dom.reason };

	if (view.state == DOMAIN_NONE)
		view.reason = REASON_UNKNOWN;
	if (view.reason == REASON_UNKNOWN && !domain_is_alive(view.state))
		view.reason = m->vmi->end.stopped;
	return view;
}

/* NULL for what is no end. */
static const char *end_words(const struct vmi *vmi, enum cause cause)
{
	if (cause == CAUSE_START_FAILED && vmi->sync_error)
		return vmi->sync_error;
	return cause ? cause_words(cause) : NULL;
}

static void enter_phase(struct vmi *vmi, const struct plan *plan, const char *why, struct now now)
{
	vmi_set_phase(vmi, plan->phase, now);
	if (plan->reason)
		replace_str(&vmi->reason, plan->reason);
	replace_str(&vmi->end_why, why);
	if (plan->phase == PHASE_RUNNING || plan->phase == PHASE_SCHEDULED)
		vmi_set_error(vmi, OBSTACLE_NONE, NULL);
	vmi->claim = false;
	vmi->tries = 0; /* what comes next does not wait for what failed before */
	vmi->retry_at = 0;
}

/* KubeVirt's node is what the host is here: a run that went down with it is told
 * of under that name. */
static const char *end_event(const struct happening *what, enum phase phase)
{
	return what->cause == CAUSE_HOST_REBOOTED ? "NodeUnresponsive" : phase_event(phase);
}

/* Whether QEMU was ever started does not matter: where nothing was written, nothing is found. */
static void want_words(struct vmi *vmi, enum cause cause)
{
	if (vmi->phase == PHASE_RUNNING)
		vmi->words = WORDS_NONE; /* what was said of a failed try is not this QEMU's end */
	else if (vmi->prepared && cause_wants_output(cause) && vmi->words == WORDS_NONE)
		vmi->words = WORDS_WANTED;
}

/* "" or " (libvirt: Shutoff/Crashed)". */
static void view_words(const struct libvirt_view *view, char *ret, size_t size)
{
	char text[LIBVIRT_VIEW_SIZE];

	libvirt_view_text(view, text);
	snprintf(ret, size, "%s%s%s", text[0] ? " (libvirt: " : "", text, text[0] ? ")" : "");
}

void step_set_phase(struct step_call *c)
{
	struct vmi *vmi = c->m->vmi;
	enum phase before = vmi->phase;
	enum cause cause = cause_of(vmi, c->plan);
	char view[LIBVIRT_VIEW_SIZE + 16];

	c->ret->cause = cause;
	c->ret->actor.kind = cause_actor(cause);
	if (cause_is_of_domain(cause))
		c->ret->libvirt = view_of(c->m);
	view_words(&c->ret->libvirt, view, sizeof(view));
	enter_phase(vmi, c->plan, end_words(vmi, cause), c->env->now);
	want_words(vmi, cause);
	if (cause && vmi_ends_with_host(vmi))
		c->ret->actor.kind = ACTOR_HOST;
	if (c->m->vm && vmi->phase == PHASE_RUNNING)
		replace_str(&c->m->vm->adopts, NULL); /* the definition is ours by now */
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL; /* its status shows the VMI's */
	if (c->plan->restore)
		c->m->vm->restore = true;
	c->ret->warning = vmi->phase == PHASE_FAILED;
	happen(c->ret, KIND_VMI, end_event(c->ret, vmi->phase), "phase %s -> %s%s%s%s%s",
		phase_name(before), phase_name(vmi->phase), vmi->end_why ? ": " : "",
		vmi->end_why ? vmi->end_why : "",
		cause && vmi_ends_with_host(vmi) ? "; the host goes down" : "", view);
}

/* The mark is durable: what the host began goes on after a restart of the agent. */
void step_host_stop(struct step_call *c)
{
	struct vmi *vmi = c->m->vmi;
	msec left = MAX(c->m->stop_by - c->env->now.boot, 0);

	vmi->host_shutdown = true;
	vmi->kill_at = c->m->stop_by;
	vmi->retry_at = 0; /* a stop does not wait for the back-off of a start */
	vmi->tries = 0;
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL;
	c->ret->actor.kind = ACTOR_HOST;
	happen(c->ret, KIND_VMI, "HostShutdown",
		"the host goes down: stopping the guest within %lld s", (long long)(left / 1000));
}

/* The first of them, by whichever way, is the event and starts the clock. */
static void signal_guest(struct step_call *c, msec *last, const char *what)
{
	struct vmi *vmi = c->m->vmi;

	happen(c->ret, KIND_VMI, vmi->signal_first ? NULL : "ShuttingDown", "%s%s", what,
		*last ? " again" : "");
	*last = c->env->now.boot;
	if (!vmi->signal_first)
		vmi->signal_first = *last;
	c->m->vmi_changed = true;
}

void step_signal(struct step_call *c)
{
	signal_guest(c, &c->m->vmi->signal_last, "signalled the guest to shut down");
}

void step_ask_agent(struct step_call *c)
{
	signal_guest(c, &c->m->vmi->asked_last, "asked the guest agent to shut down");
}

static const char *kill_why(const struct vmi *vmi, struct now now)
{
	if (vmi->kill_at && now.boot >= vmi->kill_at)
		return ": the host can wait no longer";
	return shutdown_grace_was_over(vmi, now.boot) ? ": its grace period is over" : "";
}

void step_kill(struct step_call *c)
{
	struct vmi *vmi = c->m->vmi;

	c->m->vmi_changed = true;
	if (phase_is_final(vmi->phase)) {
		happen(c->ret, KIND_VMI, NULL, "removing what is left of its QEMU");
		return;
	}
	c->ret->warning = vmi->typed.grace != 0;
	happen(c->ret, KIND_VMI, vmi->end.killed ? NULL : "Deleted", "killing the guest%s%s",
		vmi->end.killed ? " again" : "", kill_why(vmi, c->env->now));
	vmi->end.killed = true;
	vmi->signal_last = c->env->now.boot;
}

const char *obstacle_event(enum obstacle obstacle)
{
	static const char *const events[] = {
#define X(c, condition, reason, event) event,
		OBSTACLES(X)
#undef X
	};

	return events[obstacle];
}

/* Said and stored once; the tries after that are not. */
void step_wait_for(struct step_call *c)
{
	const struct plan *plan = c->plan;
	struct vmi *vmi = c->m->vmi;
	enum obstacle before = vmi->obstacle;

	vmi->retry_at = c->env->now.boot + retry_delay(++vmi->tries);
	if (vmi->obstacle == plan->obstacle && streq(vmi->sync_error, plan->obstacle_words))
		return;
	vmi_set_error(vmi, plan->obstacle, plan->obstacle_words);
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL;
	if (before == OBSTACLE_NO_ROOM && plan->obstacle == before)
		return; /* it waits as it did: only how much is free has changed */
	c->ret->warning = true;
	happen(c->ret, KIND_VMI, obstacle_event(plan->obstacle), "cannot be started: %s",
		plan->obstacle_words);
}

void step_op_line(struct step_call *c)
{
	enum step step = c->plan->step;

	if (step != STEP_READ && step != STEP_READ_WORDS && step != STEP_AGENT_INFO)
		happen(c->ret, KIND_VMI, NULL, "%s", step_name(c->plan->step));
}

void step_claim(struct step_call *c)
{
	happen(c->ret, KIND_VMI, NULL, "claiming domain '%s'", c->m->vmi->domain);
}

/* ---- what a user wants of the run ------------------------------------------------------------ */

void step_suspend(struct step_call *c)
{
	happen(c->ret, KIND_VMI, NULL, "suspending the guest");
}

/* If disks failed meanwhile, this is the first try of their schedule. */
void step_resume(struct step_call *c)
{
	struct io_retry *io = &c->m->vmi->io;

	if (io->errors) {
		io->failed = false;
		io_retry_note(io, IO_RESUME, c->env->now.boot);
		c->m->vmi_changed = true;
	}
	happen(c->ret, KIND_VMI, NULL, "resuming the guest");
}

/* Forgotten in the commit after which it leaves: it is done once or, after a crash, not at all. */
void step_act(struct step_call *c)
{
	c->m->vmi->act = ACT_NONE;
	c->m->vmi_changed = true;
	happen(c->ret, KIND_VMI, NULL, "%s",
		c->plan->step == STEP_RESET            ? "resetting the guest"
			: c->plan->step == STEP_REBOOT ? "asking the guest to reboot"
						       : "asking the guest agent to reboot");
}

void step_set_time(struct step_call *c)
{
	if (!c->m->dom.agent_tries)
		happen(c->ret, KIND_VMI, NULL, "asking the guest agent to set the clock");
}

/* Who asks for it does not wait for the schedule of I/O errors. */
void step_unpaused(struct step_call *c)
{
	struct io_retry *io = &c->m->vmi->io;

	c->m->vmi->pause = PAUSE_AS_IS;
	c->m->vmi->set_time_until = c->env->now.boot + SECONDS(SET_TIME_S);
	c->m->vmi_changed = true;
	if (machine_domain_state(c->m) != DOMAIN_PAUSED)
		return;
	io->last = 0;
	io->failed = false;
}

/* ---- I/O errors ------------------------------------------------------------------------------ */

void step_io_failed(struct step_call *c)
{
	io_retry_note(&c->m->vmi->io, IO_FAILED, c->env->now.boot);
	c->m->vmi_changed = true;
}

void step_io_resume(struct step_call *c)
{
	struct io_retry *io = &c->m->vmi->io;
	autofree char *why = io_error_text(io);

	io_retry_note(io, IO_RESUME, c->env->now.boot);
	c->m->vmi_changed = true;
	happen(c->ret, KIND_VMI, NULL, "resuming the guest to see whether it is over: %s", why);
}

void step_io_over(struct step_call *c)
{
	autofree char *what = io_error_text(&c->m->vmi->io);

	io_retry_clear(&c->m->vmi->io);
	c->m->vmi_changed = true;
	happen(c->ret, KIND_VMI, NULL, "the guest goes on, it is over: %s", what);
}

void step_clear_error(struct step_call *c)
{
	vmi_set_error(c->m->vmi, OBSTACLE_NONE, NULL);
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL;
}

void step_forget_vmi(struct step_call *c)
{
	happen(c->ret, KIND_VMI, NULL, "gone");
	c->m->gone_vmi = take(&c->m->vmi);
	c->m->vmi_changed = true;
	memset(&c->m->dom, 0, sizeof(c->m->dom));
	c->m->vm_changed = c->m->vm != NULL;
}
