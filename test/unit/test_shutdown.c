/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shutdown pass against semantics §7.1, §7.2, §14 and §15: whole stops in a virtual clock, a
 * row each with the section that it is from, then single passes.
 */
#include <check.h>
#include <string.h>

#include "core/shutdown.h"

Suite *test_shutdown_suite(void);

struct stop {
	int64_t grace;
	/* A: the agent hears, s: the button is heard; A, S: heard, but never answered. */
	const char *ways;
	enum domain_state state;
	const char *want;
	int64_t later; /* the grace from second `at` on */
	int at;
};

static struct signal_facts way_of(const char *ways, char letter, msec last)
{
	bool hangs = strchr(ways, letter - 'a' + 'A');

	return (struct signal_facts){ .heard = hangs || strchr(ways, letter),
		.busy = hangs && last,
		.last = last };
}

static void note(struct buf *log, msec time, char what)
{
	buf_printf(log, "%s%g%c", log->len ? " " : "", (double)time / 1000, what);
}

/* A stop of a guest that never reacts, asked again at each wake-up: "0a 0s 5s … 30K" in seconds. */
static char *stop_of(const struct stop *s, msec begin, msec kill_at)
{
	msec last[WAY_MAX] = { 0 }, wake = -1;
	struct shutdown_facts f = { .state = s->state, .kill_at = kill_at, .now = begin };
	struct buf log = { 0 };

	for (int i = 0; i < 200; i++) {
		bool later = s->at && f.now >= begin + SECONDS(s->at);
		enum shutdown_step step;

		f.grace = later ? s->later : s->grace;
		f.ways[WAY_AGENT] = way_of(s->ways, 'a', last[WAY_AGENT]);
		f.ways[WAY_BUTTON] = way_of(s->ways, 's', last[WAY_BUTTON]);
		step = shutdown_decide(&f, &wake);
		if (step == SHUTDOWN_KILL) {
			ck_assert_int_eq(wake, NEVER);
			note(&log, f.now - begin, 'K');
			return log.data;
		}
		if (step == SHUTDOWN_WAIT) {
			ck_assert_int_gt(wake, f.now); /* it does not spin */
			f.now = later || !s->at ? wake : MIN(wake, begin + SECONDS(s->at));
			continue;
		}
		note(&log, f.now - begin, step == SHUTDOWN_ASK_AGENT ? 'a' : 's');
		last[step == SHUTDOWN_ASK_AGENT ? WAY_AGENT : WAY_BUTTON] = f.now;
		f.first = f.first ? f.first : f.now;
	}
	ck_abort_msg("no kill: %s", log.data);
	return NULL;
}

/* clang-format off */
static const struct stop stops[] = {
	/* §15: a deaf guest */
	{ 30,          "s",  DOMAIN_RUNNING,       "0s 5s 10s 15s 20s 25s 30K", 0, 0 },
	{ 3,           "s",  DOMAIN_RUNNING,       "0s 3K", 0, 0 },
	{ 300,         "s",  DOMAIN_RUNNING,       "0s 5s 10s 15s 20K", 10, 20 },
	/* §7.1: nil is 30 s; what holds is what the spec says at each pass */
	{ GRACE_UNSET, "s",  DOMAIN_RUNNING,       "0s 5s 10s 15s 20s 25s 30K", 0, 0 },
	{ 300,         "s",  DOMAIN_RUNNING,       "0s 5s 7K", 7, 6 },
	{ 300,         "s",  DOMAIN_RUNNING,       "0s 3K", 0, 3 },
	{ 300,         "s",  DOMAIN_SHUTTING_DOWN, "0s 10K", 10, 4 },
	{ 10,          "s",  DOMAIN_RUNNING,       "0s 5s 10s 12K", 12, 8 },
	/* §7.2 no. 2, 4 */
	{ 1,           "s",  DOMAIN_RUNNING,       "0s 1K", 0, 0 },
	{ 5,           "s",  DOMAIN_RUNNING,       "0s 5K", 0, 0 },
	{ 6,           "s",  DOMAIN_RUNNING,       "0s 5s 6K", 0, 0 },
	{ 12,          "s",  DOMAIN_RUNNING,       "0s 5s 10s 12K", 0, 0 },
	{ 0,           "s",  DOMAIN_RUNNING,       "0K", 0, 0 },
	{ 0,           "as", DOMAIN_RUNNING,       "0K", 0, 0 },
	{ 0,           "s",  DOMAIN_UNKNOWN,       "0K", 0, 0 },
	{ 0,           "s",  DOMAIN_SHUTTING_DOWN, "0K", 0, 0 },
	/* §7.2 no. 3: no second signal to one that goes; but a kill */
	{ 12,          "s",  DOMAIN_SHUTTING_DOWN, "0s 12K", 0, 0 },
	{ 12,          "as", DOMAIN_SHUTTING_DOWN, "0a 12K", 0, 0 },
	{ 12,          "s",  DOMAIN_NONE,          "0s 12K", 0, 0 },
	{ 12,          "s",  DOMAIN_SHUTOFF,       "0s 12K", 0, 0 },
	/* §7.2: every other state is signalled */
	{ 12,          "s",  DOMAIN_BLOCKED,       "0s 5s 10s 12K", 0, 0 },
	{ 12,          "s",  DOMAIN_PMSUSPENDED,   "0s 5s 10s 12K", 0, 0 },
	{ 12,          "s",  DOMAIN_NOSTATE,       "0s 5s 10s 12K", 0, 0 },
	{ 12,          "s",  DOMAIN_UNKNOWN,       "0s 5s 10s 12K", 0, 0 },
	/* §14 no. 14: what cannot react is not waited for */
	{ 30,          "",   DOMAIN_RUNNING,       "0K", 0, 0 },
	{ GRACE_UNSET, "",   DOMAIN_RUNNING,       "0K", 0, 0 },
	{ 30,          "s",  DOMAIN_PAUSED,        "0K", 0, 0 },
	{ 30,          "as", DOMAIN_PAUSED,        "0K", 0, 0 },
	{ 30,          "as", DOMAIN_CRASHED,       "0K", 0, 0 },
	/* §14 no. 15: agent and button beside each other; one that hangs holds up nothing */
	{ 12,          "as", DOMAIN_RUNNING,       "0a 0s 5a 5s 10a 10s 12K", 0, 0 },
	{ 12,          "As", DOMAIN_RUNNING,       "0a 0s 5s 10s 12K", 0, 0 },
	{ 12,          "aS", DOMAIN_RUNNING,       "0a 0s 5a 10a 12K", 0, 0 },
	{ 12,          "AS", DOMAIN_RUNNING,       "0a 0s 12K", 0, 0 },
	{ 30,          "AS", DOMAIN_RUNNING,       "0a 0s 6K", 3, 6 },
	/* without ACPI a guest with an agent is asked, and waited for */
	{ 12,          "a",  DOMAIN_RUNNING,       "0a 5a 10a 12K", 0, 0 },
	{ 8,           "A",  DOMAIN_RUNNING,       "0a 8K", 0, 0 },
};
/* clang-format on */

START_TEST(whole_stops)
{
	char *got = stop_of(&stops[_i], 100000, 0);

	ck_assert_str_eq(got, stops[_i].want);
	free(got);
	got = stop_of(&stops[_i], 1, 0); /* just booted */
	ck_assert_str_eq(got, stops[_i].want);
	free(got);
}
END_TEST

/* clang-format off */
static const struct {
	const char *what;
	int64_t grace;
	enum domain_state state;
	msec first, last, now;
	enum shutdown_step want;
	msec wake;
} points[] = {
	{ "the first", 30, DOMAIN_RUNNING, 0, 0, 1000, SHUTDOWN_PRESS_BUTTON, 6000 },
	{ "too early", 30, DOMAIN_RUNNING, 1000, 1000, 5999, SHUTDOWN_WAIT, 6000 },
	{ "again", 30, DOMAIN_RUNNING, 1000, 1000, 6000, SHUTDOWN_PRESS_BUTTON, 11000 },
	{ "the last before the kill", 30, DOMAIN_RUNNING, 1000, 21000, 26000, SHUTDOWN_PRESS_BUTTON, 31000 },
	{ "one before the kill", 30, DOMAIN_RUNNING, 1000, 26000, 30999, SHUTDOWN_WAIT, 31000 },
	{ "the kill", 30, DOMAIN_RUNNING, 1000, 26000, 31000, SHUTDOWN_KILL, NEVER },
	{ "a late kill", 30, DOMAIN_RUNNING, 1000, 1000, 99000, SHUTDOWN_KILL, NEVER },
	{ "the kill whatever the state", 30, DOMAIN_SHUTTING_DOWN, 1000, 1000, 31000, SHUTDOWN_KILL, NEVER },
	{ "grace from 300 to 10 at 20 s (§15)", 10, DOMAIN_RUNNING, 1000, 20000, 21000, SHUTDOWN_KILL, NEVER },
	{ "grace to 0", 0, DOMAIN_RUNNING, 1000, 1000, 1001, SHUTDOWN_KILL, NEVER },
	{ "grace from 30 to 300 at 20 s", 300, DOMAIN_RUNNING, 1000, 21000, 22000, SHUTDOWN_WAIT, 26000 },
	{ "it begins to leave", 30, DOMAIN_SHUTTING_DOWN, 1000, 1000, 7000, SHUTDOWN_WAIT, 31000 },
	{ "it pauses on the way", 30, DOMAIN_PAUSED, 1000, 1000, 2000, SHUTDOWN_KILL, NEVER },
	{ "the state is not known", 30, DOMAIN_UNKNOWN, 1000, 1000, 31000, SHUTDOWN_KILL, NEVER },
	{ "the longest grace", INT64_MAX, DOMAIN_RUNNING, 1000, 1000, 6000, SHUTDOWN_PRESS_BUTTON, 11000 },
	{ "nearly that", INT64_MAX / 1000, DOMAIN_RUNNING, 1000, 1000, 6000, SHUTDOWN_PRESS_BUTTON, 11000 },
	{ "never: the signal goes on", GRACE_FOREVER_S, DOMAIN_RUNNING, 1000, 1000, 6000, SHUTDOWN_PRESS_BUTTON, 11000 },
	{ "never: after a hundred years", GRACE_FOREVER_S, DOMAIN_RUNNING, 1000, 1000,
	  SECONDS(3200000000), SHUTDOWN_PRESS_BUTTON, SECONDS(3200000005) },
	{ "never: nor a paused guest", GRACE_FOREVER_S, DOMAIN_PAUSED, 1000, 6000, 7000, SHUTDOWN_WAIT, 11000 },
	{ "never: it begins to leave", GRACE_FOREVER_S, DOMAIN_SHUTTING_DOWN, 1000, 1000, 7000, SHUTDOWN_WAIT, NEVER },
	{ "the longest that ends", GRACE_FOREVER_S - 1, DOMAIN_PAUSED, 1000, 6000, 7000, SHUTDOWN_KILL, NEVER },
	{ "signal late: the next is 5 s after it", 30, DOMAIN_RUNNING, 1000, 1000, 9000, SHUTDOWN_PRESS_BUTTON, 14000 },
};
/* clang-format on */

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
	const struct stop stop = { host_stops[_i].grace, "s", host_stops[_i].state, NULL, 0, 0 };
	char *got = stop_of(&stop, 100000, 100000 + host_stops[_i].kill_after);

	ck_assert_str_eq(got, host_stops[_i].want);
	free(got);
}
END_TEST

START_TEST(one_pass)
{
	struct shutdown_facts facts = {
		.grace = points[_i].grace,
		.ways[WAY_BUTTON] = { .heard = true, .last = points[_i].last },
		.state = points[_i].state,
		.first = points[_i].first,
		.now = points[_i].now,
	};
	msec wake = -1;

	ck_assert_msg(shutdown_decide(&facts, &wake) == points[_i].want, "%s", points[_i].what);
	ck_assert_msg(wake == points[_i].wake, "%s: wakes at %lld", points[_i].what,
		(long long)wake);
}
END_TEST

/* 30 s of grace that began at 1 s; what of the two ways is heard, busy, and when each was used. */
/* clang-format off */
static const struct {
	const char *what;
	struct signal_facts agent, button;
	msec now;
	enum shutdown_step want;
	msec wake;
} mixes[] = {
	{ "the agent comes in the middle", { 1, 0, 0 }, { 1, 0, 6000 }, 7000, SHUTDOWN_ASK_AGENT, 12000 },
	{ "… and is asked once more with the button", { 1, 0, 7000 }, { 1, 0, 11000 }, 12000, SHUTDOWN_ASK_AGENT, 17000 },
	{ "the agent goes in the middle", { 0, 0, 6000 }, { 1, 0, 6000 }, 7000, SHUTDOWN_WAIT, 11000 },
	{ "… and there is no ACPI: its grace stays", { 0, 0, 6000 }, { 0, 0, 0 }, 7000, SHUTDOWN_WAIT, 31000 },
	{ "… until it is over", { 0, 0, 6000 }, { 0, 0, 0 }, 31000, SHUTDOWN_KILL, NEVER },
	{ "the agent hangs, the button is due", { 1, 1, 1000 }, { 1, 0, 1000 }, 6000, SHUTDOWN_PRESS_BUTTON, 11000 },
	{ "the agent hangs, the button is not due", { 1, 1, 1000 }, { 1, 0, 6000 }, 7000, SHUTDOWN_WAIT, 11000 },
	{ "the button hangs, the agent is due", { 1, 0, 1000 }, { 1, 1, 1000 }, 6000, SHUTDOWN_ASK_AGENT, 11000 },
	{ "both hang", { 1, 1, 1000 }, { 1, 1, 1000 }, 7000, SHUTDOWN_WAIT, 31000 },
	{ "both hang when it is over", { 1, 1, 1000 }, { 1, 1, 1000 }, 31000, SHUTDOWN_KILL, NEVER },
	{ "an agent that hung is asked at once", { 1, 0, 1000 }, { 1, 0, 6000 }, 7000, SHUTDOWN_ASK_AGENT, 12000 },
};
/* clang-format on */

START_TEST(two_ways)
{
	struct shutdown_facts facts = {
		.grace = 30,
		.ways = { [WAY_AGENT] = mixes[_i].agent, [WAY_BUTTON] = mixes[_i].button },
		.state = DOMAIN_RUNNING,
		.first = 1000,
		.now = mixes[_i].now,
	};
	msec wake = -1;

	ck_assert_msg(shutdown_decide(&facts, &wake) == mixes[_i].want, "%s", mixes[_i].what);
	ck_assert_msg(wake == mixes[_i].wake, "%s: wakes at %lld", mixes[_i].what, (long long)wake);
}
END_TEST

Suite *test_shutdown_suite(void)
{
	Suite *s = suite_create("shutdown");
	TCase *whole = tcase_create("§7.1, §7.2, §14, §15 whole stops");
	TCase *passes = tcase_create("§7.2 one pass");
	TCase *ways = tcase_create("§14 no. 15 two ways");

	tcase_add_loop_test(whole, whole_stops, 0, ARRAY_SIZE(stops));
	suite_add_tcase(s, whole);
	tcase_add_loop_test(passes, one_pass, 0, ARRAY_SIZE(points));
	tcase_add_loop_test(passes, a_host_that_waits_no_longer, 0, ARRAY_SIZE(host_stops));
	suite_add_tcase(s, passes);
	tcase_add_loop_test(ways, two_ways, 0, ARRAY_SIZE(mixes));
	suite_add_tcase(s, ways);
	return s;
}
