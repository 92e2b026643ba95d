/* SPDX-License-Identifier: Apache-2.0 */
/* The three-way merge of apply: cases from kubectl's documentation and from its rules. */
#include <check.h>
#include <string.h>

#include "cli/json.h"
#include "cli/merge_apply.h"

Suite *test_cli_apply_suite(void);

/* clang-format off */
static const struct {
	const char *base, *theirs, *ours, *result; /* base NULL: nothing is known of an earlier apply */
} merges[] = {
	{ "{}", "{}", "{}", "{}" },
	/* a field of the file wins over drift */
	{ "{\"a\":1}", "{\"a\":1}", "{\"a\":2}", "{\"a\":1}" },
	{ NULL, "{\"a\":1}", "{\"a\":2}", "{\"a\":1}" },
	/* what others added stays */
	{ "{\"a\":1}", "{\"a\":1}", "{\"a\":1,\"uuid\":\"x\"}", "{\"a\":1,\"uuid\":\"x\"}" },
	{ "{\"f\":{\"a\":1}}", "{\"f\":{\"a\":2}}", "{\"f\":{\"a\":1,\"uuid\":\"x\"}}", "{\"f\":{\"a\":2,\"uuid\":\"x\"}}" },
	/* what was taken out of the file goes, also when it has drifted, and is no error
	 * when it is gone */
	{ "{\"a\":1,\"b\":1}", "{\"a\":1}", "{\"a\":1,\"b\":1,\"c\":1}", "{\"a\":1,\"c\":1}" },
	{ "{\"b\":1}", "{}", "{\"b\":2}", "{}" },
	{ "{\"b\":1}", "{}", "{}", "{}" },
	{ "{\"f\":{\"a\":1,\"b\":2}}", "{\"f\":{\"a\":1}}", "{\"f\":{\"a\":1,\"b\":2,\"c\":3}}", "{\"f\":{\"a\":1,\"c\":3}}" },
	{ "{\"f\":{\"a\":1}}", "{}", "{\"f\":{\"a\":1,\"uuid\":\"x\"}}", "{}" },
	/* without an earlier apply nothing is removed */
	{ NULL, "{\"a\":1}", "{\"a\":1,\"b\":1}", "{\"a\":1,\"b\":1}" },
	/* new fields */
	{ "{}", "{\"f\":{\"a\":[1]}}", "{}", "{\"f\":{\"a\":[1]}}" },
	/* lists are values */
	{ "{\"l\":[1,2]}", "{\"l\":[2]}", "{\"l\":[1,2,3]}", "{\"l\":[2]}" },
	{ "{\"l\":[{\"name\":\"a\",\"x\":1}]}", "{\"l\":[{\"name\":\"a\"}]}", "{\"l\":[{\"name\":\"a\",\"x\":1,\"y\":2}]}", "{\"l\":[{\"name\":\"a\"}]}" },
	/* another kind of value */
	{ "{\"a\":1}", "{\"a\":{\"b\":1}}", "{\"a\":1}", "{\"a\":{\"b\":1}}" },
	{ "{\"a\":{\"b\":1}}", "{\"a\":1}", "{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":1}" },
	/* null removes, and is never stored */
	{ "{}", "{\"a\":null}", "{\"a\":1,\"b\":1}", "{\"b\":1}" },
	{ "{}", "{\"f\":{\"a\":null,\"b\":1}}", "{}", "{\"f\":{\"b\":1}}" },
};
/* clang-format on */

static struct node *tree(const char *text)
{
	struct node *root = NULL;

	ck_assert(!text || !json_parse(text, strlen(text), &root, NULL));
	return root;
}

START_TEST(apply_merges)
{
	struct node *base = tree(merges[_i].base), *theirs = tree(merges[_i].theirs);
	struct node *ours = tree(merges[_i].ours), *result = tree(merges[_i].result);
	struct node *merged = merge_apply(base, theirs, ours);
	autofree char *json = node_json(merged);

	ck_assert_msg(node_equal(merged, result), "%s", json);
	node_free(base);
	node_free(theirs);
	node_free(ours);
	node_free(result);
	node_free(merged);
}
END_TEST

Suite *test_cli_apply_suite(void)
{
	Suite *s = suite_create("cli apply");
	TCase *t = tcase_create("rules");

	tcase_add_loop_test(t, apply_merges, 0, ARRAY_SIZE(merges));
	suite_add_tcase(s, t);
	return s;
}
