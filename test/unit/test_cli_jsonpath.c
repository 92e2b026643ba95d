/* SPDX-License-Identifier: Apache-2.0 */
/* JSONPath templates as kubectl's users write them: what each gives for one object,
 * and what is refused. */
#include <check.h>
#include <string.h>

#include "cli/json.h"
#include "cli/jsonpath.h"

Suite *test_cli_jsonpath_suite(void);

static const char object[] =
	"{\"metadata\":{\"name\":\"web\",\"uid\":\"u-1\",\"labels\":{\"app.kubernetes.io/name\":\"web\",\"b\":\"c\"},"
	"\"ownerReferences\":[{\"kind\":\"VirtualMachine\",\"uid\":\"u-0\"}]},"
	"\"spec\":{\"cores\":4,\"big\":9007199254740993,\"none\":null,\"yes\":true,\"empty\":\"\"},"
	"\"items\":[{\"name\":\"a\",\"n\":1,\"tags\":[\"x\",\"y\"]},{\"name\":\"b\",\"n\":2,\"tags\":[]},"
	"{\"name\":\"c\",\"n\":10,\"tags\":[\"z\"],\"last\":true}],"
	"\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},"
	"{\"type\":\"Paused\",\"status\":\"False\"}]}}";

/* clang-format off */
static const struct {
	const char *template, *expected;
} good[] = {
	{ "", "" },
	{ "plain text", "plain text" },
	{ "{.metadata.name}", "web" },
	{ "{ .metadata.name }", "web" },
	{ "{$.metadata.name}", "web" },
	{ "{@.metadata.name}", "web" },
	{ "{.metadata.name}{\"\\n\"}", "web\n" },
	{ "VM: {.metadata.name} {.metadata.uid}!", "VM: web u-1!" },
	{ "{.metadata['name']}", "web" },
	{ "{.metadata[\"name\"]}", "web" },
	{ "{['metadata'].name}", "web" },
	{ "{.metadata.labels['app.kubernetes.io/name']}", "web" },
	{ "{.metadata.labels.app\\.kubernetes\\.io/name}", "web" },
	{ "{.metadata.ownerReferences}", "[{\"kind\":\"VirtualMachine\",\"uid\":\"u-0\"}]" },
	{ "{.metadata.ownerReferences[0].uid}", "u-0" },
	{ "{.spec.cores}", "4" },
	{ "{.spec.big}", "9007199254740993" },
	{ "{.spec.yes}", "true" },
	{ "{.spec.empty}", "" },
	{ "{.spec.nope}", "" },
	{ "{.nope.nope[3].nope}", "" },
	{ "{.metadata.name.deeper}", "" },
	{ "{.items[*].name}", "a b c" },
	{ "{.items.*.name}", "a b c" },
	{ "{.items[0].name}", "a" },
	{ "{.items[-1].name}", "c" },
	{ "{.items[3].name}", "" },
	{ "{.items[-4].name}", "" },
	{ "{.items[1:].name}", "b c" },
	{ "{.items[:2].name}", "a b" },
	{ "{.items[0:-1].name}", "a b" },
	{ "{.items[-2:].name}", "b c" },
	{ "{.items[::2].name}", "a c" },
	{ "{.items[0,2].name}", "a c" },
	{ "{.items[0]['name','n']}", "a 1" },
	{ "{.items[*].tags[*]}", "x y z" },
	{ "{.metadata[*]}", "web u-1 {\"app.kubernetes.io/name\":\"web\",\"b\":\"c\"} "
			    "[{\"kind\":\"VirtualMachine\",\"uid\":\"u-0\"}]" },
	{ "{..name}", "web a b c" },
	{ "{.status..type}", "Ready Paused" },
	{ "{.status.conditions[?(@.type==\"Ready\")].status}", "True" },
	{ "{.status.conditions[?(@.type=='Paused')].status}", "False" },
	{ "{.status.conditions[?(@.type!=\"Ready\")].type}", "Paused" },
	{ "{.status.conditions[?(@.type==\"Nope\")].status}", "" },
	{ "{.items[?(@.n>1)].name}", "b c" },
	{ "{.items[?(@.n>=10)].name}", "c" },
	{ "{.items[?(@.n<2)].name}", "a" },
	{ "{.items[?(@.n<=2)].name}", "a b" },
	{ "{.items[?(@.n==10)].name}", "c" },
	{ "{.items[?(@.last)].name}", "c" },
	{ "{.items[?(@.last==true)].name}", "c" },
	{ "{.items[?(@.name==$.items[1].name)].n}", "2" },
	{ "{range .items[*]}{.name}={.n};{end}", "a=1;b=2;c=10;" },
	{ "{range .items[*]}{@.name}{\"\\t\"}{end}.", "a\tb\tc\t." },
	{ "{range .items[*]}{.name}:{range .tags[*]}{@},{end} {end}", "a:x,y, b: c:z, " },
	{ "{range .nope[*]}x{end}", "" },
	{ "{range .items[*]}{$.metadata.name}{end}", "webwebweb" },
	{ "{.metadata.name} {.items[0].name}", "web a" },
	{ "{.metadata.name .metadata.uid}", "webu-1" },
	{ "{\"a\"}{'b'}", "ab" },
	{ "{.}", NULL /* the object */ },
	{ "{@}", NULL },
	{ "{$}", NULL },
};

static const struct {
	const char *template, *words;
} bad[] = {
	{ "{", "'}' is missing" },
	{ "{.a", "'}' is missing" },
	{ "{.a[}", "an index is expected" },
	{ "{.a[0}", "']' is expected" },
	{ "{.a[x]}", "an index is expected" },
	{ "{.a['b]}", "a quote is not closed" },
	{ "{\"a}", "a quote is not closed" },
	{ "{.a[::0]}", "at least 1" },
	{ "{.a[?(@.b==)]}", "a path is expected" },
	{ "{.a[?(@.b==1]}", "')' is expected" },
	{ "{.a..}", "a field's name is expected" },
	{ "{a.b}", "a path is expected" },
	{ "{range .a[*]}{.b}", "not closed by {end}" },
	{ "{end}", "'end' without a range" },
	{ "{range .a}{range .a}{range .a}{range .a}{range .a}{range .a}{range .a}{range .a}{range .a}"
	  "{range .a}{range .a}{range .a}{range .a}{range .a}{range .a}{range .a}{range .a}", "less nesting" },
	{ "{.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@.a[?(@",
	  "less nesting" },
};
/* clang-format on */

static struct node *the_object(void)
{
	struct node *root = NULL;

	ck_assert_int_eq(json_parse(object, strlen(object), &root, NULL), 0);
	return root;
}

START_TEST(a_template_gives)
{
	struct node *root = the_object();
	struct jsonpath *path = NULL;
	struct buf out = { 0 };
	struct err err = { 0 };

	buf_puts(&out, "");
	ck_assert_msg(!jsonpath_parse(good[_i].template, &path, &err), "%s", err.msg);
	jsonpath_print(path, root, &out);
	ck_assert_msg(streq(out.data, good[_i].expected ? good[_i].expected : object),
		"%s gives: %s", good[_i].template, out.data);
	jsonpath_free(path);
	buf_done(&out);
	node_free(root);
}
END_TEST

START_TEST(a_bad_template_is_refused)
{
	struct jsonpath *path = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(jsonpath_parse(bad[_i].template, &path, &err), -ERR_BAD_REQUEST);
	ck_assert_ptr_null(path);
	ck_assert_msg(strstr(err.msg, bad[_i].words), "%s: %s", bad[_i].template, err.msg);
}
END_TEST

START_TEST(a_path_alone_needs_no_braces)
{
	static const char *const paths[] = { "metadata.name", ".metadata.name", "{.metadata.name}",
		"['metadata'].name" };
	struct node *root = the_object();

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct jsonpath *path = NULL;

		ck_assert_int_eq(jsonpath_parse_path(paths[i], &path, NULL), 0);
		ck_assert_str_eq(jsonpath_first(path, root)->text, "web");
		jsonpath_free(path);
	}
	node_free(root);
}
END_TEST

START_TEST(sorting_takes_numbers_as_numbers)
{
	const char *text = "[{\"n\":10},{\"n\":9},{},{\"n\":1}]";
	struct jsonpath *path = NULL;
	struct node *list = NULL;
	autofree char *sorted = NULL;

	json_parse(text, strlen(text), &list, NULL);
	jsonpath_parse_path(".n", &path, NULL);
	jsonpath_sort(path, list);
	sorted = node_json(list);
	ck_assert_str_eq(sorted, "[{},{\"n\":1},{\"n\":9},{\"n\":10}]");
	jsonpath_free(path);
	node_free(list);
}
END_TEST

Suite *test_cli_jsonpath_suite(void)
{
	Suite *s = suite_create("cli jsonpath");
	TCase *t = tcase_create("templates");

	tcase_add_loop_test(t, a_template_gives, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(t, a_bad_template_is_refused, 0, ARRAY_SIZE(bad));
	tcase_add_test(t, a_path_alone_needs_no_braces);
	tcase_add_test(t, sorting_takes_numbers_as_numbers);
	suite_add_tcase(s, t);
	return s;
}
