/* SPDX-License-Identifier: Apache-2.0 */
/* The table of machines: its index of UUIDs stays right as VMs and runs come, change and go. */
#include <check.h>
#include <stdio.h>

#include "core/machine.h"
#include "daemon/machines.h"

#define A "aaaaaaaa-0000-4000-8000-000000000001"
#define B "bbbbbbbb-0000-4000-8000-000000000002"

static struct machine *add_vm(struct machines *ms, const char *name, const char *uuid)
{
	struct machine *m = machines_get(ms, "default", name);

	m->vm = xcalloc(1, sizeof(*m->vm));
	copy_str(m->vm->uuid, UID_SIZE, uuid);
	machines_mark(ms, m);
	return m;
}

static void set_run(struct machines *ms, struct machine *m, const char *uuid)
{
	vmi_free(take(&m->vmi));
	if (uuid) {
		m->vmi = xcalloc(1, sizeof(*m->vmi));
		copy_str(m->vmi->typed.uuid, UID_SIZE, uuid);
	}
	machines_mark(ms, m);
}

START_TEST(runs_come_and_go)
{
	struct machines ms = { 0 };
	struct machine *one = add_vm(&ms, "one", A);

	ck_assert_ptr_null(machines_find_run(&ms, A)); /* a VM alone has no domain */
	set_run(&ms, one, A);
	ck_assert_ptr_eq(machines_find_run(&ms, A), one);
	copy_str(one->vm->uuid, UID_SIZE, B); /* edited: the run keeps its own */
	machines_mark(&ms, one);
	ck_assert_ptr_eq(machines_find_run(&ms, A), one);
	ck_assert_ptr_null(machines_find_run(&ms, B));
	set_run(&ms, one, NULL);
	ck_assert_ptr_null(machines_find_run(&ms, A));
	ck_assert_ptr_null(machines_find_claim(&ms, A, NULL));
	ck_assert_ptr_eq(machines_find_claim(&ms, B, NULL), one);
	machines_remove(&ms, one);
	ck_assert_ptr_null(machines_find_claim(&ms, B, NULL));
	machines_done(&ms);
}
END_TEST

/* As a database from before may have it. */
START_TEST(two_claim_the_same)
{
	struct machines ms = { 0 };
	struct machine *one = add_vm(&ms, "one", A), *two = add_vm(&ms, "two", A);

	ck_assert_ptr_eq(machines_find_claim(&ms, A, one), two);
	ck_assert_ptr_eq(machines_find_claim(&ms, A, two), one);
	set_run(&ms, two, A);
	ck_assert_ptr_eq(machines_find_run(&ms, A), two);
	machines_remove(&ms, one);
	ck_assert_ptr_eq(machines_find_run(&ms, A), two);
	ck_assert_ptr_null(machines_find_claim(&ms, A, two));
	machines_done(&ms);
}
END_TEST

START_TEST(many)
{
	struct machines ms = { 0 };
	char uuid[UID_SIZE], name[16];

	for (unsigned i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "vm%u", i);
		snprintf(uuid, sizeof(uuid), "%08x-0000-4000-8000-000000000000", i * 2654435761u);
		set_run(&ms, add_vm(&ms, name, uuid), uuid);
	}
	for (unsigned i = 0; i < 500; i += 2) {
		snprintf(name, sizeof(name), "vm%u", i);
		machines_remove(&ms, machines_find(&ms, "default", name));
	}
	for (unsigned i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "vm%u", i);
		snprintf(uuid, sizeof(uuid), "%08x-0000-4000-8000-000000000000", i * 2654435761u);
		ck_assert_ptr_eq(machines_find_run(&ms, uuid), machines_find(&ms, "default", name));
		ck_assert_int_eq(machines_find_run(&ms, uuid) != NULL, i % 2 == 1);
	}
	machines_done(&ms);
}
END_TEST

Suite *test_machines_suite(void);
Suite *test_machines_suite(void)
{
	Suite *suite = suite_create("machines");
	TCase *tcase = tcase_create("index of UUIDs");

	tcase_add_test(tcase, runs_come_and_go);
	tcase_add_test(tcase, two_claim_the_same);
	tcase_add_test(tcase, many);
	suite_add_tcase(suite, tcase);
	return suite;
}
