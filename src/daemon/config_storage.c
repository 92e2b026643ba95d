/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage in the configuration file: in which folders the files of PersistentVolumeClaims lie.
 */
#include "core/names.h"
#include "daemon/config_private.h"

#define EXPECTED "storage: expected {directory: PATH, classes: {NAME: PATH}}"

static bool is_folder(const struct node *at)
{
	return at->kind == NODE_STRING && is_clean_path(at->text);
}

static int read_directory(struct config *config, const char *path, const struct node *at,
	struct err *err)
{
	if (!is_folder(at))
		return config_refuse(path, at, err,
			"storage.directory: expected an absolute path without '.', '..' or '//'");
	replace_str(&config->storage.directory, at->text);
	return 0;
}

static int read_class(struct config *config, const char *path, const struct node *at,
	struct err *err)
{
	struct storage *storage = &config->storage;

	if (!is_dns_subdomain(at->key))
		return config_refuse(path, at, err,
			"storage.classes: expected the name of a storage class");
	if (!is_folder(at))
		return config_refuse(path, at, err,
			"storage.classes: expected an absolute path without '.', '..' or '//'");
	if (storage->n_classes == STORAGE_CLASSES_MAX)
		return config_refuse(path, at, err, "storage.classes: at most 64 are possible");
	storage->classes[storage->n_classes++] =
		(struct storage_class){ .name = xstrdup(at->key), .directory = xstrdup(at->text) };
	return 0;
}

static int read_classes(struct config *config, const char *path, const struct node *map,
	struct err *err)
{
	int ret = 0;

	if (map->kind != NODE_MAP)
		return config_refuse(path, map, err, EXPECTED);
	for (size_t i = 0; i < map->n_children && ret == 0; i++)
		ret = read_class(config, path, map->children[i], err);
	return ret;
}

int config_read_storage(struct config *config, const char *path, const struct node *map,
	struct err *err)
{
	int ret = 0;

	if (map->kind != NODE_MAP)
		return config_refuse(path, map, err, EXPECTED);
	storage_done(&config->storage);
	for (size_t i = 0; i < map->n_children && ret == 0; i++) {
		const struct node *field = map->children[i];

		if (streq(field->key, "directory"))
			ret = read_directory(config, path, field, err);
		else if (streq(field->key, "classes"))
			ret = read_classes(config, path, field, err);
		else
			ret = config_refuse(path, field, err, EXPECTED);
	}
	return ret;
}
