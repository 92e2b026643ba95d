/* SPDX-License-Identifier: Apache-2.0 */
/* What vmactl prints: tables, ages, YAML, indented JSON; and the JSON reader that all
 * of it comes from. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/age.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/yaml.h"

Suite *test_cli_print_suite(void);

/* clang-format off */
static const struct {
	int64_t s;
	const char *text;
} ages[] = {
	{ -60, "<invalid>" }, { -1, "0s" }, { 0, "0s" }, { 5, "5s" }, { 119, "119s" },
	{ 120, "2m" }, { 200, "3m20s" }, { 599, "9m59s" }, { 600, "10m" }, { 610, "10m" }, { 10799, "179m" },
	{ 10800, "3h" }, { 11100, "3h5m" }, { 28799, "7h59m" }, { 28800, "8h" }, { 172799, "47h" },
	{ 172800, "2d" }, { 176400, "2d1h" }, { 691199, "7d23h" }, { 691200, "8d" }, { 694800, "8d" },
	{ 63071999, "729d" }, { 63072000, "2y" }, { 66528000, "2y40d" }, { 252288000, "8y" },
};

static const struct {
	const char *text;
	msec ms; /* -1: none */
} times[] = {
	{ "1970-01-01T00:00:00Z", 0 },
	{ "2026-11-29T18:44:15Z", 1795977855000 },
	{ "2026-11-29T18:44:15.250000Z", 1795977855250 },
	{ "2026-11-29T19:44:15+01:00", 1795977855000 },
	{ "2026-11-29T13:14:15-05:30", 1795977855000 },
	{ "", -1 }, { "yesterday", -1 }, { "2026-11-29", -1 }, { "2026-11-29T18:44:15", -1 }, { NULL, -1 },
};

static const struct {
	const char *json, *yaml;
} yamls[] = {
	{ "{}", "{}\n" },
	{ "[]", "[]\n" },
	{ "{\"a\":{},\"b\":[],\"c\":null,\"d\":true,\"e\":1.50}", "a: {}\nb: []\nc: null\nd: true\ne: 1.50\n" },
	{ "{\"a\":{\"b\":{\"c\":\"d\"}}}", "a:\n  b:\n    c: d\n" },
	{ "{\"a\":[1,\"x\"]}", "a:\n- 1\n- x\n" },
	{ "{\"a\":[{\"b\":1,\"c\":[2]},{\"d\":{\"e\":3}}]}", "a:\n- b: 1\n  c:\n  - 2\n- d:\n    e: 3\n" },
	{ "[[1,2],[3]]", "- - 1\n  - 2\n- - 3\n" },
	{ "{\"a\":\"true\",\"b\":\"no\",\"c\":\"null\",\"d\":\"\",\"e\":\"~\",\"y\":\"Y\"}",
	  "a: \"true\"\nb: \"no\"\nc: \"null\"\nd: \"\"\ne: \"~\"\n\"y\": \"Y\"\n" },
	{ "{\"a\":\"1\",\"b\":\"1e3\",\"c\":\"0x1f\",\"d\":\"-.5\",\"e\":\"10:20\",\"f\":\".inf\",\"g\":\"1_000\"}",
	  "a: \"1\"\nb: \"1e3\"\nc: \"0x1f\"\nd: \"-.5\"\ne: \"10:20\"\nf: \".inf\"\ng: \"1_000\"\n" },
	{ "{\"a\":\"2026-11-29T18:44:15Z\"}", "a: \"2026-11-29T18:44:15Z\"\n" },
	{ "{\"a\":\"256Mi\",\"b\":\"10.0.2.15/24\",\"c\":\"52:54:00:ab:cd:ef\",\"d\":\"8e0445e6-cbee-45c7\"}",
	  "a: 256Mi\nb: 10.0.2.15/24\nc: 52:54:00:ab:cd:ef\nd: 8e0445e6-cbee-45c7\n" },
	{ "{\"a\":\"x: y\",\"b\":\"x #y\",\"c\":\" x\",\"d\":\"x \",\"e\":\"x:\",\"f\":\"#x\",\"g\":\"x#y:z\"}",
	  "a: \"x: y\"\nb: \"x #y\"\nc: \" x\"\nd: \"x \"\ne: \"x:\"\nf: \"#x\"\ng: x#y:z\n" },
	{ "{\"a\":\"[x]\",\"b\":\"{x}\",\"c\":\"&x\",\"d\":\"*x\",\"e\":\"!x\",\"f\":\"- x\",\"g\":\"@x\",\"h\":\"%x\"}",
	  "a: \"[x]\"\nb: \"{x}\"\nc: \"&x\"\nd: \"*x\"\ne: \"!x\"\nf: \"- x\"\ng: \"@x\"\nh: \"%x\"\n" },
	{ "{\"a\":\"say \\\"hi\\\"\",\"b\":\"\\\"q\\\"\"}", "a: say \"hi\"\nb: \"\\\"q\\\"\"\n" },
	{ "{\"a\":\"one\\ntwo\\n\",\"b\":\"one\\ntwo\",\"c\":\"one\\n\\ntwo\\n\\n\"}",
	  "a: |\n  one\n  two\nb: |-\n  one\n  two\nc: |+\n  one\n\n  two\n\n" },
	{ "{\"a\":[\"one\\ntwo\\n\"]}", "a:\n- |\n  one\n  two\n" },
	{ "{\"a\":\"x\\ty\\u001b\"}", "a: \"x\\ty\\u001b\"\n" },
	{ "{\"app.kubernetes.io/name\":\"a\",\"true\":1}", "app.kubernetes.io/name: a\n\"true\": 1\n" },
};

static const char *const jsons[] = { /* what is read and written again is the same */
	"{}", "[]", "null", "true", "\"\"", "0", "-1", "1.50", "1e400", "9007199254740993",
	"123456789012345678901234567890", "{\"a\":{\"b\":[1,2,{\"c\":null}]}}",
	"\"\\\"\\\\\\n\\r\\t\\u0001\"", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
};

static const struct {
	const char *json, *same;
} escapes[] = {
	{ " { \"a\" : [ 1 , 2 ] } \n", "{\"a\":[1,2]}" },
	{ "\"\\u00e9\\u20ac\\ud83d\\ude00\"", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
	{ "\"\\/\\b\\f\"", "\"/\\u0008\\u000c\"" },
	{ "\"\\u0000\"", "\"\xef\xbf\xbd\"" },
	{ "\"\\ud83d\"", "\"\xef\xbf\xbd\"" },
	{ "\"\\ud83dx\"", "\"\xef\xbf\xbdx\"" },
	{ "\"\\ude00\"", "\"\xef\xbf\xbd\"" },
	{ "{\"a\":1,\"a\":2}", "{\"a\":2}" },
};

static const char *const not_json[] = {
	"", " ", "{", "[", "\"", "\"\\", "\"\\u12", "\"\\x\"", "{\"a\"", "{\"a\":", "{\"a\":1", "{a:1}",
	"{\"a\":1,}", "[1,]", "[1 2]", "1 2", "nul", "tru", "+1", "-", ".", "1x", "\"\n\"", "{}}", "]",
};
/* clang-format on */

START_TEST(an_age_reads)
{
	char text[AGE_SIZE];

	age_format(SECONDS(ages[_i].s), text);
	ck_assert_str_eq(text, ages[_i].text);
}
END_TEST

START_TEST(a_time_is_read)
{
	msec ms = -1;

	ck_assert_int_eq(time_parse(times[_i].text, &ms), times[_i].ms >= 0);
	ck_assert_int_eq(ms, times[_i].ms);
}
END_TEST

static struct node *read_json(const char *text)
{
	struct err err = { 0 };
	struct node *root = NULL;

	ck_assert_msg(!json_parse(text, strlen(text), &root, &err), "%s: %s", text, err.msg);
	return root;
}

START_TEST(a_tree_is_written_as_yaml)
{
	struct node *root = read_json(yamls[_i].json);
	struct documents docs = { 0 };
	struct buf out = { 0 };
	struct place place;
	struct err err = { 0 };

	yaml_print(root, &out);
	ck_assert_str_eq(out.data, yamls[_i].yaml);
	ck_assert_msg(!nodes_parse(out.data, out.len, &docs, &place, &err) ||
			strstr(yamls[_i].json, "u001b"),
		"%s: %s", out.data, err.msg);
	ck_assert(!docs.n || node_equal(docs.roots[0], root));
	documents_done(&docs);
	buf_done(&out);
	node_free(root);
}
END_TEST

START_TEST(json_goes_through_unharmed)
{
	struct node *root = read_json(jsons[_i]);
	autofree char *json = node_json(root);

	ck_assert_str_eq(json, jsons[_i]);
	node_free(root);
}
END_TEST

START_TEST(json_is_read)
{
	struct node *root = read_json(escapes[_i].json);
	autofree char *json = node_json(root);

	ck_assert_str_eq(json, escapes[_i].same);
	node_free(root);
}
END_TEST

START_TEST(what_is_not_json_is_refused)
{
	struct node *root = NULL;
	struct err err = { 0 };

	ck_assert_int_eq(json_parse(not_json[_i], strlen(not_json[_i]), &root, &err),
		-ERR_BAD_REQUEST);
	ck_assert_ptr_null(root);
	ck_assert(starts_with(err.msg, "not JSON at offset "));
}
END_TEST

START_TEST(json_may_not_nest_without_end)
{
	char deep[2 * JSON_DEPTH_MAX + 3];
	struct node *root = NULL;

	memset(deep, '[', sizeof(deep));
	ck_assert_int_ne(json_parse(deep, sizeof(deep), &root, NULL), 0);
	memset(deep + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	ck_assert_int_eq(json_parse(deep, 2 * JSON_DEPTH_MAX, &root, NULL), 0);
	node_free(root);
}
END_TEST

START_TEST(what_lies_side_by_side_is_not_nested)
{
	struct node *root = NULL;
	struct buf wide = { 0 };

	buf_puts(&wide, "[[]");
	for (int i = 0; i < 2 * JSON_DEPTH_MAX; i++)
		buf_puts(&wide, ",{}");
	buf_puts(&wide, "]");
	ck_assert_int_eq(json_parse(wide.data, wide.len, &root, NULL), 0);
	ck_assert_uint_eq(root->n_children, 2 * JSON_DEPTH_MAX + 1);
	node_free(root);
	buf_done(&wide);
}
END_TEST

START_TEST(json_is_indented)
{
	struct buf out = { 0 };

	json_indent("{\"a\":{},\"b\":[],\"c\":[1,{\"d\":\"{[,:\\\"]}\"}]}", &out);
	ck_assert_str_eq(out.data,
		"{\n    \"a\": {},\n    \"b\": [],\n    \"c\": [\n        1,\n"
		"        {\n            \"d\": \"{[,:\\\"]}\"\n        }\n    ]\n}");
	buf_done(&out);
}
END_TEST

static char *printed(struct table *t)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	table_print(t, out);
	fclose(out);
	return text;
}

static void add(struct table *t, const char *a, const char *b)
{
	table_add(t, a);
	table_add(t, b);
}

START_TEST(a_table_is_as_wide_as_its_cells)
{
	struct table t = { .n_columns = 2 };
	autofree char *first = NULL, *second = NULL;

	add(&t, "NAME", "AGE");
	add(&t, "web-server", "5s");
	add(&t, "\xc3\xa9t\xc3\xa9", "7d");
	first = printed(&t);
	ck_assert_str_eq(first,
		"NAME         AGE\n"
		"web-server   5s\n"
		"\xc3\xa9t\xc3\xa9          7d\n");
	add(&t, "x", "1s"); /* the next rows of a watch stand below */
	second = printed(&t);
	ck_assert_str_eq(second, "x            1s\n");
	table_done(&t);
}
END_TEST

START_TEST(a_cell_cannot_reach_the_terminal)
{
	struct table t = { .n_columns = 2, .indent = 2 };
	autofree char *text = NULL;

	add(&t, "a\x1b[31mred", "two\nlines\t\x7f");
	add(&t, NULL, "");
	text = printed(&t);
	ck_assert_str_eq(text, "  a?[31mred   two lines ?\n              \n");
	table_done(&t);
}
END_TEST

Suite *test_cli_print_suite(void)
{
	Suite *s = suite_create("cli print");
	TCase *t = tcase_create("texts");

	tcase_add_loop_test(t, an_age_reads, 0, ARRAY_SIZE(ages));
	tcase_add_loop_test(t, a_time_is_read, 0, ARRAY_SIZE(times));
	tcase_add_loop_test(t, a_tree_is_written_as_yaml, 0, ARRAY_SIZE(yamls));
	tcase_add_loop_test(t, json_goes_through_unharmed, 0, ARRAY_SIZE(jsons));
	tcase_add_loop_test(t, json_is_read, 0, ARRAY_SIZE(escapes));
	tcase_add_loop_test(t, what_is_not_json_is_refused, 0, ARRAY_SIZE(not_json));
	tcase_add_test(t, json_may_not_nest_without_end);
	tcase_add_test(t, what_lies_side_by_side_is_not_nested);
	tcase_add_test(t, json_is_indented);
	tcase_add_test(t, a_table_is_as_wide_as_its_cells);
	tcase_add_test(t, a_cell_cannot_reach_the_terminal);
	suite_add_tcase(s, t);
	return s;
}
