/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Databases of every schema version, from the first on, lie in test/fixtures/db with data in them
 * (test/fixtures/make): five machines, one deleted by command while its file was still there, three
 * running. Each is taken over as it is: same UIDs, same phases, nothing left alone. A schema
 * version without its database is an error.
 */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/agent.h"

Suite *test_fixtures_suite(void);

static char folder[64], path[128];
static unsigned complaints;

/* schema/001_init.sql -> test/fixtures/db/001.db; owned */
static char *fixture_of(const char *schema)
{
	autofree char *version = xstrndup(schema + strlen("schema/"), 3);

	return xasprintf("test/fixtures/db/%s.db", version);
}

static void copy_fixture(const char *from)
{
	autofree char *command = NULL;

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

static int gather_running(void *ctx, const struct object_row *row)
{
	if (strstr(row->object, "\"phase\":\"Running\""))
		buf_printf(ctx, "%s ", row->name);
	return 0;
}

static char *all(struct store *store, enum object_kind kind, object_cb *each)
{
	struct object_query query = { .kind = kind };
	struct buf b = { 0 };

	ck_assert_int_eq(store_each(store, &query, each, &b, NULL), 0);
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

static void take_over(const char *fixture)
{
	struct store *store = NULL;
	struct err err;

	copy_fixture(fixture);
	complaints = 0;
	log_to(complain, NULL);
	ck_assert_msg(store_open(path, &store, &err) == 0, "%s: %s", fixture, err.msg);
	autofree char *vms = all(store, KIND_VM, gather), *vmis = all(store, KIND_VMI, gather);
	autofree char *running = all(store, KIND_VMI, gather_running);

	live(store);
	autofree char *vms_after = all(store, KIND_VM, gather);
	autofree char *vmis_after = all(store, KIND_VMI, gather);

	ck_assert_str_eq(vms_after, vms);
	ck_assert_str_eq(vmis_after, vmis);
	ck_assert_str_eq(running, "manual once rerunonfailure ");
	ck_assert_uint_eq(complaints, 0);
	log_to(NULL, NULL);
	store_close(store);
	remove_copy();
}

START_TEST(test_taken_over)
{
	glob_t schemas;

	ck_assert_int_eq(glob("schema/[0-9]*.sql", 0, NULL, &schemas), 0);
	for (size_t i = 0; i < schemas.gl_pathc; i++) {
		autofree char *fixture = fixture_of(schemas.gl_pathv[i]);

		ck_assert_msg(access(fixture, R_OK) == 0,
			"%s has no database %s: make one with test/fixtures/make",
			schemas.gl_pathv[i], fixture);
		take_over(fixture);
	}
	globfree(&schemas);
}
END_TEST

Suite *test_fixtures_suite(void)
{
	Suite *suite = suite_create("fixtures");
	TCase *tcase = tcase_create("databases of every schema version");

	tcase_add_test(tcase, test_taken_over);
	suite_add_tcase(suite, tcase);
	return suite;
}
