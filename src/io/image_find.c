/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a manifest calls an image to the file that is opened: by the configuration's map or
 * folder where it is a reference, into the image where it is a folder, and all links followed
 * before it is judged. On the pool: it looks at files.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "io/image_private.h"

#define FOLDER_DISKS "disk" /* where a containerDisk's image has its one file */

struct found {
	char *path; /* owned: what stands for the image */
	/* Borrowed: allowed beside the image roots, because the configuration names it. */
	const char *own[2];
};

/* The configuration's word is enough for a rule's path, and for what lies in the folder. */
static bool find_named(const struct image_map *map, const char *ref, struct found *ret)
{
	const struct image_rule *rule = image_rule_of(map, ref);
	char *names[IMAGE_FILES_MAX];
	struct stat st;
	size_t n;

	ret->own[0] = rule ? rule->path : map->directory;
	if (rule) {
		ret->path = xstrdup(rule->path);
		return stat(rule->path, &st) == 0 || errno != ENOENT;
	}
	n = image_files_of(ref, names);
	for (size_t i = 0; i < n; i++) {
		autofree char *path = xasprintf("%s/%s", map->directory, names[i]);

		if (!ret->path && (stat(path, &st) == 0 || errno != ENOENT))
			ret->path = take(&path);
		free(names[i]);
	}
	return ret->path != NULL;
}

static int find_image(struct job *job, const struct volume_work *work, struct found *ret)
{
	const struct image_map *map = job->image->roots.map;
	autofree char *why = NULL;

	if (work->base[0] == '/') {
		ret->path = xstrdup(work->base);
		return 0;
	}
	if (find_named(map, work->base, ret))
		return 0;
	why = image_missing_text(map, work->base);
	return err_set(&job->err, ERR_NO_IMAGE, "volume '%s': image '%s': %s", work->volume,
		work->base, why);
}

/* The name of the only file there, or NULL; *ret_n says how many there are. */
static char *only_file(const char *folder, size_t *ret_n)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char *name = NULL;

	*ret_n = 0;
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && (*ret_n)++ == 0)
			name = xstrdup(entry->d_name);
	if (dir)
		closedir(dir);
	if (*ret_n != 1)
		free(take(&name));
	return name;
}

static int enter_disks(struct job *job, const struct volume_work *work, struct found *found)
{
	autofree char *folder = xasprintf("%s/" FOLDER_DISKS, found->path), *name = NULL;
	size_t n;

	if (image_check_way(job, work, folder, found->own) < 0)
		return -(int)job->err.code;
	name = only_file(folder, &n);
	if (!name)
		return err_set(&job->err, n ? ERR_INVALID : ERR_NOT_FOUND,
			"volume '%s': '%s' has %s; the file to use can be named by its path",
			work->volume, folder, n ? "more than one file" : "no file");
	free(found->path);
	found->path = xasprintf("%s/%s", folder, name);
	return 0;
}

/* Into the image, where it is a folder; a kernel lies in nothing else. */
static int enter_image(struct job *job, const struct volume_work *work, struct found *found)
{
	bool boot = work->kind == VOLUME_WORK_LINK;
	const char *inner = work->inner;
	struct stat st;

	if (image_check_way(job, work, found->path, found->own) < 0)
		return -(int)job->err.code;
	if (stat(found->path, &st) < 0)
		return image_fail_at(job, work, found->path, errno);
	if (!S_ISDIR(st.st_mode) && !boot)
		return 0;
	if (!inner)
		return enter_disks(job, work, found);
	inner = xasprintf("%s/%s", found->path, inner + (*inner == '/'));
	free(found->path);
	found->path = (char *)inner;
	return 0;
}

int image_find(struct job *job, const struct volume_work *work, char ret_real[PATH_MAX])
{
	struct found found = { 0 };
	int ret = find_image(job, work, &found);

	if (ret == 0)
		ret = enter_image(job, work, &found);
	if (ret == 0)
		ret = image_check_way(job, work, found.path, found.own);
	if (ret == 0 && !realpath(found.path, ret_real))
		ret = image_fail_at(job, work, found.path, errno);
	if (ret == 0)
		ret = image_check_real(job, work, ret_real, found.own);
	free(found.path);
	return ret;
}
