/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing a run's folder, or a claim's, or keeping it, or a VM's, aside. It is removed by open
 * folders, never following a link. A guest that shared one may have made it of any depth: what lies
 * too deep is moved up, and goes in the next round. A folder that is gone already is fine.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/image_private.h"

#define CLEAN_DEPTH_MAX 16
#define ASIDE_MAX       99 /* times that one run is lost to another host */

static bool is_dots(const char *name)
{
	return streq(name, ".") || streq(name, "..");
}

struct removal {
	int top; /* the folder that is to go */
	unsigned moved;
};

static int remove_below(struct removal *r, int fd, unsigned depth);

static int move_up(struct removal *r, int fd, const char *name)
{
	autofree char *up = xasprintf(".deep-%u", r->moved++);

	return renameat(fd, name, r->top, up) < 0 ? -errno : 0;
}

static int remove_entry(struct removal *r, int fd, const char *name, unsigned depth)
{
	int child, ret;

	if (unlinkat(fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (depth == CLEAN_DEPTH_MAX)
		return move_up(r, fd, name);
	child = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (child < 0)
		return -errno;
	ret = remove_below(r, child, depth + 1);
	if (ret == 0 && unlinkat(fd, name, AT_REMOVEDIR) < 0)
		ret = -errno;
	return ret;
}

/* Takes fd. */
static int remove_below(struct removal *r, int fd, unsigned depth)
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
			ret = remove_entry(r, fd, entry->d_name, depth);
	}
	closedir(dir);
	return ret;
}

int image_remove_tree(const char *folder)
{
	struct removal r = { open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), 0 };
	unsigned before;
	int ret;

	if (r.top < 0)
		return errno == ENOENT ? 0 : -errno;
	do {
		int fd = openat(r.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		before = r.moved;
		ret = fd < 0 ? -errno : remove_below(&r, fd, 0);
	} while (ret == 0 && r.moved != before);
	close(r.top);
	return ret == 0 && rmdir(folder) < 0 ? -errno : ret;
}

/* ---- keeping it aside ------------------------------------------------------------------------ */

int image_sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Nothing takes the place of what was put there before. */
static int move_aside(const char *folder, const char *name)
{
	for (unsigned i = 1; i <= ASIDE_MAX; i++) {
		autofree char *to = i == 1 ? xstrdup(name) : xasprintf("%s.%u", name, i);

		if (renameat2(AT_FDCWD, folder, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return errno == ENOENT ? 0 : -errno; /* it was moved before */
	}
	return -EEXIST;
}

/* Only root looks there: it may hold what a Secret says. What is empty is not kept. */
static int move_away(const char *folder, const char *name)
{
	autofree char *parent = xstrndup(name, (size_t)(strrchr(name, '/') - name));
	int ret;

	if (rmdir(folder) == 0)
		return 0;
	if (mkdir(parent, 0700) < 0 && errno != EEXIST)
		return -errno;
	ret = move_aside(folder, name);
	return ret < 0 ? ret : image_sync_folder(parent);
}

static void keep_aside(struct job *job)
{
	int ret = move_away(job->op.directory, job->op.aside);

	if (ret < 0)
		err_set(&job->err, ERR_IO, "cannot keep the folder '%s' as '%s': %s",
			job->op.directory, job->op.aside, strerror(-ret));
}

void image_clean(struct job *job)
{
	const char *directory = job->op.directory;
	bool claim = job->op.kind == OP_DROP;
	int ret;

	if (job->op.aside) {
		keep_aside(job);
		return;
	}
	ret = claim ? image_drop_claim(directory) : image_remove_tree(directory);
	if (ret < 0)
		err_set(&job->err, ERR_IO, "cannot remove the %s folder '%s': %s",
			claim ? "claim's" : "run's", directory, strerror(-ret));
}
