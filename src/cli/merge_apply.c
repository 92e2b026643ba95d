/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three-way merge of apply: a person gives the order, so drift is overwritten. The agent's own
 * merge of manifest files (core) follows another rule and lives there.
 */
#include "cli/merge_apply.h"

static void remove_dropped(const struct node *base, const struct node *theirs, struct node *result)
{
	for (size_t i = 0; base && base->kind == NODE_MAP && i < base->n_children; i++)
		if (!node_get(theirs, base->children[i]->key))
			node_remove(result, base->children[i]->key);
}

struct node *merge_apply(const struct node *base, const struct node *theirs,
	const struct node *ours)
{
	bool maps = theirs->kind == NODE_MAP && ours && ours->kind == NODE_MAP;
	struct node *result = maps ? node_copy(ours) : NULL;

	if (theirs->kind != NODE_MAP)
		return node_copy(theirs);
	if (!maps)
		result = node_new(NODE_MAP, NULL);
	remove_dropped(base, theirs, result);
	for (size_t i = 0; i < theirs->n_children; i++) {
		const struct node *child = theirs->children[i];

		if (child->kind == NODE_NULL)
			node_remove(result, child->key);
		else
			node_set(result, child->key,
				merge_apply(node_get(base, child->key), child,
					node_get(result, child->key)));
	}
	return result;
}
