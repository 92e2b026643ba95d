/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a medium, laid out for the child that makes an ISO image of them: in a folder of the run's
 * that only the agent's user may enter, for a Secret may be among them. On the pool.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/image_private.h"

#define STAGE_MODE 0700
#define FILE_MODE  0600

char *work_stage(const struct volume_work *work)
{
	return xasprintf("%s.files", work->target);
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* The folders on the way to it, and the file; paths within a medium are clean. */
static int write_file(int stage, const struct media_file *file)
{
	autofree char *path = xstrdup(file->path);
	int fd, ret;

	for (char *c = strchr(path, '/'); c; c = strchr(c + 1, '/')) {
		*c = '\0';
		if (mkdirat(stage, path, STAGE_MODE) < 0 && errno != EEXIST)
			return -errno;
		*c = '/';
	}
	fd = openat(stage, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return -errno;
	ret = write_all(fd, file->data, file->len);
	close(fd);
	return ret;
}

/* xorriso keeps the mode of a file that is there. */
static int make_target(const struct volume_work *work)
{
	autofree char *tmp = work_tmp(work);
	int fd;

	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int fill(const struct volume_work *work, const char *folder)
{
	int stage = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), ret = 0;

	if (stage < 0)
		return -errno;
	for (size_t i = 0; i < work->n_files && ret == 0; i++)
		ret = write_file(stage, &work->files[i]);
	close(stage);
	return ret ? ret : make_target(work);
}

int image_stage_medium(struct job *job, const struct volume_work *work)
{
	autofree char *folder = work_stage(work);
	int ret = image_remove_tree(folder);

	if (ret == 0 && mkdir(folder, STAGE_MODE) < 0)
		ret = -errno;
	if (ret == 0)
		ret = fill(work, folder);
	return ret < 0 ? image_fail(job, work, folder, -ret) : 0;
}
