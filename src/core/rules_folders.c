/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about filesystems: each is a volume that consists of files and that is no disk as well.
 *
 * Owns nothing; single values were judged by schema_check.c, so what is of a wrong
 * kind is passed over.
 */
#include <string.h>

#include "core/rules_private.h"

#define TAG_LEN_MAX 36 /* bytes of the name by which a guest mounts it; virtio's */
#define KINDS       "configMap, secret, downwardAPI or persistentVolumeClaim"

static bool has_any(const struct node *volume, const char *const *keys)
{
	const struct node *last;

	return element_count_keys(volume, keys, &last) > 0;
}

/* Of a volume that this version has at all. */
static bool is_no_folder(const struct node *volume)
{
	static const char *const folders[] = { "configMap", "secret", "downwardAPI",
		"persistentVolumeClaim", NULL };
	static const char *const sources[] = {
#define X(c, name) name,
		VOLUME_KINDS(X)
#undef X
			"dataVolume",
		NULL
	};

	return has_any(volume, sources) && !has_any(volume, folders);
}

static bool is_read_only(const struct node *volume)
{
	const struct node *readonly = node_at(volume, "persistentVolumeClaim.readOnly");

	return readonly && streq(readonly->text, "true");
}

static void volume_of_it(struct check *c, const struct node *spec, const struct node *name)
{
	const struct node *volumes = node_get(spec, "volumes");
	const struct node *volume = list_find(volumes, list_count(volumes), name->text);

	if (!volume)
		check_add(c, name, "name", "no volume is named '%s'", name->text);
	else if (is_no_folder(volume))
		check_add(c, name, "name",
			"volume '%s' has no files to share: only a " KINDS " has", name->text);
	else if (is_read_only(volume))
		check_add(c, name, "name",
			"volume '%s' is read-only, and a folder cannot be: give it as a disk, or "
			"drop readOnly",
			name->text);
	if (list_has(node_at(spec, DISKS), name->text))
		check_add(c, name, "name", "volume '%s' is a disk: give it as one or the other",
			name->text);
	if (strlen(name->text) > TAG_LEN_MAX)
		check_add(c, name, "name",
			"expected at most %d characters: the guest mounts it by this name",
			TAG_LEN_MAX);
}

void folder_rules(struct check *c, const struct node *spec)
{
	const struct node *list = node_at(spec, FILESYSTEMS);

	for (size_t i = 0; i < list_count(list); i++) {
		const struct node *name = node_get(list->children[i], "name");
		size_t mark = check_enter_item(c, FILESYSTEMS, i);

		if (name && name->kind == NODE_STRING)
			volume_of_it(c, spec, name);
		check_leave(c, mark);
	}
}
