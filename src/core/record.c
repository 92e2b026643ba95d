/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records between tree, model and document. Their content goes through as the text that was given.
 */
#include "core/record.h"

#include <string.h>

#include "core/age.h"
#include "core/claim.h"
#include "core/codec.h"
#include "core/edit.h"
#include "core/machine.h"

/* What is not content: it is made anew, or kept in meta. */
static bool is_content(const struct node *member)
{
	return !streq(member->key, "apiVersion") && !streq(member->key, "kind") &&
		!streq(member->key, "metadata") && !streq(member->key, "status");
}

static char *content_of(const struct node *root)
{
	struct node *content = node_new(NODE_MAP, NULL);
	char *json;

	for (size_t i = 0; i < root->n_children; i++)
		if (is_content(root->children[i]))
			node_set(content, root->children[i]->key, node_copy(root->children[i]));
	json = node_json(content);
	node_free(content);
	return json;
}

/* Of the others the agent itself says whose they are. */
static bool has_given_owners(enum object_kind kind)
{
	return kind != KIND_PVC && kind != KIND_DATA_VOLUME;
}

static char *map_text(const struct node *root, const char *path)
{
	const struct node *map = node_at(root, path);

	return map && map->n_children ? node_json(map) : NULL;
}

static size_t length(const char *text)
{
	return text ? strlen(text) : 0;
}

static void read_given(struct record *r, const struct node *root)
{
	free(r->meta.labels);
	free(r->meta.annotations);
	free(r->content);
	free(take(&r->owners));
	if (has_given_owners(r->kind))
		r->owners = map_text(root, "metadata.ownerReferences");
	r->meta.labels = map_text(root, "metadata.labels");
	r->meta.annotations = map_text(root, "metadata.annotations");
	r->content = content_of(root);
	r->size = length(r->content) + length(r->owners) + length(r->meta.labels) +
		length(r->meta.annotations);
}

size_t record_size_of(const struct node *root)
{
	struct record r = { .kind = KIND_MAX };

	read_given(&r, root);
	free(r.meta.labels);
	free(r.meta.annotations);
	free(r.content);
	free(r.owners);
	return r.size;
}

/* Kubernetes counts the versions of a spec; Secrets and ConfigMaps have none. */
static bool has_spec(const struct node *root)
{
	return node_get(root, "spec") != NULL;
}

struct record *record_new(const struct manifest *manifest)
{
	struct record *r = xcalloc(1, sizeof(*r));

	r->kind = manifest->kind;
	r->meta.ns = xstrdup(manifest->ns);
	r->meta.name = xstrdup(manifest->name);
	r->meta.generation = has_spec(manifest->root);
	read_given(r, manifest->root);
	return r;
}

struct record *record_copy(const struct record *r)
{
	struct record *copy = xcalloc(1, sizeof(*copy));

	*copy = *r;
	copy->meta.ns = xstrdup(r->meta.ns);
	copy->meta.name = xstrdup(r->meta.name);
	copy->meta.labels = xstrdup(r->meta.labels);
	copy->meta.annotations = xstrdup(r->meta.annotations);
	copy->content = xstrdup(r->content);
	copy->owners = xstrdup(r->owners);
	copy->capacity = xstrdup(r->capacity);
	copy->fill_from = xstrdup(r->fill_from);
	copy->owner_name = xstrdup(r->owner_name);
	copy->dv.words = xstrdup(r->dv.words);
	return copy;
}

void record_free(struct record *r)
{
	if (!r)
		return;
	object_meta_done(&r->meta);
	free(r->content);
	free(r->owners);
	free(r->capacity);
	free(r->fill_from);
	free(r->owner_name);
	data_volume_done(&r->dv);
	free(r);
}

void record_set_owner(struct record *r, enum object_kind kind, const struct object_meta *owner)
{
	r->owner_kind = kind;
	replace_str(&r->owner_name, owner->name);
	copy_str(r->owner, UID_SIZE, owner->uid);
}

bool record_is_of(const struct record *r, enum object_kind kind, const struct object_meta *owner)
{
	return r->owner_name && r->owner_kind == kind && streq(r->owner, owner->uid);
}

/* ---- replacing ------------------------------------------------------------------------------- */

static bool is_same(const struct node *before, const struct node *after, const char *field)
{
	return node_equal(node_get(before, field), node_get(after, field));
}

static bool is_immutable(const struct node *content)
{
	const struct node *flag = node_get(content, "immutable");

	return flag && streq(flag->text, "true");
}

/* The field that is changed and must not be, or NULL. */
static const char *changed_field(const struct record *r, const struct node *before,
	const struct node *after)
{
	static const char *const fields[] = { "immutable", "data", "binaryData" };

	if (r->kind == KIND_SECRET && !is_same(before, after, "type"))
		return "type";
	for (size_t i = 0; is_immutable(before) && i < ARRAY_SIZE(fields); i++)
		if (!is_same(before, after, fields[i]))
			return fields[i];
	return NULL;
}

static int check_immutable(const struct record *r, const struct node *before,
	const struct node *after, struct err *err)
{
	const char *field = changed_field(r, before, after);

	if (!field)
		return 0;
	return err_set(err, ERR_INVALID, "%s: field is immutable%s; delete '%s' and create it anew",
		field, streq(field, "type") ? "" : " when `immutable` is set", r->meta.name);
}

/* CDI: a DataVolume is filled once. */
static int check_spec(const struct node *before, const struct node *after, struct err *err)
{
	if (is_same(before, after, "spec"))
		return 0;
	return err_set(err, ERR_INVALID,
		"spec: field is immutable; delete the DataVolume and create it anew");
}

int record_replace(struct record *r, const struct node *root, struct err *err)
{
	struct node *before = text_tree(r->content);
	bool new_spec = !node_equal(node_get(before, "spec"), node_get(root, "spec"));
	int ret = check_immutable(r, before, root, err);

	if (ret == 0 && r->kind == KIND_PVC)
		ret = claim_check_change(before, root, err);
	if (ret == 0 && r->kind == KIND_DATA_VOLUME)
		ret = check_spec(before, root, err);
	node_free(before);
	if (ret < 0)
		return ret;
	read_given(r, root);
	r->meta.generation += new_spec;
	r->changed = true;
	return 0;
}

/* ---- documents ------------------------------------------------------------------------------- */

static void set_text(struct node *map, const char *path, const char *text)
{
	node_set_path(map, path, node_new(NODE_STRING, text));
}

static void set_time(struct node *map, const char *path, msec wall)
{
	char text[TIME_SIZE];

	format_time(wall, text);
	set_text(map, path, text);
}

static struct node *identity(const struct record *r)
{
	struct node *root = node_new(NODE_MAP, NULL);

	set_text(root, "apiVersion", object_kind_api_version(r->kind));
	set_text(root, "kind", object_kind_name(r->kind));
	set_text(root, "metadata.name", r->meta.name);
	if (*r->meta.ns)
		set_text(root, "metadata.namespace", r->meta.ns);
	return root;
}

static void add_given(const struct record *r, struct node *root)
{
	struct node *content = text_tree(r->content);

	if (r->meta.labels)
		node_set_path(root, "metadata.labels", text_tree(r->meta.labels));
	if (r->meta.annotations)
		node_set_path(root, "metadata.annotations", text_tree(r->meta.annotations));
	if (r->owners)
		node_set_path(root, "metadata.ownerReferences", text_tree(r->owners));
	for (size_t i = 0; i < content->n_children; i++)
		node_set(root, content->children[i]->key, node_copy(content->children[i]));
	node_free(content);
}

struct node *record_tree(const struct record *r)
{
	struct node *root = identity(r);

	add_given(r, root);
	return root;
}

static void add_finalizers(const struct record *r, struct node *root)
{
	struct node *list = node_new(NODE_LIST, NULL);

	node_append(list, node_new(NODE_STRING, CLAIM_PROTECTION));
	if (r->drops_data)
		node_append(list, node_new(NODE_STRING, CLAIM_DATA));
	node_set_path(root, "metadata.finalizers", list);
}

static void add_owner(const struct record *r, struct node *root)
{
	struct node *list = node_new(NODE_LIST, NULL), *one = node_new(NODE_MAP, NULL);

	set_text(one, "apiVersion", object_kind_api_version(r->owner_kind));
	set_text(one, "kind", object_kind_name(r->owner_kind));
	set_text(one, "name", r->owner_name);
	set_text(one, "uid", r->owner);
	node_set(one, "controller", node_new(NODE_BOOL, "true"));
	node_set(one, "blockOwnerDeletion", node_new(NODE_BOOL, "true"));
	node_append(list, one);
	node_set_path(root, "metadata.ownerReferences", list);
}

static void add_server_set(const struct record *r, struct node *root)
{
	autofree char *rv = xasprintf("%lld", (long long)r->meta.rv);

	set_text(root, "metadata.uid", r->meta.uid);
	set_text(root, "metadata.resourceVersion", rv);
	if (r->meta.generation)
		node_set_path(root, "metadata.generation", node_new_int(r->meta.generation));
	set_time(root, "metadata.creationTimestamp", r->meta.created);
	if (r->meta.deleted)
		set_time(root, "metadata.deletionTimestamp", r->meta.deleted);
	if (r->kind == KIND_PVC)
		add_finalizers(r, root);
	if (r->owner_name)
		add_owner(r, root);
}

/* NULL: it has none; owned. */
static struct node *status_of(const struct record *r)
{
	struct node *status;

	if (r->kind == KIND_PVC) {
		struct node *content = text_tree(r->content);

		status = claim_status(content, r->capacity);
		node_free(content);
		return status;
	}
	if (r->kind == KIND_DATA_VOLUME)
		return data_volume_status(&r->dv, r->meta.name);
	if (r->kind != KIND_NAMESPACE)
		return NULL;
	status = node_new(NODE_MAP, NULL);
	set_text(status, "phase", r->meta.deleted ? "Terminating" : "Active");
	return status;
}

char *record_document(const struct record *r)
{
	struct node *root = identity(r);
	struct node *status = status_of(r);
	char *json;

	add_server_set(r, root);
	add_given(r, root);
	if (status)
		node_set(root, "status", status);
	json = node_json(root);
	node_free(root);
	return json;
}

static int load_meta(struct record *r, const struct node *root)
{
	const char *ns = node_text(root, "metadata.namespace");
	const char *uid = node_text(root, "metadata.uid"), *name = node_text(root, "metadata.name");
	const char *deleted = node_text(root, "metadata.deletionTimestamp");
	const char *rv = node_text(root, "metadata.resourceVersion");
	const char *generation = node_text(root, "metadata.generation");

	if (!uid || !name || !rv ||
		!time_parse(node_text(root, "metadata.creationTimestamp"), &r->meta.created) ||
		(deleted && !time_parse(deleted, &r->meta.deleted)))
		return -1;
	r->meta.ns = xstrdup(ns ? ns : "");
	r->meta.name = xstrdup(name);
	r->meta.rv = strtoll(rv, NULL, 10);
	r->meta.generation = generation ? strtoll(generation, NULL, 10) : 0;
	copy_str(r->meta.uid, UID_SIZE, uid);
	return 0;
}

static void load_finalizers(struct record *r, const struct node *root)
{
	const struct node *finalizers = node_at(root, "metadata.finalizers");

	for (size_t i = 0; finalizers && i < finalizers->n_children; i++)
		r->drops_data |= streq(finalizers->children[i]->text, CLAIM_DATA);
}

static void load_owner(struct record *r, const struct node *root)
{
	const struct node *list = node_at(root, "metadata.ownerReferences");
	const struct node *one = list && list->n_children ? list->children[0] : NULL;
	const char *name = node_text(one, "name"), *uid = node_text(one, "uid");

	if (has_given_owners(r->kind) || !name || !uid ||
		!object_kind_parse(node_text(one, "kind"), &r->owner_kind))
		return;
	r->owner_name = xstrdup(name);
	copy_str(r->owner, UID_SIZE, uid);
}

void record_load_state(struct record *r, const struct node *root)
{
	load_owner(r, root);
	if (r->kind == KIND_PVC)
		r->capacity = xstrdup(node_text(root, "status.capacity.storage"));
	if (r->kind == KIND_DATA_VOLUME)
		data_volume_load(node_get(root, "status"), &r->dv);
}

int record_load(enum object_kind kind, const char *document, struct record **ret, struct err *err)
{
	struct node *root = text_tree(document);
	struct record *r = xcalloc(1, sizeof(*r));

	r->kind = kind;
	if (!root || load_meta(r, root) < 0) {
		record_free(r);
		node_free(root);
		return err_set(err, ERR_INTERNAL, "a stored %s is not whole",
			object_kind_name(kind));
	}
	read_given(r, root);
	record_load_state(r, root);
	if (kind == KIND_PVC)
		load_finalizers(r, root);
	node_free(root);
	*ret = r;
	return 0;
}
