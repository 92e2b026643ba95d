/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shutdown pass (semantics §7.2): when to signal the guest, when again, when to kill.
 *
 * Owns a table of what a domain in each state can do with a signal. It must not know how a signal
 * is sent or whether it arrived: the clock starts when the first one is decided.
 */
#include "core/shutdown.h"

enum hearing {
	HEARING_SIGNAL, /* the guest may react */
	HEARING_CLOCK, /* it reacts already, or cannot be reached: after one signal only the clock runs */
	HEARING_DEAF /* it cannot react: waiting is useless (§14 no. 14) */
};

/* clang-format off */
static const enum hearing hearings[] = {
	[DOMAIN_UNKNOWN]       = HEARING_SIGNAL, /* not knowing must not keep a guest alive */
	[DOMAIN_NONE]          = HEARING_CLOCK,  /* a start may still be on its way */
	[DOMAIN_NOSTATE]       = HEARING_SIGNAL,
	[DOMAIN_RUNNING]       = HEARING_SIGNAL,
	[DOMAIN_BLOCKED]       = HEARING_SIGNAL,
	[DOMAIN_PAUSED]        = HEARING_DEAF,
	[DOMAIN_SHUTTING_DOWN] = HEARING_CLOCK,
	[DOMAIN_SHUTOFF]       = HEARING_CLOCK,
	[DOMAIN_CRASHED]       = HEARING_DEAF,   /* on_crash preserve: QEMU lives, the guest does not */
	[DOMAIN_PMSUSPENDED]   = HEARING_SIGNAL,
};
/* clang-format on */
_Static_assert(ARRAY_SIZE(hearings) == DOMAIN_STATE_MAX, "a row for each state");

static msec kill_time(const struct shutdown_facts *f, msec first)
{
	msec grace, at;

	if (f->grace >= GRACE_FOREVER_S || __builtin_mul_overflow(f->grace, SECONDS(1), &grace) ||
		__builtin_add_overflow(first, grace, &at))
		return NEVER;
	return at;
}

/* The boot time at which that way is to be used, again or for the first time; NEVER
 * while it cannot be. */
static msec signal_time(const struct shutdown_facts *f, enum hearing hearing,
	const struct signal_facts *way)
{
	if (!way->heard || way->busy || (f->first && hearing == HEARING_CLOCK))
		return NEVER;
	return way->last ? way->last + SECONDS(RESIGNAL_S) : f->now;
}

static enum shutdown_step wait_for_guest(const struct shutdown_facts *f, enum hearing hearing,
	msec *ret_wake)
{
	static const enum shutdown_step steps[WAY_MAX] = {
		[WAY_AGENT] = SHUTDOWN_ASK_AGENT,
		[WAY_BUTTON] = SHUTDOWN_PRESS_BUTTON,
	};
	msec grace_end = kill_time(f, f->first ? f->first : f->now);
	msec kill_at = f->kill_at ? MIN(f->kill_at, grace_end) : grace_end;

	if (f->now >= kill_at)
		return SHUTDOWN_KILL;
	*ret_wake = kill_at;
	for (int i = 0; i < WAY_MAX; i++) {
		msec at = signal_time(f, hearing, &f->ways[i]);

		if (f->now >= at) {
			*ret_wake = MIN(f->now + SECONDS(RESIGNAL_S), kill_at);
			return steps[i];
		}
		*ret_wake = MIN(*ret_wake, at);
	}
	return SHUTDOWN_WAIT;
}

static bool is_out_of_reach(const struct shutdown_facts *f, enum hearing hearing)
{
	bool heard = f->ways[WAY_AGENT].heard || f->ways[WAY_BUTTON].heard;

	return hearing == HEARING_DEAF || (!heard && !f->first);
}

enum shutdown_step shutdown_decide(const struct shutdown_facts *facts, msec *ret_wake)
{
	struct shutdown_facts f = *facts;
	enum hearing hearing = hearings[f.state];

	*ret_wake = NEVER;
	if (f.grace == GRACE_UNSET)
		f.grace = GRACE_DEFAULT_S;
	if (f.grace <= 0 || (is_out_of_reach(&f, hearing) && f.grace < GRACE_FOREVER_S))
		return SHUTDOWN_KILL;
	return wait_for_guest(&f, hearing, ret_wake);
}

bool shutdown_grace_was_over(const struct vmi *vmi, msec at)
{
	int64_t grace = vmi->typed.grace == GRACE_UNSET ? GRACE_DEFAULT_S : vmi->typed.grace;

	return vmi->signal_first && at >= vmi->signal_first + SECONDS(grace);
}
