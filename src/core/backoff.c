/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-failure back-off (semantics §4.5): how long to wait, what counts as a failure,
 * when it is over.
 *
 * Owns nothing. It must not know who waits: strategy.c is only told whether time is left.
 */
#include "core/backoff.h"

#include "core/phase.h"

unsigned backoff_delay(int64_t n, uint32_t random)
{
	int64_t d;

	n = MAX(n, 1);
	n = MIN(n, BACKOFF_MAX_S); /* far beyond the cap, and its square still fits */
	d = BACKOFF_UNIT_S * n * n;
	d += random % (d / 2 + 1);
	return (unsigned)MIN(d, BACKOFF_MAX_S);
}

static bool ever_ran(const struct vmi *vmi)
{
	return vmi->phase == PHASE_RUNNING || vmi->phase_wall[PHASE_RUNNING] != 0;
}

bool start_failure_counts(const struct vm *vm, const struct vmi *vmi)
{
	if (start_failure_is_over(vm, vmi) || !phase_is_final(vmi->phase))
		return false;
	return !streq(vm->failure.last_uid, vmi->meta.uid);
}

void start_failure_count(struct vm *vm, const struct vmi *vmi, struct now now, uint32_t random)
{
	struct start_failure *failure = &vm->failure;
	msec delay;

	if (failure->count < UINT32_MAX)
		failure->count++;
	delay = SECONDS(backoff_delay(failure->count, random));
	copy_str(failure->last_uid, sizeof(failure->last_uid), vmi->meta.uid);
	failure->retry_at = now.boot + delay;
	failure->retry_wall = now.wall + delay;
}

bool start_failure_is_over(const struct vm *vm, const struct vmi *vmi)
{
	if (vmi && ever_ran(vmi))
		return true;
	return vm->strategy != STRATEGY_ALWAYS && vm->strategy != STRATEGY_RERUN_ON_FAILURE &&
		vm->strategy != STRATEGY_ONCE;
}
