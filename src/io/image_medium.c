/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a medium, laid out for the child that makes an ISO image of them, or for the guest
 * that is to have them as a folder: in a folder of the run's that only the agent's user may enter,
 * for a Secret may be among them. On the pool.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/image_private.h"

#define STAGE_MODE  0700
#define FILE_MODE   0600
#define FOLDER_MODE 0755 /* as the guest's users see it */
#define SHARED_MODE 0644

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

struct place { /* an open folder that files are written to, and the modes that they get, whatever the umask */
	int fd;
	mode_t folders, files;
};

static int make_folder_at(const struct place *place, const char *path)
{
	if (mkdirat(place->fd, path, place->folders) == 0)
		return fchmodat(place->fd, path, place->folders, 0) < 0 ? -errno : 0;
	return errno == EEXIST ? 0 : -errno;
}

/* The folders on the way to it, and the file; paths within a medium are clean. */
static int write_file(const struct place *place, const struct media_file *file)
{
	autofree char *path = xstrdup(file->path);
	int fd, ret;

	for (char *c = strchr(path, '/'); c; c = strchr(c + 1, '/')) {
		*c = '\0';
		ret = make_folder_at(place, path);
		if (ret < 0)
			return ret;
		*c = '/';
	}
	fd = openat(place->fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		FILE_MODE);
	if (fd < 0)
		return -errno;
	ret = write_all(fd, file->data, file->len);
	if (ret == 0 &&
		fchmod(fd, place->files == SHARED_MODE && file->mode ? file->mode : place->files) <
			0)
		ret = -errno;
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

/* The folder, anew, with the work's files. */
static int fill(const struct volume_work *work, const char *folder, mode_t folders, mode_t files)
{
	struct place place = { .folders = folders, .files = files };
	int ret = image_remove_tree(folder);

	if (ret < 0)
		return ret;
	if (mkdir(folder, folders) < 0 || chmod(folder, folders) < 0)
		return -errno;
	place.fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (place.fd < 0)
		return -errno;
	for (size_t i = 0; i < work->n_files && ret == 0; i++)
		ret = write_file(&place, &work->files[i]);
	close(place.fd);
	return ret;
}

int image_stage_medium(struct job *job, const struct volume_work *work)
{
	autofree char *folder = work_stage(work);
	int ret = fill(work, folder, STAGE_MODE, FILE_MODE);

	if (ret == 0)
		ret = make_target(work);
	return ret < 0 ? image_fail(job, work, folder, -ret) : 0;
}

/* Below a folder that its guests' files do not leave: virtiofsd passes as the agent's
 * user, QEMU need not. */
int image_make_folder(struct job *job, const struct volume_work *work)
{
	autofree char *above =
		xstrndup(work->target, (size_t)(strrchr(work->target, '/') - work->target));
	int ret = mkdir(above, STAGE_MODE) < 0 && errno != EEXIST ? -errno : 0;

	if (ret == 0)
		ret = fill(work, work->target, FOLDER_MODE, SHARED_MODE);
	return ret < 0 ? image_fail(job, work, work->target, -ret) : 0;
}

int image_make_table(struct job *job, const struct volume_work *work)
{
	struct place place = { .folders = STAGE_MODE, .files = FILE_MODE };
	int ret = unlink(work->target) < 0 && errno != ENOENT ? -errno : 0;

	place.fd = open(job->op.directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (place.fd < 0)
		ret = -errno;
	for (size_t i = 0; i < work->n_files && ret == 0; i++)
		if (streq(work->files[i].path, work->inner))
			ret = write_file(&place, &work->files[i]);
	if (place.fd >= 0)
		close(place.fd);
	return ret < 0 ? image_fail(job, work, work->target, -ret) : 0;
}
