/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the migration monitor as one ordered table, first match wins. Owns nothing.
 */
#include "core/migration_monitor.h"

#define GIB (INT64_C(1) << 30)

struct look {
	struct migration_watch *watch;
	const struct migration_limits *limits;
	const struct migration_seen *seen;
	bool late; /* the time for all of it is up */
};

typedef bool rule_fn(const struct look *l, struct migration_order *order);

msec migration_time_limit(const struct migration_limits *limits, int64_t total)
{
	int64_t gib = total / GIB + (total % GIB > 0);

	if (!limits->completion_s_per_gib || total <= 0)
		return NEVER;
	if (gib > NEVER / 1000 / limits->completion_s_per_gib)
		return NEVER;
	return SECONDS(limits->completion_s_per_gib * gib);
}

static bool order_set(struct migration_order *order, enum migration_action action, const char *why)
{
	order->action = action;
	order->why = why;
	return true;
}

/* What has begun to run at the target cannot be called off, and what was given up ends by
 * itself. */
static bool is_past_all(const struct look *l, struct migration_order *order)
{
	(void)order;
	return l->seen->post_copy || l->watch->given_up;
}

static bool may_disrupt(const struct look *l)
{
	return l->late && l->limits->disrupt && !l->watch->longer;
}

static bool post_copy(const struct look *l, struct migration_order *order)
{
	if (!may_disrupt(l) || !l->limits->post_copy || l->seen->device)
		return false;
	l->watch->given_up = true; /* another attempt follows, with a watch of its own */
	return order_set(order, MIGRATION_POST_COPY, "it took longer than completionTimeoutPerGiB");
}

/* From here on it gains again, and has twice the time. */
static void take_longer(const struct look *l)
{
	l->watch->longer = true;
	l->watch->lowest = l->seen->remaining;
	l->watch->lowest_at = l->seen->elapsed;
}

/* A host device's state is only sent while the guest stands still: that may take as
 * long as it needs. */
static bool stop_and_copy(const struct look *l, struct migration_order *order)
{
	msec limit = migration_time_limit(l->limits, l->seen->total);

	if (!may_disrupt(l) || !l->limits->post_copy)
		return false;
	take_longer(l);
	order->downtime_ms = (unsigned)MIN(2 * limit, (msec)MIGRATION_DOWNTIME_MAX_MS);
	return order_set(order, MIGRATION_DOWNTIME, NULL);
}

static bool pause_guest(const struct look *l, struct migration_order *order)
{
	if (!may_disrupt(l))
		return false;
	take_longer(l);
	return order_set(order, MIGRATION_PAUSE, "it took longer than completionTimeoutPerGiB");
}

static bool stuck(const struct look *l, struct migration_order *order)
{
	if (!l->limits->progress_s ||
		l->seen->elapsed - l->watch->lowest_at <= SECONDS(l->limits->progress_s))
		return false;
	l->watch->given_up = true;
	return order_set(order, MIGRATION_ABORT,
		"nothing was gained within progressTimeout: the guest changes its memory faster than it can be "
		"sent");
}

static bool too_late(const struct look *l, struct migration_order *order)
{
	if (!l->late)
		return false;
	l->watch->given_up = true;
	return order_set(order, MIGRATION_ABORT, "it took longer than completionTimeoutPerGiB");
}

/* From QEMU's own to the most that is allowed, in equal steps. */
static bool raise_downtime(const struct look *l, struct migration_order *order)
{
	struct migration_watch *w = l->watch;
	unsigned most = l->limits->max_downtime_ms, first = MIGRATION_DOWNTIME_FIRST_MS;

	if (most <= first || w->longer || w->raised == MIGRATION_DOWNTIME_STEPS ||
		l->seen->iteration < MIGRATION_DOWNTIME_ITERATION)
		return false;
	if (w->raised && l->seen->elapsed - w->raised_at < SECONDS(MIGRATION_DOWNTIME_PAUSE_S))
		return false;
	w->raised++;
	w->raised_at = l->seen->elapsed;
	order->downtime_ms = first + (most - first) * w->raised / MIGRATION_DOWNTIME_STEPS;
	return order_set(order, MIGRATION_DOWNTIME, NULL);
}

static rule_fn *const rules[] = { is_past_all, post_copy, stop_and_copy, pause_guest, stuck,
	too_late, raise_downtime };

/* How little was left of the disks is no measure for the memory, of which nothing is counted
 * before they are done. */
static void note_progress(struct migration_watch *watch, const struct migration_seen *seen)
{
	bool first = !watch->begun || (seen->iteration && !watch->memory);

	if (!first && seen->remaining >= watch->lowest)
		return;
	watch->begun = true;
	watch->memory |= seen->iteration > 0;
	watch->lowest = seen->remaining;
	watch->lowest_at = seen->elapsed;
}

struct migration_order migration_monitor(struct migration_watch *watch,
	const struct migration_limits *limits, const struct migration_seen *seen)
{
	msec limit = migration_time_limit(limits, seen->total);
	struct look look = { watch, limits, seen, false };
	struct migration_order order = { .action = MIGRATION_GO_ON };

	note_progress(watch, seen);
	look.late = limit != NEVER && seen->elapsed > (watch->longer ? 2 * limit : limit);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i](&look, &order))
			break;
	}
	return order;
}

void migration_monitor_look(struct migration_watch *watch, const struct migration_limits *limits,
	const struct migration_seen *seen, migration_obey_fn *obey, void *ctx)
{
	struct migration_watch before = *watch;
	struct migration_order order = migration_monitor(watch, limits, seen);

	if (order.action != MIGRATION_GO_ON && !obey(ctx, &order))
		*watch = before;
}
