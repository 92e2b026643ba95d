/* SPDX-License-Identifier: Apache-2.0 */
/* The two pools: no job waits behind a hung one while a thread is free, and urgent ones never
 * do. */
#include <check.h>
#include <pthread.h>

#include "io/virt_workers.h"

struct test_job {
	struct job job;
	pthread_mutex_t *hold; /* run() takes it, so it hangs while the test has it */
	int *done;
	pthread_t thread; /* that ran it */
};

static uv_loop_t loop;
static struct workers *workers;
static pthread_mutex_t *hold;

static void setup(void)
{
	hold = xcalloc(1, sizeof(*hold));
	pthread_mutex_init(hold, NULL);
	ck_assert_int_eq(uv_loop_init(&loop), 0);
	workers = workers_new(&loop);
}

static void teardown(void)
{
	workers_free(workers);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	pthread_mutex_destroy(hold);
	free(hold);
}

static void run(struct job *job)
{
	struct test_job *j = (struct test_job *)job;

	j->thread = pthread_self();
	if (j->hold) {
		pthread_mutex_lock(j->hold);
		pthread_mutex_unlock(j->hold);
	}
}

static void done(struct job *job)
{
	++*((struct test_job *)job)->done;
}

static void submit(struct test_job *j, enum worker_pool pool, pthread_mutex_t *mutex, int *count)
{
	*j = (struct test_job){ { .run = run, .done = done }, mutex, count, 0 };
	workers_submit(workers, pool, &j->job);
}

static void await(const int *count, int at_least)
{
	while (*count < at_least)
		uv_run(&loop, UV_RUN_ONCE);
}

START_TEST(hung_jobs)
{
	struct test_job hung[5], urgent[10], normal;
	int n_hung = 0, n_urgent = 0, n_normal = 0;

	pthread_mutex_lock(hold);
	for (int i = 0; i < 5; i++)
		submit(&hung[i], WORKERS_NORMAL, hold, &n_hung);
	for (int i = 0; i < 10; i++)
		submit(&urgent[i], WORKERS_URGENT, NULL, &n_urgent);
	submit(&normal, WORKERS_NORMAL, NULL, &n_normal);
	await(&n_urgent, 10);
	while (workers_busy(workers) < WORKERS_NORMAL_THREADS)
		uv_run(&loop, UV_RUN_NOWAIT);
	ck_assert_uint_eq(workers_busy(workers), WORKERS_NORMAL_THREADS);
	ck_assert_int_eq(n_normal, 0);
	pthread_mutex_unlock(hold);
	await(&n_hung, 5);
	await(&n_normal, 1);
	ck_assert_uint_eq(workers_busy(workers), 0);
}
END_TEST

/* Agents that hang, more of them than there are workers, hold up nothing but other agents. */
START_TEST(hung_agents)
{
	struct test_job hung[10], urgent[10], normal[10];
	int n_hung = 0, n_urgent = 0, n_normal = 0;

	pthread_mutex_lock(hold);
	for (int i = 0; i < 10; i++) {
		submit(&hung[i], WORKERS_AGENT, hold, &n_hung);
		submit(&normal[i], WORKERS_NORMAL, NULL, &n_normal);
		submit(&urgent[i], WORKERS_URGENT, NULL, &n_urgent);
	}
	await(&n_normal, 10);
	await(&n_urgent, 10);
	ck_assert_int_eq(n_hung, 0);
	while (workers_busy(workers) != WORKERS_AGENT_THREADS)
		uv_run(&loop, UV_RUN_NOWAIT);
	pthread_mutex_unlock(hold);
	await(&n_hung, 10);
}
END_TEST

/* Two that come at once are not both given to the one thread that waits. */
START_TEST(one_idle_thread)
{
	struct test_job first, hung, next;
	int n_first = 0, n_hung = 0, n_next = 0;

	for (int i = 0; i < 200; i++) {
		n_first = n_hung = n_next = 0;
		submit(&first, WORKERS_NORMAL, NULL, &n_first);
		await(&n_first, 1);
		pthread_mutex_lock(hold);
		submit(&hung, WORKERS_NORMAL, hold, &n_hung);
		submit(&next, WORKERS_NORMAL, NULL, &n_next);
		await(&n_next, 1);
		ck_assert_int_eq(n_hung, 0);
		pthread_mutex_unlock(hold);
		await(&n_hung, 1);
	}
}
END_TEST

/* A job that has nothing to run is done as late as any other: never within submit. */
START_TEST(nothing_to_run)
{
	int count = 0;
	struct test_job j = { { .done = done }, NULL, &count, 0 };

	workers_submit(workers, WORKERS_NORMAL, &j.job);
	ck_assert_int_eq(count, 0);
	await(&count, 1);
}
END_TEST

START_TEST(queued_at_the_end)
{
	static struct test_job jobs[20];
	static int count;

	for (int i = 0; i < 20; i++)
		submit(&jobs[i], WORKERS_URGENT, NULL, &count);
	while (workers_busy(workers))
		;
	workers_free(workers);
	ck_assert_int_eq(count, 20); /* run or not, each is given back */
	workers = workers_new(&loop);
}
END_TEST

Suite *test_virt_workers_suite(void);
Suite *test_virt_workers_suite(void)
{
	Suite *suite = suite_create("virt_workers");
	TCase *tc = tcase_create("workers");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, hung_jobs);
	tcase_add_test(tc, hung_agents);
	tcase_add_test(tc, one_idle_thread);
	tcase_add_test(tc, nothing_to_run);
	tcase_add_test(tc, queued_at_the_end);
	suite_add_tcase(suite, tc);
	return suite;
}
