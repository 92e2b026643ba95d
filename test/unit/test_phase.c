/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phase calculator against semantics §1.2, §2.1, §2.2, §15: every domain state × reason × prior
 * phase × circumstance. Expectations are written from the reference, not from the implementation.
 */
#include <check.h>
#include <string.h>

#include "core/phase.h"

Suite *test_phase_suite(void);

/*
 * A pattern has a letter for each prior phase, in the order of §1.1: "" Pending Scheduling
 * Scheduled Running Succeeded Failed WaitingForSync Unknown. '.' unchanged, S Scheduled, R Running,
 * + Succeeded, - Failed.
 */
static enum phase phase_in(const char *pattern, enum phase prior)
{
	switch (pattern[prior]) {
	case 'S':
		return PHASE_SCHEDULED;
	case 'R':
		return PHASE_RUNNING;
	case '+':
		return PHASE_SUCCEEDED;
	case '-':
		return PHASE_FAILED;
	default:
		ck_assert_int_eq(pattern[prior], '.');
		return prior;
	}
}

#define OTHER DOMAIN_REASON_MAX

#define UNCHANGED  "........."
#define TO_RUN     "RRRRR..RR"
#define TO_SUCCEED "+++++..++"
#define TO_FAIL    "-----..--"
#define VANISH     "....-...." /* launcher-less: Failed once it was Running (§2.1 trap, §3 [P]) */

/* clang-format off */
static const struct cell {
	enum domain_state state;
	enum domain_reason reason; /* OTHER: all that have no row of their own */
	const char *want;          /* grace nil, ACPI on */
} cells[] = {
	/* none: Scheduled stays, Running is gone for good; an end whose cause we
	 * stored counts (design §4) */
	{ DOMAIN_NONE,          REASON_CRASHED,         "SSS.-..SS" },
	{ DOMAIN_NONE,          REASON_PANICKED,        "SSS.-..SS" },
	{ DOMAIN_NONE,          REASON_DESTROYED,       "SSS.-..SS" },
	{ DOMAIN_NONE,          REASON_SHUTDOWN,        "SSS.+..SS" },
	{ DOMAIN_NONE,          REASON_SAVED,           "SSS.+..SS" },
	{ DOMAIN_NONE,          REASON_FROM_SNAPSHOT,   "SSS.+..SS" },
	{ DOMAIN_NONE,          REASON_MIGRATED,        "SSS....SS" },
	{ DOMAIN_NONE,          OTHER,                  "SSS.-..SS" },
	{ DOMAIN_SHUTOFF,       REASON_CRASHED,         TO_FAIL },
	{ DOMAIN_SHUTOFF,       REASON_PANICKED,        TO_FAIL },
	{ DOMAIN_SHUTOFF,       REASON_DESTROYED,       TO_FAIL },
	{ DOMAIN_SHUTOFF,       REASON_SHUTDOWN,        TO_SUCCEED },
	{ DOMAIN_SHUTOFF,       REASON_SAVED,           TO_SUCCEED },
	{ DOMAIN_SHUTOFF,       REASON_FROM_SNAPSHOT,   TO_SUCCEED },
	{ DOMAIN_SHUTOFF,       REASON_MIGRATED,        UNCHANGED },
	{ DOMAIN_SHUTOFF,       OTHER,                  VANISH },
	{ DOMAIN_CRASHED,       REASON_CRASHED,         TO_FAIL },
	{ DOMAIN_CRASHED,       REASON_PANICKED,        TO_FAIL },
	{ DOMAIN_CRASHED,       REASON_DESTROYED,       TO_FAIL },
	{ DOMAIN_CRASHED,       REASON_SHUTDOWN,        TO_SUCCEED },
	{ DOMAIN_CRASHED,       REASON_SAVED,           TO_SUCCEED },
	{ DOMAIN_CRASHED,       REASON_FROM_SNAPSHOT,   TO_SUCCEED },
	{ DOMAIN_CRASHED,       REASON_MIGRATED,        UNCHANGED },
	{ DOMAIN_CRASHED,       OTHER,                  VANISH },
	{ DOMAIN_PAUSED,        REASON_POSTCOPY_FAILED, TO_FAIL },
	{ DOMAIN_PAUSED,        OTHER,                  TO_RUN },
	{ DOMAIN_RUNNING,       OTHER,                  TO_RUN },
	{ DOMAIN_BLOCKED,       OTHER,                  TO_RUN },
	{ DOMAIN_PMSUSPENDED,   OTHER,                  TO_RUN },
	{ DOMAIN_NOSTATE,       OTHER,                  UNCHANGED },
	{ DOMAIN_SHUTTING_DOWN, OTHER,                  UNCHANGED },
	{ DOMAIN_UNKNOWN,       OTHER,                  UNCHANGED },
};

static const struct circumstance {
	const char *name;
	struct phase_facts facts;
	struct cell differs[10]; /* from the cells above; ends with want NULL */
} circumstances[] = {
	{ "plain", { .grace = GRACE_UNSET, .acpi_feature = true }, { { 0 } } },
	{ "grace 30", { .grace = 30, .acpi_feature = true }, { { 0 } } },
	{ "grace 0", { .grace = 0, .acpi_feature = true }, {
		{ DOMAIN_NONE,    REASON_DESTROYED, "SSS.+..SS" },
		{ DOMAIN_SHUTOFF, REASON_DESTROYED, TO_SUCCEED },
		{ DOMAIN_CRASHED, REASON_DESTROYED, TO_SUCCEED } } },
	{ "no ACPI", { .grace = 30, .acpi_feature = false }, {
		{ DOMAIN_NONE,    REASON_DESTROYED, "SSS.+..SS" },
		{ DOMAIN_SHUTOFF, REASON_DESTROYED, TO_SUCCEED },
		{ DOMAIN_CRASHED, REASON_DESTROYED, TO_SUCCEED } } },
	{ "no ACPI, grace nil", { .grace = GRACE_UNSET, .acpi_feature = false }, {
		{ DOMAIN_NONE,    REASON_DESTROYED, "SSS.+..SS" },
		{ DOMAIN_SHUTOFF, REASON_DESTROYED, TO_SUCCEED },
		{ DOMAIN_CRASHED, REASON_DESTROYED, TO_SUCCEED } } },
};
/* clang-format on */

static const char *find(const struct cell *list, size_t n, enum domain_state state,
	enum domain_reason reason)
{
	for (size_t i = 0; i < n && list[i].want; i++)
		if (list[i].state == state && (list[i].reason == reason || list[i].reason == OTHER))
			return list[i].want;
	return NULL;
}

static const char *expected(const struct circumstance *c, enum domain_state state,
	enum domain_reason reason)
{
	const char *want = find(c->differs, ARRAY_SIZE(c->differs), state, reason);

	if (!want)
		want = find(cells, ARRAY_SIZE(cells), state, reason);
	ck_assert_msg(want, "no row for %s/%s", domain_state_name(state),
		domain_reason_name(reason));
	return want;
}

START_TEST(every_cell)
{
	const struct circumstance *c = &circumstances[_i];

	for (int state = 0; state < DOMAIN_STATE_MAX; state++)
		for (int reason = 0; reason < DOMAIN_REASON_MAX; reason++)
			for (int prior = 0; prior < PHASE_MAX; prior++) {
				struct phase_facts facts = c->facts;
				enum phase want, got;

				facts.state = (enum domain_state)state;
				facts.reason = (enum domain_reason)reason;
				facts.prior = (enum phase)prior;
				want = phase_in(expected(c, facts.state, facts.reason),
					facts.prior);
				got = phase_of(&facts);
				ck_assert_msg(got == want, "%s: %s/%s, prior '%s': '%s', not '%s'",
					c->name, domain_state_name(facts.state),
					domain_reason_name(facts.reason), phase_name(facts.prior),
					phase_name(got), phase_name(want));
			}
}
END_TEST

/* clang-format off */
static const struct {
	int number; /* of §15 */
	enum domain_state state;
	enum domain_reason reason;
	int64_t grace;
	bool acpi;
	enum phase prior;
	enum phase want;
} vectors[] = {
	{ 1,  DOMAIN_SHUTOFF,     REASON_DESTROYED,       GRACE_UNSET, 1, PHASE_RUNNING,   PHASE_FAILED },
	{ 2,  DOMAIN_SHUTOFF,     REASON_DESTROYED,       0,           1, PHASE_RUNNING,   PHASE_SUCCEEDED },
	{ 3,  DOMAIN_SHUTOFF,     REASON_DESTROYED,       30,          0, PHASE_RUNNING,   PHASE_SUCCEEDED },
	{ 5,  DOMAIN_SHUTOFF,     REASON_SHUTDOWN,        30,          1, PHASE_RUNNING,   PHASE_SUCCEEDED },
	{ 5,  DOMAIN_SHUTOFF,     REASON_SAVED,           30,          1, PHASE_RUNNING,   PHASE_SUCCEEDED },
	{ 5,  DOMAIN_SHUTOFF,     REASON_FROM_SNAPSHOT,   30,          1, PHASE_RUNNING,   PHASE_SUCCEEDED },
	{ 6,  DOMAIN_SHUTOFF,     REASON_CRASHED,         30,          1, PHASE_RUNNING,   PHASE_FAILED },
	{ 6,  DOMAIN_CRASHED,     REASON_PANICKED,        30,          1, PHASE_RUNNING,   PHASE_FAILED },
	{ 6,  DOMAIN_CRASHED,     REASON_UNKNOWN,         30,          1, PHASE_RUNNING,   PHASE_FAILED },
	{ 7,  DOMAIN_SHUTOFF,     REASON_MIGRATED,        30,          1, PHASE_RUNNING,   PHASE_RUNNING },
	{ 7,  DOMAIN_SHUTOFF,     REASON_FAILED,          30,          1, PHASE_SCHEDULED, PHASE_SCHEDULED },
	{ 7,  DOMAIN_SHUTOFF,     REASON_UNKNOWN,         30,          1, PHASE_SCHEDULED, PHASE_SCHEDULED },
	{ 8,  DOMAIN_PAUSED,      REASON_IOERROR,         30,          1, PHASE_RUNNING,   PHASE_RUNNING },
	{ 8,  DOMAIN_PAUSED,      REASON_POSTCOPY_FAILED, 30,          1, PHASE_RUNNING,   PHASE_FAILED },
	{ 8,  DOMAIN_PAUSED,      REASON_UNKNOWN,         30,          1, PHASE_RUNNING,   PHASE_RUNNING },
	{ 9,  DOMAIN_PMSUSPENDED, REASON_UNKNOWN,         30,          1, PHASE_RUNNING,   PHASE_RUNNING },
	{ 9,  DOMAIN_BLOCKED,     REASON_UNKNOWN,         30,          1, PHASE_RUNNING,   PHASE_RUNNING },
	{ 9,  DOMAIN_SHUTTING_DOWN, REASON_UNKNOWN,       30,          1, PHASE_RUNNING,   PHASE_RUNNING },
	{ 9,  DOMAIN_NOSTATE,     REASON_UNKNOWN,         30,          1, PHASE_SCHEDULED, PHASE_SCHEDULED },
	{ 10, DOMAIN_NONE,        REASON_UNKNOWN,         30,          1, PHASE_PENDING,   PHASE_SCHEDULED },
	{ 10, DOMAIN_NONE,        REASON_UNKNOWN,         30,          1, PHASE_RUNNING,   PHASE_FAILED },
	{ 10, DOMAIN_NONE,        REASON_UNKNOWN,         30,          1, PHASE_FAILED,    PHASE_FAILED },
	/* §3 [P]: killed by libvirt while it reconnected, or failed once it ran */
	{ 0,  DOMAIN_SHUTOFF,     REASON_DAEMON,          30,          1, PHASE_RUNNING,   PHASE_FAILED },
	{ 0,  DOMAIN_SHUTOFF,     REASON_DAEMON,          30,          1, PHASE_SCHEDULED, PHASE_SCHEDULED },
	{ 0,  DOMAIN_SHUTOFF,     REASON_FAILED,          30,          1, PHASE_RUNNING,   PHASE_FAILED },
	{ 0,  DOMAIN_PAUSED,      REASON_API_ERROR,       30,          1, PHASE_RUNNING,   PHASE_RUNNING },
};

/* §2.2: who caused the stop. Evidence, then libvirt's word (UNKNOWN: it has
 * forgotten) → reason, phase. */
static const struct {
	const char *cause;
	struct end_evidence end;
	enum domain_state state;
	enum domain_reason reason;
	int64_t grace;
	bool acpi;
	enum domain_reason want_reason;
	enum phase want;
} causes[] = {
	{ "poweroff", { .guest_shutdown = true }, DOMAIN_SHUTOFF, REASON_SHUTDOWN, 30, 1,
		REASON_SHUTDOWN, PHASE_SUCCEEDED },
	{ "poweroff, libvirtd restarted", { .guest_shutdown = true }, DOMAIN_SHUTOFF, REASON_UNKNOWN, 30, 1,
		REASON_SHUTDOWN, PHASE_SUCCEEDED },
	{ "poweroff, then undefined", { .guest_shutdown = true }, DOMAIN_NONE, REASON_UNKNOWN, 30, 1,
		REASON_SHUTDOWN, PHASE_SUCCEEDED },
	{ "STOPPED event said shutdown", { .stopped = REASON_SHUTDOWN }, DOMAIN_SHUTOFF, REASON_UNKNOWN, 30, 1,
		REASON_SHUTDOWN, PHASE_SUCCEEDED },
	{ "guest ignored the signal for the grace", { .killed = true }, DOMAIN_SHUTOFF, REASON_DESTROYED, 30, 1,
		REASON_DESTROYED, PHASE_FAILED },
	{ "the same, libvirtd restarted", { .killed = true }, DOMAIN_SHUTOFF, REASON_UNKNOWN, 30, 1,
		REASON_DESTROYED, PHASE_FAILED },
	{ "stop with grace 0", { .killed = true }, DOMAIN_SHUTOFF, REASON_DESTROYED, 0, 1,
		REASON_DESTROYED, PHASE_SUCCEEDED },
	{ "stop with grace 0, libvirtd restarted", { .killed = true }, DOMAIN_SHUTOFF, REASON_UNKNOWN, 0, 1,
		REASON_DESTROYED, PHASE_SUCCEEDED },
	{ "stop with grace 0, then undefined", { .killed = true }, DOMAIN_NONE, REASON_UNKNOWN, 0, 1,
		REASON_DESTROYED, PHASE_SUCCEEDED },
	{ "no ACPI, kill", { .killed = true }, DOMAIN_SHUTOFF, REASON_DESTROYED, 30, 0,
		REASON_DESTROYED, PHASE_SUCCEEDED },
	{ "QEMU killed", { 0 }, DOMAIN_SHUTOFF, REASON_CRASHED, 30, 1, REASON_CRASHED, PHASE_FAILED },
	{ "QEMU killed, only the event told", { .stopped = REASON_CRASHED }, DOMAIN_SHUTOFF, REASON_UNKNOWN, 30, 1,
		REASON_CRASHED, PHASE_FAILED },
	{ "QEMU killed while nobody looked", { 0 }, DOMAIN_SHUTOFF, REASON_UNKNOWN, 30, 1,
		REASON_UNKNOWN, PHASE_FAILED },
	{ "killed by libvirt on reconnect", { .stopped = REASON_FAILED }, DOMAIN_SHUTOFF, REASON_DAEMON, 30, 1,
		REASON_UNKNOWN, PHASE_FAILED },
	{ "panic, destroyed by on_crash", { .panicked = true }, DOMAIN_SHUTOFF, REASON_CRASHED, 30, 1,
		REASON_CRASHED, PHASE_FAILED },
	{ "panic, reason forgotten", { .panicked = true }, DOMAIN_SHUTOFF, REASON_UNKNOWN, 30, 1,
		REASON_PANICKED, PHASE_FAILED },
	{ "panic, preserved", { 0 }, DOMAIN_CRASHED, REASON_PANICKED, 30, 1, REASON_PANICKED, PHASE_FAILED },
	{ "panic, preserved, then killed by us with grace 0", { .panicked = true, .killed = true },
		DOMAIN_CRASHED, REASON_PANICKED, 0, 1, REASON_DESTROYED, PHASE_SUCCEEDED },
	{ "reboot with on_reboot destroy", { 0 }, DOMAIN_SHUTOFF, REASON_SHUTDOWN, 30, 1,
		REASON_SHUTDOWN, PHASE_SUCCEEDED },
	{ "disk error", { 0 }, DOMAIN_PAUSED, REASON_IOERROR, 30, 1, REASON_IOERROR, PHASE_RUNNING },
	{ "post-copy link lost", { 0 }, DOMAIN_PAUSED, REASON_POSTCOPY_FAILED, 30, 1,
		REASON_POSTCOPY_FAILED, PHASE_FAILED },
	{ "the image of a migration was discarded", { .discarded = true }, DOMAIN_SHUTOFF, REASON_DESTROYED, 30, 1,
		REASON_UNKNOWN, PHASE_FAILED },
	{ "the same, grace 0", { .discarded = true }, DOMAIN_SHUTOFF, REASON_DESTROYED, 0, 1, REASON_UNKNOWN, PHASE_FAILED },
	{ "the same, not yet", { .discarded = true }, DOMAIN_PAUSED, REASON_POSTCOPY, 30, 1, REASON_POSTCOPY, PHASE_RUNNING },
	{ "the same, stopped meanwhile", { .discarded = true, .killed = true }, DOMAIN_SHUTOFF, REASON_DESTROYED, 0, 1,
		REASON_DESTROYED, PHASE_SUCCEEDED },
	{ "virsh destroy", { 0 }, DOMAIN_SHUTOFF, REASON_DESTROYED, 30, 1, REASON_DESTROYED, PHASE_FAILED },
	{ "virsh destroy, grace 0", { 0 }, DOMAIN_SHUTOFF, REASON_DESTROYED, 0, 1,
		REASON_DESTROYED, PHASE_SUCCEEDED },
	{ "managed save", { 0 }, DOMAIN_SHUTOFF, REASON_SAVED, 30, 1, REASON_SAVED, PHASE_SUCCEEDED },
	{ "migrated away", { 0 }, DOMAIN_SHUTOFF, REASON_MIGRATED, 30, 1, REASON_MIGRATED, PHASE_RUNNING },
	{ "vanished", { 0 }, DOMAIN_NONE, REASON_UNKNOWN, 30, 1, REASON_UNKNOWN, PHASE_FAILED },
	{ "vanished; an old reason is no witness", { 0 }, DOMAIN_NONE, REASON_SHUTDOWN, 30, 1,
		REASON_UNKNOWN, PHASE_FAILED },
	{ "kill on its way, guest lives", { .killed = true }, DOMAIN_RUNNING, REASON_UNKNOWN, 30, 1,
		REASON_UNKNOWN, PHASE_RUNNING },
	{ "the guest shuts down", { .guest_shutdown = true }, DOMAIN_SHUTTING_DOWN, REASON_USER, 30, 1,
		REASON_USER, PHASE_RUNNING },
	{ "libvirt cannot be asked", { .killed = true }, DOMAIN_UNKNOWN, REASON_UNKNOWN, 30, 1,
		REASON_UNKNOWN, PHASE_RUNNING },
};
/* clang-format on */

START_TEST(vector)
{
	struct phase_facts facts = {
		.state = vectors[_i].state,
		.reason = vectors[_i].reason,
		.prior = vectors[_i].prior,
		.grace = vectors[_i].grace,
		.acpi_feature = vectors[_i].acpi,
	};
	enum phase got = phase_of(&facts);

	ck_assert_msg(got == vectors[_i].want, "vector %d: '%s'", vectors[_i].number,
		phase_name(got));
}
END_TEST

START_TEST(cause_of_an_end)
{
	struct phase_facts facts = {
		.state = causes[_i].state,
		.prior = PHASE_RUNNING,
		.grace = causes[_i].grace,
		.acpi_feature = causes[_i].acpi,
	};

	facts.reason = domain_end_reason(&causes[_i].end, facts.state, causes[_i].reason);
	ck_assert_msg(facts.reason == causes[_i].want_reason, "%s: %s", causes[_i].cause,
		domain_reason_name(facts.reason));
	ck_assert_msg(phase_of(&facts) == causes[_i].want, "%s: '%s'", causes[_i].cause,
		phase_name(phase_of(&facts)));
}
END_TEST

/* Decisive reasons are those of §2.1, walked for both states: only they beat the evidence. */
START_TEST(decisive_reasons)
{
	static const enum domain_reason decisive[] = { REASON_CRASHED, REASON_PANICKED,
		REASON_DESTROYED, REASON_SHUTDOWN, REASON_SAVED, REASON_FROM_SNAPSHOT,
		REASON_MIGRATED };
	const struct end_evidence guest = { .guest_shutdown = true };
	enum domain_reason reason = (enum domain_reason)_i;
	enum domain_reason want = REASON_SHUTDOWN;
	struct end_evidence stopped = { .stopped = reason, .panicked = true };

	for (size_t i = 0; i < ARRAY_SIZE(decisive); i++)
		if (decisive[i] == reason)
			want = reason;
	ck_assert_int_eq(domain_end_reason(&guest, DOMAIN_SHUTOFF, reason), want);
	ck_assert_int_eq(domain_end_reason(&guest, DOMAIN_CRASHED, reason), want);
	ck_assert_int_eq(domain_end_reason(&guest, DOMAIN_NONE, reason), REASON_SHUTDOWN);
	if (want != reason)
		want = REASON_PANICKED;
	ck_assert_int_eq(domain_end_reason(&stopped, DOMAIN_SHUTOFF, REASON_UNKNOWN), want);
	ck_assert_int_eq(domain_end_reason(&stopped, DOMAIN_NONE, REASON_UNKNOWN), want);
}
END_TEST

/* §2.3 rule 1, in the order of DOMAIN_STATES; Unknown must not count as dead (rule 0). */
START_TEST(alive)
{
	static const char want[] = "1011111001";

	ck_assert_uint_eq(strlen(want), DOMAIN_STATE_MAX);
	for (int i = 0; i < DOMAIN_STATE_MAX; i++)
		ck_assert_msg(domain_is_alive((enum domain_state)i) == (want[i] == '1'), "%s",
			domain_state_name((enum domain_state)i));
}
END_TEST

/* In the order of PHASES. */
START_TEST(final_and_unprocessed)
{
	static const char final[] = "000001100", unprocessed[] = "110000000";

	for (int i = 0; i < PHASE_MAX; i++) {
		ck_assert_int_eq(phase_is_final((enum phase)i), final[i] == '1');
		ck_assert_int_eq(phase_is_unprocessed((enum phase)i), unprocessed[i] == '1');
	}
}
END_TEST

/* To:  "" Pending Scheduling Scheduled Running Succeeded Failed WaitingForSync Unknown */
static const char *const may_become[PHASE_MAX] = {
	[PHASE_UNSET] = "011111110",
	[PHASE_PENDING] = "001111110",
	[PHASE_SCHEDULING] = "000111110",
	[PHASE_SCHEDULED] = "000011110",
	[PHASE_RUNNING] = "000001110",
	[PHASE_SUCCEEDED] = "000000000",
	[PHASE_FAILED] = "000000000",
	[PHASE_WAITING_FOR_SYNC] = "001111100",
	[PHASE_UNKNOWN] = "000111100",
};

START_TEST(allowed_transitions)
{
	for (int to = 0; to < PHASE_MAX; to++)
		ck_assert_msg(phase_may_become((enum phase)_i, (enum phase)to) ==
				(may_become[_i][to] == '1'),
			"'%s' to '%s'", phase_name((enum phase)_i), phase_name((enum phase)to));
	ck_assert(!phase_may_become((enum phase)_i, PHASE_MAX));
	ck_assert(!phase_may_become(PHASE_MAX, (enum phase)_i));
}
END_TEST

/* What the calculator says, the setter allows; whatever is asked. */
START_TEST(the_calculator_keeps_to_the_transitions)
{
	for (unsigned n = 0; n < 4u * DOMAIN_STATE_MAX * DOMAIN_REASON_MAX; n++) {
		struct phase_facts facts = {
			.prior = (enum phase)_i,
			.grace = n & 1 ? 0 : GRACE_UNSET,
			.acpi_feature = n & 2,
			.state = (enum domain_state)((n >> 2) % DOMAIN_STATE_MAX),
			.reason = (enum domain_reason)((n >> 2) / DOMAIN_STATE_MAX),
		};
		enum phase got = phase_of(&facts);

		ck_assert(got == facts.prior || phase_may_become(facts.prior, got));
	}
}
END_TEST

Suite *test_phase_suite(void)
{
	Suite *s = suite_create("phase");
	TCase *table = tcase_create("§2.1 phase calculator");
	TCase *who = tcase_create("§2.2 who caused the stop");
	TCase *tests = tcase_create("§15 phase calculator");
	TCase *changes = tcase_create("§1.1, §1.2 phases");

	tcase_add_loop_test(table, every_cell, 0, ARRAY_SIZE(circumstances));
	suite_add_tcase(s, table);
	tcase_add_loop_test(who, cause_of_an_end, 0, ARRAY_SIZE(causes));
	tcase_add_loop_test(who, decisive_reasons, 0, DOMAIN_REASON_MAX);
	suite_add_tcase(s, who);
	tcase_add_loop_test(tests, vector, 0, ARRAY_SIZE(vectors));
	suite_add_tcase(s, tests);
	tcase_add_test(changes, alive);
	tcase_add_test(changes, final_and_unprocessed);
	tcase_add_loop_test(changes, allowed_transitions, 0, PHASE_MAX);
	tcase_add_loop_test(changes, the_calculator_keeps_to_the_transitions, 0, PHASE_MAX);
	suite_add_tcase(s, changes);
	return s;
}
