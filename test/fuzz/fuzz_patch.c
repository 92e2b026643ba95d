/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes patches of both kinds. The input is an object and a patch, a line each; a patch that is a
 * list is a JSON patch.
 *
 * What a merge patch makes agrees with the patch, keeps all else, and does not change when it is
 * patched once more (RFC 7386). What a JSON patch's operation adds is there when it is tested,
 * and a patch that fails changes nothing. Whatever is made keeps the bounds of what can be read,
 * and can be read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/patch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static struct node *parse(const char *text)
{
	struct documents docs = { 0 };
	struct node *root = NULL;
	struct place place;

	if (nodes_parse(text, strlen(text), &docs, &place, NULL) == 0 && docs.n == 1)
		root = take(&docs.roots[0]);
	documents_done(&docs);
	return root;
}

/* ---- what holds of any result ---------------------------------------------------------------- */

struct size {
	size_t depth, keys, key_len;
};

static void measure(const struct node *node, size_t depth, struct size *s)
{
	s->depth = MAX(s->depth, depth);
	if (node->kind == NODE_MAP)
		s->keys = MAX(s->keys, node->n_children);
	for (size_t i = 0; i < node->n_children; i++) {
		const char *key = node->children[i]->key;

		check((key != NULL) == (node->kind == NODE_MAP));
		if (key)
			s->key_len = MAX(s->key_len, strlen(key));
		measure(node->children[i], depth + 1, s);
	}
}

/* Text, key and map may grow beyond what is read; that is the check's to refuse, which comes
 * next. */
static void check_result(const struct node *result)
{
	autofree char *json = node_json(result);
	struct size s = { 0 };
	struct node *again;

	measure(result, 1, &s);
	check(s.depth <= NODE_DEPTH_MAX);
	if (s.keys > NODE_KEYS_MAX || s.key_len > NODE_KEY_MAX || strlen(json) > NODE_TEXT_MAX)
		return;
	again = parse(json);
	check(again && node_equal(again, result));
	node_free(again);
}

static int apply(enum patch_kind kind, const struct node *patch, const struct node *target,
	struct node **ret)
{
	struct node *copy = node_copy(target);
	int rc = patch_apply(kind, patch, &copy, NULL);

	if (rc)
		check(node_equal(copy, target));
	else
		check_result(copy);
	*ret = copy;
	return rc;
}

/* ---- merge patches --------------------------------------------------------------------------- */

static bool agrees(const struct node *result, const struct node *patch)
{
	if (patch->kind != NODE_MAP)
		return node_equal(result, patch);
	if (result->kind != NODE_MAP)
		return false;
	for (size_t i = 0; i < patch->n_children; i++) {
		const struct node *wish = patch->children[i], *is = node_get(result, wish->key);

		if (wish->kind == NODE_NULL ? is != NULL : !is || !agrees(is, wish))
			return false;
	}
	return true;
}

static bool keeps(const struct node *result, const struct node *target, const struct node *patch)
{
	for (size_t i = 0; i < target->n_children; i++) {
		const struct node *was = target->children[i], *is = node_get(result, was->key);

		if (!node_get(patch, was->key) && !(is && node_equal(is, was)))
			return false;
	}
	return true;
}

static void try_merge(const struct node *target, const struct node *patch)
{
	struct node *once = NULL, *twice = NULL;

	if (apply(PATCH_MERGE, patch, target, &once) == 0) {
		check(agrees(once, patch) && keeps(once, target, patch));
		check(apply(PATCH_MERGE, patch, once, &twice) == 0);
		check(node_equal(once, twice));
	}
	node_free(once);
	node_free(twice);
}

/* ---- JSON patches ---------------------------------------------------------------------------- */

static bool ends_with_dash(const char *path)
{
	size_t len = strlen(path);

	return len >= 2 && streq(path + len - 2, "/-");
}

/* The operation alone, and then together with a test of what it is to have made. */
static void try_operation(const struct node *target, const struct node *operation)
{
	const char *op = node_text(operation, "op"), *path = node_text(operation, "path");
	struct node *patch = node_new(NODE_LIST, NULL), *test, *result = NULL;
	bool sets = op && (streq(op, "add") || streq(op, "replace"));

	node_append(patch, node_copy(operation));
	if (apply(PATCH_JSON, patch, target, &result) == 0 && sets && !ends_with_dash(path)) {
		test = node_copy(operation);
		node_set(test, "op", node_new(NODE_STRING, "test"));
		node_append(patch, test);
		node_free(take(&result));
		check(apply(PATCH_JSON, patch, target, &result) == 0);
	}
	node_free(result);
	node_free(patch);
}

static void try_json(const struct node *target, const struct node *patch)
{
	struct node *result = NULL;

	for (size_t i = 0; i < patch->n_children && i < 8; i++)
		try_operation(target, patch->children[i]);
	apply(PATCH_JSON, patch, target, &result);
	node_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = memcpy(xcalloc(1, size + 1), data, size);
	char *rest = text;
	const char *first = strsep(&rest, "\n");
	struct node *target = parse(first), *patch = parse(rest ? rest : "");

	if (target && patch && target->kind == NODE_MAP) {
		if (patch->kind == NODE_LIST)
			try_json(target, patch);
		else
			try_merge(target, patch);
	}
	node_free(target);
	node_free(patch);
	return 0;
}
