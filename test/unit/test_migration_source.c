/* SPDX-License-Identifier: Apache-2.0 */
/* What a migration's source does next, fact by fact. */
#include <check.h>

#include "test/lib/migration_rows.h"

Suite *test_migration_source_suite(void);

/* The domain. */
static void ends(enum domain_reason reason)
{
	m.dom.state = DOMAIN_SHUTOFF;
	m.dom.reason = reason;
	m.dom.active = false;
}

static void in_pending(void)
{
	g.state = MIGRATION_PENDING;
}

static void performing(void)
{
	g.performing = true;
	g.watched = true;
}

static void went_over(void)
{
	performing();
	ends(REASON_MIGRATED);
}

static void fresh(void)
{
	g.complete_at = NOW - MIGRATION_FRESH_MS;
}

static void aborted(void)
{
	performing();
	g.state = MIGRATION_ABORTED;
}

static void released(void)
{
	went_over();
	g.state = MIGRATION_RELEASED;
}

static void cancelled(void)
{
	g.cancelled = true;
}

static void stopping(void)
{
	vmi.meta.deleted = 1;
}

static void copying(void)
{
	performing();
	m.ops[LANE_MIGRATE].kind = OP_MIGRATE;
}

static void copying_still(void) /* for an agent that has ended */
{
	performing();
	m.dom.migrating = true;
}

static void restarted(void) /* since then */
{
	g.watched = false;
}

static void no_place(void)
{
	view.may_begin = false;
}

static void prepared(void)
{
	g.prepared = true;
}

static void declined(void)
{
	g.refusal = (char *)"no room";
}

static void no_image(void)
{
	g.no_image = true;
}

static void waits_for_turn(void)
{
	g.waits = MIGRATION_WAITS_FOR_TURN;
}

static void waits_for_peer(void)
{
	g.waits = MIGRATION_WAITS_FOR_PEER;
}

static void waits_for_room(void)
{
	g.waits = MIGRATION_WAITS_FOR_ROOM;
}

/* … for one whose target gets ready. */
static void late(void)
{
	view.now.boot = g.began + SECONDS(MIGRATION_PREPARE_S) + 1;
}

static void performed(void)
{
	performing();
	g.performed = true;
	ends(REASON_UNKNOWN);
}

static void crashed(void)
{
	performing();
	ends(REASON_CRASHED);
}

static void event_stored(void)
{
	performing();
	ends(REASON_UNKNOWN);
	vmi.end.stopped = REASON_MIGRATED;
}

static void silence(void)
{
	g.evidence_at = NOW;
	view.now.boot = NOW + SECONDS(MIGRATION_GRACE_S);
}

static void waiting(void)
{
	g.evidence_at = NOW - 1;
}

static void stands_still(void)
{
	pauses(REASON_MIGRATION);
}

static void paused_by_user(void)
{
	pauses(REASON_USER);
}

static void restored(void)
{
	g.restored = true;
}

static void ended(void)
{
	g.ended = g.ended_well = true;
}

static void ended_badly(void)
{
	g.ended = true;
}

static void ended_as_told(void)
{
	g.ended = true;
	g.trouble = (char *)"its run is gone";
}

static void said_now(void)
{
	g.said = g.state == MIGRATION_RELEASED ? HANDOVER_COMMIT
		: g.state == MIGRATION_ABORTED ? HANDOVER_ABORT
					       : HANDOVER_PREPARE;
	g.say_at = NOW + 1;
}

static void answer_held(void) /* while libvirt waits for the target's answer */
{
	copying();
	stands_still();
	g.held = true;
}

static void held_and_gone(void) /* … and an agent that has ended had ended its QEMU */
{
	crashed();
	g.held = true;
}

static void sealing(void)
{
	m.ops[LANE_GUEST].kind = OP_MIGRATE_SEAL;
}

static void sealed(void)
{
	g.sealed = true;
}

static void unsealed(void)
{
	g.unsealed = true;
}

static void let_go(void)
{
	g.let_go = true;
}

static void still_copying(void)
{
	m.ops[LANE_MIGRATE].kind = OP_MIGRATE;
}

static void wants_post_copy(void)
{
	g.wants_post_copy = true;
}

static void went_post_copy(void)
{
	pauses(REASON_POSTCOPY);
}

static void broke_down(void)
{
	pauses(REASON_POSTCOPY_FAILED);
}

static void looked(void)
{
	g.look_at = NOW + 1;
}

static void source_waits(void)
{
	broke_down();
	g.broke_at = NOW;
	g.recovery = 1;
	g.prepared = false;
	g.look_at = NOW + 1;
}

static void source_has_way(void)
{
	source_waits();
	g.prepared = true;
}

static void source_waits_too_long(void)
{
	source_waits();
	g.broke_at = NOW - SECONDS(MIGRATION_RECOVER_S);
}

static void source_mended(void)
{
	source_waits();
	pauses(REASON_POSTCOPY);
}

static void unsettled(void)
{
	view.unsettled = true;
}

static void host_goes_down(void)
{
	m.stop_by = NOW + SECONDS(MIGRATION_GRACE_S) + 1;
}

static void host_goes_down_soon(void)
{
	m.stop_by = NOW + SECONDS(MIGRATION_GRACE_S);
}

static void given_up(void)
{
	g.progress.given_up = true;
}

static void called_off_just_now(void)
{
	cancelled();
	g.calling_off_at = NOW - 1;
	g.call_off_at = NOW + 1;
}

static void called_off_in_vain(void)
{
	called_off_just_now();
	g.calling_off_at = NOW - SECONDS(MIGRATION_SWITCH_S);
}

static void cut_already(void)
{
	called_off_in_vain();
	g.cut = true;
	g.call_off_at = NOW;
}

static void begun_long_ago(void)
{
	g.performing_at = NOW - SECONDS(MIGRATION_BEGIN_S);
	g.limits.completion_s_per_gib = 1;
	vmi.typed.memory = 1;
}

static void is_large(void)
{
	vmi.typed.memory = (INT64_C(1) << 30) * (MIGRATION_BEGIN_S + 1);
}

static void without_limit(void)
{
	g.limits.completion_s_per_gib = 0;
}

static void has_trouble(void)
{
	g.trouble = (char *)"no such file";
}

static void has_sent(void)
{
	g.progress.total = 1;
}

static void keeps_nvram(void)
{
	vmi.typed.bootloader = BOOTLOADER_EFI;
	vmi.typed.efi_persistent = true;
	strcpy(vmi.owner, "v");
}

static void nvram_known(void)
{
	g.nvram_known = true;
}

static void nvram_of_run(void)
{
	keeps_nvram();
	vmi.owner[0] = '\0';
}

static const struct migration_row source_rows[] = {
	{ { in_pending }, STEP(BEGIN), NULL },
	{ { in_pending, peer_gone }, STEP(WAIT), NULL },
	{ { in_pending, peer_gone, waits_for_peer }, STEP(NONE), NULL },
	{ { in_pending, no_place }, STEP(WAIT), NULL },
	{ { in_pending, no_place, waits_for_turn }, STEP(NONE), NULL },
	{ { in_pending, no_place, waits_for_peer }, STEP(WAIT), NULL },
	{ { in_pending, waits_for_turn }, STEP(BEGIN), NULL },
	{ { in_pending, cancelled }, STEP(FAIL), "it was cancelled" },
	{ { in_pending, stopping }, STEP(FAIL), "does not run any more" },
	{ { in_pending, run_is_gone }, STEP(FAIL), "does not run any more" },
	{ { in_pending, no_place, too_late }, STEP(FAIL), "not its turn" },
	{ { in_pending, peer_gone, too_late }, STEP(FAIL), "could not be reached" },
	{ { in_pending, unsettled, too_late }, STEP(FAIL), "an earlier migration has not heard" },

	{ { NULL }, SAY(PREPARE), NULL },
	{ { said_now }, STEP(NONE), NULL },
	{ { peer_gone }, STEP(NONE), NULL },
	{ { cancelled }, STEP(ABORT), "it was cancelled" },
	{ { stopping }, STEP(ABORT), "does not run any more" },
	{ { declined }, STEP(ABORT), "no room" },
	{ { too_late }, STEP(ABORT), "did not get ready in time" },
	{ { has_trouble }, SAY(PREPARE), NULL },
	{ { too_late, has_trouble }, STEP(ABORT), "did not get ready in time" },
	{ { too_late, prepared }, STEP(ABORT), "libvirt at the source could not be told to begin" },
	{ { late, waits_for_room }, SAY(PREPARE), NULL },
	{ { too_late, waits_for_room }, STEP(ABORT), "took no more for 15 minutes" },
	{ { prepared }, STEP(PERFORM), NULL },
	{ { prepared, unseen }, STEP(NONE), NULL },
	{ { prepared, crashed }, STEP(ABORT), "ended before" },
	{ { prepared, cancelled }, STEP(ABORT), "it was cancelled" },

	{ { copying }, STEP(NONE), NULL },
	{ { copying, cancelled }, STEP(CANCEL), NULL },
	{ { copying, stopping }, STEP(CANCEL), NULL },
	{ { copying, given_up }, STEP(CANCEL), NULL },
	{ { copying, host_goes_down }, STEP(NONE), NULL },
	{ { copying, host_goes_down_soon }, STEP(CANCEL), NULL },
	{ { copying, called_off_just_now }, STEP(NONE), NULL },
	{ { copying, called_off_in_vain }, STEP(CUT), "not called off" },
	{ { copying, called_off_in_vain, has_sent }, STEP(CUT), "not called off" },
	{ { copying, cut_already }, STEP(CANCEL), NULL },
	{ { copying, begun_long_ago }, STEP(CANCEL), NULL },
	{ { copying, begun_long_ago, has_sent }, STEP(NONE), NULL },
	{ { copying, begun_long_ago, is_large }, STEP(NONE), NULL },
	{ { copying, begun_long_ago, without_limit }, STEP(NONE), NULL },
	{ { copying_still }, STEP(LOOK), NULL },
	{ { copying_still, restarted }, STEP(WATCH), NULL },
	{ { copying, restarted }, STEP(NONE), NULL },
	{ { went_over, fresh, restarted }, STEP(WATCH), NULL },
	{ { copying_still, restarted, disconnected }, STEP(NONE), NULL },
	{ { copying_still, cancelled }, STEP(CANCEL), NULL },

	{ { performing }, STEP(ABORT), "libvirt did not carry it through" },
	{ { performing, cancelled }, STEP(ABORT), "it was cancelled" },
	{ { performing, stands_still }, STEP(ABORT), "libvirt did not carry it through" },
	{ { performing, unseen }, STEP(NONE), NULL },
	{ { performing, run_is_gone }, STEP(ABORT), "its run is gone" },
	{ { crashed }, STEP(ABORT), "ended before it had gone over for certain" },
	{ { crashed, fresh }, STEP(ABORT), "ended before it had gone over for certain" },
	{ { went_over, fresh }, STEP(RELEASE), NULL },
	{ { performed, fresh }, STEP(RELEASE), NULL },
	{ { event_stored, fresh }, STEP(RELEASE), NULL },
	{ { went_over, fresh, no_image }, STEP(ABORT), "the target has lost it" },
	{ { went_over }, STEP(NOTE_EVIDENCE), NULL },
	{ { went_over, waiting }, STEP(NONE), NULL },
	{ { went_over, silence }, STEP(ABORT), "has not said within 30 s" },
	{ { went_over, fresh, unseen }, STEP(NONE), NULL },

	{ { answer_held }, STEP(NONE), NULL },
	{ { answer_held, fresh }, STEP(SEAL), NULL },
	{ { answer_held, fresh, unseen }, STEP(SEAL), NULL },
	{ { answer_held, fresh, no_image }, STEP(CUT), "that host has lost it: ending the way to" },
	{ { answer_held, fresh, busy_lane }, STEP(NONE), NULL },
	{ { answer_held, fresh, restarted }, STEP(SEAL), NULL },
	{ { answer_held, cancelled }, STEP(CANCEL), NULL },
	{ { answer_held, cancelled, sealing }, STEP(NONE), NULL },
	{ { answer_held, sealing, disconnected }, STEP(NONE), NULL },
	{ { answer_held, fresh, unsealed }, STEP(NONE), NULL },
	{ { answer_held, sealed, fresh }, STEP(RELEASE), NULL },
	{ { answer_held, sealed }, STEP(NOTE_EVIDENCE), NULL },
	{ { answer_held, sealed, silence }, STEP(ABORT), "has not said within 30 s" },
	{ { answer_held, sealed, no_image }, STEP(ABORT), "the target has lost it" },
	{ { held_and_gone, restarted }, STEP(WATCH), NULL },
	{ { held_and_gone, fresh }, STEP(SEAL), NULL },
	{ { held_and_gone, fresh, unseen }, STEP(NONE), NULL },
	{ { held_and_gone }, STEP(NOTE_EVIDENCE), NULL },
	{ { held_and_gone, silence }, STEP(ABORT), "has not said within 30 s" },
	{ { held_and_gone, fresh, unsealed }, STEP(ABORT), "ended before" },

	{ { performing, wants_post_copy }, STEP(AGAIN), NULL },
	{ { performing, wants_post_copy, cancelled }, STEP(ABORT), "it was cancelled" },
	{ { performing, wants_post_copy, post_copy }, STEP(ABORT),
		"libvirt did not carry it through" },
	{ { performing, wants_post_copy, stands_still }, STEP(ABORT),
		"libvirt did not carry it through" },
	{ { copying, post_copy }, STEP(NONE), NULL },
	{ { copying, post_copy, cancelled }, STEP(CANCEL), NULL },
	{ { copying, post_copy, called_off_in_vain }, STEP(CUT), "not called off" },
	{ { copying, post_copy, called_off_in_vain, has_sent }, STEP(NONE), NULL },
	{ { copying, post_copy, went_post_copy }, STEP(RELEASE), NULL },
	{ { copying, went_post_copy }, STEP(NONE), NULL },
	{ { cancelled, copying, post_copy, went_post_copy }, STEP(RELEASE), NULL },
	{ { copying, post_copy, broke_down }, STEP(ABORT), "libvirt did not carry it through" },
	{ { copying, post_copy, stands_still }, STEP(NOTE_EVIDENCE), NULL },
	{ { copying, post_copy, stands_still, waiting }, STEP(NONE), NULL },
	{ { copying, post_copy, stands_still, silence }, STEP(CUT), NULL },
	{ { performing, post_copy, went_post_copy, unseen }, STEP(NONE), NULL },

	{ { released, answer_held, sealed }, SAY(COMMIT), NULL },
	{ { released, answer_held, sealed, said_now }, STEP(LET_GO), NULL },
	{ { let_go, answer_held, released, said_now }, STEP(NONE), NULL },
	{ { released, sealed, ended, still_copying }, SAY(COMMIT), NULL },
	{ { released, sealed, ended }, STEP(FINISH), NULL },

	{ { released, post_copy, copying }, SAY(COMMIT), NULL },
	{ { released, post_copy, copying, ended }, SAY(COMMIT), NULL },
	{ { released, post_copy, copying, ended_badly }, STEP(FINISH), "lost it" },
	{ { released, post_copy, ended }, STEP(FINISH), NULL },
	{ { released, post_copy, broke_down }, STEP(LOOK), NULL },
	{ { released, post_copy, broke_down, looked }, STEP(BREAK), NULL },
	{ { released, post_copy, source_waits }, SAY(RECOVER), NULL },
	{ { released, post_copy, source_waits, peer_gone }, STEP(NONE), NULL },
	{ { released, post_copy, source_has_way }, STEP(RECOVER), NULL },
	{ { released, post_copy, source_waits_too_long }, SAY(COMMIT), NULL },
	{ { released, post_copy, source_mended }, STEP(MENDED), NULL },

	{ { released }, SAY(COMMIT), NULL },
	{ { released, said_now }, STEP(NONE), NULL },
	{ { released, keeps_nvram }, STEP(READ_NVRAM), NULL },
	{ { released, keeps_nvram, peer_gone }, STEP(READ_NVRAM), NULL },
	{ { released, keeps_nvram, main_lane_busy }, STEP(NONE), NULL },
	{ { released, keeps_nvram, nvram_known }, SAY(COMMIT), NULL },
	{ { released, keeps_nvram, ended }, STEP(FINISH), NULL },
	{ { released, nvram_of_run }, SAY(COMMIT), NULL },
	{ { released, post_copy, source_waits, keeps_nvram }, STEP(READ_NVRAM), NULL },
	{ { released, answer_held, keeps_nvram, main_lane_busy }, STEP(LET_GO), NULL },
	{ { released, peer_gone }, STEP(NONE), NULL },
	{ { released, cancelled }, SAY(COMMIT), NULL },
	{ { released, ended }, STEP(FINISH), NULL },
	{ { released, ended_badly }, STEP(FINISH), "lost it after it had been handed over" },
	{ { released, ended_as_told }, STEP(FINISH), "its run is gone" },

	{ { aborted, stands_still }, STEP(RESUME), NULL },
	{ { aborted, stands_still, busy_lane }, SAY(ABORT), NULL },
	{ { aborted, went_post_copy }, STEP(DISCARD), NULL },
	{ { aborted, broke_down }, STEP(RESTORE), NULL },
	{ { aborted, paused_by_user }, STEP(RESTORE), NULL },
	{ { aborted }, STEP(RESTORE), NULL },
	{ { aborted, went_over }, STEP(RESTORE), NULL },
	{ { aborted, networked }, STEP(ANNOUNCE), NULL },
	{ { aborted, networked, paused_by_user }, STEP(ANNOUNCE), NULL },
	{ { aborted, networked, broke_down }, STEP(RESTORE), NULL },
	{ { aborted, networked, stopping }, STEP(RESTORE), NULL },
	{ { aborted, networked, went_over }, STEP(RESTORE), NULL },
	{ { aborted, networked, busy_lane }, SAY(ABORT), NULL },
	{ { aborted, networked, stands_still }, STEP(RESUME), NULL },
	{ { aborted, announced }, STEP(RESTORE), NULL },
	{ { aborted, announcing }, SAY(ABORT), NULL },
	{ { aborted, unseen }, SAY(ABORT), NULL },
	{ { aborted, run_is_gone }, STEP(RESTORE), NULL },
	{ { aborted, restored }, SAY(ABORT), NULL },
	{ { aborted, restored, said_now }, STEP(NONE), NULL },
	{ { aborted, restored, acked }, STEP(FINISH), NULL },
	{ { aborted, acked, unseen }, STEP(NONE), NULL },
};

START_TEST(the_source)
{
	migration_row_check(&source_rows[_i]);
}
END_TEST

/* Without that rule it gives away what it must not. */
START_TEST(without_evidence)
{
	crashed();
	fresh();
	rules.evidence = false;
	ck_assert_int_eq(migration_decide(&view).step, MIGRATION_STEP_RELEASE);
}
END_TEST

Suite *test_migration_source_suite(void)
{
	Suite *s = suite_create("migration source");
	TCase *t = tcase_create("decider");

	tcase_add_checked_fixture(t, migration_set_up, NULL);
	tcase_add_loop_test(t, the_source, 0, ARRAY_SIZE(source_rows));
	tcase_add_test(t, without_evidence);
	suite_add_tcase(s, t);
	return s;
}
