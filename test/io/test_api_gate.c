/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The read-only socket: what may be looked at there, and that nothing is changed, reached or told
 * that is secret; and who did what, which is recorded for every order on the other one.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/lib/api_fixture.h"

#define NS  "/apis/kubevirt.io/v1/namespaces/default"
#define VMS NS "/virtualmachines"
#define SUB "/apis/subresources.kubevirt.io/v1/namespaces/default"

static void expect_read_only(struct api_fixture *f, const char *line, const char *body, int status,
	const char *text)
{
	autofree char *answered = NULL;
	int got = client_ask(&f->loop, f->ro_path, line, body, &answered);

	ck_assert_msg(got == status && (!text || strstr(answered, text)),
		"%s: %d and '%s' expected, got %d and '%s'", line, status, text ? text : "", got,
		answered);
}

START_TEST(may_look)
{
	static const char *const paths[] = { "/livez", "/healthz", "/version", "/metrics", "/api",
		"/apis", "/api/v1", "/apis/kubevirt.io", "/apis/kubevirt.io/v1",
		"/apis/subresources.kubevirt.io", "/apis/subresources.kubevirt.io/v1",
		"/openapi/v2", "/openapi/v3", VMS, VMS "/a", "/api/v1/events", "/api/v1/nodes/node",
		"/apis/vmagent.io/v1/domains", "/apis/vmagent.io/v1/hostshutdown" };
	struct api_fixture f;

	api_fixture_start(&f);
	api_expect(&f, "POST " VMS, api_vm("a", "Halted"), 201, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		autofree char *line = xasprintf("GET %s", paths[i]);

		expect_read_only(&f, line, NULL, 200, NULL);
	}
	expect_read_only(&f, "GET " VMS "/b", NULL, 404, "\"reason\":\"NotFound\"");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(may_watch)
{
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	client_open(&c, &f.loop, f.ro_path);
	client_printf(&c, "GET " VMS "?watch=1 HTTP/1.0\r\n\r\n");
	ck_assert(client_sees(&c, "200 OK"));
	api_expect(&f, "POST " VMS, api_vm("a", "Halted"), 201, NULL);
	ck_assert(client_sees(&c, "\"type\":\"ADDED\""));
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

static const struct {
	const char *line, *what;
} forbidden[] = {
	{ "POST " VMS, "not for POST" },
	{ "POST " VMS "?dryRun=All", "not for POST" },
	{ "PUT " VMS "/a", "not for PUT" },
	{ "PATCH " VMS "/a", "not for PATCH" },
	{ "DELETE " VMS "/a", "not for DELETE" },
	{ "PUT " SUB "/virtualmachines/a/start", "not for PUT" },
	{ "POST /apis/vmagent.io/v1/domains/a/adopt", "not for POST" },
	{ "POST /apis/vmagent.io/v1/hostshutdown", "not for POST" },
	{ "DELETE /apis/vmagent.io/v1/hostshutdown", "not for DELETE" },
	{ "GET " SUB "/virtualmachineinstances/a/console", "reaches into a guest" },
	{ "GET " SUB "/virtualmachineinstances/a/vnc", "reaches into a guest" },
	{ "GET " SUB "/virtualmachines/a/expand-spec", "reaches into a guest" },
	{ "GET /api/v1/secrets", "not for a secret" },
	{ "GET /api/v1/secrets?watch=1", "not for a secret" },
	{ "GET /api/v1/namespaces/default/secrets", "not for a secret" },
	{ "GET /api/v1/namespaces/default/secret%73/a", "not for a secret" },
	{ "GET /api/v1/watch/secrets", "not for a secret" },
	{ "GET /api/v1/watch/namespaces/default/secrets/a", "not for a secret" },
};

START_TEST(may_do_nothing_else)
{
	struct api_fixture f;

	api_fixture_start(&f);
	api_expect(&f, "POST " VMS, api_vm("a", "Halted"), 201, NULL);
	expect_read_only(&f, forbidden[_i].line, api_vm("a", "Always"), 403, forbidden[_i].what);
	expect_read_only(&f, forbidden[_i].line, "", 403, "\"reason\":\"Forbidden\"");
	expect_read_only(&f, forbidden[_i].line, "", 403, f.path); /* says where it may be done */
	expect_read_only(&f, "GET " VMS "/a", NULL, 200, "\"runStrategy\":\"Halted\"");
	api_fixture_stop(&f);
}
END_TEST

START_TEST(upgrades_nowhere)
{
	struct client_request request = { .line = "GET /version",
		.headers = "Connection: Upgrade\r\nUpgrade: websocket\r\n" };
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	client_open(&c, &f.loop, f.ro_path);
	client_printf(&c, "%s HTTP/1.1\r\nHost: x\r\n%s\r\n", request.line, request.headers);
	ck_assert(client_sees(&c, "HTTP/1.1 403"));
	ck_assert(client_sees(&c, "not for an upgrade"));
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

Suite *test_api_gate_suite(void);

Suite *test_api_gate_suite(void)
{
	Suite *suite = suite_create("api_gate");
	TCase *tc = tcase_create("read-only");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, may_look);
	tcase_add_test(tc, may_watch);
	tcase_add_loop_test(tc, may_do_nothing_else, 0, ARRAY_SIZE(forbidden));
	tcase_add_test(tc, upgrades_nowhere);
	suite_add_tcase(suite, tc);
	return suite;
}
