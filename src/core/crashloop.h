/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crash-loop guard (semantics §4.5 [P]): upstream starts a guest that reaches Running and
 * dies again and again at once, for ever. Here such a quick end is counted; after crash_free of
 * them in a row each next try waits as a failed start does. Start failures and what is shown of
 * them stay upstream's. Pure.
 *
 * A quick end is the end of a run less than crash_stable_s after it entered Running, by whatever
 * cause but one that was asked for: deletion, stop, the host's reboot. A guest that is paused or
 * suspended runs. How long a run lasted is measured up to when its end was seen: if that is less
 * than the window it was quick, whoever was away; if it is more it counts as one that lasted, so
 * that nobody is held back for what nobody saw.
 */
#ifndef VMAGENT_CORE_CRASHLOOP_H
#define VMAGENT_CORE_CRASHLOOP_H

#include <vmagent/model.h>

#include "core/tuning.h"

/* Whether vmi is a quick end that its strategy follows with another run, not counted yet. */
bool crash_loop_counts(const struct vm *vm, const struct vmi *vmi, const struct tuning *tuning);

/* Counts it: count, UID, cause, window, and the wait once there are more than crash_free. random is
 * uniform over uint32_t. */
void crash_loop_count(struct vm *vm, const struct vmi *vmi, const struct tuning *tuning,
	struct now now, uint32_t random);

/*
 * Boot time from which on what was counted is to be forgotten, if nothing else happens; NEVER, or
 * AT_ONCE: the guard is off, no strategy starts the VM again, or its run ended as its strategy
 * wants it, was told to end, or had lasted. vmi may be NULL.
 */
#define AT_ONCE INT64_MIN
msec crash_loop_over_at(const struct vm *vm, const struct vmi *vmi, const struct tuning *tuning);

void crash_loop_clear(struct crash_loop *loop);

/* Whether the VM waits, or last waited, between its runs. */
bool crash_loop_holds(const struct vm *vm);

/* "ended 4 times in a row within 120 s of its start, the last time: the guest powered itself off";
 * owned by the caller. */
char *crash_loop_text(const struct crash_loop *loop);

#endif
