/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the API reads from paths, selectors and stored JSON text.
 */
#include <check.h>
#include <string.h>

#include "daemon/api/jsonspan.h"
#include "daemon/api/route.h"
#include "daemon/api/selector.h"

#define ONE "/{api}/namespaces/{ns}/{namespaced}/{name}"

START_TEST(paths_that_match)
{
	struct route_path p;

	ck_assert(route_matches(ONE, "/apis/kubevirt.io/v1alpha3/namespaces/a/virtualmachines/b",
		&p));
	ck_assert_int_eq(p.kind, KIND_VM);
	ck_assert_str_eq(p.version, "v1alpha3");
	ck_assert_str_eq(p.ns, "a");
	ck_assert_str_eq(p.name, "b");
	ck_assert(route_matches("/{api}/{namespaced}", "/api/v1/events/", &p));
	ck_assert_int_eq(p.kind, KIND_EVENT);
	ck_assert_str_eq(p.ns, "");
	ck_assert(route_matches("/{api}/{cluster}/{name}", "/api/v1/nodes/a", &p));
	ck_assert_int_eq(p.kind, KIND_NODE);
	ck_assert(route_matches("/apis/{group}", "/apis/kubevirt.io/", &p));
	ck_assert_str_eq(p.group->name, "kubevirt.io");
	ck_assert(route_matches("/x/{name}/{verb}", "/x/a/restart", &p));
	ck_assert_int_eq(p.verb, VERB_RESTART);
}
END_TEST

START_TEST(paths_that_do_not)
{
	static const char *const paths[] = {
		"",
		"/",
		"apis/kubevirt.io/v1/namespaces/a/virtualmachines/b",
		"/apis/kubevirt.io/v1/namespaces/a/virtualmachines",
		"/apis/kubevirt.io/v1/namespaces/a/virtualmachines/b/c",
		"/apis/kubevirt.io/v1/namespaces//virtualmachines/b",
		"/apis/kubevirt.io/v2/namespaces/a/virtualmachines/b",
		"/apis/kubevirt.io/v1/namespaces/a/virtualmachine/b",
		"/apis/kubevirt.io/v1/namespaces/a/events/b",
		"/apis/v1/namespaces/a/events/b",
		"/apis//v1/namespaces/a/events/b",
		"/apis/kubevirt.io/v1/namespaces/a/domains/b",
		"/apis/vmagent.io/v1/namespaces/a/domains/b",
		"/api/v1/namespaces/a/nodes/b",
		"/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachines/b",
		"/apis/kubevirt.iox/v1/namespaces/a/virtualmachines/b",
		"//apis/kubevirt.io/v1/namespaces/a/virtualmachines/b",
	};
	struct route_path p = { .name = "untouched" };
	char path[400], name[NAME_MAX_LEN + 2];

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		ck_assert_msg(!route_matches(ONE, paths[i], &p), "%s", paths[i]);
	ck_assert_str_eq(p.name, "untouched");
	memset(name, 'a', sizeof(name));
	name[NAME_MAX_LEN + 1] = '\0';
	strcpy(path, "/x/");
	strcat(path, name);
	ck_assert(!route_matches("/x/{name}", path, &p));
	path[3 + NAME_MAX_LEN] = '\0';
	ck_assert(route_matches("/x/{name}", path, &p));
}
END_TEST

START_TEST(members_of_json)
{
	const char *json =
		" { \"a\" : 1 , \"b\\\"c\":\"x\\\"}y\",\"d\":{\"e\":[1,{\"}\":2}],\"f\":\"g\"},"
		"\"h\":null,\"i\\\\\":\"\\\\\\\\\",\"j\":\"\\\\\\\"\"}";
	struct jsonspan s = jsonspan_of(json), v;

	ck_assert(jsonspan_member(s, "a", &v));
	ck_assert(v.len == 1 && *v.at == '1');
	ck_assert(jsonspan_member(s, "b\\\"c", &v));
	ck_assert(jsonspan_is(v, "x\\\"}y"));
	ck_assert(!jsonspan_member(s, "e", &v)); /* only its own members */
	ck_assert(jsonspan_member(s, "d", &v) && jsonspan_member(v, "f", &v));
	ck_assert(jsonspan_is(v, "g") && !jsonspan_is(v, "gg") && !jsonspan_is(v, ""));
	ck_assert(jsonspan_member(s, "h", &v) && v.len == 4);
	ck_assert(!jsonspan_member(v, "h", &v));
	/* The last quote is no letter … */
	ck_assert(jsonspan_member(s, "i\\\\", &v) && v.len == 6);
	ck_assert(jsonspan_member(s, "j", &v) && v.len == 6); /* … and here it is one */
	ck_assert(!jsonspan_member(jsonspan_of(NULL), "a", &v));
}
END_TEST

START_TEST(broken_json_stays_within)
{
	static const char *const texts[] = { "", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\\",
		"{\"a\":\"", "{\"a\":[", "{\"a\":}", "{}", "[", "\"", "{\"b\":1",
		"{\"b\":{\"a\":1}" };
	struct jsonspan v;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		autofree char *exact = xstrdup(texts[i]); /* so that a sanitizer sees a step over */
		bool found = jsonspan_member(jsonspan_of(exact), "a", &v);

		ck_assert(!found || v.at + v.len <= exact + strlen(exact));
	}
}
END_TEST

static bool labels(const char *selector, const char *json)
{
	struct selector s;
	bool ret;

	ck_assert_int_eq(selector_parse_labels(selector, &s, NULL), 0);
	ret = selector_matches_labels(&s, json);
	selector_done(&s);
	return ret;
}

START_TEST(label_selectors)
{
	const char *json = "{\"app\":\"web\",\"example.com/tier\":\"\"}";

	ck_assert(labels(NULL, json) && labels("", json) && labels("", NULL));
	ck_assert(labels("app=web", json) && labels("app==web", json) && !labels("app=we", json));
	ck_assert(!labels("app!=web", json) && labels("app!=db", json) && labels("x!=y", json));
	ck_assert(labels("example.com/tier", json) && labels("example.com/tier=", json));
	ck_assert(labels("!x", json) && !labels("!app", json) && !labels("x", json));
	ck_assert(labels("app = web", json) && labels("app != db,! x", json));
	ck_assert(labels(" app=web , !x", json) && !labels("app=web,x=y", json));
	ck_assert(labels("app in (db, web)", json) && labels("app in(web)", json));
	ck_assert(!labels("app in (db,we)", json) && !labels("x in (web)", json));
	ck_assert(labels("app notin (db,we)", json) && !labels("app notin ( web ,db)", json));
	ck_assert(labels("x notin (web)", json) && labels("example.com/tier in (,a)", json));
	ck_assert(labels("app in (web),!x,app notin (a,b)", json));
	ck_assert(!labels("app in (web), x,app notin (a,b)", json));
	ck_assert(!labels("app=web", NULL) && labels("!app", NULL) && labels("app!=web", NULL));
}
END_TEST

START_TEST(selectors_that_are_refused)
{
	static const char *const bad[] = { ",", "a=b,", "=b", "!=b", "!", "a>1", "a in b",
		"a in (b", "a in (b) c", "(b)", "in (b)", "a b in (c)", "a on (b)", "a in (b=c)",
		"a in (b c)", "a=(b)", "a)", "a=b c", "a=\"b\"", "a=b=c", "a=b!=c", "a==b==c",
		"!a=b", "!a!=b", "a!b", "a!", "!!a", "a/b/c", "a=-b", "a in (b, c_)" };
	static const char *const bad_fields[] = { "metadata.name", "!metadata.name", "spec.x=1",
		"involvedObject.name=a" };
	struct selector s;
	struct err err;
	autofree char *many = xcalloc(2, SELECTOR_TERMS_MAX + 2);
	struct buf set = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(selector_parse_labels(bad[i], &s, &err) == -ERR_BAD_REQUEST, "%s",
			bad[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad_fields); i++)
		ck_assert_msg(selector_parse_fields(bad_fields[i], KIND_VM, &s, &err) ==
				-ERR_BAD_REQUEST,
			"%s", bad_fields[i]);
	for (int i = 0; i <= SELECTOR_TERMS_MAX; i++)
		strcat(many, i ? ",a" : "a");
	ck_assert_int_eq(selector_parse_labels(many, &s, &err), -ERR_BAD_REQUEST);
	buf_puts(&set, "a in (b");
	for (int i = 0; i < SELECTOR_VALUES_MAX; i++)
		buf_puts(&set, ",b");
	buf_puts(&set, ")");
	ck_assert_int_eq(selector_parse_labels(set.data, &s, &err), -ERR_BAD_REQUEST);
	buf_done(&set);
}
END_TEST

static bool fields(const char *selector, const char *object)
{
	struct selector s;
	bool ret;

	ck_assert_int_eq(selector_parse_fields(selector, KIND_EVENT, &s, NULL), 0);
	ret = selector_matches_fields(&s, object);
	selector_done(&s);
	return ret;
}

START_TEST(field_selectors)
{
	const char *event =
		"{\"metadata\":{\"name\":\"e\",\"namespace\":\"n\"},\"type\":\"Warning\","
		"\"involvedObject\":{\"kind\":\"VirtualMachine\",\"name\":\"a\"}}";

	ck_assert(fields("metadata.name=e,metadata.namespace=n", event));
	ck_assert(fields("involvedObject.name=a,involvedObject.kind=VirtualMachine", event));
	ck_assert(!fields("involvedObject.name=b", event) && fields("type!=Normal", event));
	ck_assert(!fields("type=Normal", event));
	ck_assert(fields("involvedObject.uid=", event) && !fields("involvedObject.uid!=", event));
}
END_TEST

Suite *test_api_text_suite(void);

Suite *test_api_text_suite(void)
{
	Suite *suite = suite_create("api_text");
	TCase *tc = tcase_create("text");

	tcase_add_test(tc, paths_that_match);
	tcase_add_test(tc, paths_that_do_not);
	tcase_add_test(tc, members_of_json);
	tcase_add_test(tc, broken_json_stays_within);
	tcase_add_test(tc, label_selectors);
	tcase_add_test(tc, selectors_that_are_refused);
	tcase_add_test(tc, field_selectors);
	suite_add_tcase(suite, tc);
	return suite;
}
