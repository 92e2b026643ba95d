/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor of a migration against the rows of semantics §12.3, and the steps of downtime between
 * them. */
#include <check.h>

#include "core/migration_monitor.h"

Suite *test_migration_monitor_suite(void);

#define GIB  (INT64_C(1) << 30)
#define MIB  (INT64_C(1) << 20)
#define NONE 0

enum may { POST_COPY = 1, DISRUPT = 2, DEVICE = 4, TUNED = 8 };

/* One look, s seconds after the begin. */
struct look {
	int64_t s, remaining;
	unsigned iteration;
	bool post_copy;
	enum migration_action action;
	unsigned downtime_ms; /* 0: of no interest */
};

#define GO       MIGRATION_GO_ON, 0
#define STOP     MIGRATION_ABORT, 0
#define PAUSE    MIGRATION_PAUSE, 0
#define POST     MIGRATION_POST_COPY, 0
#define WAIT(ms) MIGRATION_DOWNTIME, ms

/* Of 2 GiB: its time is up after 300 s, and it is stuck after 150 s without a new low. */
/* clang-format off */
static const struct {
	const char *what;
	unsigned may;
	struct look looks[12]; /* until one that is all zero */
} lives[] = {
	{ "as it should be", NONE,
	  { { 1, 2 * GIB, 1, false, GO }, { 20, GIB, 1, false, GO }, { 40, MIB, 2, false, GO } } },
	{ "row 3: stuck; said once", NONE,
	  { { 1, GIB, 1, false, GO }, { 100, GIB, 2, false, GO }, { 151, GIB, 2, false, GO },
	    { 152, GIB, 2, false, STOP }, { 153, GIB, 2, false, GO } } },
	{ "a new low begins anew", NONE,
	  { { 1, GIB, 1, false, GO }, { 150, GIB - 1, 2, false, GO }, { 290, GIB, 2, false, GO } } },
	{ "the memory is not measured by what was left of the disks", NONE,
	  { { 1, GIB, 0, false, GO }, { 10, 1, 0, false, GO }, { 11, GIB, 1, false, GO },
	    { 150, MIB, 1, false, GO }, { 250, MIB, 2, false, GO } } },
	{ "… and is stuck by itself", NONE,
	  { { 1, 2, 0, false, GO }, { 10, GIB, 1, false, GO }, { 100, GIB, 2, false, GO },
	    { 161, GIB, 2, false, STOP } } },
	{ "row 4: too late; said once", NONE,
	  { { 200, GIB, 1, false, GO }, { 300, MIB, 1, false, GO }, { 301, 1, 1, false, STOP },
	    { 302, 1, 1, false, GO } } },
	{ "post-copy alone does not disrupt", POST_COPY,
	  { { 200, GIB, 1, false, GO }, { 301, MIB, 1, false, STOP } } },
	{ "row 2: post-copy", POST_COPY | DISRUPT,
	  { { 200, GIB, 1, false, GO }, { 301, MIB, 1, false, POST }, { 302, MIB, 1, false, GO } } },
	{ "row 2 before row 3", POST_COPY | DISRUPT,
	  { { 1, GIB, 1, false, GO }, { 301, GIB, 1, false, POST } } },
	{ "stuck before it is late", POST_COPY | DISRUPT,
	  { { 1, GIB, 1, false, GO }, { 152, GIB, 1, false, STOP } } },
	{ "row 2': a host device", POST_COPY | DISRUPT | DEVICE,
	  { { 200, GIB, 1, false, GO }, { 301, MIB, 1, false, WAIT(600000) }, { 302, MIB, 1, false, GO },
	    { 450, 1, 1, false, GO }, { 601, 1, 1, false, STOP } } },
	{ "row 2'': pause, and twice the time", DISRUPT,
	  { { 200, GIB, 1, false, GO }, { 301, MIB, 1, false, PAUSE }, { 302, MIB, 1, false, GO },
	    { 450, 2, 1, false, GO }, { 590, 1, 1, false, GO }, { 600, 1, 1, false, GO },
	    { 601, 1, 1, false, STOP } } },
	{ "… in which it is not stuck for what was before", DISRUPT,
	  { { 1, MIB, 1, false, GO }, { 149, MIB - 1, 1, false, GO }, { 298, MIB - 2, 1, false, GO },
	    { 301, MIB - 1, 2, false, PAUSE }, { 449, MIB - 2, 2, false, GO }, { 598, 1, 2, false, GO } } },
	{ "row 1: post-copy is never called off", POST_COPY | DISRUPT,
	  { { 1, GIB, 1, false, GO }, { 500, GIB, 1, true, GO }, { 5000, GIB, 1, true, GO } } },
	{ "downtime rises in steps", TUNED,
	  { { 1, GIB, 1, false, GO }, { 2, GIB - 1, 2, false, GO }, { 3, GIB - 2, 3, false, WAIT(400) },
	    { 12, GIB - 3, 4, false, GO }, { 13, GIB - 4, 4, false, WAIT(500) },
	    { 23, GIB - 5, 5, false, WAIT(600) }, { 33, GIB - 6, 5, false, WAIT(700) },
	    { 43, GIB - 7, 5, false, WAIT(800) }, { 53, GIB - 8, 5, false, WAIT(900) },
	    { 63, GIB - 9, 5, false, WAIT(1000) }, { 73, GIB - 10, 5, false, GO } } },
};
/* clang-format on */

static struct migration_limits limits_of(unsigned may)
{
	struct migration_limits limits = MIGRATION_LIMITS_DEFAULT;

	limits.post_copy = may & POST_COPY;
	limits.disrupt = may & DISRUPT;
	limits.max_downtime_ms = may & TUNED ? 1000 : 300;
	return limits;
}

START_TEST(a_life)
{
	struct migration_limits limits = limits_of(lives[_i].may);
	struct migration_watch watch = { 0 };

	for (const struct look *l = lives[_i].looks; l->s; l++) {
		struct migration_seen seen = { .elapsed = SECONDS(l->s),
			.total = 2 * GIB,
			.remaining = l->remaining,
			.iteration = l->iteration,
			.post_copy = l->post_copy,
			.device = lives[_i].may & DEVICE };
		struct migration_order order = migration_monitor(&watch, &limits, &seen);

		ck_assert_msg(order.action == l->action, "%s: at %lld s: %d", lives[_i].what,
			(long long)l->s, (int)order.action);
		ck_assert_msg(order.downtime_ms == l->downtime_ms, "%s: at %lld s: %u ms",
			lives[_i].what, (long long)l->s, order.downtime_ms);
		ck_assert_msg(!order.why == (order.action <= MIGRATION_DOWNTIME), "%s",
			lives[_i].what);
	}
}
END_TEST

static bool take_second(void *ctx, const struct migration_order *order)
{
	unsigned *n = ctx;

	ck_assert_int_ne(order->action, MIGRATION_GO_ON);
	return ++*n > 1;
}

/* libvirt may be busy for once, and nothing else ends what never would. */
START_TEST(what_is_not_taken_is_ordered_again)
{
	static const unsigned may[] = { NONE, DISRUPT, POST_COPY | DISRUPT, TUNED };
	struct migration_limits limits = limits_of(may[_i]);
	struct migration_watch watch = { 0 };
	struct migration_seen seen = { .total = 2 * GIB,
		.remaining = GIB,
		.iteration = may[_i] == TUNED ? 3 : 1 };
	unsigned ordered = 0;

	seen.elapsed = SECONDS(1);
	if (may[_i] != TUNED)
		migration_monitor_look(&watch, &limits, &seen, take_second, &ordered);
	seen.elapsed = SECONDS(may[_i] == TUNED ? 2 : 301);
	for (int i = 0; i < 3; i++)
		migration_monitor_look(&watch, &limits, &seen, take_second, &ordered);
	ck_assert_uint_eq(ordered, 2);
}
END_TEST

static const struct {
	unsigned per_gib;
	int64_t total;
	msec want;
} times[] = {
	{ 150, 2 * GIB, SECONDS(300) },
	{ 150, 2 * GIB + 1, SECONDS(450) },
	{ 150, 1, SECONDS(150) },
	{ 150, 0, NEVER }, /* nothing is known yet */
	{ 0, 2 * GIB, NEVER },
	{ MIGRATION_SECONDS_MAX, INT64_MAX, NEVER },
	{ 123456789, 1024 * GIB, SECONDS(123456789 * INT64_C(1024)) },
};

START_TEST(the_time_that_it_has)
{
	struct migration_limits limits = { .completion_s_per_gib = times[_i].per_gib };

	ck_assert_int_eq(migration_time_limit(&limits, times[_i].total), times[_i].want);
}
END_TEST

/* 0 is no limit, in KubeVirt as here. */
START_TEST(without_limits_it_goes_on)
{
	struct migration_limits limits = { 0 };
	struct migration_watch watch = { 0 };
	struct migration_seen seen = { .total = GIB, .remaining = GIB, .iteration = 9 };

	for (int s = 1; s < 100000; s += 100) {
		seen.elapsed = SECONDS(s);
		ck_assert_int_eq(migration_monitor(&watch, &limits, &seen).action, MIGRATION_GO_ON);
	}
}
END_TEST

/* Bytes a second: libvirt's word, or what came since the last look. */
static const struct {
	struct migration_progress before, now;
	int64_t rate;
} rates[] = {
	{ { .total = 0 }, { .elapsed = 2000, .processed = 500, .rate = 7 }, 7 },
	{ { .total = 0 }, { .elapsed = 2000, .processed = 500 }, 250 },
	{ { .elapsed = 1000, .processed = 400 }, { .elapsed = 3000, .processed = 500 }, 50 },
	{ { .elapsed = 1000, .processed = 400, .rate = 9 }, { .elapsed = 3000, .processed = 400 },
		0 },
	{ { .elapsed = 3000, .processed = 400 }, { .elapsed = 1000, .processed = 500 }, 0 },
	{ { .total = 0 }, { .elapsed = 1, .processed = INT64_MAX }, 0 },
};

START_TEST(the_rate)
{
	ck_assert_int_eq(migration_rate(&rates[_i].now, &rates[_i].before), rates[_i].rate);
}
END_TEST

Suite *test_migration_monitor_suite(void)
{
	Suite *suite = suite_create("migration_monitor");
	TCase *tc = tcase_create("migration_monitor");

	tcase_add_loop_test(tc, a_life, 0, ARRAY_SIZE(lives));
	tcase_add_loop_test(tc, the_time_that_it_has, 0, ARRAY_SIZE(times));
	tcase_add_test(tc, without_limits_it_goes_on);
	tcase_add_loop_test(tc, what_is_not_taken_is_ordered_again, 0, 4);
	tcase_add_loop_test(tc, the_rate, 0, ARRAY_SIZE(rates));
	suite_add_tcase(suite, tc);
	return suite;
}
