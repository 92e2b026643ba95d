/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RunStrategy decision against semantics §4.3, §4.4 and the vectors of §15: each cell under
 * every queue, recorded strategy and back-off; then the vectors as runs of passes.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/strategy.h"

Suite *test_strategy_suite(void);

#define MINE    "11111111-2222-3333-4444-555555555555"
#define FOREIGN "99999999-2222-3333-4444-555555555555"

/* Heads of the queue, in the order of a cell's letters. */
static const struct state_request heads[] = {
	{ .action = REQUEST_NONE },
	{ .action = REQUEST_START },
	{ .action = REQUEST_START, .paused = true },
	{ .action = REQUEST_STOP, .uid = MINE },
	{ .action = REQUEST_STOP, .uid = FOREIGN },
	{ .action = REQUEST_STOP },
};

/* - nothing, c create, w wait, d delete, r delete and append Start, A become Always, e error */
static const char letters[] = "-cwdrAe";

enum condition_set { PLAIN, BACKOFF, RAN };

/* clang-format off */
static const struct cell {
	enum run_strategy strategy;
	enum run_strategy recorded;
	enum condition_set set;
	/* queue: empty, Start, Start paused, Stop for us, Stop for another, Stop without UID */
	const char *none, *active, *succeeded, *failed, *deleting;
} cells[] = {
	/* strategy                  recorded                   set        no VMI    active    Succeeded Failed    deleting */
	{ STRATEGY_ALWAYS,           STRATEGY_ALWAYS,           PLAIN,     "cccccc", "---d--", "dddddd", "dddddd", "------" },
	{ STRATEGY_ALWAYS,           STRATEGY_UNSET,            PLAIN,     "cccccc", "---d--", "dddddd", "dddddd", "------" },
	{ STRATEGY_ALWAYS,           STRATEGY_ALWAYS,           BACKOFF,   "wwwwww", "---d--", "dddddd", "dddddd", "------" },
	/* a queued Stop for a Failed run: deleted and, against upstream, not run again
	 * (design §6 no. 8) */
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_RERUN_ON_FAILURE, PLAIN,     "-cc---", "---d--", "dddddd", "rrrdrr", "------" },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_RERUN_ON_FAILURE, BACKOFF,   "-ww---", "---d--", "dddddd", "rrrdrr", "------" },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_UNSET,            PLAIN,     "cccccc", "---d--", "dddddd", "rrrdrr", "------" },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_HALTED,           PLAIN,     "cccccc", "---d--", "dddddd", "rrrdrr", "------" },
	{ STRATEGY_RERUN_ON_FAILURE, STRATEGY_ALWAYS,           BACKOFF,   "wwwwww", "---d--", "dddddd", "rrrdrr", "------" },
	{ STRATEGY_MANUAL,           STRATEGY_MANUAL,           PLAIN,     "-cc---", "---d--", "---d--", "---d--", "------" },
	{ STRATEGY_MANUAL,           STRATEGY_UNSET,            PLAIN,     "-cc---", "---d--", "---d--", "---d--", "------" },
	{ STRATEGY_MANUAL,           STRATEGY_MANUAL,           BACKOFF,   "-cc---", "---d--", "---d--", "---d--", "------" },
	{ STRATEGY_HALTED,           STRATEGY_HALTED,           PLAIN,     "-AA---", "dddddd", "dddddd", "dddddd", "------" },
	{ STRATEGY_HALTED,           STRATEGY_ALWAYS,           BACKOFF,   "-AA---", "dddddd", "dddddd", "dddddd", "------" },
	{ STRATEGY_ONCE,             STRATEGY_ONCE,             PLAIN,     "cccccc", "------", "------", "------", "------" },
	{ STRATEGY_ONCE,             STRATEGY_UNSET,            BACKOFF,   "cccccc", "------", "------", "------", "------" },
	{ STRATEGY_ONCE,             STRATEGY_ONCE,             RAN,       "------", "------", "------", "------", "------" },
	{ STRATEGY_WAIT_AS_RECEIVER, STRATEGY_WAIT_AS_RECEIVER, PLAIN,     "cccccc", "------", "------", "------", "------" },
	{ STRATEGY_UNSET,            STRATEGY_UNSET,            PLAIN,     "eeeeee", "eeeeee", "eeeeee", "eeeeee", "eeeeee" },
	{ STRATEGY_MAX,              STRATEGY_UNSET,            PLAIN,     "eeeeee", "eeeeee", "eeeeee", "eeeeee", "eeeeee" },
};
/* clang-format on */

START_TEST(decision)
{
	const struct cell *cell = &cells[_i];
	const char *const want[STAGE_MAX] = { cell->none, cell->active, cell->succeeded,
		cell->failed, cell->deleting };
	struct strategy_facts facts = {
		.strategy = cell->strategy,
		.recorded = cell->recorded,
		.backoff_left = cell->set == BACKOFF,
		.ran_once = cell->set == RAN,
	};

	for (int stage = 0; stage < STAGE_MAX; stage++)
		for (size_t head = 0; head < ARRAY_SIZE(heads); head++) {
			enum intent got;

			facts.stage = (enum vmi_stage)stage;
			facts.head = heads[head];
			copy_str(facts.vmi_uid, UID_SIZE, stage == STAGE_NONE ? "" : MINE);
			got = strategy_decide(&facts);
			ck_assert_msg(letters[got] == want[stage][head],
				"%s, stage %d, head %zu: %s, not '%c'",
				run_strategy_name(cell->strategy), stage, head, intent_name(got),
				want[stage][head]);
		}
}
END_TEST

START_TEST(columns)
{
	static const char *const want = "AAAAASFAA"; /* in the order of PHASES */
	struct vmi vmi = { 0 };

	ck_assert_int_eq(vmi_stage_of(NULL), STAGE_NONE);
	for (int phase = 0; phase < PHASE_MAX; phase++) {
		enum vmi_stage stage = want[phase] == 'S' ? STAGE_SUCCEEDED
			: want[phase] == 'F'              ? STAGE_FAILED
							  : STAGE_ACTIVE;

		vmi.phase = (enum phase)phase;
		vmi.meta.deleted = 0;
		ck_assert_int_eq(vmi_stage_of(&vmi), stage);
		vmi.meta.deleted = 1;
		ck_assert_int_eq(vmi_stage_of(&vmi), STAGE_DELETING);
	}
}
END_TEST

/* ---- §4.4 ------------------------------------------------------------------------------------ */

/* Letter by letter of `heads`: 1 removed, 0 stays. */
static const struct {
	const char *name;
	bool exists;
	enum phase phase;
	msec deleted;
	const char *want;
} trims[] = {
	{ "no VMI", false, PHASE_UNSET, 0, "000111" },
	{ "pending", true, PHASE_PENDING, 0, "011011" },
	{ "running", true, PHASE_RUNNING, 0, "011011" },
	{ "waiting for sync", true, PHASE_WAITING_FOR_SYNC, 0, "011011" },
	{ "deleting", true, PHASE_RUNNING, 5, "000011" },
	{ "succeeded", true, PHASE_SUCCEEDED, 0, "000011" },
	{ "failed", true, PHASE_FAILED, 0, "000011" },
	{ "failed and deleting", true, PHASE_FAILED, 5, "000011" },
};

START_TEST(trim)
{
	struct vmi vmi = { .phase = trims[_i].phase, .meta = { .uid = MINE } };

	vmi.meta.deleted = trims[_i].deleted;
	for (size_t head = 0; head < ARRAY_SIZE(heads); head++)
		ck_assert_msg(request_is_spent(&heads[head], trims[_i].exists ? &vmi : NULL) ==
				(trims[_i].want[head] == '1'),
			"%s, head %zu", trims[_i].name, head);
}
END_TEST

START_TEST(the_queue_keeps_its_order)
{
	const struct state_request stop = { .action = REQUEST_STOP, .uid = MINE };
	const struct state_request start = { .action = REQUEST_START, .paused = true };
	struct vm vm = { 0 };

	requests_pop(&vm);
	ck_assert_uint_eq(vm.n_requests, 0);
	ck_assert(requests_push(&vm, &stop));
	ck_assert(requests_push(&vm, &start));
	ck_assert(!requests_push(&vm, &start));
	ck_assert_uint_eq(vm.n_requests, REQUESTS_MAX);
	requests_pop(&vm);
	ck_assert_uint_eq(vm.n_requests, 1);
	ck_assert_int_eq(vm.requests[0].action, REQUEST_START);
	ck_assert(vm.requests[0].paused);
	ck_assert_str_eq(vm.requests[0].uid, "");
	ck_assert_int_eq(vm.requests[1].action, REQUEST_NONE);
	requests_pop(&vm);
	ck_assert_uint_eq(vm.n_requests, 0);
	ck_assert_int_eq(vm.requests[0].action, REQUEST_NONE);
}
END_TEST

/* ---- §15: runs of passes --------------------------------------------------------------------- */

/* A VM and its run in a world where all that is decided happens at once. */
struct world {
	struct vm vm;
	struct vmi vmi;
	bool exists;
	unsigned runs;
};

static void world_act(struct world *w, enum intent intent)
{
	const struct state_request start = { .action = REQUEST_START };

	switch (intent) {
	case INTENT_CREATE:
		w->exists = true;
		w->vmi = (struct vmi){ .phase = PHASE_RUNNING };
		w->runs++;
		snprintf(w->vmi.meta.uid, UID_SIZE, "run-%u", w->runs);
		w->vm.ran_once = w->vm.strategy == STRATEGY_ONCE;
		break;
	case INTENT_DELETE_AND_START:
		requests_push(&w->vm, &start);
		w->vmi.meta.deleted = 1;
		break;
	case INTENT_DELETE:
		w->vmi.meta.deleted = 1;
		break;
	case INTENT_BECOME_ALWAYS:
		w->vm.strategy = STRATEGY_ALWAYS;
		break;
	case INTENT_NONE:
	case INTENT_WAIT:
	case INTENT_ERROR:
	case INTENT_MAX:
		break;
	}
}

static enum intent world_pass(struct world *w)
{
	struct vmi *vmi = w->exists ? &w->vmi : NULL;
	struct strategy_facts facts = {
		.strategy = w->vm.strategy,
		.recorded = w->vm.recorded,
		.stage = vmi_stage_of(vmi),
		.ran_once = w->vm.ran_once,
	};
	enum intent intent;

	if (w->vm.n_requests)
		facts.head = w->vm.requests[0];
	if (vmi)
		copy_str(facts.vmi_uid, UID_SIZE, vmi->meta.uid);
	intent = strategy_decide(&facts);
	world_act(w, intent);
	vmi = w->exists ? &w->vmi : NULL;
	if (w->vm.n_requests && request_is_spent(&w->vm.requests[0], vmi))
		requests_pop(&w->vm);
	if (vmi || w->vm.recorded)
		w->vm.recorded = w->vm.strategy;
	return intent;
}

/* A deleted run ends and is gone. */
static void world_gone(struct world *w)
{
	ck_assert(w->vmi.meta.deleted);
	w->exists = false;
}

static void world_begin(struct world *w, enum run_strategy strategy, enum phase phase)
{
	*w = (struct world){ .exists = true, .runs = 1 };
	w->vm.strategy = w->vm.recorded = strategy;
	w->vmi.phase = phase;
	copy_str(w->vmi.meta.uid, UID_SIZE, "run-1");
}

static void world_queue(struct world *w, const char *stop_uid, bool start)
{
	struct state_request stop = { .action = REQUEST_STOP };
	const struct state_request again = { .action = REQUEST_START };

	if (stop_uid) {
		copy_str(stop.uid, UID_SIZE, stop_uid);
		requests_push(&w->vm, &stop);
	}
	if (start)
		requests_push(&w->vm, &again);
}

START_TEST(v1_always_is_recreated)
{
	struct world w;

	world_begin(&w, STRATEGY_ALWAYS, PHASE_SUCCEEDED);
	ck_assert_int_eq(world_pass(&w), INTENT_DELETE);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
	world_gone(&w);
	ck_assert_int_eq(world_pass(&w), INTENT_CREATE);
	ck_assert_str_eq(w.vmi.meta.uid, "run-2");
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
}
END_TEST

START_TEST(v2_always_is_restarted)
{
	struct world w;

	world_begin(&w, STRATEGY_ALWAYS, PHASE_RUNNING);
	world_queue(&w, "run-1", true);
	ck_assert_int_eq(world_pass(&w), INTENT_DELETE);
	ck_assert_uint_eq(w.vm.n_requests, 2);
	world_gone(&w);
	/* And pops the Stop, of a run that is gone. */
	ck_assert_int_eq(world_pass(&w), INTENT_CREATE);
	ck_assert_uint_eq(w.vm.n_requests, 1);
	ck_assert_int_eq(w.vm.requests[0].action, REQUEST_START);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE); /* it lives: pops the Start */
	ck_assert_uint_eq(w.vm.n_requests, 0);
	ck_assert_uint_eq(w.runs, 2);
}
END_TEST

START_TEST(v3_rerun_after_failure)
{
	struct world w;

	world_begin(&w, STRATEGY_RERUN_ON_FAILURE, PHASE_FAILED);
	ck_assert_int_eq(world_pass(&w), INTENT_DELETE_AND_START);
	ck_assert_uint_eq(w.vm.n_requests, 1);
	ck_assert_int_eq(w.vm.requests[0].action, REQUEST_START);
	world_gone(&w);
	ck_assert_int_eq(world_pass(&w), INTENT_CREATE);
	ck_assert_uint_eq(w.vm.n_requests, 0);
}
END_TEST

START_TEST(v4_rerun_not_after_success)
{
	struct world w;

	world_begin(&w, STRATEGY_RERUN_ON_FAILURE, PHASE_SUCCEEDED);
	ck_assert_int_eq(world_pass(&w), INTENT_DELETE);
	ck_assert_uint_eq(w.vm.n_requests, 0);
	world_gone(&w);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
}
END_TEST

START_TEST(v5_rerun_not_after_a_stop_that_failed)
{
	struct world w;

	world_begin(&w, STRATEGY_RERUN_ON_FAILURE, PHASE_FAILED);
	w.vmi.meta.deleted = 1;
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
	world_gone(&w);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
}
END_TEST

/* Ours: the run crashed between the stop and the delete that it leads to. */
START_TEST(rerun_not_when_it_failed_before_the_stop)
{
	struct world w;

	world_begin(&w, STRATEGY_RERUN_ON_FAILURE, PHASE_FAILED);
	world_queue(&w, "run-1", false);
	ck_assert_int_eq(world_pass(&w), INTENT_DELETE);
	world_gone(&w);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
	ck_assert_uint_eq(w.vm.n_requests, 0);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
}
END_TEST

START_TEST(v6_v7_rerun_starts_when_new)
{
	struct world w = { .vm = { .strategy = STRATEGY_RERUN_ON_FAILURE } };

	ck_assert_int_eq(world_pass(&w), INTENT_CREATE);
	ck_assert_int_eq(w.vm.recorded, STRATEGY_RERUN_ON_FAILURE);
	w = (struct world){ .vm = { .strategy = STRATEGY_RERUN_ON_FAILURE } };
	w.vm.recorded = STRATEGY_HALTED;
	ck_assert_int_eq(world_pass(&w), INTENT_CREATE);
}
END_TEST

START_TEST(v8_v9_manual_starts_when_asked)
{
	struct world w;

	world_begin(&w, STRATEGY_MANUAL, PHASE_FAILED);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
	world_queue(&w, "run-1", true);
	ck_assert_int_eq(world_pass(&w), INTENT_DELETE);
	world_gone(&w);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE); /* pops the Stop */
	ck_assert_int_eq(world_pass(&w), INTENT_CREATE);
	ck_assert_uint_eq(w.vm.n_requests, 0);
	ck_assert_uint_eq(w.runs, 2);
}
END_TEST

START_TEST(v10_once_runs_once)
{
	struct world w = { .vm = { .strategy = STRATEGY_ONCE } };

	ck_assert_int_eq(world_pass(&w), INTENT_CREATE);
	w.vmi.phase = PHASE_FAILED;
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
	w.vmi.meta.deleted = 1;
	world_gone(&w); /* somebody deleted the run's object (§14 no. 8) */
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
}
END_TEST

START_TEST(v11_halted_deletes)
{
	struct world w;

	world_begin(&w, STRATEGY_HALTED, PHASE_RUNNING);
	ck_assert_int_eq(world_pass(&w), INTENT_DELETE);
	world_gone(&w);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
	world_queue(&w, NULL, true); /* start --paused */
	ck_assert_int_eq(world_pass(&w), INTENT_BECOME_ALWAYS);
	ck_assert_int_eq(world_pass(&w), INTENT_CREATE);
}
END_TEST

START_TEST(v12_a_foreign_stop_does_nothing)
{
	struct world w;

	world_begin(&w, STRATEGY_MANUAL, PHASE_RUNNING);
	world_queue(&w, "run-0", false);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
	ck_assert_uint_eq(w.vm.n_requests, 0);
	ck_assert(!w.vmi.meta.deleted);
}
END_TEST

START_TEST(v13_a_start_of_a_live_run_does_nothing)
{
	struct world w;

	world_begin(&w, STRATEGY_MANUAL, PHASE_RUNNING);
	world_queue(&w, NULL, true);
	ck_assert_int_eq(world_pass(&w), INTENT_NONE);
	ck_assert_uint_eq(w.vm.n_requests, 0);
	ck_assert_uint_eq(w.runs, 1);
}
END_TEST

Suite *test_strategy_suite(void)
{
	Suite *s = suite_create("strategy");
	TCase *table = tcase_create("§4.3 decision table");
	TCase *queue = tcase_create("§4.4 trim");
	TCase *runs = tcase_create("§15 RunStrategy");

	tcase_add_loop_test(table, decision, 0, ARRAY_SIZE(cells));
	tcase_add_test(table, columns);
	suite_add_tcase(s, table);
	tcase_add_loop_test(queue, trim, 0, ARRAY_SIZE(trims));
	tcase_add_test(queue, the_queue_keeps_its_order);
	suite_add_tcase(s, queue);
	tcase_add_test(runs, v1_always_is_recreated);
	tcase_add_test(runs, v2_always_is_restarted);
	tcase_add_test(runs, v3_rerun_after_failure);
	tcase_add_test(runs, v4_rerun_not_after_success);
	tcase_add_test(runs, v5_rerun_not_after_a_stop_that_failed);
	tcase_add_test(runs, rerun_not_when_it_failed_before_the_stop);
	tcase_add_test(runs, v6_v7_rerun_starts_when_new);
	tcase_add_test(runs, v8_v9_manual_starts_when_asked);
	tcase_add_test(runs, v10_once_runs_once);
	tcase_add_test(runs, v11_halted_deletes);
	tcase_add_test(runs, v12_a_foreign_stop_does_nothing);
	tcase_add_test(runs, v13_a_start_of_a_live_run_does_nothing);
	suite_add_tcase(s, runs);
	return s;
}
