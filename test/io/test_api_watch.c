/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches: every change once and in order, what selectors make of a change, resuming, falling out
 * of the window, bookmarks, and clients that leave.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "test/lib/api_fixture.h"

#define NS  "/apis/kubevirt.io/v1/namespaces/default"
#define VMS NS "/virtualmachines"

static void watch(struct client *c, struct api_fixture *f, const char *query)
{
	client_open(c, &f->loop, f->path);
	client_printf(c, "GET " VMS "?watch=true%s HTTP/1.0\r\n\r\n", query); /* no chunks */
	ck_assert(client_sees(c, "\r\n\r\n"));
}

/* The next thing that the watch says is of this type and about this object; forgets it. */
static void expect_next(struct client *c, const char *type, const char *name)
{
	autofree char *start = xasprintf("{\"type\":\"%s\",\"object\":{", type);
	autofree char *named = name ? xasprintf("\"name\":\"%s\"", name) : xstrdup("");
	char *line;

	ck_assert_msg(client_sees(c, "{\"type\":"), "nothing comes, '%s' was expected", type);
	ck_assert(client_sees(c, "}\n"));
	line = strstr(c->in.data, "{\"type\":");
	ck_assert_msg(starts_with(line, start), "%s expected: %.200s", type, line);
	*strstr(line, "}\n") = '|';
	ck_assert_msg(strstr(line, named) && strstr(line, named) < strstr(line, "|\n"),
		"%s expected: %.200s", named, line);
	client_drop(c, "|\n");
}

static void expect_silence(struct client *c)
{
	for (int i = 0; i < 50; i++)
		uv_run(c->loop, UV_RUN_NOWAIT);
	client_gets(c, 0); /* takes in what is there */
	ck_assert_msg(!c->in.len || !strstr(c->in.data, "{\"type\""), "%s", c->in.data);
}

static void create_vm(struct api_fixture *f, const char *name)
{
	api_expect(f, "POST " VMS, api_vm(name, "Halted"), 201, NULL);
}

static void relabel(struct api_fixture *f, const char *name, const char *label)
{
	autofree char *line = xasprintf("PUT " VMS "/%s", name),
		      *text = xstrdup(api_vm(label, "Halted"));
	autofree char *vm =
		xasprintf("kind: VirtualMachine\nmetadata: { name: %s, labels: { app: %s } }\n%s",
			name, label, strstr(text, "spec:"));
	autofree char *whole = xasprintf("apiVersion: kubevirt.io/v1\n%s", vm);

	api_expect(f, line, whole, 200, NULL);
}

static void delete_vm(struct api_fixture *f, const char *name)
{
	autofree char *line = xasprintf("DELETE " VMS "/%s", name);

	api_expect(f, line, NULL, 200, NULL);
}

static long long list_rv(struct api_fixture *f)
{
	autofree char *body = NULL;
	long long rv;

	api_ask(f, "GET " VMS, NULL, &body);
	ck_assert_int_eq(sscanf(strstr(body, "\"resourceVersion\":\"") + 19, "%lld", &rv), 1);
	return rv;
}

START_TEST(begins_with_what_is_there)
{
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	create_vm(&f, "a");
	create_vm(&f, "b");
	relabel(&f, "a", "w");
	create_vm(&f, "gone");
	delete_vm(&f, "gone");
	watch(&c, &f, "");
	expect_next(&c, "ADDED", "a"); /* as they are, not how they came to be so */
	expect_next(&c, "ADDED", "b");
	create_vm(&f, "c");
	expect_next(&c, "ADDED", "c");
	relabel(&f, "b", "x");
	expect_next(&c, "MODIFIED", "b");
	expect_silence(&c);
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(resumes_where_it_was)
{
	struct api_fixture f;
	struct client c;
	autofree char *query = NULL;

	api_fixture_start(&f);
	create_vm(&f, "a");
	query = xasprintf("&resourceVersion=%lld", list_rv(&f));
	create_vm(&f, "b");
	relabel(&f, "a", "x");
	watch(&c, &f, query);
	expect_next(&c, "ADDED", "b");
	expect_next(&c, "MODIFIED", "a");
	expect_silence(&c);
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

/* More changes than one batch, and than a socket holds. */
START_TEST(each_change_once_and_in_order)
{
	struct api_fixture f;
	struct client c;
	autofree char *query = NULL;
	char name[16];

	api_fixture_start(&f);
	query = xasprintf("&resourceVersion=%lld", list_rv(&f));
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "vm-%03d", i);
		create_vm(&f, name);
	}
	watch(&c, &f, query);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "vm-%03d", i);
		expect_next(&c, "ADDED", name);
	}
	expect_silence(&c);
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(objects_come_and_go_by_label)
{
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	create_vm(&f, "a");
	create_vm(&f, "b");
	watch(&c, &f, "&labelSelector=app%3Dx");
	expect_silence(&c);
	relabel(&f, "a", "x");
	expect_next(&c, "ADDED", "a");
	relabel(&f, "b", "w");
	relabel(&f, "a", "z");
	expect_next(&c, "DELETED", "a");
	relabel(&f, "b", "x");
	expect_next(&c, "ADDED", "b");
	delete_vm(&f, "b");
	expect_next(&c, "DELETED", "b");
	delete_vm(&f, "a");
	expect_silence(&c);
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(one_object_by_name)
{
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	create_vm(&f, "a");
	create_vm(&f, "b");
	watch(&c, &f, "&fieldSelector=metadata.name%3Db");
	expect_next(&c, "ADDED", "b");
	relabel(&f, "a", "x");
	expect_silence(&c);
	relabel(&f, "b", "x");
	expect_next(&c, "MODIFIED", "b");
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

/* As Kubernetes says it: not by the answer's status, but by the watch's one event, as which
 * every client knows it. */
START_TEST(what_the_log_has_no_more)
{
	struct api_fixture f;
	struct client c;
	autofree char *other = NULL;

	api_fixture_start(&f);
	create_vm(&f, "a");
	watch(&c, &f, "&resourceVersion=99999999");
	ck_assert(client_sees(&c, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\""));
	ck_assert(client_sees(&c, "\"reason\":\"Expired\",\"code\":410"));
	ck_assert(client_ends(&c));
	client_close(&c);
	ck_assert_int_eq(api_ask(&f, "GET " VMS "?watch=1&resourceVersion=x", NULL, &other), 400);
	api_fixture_stop(&f);
}
END_TEST

/* Twice as many changes of one object as the log keeps; the agent's commits
 * between wake the watches. */
static void flood(struct api_fixture *f, enum object_kind kind)
{
	struct object_row row = { .kind = kind, .ns = "default", .name = "flood", .uid = "u" };
	autofree char *filler = xcalloc(1, 1001), *object = NULL;
	struct err err;

	memset(filler, 'x', 1000);
	object = xasprintf("{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":"
			   "\"flood\"},\"x\":\"%s\"}",
		object_kind_name(kind), filler);
	row.object = object;
	for (int i = 0; i < 2 * CHANGE_WINDOW / 100; i++) {
		ck_assert_int_eq(store_begin(f->store, &err), 0);
		for (int k = 0; k < 100; k++) {
			row.rv = store_next_rv(f->store);
			ck_assert_int_eq(store_put(f->store, &row, &err), 0);
		}
		ck_assert_int_eq(store_commit(f->store, &err), 0);
		api_expect(f, "POST /apis/kubevirt.io/v1/namespaces/other/virtualmachines",
			api_vm("wake", "Halted"), 201, NULL);
		api_expect(f, "DELETE /apis/kubevirt.io/v1/namespaces/other/virtualmachines/wake",
			NULL, 200, NULL);
	}
}

/* The client does not read while the window passes it by: it is told, and let go. */
START_TEST(a_reader_that_lags)
{
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	watch(&c, &f, "");
	flood(&f, KIND_VM);
	ck_assert(client_sees(&c, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\""));
	ck_assert(client_sees(&c, "\"reason\":\"Expired\",\"code\":410"));
	ck_assert(client_ends(&c));
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

/* One that has nothing to tell is not left behind by the changes of others. */
START_TEST(a_quiet_watch_stays)
{
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	watch(&c, &f, "");
	flood(&f, KIND_EVENT);
	create_vm(&f, "a");
	expect_next(&c, "ADDED", "a");
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(bookmarks)
{
	struct api_fixture f;
	struct client c, without;

	api_fixture_start(&f);
	create_vm(&f, "a");
	watch(&without, &f, "");
	expect_next(&without, "ADDED", "a");
	watch(&c, &f, "&allowWatchBookmarks=true");
	expect_next(&c, "ADDED", "a");
	ck_assert(client_sees(&c,
		"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"VirtualMachine\","
		"\"apiVersion\":\"kubevirt.io/v1\",\"metadata\":{"
		"\"resourceVersion\":\""));
	expect_next(&c, "BOOKMARK", NULL);
	expect_next(&c, "BOOKMARK", NULL);
	expect_silence(&without);
	client_close(&c);
	client_close(&without);
	api_fixture_stop(&f);
}
END_TEST

#define INITIAL "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"

START_TEST(says_where_the_initial_events_end)
{
	struct api_fixture f;
	struct client c, without;

	api_fixture_start(&f);
	create_vm(&f, "a");
	create_vm(&f, "b");
	watch(&c, &f, INITIAL "&allowWatchBookmarks=true&resourceVersion=1");
	expect_next(&c, "ADDED", "a");
	expect_next(&c, "ADDED", "b");
	ck_assert(client_sees(&c, "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}"));
	expect_next(&c, "BOOKMARK", NULL);
	watch(&without, &f, INITIAL); /* a client that takes no bookmarks gets none */
	expect_next(&without, "ADDED", "a");
	expect_next(&without, "ADDED", "b");
	create_vm(&f, "c");
	expect_next(&c, "ADDED", "c");
	expect_next(&without, "ADDED", "c");
	client_close(&c);
	client_close(&without);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(without_initial_events)
{
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	create_vm(&f, "a");
	watch(&c, &f, "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
	expect_silence(&c);
	create_vm(&f, "b");
	expect_next(&c, "ADDED", "b");
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

START_TEST(ends_when_asked_to)
{
	struct api_fixture f;
	struct client c;

	api_fixture_start(&f);
	watch(&c, &f, "&timeoutSeconds=1");
	ck_assert(client_ends(&c));
	client_close(&c);
	api_fixture_stop(&f);
}
END_TEST

/* More of them than one user may have connections, one after the other. */
START_TEST(clients_that_leave_are_noticed)
{
	struct api_fixture f;
	struct client c[5];

	api_fixture_start(&f);
	create_vm(&f, "a");
	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < 5; i++)
			watch(&c[i], &f, "");
		for (int i = 0; i < 5; i++)
			client_close(&c[i]);
		for (int i = 0; i < 3; i++)
			uv_run(&f.loop, UV_RUN_NOWAIT);
	}
	api_expect(&f, "GET /livez", NULL, 200, "ok"); /* HTTP_PER_UID_MAX, 1280, was not reached */
	api_fixture_stop(&f);
}
END_TEST

START_TEST(other_kinds_and_events)
{
	struct api_fixture f;
	struct client c, events;

	api_fixture_start(&f);
	client_open(&c, &f.loop, f.path);
	client_printf(&c, "GET " NS "/virtualmachineinstances?watch=1 HTTP/1.0\r\n\r\n");
	client_open(&events, &f.loop, f.path);
	client_printf(&events,
		"GET /api/v1/events?watch=1&fieldSelector="
		"involvedObject.kind%%3DVirtualMachineInstance HTTP/1.0\r\n"
		"\r\n");
	ck_assert(client_sees(&c, "\r\n\r\n"));
	ck_assert(client_sees(&events, "\r\n\r\n"));
	api_expect(&f, "POST " VMS, api_vm("a", "Always"), 201, NULL);
	expect_next(&c, "ADDED", "a");
	ck_assert(client_sees(&c, "\"phase\":\"Running\""));
	ck_assert(client_sees(&events, "{\"type\":\"ADDED\",\"object\":{"));
	ck_assert_ptr_null(strstr(events.in.data, "\"kind\":\"VirtualMachine\""));
	client_close(&c);
	client_close(&events);
	api_fixture_stop(&f);
}
END_TEST

Suite *test_api_watch_suite(void);

Suite *test_api_watch_suite(void)
{
	Suite *suite = suite_create("api_watch");
	TCase *tc = tcase_create("watch");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, begins_with_what_is_there);
	tcase_add_test(tc, resumes_where_it_was);
	tcase_add_test(tc, each_change_once_and_in_order);
	tcase_add_test(tc, objects_come_and_go_by_label);
	tcase_add_test(tc, one_object_by_name);
	tcase_add_test(tc, what_the_log_has_no_more);
	tcase_add_test(tc, a_reader_that_lags);
	tcase_add_test(tc, a_quiet_watch_stays);
	tcase_add_test(tc, bookmarks);
	tcase_add_test(tc, says_where_the_initial_events_end);
	tcase_add_test(tc, without_initial_events);
	tcase_add_test(tc, ends_when_asked_to);
	tcase_add_test(tc, clients_that_leave_are_noticed);
	tcase_add_test(tc, other_kinds_and_events);
	suite_add_tcase(suite, tc);
	return suite;
}
