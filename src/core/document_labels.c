/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of a run: its own, and those that tell where it is, which KubeVirt's users select by.
 * The latter are made for each document from what is known and are no part of the object; manifests
 * may not have them. Pure.
 */
#include "core/codec.h"
#include "core/document_private.h"
#include "core/migration.h"
#include "core/phase.h"

#define NODE_LABEL "kubevirt.io/nodeName"
#define GOAL_LABEL "kubevirt.io/migrationTargetNodeName"

static bool has(const struct migration *g, enum migration_phase phase)
{
	return g->phase_wall[phase] != 0;
}

/* As upstream: from when the target gets ready for it until the migration has ended, either way. */
static const char *goal_of(const struct machine *m, const char *node_name)
{
	const struct migration *g = m->migration;

	if (!g || !streq(g->vmi_uid, m->vmi->meta.uid) ||
		!has(g, MIGRATION_PHASE_PREPARING_TARGET) || has(g, MIGRATION_PHASE_SUCCEEDED) ||
		has(g, MIGRATION_PHASE_FAILED))
		return NULL;
	return g->role == MIGRATION_SOURCE ? g->peer : node_name;
}

static void put(cJSON *labels, const char *key, const char *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(labels, key);
	cJSON_AddStringToObject(labels, key, value);
}

char *vmi_labels(const struct machine *m, const char *node_name)
{
	const char *own = m->vmi->meta.labels, *goal = goal_of(m, node_name);
	cJSON *labels;

	if (!node_name || phase_is_unprocessed(m->vmi->phase))
		return own ? xstrdup(own) : NULL;
	labels = cJSON_Parse(own ? own : "{}");
	put(labels, NODE_LABEL, node_name);
	if (goal)
		put(labels, GOAL_LABEL, goal);
	return json_take_text(labels);
}

void vmi_labels_strip(struct node *root, const struct node *shown)
{
	static const char *const keys[] = { NODE_LABEL, GOAL_LABEL };
	struct node *metadata = node_get(root, "metadata"), *labels = node_get(metadata, "labels");
	const struct node *before = node_at(shown, "metadata.labels");

	if (!labels || labels->kind != NODE_MAP)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!shown || node_equal(node_get(labels, keys[i]), node_get(before, keys[i])))
			node_remove(labels, keys[i]);
	if (!labels->n_children)
		node_remove(metadata, "labels");
}
