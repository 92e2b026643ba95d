/* SPDX-License-Identifier: Apache-2.0 */
/* What a migration is: its states and what they mean, as it is stored, and as it is shown. */
#include <check.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "test/lib/migration_rows.h"

Suite *test_migration_suite(void);

#define STATE(s) (1U << MIGRATION_##s)

/* ---- states ---------------------------------------------------------------------------------- */

START_TEST(the_states)
{
	/* What may follow, bit by bit. */
	static const unsigned after[MIGRATION_STATE_MAX] = {
		[MIGRATION_PENDING] = STATE(OUT) | STATE(DONE),
		[MIGRATION_OUT] = STATE(RELEASED) | STATE(ABORTED),
		[MIGRATION_RELEASED] = STATE(DONE) | STATE(ABORTED),
		[MIGRATION_IN] = STATE(COMPLETE) | STATE(OWNER) | STATE(ABORTED),
		[MIGRATION_COMPLETE] = STATE(OWNER) | STATE(ABORTED),
		[MIGRATION_OWNER] = STATE(DONE),
		[MIGRATION_ABORTED] = STATE(DONE),
	};

	for (unsigned to = 0; to < MIGRATION_STATE_MAX; to++)
		ck_assert_int_eq(migration_state_may_become(_i, to), (after[_i] >> to) & 1);
	ck_assert(!migration_state_may_become(_i, MIGRATION_STATE_MAX));
}
END_TEST

/* What a state means: role, state, flags; the phase; whether it holds the machine, takes a place,
 * is in doubt, refuses orders. */
static const struct {
	enum migration_role role;
	enum migration_state state;
	bool performing, prepared, restored, succeeded, moved, doubt;
	enum migration_phase phase;
	bool holds, under_way, in_doubt, refuses;
} meanings[] = {
#define SOURCE   MIGRATION_SOURCE
#define TARGET   MIGRATION_TARGET
#define PHASE(p) MIGRATION_PHASE_##p
	{ SOURCE, MIGRATION_PENDING, 0, 0, 0, 0, 0, 0, PHASE(PENDING), 0, 0, 0, 0 },
	{ SOURCE, MIGRATION_OUT, 0, 0, 0, 0, 0, 0, PHASE(SCHEDULING), 0, 1, 0, 0 },
	{ SOURCE, MIGRATION_OUT, 0, 1, 0, 0, 0, 0, PHASE(TARGET_READY), 0, 1, 0, 0 },
	{ SOURCE, MIGRATION_OUT, 1, 1, 0, 0, 0, 0, PHASE(RUNNING), 1, 1, 0, 0 },
	{ SOURCE, MIGRATION_RELEASED, 1, 1, 0, 0, 0, 0, PHASE(RUNNING), 1, 1, 1, 1 },
	{ SOURCE, MIGRATION_ABORTED, 0, 0, 0, 0, 0, 0, PHASE(FAILED), 0, 0, 0, 0 },
	{ SOURCE, MIGRATION_ABORTED, 1, 0, 0, 0, 0, 0, PHASE(FAILED), 1, 1, 0, 0 },
	{ SOURCE, MIGRATION_ABORTED, 1, 0, 1, 0, 0, 0, PHASE(FAILED), 0, 0, 0, 0 },
	{ SOURCE, MIGRATION_DONE, 1, 0, 1, 0, 0, 0, PHASE(FAILED), 0, 0, 0, 0 },
	{ SOURCE, MIGRATION_DONE, 1, 0, 0, 1, 1, 0, PHASE(SUCCEEDED), 0, 0, 0, 1 },
	{ SOURCE, MIGRATION_DONE, 1, 0, 0, 0, 1, 0, PHASE(FAILED), 0, 0, 0, 1 },
	{ TARGET, MIGRATION_IN, 0, 0, 0, 0, 0, 0, PHASE(PREPARING_TARGET), 1, 1, 0, 1 },
	{ TARGET, MIGRATION_IN, 0, 1, 0, 0, 0, 0, PHASE(TARGET_READY), 1, 1, 0, 1 },
	{ TARGET, MIGRATION_IN, 0, 1, 0, 0, 0, 1, PHASE(TARGET_READY), 1, 1, 1, 1 },
	{ TARGET, MIGRATION_COMPLETE, 0, 1, 0, 0, 0, 0, PHASE(RUNNING), 1, 1, 1, 1 },
	{ TARGET, MIGRATION_OWNER, 0, 1, 0, 0, 1, 0, PHASE(RUNNING), 1, 1, 0, 1 },
	{ TARGET, MIGRATION_ABORTED, 0, 1, 0, 0, 0, 0, PHASE(FAILED), 0, 1, 0, 0 },
	{ TARGET, MIGRATION_DONE, 0, 1, 0, 1, 1, 0, PHASE(SUCCEEDED), 0, 0, 0, 0 },
	{ TARGET, MIGRATION_DONE, 0, 1, 0, 0, 1, 0, PHASE(FAILED), 0, 0, 0, 0 },
};

START_TEST(what_states_mean)
{
	struct err err = { 0 };

	g.role = meanings[_i].role;
	g.state = meanings[_i].state;
	g.performing = meanings[_i].performing;
	g.prepared = meanings[_i].prepared;
	g.restored = meanings[_i].restored;
	g.succeeded = meanings[_i].succeeded;
	g.moved = meanings[_i].moved;
	g.doubt = meanings[_i].doubt;
	ck_assert_int_eq(migration_phase_of(&g), meanings[_i].phase);
	ck_assert_int_eq(migration_holds(&g), meanings[_i].holds);
	ck_assert_int_eq(migration_is_under_way(&g), meanings[_i].under_way);
	ck_assert_int_eq(migration_in_doubt(&g), meanings[_i].in_doubt);
	ck_assert_int_eq(migration_refuses(&g, &err), meanings[_i].refuses);
	ck_assert_int_eq(err.code, meanings[_i].refuses ? ERR_CONFLICT : ERR_OK);
}
END_TEST

/* ---- stored and shown ------------------------------------------------------------------------ */

/* After a boot nothing begins until the peer has said that it has not taken the guest. */
static const struct {
	enum migration_role role;
	enum migration_state state;
	bool performing, moved, acked, taken, asks, holds;
} boots[] = {
	{ SOURCE, MIGRATION_PENDING, 0, 0, 0, 0, 0, 0 },
	{ SOURCE, MIGRATION_OUT, 0, 0, 0, 0, 0, 0 },
	{ SOURCE, MIGRATION_OUT, 1, 0, 0, 0, 1, 1 },
	{ SOURCE, MIGRATION_ABORTED, 0, 0, 0, 0, 0, 0 },
	{ SOURCE, MIGRATION_ABORTED, 1, 0, 0, 0, 1, 1 },
	{ SOURCE, MIGRATION_ABORTED, 1, 0, 1, 0, 0, 0 },
	{ SOURCE, MIGRATION_DONE, 1, 1, 0, 0, 0, 0 },
	{ TARGET, MIGRATION_COMPLETE, 0, 0, 0, 0, 0, 1 },
	{ TARGET, MIGRATION_OWNER, 0, 1, 0, 0, 1, 1 },
	{ TARGET, MIGRATION_DONE, 0, 1, 0, 0, 1, 1 },
	{ TARGET, MIGRATION_DONE, 0, 1, 0, 1, 0, 0 }, /* its source is dead */
	{ TARGET, MIGRATION_DONE, 0, 1, 1, 0, 0, 0 },
	{ TARGET, MIGRATION_DONE, 0, 0, 0, 0, 0, 0 },
};

START_TEST(after_a_boot)
{
	for (unsigned same_boot = 0; same_boot < 2; same_boot++) {
		autofree char *text = NULL;
		struct migration *back;
		struct err err;

		g.meta.ns = (char *)"default";
		g.meta.name = (char *)"web-1";
		g.role = boots[_i].role;
		g.state = boots[_i].state;
		g.performing = boots[_i].performing;
		g.restored = true;
		g.moved = boots[_i].moved;
		g.acked = boots[_i].acked;
		g.taken = boots[_i].taken;
		text = migration_text(&g);
		ck_assert_int_eq(migration_load(text, same_boot, &back, &err), 0);
		ck_assert_int_eq(back->asks, !same_boot && boots[_i].asks);
		if (!same_boot)
			ck_assert_int_eq(migration_holds(back), boots[_i].holds);
		migration_free(back);
	}
}
END_TEST

START_TEST(there_and_back)
{
	autofree char *text = NULL, *again = NULL;
	struct migration *back;
	struct err err;

	g.meta.ns = (char *)"default";
	g.meta.name = (char *)"web-1";
	strcpy(g.meta.uid, "u");
	g.performing = g.cancelled = g.moved = g.discard = true;
	g.reason = (char *)"why";
	g.document = (char *)"{}";
	migration_note_phase(&g, view.now);
	text = migration_text(&g);
	ck_assert_int_eq(migration_load(text, true, &back, &err), 0);
	again = migration_text(back);
	ck_assert_str_eq(text, again);
	ck_assert_int_eq(back->began, NOW);
	ck_assert_int_eq(back->phase_wall[MIGRATION_PHASE_SCHEDULED], NOW);
	migration_free(back);
	ck_assert_int_eq(migration_load(text, false, &back, &err), 0);
	ck_assert_int_eq(back->began, 0); /* of another boot */
	migration_free(back);
	ck_assert_int_eq(migration_load("{\"state\":99}", true, &back, &err), -ERR_INTERNAL);
}
END_TEST

static const char *text_at(const cJSON *json, const char *a, const char *b)
{
	json = cJSON_GetObjectItemCaseSensitive(json, "status");
	if (b)
		json = cJSON_GetObjectItemCaseSensitive(json, a);
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, b ? b : a));
}

START_TEST(as_it_is_shown)
{
	autofree char *text = NULL;
	cJSON *json;

	g.meta.ns = (char *)"default";
	g.meta.name = (char *)"web-1";
	g.performing = g.cancelled = true;
	g.reason = (char *)"it was cancelled";
	migration_note_phase(&g, view.now);
	g.state = MIGRATION_ABORTED;
	migration_note_phase(&g, view.now);
	text = migration_document(&g, "a");
	json = cJSON_Parse(text);
	ck_assert_str_eq(text_at(json, "phase", NULL), "Failed");
	ck_assert_str_eq(text_at(json, "migrationState", "sourceNode"), "a");
	ck_assert_str_eq(text_at(json, "migrationState", "targetNode"), "b");
	ck_assert_str_eq(text_at(json, "migrationState", "failureReason"), "it was cancelled");
	ck_assert_str_eq(text_at(json, "migrationState", "abortStatus"), "Succeeded");
	ck_assert_str_eq(text_at(json, "migrationState", "startTimestamp"), "1970-01-01T00:16:40Z");
	cJSON_Delete(json);
}
END_TEST

Suite *test_migration_suite(void)
{
	Suite *s = suite_create("migration");
	TCase *t = tcase_create("object");

	tcase_add_checked_fixture(t, migration_set_up, NULL);
	tcase_add_loop_test(t, the_states, 0, MIGRATION_STATE_MAX);
	tcase_add_loop_test(t, what_states_mean, 0, ARRAY_SIZE(meanings));
	tcase_add_loop_test(t, after_a_boot, 0, ARRAY_SIZE(boots));
	tcase_add_test(t, there_and_back);
	tcase_add_test(t, as_it_is_shown);
	suite_add_tcase(s, t);
	return s;
}
