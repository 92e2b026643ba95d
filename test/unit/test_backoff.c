/* SPDX-License-Identifier: Apache-2.0 */
/* Start-failure back-off against semantics §4.5 and §15: bounds for every n, what
 * counts, when it ends. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/backoff.h"

Suite *test_backoff_suite(void);

static const struct {
	int64_t n;
	unsigned least, most; /* seconds, both reached */
} delays[] = {
	{ INT64_MIN, 10, 15 },
	{ -1, 10, 15 },
	{ 0, 10, 15 },
	{ 1, 10, 15 },
	{ 2, 40, 60 },
	{ 3, 90, 135 },
	{ 4, 160, 240 },
	{ 5, 250, 300 },
	{ 6, 300, 300 },
	{ 7, 300, 300 },
	{ 30, 300, 300 },
	{ 100, 300, 300 },
	{ 301, 300, 300 },
	{ 46341, 300, 300 },
	{ UINT32_MAX, 300, 300 },
	{ INT64_MAX, 300, 300 },
};

START_TEST(delay_is_between_its_bounds)
{
	unsigned least = UINT32_MAX, most = 0;

	for (uint32_t random = 0; random < 2000; random++) {
		unsigned d = backoff_delay(delays[_i].n, random);

		least = MIN(least, d);
		most = MAX(most, d);
	}
	ck_assert_uint_eq(least, delays[_i].least);
	ck_assert_uint_eq(most, delays[_i].most);
	ck_assert_uint_le(backoff_delay(delays[_i].n, UINT32_MAX), delays[_i].most);
	ck_assert_uint_ge(backoff_delay(delays[_i].n, UINT32_MAX), delays[_i].least);
}
END_TEST

/* Each whole second of n = 1 comes once in six draws. */
START_TEST(jitter_is_uniform)
{
	unsigned seen[6] = { 0 };

	for (uint32_t random = 0; random < 600; random++)
		seen[backoff_delay(1, random) - 10]++;
	for (int i = 0; i < 6; i++)
		ck_assert_uint_eq(seen[i], 100);
}
END_TEST

#define DONE "11111111-2222-3333-4444-555555555555"

/* In the order of RUN_STRATEGIES: "" Always RerunOnFailure Manual Halted Once WaitAsReceiver. */
static const char covered[] = "0110010";

START_TEST(which_runs_count)
{
	bool is_covered = covered[_i] == '1';

	for (int phase = 0; phase < PHASE_MAX; phase++)
		for (int ran = 0; ran < 2; ran++)
			for (int counted = 0; counted < 2; counted++) {
				struct vm vm = { .strategy = (enum run_strategy)_i };
				struct vmi vmi = { .phase = (enum phase)phase };
				bool is_final = phase == PHASE_SUCCEEDED || phase == PHASE_FAILED;

				copy_str(vmi.meta.uid, UID_SIZE, DONE);
				if (counted)
					copy_str(vm.failure.last_uid, UID_SIZE, DONE);
				vmi.phase_wall[PHASE_RUNNING] = ran ? 77 : 0;
				ck_assert_int_eq(start_failure_counts(&vm, &vmi),
					is_covered && is_final && !ran && !counted);
			}
}
END_TEST

START_TEST(when_it_is_over)
{
	struct vm vm = { .strategy = (enum run_strategy)_i };
	struct vmi vmi = { .phase = PHASE_FAILED };
	bool is_covered = covered[_i] == '1';

	ck_assert_uint_eq(strlen(covered), STRATEGY_MAX);
	ck_assert_int_eq(start_failure_is_over(&vm, NULL), !is_covered);
	ck_assert_int_eq(start_failure_is_over(&vm, &vmi), !is_covered);
	vmi.phase_wall[PHASE_RUNNING] = 77;
	ck_assert(start_failure_is_over(&vm, &vmi));
	vmi = (struct vmi){ .phase = PHASE_RUNNING };
	ck_assert(start_failure_is_over(&vm, &vmi));
	vmi.phase = PHASE_SCHEDULED;
	ck_assert_int_eq(start_failure_is_over(&vm, &vmi), !is_covered);
}
END_TEST

START_TEST(failures_add_up)
{
	static const msec least[] = { 10, 40, 90, 160, 250, 300, 300 };
	struct vm vm = { .strategy = STRATEGY_ALWAYS };
	struct now now = { .boot = 5000, .wall = 1000000 };

	for (unsigned i = 0; i < ARRAY_SIZE(least); i++) {
		struct vmi vmi = { .phase = PHASE_FAILED };

		snprintf(vmi.meta.uid, UID_SIZE, "run-%u", i);
		ck_assert(start_failure_counts(&vm, &vmi));
		start_failure_count(&vm, &vmi, now, 0);
		ck_assert(!start_failure_counts(&vm, &vmi)); /* once per UID */
		ck_assert_uint_eq(vm.failure.count, i + 1);
		ck_assert_str_eq(vm.failure.last_uid, vmi.meta.uid);
		ck_assert_int_eq(vm.failure.retry_at, 5000 + SECONDS(least[i]));
		ck_assert_int_eq(vm.failure.retry_wall, 1000000 + SECONDS(least[i]));
	}
}
END_TEST

START_TEST(jitter_is_counted_in)
{
	struct vm vm = { .strategy = STRATEGY_ONCE };
	struct vmi vmi = { .phase = PHASE_SUCCEEDED, .meta = { .uid = DONE } };

	start_failure_count(&vm, &vmi, (struct now){ .boot = 1 }, 5);
	ck_assert_int_eq(vm.failure.retry_at, 15001);
}
END_TEST

START_TEST(the_count_does_not_wrap)
{
	struct vm vm = { .strategy = STRATEGY_ALWAYS, .failure = { .count = UINT32_MAX } };
	struct vmi vmi = { .phase = PHASE_FAILED };

	start_failure_count(&vm, &vmi, (struct now){ 0 }, 0);
	ck_assert_uint_eq(vm.failure.count, UINT32_MAX);
	ck_assert_int_eq(vm.failure.retry_at, 300000);
}
END_TEST

Suite *test_backoff_suite(void)
{
	Suite *s = suite_create("backoff");
	TCase *delay = tcase_create("§4.5, §15 delay");
	TCase *rules = tcase_create("§4.5 rules");

	tcase_add_loop_test(delay, delay_is_between_its_bounds, 0, ARRAY_SIZE(delays));
	tcase_add_test(delay, jitter_is_uniform);
	suite_add_tcase(s, delay);
	tcase_add_loop_test(rules, which_runs_count, 0, STRATEGY_MAX);
	tcase_add_loop_test(rules, when_it_is_over, 0, STRATEGY_MAX);
	tcase_add_test(rules, failures_add_up);
	tcase_add_test(rules, jitter_is_counted_in);
	tcase_add_test(rules, the_count_does_not_wrap);
	suite_add_tcase(s, rules);
	return s;
}
