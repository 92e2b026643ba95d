/* SPDX-License-Identifier: Apache-2.0 */
/* The crash-loop guard against semantics §4.5 [P]: which ends count, how long the next try waits,
 * when it is over. */
#include <check.h>
#include <stdio.h>

#include "core/crashloop.h"
#include "core/machine.h"

Suite *test_crashloop_suite(void);

#define RUN   "11111111-2222-3333-4444-555555555555"
#define OTHER "99999999-2222-3333-4444-555555555555"

static const struct tuning tuning = { .crash_guard = true, .crash_stable_s = 120, .crash_free = 3 };

/* In the order of RUN_STRATEGIES: "" Always RerunOnFailure Manual Halted Once WaitAsReceiver. */
static const char counted_failed[] = "0110000", counted_succeeded[] = "0100000", kept[] = "0110010";

struct world {
	struct vm vm;
	struct vmi vmi;
	struct tuning tuning;
};

/* A run that ended 5 s after it had entered Running. */
static void world_init(struct world *w, enum run_strategy strategy, enum phase phase)
{
	*w = (struct world){ .vm = { .strategy = strategy, .recorded = strategy },
		.vmi = { .phase = phase, .running_at = 1000, .ended_at = 6000 },
		.tuning = tuning };
	copy_str(w->vmi.meta.uid, UID_SIZE, RUN);
}

static bool counts(const struct world *w)
{
	return crash_loop_counts(&w->vm, &w->vmi, &w->tuning);
}

static msec over_at(const struct world *w)
{
	return crash_loop_over_at(&w->vm, &w->vmi, &w->tuning);
}

START_TEST(which_strategies_count)
{
	struct world w;

	ck_assert_uint_eq(strlen(counted_failed), STRATEGY_MAX);
	for (int phase = 0; phase < PHASE_MAX; phase++) {
		bool want = (phase == PHASE_FAILED && counted_failed[_i] == '1') ||
			(phase == PHASE_SUCCEEDED && counted_succeeded[_i] == '1');

		world_init(&w, (enum run_strategy)_i, (enum phase)phase);
		ck_assert_msg(counts(&w) == want, "%s, %s", run_strategy_name(w.vm.strategy),
			phase_name(w.vmi.phase));
	}
}
END_TEST

static void delete_it(struct world *w)
{
	w->vmi.meta.deleted = 1;
}

static void request_stop(struct world *w)
{
	w->vm.requests[0].action = REQUEST_STOP;
	copy_str(w->vm.requests[0].uid, UID_SIZE, RUN);
	w->vm.n_requests = 1;
}

static void request_stop_of_other(struct world *w)
{
	request_stop(w);
	copy_str(w->vm.requests[0].uid, UID_SIZE, OTHER);
}

static void request_start(struct world *w)
{
	w->vm.requests[0].action = REQUEST_START;
	w->vm.n_requests = 1;
}

static void reboot_host(struct world *w)
{
	w->vmi.rebooted = true;
}

static void turn_off(struct world *w)
{
	w->tuning.crash_guard = false;
}

static void count_it(struct world *w)
{
	copy_str(w->vm.crash.last_uid, UID_SIZE, RUN);
}

static void count_other(struct world *w)
{
	copy_str(w->vm.crash.last_uid, UID_SIZE, OTHER);
}

static void never_ran(struct world *w)
{
	w->vmi.running_at = 0;
}

static void last_just_not(struct world *w)
{
	w->vmi.ended_at = w->vmi.running_at + SECONDS(120) - 1;
}

static void last(struct world *w)
{
	w->vmi.ended_at = w->vmi.running_at + SECONDS(120);
}

static void shorten(struct world *w)
{
	w->tuning.crash_stable_s = 5;
}

static void kill_it(struct world *w)
{
	w->vmi.end.killed = true;
}

/* clang-format off */
static const struct {
	void (*change)(struct world *w);
	bool counts;
} causes[] = {
	{ delete_it,             false },
	{ request_stop,          false },
	{ request_stop_of_other, true },
	{ request_start,         true },
	{ reboot_host,           false },
	{ turn_off,              false },
	{ count_it,              false }, /* once per UID */
	{ count_other,           true },
	{ never_ran,             false },
	{ last_just_not,         true },
	{ last,                  false },
	{ shorten,               false },
	{ kill_it,               true },
};
/* clang-format on */

START_TEST(which_ends_count)
{
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, PHASE_FAILED);
	ck_assert(counts(&w));
	causes[_i].change(&w);
	ck_assert_int_eq(counts(&w), causes[_i].counts);
}
END_TEST

/* The free ones do not wait; from then on it is §4.5's table, from its first row. */
START_TEST(waits_add_up)
{
	static const msec waits[] = { 0, 0, 0, 10, 40, 90, 160, 250, 300, 300 };
	struct now now = { .boot = 5000, .wall = 1000000 };
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, PHASE_FAILED);
	for (unsigned i = 0; i < ARRAY_SIZE(waits); i++) {
		snprintf(w.vmi.meta.uid, UID_SIZE, "run-%u", i);
		ck_assert(counts(&w));
		crash_loop_count(&w.vm, &w.vmi, &w.tuning, now, 0);
		ck_assert(!counts(&w));
		ck_assert_uint_eq(w.vm.crash.count, i + 1);
		ck_assert_str_eq(w.vm.crash.last_uid, w.vmi.meta.uid);
		ck_assert_int_eq(w.vm.crash.retry_at, waits[i] ? 5000 + SECONDS(waits[i]) : 0);
		ck_assert_int_eq(w.vm.crash.retry_wall, waits[i] ? 1000000 + SECONDS(waits[i]) : 0);
		ck_assert_int_eq(crash_loop_holds(&w.vm), waits[i] != 0);
	}
	ck_assert_uint_eq(w.vm.failure.count, 0); /* upstream's is another */
}
END_TEST

START_TEST(jitter_is_counted_in)
{
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, PHASE_SUCCEEDED);
	w.vm.crash.count = 3;
	crash_loop_count(&w.vm, &w.vmi, &w.tuning, (struct now){ .boot = 1 }, 5);
	ck_assert_int_eq(w.vm.crash.retry_at, 15001);
}
END_TEST

START_TEST(the_count_does_not_wrap)
{
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, PHASE_FAILED);
	w.vm.crash.count = UINT32_MAX;
	crash_loop_count(&w.vm, &w.vmi, &w.tuning, (struct now){ 0 }, 0);
	ck_assert_uint_eq(w.vm.crash.count, UINT32_MAX);
	ck_assert_int_eq(w.vm.crash.retry_at, 300000);
}
END_TEST

START_TEST(it_is_put_in_words)
{
	struct world w;

	world_init(&w, STRATEGY_ALWAYS, PHASE_FAILED);
	w.vmi.end_why = (char *)"the guest panicked";
	for (unsigned i = 1; i <= 2; i++) {
		char *text;

		crash_loop_count(&w.vm, &w.vmi, &w.tuning, (struct now){ 0 }, 0);
		text = crash_loop_text(&w.vm.crash);
		ck_assert_str_eq(text,
			i == 1 ? "ended 1 time in a row within 120 s of its start, the last time: "
				 "the guest panicked"
			       : "ended 2 times in a row within 120 s of its start, the last time: "
				 "the guest panicked");
		free(text);
	}
	crash_loop_clear(&w.vm.crash);
	ck_assert_uint_eq(w.vm.crash.count, 0);
	ck_assert_ptr_null(w.vm.crash.cause);
}
END_TEST

/* ---- when it is over ------------------------------------------------------------------------- */

START_TEST(which_strategies_keep_the_count)
{
	struct world w;

	world_init(&w, (enum run_strategy)_i, PHASE_RUNNING);
	ck_assert_int_eq(over_at(&w), kept[_i] == '1' ? 1000 + SECONDS(120) : AT_ONCE);
	ck_assert_int_eq(crash_loop_over_at(&w.vm, NULL, &w.tuning),
		kept[_i] == '1' ? NEVER : AT_ONCE);
	w.vm.crash.retry_wall = 1;
	ck_assert_int_eq(crash_loop_holds(&w.vm), counted_failed[_i] == '1');
}
END_TEST

/* clang-format off */
static const struct {
	enum run_strategy strategy;
	enum phase phase;
	void (*change)(struct world *w);
	msec at;
} ends[] = {
	{ STRATEGY_ALWAYS,           PHASE_SCHEDULED, never_ran,     NEVER },
	{ STRATEGY_ALWAYS,           PHASE_RUNNING,   never_ran,     NEVER }, /* nobody knows since when */
	{ STRATEGY_ALWAYS,           PHASE_RUNNING,   shorten,       6000 },
	{ STRATEGY_ALWAYS,           PHASE_RUNNING,   delete_it,     AT_ONCE },
	{ STRATEGY_ALWAYS,           PHASE_SCHEDULED, delete_it,     AT_ONCE },
	{ STRATEGY_ALWAYS,           PHASE_RUNNING,   turn_off,      AT_ONCE },
	{ STRATEGY_ALWAYS,           PHASE_FAILED,    last_just_not, NEVER },
	{ STRATEGY_ALWAYS,           PHASE_FAILED,    last,          AT_ONCE },
	{ STRATEGY_ALWAYS,           PHASE_SUCCEEDED, last_just_not, NEVER },
	{ STRATEGY_ALWAYS,           PHASE_SUCCEEDED, last,          AT_ONCE },
	{ STRATEGY_ALWAYS,           PHASE_FAILED,    delete_it,     NEVER }, /* to be followed by another */
	{ STRATEGY_ALWAYS,           PHASE_FAILED,    never_ran,     NEVER }, /* upstream's start failure */
	{ STRATEGY_RERUN_ON_FAILURE, PHASE_FAILED,    last_just_not, NEVER },
	{ STRATEGY_RERUN_ON_FAILURE, PHASE_SUCCEEDED, last_just_not, AT_ONCE }, /* it is not followed */
	{ STRATEGY_RERUN_ON_FAILURE, PHASE_SUCCEEDED, never_ran,     AT_ONCE },
};
/* clang-format on */

START_TEST(when_it_is_over)
{
	struct world w;

	world_init(&w, ends[_i].strategy, ends[_i].phase);
	ends[_i].change(&w);
	ck_assert_int_eq(over_at(&w), ends[_i].at);
}
END_TEST

/* ---- when the strategy is edited ------------------------------------------------------------- */

/* clang-format off */
static const struct {
	enum run_strategy from, to;
	const char *before; /* L: a loop is held back, F: a start failed */
	unsigned requests;  /* of one Start */
} edits[] = {
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_HALTED, "",  0 }, /* or it would become Always */
	{ STRATEGY_MANUAL,           STRATEGY_HALTED, "",  0 },
	{ STRATEGY_HALTED,           STRATEGY_HALTED, "",  1 }, /* start --paused */
	{ STRATEGY_HALTED,           STRATEGY_ALWAYS, "",  1 },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_MANUAL, "L", 0 },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_MANUAL, "F", 0 },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_MANUAL, "",  1 }, /* asked for by hand */
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_ALWAYS, "L", 1 },
};
/* clang-format on */

START_TEST(what_stays_queued)
{
	struct vm vm = { .strategy = edits[_i].from, .n_requests = 1 };

	vm.requests[0].action = REQUEST_START;
	vm.crash.retry_wall = streq(edits[_i].before, "L");
	vm.failure.count = streq(edits[_i].before, "F");
	vm_set_strategy(&vm, edits[_i].to);
	ck_assert_int_eq(vm.strategy, edits[_i].to);
	ck_assert_uint_eq(vm.n_requests, edits[_i].requests);
	ck_assert_int_eq(vm.requests[0].action, edits[_i].requests ? REQUEST_START : REQUEST_NONE);
}
END_TEST

Suite *test_crashloop_suite(void)
{
	Suite *s = suite_create("crashloop");
	TCase *count = tcase_create("§4.5 [P] what counts");
	TCase *edit = tcase_create("the strategy is edited");
	TCase *over = tcase_create("§4.5 [P] when it is over");

	tcase_add_loop_test(count, which_strategies_count, 0, STRATEGY_MAX);
	tcase_add_loop_test(count, which_ends_count, 0, ARRAY_SIZE(causes));
	tcase_add_test(count, waits_add_up);
	tcase_add_test(count, jitter_is_counted_in);
	tcase_add_test(count, the_count_does_not_wrap);
	tcase_add_test(count, it_is_put_in_words);
	suite_add_tcase(s, count);
	tcase_add_loop_test(over, which_strategies_keep_the_count, 0, STRATEGY_MAX);
	tcase_add_loop_test(over, when_it_is_over, 0, ARRAY_SIZE(ends));
	suite_add_tcase(s, over);
	tcase_add_loop_test(edit, what_stays_queued, 0, ARRAY_SIZE(edits));
	suite_add_tcase(s, edit);
	return s;
}
