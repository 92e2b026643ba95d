/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both kinds work on a copy, which takes the target's place when all of it went well.
 */
#include "core/patch.h"

#include <string.h>

/* ---- merge patch ----------------------------------------------------------------------------- */

static struct node *merged(struct node *target, const struct node *patch);

/* What a patch puts where nothing was: itself, without the nulls that mean "remove". */
static struct node *fresh(const struct node *patch)
{
	return patch->kind == NODE_MAP ? merged(node_new(NODE_MAP, NULL), patch) : node_copy(patch);
}

/* Takes target over and returns what it became. */
static struct node *merged(struct node *target, const struct node *patch)
{
	for (size_t i = 0; i < patch->n_children; i++) {
		const struct node *change = patch->children[i];
		size_t at = node_index(target, change->key);
		struct node *old = at < target->n_children ? target->children[at] : NULL;

		if (change->kind == NODE_NULL)
			node_remove(target, change->key);
		else if (old && old->kind == NODE_MAP && change->kind == NODE_MAP)
			merged(old, change);
		else
			node_set(target, change->key, fresh(change));
	}
	return target;
}

static int merge(const struct node *patch, struct node *root, struct err *err)
{
	if (patch->kind != NODE_MAP)
		return err_set(err, ERR_BAD_REQUEST, "a merge patch is an object");
	merged(root, patch);
	return 0;
}

/* The first directive, wherever it stands, or NULL. */
static const char *directive_in(const struct node *patch)
{
	const char *found = patch->key && patch->key[0] == '$' ? patch->key : NULL;

	for (size_t i = 0; i < patch->n_children && !found; i++)
		found = directive_in(patch->children[i]);
	return found;
}

static int merge_strategic(const struct node *patch, struct node *root, struct err *err)
{
	const char *directive = directive_in(patch);

	if (directive)
		return err_set(err, ERR_BAD_REQUEST,
			"directive '%.64s' of a strategic merge patch is not served; use 'kubectl patch "
			"--type merge'",
			directive);
	return merge(patch, root, err);
}

/* ---- JSON patch: pointers -------------------------------------------------------------------- */

struct spot { /* where a pointer leads: a child of parent that is there or could be */
	struct node *parent; /* NULL: the whole document */
	char *key;           /* owned: of a map */
	size_t index;        /* of the child; of a list possibly n_children */
	bool there;
};

static void spot_done(struct spot *s)
{
	free(s->key);
}

static char *unescaped(const char *token, size_t len)
{
	struct buf out = { 0 };

	buf_puts(&out, "");
	for (size_t i = 0; i < len; i++) {
		bool escape = token[i] == '~' && i + 1 < len &&
			(token[i + 1] == '0' || token[i + 1] == '1');

		if (escape)
			buf_puts(&out, token[++i] == '0' ? "~" : "/");
		else
			buf_add(&out, &token[i], 1);
	}
	return out.data;
}

/* A list's element by "0", "12" or "-", which is the one after the last. */
static bool read_index(const struct node *list, const char *token, size_t *ret)
{
	size_t digits = strspn(token, "0123456789");

	if (streq(token, "-")) {
		*ret = list->n_children;
		return true;
	}
	if (!digits || token[digits] || digits > 6 || (token[0] == '0' && digits > 1))
		return false;
	*ret = strtoul(token, NULL, 10);
	return *ret <= list->n_children;
}

static bool step_to(struct node *parent, char *token, struct spot *ret)
{
	bool ok = true;

	spot_done(ret);
	*ret = (struct spot){ .parent = parent, .key = token };
	if (parent->kind == NODE_MAP)
		ret->index = node_index(parent, token);
	else
		ok = parent->kind == NODE_LIST && read_index(parent, token, &ret->index);
	ret->there = ok && ret->index < parent->n_children;
	return ok;
}

static int no_path(const char *pointer, struct err *err)
{
	return err_set(err, ERR_INVALID, "the object has nothing at '%.200s'", pointer);
}

static int follow(struct node **root, const char *pointer, struct spot *ret, struct err *err)
{
	const char *rest = pointer;
	struct node *at = *root;

	while (*rest == '/') {
		size_t len = strcspn(rest + 1, "/");

		if (ret->parent && !ret->there)
			return no_path(pointer, err);
		at = ret->parent ? ret->parent->children[ret->index] : at;
		if (!step_to(at, unescaped(rest + 1, len), ret))
			return no_path(pointer, err);
		rest += 1 + len;
	}
	if (*rest)
		return err_set(err, ERR_BAD_REQUEST, "'%.200s' is no JSON pointer", pointer);
	return 0;
}

/* Follows a pointer to its last step, which need not be there. */
static int find_spot(struct node **root, const char *pointer, struct spot *ret, struct err *err)
{
	int rc;

	*ret = (struct spot){ .there = true };
	rc = follow(root, pointer, ret, err);
	if (rc)
		spot_done(ret);
	return rc;
}

/* ---- JSON patch: operations ------------------------------------------------------------------ */

struct operation { /* one, with what it works on; borrowed */
	const char *name, *path, *from;
	const struct node *value;
	struct node **root;
	size_t *nodes; /* that the document has */
};

static struct node *value_at(struct node **root, const struct spot *s)
{
	return s->parent ? s->parent->children[s->index] : *root;
}

/* Puts value there, in the place of what a map has there already. */
static void put(struct node **root, struct spot *s, struct node *value)
{
	if (!s->parent) {
		node_free(*root);
		*root = value;
	} else if (s->parent->kind == NODE_MAP) {
		node_set(s->parent, s->key, value);
	} else {
		free(take(&value->key));
		node_insert(s->parent, s->index, value);
	}
}

static size_t depth_of(const struct node *node)
{
	size_t depth = 0;

	for (size_t i = 0; i < node->n_children; i++) {
		size_t below = depth_of(node->children[i]); /* MAX would ask twice */

		depth = MAX(depth, below);
	}
	return depth + 1;
}

static size_t steps_of(const char *pointer)
{
	size_t steps = 0;

	for (; *pointer; pointer++)
		steps += *pointer == '/';
	return steps;
}

/* The bounds of an object that was read hold for one that was made, too. */
static int check_growth(const struct operation *op, const struct node *value, struct err *err)
{
	*op->nodes += node_count(value);
	if (*op->nodes > NODE_COUNT_MAX)
		return err_set(err, ERR_INVALID, "the object would have more than %d parts",
			NODE_COUNT_MAX);
	if (steps_of(op->path) + depth_of(value) > NODE_DEPTH_MAX)
		return err_set(err, ERR_INVALID, "the object would be more than %d levels deep",
			NODE_DEPTH_MAX);
	return 0;
}

/* Takes value over. */
static int add_value(const struct operation *op, struct node *value, struct err *err)
{
	struct spot s = { 0 };
	int rc = check_growth(op, value, err);

	if (!rc)
		rc = find_spot(op->root, op->path, &s, err);
	if (rc) {
		node_free(value);
		return rc;
	}
	put(op->root, &s, value);
	spot_done(&s);
	return 0;
}

static int do_add(const struct operation *op, struct err *err)
{
	return add_value(op, node_copy(op->value), err);
}

static int find_there(const struct operation *op, const char *pointer, struct spot *ret,
	struct err *err)
{
	int rc = find_spot(op->root, pointer, ret, err);

	if (rc || ret->there)
		return rc;
	spot_done(ret);
	return no_path(pointer, err);
}

static int do_remove(const struct operation *op, struct err *err)
{
	struct spot s;
	int rc = find_there(op, op->path, &s, err);

	if (rc)
		return rc;
	if (s.parent)
		node_free(node_take(s.parent, s.index));
	else
		rc = err_set(err, ERR_INVALID, "the whole object cannot be removed");
	spot_done(&s);
	return rc;
}

static int do_replace(const struct operation *op, struct err *err)
{
	struct spot s;
	int rc = find_there(op, op->path, &s, err);

	if (rc)
		return rc;
	if (s.parent && s.parent->kind == NODE_LIST)
		node_free(node_take(s.parent, s.index));
	spot_done(&s);
	return do_add(op, err);
}

static int do_copy(const struct operation *op, struct err *err)
{
	struct spot s;
	int rc = find_there(op, op->from, &s, err);

	if (rc)
		return rc;
	rc = add_value(op, node_copy(value_at(op->root, &s)), err);
	spot_done(&s);
	return rc;
}

static int do_move(const struct operation *op, struct err *err)
{
	size_t len = strlen(op->from);
	struct spot s;
	int rc;

	if (starts_with(op->path, op->from) && op->path[len] == '/')
		return err_set(err, ERR_INVALID, "'%.200s' cannot be moved into itself", op->from);
	if (streq(op->path, op->from))
		return 0;
	rc = find_there(op, op->from, &s, err);
	if (rc)
		return rc;
	rc = s.parent ? add_value(op, node_take(s.parent, s.index), err)
		      : err_set(err, ERR_INVALID, "the whole object cannot be moved");
	spot_done(&s);
	return rc;
}

/* As Kubernetes' own library has it, a test for null is one for a member that is not there, too. */
static int do_test(const struct operation *op, struct err *err)
{
	struct spot s;
	int rc = find_spot(op->root, op->path, &s, err);

	if (rc)
		return rc;
	if (!s.there)
		rc = op->value->kind == NODE_NULL && s.parent->kind == NODE_MAP
			? 0
			: no_path(op->path, err);
	else if (!node_equal(value_at(op->root, &s), op->value))
		rc = err_set(err, ERR_INVALID, "the test of '%.200s' failed: its value is another",
			op->path);
	spot_done(&s);
	return rc;
}

static const struct {
	const char *name;
	bool value, from; /* what it takes */
	int (*run)(const struct operation *op, struct err *err);
} operations[] = {
	{ "add", true, false, do_add },
	{ "remove", false, false, do_remove },
	{ "replace", true, false, do_replace },
	{ "move", false, true, do_move },
	{ "copy", false, true, do_copy },
	{ "test", true, false, do_test },
};

static bool is_pointer(const char *text)
{
	return text && strlen(text) <= PATCH_POINTER_MAX;
}

static int operate(struct operation *op, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!streq(operations[i].name, op->name))
			continue;
		if (!is_pointer(op->path) || (operations[i].from && !is_pointer(op->from)) ||
			(operations[i].value && !op->value))
			return err_set(err, ERR_BAD_REQUEST, "'%s' needs a path%s%s", op->name,
				operations[i].from ? " and a from" : "",
				operations[i].value ? " and a value" : "");
		return operations[i].run(op, err);
	}
	return err_set(err, ERR_BAD_REQUEST,
		"op '%.40s' is none of add, remove, replace, move, copy, test",
		op->name ? op->name : "");
}

static int apply_operations(const struct node *patch, struct node **root, struct err *err)
{
	size_t nodes = node_count(*root);
	int rc = 0;

	if (patch->kind != NODE_LIST || patch->n_children > PATCH_OPERATIONS_MAX)
		return err_set(err, ERR_BAD_REQUEST,
			"a JSON patch is a list of at most %d operations", PATCH_OPERATIONS_MAX);
	for (size_t i = 0; i < patch->n_children && rc == 0; i++) {
		const struct node *item = patch->children[i];
		struct operation op = { .root = root, .nodes = &nodes };

		op.name = node_text(item, "op");
		op.path = node_text(item, "path");
		op.from = node_text(item, "from");
		op.value = node_get(item, "value");
		rc = operate(&op, err);
		if (rc)
			err_wrap(err, "operation %zu", i + 1);
	}
	return rc;
}

int patch_apply(enum patch_kind kind, const struct node *patch, struct node **target,
	struct err *err)
{
	struct node *copy = node_copy(*target);
	int rc = 0;

	switch (kind) {
	case PATCH_MERGE:
		rc = merge(patch, copy, err);
		break;
	case PATCH_STRATEGIC:
		rc = merge_strategic(patch, copy, err);
		break;
	case PATCH_JSON:
		rc = apply_operations(patch, &copy, err);
		break;
	case PATCH_KIND_MAX:
		break;
	}
	if (!rc && copy->kind != NODE_MAP)
		rc = err_set(err, ERR_INVALID, "the patch leaves no object");
	if (rc) {
		node_free(copy);
		return rc;
	}
	node_free(*target);
	*target = copy;
	return 0;
}
