/* SPDX-License-Identifier: Apache-2.0 */
/* All objects of a collection deleted by one request. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "test/lib/api_fixture.h"

Suite *test_api_collection_suite(void);

#define KV   "/apis/kubevirt.io/v1"
#define VMS  KV "/namespaces/default/virtualmachines"
#define MANY 40 /* more than the agent is given at a time */

static struct api_fixture f;

/* Machines m0 to m39; each label app is their name. */
static void set_up(void)
{
	api_fixture_start(&f);
	for (int i = 0; i < MANY; i++) {
		char name[8];

		snprintf(name, sizeof(name), "m%d", i);
		api_expect(&f, "POST " VMS, api_vm(name, "Halted"), 201, NULL);
	}
}

static void tear_down(void)
{
	api_fixture_stop(&f);
}

START_TEST(test_all_of_them)
{
	api_expect(&f, "DELETE " VMS, NULL, 200, "\"message\":\"40 virtualmachines deleted\"");
	api_expect(&f, "GET " VMS, NULL, 200, "\"items\":[]");
	api_expect(&f, "DELETE " VMS, NULL, 200, "\"message\":\"0 virtualmachines deleted\"");
}
END_TEST

START_TEST(test_those_that_are_selected)
{
	api_expect(&f, "DELETE " VMS "?labelSelector=app%20in%20(m1,m2,m3)", NULL, 200,
		"\"status\":\"Success\"");
	api_expect(&f, "DELETE " VMS "?fieldSelector=metadata.name=m4", NULL, 200, "\"1 virtual");
	api_expect(&f, "GET " VMS "/m3", NULL, 404, NULL);
	api_expect(&f, "GET " VMS "/m4", NULL, 404, NULL);
	api_expect(&f, "GET " VMS "/m5", NULL, 200, NULL);
	api_expect(&f, "DELETE " KV "/namespaces/other/virtualmachines", NULL, 200, "\"0 virtual");
	api_expect(&f, "GET " VMS "/m39", NULL, 200, NULL);
}
END_TEST

START_TEST(test_what_it_is_told)
{
	api_expect(&f, "DELETE " VMS "?dryRun=All", NULL, 200, "\"40 virtual");
	api_expect(&f, "DELETE " VMS, "{dryRun: [All]}", 200, "\"40 virtual");
	api_expect(&f, "DELETE " VMS "?labelSelector=a%20b", NULL, 400, "selector");
	api_expect(&f, "DELETE " VMS, "{preconditions: {uid: x}}", 400, "name one object");
	api_expect(&f, "DELETE " VMS, "{gracePeriodSeconds: -1}", 400, "gracePeriodSeconds");
	api_expect(&f, "DELETE " KV "/virtualmachines", NULL, 405, "does not allow");
	api_expect(&f, "DELETE /api/v1/nodes", NULL, 405, "does not allow");
	api_expect(&f, "DELETE /api/v1/namespaces", NULL, 405, "does not allow");
	api_expect(&f, "GET " VMS "/m0", NULL, 200, NULL);
	api_expect(&f, "GET " KV, NULL, 200, "\"delete\",\"deletecollection\",\"get\"");
}
END_TEST

/* Each object's last state is in the log, once. */
START_TEST(test_a_watch_sees_each)
{
	struct client c;

	client_open(&c, &f.loop, f.path);
	client_printf(&c, "GET " VMS "?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(client_sees(&c, "\"name\":\"m39\""));
	api_expect(&f, "DELETE " VMS, NULL, 200, NULL);
	for (int i = 0; i < MANY; i++) {
		ck_assert(client_sees(&c, "{\"type\":\"DELETED\""));
		client_drop(&c, "{\"type\":\"DELETED\"");
	}
	client_close(&c);
}
END_TEST

/* The agent answers when the API is gone, and nothing more is asked of it. */
START_TEST(test_the_api_ends_meanwhile)
{
	struct client c;

	client_open(&c, &f.loop, f.path);
	f.frozen = true;
	client_printf(&c, "DELETE " VMS " HTTP/1.1\r\nHost: x\r\n\r\n");
	client_printf(&c, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
	for (int i = 0; i < 20; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	ck_assert_uint_eq(c.in.len, 0);
	client_close(&c);
}
END_TEST

Suite *test_api_collection_suite(void)
{
	Suite *suite = suite_create("api_collection");
	TCase *tcase = tcase_create("deletecollection");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_all_of_them);
	tcase_add_test(tcase, test_those_that_are_selected);
	tcase_add_test(tcase, test_what_it_is_told);
	tcase_add_test(tcase, test_a_watch_sees_each);
	tcase_add_test(tcase, test_the_api_ends_meanwhile);
	suite_add_tcase(suite, tcase);
	return suite;
}
