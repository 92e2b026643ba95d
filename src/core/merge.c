/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three-way merge of a manifest's file into the stored object (design §5): what the file
 * changed since it was last applied is written, all else stays as it is stored. And the two forms
 * in which a VM's spec says its strategy.
 *
 * Owns nothing; answers are new trees. It must not know fields, with one exception: running and
 * runStrategy exclude each other, so a file that brings one takes the other away.
 */
#include <string.h>

#include "core/manifest.h"

/* The merged value, owned, or NULL when it is to be absent. Any of the three may be NULL:
 * absent. */
static struct node *merge(const struct node *base, const struct node *theirs,
	const struct node *ours);

static bool is_map(const struct node *node)
{
	return node && node->kind == NODE_MAP;
}

static void set_or_remove(struct node *map, const char *key, struct node *value)
{
	if (value)
		node_set(map, key, value);
	else
		node_remove(map, key);
}

/* What the file says or said of each key; ours has the rest. */
static struct node *merge_maps(const struct node *base, const struct node *theirs,
	const struct node *ours)
{
	struct node *merged = node_copy(ours);

	for (size_t i = 0; base && i < base->n_children; i++) {
		const char *key = base->children[i]->key;

		set_or_remove(merged, key,
			merge(base->children[i], node_get(theirs, key), node_get(ours, key)));
	}
	for (size_t i = 0; theirs && i < theirs->n_children; i++) {
		const char *key = theirs->children[i]->key;

		if (!node_get(base, key))
			set_or_remove(merged, key,
				merge(NULL, theirs->children[i], node_get(ours, key)));
	}
	return merged;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static const struct node *find_named(const struct node *list, const char *name)
{
	for (size_t i = 0; list && i < list->n_children; i++) {
		if (streq(node_text(list->children[i], "name"), name))
			return list->children[i];
	}
	return NULL;
}

/* A list whose elements are maps with names, each once. Absent is as good as empty. */
static bool is_named_list(const struct node *list)
{
	if (!list)
		return true;
	if (list->kind != NODE_LIST)
		return false;
	for (size_t i = 0; i < list->n_children; i++) {
		const struct node *name = node_get(list->children[i], "name");

		if (!name || name->kind != NODE_STRING ||
			find_named(list, name->text) != list->children[i])
			return false;
	}
	return true;
}

static void append_merged(struct node *list, struct node *element)
{
	if (!element)
		return;
	replace_str(&element->key, NULL);
	node_append(list, element);
}

/* In the file's order, then those that only the stored object has, in its order. */
static struct node *merge_lists(const struct node *base, const struct node *theirs,
	const struct node *ours)
{
	struct node *merged = node_new(NODE_LIST, NULL);

	for (size_t i = 0; theirs && i < theirs->n_children; i++) {
		const char *name = node_text(theirs->children[i], "name");

		append_merged(merged,
			merge(find_named(base, name), theirs->children[i], find_named(ours, name)));
	}
	for (size_t i = 0; ours && i < ours->n_children; i++) {
		const char *name = node_text(ours->children[i], "name");

		if (!find_named(theirs, name) && !find_named(base, name))
			append_merged(merged, node_copy(ours->children[i]));
	}
	return merged;
}

/* ---- any value ------------------------------------------------------------------------------- */

/* The file took a value away. Of a map or a list with names in ours goes what the file had set;
 * what others set stays. */
static struct node *merge_removed(const struct node *base, const struct node *ours)
{
	struct node *rest;

	if (!ours || ours->kind != base->kind || !base->n_children)
		return NULL;
	if (base->kind == NODE_MAP)
		rest = merge_maps(base, NULL, ours);
	else if (is_named_list(base) && is_named_list(ours))
		rest = merge_lists(base, NULL, ours);
	else
		return NULL;
	if (rest->n_children)
		return rest;
	node_free(rest);
	return NULL;
}

static bool are_named_lists(const struct node *base, const struct node *theirs,
	const struct node *ours)
{
	return theirs->kind == NODE_LIST && is_named_list(theirs) && is_named_list(base) &&
		is_named_list(ours);
}

static struct node *merge(const struct node *base, const struct node *theirs,
	const struct node *ours)
{
	if (node_equal(base, theirs))
		return node_copy(ours);
	if (!theirs)
		return merge_removed(base, ours);
	if (is_map(theirs) && is_map(ours) && (!base || is_map(base)))
		return merge_maps(base, theirs, ours);
	if (are_named_lists(base, theirs, ours))
		return merge_lists(base, theirs, ours);
	return node_copy(theirs);
}

/* The file says its strategy in one form: the other one must not stay beside it. */
static void drop_other_form(const struct node *theirs, struct node *spec)
{
	bool running = node_get(theirs, "running");
	bool strategy = node_get(theirs, "runStrategy");

	if (!is_map(spec) || !node_get(spec, "running") || !node_get(spec, "runStrategy"))
		return;
	if (running && !strategy)
		node_remove(spec, "runStrategy");
	else if (strategy && !running)
		node_remove(spec, "running");
}

struct node *merge_three(const struct node *base, const struct node *theirs,
	const struct node *ours)
{
	struct node *merged = merge(base, theirs, ours);

	if (!merged)
		return node_new(NODE_MAP, NULL);
	drop_other_form(theirs, merged);
	drop_other_form(node_get(theirs, "spec"), node_get(merged, "spec"));
	return merged;
}

/* ---- running and runStrategy ----------------------------------------------------------------- */

enum run_strategy spec_run_strategy(const struct node *vm_spec, bool *ret_running)
{
	const struct node *running = node_get(vm_spec, "running");
	enum run_strategy strategy = STRATEGY_HALTED;

	*ret_running = running && running->kind == NODE_BOOL;
	if (*ret_running)
		return streq(running->text, "true") ? STRATEGY_ALWAYS : STRATEGY_HALTED;
	if (!run_strategy_parse(node_text(vm_spec, "runStrategy"), &strategy) ||
		strategy == STRATEGY_UNSET)
		return STRATEGY_HALTED;
	return strategy;
}

void spec_set_run_strategy(struct node *vm_spec, enum run_strategy strategy)
{
	bool always = strategy == STRATEGY_ALWAYS;
	bool running;

	spec_run_strategy(vm_spec, &running);
	if (running && (always || strategy == STRATEGY_HALTED)) {
		node_set(vm_spec, "running", node_new(NODE_BOOL, always ? "true" : "false"));
		return;
	}
	node_remove(vm_spec, "running"); /* it has no words for the others */
	node_set(vm_spec, "runStrategy", node_new(NODE_STRING, run_strategy_name(strategy)));
}
