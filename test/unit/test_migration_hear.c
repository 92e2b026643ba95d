/* SPDX-License-Identifier: Apache-2.0 */
/* What each message of a migration means, by the state it comes in, and what is answered. */
#include <check.h>

#include "test/lib/migration_rows.h"

Suite *test_migration_hear_suite(void);

#define SOURCE  MIGRATION_SOURCE
#define TARGET  MIGRATION_TARGET
#define NOTHING -1

/* By state: what is answered. Everything else stays silent. */
static const struct {
	enum handover_kind kind;
	enum migration_role role;
	int answers[MIGRATION_STATE_MAX];
} heard[] = {
#define ANSWERS(pending, out, released, in, complete, owner, aborted, done) \
	{                                                                   \
		[MIGRATION_PENDING] = pending, [MIGRATION_OUT] = out,       \
		[MIGRATION_RELEASED] = released, [MIGRATION_IN] = in,       \
		[MIGRATION_COMPLETE] = complete, [MIGRATION_OWNER] = owner, \
		[MIGRATION_ABORTED] = aborted, [MIGRATION_DONE] = done      \
	}
	{ HANDOVER_QUERY, SOURCE,
		ANSWERS(HANDOVER_OUT, HANDOVER_OUT, -1, -1, -1, -1, -1, HANDOVER_ABORT) },
	{ HANDOVER_COMPLETE, SOURCE,
		ANSWERS(HANDOVER_OUT, HANDOVER_OUT, -1, -1, -1, -1, -1, HANDOVER_ABORT) },
	{ HANDOVER_NOIMAGE, SOURCE,
		ANSWERS(HANDOVER_OUT, HANDOVER_OUT, -1, -1, -1, -1, -1, HANDOVER_ABORT) },
	{ HANDOVER_PREPARED, SOURCE, ANSWERS(-1, -1, -1, -1, -1, -1, -1, -1) },
	{ HANDOVER_BUSY, SOURCE, ANSWERS(-1, -1, -1, -1, -1, -1, -1, -1) },
	{ HANDOVER_ABORTED, SOURCE, ANSWERS(-1, -1, -1, -1, -1, -1, -1, -1) },
	{ HANDOVER_FINALIZED, SOURCE, ANSWERS(-1, -1, -1, -1, -1, -1, -1, -1) },
	{ HANDOVER_OWNED, SOURCE, ANSWERS(-1, -1, -1, -1, -1, -1, -1, -1) },
	{ HANDOVER_PREPARE, TARGET, ANSWERS(-1, -1, -1, HANDOVER_PREPARED, -1, -1, -1, -1) },
	{ HANDOVER_OUT, TARGET, ANSWERS(-1, -1, -1, -1, -1, -1, -1, -1) },
	{ HANDOVER_ABORT, TARGET, ANSWERS(-1, -1, -1, -1, -1, -1, -1, HANDOVER_ABORTED) },
	{ HANDOVER_UNKNOWN_DB, TARGET, ANSWERS(-1, -1, -1, -1, -1, -1, -1, -1) },
	{ HANDOVER_ACK, TARGET, ANSWERS(-1, -1, -1, -1, -1, -1, -1, -1) },
	{ HANDOVER_RECOVER, TARGET, ANSWERS(-1, -1, -1, -1, -1, -1, -1, -1) },
	{ HANDOVER_RECLAIMED, TARGET, ANSWERS(-1, -1, -1, -1, -1, -1, -1, -1) },
};

static struct migration_answer hear(enum handover_kind kind, enum migration_state state)
{
	struct handover h = { .kind = kind, .epoch = 2, .database = "d" };

	g.state = state;
	return migration_hear(&g, &h, view.now);
}

static struct migration_answer hear_attempt(enum handover_kind kind, enum migration_state state,
	unsigned recovery)
{
	autofree char *document = xasprintf("{\"recovery\": %u}", recovery);
	struct handover h = { .kind = kind, .epoch = 2, .database = "d", .document = document };

	g.state = state;
	return migration_hear(&g, &h, view.now);
}

START_TEST(what_is_answered)
{
	for (unsigned state = 0; state < MIGRATION_STATE_MAX; state++) {
		struct migration_answer answer;

		migration_set_up();
		g.role = heard[_i].role;
		g.prepared = true;
		answer = hear(heard[_i].kind, state);
		ck_assert_int_eq(answer.any ? (int)answer.say : NOTHING, heard[_i].answers[state]);
		free(g.refusal);
	}
	/* At the other end, and about another ownership, it means nothing. */
	migration_set_up();
	g.role = !heard[_i].role;
	ck_assert(!hear(heard[_i].kind, MIGRATION_DONE).any);
	migration_set_up();
	g.role = heard[_i].role;
	g.epoch = 3;
	ck_assert(!hear(heard[_i].kind, MIGRATION_DONE).any);
}
END_TEST

static void hear_why(enum handover_kind kind, enum migration_state state, const char *why)
{
	struct handover h = { .kind = kind, .epoch = 2, .database = "d" };

	copy_str(h.why, sizeof(h.why), why);
	g.state = state;
	g.changed = false;
	migration_hear(&g, &h, view.now);
}

/* Shown until the target says that there is none any more; another time it is no news. */
START_TEST(the_trouble_of_the_target)
{
	hear_why(HANDOVER_QUERY, MIGRATION_OUT, "no file \xc3\xa9");
	ck_assert_str_eq(g.trouble, "no file ??");
	ck_assert(g.changed);
	hear_why(HANDOVER_QUERY, MIGRATION_OUT, "no file \xc3\xa9");
	ck_assert(!g.changed);
	hear_why(HANDOVER_PREPARED, MIGRATION_OUT, "");
	ck_assert_ptr_null(g.trouble);
	hear_why(HANDOVER_COMPLETE, MIGRATION_RELEASED, "no place");
	ck_assert_str_eq(g.trouble, "no place");
	hear_why(HANDOVER_OWNED, MIGRATION_RELEASED, "");
	ck_assert_ptr_null(g.trouble);
	hear_why(HANDOVER_FINALIZED, MIGRATION_RELEASED, "its run is gone");
	ck_assert_str_eq(g.trouble, "its run is gone");
	migration_note_trouble(&g, NULL);
	migration_set_up();
	g.said = HANDOVER_PREPARE;
	hear_why(HANDOVER_BUSY, MIGRATION_OUT, "no room");
	ck_assert_str_eq(g.trouble, "no room");
	g.performing = true;
	hear_why(HANDOVER_QUERY, MIGRATION_OUT, "");
	ck_assert_str_eq(g.trouble, "no room"); /* it was ready: nobody looks any more */
	migration_note_trouble(&g, "");
	ck_assert_ptr_null(g.trouble);
}
END_TEST

START_TEST(what_is_noted)
{
	hear(HANDOVER_PREPARED, MIGRATION_OUT);
	ck_assert(g.prepared && g.changed);
	hear(HANDOVER_COMPLETE, MIGRATION_OUT);
	ck_assert_int_eq(g.complete_at, NOW);
	hear(HANDOVER_NOIMAGE, MIGRATION_OUT);
	ck_assert(g.no_image);
	hear(HANDOVER_ABORTED, MIGRATION_OUT);
	ck_assert(!g.acked);
	hear(HANDOVER_ABORTED, MIGRATION_ABORTED);
	ck_assert(g.acked);
	hear(HANDOVER_FINALIZED, MIGRATION_OUT);
	ck_assert(!g.ended);
	hear(HANDOVER_FINALIZED, MIGRATION_RELEASED);
	ck_assert(g.ended && !g.ended_well);
	ck_assert_ptr_null(g.trouble);
	g.say_at = NOW + 1;
	hear(HANDOVER_QUERY, MIGRATION_RELEASED);
	ck_assert_int_eq(g.say_at, 0); /* COMMIT is said at once */
	migration_set_up();
	g.role = MIGRATION_TARGET;
	g.post_copy = true;
	hear(HANDOVER_RECOVER, MIGRATION_OWNER);
	ck_assert_uint_eq(g.recovery, 0); /* it names no attempt */
	hear_attempt(HANDOVER_RECOVER, MIGRATION_OWNER, 2);
	ck_assert_uint_eq(g.recovery, 2);
	hear_attempt(HANDOVER_RECOVER, MIGRATION_OWNER, 1);
	ck_assert_uint_eq(g.recovery, 2); /* it was late */
	g.prepared = true;
	ck_assert_int_eq(hear_attempt(HANDOVER_RECOVER, MIGRATION_OWNER, 2).say, HANDOVER_PREPARED);
	migration_set_up();
	g.broke_at = NOW;
	g.recovery = 2;
	hear_attempt(HANDOVER_PREPARED, MIGRATION_RELEASED, 1);
	ck_assert(!g.prepared);
	hear_attempt(HANDOVER_PREPARED, MIGRATION_RELEASED, 2);
	ck_assert(g.prepared);
	free(take(&g.offer));
	migration_set_up();
	g.role = MIGRATION_TARGET;
	hear(HANDOVER_UNKNOWN_DB, MIGRATION_COMPLETE);
	ck_assert(g.doubt);
	hear(HANDOVER_OUT, MIGRATION_COMPLETE);
	ck_assert(!g.doubt);
	hear(HANDOVER_ABORT, MIGRATION_OWNER);
	ck_assert(!g.called_off);
	hear(HANDOVER_ABORT, MIGRATION_COMPLETE);
	ck_assert(g.called_off);
	hear(HANDOVER_ACK, MIGRATION_DONE);
	ck_assert(g.acked);
	free(g.refusal);
}
END_TEST

/* By whose word the guest is whose, when one of the two was declared dead: what is answered, or
 * whether it is lost. */
static const struct {
	enum handover_kind kind;
	enum migration_role role;
	enum migration_state state;
	bool moved, reclaimed, was_lost;
	int answer;
	bool lost;
} declared[] = {
	{ HANDOVER_FINALIZED, SOURCE, MIGRATION_OUT, 0, 0, 0, NOTHING, 0 },
	{ HANDOVER_FINALIZED, SOURCE, MIGRATION_RELEASED, 0, 0, 0, NOTHING, 0 },
	{ HANDOVER_FINALIZED, SOURCE, MIGRATION_ABORTED, 0, 0, 0, NOTHING, 1 },
	{ HANDOVER_FINALIZED, SOURCE, MIGRATION_ABORTED, 0, 1, 0, HANDOVER_RECLAIMED, 0 },
	{ HANDOVER_FINALIZED, SOURCE, MIGRATION_DONE, 0, 0, 0, NOTHING, 1 },
	{ HANDOVER_FINALIZED, SOURCE, MIGRATION_DONE, 0, 1, 0, HANDOVER_RECLAIMED, 0 },
	{ HANDOVER_FINALIZED, SOURCE, MIGRATION_DONE, 1, 0, 0, HANDOVER_ACK, 0 },
	{ HANDOVER_ABORT, TARGET, MIGRATION_OWNER, 1, 0, 0, NOTHING, 0 },
	{ HANDOVER_ABORT, TARGET, MIGRATION_DONE, 1, 0, 0, HANDOVER_FINALIZED, 0 },
	{ HANDOVER_ABORT, TARGET, MIGRATION_DONE, 1, 0, 1, NOTHING, 0 },
	{ HANDOVER_RECLAIMED, TARGET, MIGRATION_COMPLETE, 0, 0, 0, NOTHING, 0 },
	{ HANDOVER_RECLAIMED, TARGET, MIGRATION_OWNER, 1, 0, 0, NOTHING, 1 },
	{ HANDOVER_RECLAIMED, TARGET, MIGRATION_DONE, 1, 0, 0, NOTHING, 1 },
	{ HANDOVER_RECLAIMED, TARGET, MIGRATION_DONE, 1, 0, 1, NOTHING, 0 },
	{ HANDOVER_RECLAIMED, TARGET, MIGRATION_DONE, 0, 0, 0, NOTHING, 0 },
};

START_TEST(who_was_declared_dead)
{
	struct migration_answer answer;

	g.role = declared[_i].role;
	g.moved = declared[_i].moved;
	g.reclaimed = declared[_i].reclaimed;
	g.lost = declared[_i].was_lost;
	answer = hear(declared[_i].kind, declared[_i].state);
	ck_assert_int_eq(answer.any ? (int)answer.say : NOTHING, declared[_i].answer);
	ck_assert_int_eq(answer.lost, declared[_i].lost);
}
END_TEST

/* Of a migration that is not known: by the database that the question means. */
static const struct {
	enum handover_kind kind;
	int ours, another;
} unknown[] = {
	{ HANDOVER_QUERY, HANDOVER_ABORT, HANDOVER_UNKNOWN_DB },
	{ HANDOVER_COMPLETE, HANDOVER_ABORT, HANDOVER_UNKNOWN_DB },
	{ HANDOVER_NOIMAGE, HANDOVER_ABORT, HANDOVER_UNKNOWN_DB },
	{ HANDOVER_FINALIZED, HANDOVER_ACK, HANDOVER_ACK },
	{ HANDOVER_ABORT, HANDOVER_ABORTED, HANDOVER_ABORTED },
	{ HANDOVER_COMMIT, NOTHING, NOTHING },
	{ HANDOVER_PREPARED, NOTHING, NOTHING },
	{ HANDOVER_OUT, NOTHING, NOTHING },
	{ HANDOVER_ACK, NOTHING, NOTHING },
};

START_TEST(what_is_not_known)
{
	struct handover h = { .kind = unknown[_i].kind, .database = "d" };
	struct migration_answer ours = migration_unknown(&h, "d", &rules);
	struct migration_answer another = migration_unknown(&h, "e", &rules);

	ck_assert_int_eq(ours.any ? (int)ours.say : NOTHING, unknown[_i].ours);
	ck_assert_int_eq(another.any ? (int)another.say : NOTHING, unknown[_i].another);
}
END_TEST

Suite *test_migration_hear_suite(void)
{
	Suite *s = suite_create("migration hear");
	TCase *t = tcase_create("messages");

	tcase_add_checked_fixture(t, migration_set_up, NULL);
	tcase_add_loop_test(t, what_is_answered, 0, ARRAY_SIZE(heard));
	tcase_add_test(t, the_trouble_of_the_target);
	tcase_add_test(t, what_is_noted);
	tcase_add_loop_test(t, who_was_declared_dead, 0, ARRAY_SIZE(declared));
	tcase_add_loop_test(t, what_is_not_known, 0, ARRAY_SIZE(unknown));
	suite_add_tcase(s, t);
	return s;
}
