/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crash-loop guard: what a quick end is, how long the next try waits, when the count is over.
 *
 * Owns nothing. It must not know who waits: strategy.c is only told whether time is left.
 */
#include "core/crashloop.h"

#include "core/backoff.h"
#include "core/machine.h"
#include "core/phase.h"
#include "core/strategy.h"

static msec window_of(const struct tuning *tuning)
{
	return SECONDS(tuning->crash_stable_s);
}

static bool was_asked_for(const struct vm *vm, const struct vmi *vmi)
{
	return vmi->meta.deleted || vmi->host_shutdown || stop_is_requested(vm, vmi) ||
		vmi->rebooted;
}

static bool is_followed(const struct vm *vm, const struct vmi *vmi)
{
	return vm->strategy == STRATEGY_ALWAYS ||
		(vm->strategy == STRATEGY_RERUN_ON_FAILURE && vmi->phase == PHASE_FAILED);
}

bool crash_loop_counts(const struct vm *vm, const struct vmi *vmi, const struct tuning *tuning)
{
	if (!tuning->crash_guard || !phase_is_final(vmi->phase) || !vmi->running_at)
		return false;
	return vmi->ended_at - vmi->running_at < window_of(tuning) && is_followed(vm, vmi) &&
		!was_asked_for(vm, vmi) && !streq(vm->crash.last_uid, vmi->meta.uid);
}

void crash_loop_count(struct vm *vm, const struct vmi *vmi, const struct tuning *tuning,
	struct now now, uint32_t random)
{
	struct crash_loop *loop = &vm->crash;
	msec delay;

	if (loop->count < UINT32_MAX)
		loop->count++;
	copy_str(loop->last_uid, sizeof(loop->last_uid), vmi->meta.uid);
	replace_str(&loop->cause, vmi->end_why);
	loop->window_s = tuning->crash_stable_s;
	loop->retry_at = loop->retry_wall = 0;
	if (loop->count <= tuning->crash_free)
		return;
	delay = SECONDS(backoff_delay((int64_t)loop->count - tuning->crash_free, random));
	loop->retry_at = now.boot + delay;
	loop->retry_wall = now.wall + delay;
}

static bool may_restart(const struct vm *vm)
{
	return vm->strategy == STRATEGY_ALWAYS || vm->strategy == STRATEGY_RERUN_ON_FAILURE ||
		vm->strategy == STRATEGY_ONCE;
}

msec crash_loop_over_at(const struct vm *vm, const struct vmi *vmi, const struct tuning *tuning)
{
	msec limit;

	if (!tuning->crash_guard || !may_restart(vm))
		return AT_ONCE;
	if (!vmi)
		return NEVER;
	if (vmi->phase == PHASE_SUCCEEDED && vm->strategy == STRATEGY_RERUN_ON_FAILURE)
		return AT_ONCE;
	limit = vmi->running_at ? vmi->running_at + window_of(tuning) : NEVER;
	if (phase_is_final(vmi->phase))
		return vmi->ended_at >= limit ? AT_ONCE : NEVER;
	return vmi_is_stopping(vmi) ? AT_ONCE : limit;
}

void crash_loop_clear(struct crash_loop *loop)
{
	free(loop->cause);
	*loop = (struct crash_loop){ 0 };
}

bool crash_loop_holds(const struct vm *vm)
{
	return vm->crash.retry_wall &&
		(vm->strategy == STRATEGY_ALWAYS || vm->strategy == STRATEGY_RERUN_ON_FAILURE);
}

char *crash_loop_text(const struct crash_loop *loop)
{
	return xasprintf("ended %u time%s in a row within %u s of its start, the last time: %s",
		loop->count, loop->count == 1 ? "" : "s", loop->window_s,
		loop->cause ? loop->cause : "nobody knows why");
}
