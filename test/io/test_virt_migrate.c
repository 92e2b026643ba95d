/* SPDX-License-Identifier: Apache-2.0 */
/* The libvirt adapter's part of a migration, as far as a driver that has none can tell. */
#include <check.h>
#include <string.h>

#include "lib/virt_fixture.h"

Suite *test_virt_migrate_suite(void);

static struct fixture *f;

static void set_up(void)
{
	f = fixture_new();
}

static void tear_down(void)
{
	fixture_free(f);
}

static enum err_code prepare_as(const char *vmi_uid)
{
	struct vmi_spec spec = fixture_spec();
	struct domain_context context = fixture_context(vmi_uid, "/run/a");
	autofree char *xml = domain_xml(&spec, &context);
	struct op op = { .id = 77,
		.kind = OP_MIGRATE_PREPARE,
		.domain = FIXTURE_DOMAIN,
		.xml = xml };

	copy_str(op.vmi_uid, UID_SIZE, vmi_uid);
	copy_str(op.uuid, UID_SIZE, FIXTURE_UUID);
	return fixture_do(f, &op);
}

START_TEST(migration_is_prepared)
{
	ck_assert_msg(!prepare_as(VMI_A), "%s", f->result.err.msg);
	ck_assert_ptr_nonnull(f->result.text);
	ck_assert_ptr_nonnull(strstr(f->result.text, FIXTURE_UUID));
	ck_assert_ptr_nonnull(strstr(f->result.text, "/run/a/serial0"));
	ck_assert_ptr_null(fixture_read(f)); /* nothing of it stays */
	ck_assert_msg(!prepare_as(VMI_A), "%s", f->result.err.msg);
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_int_eq(prepare_as(VMI_A), ERR_CONFLICT);
	ck_assert_str_eq(f->result.err.msg, "domain '" FIXTURE_DOMAIN "' is here already");
	ck_assert(fixture_read(f)->active);
}
END_TEST

START_TEST(migration_of_one_that_is_not_ours)
{
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	fixture_op(f, OP_DESTROY, VMI_A);
	ck_assert_int_eq(prepare_as(VMI_B), ERR_CONFLICT);
	ck_assert_ptr_nonnull(strstr(f->result.err.msg, VMI_A));
}
END_TEST

/* On the way through the relay's socket; it is the driver that refuses, and the
 * guest is as before. */
START_TEST(migration_that_fails)
{
	struct vmi_spec spec = fixture_spec();
	struct domain_context context = fixture_context(VMI_A, "/run/b");
	autofree char *there = domain_xml(&spec, &context);
	struct op op = { .id = 78,
		.kind = OP_MIGRATE,
		.domain = FIXTURE_DOMAIN,
		.paused = true,
		.xml = there,
		.relay = "/nonexistent/relay",
		.copies = "vda,vdb" };

	copy_str(op.vmi_uid, UID_SIZE, VMI_A);
	copy_str(op.uuid, UID_SIZE, FIXTURE_UUID);
	ck_assert_int_eq(fixture_do(f, &op), ERR_DOMAIN_GONE);
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_MIGRATE, VMI_A), ERR_INTERNAL); /* without a way */
	ck_assert_int_eq(fixture_op(f, OP_MIGRATE_WATCH, VMI_A), ERR_OK); /* there is none */
	op.xml = "<domain/>";
	ck_assert_int_eq(fixture_do(f, &op), ERR_INVALID);
	op.xml = there;
	ck_assert_int_ne(fixture_do(f, &op), ERR_OK);
	ck_assert_ptr_nonnull(strstr(f->result.err.msg, "p2p migration is not supported"));
	ck_assert_int_eq(fixture_read(f)->state, DOMAIN_RUNNING);
}
END_TEST

START_TEST(migration_is_resumed_and_seen)
{
	struct op op = { .id = 79, .kind = OP_READ, .domain = FIXTURE_DOMAIN, .jobs = FIXTURE_UUID };

	copy_str(op.uuid, UID_SIZE, FIXTURE_UUID);
	ck_assert_int_eq(fixture_start_as(f, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_SUSPEND, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_op(f, OP_MIGRATE_RESUME, VMI_A), ERR_OK);
	ck_assert_int_eq(fixture_do(f, &op), ERR_OK);
	ck_assert_int_eq(f->result.domains[0].state, DOMAIN_RUNNING);
	ck_assert(!f->result.domains[0].migrating);
}
END_TEST

Suite *test_virt_migrate_suite(void)
{
	Suite *suite = suite_create("virt migrate");
	TCase *tc = tcase_create("test driver");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, migration_is_prepared);
	tcase_add_test(tc, migration_of_one_that_is_not_ours);
	tcase_add_test(tc, migration_that_fails);
	tcase_add_test(tc, migration_is_resumed_and_seen);
	suite_add_tcase(suite, tc);
	return suite;
}
