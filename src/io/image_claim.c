/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a claim: <storage>/<namespace>/<claim>/disk.img, or the folder beside it that guests
 * share. Below the storage folder, which is the configuration's, no link is followed: a guest
 * writes to what is found there.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/claim.h"
#include "io/image_private.h"

#define FOLDER_MODE 0711 /* QEMU's user must get through */
#define FILES_MODE  0755 /* as the guest's users see it, until the guest says otherwise */
#define CLAIM_DEPTH 2    /* folders below storage: the namespace's and the claim's */

/* Takes folder; the folder of that name in it, or -errno. With a mode it is made if it is not
 * there. */
static int enter(int folder, const char *name, mode_t mode)
{
	bool made = mode && mkdirat(folder, name, mode) == 0;
	int ret = made || !mode || errno == EEXIST
		? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		: -1;

	if (ret < 0)
		ret = -errno;
	else if (made && (fchmod(ret, mode) < 0 || fsync(folder) < 0)) /* whatever the umask */
		close(ret), ret = -errno;
	close(folder);
	return ret;
}

/* Only its last part may be missing: the rest is somebody's file system. */
static int open_storage(const char *path, mode_t mode)
{
	if (mode && mkdir(path, mode) == 0 && chmod(path, mode) < 0)
		return -errno;

	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The claim's folder, part by part; with a mode each is made if need be. */
static int open_claim(const char *path, mode_t mode)
{
	autofree char *copy = xstrdup(path);
	char *parts[CLAIM_DEPTH];
	int folder;

	*strrchr(copy, '/') = '\0';
	for (int i = CLAIM_DEPTH - 1; i >= 0; i--) {
		char *slash = strrchr(copy, '/');

		*slash = '\0';
		parts[i] = slash + 1;
	}
	folder = open_storage(copy, mode);
	for (int i = 0; i < CLAIM_DEPTH && folder >= 0; i++)
		folder = enter(folder, parts[i], mode);
	return folder;
}

int image_open_claim(const char *path)
{
	return open_claim(path, FOLDER_MODE);
}

static int judge(struct job *job, const struct volume_work *work, const char *path, int error,
	const struct stat *st)
{
	if (error)
		return image_fail(job, work, path, error);
	if (!S_ISREG(st->st_mode))
		return err_set(&job->err, ERR_INVALID, "volume '%s': '%s' is no file", work->volume,
			path);
	return 0;
}

/* What is there stays; a claim that has grown has its file grow. */
static int grow(struct job *job, const struct volume_work *work, int folder, const char *path)
{
	int fd = openat(folder, CLAIM_FILE, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int ret = 0;

	if (fd < 0)
		return image_fail(job, work, path, errno);
	ret = judge(job, work, path, fstat(fd, &st) < 0 ? errno : 0, &st);
	if (ret == 0 && st.st_size < work->capacity &&
		(ftruncate(fd, work->capacity) < 0 || fsync(fd) < 0))
		ret = image_fail(job, work, path, errno);
	close(fd);
	return ret;
}

int image_fail_claim(struct job *job, const struct volume_work *work, const char *path, int error)
{
	if (error == -ENOTDIR || error == -ELOOP)
		return err_set(&job->err, ERR_INVALID,
			"volume '%s': '%s': a part of it is no folder, and links are not followed there; "
			"to have claims elsewhere, give their storage class a folder",
			work->volume, path);
	return image_fail(job, work, path, -error);
}

int image_make_claim(struct job *job, const struct volume_work *work, const char *path)
{
	int folder = image_open_claim(path), ret;

	if (folder < 0)
		return image_fail_claim(job, work, path, folder);
	ret = faccessat(folder, CLAIM_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0
		? -EEXIST
		: image_write_raw(folder, CLAIM_FILE, work->capacity);
	if (ret == -EEXIST)
		ret = grow(job, work, folder, path);
	else if (ret < 0)
		ret = image_fail(job, work, path, -ret);
	close(folder);
	return ret;
}

int image_check_claim(struct job *job, const struct volume_work *work)
{
	int folder = open_claim(work->target, 0), error;
	struct stat st;

	if (folder < 0)
		return image_fail_claim(job, work, work->target, folder);
	error = fstatat(folder, CLAIM_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0 ? errno : 0;
	close(folder);
	return judge(job, work, work->target, error, &st);
}

/* What is in it is the guests'. */
int image_make_claim_folder(struct job *job, const struct volume_work *work)
{
	int folder = image_open_claim(work->target);

	if (folder >= 0)
		folder = enter(folder, CLAIM_FOLDER, FILES_MODE);
	if (folder < 0)
		return image_fail_claim(job, work, work->target, folder);
	close(folder);
	return 0;
}

/* The namespace's folder may be a link, too: of a claim elsewhere nothing is removed. */
static int open_namespace(const char *folder)
{
	autofree char *copy = xstrdup(folder);
	char *ns = strrchr(copy, '/');
	int storage, fd;

	*ns++ = '\0';
	storage = open(copy, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (storage < 0)
		return -errno;
	fd = openat(storage, ns, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(storage);
	return fd;
}

int image_drop_claim(const char *folder)
{
	const char *name = strrchr(folder, '/');
	autofree char *above = xstrndup(folder, (size_t)(name - folder)), *path = NULL;
	int fd = open_namespace(above), ret;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	path = xasprintf("/proc/self/fd/%d%s", fd, name);
	ret = image_remove_tree(path);
	close(fd);
	return ret;
}
