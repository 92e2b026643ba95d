/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing a run's folder, or a claim's: by open folders, never following a link, no deeper than anything of ours can
 * be. A folder that is gone already is fine.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/image_private.h"

#define CLEAN_DEPTH_MAX 16

static bool is_dots(const char *name)
{
	return streq(name, ".") || streq(name, "..");
}

static int remove_below(int fd, unsigned depth);

static int remove_entry(int fd, const char *name, unsigned depth)
{
	int child, ret;

	if (unlinkat(fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (depth == CLEAN_DEPTH_MAX)
		return -ENOTEMPTY;
	child = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (child < 0)
		return -errno;
	ret = remove_below(child, depth + 1);
	if (ret == 0 && unlinkat(fd, name, AT_REMOVEDIR) < 0)
		ret = -errno;
	return ret;
}

/* Takes fd. */
static int remove_below(int fd, unsigned depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int ret = 0;

	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (ret == 0 && (entry = readdir(dir))) {
		if (!is_dots(entry->d_name))
			ret = remove_entry(fd, entry->d_name, depth);
	}
	closedir(dir);
	return ret;
}

int image_remove_tree(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), ret;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	ret = remove_below(fd, 0);
	return ret == 0 && rmdir(folder) < 0 ? -errno : ret;
}

void image_clean(struct job *job)
{
	const char *directory = job->op.directory;
	bool claim = job->op.kind == OP_DROP;
	int ret = claim ? image_drop_claim(directory) : image_remove_tree(directory);

	if (ret < 0)
		err_set(&job->err, ERR_IO, "cannot remove the %s folder '%s': %s",
			claim ? "claim's" : "run's", directory, strerror(-ret));
}
