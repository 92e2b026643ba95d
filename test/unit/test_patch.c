/* SPDX-License-Identifier: Apache-2.0 */
/* Patches: the examples of RFC 7386 (appendix A) and RFC 6902 (appendix A), and
 * what must be refused. */
#include <check.h>
#include <string.h>

#include "core/patch.h"

Suite *test_patch_suite(void);

static struct node *parse(const char *text)
{
	struct documents docs = { 0 };
	struct place place;
	struct err err;
	struct node *root;

	ck_assert_msg(nodes_parse(text, strlen(text), &docs, &place, &err) == 0, "%s", err.msg);
	root = take(&docs.roots[0]);
	documents_done(&docs);
	return root;
}

struct example {
	const char *target, *patch, *result; /* result NULL: refused */
	const char *words;
};

static void check_example(enum patch_kind kind, const struct example *e)
{
	struct node *target = parse(e->target), *patch = parse(e->patch);
	struct err err = { 0 };
	int rc = patch_apply(kind, patch, &target, &err);
	struct node *want = parse(e->result ? e->result : e->target);
	autofree char *json = node_json(target);

	ck_assert_msg((rc == 0) == (e->result != NULL), "%s: %s", e->patch, err.msg);
	ck_assert_msg(node_equal(target, want), "%s gave %s", e->patch, json);
	if (rc)
		ck_assert_msg(strstr(err.msg, e->words) != NULL, "%s", err.msg);
	node_free(target);
	node_free(patch);
	node_free(want);
}

static const struct example merges[] = {
	{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}", NULL },
	{ "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}", NULL },
	{ "{\"a\":\"b\"}", "{\"a\":null}", "{}", NULL },
	{ "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}", NULL },
	{ "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}", NULL },
	{ "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}", NULL },
	{ "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}",
		NULL },
	{ "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}", NULL },
	{ "{\"a\":\"foo\"}", "7", NULL, "a merge patch is an object" },
	{ "{\"a\":\"foo\"}", "[1]", NULL, "a merge patch is an object" },
	{ "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}", NULL },
	{ "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}", NULL },
	{ "{\"a\":\"b\"}", "{\"a\":{\"c\":null,\"d\":1}}", "{\"a\":{\"d\":1}}", NULL },
};

static const struct example patches[] = {
	{ "{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\"}]",
		"{\"baz\":\"qux\",\"foo\":\"bar\"}", NULL },
	{ "{\"foo\":[\"bar\",\"baz\"]}", "[{\"op\":\"add\",\"path\":\"/foo/1\",\"value\":\"qux\"}]",
		"{\"foo\":[\"bar\",\"qux\",\"baz\"]}", NULL },
	{ "{\"baz\":\"qux\",\"foo\":\"bar\"}", "[{\"op\":\"remove\",\"path\":\"/baz\"}]",
		"{\"foo\":\"bar\"}", NULL },
	{ "{\"foo\":[\"bar\",\"qux\",\"baz\"]}", "[{\"op\":\"remove\",\"path\":\"/foo/1\"}]",
		"{\"foo\":[\"bar\",\"baz\"]}", NULL },
	{ "{\"baz\":\"qux\",\"foo\":\"bar\"}",
		"[{\"op\":\"replace\",\"path\":\"/baz\",\"value\":\"boo\"}]",
		"{\"baz\":\"boo\",\"foo\":\"bar\"}", NULL },
	{ "{\"foo\":[1,2,3]}", "[{\"op\":\"replace\",\"path\":\"/foo/2\",\"value\":4}]",
		"{\"foo\":[1,2,4]}", NULL },
	{ "{\"foo\":{\"bar\":\"baz\",\"waldo\":\"fred\"},\"qux\":{\"corge\":\"grault\"}}",
		"[{\"op\":\"move\",\"from\":\"/foo/waldo\",\"path\":\"/qux/thud\"}]",
		"{\"foo\":{\"bar\":\"baz\"},\"qux\":{\"corge\":\"grault\",\"thud\":\"fred\"}}",
		NULL },
	{ "{\"foo\":[\"all\",\"grass\",\"cows\",\"eat\"]}",
		"[{\"op\":\"move\",\"from\":\"/foo/1\",\"path\":\"/foo/3\"}]",
		"{\"foo\":[\"all\",\"cows\",\"eat\",\"grass\"]}", NULL },
	{ "{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}",
		"[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"qux\"},"
		"{\"op\":\"test\",\"path\":\"/foo/1\",\"value\":2}]",
		"{\"baz\":\"qux\",\"foo\":[\"a\",2,\"c\"]}", NULL },
	{ "{\"baz\":\"qux\"}", "[{\"op\":\"test\",\"path\":\"/baz\",\"value\":\"bar\"}]", NULL,
		"operation 1: the test of '/baz' failed" },
	{ "{\"a\":{}}",
		"[{\"op\":\"test\",\"path\":\"/a/b\",\"value\":null},"
		"{\"op\":\"add\",\"path\":\"/a/b\",\"value\":[]}]",
		"{\"a\":{\"b\":[]}}", NULL },
	{ "{\"a\":{}}", "[{\"op\":\"test\",\"path\":\"/a/b/c\",\"value\":null}]", NULL,
		"nothing at '/a/b/c'" },
	{ "{\"a\":{}}", "[{\"op\":\"test\",\"path\":\"/a/b\",\"value\":\"\"}]", NULL,
		"nothing at '/a/b'" },
	{ "{\"a\":[]}", "[{\"op\":\"test\",\"path\":\"/a/0\",\"value\":null}]", NULL,
		"nothing at '/a/0'" },
	{ "{\"a\":{\"b\":1}}", "[{\"op\":\"test\",\"path\":\"/a/b\",\"value\":null}]", NULL,
		"operation 1: the test of '/a/b' failed" },
	{ "{\"foo\":\"bar\"}",
		"[{\"op\":\"add\",\"path\":\"/child\",\"value\":{\"grandchild\":{}}}]",
		"{\"foo\":\"bar\",\"child\":{\"grandchild\":{}}}", NULL },
	{ "{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":\"qux\",\"xyz\":123}]",
		"{\"foo\":\"bar\",\"baz\":\"qux\"}", NULL },
	{ "{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz/bat\",\"value\":\"qux\"}]", NULL,
		"nothing at '/baz/bat'" },
	{ "{\"/\":9,\"~1\":10}",
		"[{\"op\":\"test\",\"path\":\"/~01\",\"value\":10},"
		"{\"op\":\"replace\",\"path\":\"/~1\",\"value\":8}]",
		"{\"/\":8,\"~1\":10}", NULL },
	{ "{\"foo\":[\"bar\"]}",
		"[{\"op\":\"add\",\"path\":\"/foo/-\",\"value\":[\"abc\",\"def\"]}]",
		"{\"foo\":[\"bar\",[\"abc\",\"def\"]]}", NULL },
	{ "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"b\":2}}]", "{\"b\":2}",
		NULL },
	{ "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":[2]}]", NULL,
		"leaves no object" },
	{ "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"\"}]", NULL, "cannot be removed" },
	{ "{\"a\":{\"b\":1}}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/c\"}]",
		"{\"a\":{\"b\":1,\"c\":{\"b\":1}}}", NULL },
	{ "{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/c\"}]", NULL,
		"moved into itself" },
	{ "{\"a\":{\"b\":1}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]",
		"{\"a\":{\"b\":1}}", NULL },
	/* the second fails, so the first is undone as well */
	{ "{\"a\":1}", "[{\"op\":\"remove\",\"path\":\"/a\"},{\"op\":\"remove\",\"path\":\"/a\"}]",
		NULL, "operation 2: the object has nothing at '/a'" },
	{ "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/2\",\"value\":1}]", NULL, "nothing at" },
	{ "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"/a/01\",\"value\":1}]", NULL, "nothing at" },
	{ "{\"a\":[1]}", "[{\"op\":\"remove\",\"path\":\"/a/-\"}]", NULL, "nothing at" },
	{ "{\"a\":[1]}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", NULL, "no JSON pointer" },
	{ "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/a/b\",\"value\":1}]", NULL, "nothing at" },
	{ "{\"a\":1}", "[{\"op\":\"drop\",\"path\":\"/a\"}]", NULL, "op 'drop' is none of" },
	{ "{\"a\":1}", "[{\"path\":\"/a\"}]", NULL, "op '' is none of" },
	{ "{\"a\":1}", "[{\"op\":\"add\",\"path\":\"/b\"}]", NULL, "needs a path and a value" },
	{ "{\"a\":1}", "[{\"op\":\"copy\",\"path\":\"/b\"}]", NULL, "needs a path and a from" },
	{ "{\"a\":1}", "{\"op\":\"add\"}", NULL, "is a list" },
	{ "{\"a\":1}", "[7]", NULL, "op '' is none of" },
};

START_TEST(test_merge)
{
	check_example(PATCH_MERGE, &merges[_i]);
}
END_TEST

START_TEST(test_json)
{
	check_example(PATCH_JSON, &patches[_i]);
}
END_TEST

/* Each operation alone is small; together they would double the object a hundred times. */
static void check_growth(const char *operation, const char *words)
{
	struct node *target = parse("{\"a\":{\"b\":1}}"), *patch;
	struct buf text = { 0 };
	struct err err = { 0 };

	buf_puts(&text, "[");
	for (int i = 0; i < 100; i++)
		buf_printf(&text, "%s%s", i ? "," : "", operation);
	buf_puts(&text, "]");
	patch = parse(text.data);
	ck_assert_int_eq(patch_apply(PATCH_JSON, patch, &target, &err), -ERR_INVALID);
	ck_assert_msg(strstr(err.msg, words) != NULL, "%s", err.msg);
	node_free(target);
	node_free(patch);
	buf_done(&text);
}

START_TEST(test_growth_is_bounded)
{
	check_growth("{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/a/c\"}", "levels deep");
	check_growth("{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"},"
		     "{\"op\":\"add\",\"path\":\"/l\",\"value\":[]},"
		     "{\"op\":\"copy\",\"from\":\"\",\"path\":\"/a/x\"}",
		"parts");
}
END_TEST

Suite *test_patch_suite(void)
{
	Suite *suite = suite_create("patch");
	TCase *tcase = tcase_create("patch");

	tcase_add_loop_test(tcase, test_merge, 0, (int)ARRAY_SIZE(merges));
	tcase_add_loop_test(tcase, test_json, 0, (int)ARRAY_SIZE(patches));
	tcase_add_test(tcase, test_growth_is_bounded);
	suite_add_tcase(suite, tcase);
	return suite;
}
