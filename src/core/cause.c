/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what was seen of a run's end, and what was sent to it, to one cause. It must not know of
 * phases: those are phase.c's.
 */
#include "core/cause.h"

#include "core/phase.h"
#include "core/shutdown.h"

static const struct {
	const char *name, *words;
	enum actor_kind actor;
	bool output;
} causes[] = {
#define X(c, name, actor, output, words) [CAUSE_##c] = { name, words, ACTOR_##actor, output },
	CAUSES(X)
#undef X
};
_Static_assert(ARRAY_SIZE(causes) == CAUSE_MAX, "a row for each cause");

const char *cause_name(enum cause cause)
{
	return causes[cause].name;
}

const char *cause_words(enum cause cause)
{
	return causes[cause].words;
}

enum actor_kind cause_actor(enum cause cause)
{
	return causes[cause].actor;
}

bool cause_wants_output(enum cause cause)
{
	return causes[cause].output;
}

bool cause_is_of_domain(enum cause cause)
{
	return cause > CAUSE_NONE && cause < CAUSE_START_FAILED;
}

/* By the name that the decider gives as status.reason. */
static bool cause_by_name(const char *reason, enum cause *ret)
{
	for (int cause = CAUSE_NONE + 1; reason && cause < CAUSE_MAX; cause++) {
		if (streq(causes[cause].name, reason)) {
			*ret = (enum cause)cause;
			return true;
		}
	}
	return false;
}

static bool host_waited_long_enough(const struct vmi *vmi)
{
	return vmi->kill_at && vmi->signal_last >= vmi->kill_at; /* which was the kill */
}

/* What only a host that goes down makes of a run; else it ends as others do. */
static enum cause cause_of_host(const struct vmi *vmi, const struct plan *plan)
{
	if (!streq(plan->reason, "HostShutdown"))
		return CAUSE_NONE;
	if (!vmi->phase_wall[PHASE_RUNNING])
		return CAUSE_HOST_TOO_EARLY;
	return plan->cause == REASON_UNKNOWN && vmi->rebooted ? CAUSE_HOST_UNSEEN : CAUSE_NONE;
}

static enum cause cause_of_kill(const struct vmi *vmi)
{
	if (host_waited_long_enough(vmi))
		return CAUSE_KILLED_FOR_HOST;
	return shutdown_grace_was_over(vmi, vmi->signal_last) ? CAUSE_KILLED_LATE
							      : CAUSE_KILLED_AT_ONCE;
}

enum cause cause_of(const struct vmi *vmi, const struct plan *plan)
{
	/* clang-format off */
	static const enum cause of_domain[DOMAIN_REASON_MAX] = {
		[REASON_SHUTDOWN]        = CAUSE_GUEST_POWEROFF,
		[REASON_DESTROYED]       = CAUSE_DESTROYED,
		[REASON_CRASHED]         = CAUSE_QEMU_CRASHED,
		[REASON_PANICKED]        = CAUSE_GUEST_PANIC,
		[REASON_SAVED]           = CAUSE_SAVED,
		[REASON_FROM_SNAPSHOT]   = CAUSE_REVERTED,
		[REASON_POSTCOPY_FAILED] = CAUSE_DISCARDED,
	};
	/* clang-format on */
	enum cause cause = cause_of_host(vmi, plan);

	if (!phase_is_final(plan->phase))
		return CAUSE_NONE;
	if (cause || cause_by_name(plan->reason, &cause))
		return cause;
	if (vmi->end.panicked)
		return CAUSE_GUEST_PANIC;
	if (plan->cause == REASON_DESTROYED && vmi->end.killed)
		return cause_of_kill(vmi);
	if (plan->cause == REASON_SHUTDOWN && vmi->signal_first)
		return CAUSE_GUEST_SHUTDOWN;
	return of_domain[plan->cause] ? of_domain[plan->cause] : CAUSE_UNKNOWN;
}
