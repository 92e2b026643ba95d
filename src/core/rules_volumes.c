/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.3 about volumes: one source each, and where the node allows files.
 *
 * Owns nothing. Paths are judged by their text; a symlink that leads out is found when
 * the file is used.
 */
#include "core/names.h"
#include "core/rules_private.h"

static void root_rule(struct check *c, const struct node *path, const char *field,
	const char *const *roots)
{
	struct buf allowed = { 0 };

	if (path_is_below(image_path(path->text), roots))
		return;
	for (size_t i = 0; roots && roots[i]; i++)
		buf_printf(&allowed, "%s%s", i ? ", " : "", roots[i]);
	check_add(c, path, field, "'%.100s' is not below a folder that this node allows (%s)",
		path->text, allowed.data ? allowed.data : "it allows none");
	buf_done(&allowed);
}

static void host_disk_rules(struct check *c, const struct node *volume)
{
	const struct node *host = node_get(volume, "hostDisk");
	const struct node *path = node_get(host, "path");
	const struct node *capacity = node_get(host, "capacity");

	if (path && path->kind == NODE_STRING && is_clean_path(path->text))
		root_rule(c, path, "hostDisk.path", c->policy->host_disk_roots);
	if (capacity && !streq(node_text(host, "type"), "DiskOrCreate"))
		check_add_key(c, capacity, "hostDisk.capacity",
			"capacity is only for type DiskOrCreate");
}

void image_rules(struct check *c, const struct node *image, const char *field)
{
	if (image && image->kind == NODE_STRING && is_image(image->text) &&
		is_local_image(image->text) && c->policy->image_roots)
		root_rule(c, image, field, c->policy->image_roots);
}

static void source_rules(struct check *c, const struct node *volume)
{
	static const char *const sources[] = {
#define X(c, name) name,
		VOLUME_KINDS(X)
#undef X
			"dataVolume",
		NULL
	};
	const struct node *last;
	size_t n = element_count_keys(volume, sources, &last);

	if (n > 1)
		check_add_key(c, last, last->key, "a volume has one source, not %zu", n);
	else if (!n && element_is_known(volume, "volumes[]"))
		check_add(c, volume, "",
			"give a source, such as containerDisk, hostDisk, emptyDisk or cloudInitNoCloud");
}

void volume_rules(struct check *c, const struct node *spec)
{
	const struct node *volumes = node_get(spec, "volumes");

	credential_rules(c, spec);
	for (size_t i = 0; i < list_count(volumes); i++) {
		const struct node *volume = volumes->children[i];
		size_t mark = check_enter_item(c, "volumes", i);

		element_name(c, volumes, i);
		source_rules(c, volume);
		host_disk_rules(c, volume);
		medium_rules(c, volume);
		image_rules(c, node_at(volume, "containerDisk.image"), "containerDisk.image");
		check_leave(c, mark);
	}
}
