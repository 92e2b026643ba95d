/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Media of objects: each key of a ConfigMap or Secret is a file. And what all media share.
 */
#include <string.h>
#include <strings.h>

#include "core/base64.h"
#include "core/edit.h"
#include "core/media_private.h"

void media_files_done(struct media_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		free(files->list[i].path);
		free(files->list[i].data);
	}
	free(files->list);
	*files = (struct media_files){ .n = 0 };
}

struct media_file *media_add(struct maker *maker, const char *path, char *data, size_t len)
{
	struct media_files *files = maker->files;
	size_t at = files->n;

	if (files->n == files->cap) {
		files->cap = files->cap ? files->cap * 2 : 8;
		files->list = xrealloc_array(files->list, files->cap, sizeof(*files->list));
	}
	while (at && strcmp(files->list[at - 1].path, path) > 0)
		at--;
	memmove(&files->list[at + 1], &files->list[at], (files->n - at) * sizeof(*files->list));
	files->list[at] = (struct media_file){ .path = xstrdup(path), .data = data, .len = len };
	files->n++;
	return &files->list[at];
}

struct media_file *media_add_text(struct maker *maker, const char *path, char *text)
{
	return media_add(maker, path, text, strlen(text));
}

/* ---- objects --------------------------------------------------------------------------------- */

struct node *media_object(struct maker *maker, enum object_kind kind, const char *name,
	bool optional)
{
	const struct media_world *world = maker->world;
	const char *content = world->find(world->ctx, kind, name);

	if (content)
		return text_tree(content);
	if (!optional)
		err_set(maker->err, ERR_NOT_FOUND,
			"volume '%s': there is no %s '%s' in namespace '%s': apply it",
			maker->volume->name, object_kind_name(kind), name, world->ns);
	return NULL;
}

char *media_value(enum object_kind kind, const struct node *value, bool binary, size_t *ret_len)
{
	char *data = NULL;

	if (binary || kind == KIND_SECRET)
		data = base64_decode(value->text, ret_len);
	if (data)
		return data;
	*ret_len = strlen(value->text);
	return xstrdup(value->text);
}

static void add_keys(struct maker *maker, enum object_kind kind, const struct node *map,
	bool binary)
{
	for (size_t i = 0; map && i < map->n_children; i++) {
		const struct node *value = map->children[i];
		size_t len;
		char *data = media_value(kind, value, binary, &len);

		media_add(maker, value->key, data, len);
	}
}

static int add_object(struct maker *maker)
{
	const struct media_source *media = maker->volume->media;
	enum object_kind kind = media->secret ? KIND_SECRET : KIND_CONFIG_MAP;
	struct node *content = media_object(maker, kind, media->object, media->optional);

	if (!content)
		return media->optional ? 0 : -ERR_NOT_FOUND;
	add_keys(maker, kind, node_get(content, "data"), false);
	add_keys(maker, kind, node_get(content, "binaryData"), true);
	node_free(content);
	return 0;
}

/* Whether or not it may be absent. */
static int check_table(const struct maker *maker)
{
	for (size_t i = 0; i < maker->files->n; i++)
		if (streq(maker->files->list[i].path, SLIC_FILE))
			return 0;
	return err_set(maker->err, ERR_NOT_FOUND,
		"volume '%s': Secret '%s' has no key '" SLIC_FILE
		"', the table that slicNameRef wants: add it",
		maker->volume->name, maker->volume->media->object);
}

static int add_secret(struct maker *maker)
{
	int rc = add_object(maker);

	return rc < 0 || !maker->volume->slic ? rc : check_table(maker);
}

/* Windows looks for one of two names, in any case. */
static bool is_answer_file(const char *name)
{
	return strcasecmp(name, "autounattend.xml") == 0 || strcasecmp(name, "unattend.xml") == 0;
}

static int add_sysprep(struct maker *maker)
{
	const struct media_source *media = maker->volume->media;

	if (add_object(maker) < 0)
		return -ERR_NOT_FOUND;
	for (size_t i = 0; i < maker->files->n; i++)
		if (is_answer_file(maker->files->list[i].path))
			return 0;
	return err_set(maker->err, ERR_NOT_FOUND,
		"volume '%s': %s '%s' has neither autounattend.xml nor unattend.xml: add one",
		maker->volume->name,
		object_kind_name(media->secret ? KIND_SECRET : KIND_CONFIG_MAP), media->object);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static media_fn *const makers[VOLUME_KIND_MAX] = {
	/* clang-format off */
	[VOLUME_NO_CLOUD]     = media_seed_no_cloud,
	[VOLUME_CONFIG_DRIVE] = media_seed_config_drive,
	[VOLUME_CONFIG_MAP]   = add_object,
	[VOLUME_SECRET]       = add_secret,
	[VOLUME_DOWNWARD_API] = media_downward,
	[VOLUME_SYSPREP]      = add_sysprep,
	/* clang-format on */
};

int media_files_of(const struct volume *volume, const struct media_world *world,
	struct media_files *ret, struct err *err)
{
	struct maker maker = { volume, world, ret, err };
	int rc;

	*ret = (struct media_files){ .n = 0 };
	rc = makers[volume->kind](&maker);
	if (rc < 0)
		media_files_done(ret);
	return rc;
}

char *guest_hostname(const struct vmi_spec *spec, const char *name)
{
	const char *full = spec->hostname ? spec->hostname : name;
	size_t len = strcspn(full, ".");

	len = MIN(len, LABEL_MAX_LEN);
	while (len && full[len - 1] == '-')
		len--;
	return xstrndup(full, len);
}
