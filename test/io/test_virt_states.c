/* SPDX-License-Identifier: Apache-2.0 */
/* libvirt's states and reasons by their numbers, against semantics §3; what is not
 * known reads as unknown. */
#include <check.h>

#include "io/virt_private.h"

Suite *test_virt_states_suite(void);

/* By libvirt's number, reasons in the order of theirs. */
/* clang-format off */
static const struct row {
	const char *what;
	enum domain_state state;
	int n;
	enum domain_reason reasons[16];
} rows[] = {
	{ "NOSTATE",     DOMAIN_NOSTATE,       1, { REASON_UNKNOWN } },
	{ "RUNNING",     DOMAIN_RUNNING,      12, { [10] = REASON_POSTCOPY, [11] = REASON_POSTCOPY_FAILED } },
	{ "BLOCKED",     DOMAIN_BLOCKED,       0, { 0 } },
	{ "PAUSED",      DOMAIN_PAUSED,       15, { REASON_UNKNOWN, REASON_USER, REASON_MIGRATION, REASON_SAVE, REASON_DUMP,
	                                            REASON_IOERROR, REASON_WATCHDOG, REASON_FROM_SNAPSHOT,
	                                            REASON_SHUTTING_DOWN, REASON_SNAPSHOT, REASON_CRASHED, REASON_STARTING_UP,
	                                            REASON_POSTCOPY, REASON_POSTCOPY_FAILED, REASON_API_ERROR } },
	{ "SHUTDOWN",    DOMAIN_SHUTTING_DOWN, 2, { REASON_UNKNOWN, REASON_USER } },
	{ "SHUTOFF",     DOMAIN_SHUTOFF,       9, { REASON_UNKNOWN, REASON_SHUTDOWN, REASON_DESTROYED, REASON_CRASHED,
	                                            REASON_MIGRATED, REASON_SAVED, REASON_FAILED, REASON_FROM_SNAPSHOT,
	                                            REASON_DAEMON } },
	{ "CRASHED",     DOMAIN_CRASHED,       2, { REASON_UNKNOWN, REASON_PANICKED } },
	{ "PMSUSPENDED", DOMAIN_PMSUSPENDED,   0, { 0 } },
};
/* clang-format on */

START_TEST(test_state)
{
	const struct row *row = &rows[_i];

	ck_assert_msg(virt_state(_i) == row->state, "%s: %s", row->what,
		domain_state_name(virt_state(_i)));
	for (int reason = 0; reason < 20; reason++) {
		enum domain_reason want = reason < row->n ? row->reasons[reason] : REASON_UNKNOWN;

		ck_assert_msg(virt_reason(_i, reason) == want, "%s, reason %d: %s, not %s",
			row->what, reason, domain_reason_name(virt_reason(_i, reason)),
			domain_reason_name(want));
	}
	ck_assert_int_eq(virt_reason(_i, -1), REASON_UNKNOWN);
}
END_TEST

START_TEST(test_not_known)
{
	ck_assert_int_eq(virt_state(-1), DOMAIN_NOSTATE);
	ck_assert_int_eq(virt_state((int)ARRAY_SIZE(rows)), DOMAIN_NOSTATE);
	ck_assert_int_eq(virt_reason(-1, 1), REASON_UNKNOWN);
	ck_assert_int_eq(virt_reason((int)ARRAY_SIZE(rows), 1), REASON_UNKNOWN);
}
END_TEST

/* The detail of a STOPPED event; it names a shutdown 0, which as a reason is unknown. */
START_TEST(test_stopped)
{
	static const enum domain_reason details[] = { REASON_SHUTDOWN, REASON_DESTROYED,
		REASON_CRASHED, REASON_MIGRATED, REASON_SAVED, REASON_FAILED,
		REASON_FROM_SNAPSHOT };

	for (int detail = 0; detail < (int)ARRAY_SIZE(details); detail++)
		ck_assert_int_eq(virt_stopped_reason(detail), details[detail]);
	ck_assert_int_eq(virt_stopped_reason(-1), REASON_UNKNOWN);
	ck_assert_int_eq(virt_stopped_reason((int)ARRAY_SIZE(details)), REASON_UNKNOWN);
}
END_TEST

Suite *test_virt_states_suite(void)
{
	Suite *s = suite_create("virt states");
	TCase *table = tcase_create("§3 states and reasons");
	TCase *events = tcase_create("§3.1 how it stopped");

	tcase_add_loop_test(table, test_state, 0, (int)ARRAY_SIZE(rows));
	tcase_add_test(table, test_not_known);
	tcase_add_test(events, test_stopped);
	suite_add_tcase(s, table);
	suite_add_tcase(s, events);
	return s;
}
