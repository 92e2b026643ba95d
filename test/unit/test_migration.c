/* SPDX-License-Identifier: Apache-2.0 */
/* The deciders of a migration, cell by cell: its states, what is done next, what each message means. */
#include <check.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "core/migration.h"

Suite *test_migration_suite(void);

#define NOW      SECONDS(1000)
#define STATE(s) (1U << MIGRATION_##s)

static struct migration g;
static struct machine m;
static struct vmi vmi;
static struct handover_rules rules;
static struct migration_view view;

/* A migration of a run whose domain runs here, seen just now; everything is connected. */
static void set_up(void)
{
	g = (struct migration){ .role = MIGRATION_SOURCE,
		.state = MIGRATION_OUT,
		.vmi = (char *)"web",
		.peer = (char *)"b",
		.vmi_uid = "r",
		.database = "d",
		.epoch = 2,
		.began = NOW };
	vmi = (struct vmi){ .phase = PHASE_RUNNING, .meta = { .uid = "r" }, .prepared = true };
	m = (struct machine){ .ns = (char *)"default",
		.name = (char *)"web",
		.vmi = &vmi,
		.dom = { .state = DOMAIN_RUNNING,
			.active = true,
			.owner = "r",
			.agreed = READS_TO_AGREE } };
	rules = HANDOVER_RULES;
	view = (struct migration_view){ .g = &g,
		.m = &m,
		.rules = &rules,
		.now = { .boot = NOW, .wall = NOW },
		.connected = true,
		.peer_up = true,
		.may_begin = true };
}

static void ends(enum domain_reason reason)
{
	m.dom.state = DOMAIN_SHUTOFF;
	m.dom.reason = reason;
	m.dom.active = false;
}

static void pauses(enum domain_reason reason)
{
	m.dom.state = DOMAIN_PAUSED;
	m.dom.reason = reason;
}

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

/* What a state means: role, state, flags; the phase; whether it holds the machine, takes a place, is in doubt,
 * refuses orders. */
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

/* ---- the source -------------------------------------------------------------------------------- */

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

static void disconnected(void)
{
	view.connected = false;
}

static void restarted(void) /* since then */
{
	g.watched = false;
}

static void peer_gone(void)
{
	view.peer_up = false;
}

static void no_place(void)
{
	view.may_begin = false;
}

static void too_late(void)
{
	view.now.boot = NOW + SECONDS(MIGRATION_PENDING_S);
}

static void prepared(void)
{
	g.prepared = true;
}

static void declined(void)
{
	g.refusal = (char *)"no room";
}

static void unseen(void)
{
	m.dom.look_again = true;
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

static void acked(void)
{
	g.acked = true;
}

static void ended(void)
{
	g.ended = g.ended_well = true;
}

static void ended_badly(void)
{
	g.ended = true;
}

static void said_now(void)
{
	g.said = g.state == MIGRATION_RELEASED ? HANDOVER_COMMIT
		: g.state == MIGRATION_ABORTED ? HANDOVER_ABORT
					       : HANDOVER_PREPARE;
	g.say_at = NOW + 1;
}

static void run_is_gone(void)
{
	m.vmi = NULL;
}

static void busy_lane(void)
{
	m.ops[LANE_GUEST].kind = OP_MIGRATE_RESUME;
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

static void post_copy(void)
{
	g.post_copy = true;
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

static void networked(void)
{
	vmi.typed.n_interfaces = 1;
}

static void announced(void)
{
	networked();
	g.announced = true;
}

static void announcing(void)
{
	networked();
	m.ops[LANE_GUEST].kind = OP_MIGRATE_ANNOUNCE;
}

#define SAY(kind)  MIGRATION_STEP_SAY, HANDOVER_##kind
#define STEP(step) MIGRATION_STEP_##step, 0

typedef void fact(void);

struct row {
	fact *facts[4];
	enum migration_step step;
	enum handover_kind say;
	const char *reason;
};

static const struct row source_rows[] = {
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

	{ { NULL }, SAY(PREPARE), NULL },
	{ { said_now }, STEP(NONE), NULL },
	{ { peer_gone }, STEP(NONE), NULL },
	{ { cancelled }, STEP(ABORT), "it was cancelled" },
	{ { stopping }, STEP(ABORT), "does not run any more" },
	{ { declined }, STEP(ABORT), "no room" },
	{ { too_late }, STEP(ABORT), "did not get ready in time" },
	{ { late, waits_for_room }, SAY(PREPARE), NULL },
	{ { too_late, waits_for_room }, STEP(ABORT), "took no more for 15 minutes" },
	{ { prepared }, STEP(PERFORM), NULL },
	{ { prepared, unseen }, STEP(NONE), NULL },
	{ { prepared, crashed }, STEP(ABORT), "ended before" },
	{ { prepared, cancelled }, STEP(ABORT), "it was cancelled" },

	{ { copying }, STEP(NONE), NULL },
	{ { copying, cancelled }, STEP(CANCEL), NULL },
	{ { copying, stopping }, STEP(CANCEL), NULL },
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
	{ { answer_held, fresh, no_image }, STEP(NONE), NULL },
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
	{ { released, peer_gone }, STEP(NONE), NULL },
	{ { released, cancelled }, SAY(COMMIT), NULL },
	{ { released, ended }, STEP(FINISH), NULL },
	{ { released, ended_badly }, STEP(FINISH), "lost it after it had been handed over" },

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

static void check_row(const struct row *row)
{
	struct migration_plan plan;

	for (size_t i = 0; i < ARRAY_SIZE(row->facts) && row->facts[i]; i++)
		row->facts[i]();
	plan = migration_decide(&view);
	ck_assert_str_eq(migration_step_name(plan.step), migration_step_name(row->step));
	if (row->step == MIGRATION_STEP_SAY)
		ck_assert_str_eq(handover_name(plan.say), handover_name(row->say));
	if (row->reason)
		ck_assert_msg(plan.reason && strstr(plan.reason, row->reason), "'%s'", plan.reason);
}

START_TEST(the_source)
{
	check_row(&source_rows[_i]);
}
END_TEST

/* ---- the target -------------------------------------------------------------------------------- */

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

static void no_libvirt(void)
{
	view.connected = false;
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

static const struct row target_rows[] = {
	{ { in }, STEP(PREPARE), NULL },
	{ { in, no_libvirt }, STEP(NONE), NULL },
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
	check_row(&target_rows[_i]);
}
END_TEST

/* Each rule matters: without it the decider does what it must not. */
START_TEST(without_rules)
{
	crashed();
	fresh();
	rules.evidence = false;
	ck_assert_int_eq(migration_decide(&view).step, MIGRATION_STEP_RELEASE);
	set_up();
	complete();
	too_late();
	rules.patience = false;
	ck_assert_int_eq(migration_decide(&view).step, MIGRATION_STEP_TAKE_OVER);
}
END_TEST

/* ---- messages ---------------------------------------------------------------------------------- */

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

		set_up();
		g.role = heard[_i].role;
		g.prepared = true;
		answer = hear(heard[_i].kind, state);
		ck_assert_int_eq(answer.any ? (int)answer.say : NOTHING, heard[_i].answers[state]);
		free(g.refusal);
	}
	/* At the other end, and about another ownership, it means nothing. */
	set_up();
	g.role = !heard[_i].role;
	ck_assert(!hear(heard[_i].kind, MIGRATION_DONE).any);
	set_up();
	g.role = heard[_i].role;
	g.epoch = 3;
	ck_assert(!hear(heard[_i].kind, MIGRATION_DONE).any);
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
	g.say_at = NOW + 1;
	hear(HANDOVER_QUERY, MIGRATION_RELEASED);
	ck_assert_int_eq(g.say_at, 0); /* COMMIT is said at once */
	set_up();
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
	set_up();
	g.broke_at = NOW;
	g.recovery = 2;
	hear_attempt(HANDOVER_PREPARED, MIGRATION_RELEASED, 1);
	ck_assert(!g.prepared);
	hear_attempt(HANDOVER_PREPARED, MIGRATION_RELEASED, 2);
	ck_assert(g.prepared);
	free(take(&g.offer));
	set_up();
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

/* By whose word the guest is whose, when one of the two was declared dead: what is answered, or whether it is lost. */
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

/* ---- stored and shown ---------------------------------------------------------------------------- */

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
	TCase *t = tcase_create("deciders");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_loop_test(t, the_states, 0, MIGRATION_STATE_MAX);
	tcase_add_loop_test(t, what_states_mean, 0, ARRAY_SIZE(meanings));
	tcase_add_loop_test(t, the_source, 0, ARRAY_SIZE(source_rows));
	tcase_add_loop_test(t, the_target, 0, ARRAY_SIZE(target_rows));
	tcase_add_test(t, without_rules);
	tcase_add_loop_test(t, what_is_answered, 0, ARRAY_SIZE(heard));
	tcase_add_test(t, what_is_noted);
	tcase_add_loop_test(t, who_was_declared_dead, 0, ARRAY_SIZE(declared));
	tcase_add_loop_test(t, after_a_boot, 0, ARRAY_SIZE(boots));
	tcase_add_loop_test(t, what_is_not_known, 0, ARRAY_SIZE(unknown));
	tcase_add_test(t, there_and_back);
	tcase_add_test(t, as_it_is_shown);
	suite_add_tcase(s, t);
	return s;
}
