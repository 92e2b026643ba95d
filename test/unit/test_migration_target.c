/* SPDX-License-Identifier: Apache-2.0 */
/* What a migration's target does next, fact by fact. */
#include <check.h>
#include <string.h>

#include "test/lib/migration_rows.h"

Suite *test_migration_target_suite(void);

static void in(void)
{
	g.role = MIGRATION_TARGET;
	g.state = MIGRATION_IN;
	vmi.phase = PHASE_WAITING_FOR_SYNC;
	m.dom.state = DOMAIN_NONE;
	m.dom.owner[0] = '\0';
}

static void ready(void)
{
	in();
	g.prepared = true;
	g.look_at = NOW + 1;
}

static void arrived(void)
{
	strcpy(m.dom.owner, "r");
	pauses(REASON_USER);
}

static void incoming(void)
{
	strcpy(m.dom.owner, "r");
	pauses(REASON_MIGRATION);
}

static void complete(void)
{
	ready();
	g.state = MIGRATION_COMPLETE;
	arrived();
}

static void owner(void)
{
	complete();
	g.state = MIGRATION_OWNER;
	vmi.phase = PHASE_RUNNING;
}

static void gone(void)
{
	m.dom.state = DOMAIN_NONE;
}

static void held(void)
{
	vmi.pause = PAUSE_HELD;
}

static void running(void)
{
	m.dom.state = DOMAIN_RUNNING;
	m.dom.reason = REASON_UNKNOWN;
}

static void passed_on(void)
{
	g.passed = true;
}

static void sending(void)
{
	passed_on();
	m.dom.state = DOMAIN_RUNNING;
	m.dom.reason = REASON_POSTCOPY;
}

static void sending_broke_down(void)
{
	sending();
	m.dom.reason = REASON_POSTCOPY_FAILED;
}

static void sending_waits(void)
{
	sending_broke_down();
	g.broke_at = NOW;
	g.look_at = NOW + 1;
}

static void asked_for_way(void)
{
	g.recovery = 1;
	g.prepared = false;
}

static void has_way(void)
{
	g.recovery = 1;
	g.prepared = true;
}

static void for_too_long(void)
{
	g.broke_at = NOW - SECONDS(MIGRATION_RECOVER_S);
}

static void forsaken(void)
{
	g.forsaken = true;
	g.broke_at = NOW - SECONDS(MIGRATION_GRACE_S);
}

static void taken(void)
{
	g.taken = true;
	g.look_at = NOW + 1;
}

static void passed_for_nothing(void)
{
	passed_on();
	taken();
}

static void broke_before(void)
{
	sending();
	g.broke_at = NOW;
}

static void discarded(void)
{
	g.discard = true;
}

static void called_off(void)
{
	g.called_off = true;
	g.refusal = (char *)"it was cancelled";
}

static void to_be_looked_at(void)
{
	g.look_at = NOW;
}

static void target_aborted(void)
{
	ready();
	g.state = MIGRATION_ABORTED;
}

static void target_done(void)
{
	owner();
	g.state = MIGRATION_DONE;
}

static void came_just_now(void)
{
	networked();
	g.complete_at = NOW - MIGRATION_HEARD_MS;
}

static void came_long_ago(void)
{
	networked();
	g.complete_at = NOW - MIGRATION_HEARD_MS - 1;
}

static void committed(void)
{
	g.commit = (char *)"{}";
}

static void committed_with_nvram(void)
{
	committed();
	g.nvram = (char *)"{}";
}

static const struct migration_row target_rows[] = {
	{ { in }, STEP(PREPARE), NULL },
	{ { in, disconnected }, STEP(NONE), NULL },
	{ { in, called_off }, STEP(ABORT), "it was cancelled" },
	{ { ready }, SAY(QUERY), NULL },
	{ { ready, to_be_looked_at }, STEP(LOOK), NULL },
	{ { ready, unseen }, SAY(QUERY), NULL },
	{ { ready, peer_gone }, STEP(NONE), NULL },
	{ { ready, incoming }, SAY(QUERY), NULL },
	{ { ready, arrived }, STEP(COMPLETE), NULL },
	{ { ready, arrived, unseen }, SAY(QUERY), NULL },
	{ { ready, called_off }, STEP(ABORT), "it was cancelled" },
	{ { complete }, SAY(COMPLETE), NULL },
	{ { complete, gone }, SAY(NOIMAGE), NULL },
	{ { complete, unseen }, STEP(NONE), NULL },
	{ { complete, to_be_looked_at }, STEP(LOOK), NULL },
	{ { complete, peer_gone }, STEP(NONE), NULL },
	{ { complete, too_late }, STEP(LOOK), NULL }, /* however long it takes */
	{ { complete, called_off }, STEP(ABORT), "it was cancelled" },
	{ { ready, committed }, STEP(OWN), NULL },
	{ { complete, committed }, STEP(OWN), NULL },
	{ { complete, committed, main_lane_busy }, STEP(OWN), NULL },
	{ { complete, committed, disconnected }, STEP(OWN), NULL },
	{ { complete, committed, called_off }, STEP(ABORT), "it was cancelled" },
	{ { ready, committed_with_nvram }, STEP(WRITE_NVRAM), NULL },
	{ { complete, committed_with_nvram }, STEP(WRITE_NVRAM), NULL },
	{ { complete, committed_with_nvram, disconnected }, STEP(WRITE_NVRAM), NULL },
	{ { complete, committed_with_nvram, main_lane_busy }, SAY(COMPLETE), NULL },
	{ { complete, committed_with_nvram, run_is_gone }, STEP(OWN), NULL },
	{ { owner, main_lane_busy }, STEP(NONE), NULL },
	{ { owner }, STEP(RESUME), NULL },
	{ { owner, busy_lane }, STEP(NONE), NULL },
	{ { owner, unseen }, STEP(NONE), NULL },
	{ { owner, called_off }, STEP(RESUME), NULL }, /* too late */
	{ { owner, held }, STEP(FINISH), NULL },
	{ { owner, running }, STEP(FINISH), NULL },
	{ { owner, running, networked }, STEP(ANNOUNCE),
		NULL }, /* nobody knows how long ago it came */
	{ { owner, running, came_long_ago }, STEP(ANNOUNCE), NULL },
	{ { owner, running, came_just_now }, STEP(FINISH), NULL },
	{ { owner, running, came_long_ago, announced }, STEP(FINISH), NULL },
	{ { owner, running, announcing }, STEP(NONE), NULL },
	{ { owner, came_long_ago }, STEP(RESUME), NULL },
	{ { owner, gone }, STEP(FINISH), "the target lost it" },
	{ { owner, run_is_gone }, STEP(FINISH), "its run is gone" },
	{ { owner, discarded }, STEP(DISCARD), NULL },
	{ { owner, discarded, gone }, STEP(FINISH), "the target lost it" },
	{ { owner, post_copy, incoming }, STEP(PASS_ON), NULL },
	{ { owner, post_copy, incoming, busy_lane }, STEP(NONE), NULL },
	{ { owner, post_copy, incoming, passed_on }, STEP(NONE), NULL },
	{ { owner, post_copy, sending }, STEP(NONE), NULL },
	{ { owner, post_copy, sending, to_be_looked_at }, STEP(LOOK), NULL },
	{ { owner, post_copy, sending_broke_down }, STEP(BREAK), NULL },
	{ { owner, post_copy, sending_waits }, STEP(NONE), NULL },
	{ { owner, post_copy, sending_waits, to_be_looked_at }, STEP(LOOK), NULL },
	{ { owner, post_copy, sending_waits, asked_for_way }, STEP(RELAY), NULL },
	{ { owner, post_copy, sending_waits, has_way }, STEP(NONE), NULL },
	{ { owner, post_copy, sending_waits, for_too_long }, STEP(DISCARD), NULL },
	{ { owner, post_copy, sending_waits, forsaken }, STEP(DISCARD), NULL },
	{ { owner, post_copy, broke_before }, STEP(MENDED), NULL },
	{ { owner, post_copy, broke_before, forsaken }, STEP(DISCARD), NULL },
	{ { owner, post_copy, sending, taken }, STEP(BREAK), NULL },
	{ { owner, post_copy, broke_before, taken }, STEP(NONE), NULL },
	{ { owner, post_copy, running, taken }, STEP(FINISH), NULL },
	{ { owner, post_copy, incoming, passed_for_nothing }, STEP(BREAK), NULL },
	{ { owner, post_copy, running }, STEP(FINISH), NULL },
	{ { owner, post_copy, gone }, STEP(FINISH), "the target lost it" },
	{ { target_aborted }, STEP(NONE), NULL },
	{ { target_aborted, run_is_gone }, STEP(CLEAN), NULL },
	{ { target_done }, SAY(FINALIZED), NULL },
	{ { target_done, peer_gone }, STEP(NONE), NULL },
	{ { target_done, acked }, STEP(NONE), NULL },
};

START_TEST(the_target)
{
	migration_row_check(&target_rows[_i]);
}
END_TEST

/* Without that rule it takes what it must not. */
START_TEST(without_patience)
{
	complete();
	too_late();
	rules.patience = false;
	ck_assert_int_eq(migration_decide(&view).step, MIGRATION_STEP_TAKE_OVER);
}
END_TEST

Suite *test_migration_target_suite(void)
{
	Suite *s = suite_create("migration target");
	TCase *t = tcase_create("decider");

	tcase_add_checked_fixture(t, migration_set_up, NULL);
	tcase_add_loop_test(t, the_target, 0, ARRAY_SIZE(target_rows));
	tcase_add_test(t, without_patience);
	suite_add_tcase(s, t);
	return s;
}
