/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML and JSON to trees: what scalars become, where everything stood, what is refused and where,
 * the bounds, and the tree's own operations.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/node.h"

Suite *test_node_suite(void);

static struct node *parsed(const char *text)
{
	struct documents docs = { 0 };
	struct place place;
	struct err err;
	struct node *root;

	ck_assert_msg(!nodes_parse(text, strlen(text), &docs, &place, &err), "%d:%d: %s in: %s",
		place.line, place.column, err.msg, text);
	ck_assert_uint_eq(docs.n, 1);
	root = take(&docs.roots[0]);
	documents_done(&docs);
	return root;
}

static void expect_json(const char *text, const char *json)
{
	struct node *root = parsed(text);
	autofree char *said = node_json(root);

	ck_assert_str_eq(said, json);
	node_free(root);
}

/* ---- scalars --------------------------------------------------------------------------------- */

static const struct {
	const char *yaml, *json;
} scalars[] = {
	{ "yes", "true" },
	{ "Yes", "true" },
	{ "YES", "true" },
	{ "yEs", "\"yEs\"" },
	{ "on", "true" },
	{ "y", "true" },
	{ "True", "true" },
	{ "no", "false" },
	{ "OFF", "false" },
	{ "N", "false" },
	{ "false", "false" },
	{ "~", "null" },
	{ "null", "null" },
	{ "Null", "null" },
	{ "", "null" },
	{ "nUll", "\"nUll\"" },
	{ "\"yes\"", "\"yes\"" },
	{ "'5'", "\"5\"" },
	{ "5", "5" },
	{ "-5", "-5" },
	{ "+5", "5" },
	{ "-0", "-0" },
	{ "0777", "511" },
	{ "-0777", "-511" },
	{ "0o777", "511" },
	{ "0O17", "15" },
	{ "0o8", "\"0o8\"" },
	{ "0x1F", "31" },
	{ "-0XfF", "-255" },
	{ "0x", "\"0x\"" },
	{ "0x0x1", "\"0x0x1\"" },
	{ "0b101", "5" },
	{ "0b2", "\"0b2\"" },
	{ "0888", "888" },
	{ "00", "0" },
	{ "-00", "0" },
	{ "1_000", "1000" },
	{ "0x_1", "1" },
	{ "9007199254740993", "9007199254740993" },
	{ "123456789012345678901234567890", "123456789012345678901234567890" },
	{ "0xFFFFFFFFFFFFFFFF", "18446744073709551615" },
	{ "0x1FFFFFFFFFFFFFFFF", "\"0x1FFFFFFFFFFFFFFFF\"" },
	{ "-9223372036854775808", "-9223372036854775808" },
	{ "-0x8000000000000001", "\"-0x8000000000000001\"" },
	{ "1.50", "1.50" },
	{ ".5", "0.5" },
	{ "-.5", "-0.5" },
	{ "+5.", "5" },
	{ "5.e3", "5e3" },
	{ "1e3", "1e3" },
	{ "1E+3", "1E+3" },
	{ "007.5", "7.5" },
	{ "1e", "\"1e\"" },
	{ ".", "\".\"" },
	{ "-", "[null]" },
	{ "--1", "\"--1\"" },
	{ "1.2.3", "\"1.2.3\"" },
	{ "1:30", "\"1:30\"" },
	{ "12:30:45", "\"12:30:45\"" },
	{ "02:00:00:00:00:01", "\"02:00:00:00:00:01\"" },
	{ "2001-01-01", "\"2001-01-01\"" },
	{ "1Gi", "\"1Gi\"" },
	{ "0o755", "493" },
	{ "0755", "493" },
	{ "-0o17", "-15" },
	{ "0_7", "7" },
	{ "1__0", "10" },
	{ "-_1", "-1" },
	{ "_1", "\"_1\"" },
	{ "1_0.5_0", "10.50" },
	{ ".5_0", "\".5_0\"" },
	{ "+.5", "0.5" },
	{ "-.nan", "\"-.nan\"" },
	{ "1e308", "1e308" },
	{ "1e309", "\"1e309\"" },
	{ "-1.5e999", "\"-1.5e999\"" },
	{ ".5e999", "\".5e999\"" },
	{ "1e-999", "1e-999" },
	{ "0x1p4", "\"0x1p4\"" },
	{ "0x1.8", "\"0x1.8\"" },
	{ "1_", "1" },
	{ "infinity", "\"infinity\"" },
	{ "inf", "\"inf\"" },
	{ "nan", "\"nan\"" },
	{ "tRue", "\"tRue\"" },
	{ "=", "\"=\"" },
	{ "<<", "\"<<\"" },
	{ "2001-12-14t21:59:43.10-05:00", "\"2001-12-14t21:59:43.10-05:00\"" },
	{ "1_2_3:4", "\"1_2_3:4\"" },
	{ "! 5", "\"5\"" },
	{ "!!timestamp 2001-01-01", "\"2001-01-01\"" },
	{ "!!timestamp '2001-12-14 21:59:43.1 -5'", "\"2001-12-14 21:59:43.1 -5\"" },
	{ "!!binary aGVsbG8=", "\"hello\"" },
	{ "!!binary \"w6k=\"", "\"\xC3\xA9\"" },
	{ "!!binary |\n  aGVs\n  bG8=\n", "\"hello\"" },
	{ "!!binary ''", "\"\"" },
	{ "!!str 5", "\"5\"" },
	{ "!!int \"5\"", "5" },
	{ "!!bool \"on\"", "true" },
	{ "!!null \"\"", "null" },
	{ "!!float 5", "5" },
	{ "!!map {}", "{}" },
	{ "!!seq []", "[]" },
	{ "|\n  a\n  b\n", "\"a\\nb\\n\"" },
	{ ">-\n  a\n  b\n", "\"a b\"" },
	{ "\"\\x41\\u00e9\\U0001F600\\t\"", "\"A\xC3\xA9\xF0\x9F\x98\x80\\t\"" },
	{ "\"\\u2028\\u0085\\uFEFF\\u00A0\"", "\"\\u2028\\u0085\\ufeff\xC2\xA0\"" },
	{ "'a\"\\'", "\"a\\\"\\\\\"" },
};

START_TEST(scalars_resolve)
{
	autofree char *yaml = xasprintf("a: %s", scalars[_i].yaml);
	autofree char *json = xasprintf("{\"a\":%s}", scalars[_i].json);

	if (streq(scalars[_i].yaml, "-"))
		expect_json("-", scalars[_i].json);
	else
		expect_json(yaml, json);
	expect_json(json, json); /* and reads back the same */
}
END_TEST

static const struct {
	const char *yaml, *json;
} texts[] = {
	{ "{\"a\":\"\\/\\ud83d\\ude00!\",\n\t\"b\":[1,2.50,{}],\r\n\"c\":null}",
		"{\"a\":\"/\xF0\x9F\x98\x80!\",\"b\":[1,2.50,{}],\"c\":null}" },
	{ "{\"a\":\"\\\\ud83d\\\\ude00\"}", "{\"a\":\"\\\\ud83d\\\\ude00\"}" },
	{ "[\"\\uD834\\uDD1E\\ud83d\\ude00\"]", "[\"\xF0\x9D\x84\x9E\xF0\x9F\x98\x80\"]" },
	{ "\xEF\xBB\xBF"
	  "a: 1\r\nb: 2\r\n",
		"{\"a\":1,\"b\":2}" },
	{ "on: 1\n5: 2\nNo: 3\n0x10: 4\n", "{\"true\":1,\"5\":2,\"false\":3,\"16\":4}" },
	{ "a: &x [1]\nb: *x\n", "{\"a\":[1],\"b\":[1]}" },
	{ "a: &x 1\nb: *x\nc: &x 2\nd: *x\n", "{\"a\":1,\"b\":1,\"c\":2,\"d\":2}" },
	{ "&k a: 1\nb: *k\n", "{\"a\":1,\"b\":\"a\"}" },
	{ "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n",
		"{\"a\":{\"p\":1,\"q\":2},\"b\":{\"q\":3,\"p\":1}}" },
	{ "b:\n  q: 3\n  <<: {p: 1, q: 2}\n", "{\"b\":{\"q\":3,\"p\":1}}" },
	{ "<<: [{a: 1}, {a: 2, b: 3}]\n", "{\"a\":1,\"b\":3}" },
	{ "<<: {a: &x 1}\nb: *x\n", "{\"b\":1,\"a\":1}" },
	{ "<<: {a: &x 1}\na: 2\nb: *x\n", "{\"a\":2,\"b\":1}" },
	{ "\"<<\": {a: 1}\n", "{\"<<\":{\"a\":1}}" },
	{ "!!merge <<: {a: 1}\n", "{\"a\":1}" },
	{ "a: &x {p: 1}\nb: {<<: [*x, {p: 2, q: 3}], r: 4}\n",
		"{\"a\":{\"p\":1},\"b\":{\"r\":4,\"p\":1,\"q\":3}}" },
	{ "a: &x {p: 1}\nb: &y {<<: *x, q: 2}\nc: {<<: *y}\n",
		"{\"a\":{\"p\":1},\"b\":{\"q\":2,\"p\":1},\"c\":{\"q\":2,\"p\":1}}" },
	{ "1.50: 1\n0o17: 2\n", "{\"1.50\":1,\"15\":2}" },
	{ "? a\n: b\n", "{\"a\":\"b\"}" },
	{ "\"\": 1\n", "{\"\":1}" },
	{ "plain", "\"plain\"" },
};

START_TEST(texts_become_trees)
{
	expect_json(texts[_i].yaml, texts[_i].json);
}
END_TEST

/* ---- refusals -------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	int line, column;
	const char *words;
} refused[] = {
	{ "a: 1\nb: 2\na: 3\n", 3, 1, "'a' is there twice, first in line 1" },
	{ "on: 1\ntrue: 2\n", 2, 1, "'true' is there twice, first in line 1" },
	{ "{\"a\":1, \"a\":2}", 1, 9, "'a' is there twice" },
	{ "a:\n\tb: 1\n", 2, 1, "a tab indents this line" },
	{ "a: [1, 2\nb: 3\n", 2, 2, "did not find expected ',' or ']'" },
	{ "a: b: c\n", 1, 5, "mapping values are not allowed" },
	{ "a: \"x", 1, 6, "unexpected end of stream" },
	{ "a: *x\n", 1, 4, "'*x' names no value" },
	{ "a: &x [*x]\n", 1, 8, "'*x' names no value" },
	{ "a: &x 1\n---\nb: *x\n", 3, 4, "'*x' names no value" },
	{ "a: !!binary aGk\n", 1, 4, "not the base64 that its tag says" },
	{ "a: !!binary /w==\n", 1, 4, "bytes that are no text" },
	{ "a: !!binary aAA=\n", 1, 4, "bytes that are no text" },
	{ "a: !!binary {}\n", 1, 4, "tag 'tag:yaml.org,2002:binary' is not known" },
	{ "a: !!timestamp now\n", 1, 4, "'now' is not the time that its tag says" },
	{ "a: !!omap []\n", 1, 4, "tag 'tag:yaml.org,2002:omap' is not known" },
	{ "a: !!merge x\n", 1, 4, "tag 'tag:yaml.org,2002:merge' is not known" },
	{ "a: !mine x\n", 1, 4, "tag '!mine' is not known" },
	{ "a: !!map []\n", 1, 4, "not of the kind" },
	{ "a: !!seq {}\n", 1, 4, "not of the kind" },
	{ "a: !!int x\n", 1, 4, "not of the kind" },
	{ "a: !!int .inf\n", 1, 4, "not a number that can be kept" },
	{ "a: .inf\n", 1, 4, "quote it" },
	{ "a: -.INF\n", 1, 4, "quote it" },
	{ "a: .NaN\n", 1, 4, "quote it" },
	{ "a: \"\\0\"\n", 1, 4, "control character" },
	{ "a: \"\\e\"\n", 1, 4, "control character" },
	{ "a: \"\\x7f\"\n", 1, 4, "control character" },
	{ "a: \"\\uFFFE\"\n", 1, 4, "control character" },
	{ "\"\\b\": 1\n", 1, 1, "control character" },
	{ "{\"a\": \"\\ud83d\"}", 1, 10, "invalid Unicode" },
	{ "a: 1\nb: \xFF\n", 2, 4, "UTF-8" },
	{ "a: \xC0\x80\n", 1, 4, "UTF-8" },   /* NUL, overlong */
	{ "a: ..\xC0\xAF\n", 1, 6, "UTF-8" }, /* a slash, overlong */
	{ "a: \xE0\x80\xAF\n", 1, 4, "UTF-8" },
	{ "a: \xED\xA0\x80\n", 1, 4, "Unicode" }, /* half a surrogate pair */
	{ "a: \xF4\x90\x80\x80\n", 1, 4, "Unicode" },
	{ "a: \xF8\x88\x80\x80\x80\n", 1, 4, "UTF-8" },
	{ "a: \xC3", 1, 4, "UTF-8" },
	{ "a: \"\\u009b31m\"\n", 1, 4,
		"control character" }, /* an escape sequence's beginning, in C1 */
	{ "a: \"\\uFFFF\"\n", 1, 4, "control character" },
	{ "{\"a\": \"\\u0000\"}", 1, 7, "control character" },
	{ "a: \x01\n", 1, 4, "control characters are not allowed" },
	{ "[a]: 1\n", 1, 1, "a key must be a simple name" },
	{ "? {a: 1}\n: 1\n", 1, 3, "a key must be a simple name" },
	{ "~: 1\n", 1, 1, "a key must be a simple name" },
	{ "a: &x []\n*x : 1\n", 2, 1, "a key must be a simple name" },
	{ "<<: 1\n", 1, 5, "'<<' takes a map" },
	{ "<<: [{}, 2]\n", 1, 10, "'<<' takes a map" },
	{ "\xC3\xA9: \xC3\xA9\n\xC3\xA9: 1\n", 2, 1, "is there twice" },
	{ "a: \"\xC3\xA9\", b\n", 1, 7, "expected" },
};

static void expect_refused(const char *text, size_t len, struct place where, const char *words)
{
	struct documents docs = { 0 };
	struct place place = { -1, -1 };
	struct err err = { .msg = "" };

	ck_assert_msg(nodes_parse(text, len, &docs, &place, &err) == -ERR_BAD_REQUEST, "%.80s",
		text);
	ck_assert_msg(strstr(err.msg, words), "%.80s: %s", text, err.msg);
	ck_assert_msg(place.line == where.line && place.column == where.column, "%.80s: %d:%d: %s",
		text, place.line, place.column, err.msg);
	ck_assert_ptr_null(docs.roots);
}

START_TEST(refusals_have_a_place)
{
	expect_refused(refused[_i].text, strlen(refused[_i].text),
		(struct place){ refused[_i].line, refused[_i].column }, refused[_i].words);
}
END_TEST

/* ---- bounds ---------------------------------------------------------------------------------- */

static void repeat(struct buf *out, const char *text, int times)
{
	for (int i = 0; i < times; i++)
		buf_puts(out, text);
}

START_TEST(depth_is_bounded)
{
	struct buf text = { 0 };
	struct node *root;

	repeat(&text, "[", NODE_DEPTH_MAX);
	repeat(&text, "]", NODE_DEPTH_MAX);
	root = parsed(text.data);
	node_free(root);
	text.len = 0;
	repeat(&text, "[", NODE_DEPTH_MAX + 1);
	expect_refused(text.data, text.len, (struct place){ 1, NODE_DEPTH_MAX + 1 }, "nested");
	buf_done(&text);
}
END_TEST

START_TEST(depth_through_aliases_is_bounded)
{
	struct buf text = { 0 };

	buf_puts(&text, "a0: &a0 [x]\n");
	for (int i = 1; i <= NODE_DEPTH_MAX; i++)
		buf_printf(&text, "a%d: &a%d [*a%d]\n", i, i, i - 1);
	expect_refused(text.data, text.len, (struct place){ 64, 12 }, "nested");
	buf_done(&text);
}
END_TEST

START_TEST(laughs_are_bounded)
{
	struct buf text = { 0 };

	buf_puts(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 10; i++) {
		buf_printf(&text, "a%d: &a%d [*a%d", i, i, i - 1);
		for (int j = 0; j < 9; j++)
			buf_printf(&text, ",*a%d", i - 1);
		buf_puts(&text, "]\n");
	}
	expect_refused(text.data, text.len, (struct place){ 5, 38 }, "over 100000 values");
	buf_done(&text);
}
END_TEST

/* Each document is small enough, all together are not. */
START_TEST(laughs_over_documents_are_bounded)
{
	struct buf text = { 0 };

	buf_puts(&text, "&a [");
	repeat(&text, "x,", 200);
	buf_puts(&text, "]\n");
	for (int i = 0; i < 10; i++) {
		buf_puts(&text, "---\n- &a [");
		repeat(&text, "x,", 200);
		buf_puts(&text, "]\n- [");
		repeat(&text, "*a,", 99);
		buf_puts(&text, "]\n");
	}
	expect_refused(text.data, text.len, (struct place){ 16, 289 }, "over 100000 values");
	buf_done(&text);
}
END_TEST

START_TEST(long_text_through_aliases_is_bounded)
{
	struct buf text = { 0 };

	buf_puts(&text, "- &a ");
	repeat(&text, "x", NODE_TEXT_MAX / 2);
	repeat(&text, "\n- *a", 10);
	expect_refused(text.data, text.len, (struct place){ 9, 3 }, "bytes of text");
	buf_done(&text);
}
END_TEST

START_TEST(size_is_bounded)
{
	struct buf text = { 0 };
	struct node *root;

	buf_puts(&text, "a: ");
	repeat(&text, "x", NODE_TEXT_MAX - 3);
	root = parsed(text.data);
	node_free(root);
	buf_puts(&text, "x");
	expect_refused(text.data, text.len, (struct place){ 0, 0 }, "over 1048576 bytes");
	buf_done(&text);
}
END_TEST

START_TEST(keys_are_bounded)
{
	struct buf text = { 0 };
	struct node *root;

	for (int i = 0; i < NODE_KEYS_MAX; i++)
		buf_printf(&text, "k%d: 1\n", i);
	root = parsed(text.data);
	node_free(root);
	buf_puts(&text, "more: 1\n");
	expect_refused(text.data, text.len, (struct place){ NODE_KEYS_MAX + 1, 1 },
		"over 1024 keys");
	text.len -= strlen("more: 1\n");
	buf_puts(&text, "<<: {k0: 2, more: 1}\n");
	expect_refused(text.data, text.len, (struct place){ NODE_KEYS_MAX + 1, 5 },
		"over 1024 keys");
	text.len = 0;
	repeat(&text, "k", NODE_KEY_MAX);
	buf_puts(&text, ": 1");
	root = parsed(text.data);
	node_free(root);
	text.len = 0;
	repeat(&text, "k", NODE_KEY_MAX + 1);
	buf_puts(&text, ": 1");
	expect_refused(text.data, text.len, (struct place){ 1, 1 }, "a key of over 320 bytes");
	buf_done(&text);
}
END_TEST

START_TEST(documents_are_bounded)
{
	struct buf text = { 0 };
	struct documents docs = { 0 };
	struct place place;
	struct err err;

	repeat(&text, "--- 1\n---\n", NODE_DOCUMENTS_MAX);
	ck_assert_int_eq(nodes_parse(text.data, text.len, &docs, &place, &err), 0);
	ck_assert_uint_eq(docs.n, NODE_DOCUMENTS_MAX);
	documents_done(&docs);
	buf_puts(&text, "--- 1\n");
	expect_refused(text.data, text.len, (struct place){ 2 * NODE_DOCUMENTS_MAX + 1, 5 },
		"over 1000 documents");
	buf_done(&text);
}
END_TEST

START_TEST(anchors_are_bounded)
{
	struct buf text = { 0 };

	for (int i = 0; i <= NODE_ANCHORS_MAX; i++)
		buf_printf(&text, "- &a%d 1\n", i);
	expect_refused(text.data, text.len, (struct place){ NODE_ANCHORS_MAX + 1, 3 },
		"over 1000 anchors");
	buf_done(&text);
}
END_TEST

START_TEST(nothing_is_no_document)
{
	static const char *const empty[] = { "", "\n", "# only a comment\n", "---\n",
		"---\n---\n...\n", "~\n", "--- null\n" };
	struct documents docs = { 0 };
	struct place place;

	for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
		ck_assert_int_eq(nodes_parse(empty[i], strlen(empty[i]), &docs, &place, NULL), 0);
		ck_assert_uint_eq(docs.n, 0);
		documents_done(&docs);
	}
	ck_assert_int_eq(nodes_parse(NULL, 0, &docs, &place, NULL), 0);
	documents_done(&docs);
}
END_TEST

/* ---- places ---------------------------------------------------------------------------------- */

START_TEST(places_are_kept)
{
	struct node *root = parsed("# c\na:\n  - \xC3\xA9: {x: &v 1}\n    w: *v\n<<: {z: 2}\n");
	const struct node *item = node_get(root, "a")->children[0];
	const struct node *x = node_get(item->children[0], "x");

	ck_assert_int_eq(node_get(root, "a")->key_line, 2);
	ck_assert_int_eq(node_get(root, "a")->key_column, 1);
	ck_assert_int_eq(item->line, 3);
	ck_assert_int_eq(item->column, 5);
	ck_assert_int_eq(x->key_column, 9);
	ck_assert_int_eq(x->line, 3);
	ck_assert_int_eq(x->column, 12);
	ck_assert_int_eq(node_get(item, "w")->key_line, 4); /* the name here, the value there */
	ck_assert_int_eq(node_get(item, "w")->line, 3);
	ck_assert_int_eq(node_get(root, "z")->line, 5);
	node_free(root);
}
END_TEST

START_TEST(places_after_a_surrogate_pair)
{
	struct node *root = parsed("{\"a\": \"\\ud83d\\ude00\", \"b\": 1}");

	ck_assert_int_eq(node_get(root, "b")->key_column, 23);
	node_free(root);
}
END_TEST

/* ---- operations ------------------------------------------------------------------------------ */

START_TEST(get_and_at)
{
	struct node *root = parsed("a: {b: {c: x}, bc: 5}\nl: [1]\n");

	ck_assert_str_eq(node_text(root, "a.b.c"), "x");
	ck_assert_str_eq(node_text(root, "a.bc"), "5");
	ck_assert_ptr_null(node_text(root, "a.b"));
	ck_assert_ptr_null(node_at(root, "a.b.c.d"));
	ck_assert_ptr_null(node_at(root, "a.bcd"));
	ck_assert_ptr_null(node_at(root, "a.x.c"));
	ck_assert_ptr_null(node_at(root, "l.x"));
	ck_assert_ptr_null(node_at(NULL, "a"));
	ck_assert_ptr_null(node_get(NULL, "a"));
	ck_assert_ptr_null(node_get(node_get(root, "l"), "a"));
	node_free(root);
}
END_TEST

START_TEST(set_and_remove)
{
	struct node *root = node_new(NODE_MAP, NULL);
	autofree char *json = NULL;

	node_set_path(root, "a.b.c", node_new_int(INT64_MIN));
	node_set_path(root, "a.b.d", node_new(NODE_STRING, "x"));
	node_set(root, "e", node_new(NODE_BOOL, "true"));
	node_set(root, "e", node_new(NODE_NULL, NULL));
	node_set_path(root, "e.f", node_new(NODE_LIST, NULL)); /* replaces what is no map */
	for (int i = 0; i < 6; i++)
		node_append(node_at(root, "e.f"), node_new_int(i));
	node_remove(root, "nothing");
	node_remove(node_at(root, "a.b"), "c");
	json = node_json(root);
	ck_assert_str_eq(json, "{\"a\":{\"b\":{\"d\":\"x\"}},\"e\":{\"f\":[0,1,2,3,4,5]}}");
	node_free(root);
}
END_TEST

START_TEST(equality)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} pairs[] = {
		{ "{a: 1, b: [x]}", "{b: [x], a: 1}", true },
		{ "{a: 1}", "{a: 1, b: 2}", false },
		{ "{a: 1}", "{b: 1}", false },
		{ "[1, 2]", "[2, 1]", false },
		{ "5", "'5'", false },
		{ "[1]", "[1, 1]", false },
		{ "[yes]", "[on]", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct node *a = parsed(pairs[i].a), *b = parsed(pairs[i].b);

		ck_assert_msg(node_equal(a, b) == pairs[i].equal, "%s, %s", pairs[i].a, pairs[i].b);
		node_free(a);
		node_free(b);
	}
	ck_assert(node_equal(NULL, NULL));
}
END_TEST

START_TEST(copies_are_deep)
{
	struct node *root = parsed("a: {b: [1, {c: x}]}\n");
	struct node *copy = node_copy(root);

	ck_assert(node_equal(root, copy));
	ck_assert_int_eq(node_at(copy, "a.b")->key_column, 5);
	node_remove(node_get(root, "a"), "b");
	ck_assert(!node_equal(root, copy));
	node_free(root);
	ck_assert_ptr_nonnull(node_at(copy, "a.b"));
	node_free(copy);
	ck_assert_ptr_null(node_copy(NULL));
}
END_TEST

static TCase *parse_case(void)
{
	TCase *tc = tcase_create("parse");

	tcase_add_loop_test(tc, scalars_resolve, 0, ARRAY_SIZE(scalars));
	tcase_add_loop_test(tc, texts_become_trees, 0, ARRAY_SIZE(texts));
	tcase_add_loop_test(tc, refusals_have_a_place, 0, ARRAY_SIZE(refused));
	tcase_add_test(tc, depth_is_bounded);
	tcase_add_test(tc, depth_through_aliases_is_bounded);
	tcase_add_test(tc, laughs_are_bounded);
	tcase_add_test(tc, laughs_over_documents_are_bounded);
	tcase_add_test(tc, long_text_through_aliases_is_bounded);
	tcase_add_test(tc, size_is_bounded);
	tcase_add_test(tc, keys_are_bounded);
	tcase_add_test(tc, documents_are_bounded);
	tcase_add_test(tc, anchors_are_bounded);
	tcase_add_test(tc, nothing_is_no_document);
	tcase_add_test(tc, places_are_kept);
	tcase_add_test(tc, places_after_a_surrogate_pair);
	return tc;
}

Suite *test_node_suite(void)
{
	Suite *suite = suite_create("node");
	TCase *tc = tcase_create("operations");

	tcase_add_test(tc, get_and_at);
	tcase_add_test(tc, set_and_remove);
	tcase_add_test(tc, equality);
	tcase_add_test(tc, copies_are_deep);
	suite_add_tcase(suite, parse_case());
	suite_add_tcase(suite, tc);
	return suite;
}
