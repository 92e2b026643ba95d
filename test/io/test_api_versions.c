/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resource versions: what a list or a watch may say of them, which lists can be served, and that a
 * watch begun at any version tells exactly what one that was there all the time has told since.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "test/lib/api_fixture.h"

Suite *test_api_versions_suite(void);

#define NS  "/apis/kubevirt.io/v1/namespaces/default"
#define VMS NS "/virtualmachines"

static struct api_fixture f;

static void set_up(void)
{
	api_fixture_start(&f);
}

static void tear_down(void)
{
	api_fixture_stop(&f);
}

static void create_vm(const char *name, const char *strategy)
{
	api_expect(&f, "POST " VMS, api_vm(name, strategy), 201, NULL);
}

static long long list_rv(const char *path)
{
	autofree char *body = NULL, *line = xasprintf("GET %s", path);
	long long rv;

	api_ask(&f, line, NULL, &body);
	ck_assert_int_eq(sscanf(strstr(body, "\"resourceVersion\":\"") + 19, "%lld", &rv), 1);
	return rv;
}

/* ---- rules ----------------------------------------------------------------------------------- */

#define FORBIDDEN "\"reason\":\"FieldValueForbidden\",\"message\":\"Forbidden: "

static const struct {
	const char *query;
	int status;
	const char *text;
} rules[] = {
	{ "", 200, "\"items\":[" },
	{ "?resourceVersion=0", 200, "\"items\":[" },
	{ "?resourceVersion=1", 200, "\"items\":[" },
	{ "?resourceVersion=1&resourceVersionMatch=NotOlderThan", 200, "\"items\":[" },
	{ "?limit=1", 200, "\"name\":\"b\"" },
	{ "?limit=x", 400, "parameter limit: 'x' is not a number" },
	{ "?limit=1&continue=abc", 400, "continue key is not valid" },
	{ "?resourceVersion=x", 400, "BadRequest" },
	{ "?resourceVersion=-1", 400, "must not be negative" },
	{ "?resourceVersionMatch=Exact", 422,
		FORBIDDEN "resourceVersionMatch is forbidden unless resourceVersion is provided\","
			  "\"field\":\"resourceVersionMatch\"}]" },
	{ "?resourceVersionMatch=NotOlderThan", 422,
		"\"details\":{\"group\":\"meta.k8s.io\",\"kind\":\"ListOptions\",\"causes\":[" },
	{ "?resourceVersion=0&resourceVersionMatch=Exact", 422,
		FORBIDDEN "resourceVersionMatch \\\"exact\\\" is forbidden for resourceVersion" },
	{ "?resourceVersion=1&resourceVersionMatch=Newest", 422, "FieldValueNotSupported" },
	{ "?resourceVersion=1&resourceVersionMatch=Exact&continue=abc", 422,
		FORBIDDEN "resourceVersionMatch is forbidden when continue is provided" },
	{ "?sendInitialEvents=true", 422, FORBIDDEN "sendInitialEvents is forbidden for list" },
	{ "?watch=1&sendInitialEvents=true", 422,
		FORBIDDEN "sendInitialEvents requires setting resourceVersionMatch to" },
	{ "?watch=1&sendInitialEvents=false", 422,
		FORBIDDEN "sendInitialEvents requires setting resourceVersionMatch to" },
	{ "?watch=1&sendInitialEvents=true&resourceVersion=1&resourceVersionMatch=Exact", 422,
		FORBIDDEN "sendInitialEvents requires setting resourceVersionMatch to" },
	{ "?watch=1&resourceVersion=1&resourceVersionMatch=NotOlderThan", 422,
		FORBIDDEN "resourceVersionMatch is forbidden for watch unless" },
	{ "?resourceVersion=99999999", 504,
		"\"reason\":\"Timeout\",\"details\":{\"causes\":[{\"reason\":"
		"\"ResourceVersionTooLarge\",\"message\":\"Too large resource version\"}],"
		"\"retryAfterSeconds\":1},\"code\":504}" },
	{ "/a?resourceVersion=99999999", 504, "Timeout: Too large resource version: 99999999, " },
	{ "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
	  "&resourceVersion=99999999",
		504, "ResourceVersionTooLarge" },
};

START_TEST(test_what_goes_together)
{
	autofree char *line = xasprintf("GET " VMS "%s", rules[_i].query);

	create_vm("a", "Halted");
	create_vm("b", "Halted");
	api_expect(&f, line, NULL, rules[_i].status, rules[_i].text);
}
END_TEST

/* A version is served exactly for as long as nothing of its kind has changed since. */
START_TEST(test_exactly_that_version)
{
	autofree char *line = NULL, *want = NULL;
	long long rv;

	create_vm("a", "Halted");
	rv = list_rv(VMS);
	line = xasprintf("GET " VMS "?resourceVersionMatch=Exact&resourceVersion=%lld", rv);
	want = xasprintf("\"metadata\":{\"resourceVersion\":\"%lld\"}", rv);
	api_expect(&f, line, NULL, 200, want);
	api_expect(&f, "POST /apis/kubevirt.io/v1/namespaces/other/virtualmachines",
		api_vm("b", "Halted"), 201, NULL);
	ck_assert_int_gt(list_rv(VMS), rv);
	api_expect(&f, line, NULL, 200, want); /* not in this namespace */
	create_vm("c", "Halted");
	api_expect(&f, line, NULL, 410, "\"reason\":\"Expired\"");
}
END_TEST

/* ---- resuming -------------------------------------------------------------------------------- */

static void open_watch(struct client *c, const char *query)
{
	client_open(c, &f.loop, f.path);
	client_printf(c, "GET " VMS "?watch=1%s HTTP/1.0\r\n\r\n", query); /* no chunks */
	ck_assert(client_sees(c, "\r\n\r\n"));
	client_drop(c, "\r\n\r\n");
}

static unsigned random_next(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % n;
}

/* One change: a machine comes, goes, or has another label. */
static void change(unsigned *seed)
{
	unsigned n = random_next(seed, 12);
	autofree char *name = xasprintf("vm%u", n), *at = xasprintf(VMS "/%s", name);
	autofree char *get = xasprintf("GET %s", at), *put = xasprintf("PUT %s", at);
	autofree char *del = xasprintf("DELETE %s", at);
	autofree char *vm = xstrdup(api_vm(name, n % 4 ? "Halted" : "Always"));
	char *label = strstr(vm, "app: vm");

	if (api_ask(&f, get, NULL, NULL) == 404)
		api_expect(&f, "POST " VMS, vm, 201, NULL);
	else if (random_next(seed, 3) == 0)
		api_ask(&f, del, NULL, NULL);
	else {
		memcpy(label, random_next(seed, 2) ? "app: x #" : "app: z #", strlen("app: x #"));
		api_expect(&f, put, vm, 200, NULL);
	}
}

static long long rv_of(const char *line)
{
	const char *at = strstr(line, "\"resourceVersion\":\"");
	long long rv;

	ck_assert(at && sscanf(at + 19, "%lld", &rv) == 1);
	return rv;
}

/* What of that text has come since rv: the versions only grow. */
static const char *since(const char *text, long long rv)
{
	long long last = 0;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		long long now = rv_of(line);

		ck_assert_msg(now > last, "%lld after %lld", now, last);
		last = now;
		if (now > rv)
			return line;
	}
	return text + strlen(text);
}

/* told is what has come up to `to`; the agent may go on meanwhile. */
static void compare(const char *told, const char *query, long long rv, long long to)
{
	autofree char *at = xasprintf("&resourceVersion=%lld%s", rv, query);
	const char *want = since(told, rv);
	size_t len = strlen(want);
	struct client c;

	open_watch(&c, at);
	ck_assert(client_gets(&c, len));
	for (int i = 0; i < 4; i++)
		uv_run(&f.loop, UV_RUN_NOWAIT);
	client_gets(&c, 0);
	ck_assert_msg(len == 0 || memcmp(c.in.data, want, len) == 0, "from %lld%s", rv, query);
	ck_assert_msg(c.in.len == len || rv_of(c.in.data + len) > to, "from %lld%s: %.300s", rv,
		query, c.in.data + len);
	client_close(&c);
}

/* Takes in all that there is, whatever the socket holds at a time. */
static void drain(struct client *c)
{
	size_t before;

	do {
		before = c->in.len;
		for (int i = 0; i < 20; i++)
			uv_run(&f.loop, UV_RUN_NOWAIT);
		client_gets(c, 0);
	} while (c->in.len > before);
}

static const char *const queries[] = { "", "&labelSelector=app%3Dx", "&labelSelector=app%21%3Dx",
	"&fieldSelector=metadata.name%3Dvm3" };

/* Also at versions of other kinds, and at those that the watch has left out. */
START_TEST(test_resumed_at_any_version)
{
	struct client all[ARRAY_SIZE(queries)];
	unsigned seed = 7;
	long long from, to;

	create_vm("first", "Halted");
	from = list_rv(VMS);
	for (size_t i = 0; i < ARRAY_SIZE(queries); i++)
		open_watch(&all[i], queries[i]);
	for (int i = 0; i < 300; i++)
		change(&seed);
	to = list_rv(VMS);
	ck_assert_int_gt(to - from, 300);
	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		drain(&all[i]);
		ck_assert(all[i].in.len && strstr(all[i].in.data, "{\"type\":\"MODIFIED\""));
		*(char *)since(all[i].in.data, to) = '\0';
		for (long long rv = from; rv <= to; rv += 1 + random_next(&seed, 12))
			compare(all[i].in.data, queries[i], rv, to);
		client_close(&all[i]);
	}
}
END_TEST

/* ---- selections that objects enter and leave ------------------------------------------------- */

/* The phase of a Pod changes in its life, so its end is one for a watch of those that run. */
START_TEST(test_a_field_that_changes)
{
	struct client c, twice;

	client_open(&c, &f.loop, f.path);
	client_printf(&c,
		"GET /api/v1/pods?watch=1&fieldSelector=status.phase%%3DRunning HTTP/1.0\r\n\r\n");
	ck_assert(client_sees(&c, "\r\n\r\n"));
	create_vm("a", "Always");
	ck_assert(client_sees(&c, "{\"type\":\"ADDED\""));
	ck_assert_ptr_null(strstr(c.in.data, "\"phase\":\"Pending\""));
	api_expect(&f, "DELETE " NS "/virtualmachineinstances/a", NULL, 200, NULL);
	ck_assert(client_sees(&c, "{\"type\":\"DELETED\""));
	ck_assert(client_sees(&c, "\n{\"type\":\"ADDED\"")); /* the next run */
	client_open(&twice, &f.loop, f.path);
	client_printf(&twice,
		"GET /api/v1/pods?watch=1&fieldSelector=status.phase%%3DRunning&resourceVersion=%lld"
		" HTTP/1.0\r\n\r\n",
		rv_of(strstr(c.in.data, "{\"type\":\"ADDED\"")));
	ck_assert(client_sees(&twice, "\n{\"type\":\"ADDED\""));
	ck_assert_ptr_nonnull(strstr(twice.in.data, "{\"type\":\"DELETED\""));
	client_close(&c);
	client_close(&twice);
}
END_TEST

Suite *test_api_versions_suite(void)
{
	Suite *suite = suite_create("api_versions");
	TCase *tcase = tcase_create("resource versions");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_loop_test(tcase, test_what_goes_together, 0, (int)ARRAY_SIZE(rules));
	tcase_add_test(tcase, test_exactly_that_version);
	tcase_add_test(tcase, test_resumed_at_any_version);
	tcase_add_test(tcase, test_a_field_that_changes);
	suite_add_tcase(suite, tcase);
	return suite;
}
