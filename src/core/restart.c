/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run's own spec is the baseline. It carries two fields that may be of this run only: the
 * paused start, and the grace that a stop was given (which ends the comparison anyway). Nothing is
 * applied to a guest while it runs in this version, so any other difference counts.
 */
#include "core/restart.h"

#include "core/edit.h"
#include "core/instancetype.h"
#include "core/phase.h"

/* Where a and b differ first, as "domain.memory.guest", or NULL; owned by the caller. */
static char *difference(const struct node *a, const struct node *b);

static char *joined(const char *key, char *below)
{
	autofree char *rest = below;

	return xasprintf("%s%s%s", key, rest[0] && rest[0] != '[' ? "." : "", rest);
}

static char *map_difference(const struct node *a, const struct node *b)
{
	for (size_t i = 0; i < a->n_children; i++) {
		const struct node *child = a->children[i];
		char *below = difference(child, node_get(b, child->key));

		if (below)
			return joined(child->key, below);
	}
	for (size_t i = 0; i < b->n_children; i++) {
		if (!node_get(a, b->children[i]->key))
			return xstrdup(b->children[i]->key);
	}
	return NULL;
}

static char *list_difference(const struct node *a, const struct node *b)
{
	if (a->n_children != b->n_children)
		return xstrdup("");
	for (size_t i = 0; i < a->n_children; i++) {
		autofree char *index = xasprintf("[%zu]", i);
		char *below = difference(a->children[i], b->children[i]);

		if (below)
			return joined(index, below);
	}
	return NULL;
}

static char *difference(const struct node *a, const struct node *b)
{
	if (a && b && a->kind == NODE_MAP && b->kind == NODE_MAP)
		return map_difference(a, b);
	if (a && b && a->kind == NODE_LIST && b->kind == NODE_LIST)
		return list_difference(a, b);
	return a && b && node_equal(a, b) ? NULL : xstrdup("");
}

static char *compare(const struct machine *m)
{
	struct node *vm_spec = vm_spec_expanded(m->vm), *is = text_tree(m->vmi->spec);
	struct node *wanted = vmi_spec_tree(vm_spec);
	char *path;

	if (is && !node_get(wanted, "startStrategy"))
		node_remove(is, "startStrategy");
	path = difference(is, wanted);
	node_free(vm_spec);
	node_free(is);
	node_free(wanted);
	return path;
}

void restart_compare(struct machine *m)
{
	if (!m->vm)
		return;
	free(take(&m->vm->restart));
	if (!m->vmi || m->vmi->meta.deleted || phase_is_final(m->vmi->phase) ||
		!streq(m->vmi->owner, m->vm->meta.uid) ||
		m->vmi->vm_generation == m->vm->meta.generation || m->vm->unpinned)
		return;
	m->vm->restart = compare(m);
	if (m->vm->restart)
		return;
	m->vmi->vm_generation = m->vm->meta.generation;
	m->vmi_changed = true;
}
