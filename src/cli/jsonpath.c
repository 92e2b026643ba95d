/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking a tree along a parsed template. Each step turns a row of nodes into the next one; all
 * nodes are borrowed from the tree that is asked, so nothing is copied.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/jsonpath_tree.h"

struct row {
	const struct node **nodes; /* owned array of borrowed nodes */
	size_t n, cap;
};

struct scope {
	const struct node *root; /* $ */
	const struct node *here; /* @ */
};

static struct row find(const struct expr *expr, const struct scope *scope);

static void row_add(struct row *row, const struct node *node)
{
	if (!node)
		return;
	if (row->n == row->cap) {
		row->cap = MAX(row->cap * 2, (size_t)8);
		row->nodes = xrealloc_array(row->nodes, row->cap, sizeof(*row->nodes));
	}
	row->nodes[row->n++] = node;
}

static void add_slice(const struct step *step, const struct node *list, struct row *to)
{
	int64_t n = (int64_t)list->n_children;
	int64_t from = step->has_from ? step->from : 0;
	int64_t end = step->has_to ? step->to : n;

	if (list->kind != NODE_LIST)
		return;
	from += from < 0 ? n : 0;
	end += end < 0 ? n : 0;
	if (step->single)
		end = from < 0 ? from : from + 1;
	for (int64_t i = MAX(from, (int64_t)0); i < MIN(end, n); i += step->by)
		row_add(to, list->children[i]);
}

static void add_below(const struct step *step, const struct node *node, struct row *to)
{
	if (step->name)
		row_add(to, node_get(node, step->name));
	else
		row_add(to, node);
	for (size_t i = 0; i < node->n_children; i++)
		add_below(step, node->children[i], to);
}

static bool is_number(const struct node *node)
{
	return node->kind == NODE_NUMBER;
}

static int compare_nodes(const struct node *a, const struct node *b)
{
	double x, y;

	if (!is_number(a) || !is_number(b))
		return strcmp(a->text ? a->text : "", b->text ? b->text : "");
	x = strtod(a->text, NULL);
	y = strtod(b->text, NULL);
	return (x > y) - (x < y);
}

static bool holds(enum compare compare, const struct node *a, const struct node *b)
{
	int order;

	if (a->n_children || b->n_children || a->kind != b->kind)
		return compare == COMPARE_NE;
	order = compare_nodes(a, b);
	switch (compare) {
	case COMPARE_EXISTS:
		return true;
	case COMPARE_EQ:
		return order == 0;
	case COMPARE_NE:
		return order != 0;
	case COMPARE_LE:
		return order <= 0;
	case COMPARE_LT:
		return order < 0;
	case COMPARE_GE:
		return order >= 0;
	case COMPARE_GT:
		return order > 0;
	}
	return false;
}

static bool passes(const struct step *step, const struct scope *scope)
{
	struct row left = find(&step->left, scope);
	struct row right = { 0 };
	bool ret = left.n;

	if (step->compare != COMPARE_EXISTS) {
		right = find(&step->right, scope);
		ret = left.n && right.n && holds(step->compare, left.nodes[0], right.nodes[0]);
	}
	free(left.nodes);
	free(right.nodes);
	return ret;
}

static void add_filtered(const struct step *step, const struct scope *scope,
	const struct node *node, struct row *to)
{
	for (size_t i = 0; i < node->n_children; i++) {
		struct scope inner = { .root = scope->root, .here = node->children[i] };

		if (passes(step, &inner))
			row_add(to, node->children[i]);
	}
}

static void walk(const struct step *step, const struct scope *scope, const struct node *node,
	struct row *to)
{
	switch (step->kind) {
	case STEP_FIELD:
		row_add(to, node_get(node, step->name));
		break;
	case STEP_RECURSE:
		add_below(step, node, to);
		break;
	case STEP_ALL:
		for (size_t i = 0; i < node->n_children; i++)
			row_add(to, node->children[i]);
		break;
	case STEP_SLICE:
		add_slice(step, node, to);
		break;
	case STEP_UNION:
		for (size_t i = 0; i < step->n_either; i++)
			walk(&step->either[i], scope, node, to);
		break;
	case STEP_FILTER:
		add_filtered(step, scope, node, to);
		break;
	}
}

static struct row find(const struct expr *expr, const struct scope *scope)
{
	struct row row = { 0 };

	row_add(&row,
		expr->constant            ? expr->constant
			: expr->from_root ? scope->root
					  : scope->here);
	for (size_t i = 0; i < expr->n; i++) {
		struct row next = { 0 };

		for (size_t k = 0; k < row.n; k++)
			walk(&expr->steps[i], scope, row.nodes[k], &next);
		free(row.nodes);
		row = next;
	}
	return row;
}

void jsonpath_print_node(const struct node *node, struct buf *out)
{
	autofree char *json = NULL;

	if (node->kind == NODE_STRING) {
		buf_puts(out, node->text);
		return;
	}
	json = node_json(node);
	buf_puts(out, json);
}

static void print_path(const struct expr *expr, const struct scope *scope, struct buf *out)
{
	struct row row = find(expr, scope);

	for (size_t i = 0; i < row.n; i++) {
		if (i)
			buf_puts(out, " ");
		jsonpath_print_node(row.nodes[i], out);
	}
	free(row.nodes);
}

/* The index after the END that closes the range at `at`. */
static size_t range_end(const struct jsonpath *path, size_t at)
{
	int depth = 0;

	do {
		depth += path->parts[at].kind == PART_RANGE;
		depth -= path->parts[at].kind == PART_END;
		at++;
	} while (depth);
	return at;
}

static void print_parts(const struct jsonpath *path, size_t from, size_t to,
	const struct scope *scope, struct buf *out);

static void print_range(const struct jsonpath *path, size_t at, const struct scope *scope,
	struct buf *out)
{
	struct row row = find(&path->parts[at].expr, scope);
	size_t end = range_end(path, at);

	for (size_t i = 0; i < row.n; i++) {
		struct scope inner = { .root = scope->root, .here = row.nodes[i] };

		print_parts(path, at + 1, end - 1, &inner, out);
	}
	free(row.nodes);
}

static void print_parts(const struct jsonpath *path, size_t from, size_t to,
	const struct scope *scope, struct buf *out)
{
	while (from < to) {
		const struct part *part = &path->parts[from];

		switch (part->kind) {
		case PART_TEXT:
			buf_puts(out, part->text);
			break;
		case PART_PATH:
			print_path(&part->expr, scope, out);
			break;
		case PART_RANGE:
			print_range(path, from, scope, out);
			from = range_end(path, from);
			continue;
		case PART_END:
			break;
		}
		from++;
	}
}

void jsonpath_print(const struct jsonpath *path, const struct node *root, struct buf *out)
{
	struct scope scope = { .root = root, .here = root };

	print_parts(path, 0, path->n, &scope, out);
}

const struct node *jsonpath_first(const struct jsonpath *path, const struct node *root)
{
	struct scope scope = { .root = root, .here = root };

	for (size_t i = 0; i < path->n; i++) {
		struct row row;
		const struct node *first;

		if (path->parts[i].kind != PART_PATH)
			continue;
		row = find(&path->parts[i].expr, &scope);
		first = row.n ? row.nodes[0] : NULL;
		free(row.nodes);
		return first;
	}
	return NULL;
}

static int by_path(const void *a, const void *b, void *path)
{
	const struct node *x = jsonpath_first(path, *(struct node *const *)a);
	const struct node *y = jsonpath_first(path, *(struct node *const *)b);

	if (!x || !y)
		return !!x - !!y;
	if (x->kind == NODE_NUMBER && y->kind == NODE_NUMBER) {
		double m = strtod(x->text, NULL), n = strtod(y->text, NULL);

		return (m > n) - (m < n);
	}
	return strcmp(x->text ? x->text : "", y->text ? y->text : "");
}

void jsonpath_sort(const struct jsonpath *path, struct node *list)
{
	if (list->n_children)
		qsort_r(list->children, list->n_children, sizeof(struct node *), by_path,
			(void *)path);
}
