/* SPDX-License-Identifier: Apache-2.0 */
/* The shutdown pass against semantics §7.1, §7.2 and §15: whole stops in a virtual clock, then each state. */
#include <check.h>
#include <string.h>

#include "core/shutdown.h"

Suite *test_shutdown_suite(void);

/* A stop of a guest that never reacts, asked again at each wake-up: "0s 5s … 30K" in seconds. */
static char *stop_of(struct shutdown_facts facts, msec begin)
{
	struct buf log = { 0 };

	facts.now = begin;
	for (int i = 0; i < 200; i++) {
		msec wake = -1;
		enum shutdown_step step = shutdown_decide(&facts, &wake);

		if (step == SHUTDOWN_SIGNAL) {
			buf_printf(&log, "%gs ", (double)(facts.now - begin) / 1000);
			facts.first = facts.first ? facts.first : facts.now;
			facts.last = facts.now;
		}
		if (step == SHUTDOWN_KILL) {
			ck_assert_int_eq(wake, NEVER);
			buf_printf(&log, "%gK", (double)(facts.now - begin) / 1000);
			return log.data;
		}
		ck_assert_int_gt(wake, facts.now); /* it does not spin */
		facts.now = wake;
	}
	ck_abort_msg("no kill: %s", log.data);
	return NULL;
}

/* clang-format off */
static const struct {
	int64_t grace;
	bool acpi;
	enum domain_state state;
	const char *want;
} stops[] = {
	{ 30,          1, DOMAIN_RUNNING,       "0s 5s 10s 15s 20s 25s 30K" }, /* §15 */
	{ GRACE_UNSET, 1, DOMAIN_RUNNING,       "0s 5s 10s 15s 20s 25s 30K" }, /* nil: 30 s (§7.1) */
	{ 3,           1, DOMAIN_RUNNING,       "0s 3K" },                     /* §15 */
	{ 1,           1, DOMAIN_RUNNING,       "0s 1K" },
	{ 5,           1, DOMAIN_RUNNING,       "0s 5K" },
	{ 6,           1, DOMAIN_RUNNING,       "0s 5s 6K" },
	{ 12,          1, DOMAIN_RUNNING,       "0s 5s 10s 12K" },
	{ 0,           1, DOMAIN_RUNNING,       "0K" },
	{ 30,          0, DOMAIN_RUNNING,       "0K" },                        /* §14 no. 14 */
	{ GRACE_UNSET, 0, DOMAIN_RUNNING,       "0K" },
	{ 30,          1, DOMAIN_PAUSED,        "0K" },                        /* §14 no. 14 */
	{ 30,          1, DOMAIN_CRASHED,       "0K" },
	{ 12,          1, DOMAIN_BLOCKED,       "0s 5s 10s 12K" },
	{ 12,          1, DOMAIN_PMSUSPENDED,   "0s 5s 10s 12K" },
	{ 12,          1, DOMAIN_NOSTATE,       "0s 5s 10s 12K" },
	{ 12,          1, DOMAIN_UNKNOWN,       "0s 5s 10s 12K" },
	{ 12,          1, DOMAIN_SHUTTING_DOWN, "0s 12K" },  /* §7.2 no. 3: no second signal; but a kill */
	{ 12,          1, DOMAIN_NONE,          "0s 12K" },
	{ 12,          1, DOMAIN_SHUTOFF,       "0s 12K" },
	{ 0,           1, DOMAIN_UNKNOWN,       "0K" },
	{ 0,           1, DOMAIN_SHUTTING_DOWN, "0K" },
};
/* clang-format on */

START_TEST(a_deaf_guest)
{
	struct shutdown_facts facts = {
		.grace = stops[_i].grace,
		.acpi = stops[_i].acpi,
		.state = stops[_i].state,
	};
	char *got = stop_of(facts, 100000);

	ck_assert_str_eq(got, stops[_i].want);
	free(got);
	got = stop_of(facts, 1); /* just booted */
	ck_assert_str_eq(got, stops[_i].want);
	free(got);
}
END_TEST

static const struct {
	const char *what;
	int64_t grace;
	enum domain_state state;
	msec first, last, now;
	enum shutdown_step want;
	msec wake;
} points[] = {
	{ "the first", 30, DOMAIN_RUNNING, 0, 0, 1000, SHUTDOWN_SIGNAL, 6000 },
	{ "too early", 30, DOMAIN_RUNNING, 1000, 1000, 5999, SHUTDOWN_WAIT, 6000 },
	{ "again", 30, DOMAIN_RUNNING, 1000, 1000, 6000, SHUTDOWN_SIGNAL, 11000 },
	{ "the last before the kill", 30, DOMAIN_RUNNING, 1000, 21000, 26000, SHUTDOWN_SIGNAL,
		31000 },
	{ "one before the kill", 30, DOMAIN_RUNNING, 1000, 26000, 30999, SHUTDOWN_WAIT, 31000 },
	{ "the kill", 30, DOMAIN_RUNNING, 1000, 26000, 31000, SHUTDOWN_KILL, NEVER },
	{ "a late kill", 30, DOMAIN_RUNNING, 1000, 1000, 99000, SHUTDOWN_KILL, NEVER },
	{ "the kill whatever the state", 30, DOMAIN_SHUTTING_DOWN, 1000, 1000, 31000, SHUTDOWN_KILL,
		NEVER },
	{ "grace from 300 to 10 at 20 s (§15)", 10, DOMAIN_RUNNING, 1000, 20000, 21000,
		SHUTDOWN_KILL, NEVER },
	{ "grace to 0", 0, DOMAIN_RUNNING, 1000, 1000, 1001, SHUTDOWN_KILL, NEVER },
	{ "grace from 30 to 300 at 20 s", 300, DOMAIN_RUNNING, 1000, 21000, 22000, SHUTDOWN_WAIT,
		26000 },
	{ "it begins to leave", 30, DOMAIN_SHUTTING_DOWN, 1000, 1000, 7000, SHUTDOWN_WAIT, 31000 },
	{ "it pauses on the way", 30, DOMAIN_PAUSED, 1000, 1000, 2000, SHUTDOWN_KILL, NEVER },
	{ "the state is not known", 30, DOMAIN_UNKNOWN, 1000, 1000, 31000, SHUTDOWN_KILL, NEVER },
	{ "the longest grace", INT64_MAX, DOMAIN_RUNNING, 1000, 1000, 6000, SHUTDOWN_SIGNAL,
		11000 },
	{ "nearly that", INT64_MAX / 1000, DOMAIN_RUNNING, 1000, 1000, 6000, SHUTDOWN_SIGNAL,
		11000 },
	{ "never: the signal goes on", GRACE_FOREVER_S, DOMAIN_RUNNING, 1000, 1000, 6000,
		SHUTDOWN_SIGNAL, 11000 },
	{ "never: after a hundred years", GRACE_FOREVER_S, DOMAIN_RUNNING, 1000, 1000,
		SECONDS(3200000000), SHUTDOWN_SIGNAL, SECONDS(3200000005) },
	{ "never: nor a paused guest", GRACE_FOREVER_S, DOMAIN_PAUSED, 1000, 6000, 7000,
		SHUTDOWN_WAIT, 11000 },
	{ "never: it begins to leave", GRACE_FOREVER_S, DOMAIN_SHUTTING_DOWN, 1000, 1000, 7000,
		SHUTDOWN_WAIT, NEVER },
	{ "the longest that ends", GRACE_FOREVER_S - 1, DOMAIN_PAUSED, 1000, 6000, 7000,
		SHUTDOWN_KILL, NEVER },
	{ "signal late: the next is 5 s after it", 30, DOMAIN_RUNNING, 1000, 1000, 9000,
		SHUTDOWN_SIGNAL, 14000 },
};

/* The host goes down and waits no longer than that, whatever the grace (§7.2, last paragraph). */
static const struct {
	int64_t grace;
	msec kill_after; /* the first signal */
	enum domain_state state;
	const char *want;
} host_stops[] = {
	{ 300, 12000, DOMAIN_RUNNING, "0s 5s 10s 12K" },
	{ 7, 12000, DOMAIN_RUNNING, "0s 5s 7K" },
	{ 300, 4000, DOMAIN_SHUTTING_DOWN, "0s 4K" },
	{ 300, 0, DOMAIN_RUNNING, "0K" },
	{ GRACE_FOREVER_S, 12000, DOMAIN_RUNNING, "0s 5s 10s 12K" },
	{ GRACE_FOREVER_S, 12000, DOMAIN_SHUTTING_DOWN, "0s 12K" },
};

START_TEST(a_host_that_waits_no_longer)
{
	struct shutdown_facts facts = {
		.grace = host_stops[_i].grace,
		.acpi = true,
		.state = host_stops[_i].state,
		.kill_at = 100000 + host_stops[_i].kill_after,
	};
	char *got = stop_of(facts, 100000);

	ck_assert_str_eq(got, host_stops[_i].want);
	free(got);
}
END_TEST

START_TEST(one_pass)
{
	struct shutdown_facts facts = {
		.grace = points[_i].grace,
		.acpi = true,
		.state = points[_i].state,
		.first = points[_i].first,
		.last = points[_i].last,
		.now = points[_i].now,
	};
	msec wake = -1;

	ck_assert_msg(shutdown_decide(&facts, &wake) == points[_i].want, "%s", points[_i].what);
	ck_assert_msg(wake == points[_i].wake, "%s: wakes at %lld", points[_i].what,
		(long long)wake);
}
END_TEST

Suite *test_shutdown_suite(void)
{
	Suite *s = suite_create("shutdown");
	TCase *whole = tcase_create("§7.1, §7.2, §15 a deaf guest");
	TCase *passes = tcase_create("§7.2 one pass");

	tcase_add_loop_test(whole, a_deaf_guest, 0, ARRAY_SIZE(stops));
	suite_add_tcase(s, whole);
	tcase_add_loop_test(passes, one_pass, 0, ARRAY_SIZE(points));
	tcase_add_loop_test(passes, a_host_that_waits_no_longer, 0, ARRAY_SIZE(host_stops));
	suite_add_tcase(s, passes);
	return s;
}
