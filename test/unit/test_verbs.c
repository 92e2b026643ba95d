/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start, stop and restart against semantics §5.1-§5.3, the matrix §5.5 and §15: every
 * cell under every phase, with the words of each refusal. What a verb does is written as
 * one text, see text_of().
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/verbs.h"

Suite *test_verbs_suite(void);

#define RUN "11111111-2222-3333-4444-555555555555"

/* "[Stop,Start]", ">Halted", "grace=5", "noop", or the HTTP status of a refusal. */
static char *text_of(int rc, const struct verb_effect *effect)
{
	struct buf b = { 0 };

	if (rc) {
		buf_printf(&b, "%d", err_status((enum err_code) - rc));
		return b.data;
	}
	if (effect->strategy)
		buf_printf(&b, ">%s ", run_strategy_name(effect->strategy));
	ck_assert(effect->set_requests || !effect->n_requests);
	for (unsigned i = 0; i < effect->n_requests; i++) {
		const struct state_request *r = &effect->requests[i];

		ck_assert_str_eq(r->uid, r->action == REQUEST_STOP ? RUN : "");
		buf_printf(&b, "%s%s%s", i ? "," : "[", request_action_name(r->action),
			r->paused ? "{paused}" : "");
	}
	if (effect->n_requests)
		buf_puts(&b, "] ");
	else if (effect->set_requests)
		buf_puts(&b, "[] ");
	if (effect->vmi_grace != GRACE_UNSET)
		buf_printf(&b, "grace=%lld ", (long long)effect->vmi_grace);
	if (!b.len)
		buf_puts(&b, "noop ");
	b.data[b.len - 1] = '\0';
	return b.data;
}

struct world {
	struct vm vm;
	struct vmi vmi;
	char ns[8], name[8];
};

static void world_init(struct world *w, enum run_strategy strategy)
{
	*w = (struct world){ .ns = "default", .name = "web" };
	w->vm.meta.ns = w->vmi.meta.ns = w->ns;
	w->vm.meta.name = w->vmi.meta.name = w->name;
	w->vm.strategy = w->vm.recorded = strategy;
	w->vmi.typed.grace = GRACE_UNSET;
	w->vmi.phase = PHASE_RUNNING;
	copy_str(w->vmi.meta.uid, UID_SIZE, RUN);
}

/* A refusal leaves the effect untouched and always has words that name the object. */
static void expect(const struct world *w, bool exists, enum verb verb,
	const struct verb_options *options, const char *want)
{
	const struct verb_target target = { &w->vm, exists ? &w->vmi : NULL };
	struct verb_effect effect, before;
	struct err err = { 0 };
	char *got;
	int rc;

	memset(&effect, 0xa5, sizeof(effect));
	memcpy(&before, &effect, sizeof(before));
	rc = verb_check(verb, options, &target, &effect, &err);
	got = text_of(rc, &effect);
	ck_assert_msg(streq(got, want), "%s, %s, phase '%s'%s: %s, not %s", verb_name(verb),
		run_strategy_name(w->vm.strategy), phase_name(w->vmi.phase),
		exists ? "" : ", no VMI", got, want);
	if (rc == -ERR_CONFLICT) {
		ck_assert(starts_with(err.msg, "virtual machine 'default/web' "));
		ck_assert_int_eq(err.code, ERR_CONFLICT);
	}
	if (rc)
		ck_assert_mem_eq(&effect, &before, sizeof(effect));
	else /* §4.5: a request written through the API clears the start failure */
		ck_assert_int_eq(effect.clear_start_failure, got[0] == '[' || got[0] == '>');
	free(got);
}

/* ---- §5.5 ------------------------------------------------------------------------------------ */

#define STRATEGIES 6

/* clang-format off */
static const enum run_strategy columns[STRATEGIES] = { STRATEGY_ALWAYS, STRATEGY_HALTED, STRATEGY_MANUAL,
	STRATEGY_RERUN_ON_FAILURE, STRATEGY_ONCE, STRATEGY_WAIT_AS_RECEIVER };

#define ACTIVE  "Pending Scheduling Scheduled Running WaitingForSync "
#define STRANGE "? Unknown " /* "?" stands for the phase "": a start does not mind these (§5.1) */
#define AGAIN   "[Stop,Start]"

static const struct {
	enum verb verb;
	const char *phases; /* NULL: no VMI */
	const char *want[STRATEGIES];
} matrix[] = {
	/*                                              Always    Halted     Manual     RerunOnF.  Once       Receiver */
	{ VERB_START,   NULL,                         { "409",    ">Always", "[Start]", "[Start]", "409",     "noop" } },
	{ VERB_START,   STRANGE,                      { "409",    ">Always", "[Start]", "[Start]", "409",     "noop" } },
	{ VERB_START,   ACTIVE,                       { "409",    "409",     "409",     "409",     "409",     "409" } },
	{ VERB_START,   "Succeeded ",                 { "409",    ">Always", AGAIN,     AGAIN,     "409",     "noop" } },
	{ VERB_START,   "Failed ",                    { "409",    ">Always", AGAIN,     "409",     "409",     "noop" } },
	{ VERB_STOP,    NULL,                         { ">Halted", "409",    "409",     "409",     ">Halted", "noop" } },
	{ VERB_STOP,    "Succeeded Failed ",          { ">Halted", "409",    "409",     "409",     ">Halted", "noop" } },
	{ VERB_STOP,    ACTIVE STRANGE,               { ">Halted", "409",    "[Stop]",  "[Stop]",  ">Halted", "noop" } },
	{ VERB_RESTART, NULL,                         { "409",    "409",     "409",     "409",     "409",     "409" } },
	{ VERB_RESTART, ACTIVE STRANGE "Succeeded Failed ", { AGAIN, "409",  AGAIN,     AGAIN,     "409",     AGAIN } },
};
/* clang-format on */

static bool row_has(const char *phases, enum phase phase)
{
	char word[32];

	snprintf(word, sizeof(word), "%s ", phase ? phase_name(phase) : "?");
	for (const char *at = phases; (at = strstr(at, word)); at++)
		if (at == phases || at[-1] == ' ')
			return true;
	return false;
}

START_TEST(cell_of_the_matrix)
{
	const struct verb_options options = { 0 };
	unsigned walked = 0;
	struct world w;

	for (int column = 0; column < STRATEGIES; column++)
		for (int phase = 0; phase < PHASE_MAX; phase++) {
			world_init(&w, columns[column]);
			w.vmi.phase = (enum phase)phase;
			if (matrix[_i].phases && !row_has(matrix[_i].phases, w.vmi.phase))
				continue;
			for (int deleting = 0; deleting < 2; deleting++) {
				w.vmi.meta.deleted = deleting;
				expect(&w, matrix[_i].phases, matrix[_i].verb, &options,
					matrix[_i].want[column]);
			}
			walked++;
		}
	ck_assert_uint_ge(walked, STRATEGIES);
}
END_TEST

/* Each verb × phase is in exactly one row. */
START_TEST(the_matrix_is_whole)
{
	for (int verb = 0; verb < VERB_MAX; verb++)
		for (int phase = -1; phase < PHASE_MAX; phase++) {
			unsigned rows = 0;

			for (size_t i = 0; i < ARRAY_SIZE(matrix); i++)
				if ((int)matrix[i].verb == verb)
					rows += phase < 0 ? !matrix[i].phases
							  : matrix[i].phases &&
							row_has(matrix[i].phases,
								(enum phase)phase);
			ck_assert_uint_eq(rows, 1);
		}
}
END_TEST

/* A spec without one we know: refused in these words, whatever the run does. */
START_TEST(no_strategy)
{
	const struct verb_options options = { 0 };
	struct world w;

	world_init(&w, STRATEGY_UNSET);
	for (int phase = -1; phase < PHASE_MAX; phase++) {
		const struct verb_target target = { &w.vm, phase < 0 ? NULL : &w.vmi };
		bool active = phase > 0 && row_has(ACTIVE, (enum phase)phase);
		struct verb_effect effect;
		struct err err = { 0 };

		w.vmi.phase = phase < 0 ? PHASE_UNSET : (enum phase)phase;
		ck_assert_int_eq(verb_check((enum verb)_i, &options, &target, &effect, &err),
			-ERR_CONFLICT);
		if (_i == VERB_START && active)
			ck_assert_str_eq(err.msg,
				"virtual machine 'default/web' is already running");
		else
			ck_assert_str_eq(err.msg,
				"virtual machine 'default/web' has an unsupported "
				"runStrategy; set one in its spec");
	}
}
END_TEST

/* ---- options, queue -------------------------------------------------------------------------- */

/* clang-format off */
static const struct row {
	enum verb verb;
	enum run_strategy strategy;
	enum phase phase;           /* PHASE_MAX: no VMI */
	struct verb_options options;
	int64_t vmi_grace;          /* of the VMI before */
	const char *queue;          /* before: S Start, X Stop; L: a crash loop is held back, N: a new strategy */
	const char *want;
} rows[] = {
	/* start --paused */
	{ VERB_START, STRATEGY_HALTED, PHASE_MAX, { .paused = 1 }, -1, "", "[Start{paused}]" },
	{ VERB_START, STRATEGY_HALTED, PHASE_FAILED, { .paused = 1 }, -1, "", "[Start{paused}]" },
	{ VERB_START, STRATEGY_MANUAL, PHASE_MAX, { .paused = 1 }, -1, "", "[Start{paused}]" },
	{ VERB_START, STRATEGY_MANUAL, PHASE_SUCCEEDED, { .paused = 1 }, -1, "", "[Stop,Start{paused}]" },
	{ VERB_START, STRATEGY_RERUN_ON_FAILURE, PHASE_SUCCEEDED, { .paused = 1 }, -1, "", "[Stop,Start{paused}]" },
	{ VERB_START, STRATEGY_ALWAYS, PHASE_MAX, { .paused = 1 }, -1, "", "409" },
	{ VERB_START, STRATEGY_WAIT_AS_RECEIVER, PHASE_MAX, { .paused = 1 }, -1, "", "noop" },
	{ VERB_RESTART, STRATEGY_MANUAL, PHASE_RUNNING, { .paused = 1 }, -1, "", "[Stop,Start]" },
	/* queue: empty takes all; busy takes a lone Stop; else 409 (500 upstream, §14 no. 1) */
	{ VERB_START, STRATEGY_MANUAL, PHASE_MAX, { 0 }, -1, "S", "409" },
	{ VERB_START, STRATEGY_MANUAL, PHASE_MAX, { 0 }, -1, "X", "409" },
	{ VERB_START, STRATEGY_MANUAL, PHASE_FAILED, { 0 }, -1, "XS", "409" },
	{ VERB_START, STRATEGY_RERUN_ON_FAILURE, PHASE_SUCCEEDED, { 0 }, -1, "S", "409" },
	{ VERB_START, STRATEGY_HALTED, PHASE_MAX, { 0 }, -1, "S", ">Always" },
	{ VERB_START, STRATEGY_HALTED, PHASE_MAX, { .paused = 1 }, -1, "S", "409" },
	{ VERB_RESTART, STRATEGY_ALWAYS, PHASE_RUNNING, { 0 }, -1, "XS", "409" },
	{ VERB_RESTART, STRATEGY_MANUAL, PHASE_RUNNING, { 0 }, -1, "X", "409" },
	{ VERB_RESTART, STRATEGY_MANUAL, PHASE_RUNNING, { .has_grace = 1, .grace = 0 }, -1, "X", "409" },
	{ VERB_STOP, STRATEGY_MANUAL, PHASE_RUNNING, { 0 }, -1, "XS", "[Stop]" },
	{ VERB_STOP, STRATEGY_MANUAL, PHASE_RUNNING, { 0 }, -1, "X", "[Stop]" },
	{ VERB_STOP, STRATEGY_RERUN_ON_FAILURE, PHASE_SCHEDULED, { 0 }, -1, "S", "[Stop]" },
	/* a stop is a stop: the Start of a restart must not outlive it (design §6 no. 8) */
	{ VERB_STOP, STRATEGY_ALWAYS, PHASE_RUNNING, { 0 }, -1, "XS", ">Halted []" },
	{ VERB_STOP, STRATEGY_ALWAYS, PHASE_MAX, { 0 }, -1, "S", ">Halted []" },
	{ VERB_STOP, STRATEGY_ONCE, PHASE_RUNNING, { 0 }, -1, "X", ">Halted []" },
	/* stop gracePeriod */
	{ VERB_STOP, STRATEGY_ALWAYS, PHASE_RUNNING, { .has_grace = 1, .grace = 0 }, -1, "", ">Halted grace=0" },
	{ VERB_STOP, STRATEGY_ALWAYS, PHASE_RUNNING, { .has_grace = 1, .grace = 90 }, 30, "", ">Halted grace=90" },
	{ VERB_STOP, STRATEGY_ALWAYS, PHASE_FAILED, { .has_grace = 1, .grace = 0 }, -1, "", ">Halted" },
	{ VERB_STOP, STRATEGY_ALWAYS, PHASE_MAX, { .has_grace = 1, .grace = 0 }, -1, "", ">Halted" },
	{ VERB_STOP, STRATEGY_ONCE, PHASE_SCHEDULING, { .has_grace = 1, .grace = 5 }, -1, "", ">Halted grace=5" },
	{ VERB_STOP, STRATEGY_MANUAL, PHASE_RUNNING, { .has_grace = 1, .grace = 5 }, -1, "", "[Stop] grace=5" },
	{ VERB_STOP, STRATEGY_RERUN_ON_FAILURE, PHASE_RUNNING, { .has_grace = 1, .grace = 0 }, 3, "", "[Stop] grace=0" },
	{ VERB_STOP, STRATEGY_MANUAL, PHASE_SUCCEEDED, { .has_grace = 1, .grace = 5 }, -1, "", "409" },
	{ VERB_STOP, STRATEGY_WAIT_AS_RECEIVER, PHASE_RUNNING, { .has_grace = 1, .grace = 5 }, -1, "", "grace=5" },
	{ VERB_STOP, STRATEGY_WAIT_AS_RECEIVER, PHASE_MAX, { .has_grace = 1, .grace = 5 }, -1, "", "noop" },
	{ VERB_STOP, STRATEGY_ALWAYS, PHASE_RUNNING, { .has_grace = 1, .grace = -1 }, -1, "", "400" },
	{ VERB_STOP, STRATEGY_MANUAL, PHASE_RUNNING, { .has_grace = 1, .grace = GRACE_FOREVER_S }, -1, "", "[Stop] grace=2147483647" },
	{ VERB_STOP, STRATEGY_ALWAYS, PHASE_RUNNING, { .has_grace = 1, .grace = GRACE_FOREVER_S + 1L }, -1, "", "400" },
	/* hurry up: Halted, still stopping */
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 600 }, GRACE_FOREVER_S, "", "[Stop] grace=600" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = GRACE_FOREVER_S }, GRACE_FOREVER_S, "", "409" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { 0 }, -1, "", "409" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { 0 }, 30, "", "409" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 5 }, -1, "", "[Stop] grace=5" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 500 }, -1, "", "[Stop] grace=500" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 5 }, 30, "", "[Stop] grace=5" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 29 }, 30, "XS", "[Stop] grace=29" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 30 }, 30, "", "409" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 31 }, 30, "", "409" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 0 }, 0, "", "409" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_FAILED, { .has_grace = 1, .grace = 0 }, 30, "", "409" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_MAX, { .has_grace = 1, .grace = 0 }, -1, "", "409" },
	/* restart gracePeriodSeconds: only 0, and that becomes 1 */
	{ VERB_RESTART, STRATEGY_ALWAYS, PHASE_RUNNING, { .has_grace = 1, .grace = 5 }, -1, "", "400" },
	{ VERB_RESTART, STRATEGY_ALWAYS, PHASE_RUNNING, { .has_grace = 1, .grace = -1 }, -1, "", "400" },
	{ VERB_RESTART, STRATEGY_ALWAYS, PHASE_RUNNING, { .has_grace = 1, .grace = 0 }, -1, "", "[Stop,Start] grace=1" },
	{ VERB_RESTART, STRATEGY_MANUAL, PHASE_FAILED, { .has_grace = 1, .grace = 0 }, 30, "", "[Stop,Start] grace=1" },
	{ VERB_RESTART, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 5 }, -1, "", "400" }, /* before 409 */
	{ VERB_RESTART, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 0 }, -1, "", "409" },
	/* between the runs of a crash loop a start means now, and a stop that it ends (§4.5 [P]) */
	{ VERB_START, STRATEGY_ALWAYS, PHASE_MAX, { 0 }, -1, "L", "[Start]" },
	{ VERB_START, STRATEGY_ALWAYS, PHASE_FAILED, { 0 }, -1, "L", "[Start]" },
	{ VERB_START, STRATEGY_ALWAYS, PHASE_MAX, { .paused = 1 }, -1, "L", "[Start{paused}]" },
	{ VERB_START, STRATEGY_ALWAYS, PHASE_RUNNING, { 0 }, -1, "L", "409" },
	{ VERB_START, STRATEGY_RERUN_ON_FAILURE, PHASE_MAX, { 0 }, -1, "LS", "[Start]" },
	{ VERB_START, STRATEGY_RERUN_ON_FAILURE, PHASE_FAILED, { .paused = 1 }, -1, "LS", "[Start{paused}]" },
	{ VERB_START, STRATEGY_RERUN_ON_FAILURE, PHASE_SCHEDULED, { 0 }, -1, "LS", "409" },
	{ VERB_START, STRATEGY_ONCE, PHASE_FAILED, { 0 }, -1, "L", "409" },
	{ VERB_RESTART, STRATEGY_ALWAYS, PHASE_MAX, { 0 }, -1, "L", "409" },
	{ VERB_STOP, STRATEGY_ALWAYS, PHASE_MAX, { 0 }, -1, "L", ">Halted" },
	{ VERB_STOP, STRATEGY_RERUN_ON_FAILURE, PHASE_MAX, { 0 }, -1, "LS", "[]" },
	/* … as it does of any start that waits, and nothing else */
	{ VERB_STOP, STRATEGY_RERUN_ON_FAILURE, PHASE_MAX, { 0 }, -1, "S", "[]" },
	{ VERB_STOP, STRATEGY_RERUN_ON_FAILURE, PHASE_FAILED, { 0 }, -1, "S", "[]" },
	{ VERB_STOP, STRATEGY_RERUN_ON_FAILURE, PHASE_MAX, { 0 }, -1, "N", "[]" },
	{ VERB_STOP, STRATEGY_MANUAL, PHASE_MAX, { 0 }, -1, "S", "[]" },
	{ VERB_STOP, STRATEGY_MANUAL, PHASE_MAX, { 0 }, -1, "X", "409" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_MAX, { 0 }, -1, "S", "409" },
	{ VERB_STOP, STRATEGY_RERUN_ON_FAILURE, PHASE_MAX, { 0 }, -1, "", "409" },
	/* a start knows no grace */
	{ VERB_START, STRATEGY_MANUAL, PHASE_MAX, { .has_grace = 1, .grace = -1 }, -1, "", "[Start]" },
};
/* clang-format on */

static void queue_up(struct world *w, const char *queue)
{
	for (; *queue; queue++) {
		if (*queue == 'L')
			w->vm.crash.retry_wall = 1;
		else if (*queue == 'N')
			w->vm.recorded = STRATEGY_UNSET;
		else
			w->vm.requests[w->vm.n_requests++].action = *queue == 'S' ? REQUEST_START
										  : REQUEST_STOP;
	}
}

START_TEST(options_and_queue)
{
	const struct row *row = &rows[_i];
	struct world w;

	world_init(&w, row->strategy);
	if (row->phase != PHASE_MAX)
		w.vmi.phase = row->phase;
	w.vmi.typed.grace = row->vmi_grace;
	queue_up(&w, row->queue);
	expect(&w, row->phase != PHASE_MAX, row->verb, &row->options, row->want);
}
END_TEST

START_TEST(dry_run_changes_nothing)
{
	struct verb_options options = rows[_i].options;
	struct verb_effect effect = { 0 };
	struct err err = { 0 };
	struct world w;
	int rc, dry;

	world_init(&w, rows[_i].strategy);
	w.vmi.typed.grace = rows[_i].vmi_grace;
	if (rows[_i].phase != PHASE_MAX)
		w.vmi.phase = rows[_i].phase;

	const struct verb_target target = { &w.vm, rows[_i].phase != PHASE_MAX ? &w.vmi : NULL };

	rc = verb_check(rows[_i].verb, &options, &target, &effect, &err);
	options.dry_run = true;
	dry = verb_check(rows[_i].verb, &options, &target, &effect, &err);
	ck_assert_int_eq(dry, rc);
	if (rc)
		return;
	ck_assert_int_eq(effect.strategy, STRATEGY_UNSET);
	ck_assert_int_eq(effect.vmi_grace, GRACE_UNSET);
	ck_assert(!effect.set_requests && !effect.clear_start_failure);
	ck_assert_uint_eq(effect.n_requests, 0);
}
END_TEST

/* ---- words ----------------------------------------------------------------------------------- */

#define VM "virtual machine 'default/web' "

/* clang-format off */
static const struct {
	enum verb verb;
	enum run_strategy strategy;
	enum phase phase; /* PHASE_MAX: no VMI */
	struct verb_options options;
	msec deleted;     /* of the VMI */
	unsigned queued;
	const char *want;
} words[] = {
	{ VERB_START, STRATEGY_MANUAL, PHASE_RUNNING, { 0 }, 0, 0, VM "is already running" },
	{ VERB_START, STRATEGY_MANUAL, PHASE_RUNNING, { 0 }, 1, 0,
		VM "is already running and being stopped; start it when it is stopped" },
	{ VERB_START, STRATEGY_ALWAYS, PHASE_MAX, { 0 }, 0, 0,
		VM "does not support manual start requests with runStrategy Always; set runStrategy Manual to start it by hand" },
	{ VERB_START, STRATEGY_ONCE, PHASE_FAILED, { 0 }, 0, 0,
		VM "does not support manual start requests with runStrategy Once; set runStrategy Manual to start it by hand" },
	{ VERB_START, STRATEGY_RERUN_ON_FAILURE, PHASE_FAILED, { 0 }, 0, 0,
		VM "cannot be started from a failed state with runStrategy RerunOnFailure, which starts it again by itself" },
	{ VERB_START, STRATEGY_MANUAL, PHASE_MAX, { 0 }, 0, 1,
		VM "has another start or restart already underway; try again when it is done" },
	{ VERB_STOP, STRATEGY_MANUAL, PHASE_MAX, { 0 }, 0, 0, VM "is not running" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_FAILED, { 0 }, 0, 0, VM "is not running" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { 0 }, 1, 0,
		VM "is being stopped already; give a shorter grace period to hurry" },
	{ VERB_STOP, STRATEGY_HALTED, PHASE_RUNNING, { .has_grace = 1, .grace = 40 }, 1, 0,
		VM "is being stopped already with a grace period of 30 s; give a shorter one to hurry" },
	{ VERB_STOP, STRATEGY_MANUAL, PHASE_RUNNING, { .has_grace = 1, .grace = -3 }, 0, 0,
		"stop: grace period -3 is negative" },
	{ VERB_RESTART, STRATEGY_HALTED, PHASE_MAX, { 0 }, 0, 0,
		VM "does not support manual restart requests with runStrategy Halted; start it instead, or set another runStrategy" },
	{ VERB_RESTART, STRATEGY_ALWAYS, PHASE_MAX, { 0 }, 0, 0, VM "is not running; start it instead" },
	{ VERB_RESTART, STRATEGY_ALWAYS, PHASE_RUNNING, { .has_grace = 1, .grace = 5 }, 0, 0,
		"restart: grace period 5 is not supported, only 0 is (restart at once)" },
	{ VERB_RESTART, STRATEGY_ALWAYS, PHASE_RUNNING, { .has_grace = 1, .grace = -1 }, 0, 0,
		"restart: grace period -1 is negative" },
	{ VERB_START, STRATEGY_UNSET, PHASE_MAX, { 0 }, 0, 0, VM "has an unsupported runStrategy; set one in its spec" },
};
/* clang-format on */

START_TEST(refusal_says)
{
	struct verb_effect effect;
	struct err err = { 0 };
	struct world w;

	world_init(&w, words[_i].strategy);
	w.vmi.meta.deleted = words[_i].deleted;
	w.vmi.typed.grace = 30;
	w.vm.n_requests = words[_i].queued;
	if (words[_i].phase != PHASE_MAX)
		w.vmi.phase = words[_i].phase;

	const struct verb_target target = { &w.vm, words[_i].phase != PHASE_MAX ? &w.vmi : NULL };

	ck_assert_int_ne(verb_check(words[_i].verb, &words[_i].options, &target, &effect, &err), 0);
	ck_assert_str_eq(err.msg, words[_i].want);
}
END_TEST

START_TEST(no_vm)
{
	const struct verb_options options = { 0 }, five = { .has_grace = true, .grace = 5 };
	struct verb_effect effect;
	struct err err = { 0 };
	struct world w;

	world_init(&w, STRATEGY_ALWAYS);

	const struct verb_target nothing = { NULL, NULL }, bare = { NULL, &w.vmi };

	ck_assert_int_eq(verb_check((enum verb)_i, &options, &nothing, &effect, &err),
		-ERR_NOT_FOUND);
	ck_assert_str_eq(err.msg, "virtual machine not found");
	ck_assert_int_eq(verb_check((enum verb)_i, &options, &bare, &effect, &err), -ERR_NOT_FOUND);
	ck_assert_str_eq(err.msg,
		"virtual machine 'default/web' not found; the virtual machine instance "
		"of that name belongs to none, delete it to stop it");
	ck_assert_int_eq(verb_check(VERB_RESTART, &five, &nothing, &effect, &err),
		-ERR_BAD_REQUEST);
}
END_TEST

Suite *test_verbs_suite(void)
{
	Suite *s = suite_create("verbs");
	TCase *table = tcase_create("§5.5, §15 verb × strategy");
	TCase *options = tcase_create("§5.1-§5.3 options and queue");
	TCase *texts = tcase_create("refusals");

	tcase_add_loop_test(table, cell_of_the_matrix, 0, ARRAY_SIZE(matrix));
	tcase_add_test(table, the_matrix_is_whole);
	tcase_add_loop_test(table, no_strategy, 0, VERB_MAX);
	suite_add_tcase(s, table);
	tcase_add_loop_test(options, options_and_queue, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(options, dry_run_changes_nothing, 0, ARRAY_SIZE(rows));
	suite_add_tcase(s, options);
	tcase_add_loop_test(texts, refusal_says, 0, ARRAY_SIZE(words));
	tcase_add_loop_test(texts, no_vm, 0, VERB_MAX);
	suite_add_tcase(s, texts);
	return s;
}
