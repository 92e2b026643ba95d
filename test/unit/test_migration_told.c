/* SPDX-License-Identifier: Apache-2.0 */
/* What the source tells of a migration, what the target believes, and that both show the same. */
#include <check.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "core/migration_told.h"
#include "core/peer_frame.h"

Suite *test_migration_told_suite(void);

#define WALL 1796036724636

static struct migration source, target;

static void set_up(void)
{
	source = (struct migration){ .role = MIGRATION_SOURCE,
		.state = MIGRATION_OUT,
		.meta = { .ns = (char *)"default", .name = (char *)"web-1", .uid = "u" },
		.vmi = (char *)"web",
		.vmi_uid = "0123456789",
		.peer = (char *)"b",
		.address = (char *)"192.0.2.2:16516",
		.policy = (char *)"slow",
		.frozen = true,
		.performing = true,
		.limits = { .bandwidth = 1 << 20,
			.completion_s_per_gib = 60,
			.progress_s = 7,
			.max_downtime_ms = 500,
			.auto_converge = true,
			.disrupt = true } };
	target = (struct migration){ .role = MIGRATION_TARGET,
		.state = MIGRATION_IN,
		.meta = source.meta,
		.vmi = source.vmi,
		.vmi_uid = "0123456789",
		.peer = (char *)"a",
		.prepared = true };
	for (unsigned phase = 0; phase <= MIGRATION_PHASE_RUNNING; phase++)
		source.phase_wall[phase] = WALL + phase;
}

static void progresses(void)
{
	source.progress = (struct migration_progress){ .elapsed = 4000,
		.total = INT64_C(3) << 30,
		.processed = 1 << 30,
		.remaining = INT64_C(2) << 30,
		.rate = 100 << 20,
		.dirty = 5,
		.iteration = 3,
		.throttle = 20,
		.downtime_ms = 300,
		.mode = MIGRATION_MODE_PAUSED };
	source.mode = MIGRATION_MODE_PAUSED;
	source.size = source.progress.total;
}

static bool tell_terms(void)
{
	cJSON *json = cJSON_CreateObject();

	migration_tell_terms(json, &source);
	migration_take_terms(&target, json);
	cJSON_Delete(json);
	return target.frozen;
}

static bool follow(const char *text)
{
	cJSON *json = cJSON_Parse(text);
	bool is_new = migration_follow(&target, json);

	cJSON_Delete(json);
	return is_new;
}

static bool tell_course(void)
{
	autofree char *text = migration_course(&source);

	ck_assert_uint_le(strlen(text), MIGRATION_COURSE_MAX);
	return follow(text);
}

static void forget(void)
{
	free(target.policy);
	free(target.address);
}

START_TEST(the_terms)
{
	ck_assert(tell_terms());
	ck_assert_str_eq(target.policy, "slow");
	ck_assert_str_eq(target.address, "192.0.2.2:16516");
	ck_assert_int_eq(target.limits.bandwidth, 1 << 20);
	ck_assert_uint_eq(target.limits.progress_s, 7);
	forget();
}
END_TEST

START_TEST(terms_that_are_none)
{
	cJSON *json = cJSON_Parse(
		"{\"policy\":\"No Name\",\"address\":\"a b\\n\","
		"\"configuration\":{\"maxDowntimeMs\":-1,\"progressTimeout\":1e99,"
		"\"bandwidthPerMigration\":\"x\"}}");

	migration_take_terms(&target, json);
	ck_assert_ptr_null(target.policy);
	ck_assert_ptr_null(target.address);
	ck_assert_uint_eq(target.limits.max_downtime_ms, 0);
	ck_assert_uint_eq(target.limits.progress_s, 0);
	ck_assert_int_eq(target.limits.bandwidth, 0);
	cJSON_Delete(json);
}
END_TEST

/* When it began to run is as the source says, though its word may be the only one before COMMIT. */
START_TEST(the_course)
{
	const struct now now = { .wall = WALL + 99 };

	ck_assert_int_eq(migration_phase_of(&target), MIGRATION_PHASE_TARGET_READY);
	ck_assert(tell_course());
	ck_assert_int_eq(migration_phase_of(&target), MIGRATION_PHASE_RUNNING);
	ck_assert_int_eq(target.phase_wall[MIGRATION_PHASE_RUNNING], 0);
	ck_assert(migration_note_phase(&target, now));
	ck_assert_int_eq(memcmp(target.phase_wall, source.phase_wall, sizeof(source.phase_wall)),
		0);
	ck_assert(!tell_course());
	progresses();
	ck_assert(tell_course());
	ck_assert_int_eq(target.progress.remaining, INT64_C(2) << 30);
	ck_assert_uint_eq(target.progress.throttle, 20);
	ck_assert_int_eq(target.mode, MIGRATION_MODE_PAUSED);
	ck_assert_int_eq(target.size, INT64_C(3) << 30);
	ck_assert(!tell_course());
}
END_TEST

START_TEST(a_course_that_is_none)
{
	static const char *const texts[] = { "", "[]", "{}", "{\"entered\":7,\"ready\":\"x\"}",
		"{\"entered\":[1e99,\"x\",{},null,7e77,-1,5],\"ready\":1e99,\"mode\":3}",
		"{\"entered\":[],\"progress\":{\"total\":-1}}",
		"{\"entered\":[],\"progress\":{\"total\":1e99}}" };

	ck_assert(!follow(texts[_i]));
	ck_assert_int_eq(migration_phase_of(&target), MIGRATION_PHASE_TARGET_READY);
	ck_assert(!follow("{\"progress\":{\"total\":9}}"));
	ck_assert(follow("{\"entered\":[],\"progress\":{\"total\":9,\"elapsed\":1}}"));
	ck_assert_int_eq(target.mode, MIGRATION_MODE_PRE_COPY);
}
END_TEST

/* The message as it is sent is taken by whoever gets it. */
static void is_taken(enum handover_kind kind, char *document)
{
	struct peer_message message = { .kind = PEER_MESSAGE_HANDOVER + kind,
		.handover = { .kind = kind,
			.epoch = INT64_C(999999999999999),
			.ended = INT64_C(99999999999999),
			.cancelled = 1,
			.document = document } };
	struct buf frame = { 0 };
	struct peer_frame taken;
	struct err err;

	memset(message.handover.migration, 'u', UID_SIZE - 1);
	memset(message.handover.database, 'u', UID_SIZE - 1);
	if (kind == HANDOVER_ABORT)
		memset(message.handover.why, '"', PEER_WHY_SIZE - 1);
	peer_message_write(&message, &frame);
	ck_assert_msg(peer_frame_take(frame.data, frame.len, &taken, &err) > 0, "%s", err.msg);
	buf_done(&frame);
}

/* The longest numbers that there are. */
START_TEST(the_longest_course)
{
	const int64_t most = INT64_C(999999999999999);
	autofree char *course = NULL, *word = NULL;

	source.size = most;
	source.mode = MIGRATION_MODE_PAUSED;
	for (unsigned phase = 0; phase < MIGRATION_PHASE_MAX; phase++)
		source.phase_wall[phase] = 99999999999999;
	source.ready_wall = 99999999999999;
	source.progress = (struct migration_progress){ most, most, most, most, most, most,
		INT32_MAX, INT32_MAX, INT32_MAX, MIGRATION_MODE_PAUSED, false };
	ck_assert(tell_course());
	course = migration_course(&source);
	is_taken(HANDOVER_OUT, course);
	word = migration_last_word(&source);
	ck_assert_uint_le(strlen(word), MIGRATION_WORD_MAX);
	is_taken(HANDOVER_ABORT, word);
}
END_TEST

static char *state_of(const struct migration *g, const char *node, const char *key)
{
	autofree char *text = migration_document(g, node);
	cJSON *json = cJSON_Parse(text);
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(json, "status");
	char *part = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(status, key));

	cJSON_Delete(json);
	return part;
}

static void is_shown_by_both(const char *key)
{
	autofree char *ours = state_of(&source, "a", key);
	autofree char *theirs = state_of(&target, "b", key);

	if (ours || theirs)
		ck_assert_str_eq(ours, theirs);
}

static void all_is_shown_by_both(void)
{
	static const char *const keys[] = { "migrationState", "phaseTransitionTimestamps",
		"progress", "phase", "conditions" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		is_shown_by_both(keys[i]);
}

START_TEST(both_show_the_same)
{
	source.ready_wall = WALL + 50;
	progresses();
	ck_assert(tell_terms());
	ck_assert(tell_course());
	migration_note_phase(&target, (struct now){ .wall = WALL + 99 });
	all_is_shown_by_both();
	forget();
}
END_TEST

static void shows(const char *key, const char *part)
{
	autofree char *text = state_of(&source, "a", key);

	ck_assert_msg(strstr(text, part), "%s: no %s", text, part);
}

/* Why it does not go on is shown where it was ordered, too. */
START_TEST(the_trouble)
{
	autofree char *text = NULL;

	source.performing = target.prepared = false;
	memset(source.phase_wall, 0, sizeof(source.phase_wall));
	source.cancelled = target.cancelled = true;
	migration_note_trouble(&source, "no file");
	migration_note_trouble(&target, "no file");
	is_shown_by_both("conditions");
	shows("conditions", "\"Waiting\",\"status\":\"True\",\"reason\":\"TargetNotReady\"");
	shows("conditions", "\"the target is not ready: no file\"");
	source.waits = MIGRATION_WAITS_FOR_ROOM;
	shows("conditions", "\"the target takes no more now: no file\"");
	source.waits = MIGRATION_WAITS_FOR_NOTHING;
	source.performing = true;
	text = state_of(&source, "a", "conditions");
	ck_assert_ptr_null(strstr(text, "Waiting"));
	free(source.trouble);
	free(target.trouble);
}
END_TEST

static void hears(struct migration *g, enum handover_kind kind, const struct migration *from)
{
	struct handover h = { .kind = kind,
		.succeeded = from->succeeded,
		.ended = migration_end_of(from) };
	autofree char *word = kind == HANDOVER_ABORT ? migration_last_word(from) : NULL;

	h.document = word;
	migration_hear(g, &h, (struct now){ .boot = 1 });
}

/* Whoever ends it first says when: the one by FINALIZED, the other by ABORT. */
START_TEST(one_end)
{
	bool succeeded = _i == 0;
	struct migration *first = succeeded ? &target : &source,
			 *last = succeeded ? &source : &target;

	ck_assert(tell_course());
	first->state = MIGRATION_DONE;
	first->succeeded = succeeded;
	migration_note_phase(first, (struct now){ .wall = WALL + 1500 });
	last->state = succeeded ? MIGRATION_RELEASED : MIGRATION_IN;
	hears(last, succeeded ? HANDOVER_FINALIZED : HANDOVER_ABORT, first);
	last->state = MIGRATION_DONE;
	last->succeeded = succeeded;
	migration_note_phase(last, (struct now){ .wall = WALL + 2999 });
	ck_assert_int_eq(migration_end_of(&source), WALL + 1500);
	ck_assert_int_eq(migration_end_of(&target), WALL + 1500);
	free(target.refusal);
}
END_TEST

/* What the target thought of it, of which the source has not heard, is of no use to anybody. */
START_TEST(one_failure)
{
	progresses();
	source.phase_wall[MIGRATION_PHASE_TARGET_READY] = 0;
	target.phase_wall[MIGRATION_PHASE_TARGET_READY] = target.ready_wall = WALL + 77;
	target.state = MIGRATION_COMPLETE;
	ck_assert(tell_terms());
	source.state = MIGRATION_DONE;
	migration_note_phase(&source, (struct now){ .wall = WALL + 1500 });
	hears(&target, HANDOVER_ABORT, &source);
	target.state = MIGRATION_DONE;
	migration_note_phase(&target, (struct now){ .wall = WALL + 2999 });
	all_is_shown_by_both();
	free(target.refusal);
	forget();
}
END_TEST

/* A last word that is none is of an agent that does not know of it. */
START_TEST(a_failure_that_is_not_told)
{
	struct handover h = { .kind = HANDOVER_ABORT, .document = _i ? "{\"entered\":1}" : NULL };

	target.phase_wall[MIGRATION_PHASE_TARGET_READY] = target.ready_wall = WALL + 77;
	migration_hear(&target, &h, (struct now){ .boot = 1 });
	ck_assert(target.called_off);
	ck_assert_int_eq(target.phase_wall[MIGRATION_PHASE_TARGET_READY], WALL + 77);
	ck_assert_int_eq(target.ready_wall, WALL + 77);
	free(target.refusal);
}
END_TEST

/* The target's clock is behind: nothing ends before it began. */
START_TEST(a_clock_that_is_behind)
{
	ck_assert(tell_course());
	migration_note_phase(&target, (struct now){ .wall = WALL - 90000 });
	target.state = MIGRATION_DONE;
	target.succeeded = true;
	migration_note_phase(&target, (struct now){ .wall = WALL - 80000 });
	ck_assert_int_eq(migration_end_of(&target), WALL + MIGRATION_PHASE_RUNNING);
}
END_TEST

/* semantics §12.1, and what has a meaning here of migration.md §1.2. */
START_TEST(what_is_shown)
{
	progresses();
	shows("migrationState", "\"sourcePod\":\"virt-launcher-web-01234\"");
	shows("migrationState", "\"targetPod\":\"virt-launcher-web-01234\"");
	shows("migrationState", "\"targetNodeAddress\":\"192.0.2.2:16516\"");
	shows("migrationState", "\"nodeAddress\":\"192.0.2.2:16516\"");
	shows("migrationState", "\"migrationPolicyName\":\"slow\"");
	shows("phaseTransitionTimestamps", "\"timeoutSeconds\":900},{\"phase\":\"Scheduling\"");
	shows("phaseTransitionTimestamps", "\"timeoutSeconds\":120},{\"phase\":\"Scheduled\"");
	shows("phaseTransitionTimestamps", "\"timeoutSeconds\":180}]"); /* 60 for each GiB */
	source.limits.completion_s_per_gib = 0;
	shows("phaseTransitionTimestamps",
		"\"phaseTransitionTimestamp\":\"2026-11-30T11:05:24Z\"}]");
}
END_TEST

Suite *test_migration_told_suite(void)
{
	Suite *s = suite_create("migration told");
	TCase *t = tcase_create("told");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, the_terms);
	tcase_add_test(t, terms_that_are_none);
	tcase_add_test(t, the_course);
	tcase_add_loop_test(t, a_course_that_is_none, 0, 7);
	tcase_add_test(t, the_longest_course);
	tcase_add_test(t, both_show_the_same);
	tcase_add_test(t, the_trouble);
	tcase_add_loop_test(t, one_end, 0, 2);
	tcase_add_test(t, one_failure);
	tcase_add_loop_test(t, a_failure_that_is_not_told, 0, 2);
	tcase_add_test(t, a_clock_that_is_behind);
	tcase_add_test(t, what_is_shown);
	suite_add_tcase(s, t);
	return s;
}
