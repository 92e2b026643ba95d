/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A migration as its users see it: an object with a name of its own. What it does is
 * migrations_turn.c's; whether it may begin is asked where a request to migrate asks it, too.
 */
#include "daemon/migration_objects.h"

#include "core/edit.h"
#include "core/migration_order.h"
#include "daemon/agent_private.h"

struct migration *migration_object_find(const struct agent *agent, const char *ns, const char *name)
{
	for (size_t i = 0; i < agent->migrations.n; i++) {
		struct migration *g = agent->migrations.list[i];

		if (!g->removed && streq(g->meta.name, name) && streq(g->meta.ns, ns))
			return g;
	}
	return NULL;
}

/* ---- creating -------------------------------------------------------------------------------- */

static struct request request_of(const struct manifest *manifest)
{
	return (struct request){ .kind = KIND_VMI,
		.ns = manifest->ns,
		.name = node_text(manifest->root, "spec.vmiName"),
		.to = migration_order_peer(manifest->root) };
}

static int no_run(const struct agent *agent, const struct request *request, struct err *err)
{
	const char *peer = migrations_moved_to(agent, request->ns, request->name);

	return err_set(err, ERR_INVALID, "spec.vmiName: the VMI \"%s/%s\" does not exist%s%s%s",
		request->ns, request->name, peer ? ": it has moved to '" : "", peer ? peer : "",
		peer ? "'" : "");
}

int migration_object_check(const struct agent *agent, const struct manifest *manifest,
	struct err *err)
{
	struct request request = request_of(manifest);
	const struct machine *m = machines_find(&agent->machines, request.ns, request.name);

	if (migrations_check_enabled(agent, err) < 0)
		return -(int)err->code;
	if (!m || (!m->vmi && !m->migration))
		return no_run(agent, &request, err);
	return migrations_check_begin(agent, &request, m, err);
}

static void take_meta(struct migration *g, const struct node *root)
{
	const struct node *labels = node_at(root, "metadata.labels");
	const struct node *annotations = node_at(root, "metadata.annotations");

	free(g->meta.labels);
	free(g->meta.annotations);
	g->meta.labels = labels && labels->n_children ? node_json(labels) : NULL;
	g->meta.annotations = annotations && annotations->n_children ? node_json(annotations)
								     : NULL;
}

void migration_object_take(struct migration *g, const struct node *root)
{
	take_meta(g, root);
	free(g->spec);
	g->spec = node_json(node_get(root, "spec"));
}

int migration_object_create(struct agent *agent, const struct manifest *manifest, struct now now,
	struct err *err)
{
	struct request request = request_of(manifest);
	struct migration *g;
	int ret = migration_object_check(agent, manifest, err);

	if (ret < 0)
		return ret;
	g = migrations_begin(agent, &request, now);
	replace_str(&g->meta.name, manifest->name);
	migration_object_take(g, manifest->root);
	return 0;
}

static struct node *identity(const struct object_meta *meta)
{
	struct node *root = node_new(NODE_MAP, NULL);

	node_set(root, "apiVersion",
		node_new(NODE_STRING, object_kind_api_version(KIND_MIGRATION)));
	node_set(root, "kind", node_new(NODE_STRING, object_kind_name(KIND_MIGRATION)));
	node_set_path(root, "metadata.name", node_new(NODE_STRING, meta->name));
	node_set_path(root, "metadata.namespace", node_new(NODE_STRING, meta->ns));
	return root;
}

/* As if its request had been this manifest. */
void migration_object_name(struct agent *agent, struct migration *g, const char *to)
{
	struct node *root = identity(&g->meta), *selector;

	node_set_path(root, "spec.vmiName", node_new(NODE_STRING, g->vmi));
	if (to) {
		selector = node_new(NODE_MAP, NULL);
		node_set(selector, HOSTNAME_LABEL, node_new(NODE_STRING, to));
		node_set_path(root, "spec.addedNodeSelector", selector);
	}
	migration_order_fill(root);
	migration_object_take(g, root);
	node_free(root);
	migration_touch(agent, g);
}

/* ---- changing -------------------------------------------------------------------------------- */

static struct node *spec_tree(const struct migration *g)
{
	struct node *spec = text_tree(g->spec);

	if (spec)
		return spec;
	spec = node_new(NODE_MAP, NULL);
	node_set(spec, "vmiName", node_new(NODE_STRING, g->vmi));
	return spec;
}

struct node *migration_object_tree(const struct migration *g)
{
	struct node *root = identity(&g->meta);

	if (g->meta.labels)
		node_set_path(root, "metadata.labels", text_tree(g->meta.labels));
	if (g->meta.annotations)
		node_set_path(root, "metadata.annotations", text_tree(g->meta.annotations));
	node_set(root, "spec", spec_tree(g));
	return root;
}

static bool is_same_order(const struct migration *g, const struct node *root)
{
	struct node *spec = spec_tree(g);
	bool same = node_equal(spec, node_get(root, "spec"));

	node_free(spec);
	return same;
}

bool migration_object_is_spent(const struct migration *g, const struct node *root)
{
	return migration_is_over(g) && !is_same_order(g, root);
}

static int check_spec(const struct migration *g, const struct node *root, struct err *err)
{
	return is_same_order(g, root)
		? 0
		: err_set(err, ERR_INVALID,
			  "spec: the order to move a guest cannot be changed; delete '%s' and "
			  "create another",
			  g->meta.name);
}

int migration_object_replace(struct agent *agent, struct migration *g, const struct node *root,
	struct err *err)
{
	int ret = check_spec(g, root, err);

	if (ret < 0)
		return ret;
	take_meta(g, root);
	migration_touch(agent, g);
	return 0;
}

char *migration_object_preview(const struct agent *agent, const struct migration *g,
	const struct node *root, struct err *err)
{
	struct migration copy = *g;
	char *document;

	if (check_spec(g, root, err) < 0)
		return NULL;
	copy.meta.labels = copy.meta.annotations = NULL;
	take_meta(&copy, root);
	document = migration_document(&copy, agent->options->node_name);
	free(copy.meta.labels);
	free(copy.meta.annotations);
	return document;
}

/* ---- deleting -------------------------------------------------------------------------------- */

/* The guest is where it is to stay; only the other host has to hear so still. */
static bool has_ended(const struct migration *g)
{
	return g->state == MIGRATION_DONE || g->state == MIGRATION_ABORTED;
}

int migration_object_check_delete(const struct migration *g, struct err *err)
{
	return has_ended(g) ? 0 : migrations_check_cancel(g, err);
}

void migration_object_delete(struct agent *agent, struct migration *g, struct now now)
{
	if (!g->meta.deleted)
		g->meta.deleted = now.wall;
	g->cancelled |= !has_ended(g) && g->role == MIGRATION_SOURCE;
	migration_touch(agent, g);
}

void migration_objects_turn(struct agent *agent)
{
	for (size_t i = 0; i < agent->migrations.n; i++) {
		struct migration *g = agent->migrations.list[i];

		if (!g->meta.deleted || g->removed || !migration_is_over(g))
			continue;
		migration_remove(agent, g);
	}
}

/* Those that come from elsewhere, or that it is too late for, go when they are over. */
void migration_objects_delete_all(struct agent *agent, const char *ns, struct now now)
{
	struct err ignored;

	for (size_t i = 0; i < agent->migrations.n; i++) {
		struct migration *g = agent->migrations.list[i];

		if (!streq(g->meta.ns, ns))
			continue;
		origins_deleted(agent, KIND_MIGRATION, ns, g->meta.name);
		if (migration_object_check_delete(g, &ignored) == 0)
			migration_object_delete(agent, g, now);
		else if (!g->meta.deleted)
			g->meta.deleted = now.wall;
		migration_touch(agent, g);
	}
}

bool migration_objects_are_in(const struct agent *agent, const char *ns)
{
	for (size_t i = 0; i < agent->migrations.n; i++)
		if (streq(agent->migrations.list[i]->meta.ns, ns))
			return true;
	return false;
}

/* ---- turns and words ------------------------------------------------------------------------- */

int migration_object_urgency(const struct migration *g)
{
	struct node *root = migration_object_tree(g);
	int ret = migration_order_urgency(root);

	node_free(root);
	return ret;
}

/* clang-format off */
static const struct {
	const char *reason; /* KubeVirt's where it has one; NULL: nothing is said of it */
	struct {
		const char *before, *after; /* the peer's name */
	} words[MIGRATION_ROLE_MAX];
} said[MIGRATION_PHASE_MAX] = {
	[MIGRATION_PHASE_SCHEDULING]       = { "Scheduling",
		{ { "asking", " to get ready for it" }, { "asked by", " to get ready for it" } } },
	[MIGRATION_PHASE_PREPARING_TARGET] = { "PreparingTarget",
		{ { "getting ready at", "" }, { "getting ready for what", " sends" } } },
	[MIGRATION_PHASE_TARGET_READY]     = { "TargetReady",
		{ { "ready for it:", "" }, { "ready for what", " sends" } } },
	[MIGRATION_PHASE_RUNNING]          = { "Migrating",
		{ { "moving to", "" }, { "moving here from", "" } } },
	[MIGRATION_PHASE_SUCCEEDED]        = { "SuccessfulMigration",
		{ { "moved to", "" }, { "moved here from", "" } } },
};
/* clang-format on */

static void note_failed(struct agent *agent, const struct migration *g)
{
	struct happening what = { .quiet = true, .warning = !g->cancelled };
	bool source = g->role == MIGRATION_SOURCE;

	happen(&what, KIND_MIGRATION, g->cancelled ? "SuccessfulAbortMigration" : "FailedMigration",
		"not moved%s%s%s: %s",
		!*g->peer        ? ""
			: source ? " to '"
				 : " here from '",
		g->peer, *g->peer ? "'" : "",
		g->reason ? g->reason : "the other host gave no reason");
	agent_note(agent, &g->meta, &what);
}

void migration_object_note(struct agent *agent, const struct migration *g)
{
	enum migration_phase phase = migration_phase_of(g);
	struct happening what = { .quiet = true };

	if (phase == MIGRATION_PHASE_FAILED)
		note_failed(agent, g);
	if (!said[phase].reason)
		return;
	happen(&what, KIND_MIGRATION, said[phase].reason, "%s '%s'%s",
		said[phase].words[g->role].before, g->peer, said[phase].words[g->role].after);
	agent_note(agent, &g->meta, &what);
}
