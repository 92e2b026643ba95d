/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object travels with its guest: the target shows it under the same name, as it was ordered,
 * and with the times of the source, whose word they are, until the guest has changed hands.
 */
#include "core/edit.h"
#include "core/json.h"
#include "core/migration_order.h"
#include "core/migration_told.h"
#include "core/names.h"
#include "daemon/migration_objects.h"

#define NAME        "name"
#define SPEC        "spec"
#define LABELS      "labels"
#define ANNOTATIONS "annotations"
#define CREATED     "created"

static void add_text(cJSON *json, const char *key, const char *text)
{
	if (text)
		cJSON_AddStringToObject(json, key, text);
}

void migration_object_pack(cJSON *cargo, const struct migration *g)
{
	cJSON *json;

	if (!g || g->role != MIGRATION_SOURCE || !migration_is_under_way(g))
		return;
	json = cJSON_AddObjectToObject(cargo, "migration");
	cJSON_AddStringToObject(json, NAME, g->meta.name);
	add_text(json, SPEC, g->spec);
	add_text(json, LABELS, g->meta.labels);
	add_text(json, ANNOTATIONS, g->meta.annotations);
	cJSON_AddNumberToObject(json, CREATED, (double)g->meta.created);
	migration_tell_terms(json, g);
	migration_tell_course(json, g);
}

/* ---- what came ------------------------------------------------------------------------------- */

/* A wall time of the other host; 0: none that could be one. */
static msec time_at(const cJSON *json, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

	return cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble < WALL_MAX_MS
		? (msec)item->valuedouble
		: 0;
}

static void set_tree(struct node *root, const char *path, const char *text)
{
	struct node *tree = text ? text_tree(text) : NULL;

	if (tree)
		node_set_path(root, path, tree);
}

/* Those that it had are the source's as well. */
static void set_meta(struct node *root, const cJSON *json)
{
	node_remove(node_get(root, "metadata"), "labels");
	node_remove(node_get(root, "metadata"), "annotations");
	set_tree(root, "metadata.labels", json_text(json, LABELS));
	set_tree(root, "metadata.annotations", json_text(json, ANNOTATIONS));
}

/* As the source has it, if this host would take it from a user: its labels and annotations reach
 * clients. */
static void take_order(struct agent *agent, struct migration *g, const cJSON *json)
{
	struct node *root = migration_object_tree(g);
	struct findings findings = { 0 };
	struct manifest manifest;

	set_tree(root, "spec", json_text(json, SPEC));
	set_meta(root, json);
	if (manifest_check(root, &agent->options->policy, &manifest, &findings) == 0) {
		if (streq(node_text(manifest.root, "spec.vmiName"), g->vmi))
			migration_object_take(g, manifest.root);
		manifest_done(&manifest);
	}
	findings_done(&findings);
	node_free(root);
}

/* Unless another one here has it: then it keeps that of its UID. */
static void take_name(struct agent *agent, struct migration *g, const char *name)
{
	if (is_dns_subdomain(name) && !migration_object_find(agent, g->meta.ns, name))
		replace_str(&g->meta.name, name);
}

void migration_object_arrives(struct agent *agent, struct migration *g, const cJSON *json)
{
	if (!json)
		return; /* of an agent that does not say it */
	if (json_text(json, NAME))
		take_name(agent, g, json_text(json, NAME));
	take_order(agent, g, json);
	if (time_at(json, CREATED))
		g->meta.created = time_at(json, CREATED);
	migration_take_terms(g, json);
	migration_follow(g, json);
}

void migration_object_commits(struct agent *agent, struct migration *g, const char *document)
{
	cJSON *json = json_read(document);
	const cJSON *object = cJSON_GetObjectItemCaseSensitive(json, "migration");

	if (object)
		take_order(agent, g, object);
	migration_follow(g, object);
	cJSON_Delete(json);
}
