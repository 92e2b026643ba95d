/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PersistentVolumeClaims: what is read of them, and what is refused. Knows nothing
 * of the files themselves.
 */
#include "core/claim.h"

#include "core/edit.h"
#include "core/quantity.h"

#define REQUEST "spec.resources.requests.storage"

void storage_done(struct storage *storage)
{
	while (storage->n_classes) {
		struct storage_class *one = &storage->classes[--storage->n_classes];

		free(take(&one->name));
		free(take(&one->directory));
	}
	free(take(&storage->directory));
}

const char *storage_directory(const struct storage *storage, const char *class_name)
{
	for (size_t i = 0; class_name && i < storage->n_classes; i++)
		if (streq(storage->classes[i].name, class_name))
			return storage->classes[i].directory;
	return storage->directory;
}

bool storage_has_class(const struct storage *storage, const char *class_name)
{
	bool found = !class_name || !*class_name;

	for (size_t i = 0; storage && i < storage->n_classes && !found; i++)
		found = streq(storage->classes[i].name, class_name);
	return found;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_among(const struct node *modes, const char *mode)
{
	for (size_t i = 0; modes && i < modes->n_children; i++)
		if (streq(modes->children[i]->text, mode))
			return true;
	return false;
}

static bool has_mode(const struct node *content, const char *mode)
{
	return is_among(node_at(content, "spec.accessModes"), mode);
}

char *claim_modes_text(const struct node *modes)
{
	static const struct {
		const char *mode, *text;
	} names[] = { { "ReadWriteOnce", "RWO" }, { "ReadOnlyMany", "ROX" },
		{ "ReadWriteMany", "RWX" }, { "ReadWriteOncePod", "RWOP" } };
	struct buf text = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_among(modes, names[i].mode))
			buf_printf(&text, "%s%s", text.len ? "," : "", names[i].text);
	return text.data;
}

const char *claim_request(const struct node *content)
{
	return node_text(content, REQUEST);
}

/* 0 if there is none, or if it cannot be read: it has been checked. */
static int64_t requested(const struct node *content)
{
	const char *text = claim_request(content);
	int64_t bytes = 0;

	if (text && quantity_parse(text, &bytes, NULL))
		return 0;
	return bytes;
}

void claim_read(const char *content, struct claim *ret)
{
	struct node *tree = text_tree(content);
	bool block = streq(node_text(tree, "spec.volumeMode"), "Block");
	int64_t bytes = requested(tree);

	*ret = (struct claim){ .size = block || bytes < CLAIM_RESERVE ? bytes
								      : bytes - CLAIM_RESERVE,
		.shared = has_mode(tree, "ReadWriteMany"),
		.class_name = xstrdup(node_text(tree, "spec.storageClassName")) };
	node_free(tree);
}

void claim_done(struct claim *claim)
{
	free(take(&claim->class_name));
}

/* ---- checking -------------------------------------------------------------------------------- */

void claim_limit_rules(struct check *c, const struct node *spec, const char *name)
{
	const char *request = node_text(spec, "resources.requests.storage");
	const char *limit = node_text(spec, "resources.limits.storage");
	autofree char *field = xasprintf("%s.resources.requests.storage", name);
	int64_t asked, most;

	if (!request || !limit || quantity_parse(request, &asked, NULL) ||
		quantity_parse(limit, &most, NULL) || asked <= most)
		return;
	check_add(c, node_at(spec, "resources.requests.storage"), field,
		"must be less than or equal to the storage limit of %s", limit);
}

static void mode_rules(struct check *c, const struct node *root)
{
	const struct node *modes = node_at(root, "spec.accessModes");

	if (!modes || modes->kind != NODE_LIST)
		return;
	if (!modes->n_children)
		check_add_key(c, modes, "spec.accessModes", "at least 1 access mode is required");
	else if (modes->n_children > 1 && has_mode(root, "ReadWriteOncePod"))
		check_add_key(c, modes, "spec.accessModes",
			"ReadWriteOncePod does not go with other access modes");
}

#define UPLOAD_TARGET "cdi.kubevirt.io/storage.upload.target"
#define UPLOAD_PHASE  "cdi.kubevirt.io/storage.pod.phase"

/* Who writes it then waits for a pod that takes the content. One that was filled
 * elsewhere has it still. */
static void upload_rules(struct check *c, const struct node *root)
{
	const struct node *annotations = node_at(root, "metadata.annotations");
	const struct node *target = node_get(annotations, UPLOAD_TARGET);

	if (target && !node_get(annotations, UPLOAD_PHASE))
		check_add_key(c, target, "metadata.annotations." UPLOAD_TARGET,
			"uploads are not built: put the content into the claim's disk.img, as a "
			"raw image, before its first use");
}

void claim_rules(struct check *c, const struct node *root)
{
	mode_rules(c, root);
	upload_rules(c, root);
	claim_limit_rules(c, node_get(root, "spec"), "spec");
}

static bool is_same_but_size(const struct node *before, const struct node *after)
{
	struct node *was = node_copy(node_get(before, "spec"));
	struct node *is = node_copy(node_get(after, "spec"));
	bool same;

	node_remove(was, "resources");
	node_remove(is, "resources");
	same = node_equal(was, is);
	node_free(was);
	node_free(is);
	return same;
}

int claim_check_change(const struct node *before, const struct node *after, struct err *err)
{
	if (!is_same_but_size(before, after))
		return err_set(err, ERR_INVALID,
			"spec: field is immutable, but for resources.requests.storage, which may grow");
	if (requested(after) < requested(before))
		return err_set(err, ERR_INVALID,
			REQUEST ": a claim can grow, and not shrink: expected at least %s",
			claim_request(before));
	return 0;
}

/* ---- its status ------------------------------------------------------------------------------ */

struct node *claim_status(const struct node *content, const char *capacity)
{
	const struct node *modes = node_at(content, "spec.accessModes");
	struct node *status = node_new(NODE_MAP, NULL);

	node_set(status, "phase", node_new(NODE_STRING, capacity ? "Bound" : "Pending"));
	if (!capacity)
		return status;
	if (modes)
		node_set(status, "accessModes", node_copy(modes));
	node_set_path(status, "capacity.storage", node_new(NODE_STRING, capacity));
	return status;
}
