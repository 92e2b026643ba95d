/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Databases of every schema version, from the first on, lie in test/fixtures/db with data in them: five
 * machines, one deleted by command while its file was still there, three running. Each is taken over
 * as it is: same UIDs, same phases, nothing left alone.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/agent.h"

Suite *test_fixtures_suite(void);

static const char *const versions[] = { "001" };

static char folder[64], path[128];
static unsigned complaints;

static void copy_fixture(const char *version)
{
	autofree char *from = xasprintf("test/fixtures/db/%s.db", version), *command = NULL;

	strcpy(folder, "/tmp/vmagent-fixture.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/vmagent.db", folder);
	command = xasprintf("cp '%s' '%s'", from, path);
	ck_assert_int_eq(system(command), 0);
}

static void remove_copy(void)
{
	autofree char *command = xasprintf("rm -rf '%s'", folder);

	ck_assert_int_eq(system(command), 0);
}

static void complain(void *ctx, const struct log_line *line)
{
	(void)ctx;
	complaints += line->level <= LOG_LEVEL_WARNING;
}

static int gather(void *ctx, const struct object_row *row)
{
	buf_printf(ctx, "%s %s %s\n", row->name, row->uid,
		strstr(row->object, "\"phase\":\"Running\"") ? "Running" : "-");
	return 0;
}

static char *all(struct store *store, enum object_kind kind)
{
	struct object_query query = { .kind = kind };
	struct buf b = { 0 };

	ck_assert_int_eq(store_each(store, &query, gather, &b, NULL), 0);
	return b.data;
}

static void nothing(struct hypervisor *hv)
{
	(void)hv;
}

static void drop(struct hypervisor *hv, const struct op *op)
{
	(void)hv;
	(void)op;
}

static void no_entropy(void *ctx, void *bytes, size_t n)
{
	(void)ctx;
	memset(bytes, 7, n);
}

/* A life of the agent without libvirt: it loads, turns until it rests, and goes. */
static void live(struct store *store)
{
	static const struct hypervisor_ops ops = { nothing, drop };
	struct hypervisor hv = { .ops = &ops };
	struct agent_options options = { .store = store,
		.hv = &hv,
		.policy.default_namespace = "default",
		.state_dir = "/s",
		.node_name = "node",
		.boot_id = "another",
		.tuning = TUNING_DEFAULT,
		.entropy = no_entropy };
	struct now now = { 1000, 1000000 };
	struct agent *agent = NULL;
	struct err err;

	ck_assert_int_eq(agent_new(&options, now, &agent, &err), 0);
	while (agent_turn(agent, now))
		;
	agent_free(agent);
}

START_TEST(test_taken_over)
{
	struct store *store = NULL;
	struct err err;

	copy_fixture(versions[_i]);
	complaints = 0;
	log_to(complain, NULL);
	ck_assert_msg(store_open(path, &store, &err) == 0, "%s", err.msg);
	autofree char *vms = all(store, KIND_VM), *vmis = all(store, KIND_VMI);

	live(store);
	autofree char *vms_after = all(store, KIND_VM), *vmis_after = all(store, KIND_VMI);

	ck_assert_str_eq(vms_after, vms);
	ck_assert_str_eq(vmis_after, vmis);
	ck_assert_str_eq(vmis,
		"manual 300339fb-af1a-4be8-bd48-1f03563ff5cf Running\n"
		"once 2f26e04b-a7cb-4a82-8f93-9e47d7fce2f8 Running\n"
		"rerunonfailure f9a3f6a5-b1dc-4c10-b5ca-32ba4e1fa42e Running\n");
	ck_assert_uint_eq(complaints, 0);
	log_to(NULL, NULL);
	store_close(store);
}
END_TEST

Suite *test_fixtures_suite(void)
{
	Suite *suite = suite_create("fixtures");
	TCase *tcase = tcase_create("databases of every schema version");

	tcase_add_checked_fixture(tcase, NULL, remove_copy);
	tcase_add_loop_test(tcase, test_taken_over, 0, (int)ARRAY_SIZE(versions));
	suite_add_tcase(suite, tcase);
	return suite;
}
