/* SPDX-License-Identifier: Apache-2.0 */
/* Patches through the socket, and dry runs that show what a change would make. */
#include <check.h>
#include <string.h>

#include "test/lib/api_fixture.h"

Suite *test_api_patch_suite(void);

#define VMS  "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"
#define VMIS "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances"

static struct api_fixture f;

static void set_up(void)
{
	api_fixture_start(&f);
	api_expect(&f, "POST " VMS, api_vm("web", "Manual"), 201, NULL);
}

static void tear_down(void)
{
	api_fixture_stop(&f);
}

static void patch(const char *line, const char *type, const char *body, int status,
	const char *text)
{
	autofree char *headers = xasprintf("Content-Type: application/%s\r\n", type);
	struct client_request request = { .line = line, .headers = headers, .body = body };
	autofree char *answer = NULL;

	ck_assert_int_eq(client_request(&f.loop, f.path, &request, NULL, &answer), status);
	ck_assert_msg(strstr(answer, text) != NULL, "'%s' is not in '%s'", text, answer);
}

#define MERGE "merge-patch+json"
#define JSON  "json-patch+json"
#define WEB   "PATCH " VMS "/web"

START_TEST(test_merge)
{
	patch(WEB, MERGE, "{\"metadata\":{\"labels\":{\"tier\":\"front\"}}}", 200,
		"\"tier\":\"front\"}");
	api_expect(&f, "GET " VMS "/web", NULL, 200, "\"generation\":1,");
	patch(WEB, MERGE, "{\"spec\":{\"runStrategy\":\"Halted\"}}", 200,
		"\"runStrategy\":\"Halted\"");
	api_expect(&f, "GET " VMS "/web", NULL, 200, "\"generation\":2,");
	patch(WEB, MERGE "; charset=utf-8", "{\"metadata\":{\"labels\":{\"tier\":null}}}", 200,
		"\"generation\":2,");
	api_expect(&f, "GET " VMS "?labelSelector=tier", NULL, 200, "\"items\":[]");
}
END_TEST

START_TEST(test_json)
{
	patch(WEB, JSON,
		"[{\"op\":\"test\",\"path\":\"/spec/runStrategy\",\"value\":\"Manual\"},"
		"{\"op\":\"replace\",\"path\":\"/spec/runStrategy\",\"value\":\"Always\"}]",
		200, "\"runStrategy\":\"Always\"");
	patch(WEB, JSON, "[{\"op\":\"test\",\"path\":\"/spec/runStrategy\",\"value\":\"Manual\"}]",
		422, "the test of '/spec/runStrategy' failed");
	api_expect(&f, "GET " VMIS "/web", NULL, 200, "\"kind\":\"VirtualMachineInstance\"");
}
END_TEST

static const struct {
	const char *type, *body;
	int status;
	const char *text;
} refusals[] = {
	{ "strategic-merge-patch+json", "{}", 415, "accepted media types include" },
	{ "strategic-merge-patch+json", "{}", 415, "use 'kubectl patch --type merge'" },
	{ "apply-patch+yaml", "{}", 415, "accepted media types include" },
	{ "apply-patch+yaml", "{}", 415, "use 'kubectl apply' without --server-side" },
	{ "apply-patch+yaml; charset=utf-8", "{}", 415, "server-side apply is not served" },
	{ MERGE, "", 400, "empty" },
	{ MERGE, "[]", 400, "a merge patch is an object" },
	{ MERGE, "{\"a\":", 400, "not YAML" },
	{ MERGE, "{\"metadata\":{\"name\":\"db\"}}", 422, "metadata.name cannot be changed" },
	{ MERGE, "{\"metadata\":{\"uid\":\"x\"}}", 422, "metadata.uid cannot be changed" },
	{ MERGE, "{\"kind\":\"Pod\"}", 422, "kind cannot be changed" },
	{ MERGE, "{\"metadata\":{\"resourceVersion\":\"999\"}}", 409, "modified meanwhile" },
	{ MERGE, "{\"spec\":{\"template\":{\"spec\":{\"domain\":{\"cpu\":{\"cores\":-1}}}}}}", 422,
		"spec.template.spec.domain.cpu.cores" },
	{ MERGE, "{\"spec\":{\"nonsense\":1}}", 422, "nonsense" },
	{ JSON, "[{\"op\":\"remove\",\"path\":\"/spec/nothing\"}]", 422, "nothing at" },
};

START_TEST(test_refusals)
{
	autofree char *before = NULL, *after = NULL;

	api_ask(&f, "GET " VMS "/web", NULL, &before);
	patch(WEB, refusals[_i].type, refusals[_i].body, refusals[_i].status, refusals[_i].text);
	api_ask(&f, "GET " VMS "/web", NULL, &after);
	ck_assert_str_eq(before, after);
	patch("PATCH " VMS "/nobody", MERGE, "{}", 404, "not found");
}
END_TEST

START_TEST(test_a_run_keeps_its_spec)
{
	patch(WEB, MERGE, "{\"spec\":{\"runStrategy\":\"Always\"}}", 200, "Always");
	patch("PATCH " VMIS "/web", MERGE, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}", 200,
		"\"a\":\"b\",\"kubevirt.io/nodeName\":\"node\"");
	patch("PATCH " VMIS "/web", MERGE,
		"{\"metadata\":{\"labels\":{\"kubevirt.io/nodeName\":\"else\"}}}", 422,
		"set by the agent only");
	patch("PATCH " VMIS "/web", JSON,
		"[{\"op\":\"test\",\"path\":\"/metadata/labels/kubevirt.io~1nodeName\",\"value\":\"node\"},"
		"{\"op\":\"remove\",\"path\":\"/metadata/labels/a\"}]",
		200, "\"labels\":{\"kubevirt.io/nodeName\":\"node\"}");
	patch("PATCH " VMIS "/web", MERGE, "{\"spec\":{\"terminationGracePeriodSeconds\":1}}", 422,
		"cannot be changed");
}
END_TEST

/* Both arrive before the turn that handles the first: neither undoes the other. */
START_TEST(test_two_at_once)
{
	struct client a, b;

	f.frozen = true;
	client_open(&a, &f.loop, f.path);
	client_open(&b, &f.loop, f.path);
	client_printf(&a,
		"PATCH " VMS "/web HTTP/1.1\r\nHost: x\r\nContent-Type: application/" MERGE
		"\r\nContent-Length: 38\r\n\r\n{\"metadata\":{\"labels\":{\"one\":\"yes\"}}}  ");
	client_printf(&b,
		"PATCH " VMS "/web HTTP/1.1\r\nHost: x\r\nContent-Type: application/" MERGE
		"\r\nContent-Length: 38\r\n\r\n{\"metadata\":{\"labels\":{\"two\":\"yes\"}}}  ");
	for (int i = 0; i < 20; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	f.frozen = false;
	ck_assert(client_sees(&a, "200 OK"));
	ck_assert(client_sees(&b, "200 OK"));
	api_expect(&f, "GET " VMS "?labelSelector=one=yes,two=yes", NULL, 200, "\"name\":\"web\"");
	client_close(&a);
	client_close(&b);
}
END_TEST

/* Of two that know the same version, the one that comes second has not seen the first's change. */
START_TEST(test_two_replacements_at_once)
{
	autofree char *vm = NULL, *put = NULL;
	struct client a, b;

	api_ask(&f, "GET " VMS "/web", NULL, &vm);
	put = xasprintf("PUT " VMS "/web HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
			"Content-Length: %zu\r\n\r\n%s",
		strlen(vm), vm);
	f.frozen = true;
	client_open(&a, &f.loop, f.path);
	client_open(&b, &f.loop, f.path);
	client_printf(&a, "%s", put);
	client_printf(&b, "%s", put);
	for (int i = 0; i < 20; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	f.frozen = false;
	ck_assert(client_sees(&a, "HTTP/1.1 "));
	ck_assert(client_sees(&b, "HTTP/1.1 "));
	ck_assert_int_ne(strstr(a.in.data, "200 OK") != NULL, strstr(b.in.data, "200 OK") != NULL);
	ck_assert_int_ne(strstr(a.in.data, "409 Conflict") != NULL,
		strstr(b.in.data, "409 Conflict") != NULL);
	client_close(&a);
	client_close(&b);
}
END_TEST

/* Each patch is small enough, and what they make together would not be: it must be
 * readable after a restart. */
START_TEST(test_an_object_that_grows)
{
	for (int part = 0; part < 2; part++) {
		struct buf labels = { 0 };

		for (int i = 0; i < 600; i++)
			buf_printf(&labels, "%s\"l%d-%d\":\"\"", i ? "," : "", part, i);
		autofree char *body = xasprintf("{\"metadata\":{\"labels\":{%s}}}", labels.data);

		patch(WEB, MERGE, body, part ? 422 : 200,
			part ? "at most 1024 are possible in one map" : "\"l0-599\":");
		buf_done(&labels);
	}
}
END_TEST

START_TEST(test_a_name_is_made)
{
	static const char vm[] = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\n"
				 "metadata: { generateName: db- }\n"
				 "spec: { runStrategy: Halted, template: { spec: { domain: {"
				 " memory: { guest: 64Mi }, devices: {} } } } }\n";

	api_expect(&f, "POST " VMS, vm, 201, "\"name\":\"db-");
	api_expect(&f, "POST " VMS, vm, 201, "\"name\":\"db-");
	api_expect(&f, "PUT " VMS "/x", vm, 422, "generateName");
}
END_TEST

START_TEST(test_a_dry_run_shows_what_would_be)
{
	autofree char *before = NULL, *after = NULL;

	api_ask(&f, "GET " VMS "/web", NULL, &before);
	patch(WEB "?dryRun=All", MERGE, "{\"spec\":{\"runStrategy\":\"Always\"}}", 200,
		"\"generation\":2,");
	patch(WEB "?dryRun=All", MERGE, "{\"spec\":{\"runStrategy\":\"Always\"}}", 200,
		"\"printableStatus\":");
	patch("PUT " VMS "/web?dryRun=All", "yaml", api_vm("web", "Halted"), 200,
		"\"runStrategy\":\"Halted\"");
	api_ask(&f, "GET " VMS "/web", NULL, &after);
	ck_assert_str_eq(before, after);
}
END_TEST

Suite *test_api_patch_suite(void)
{
	Suite *suite = suite_create("api_patch");
	TCase *tcase = tcase_create("PATCH");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_merge);
	tcase_add_test(tcase, test_json);
	tcase_add_loop_test(tcase, test_refusals, 0, (int)ARRAY_SIZE(refusals));
	tcase_add_test(tcase, test_a_run_keeps_its_spec);
	tcase_add_test(tcase, test_two_at_once);
	tcase_add_test(tcase, test_two_replacements_at_once);
	tcase_add_test(tcase, test_an_object_that_grows);
	tcase_add_test(tcase, test_a_name_is_made);
	tcase_add_test(tcase, test_a_dry_run_shows_what_would_be);
	suite_add_tcase(suite, tcase);
	return suite;
}
