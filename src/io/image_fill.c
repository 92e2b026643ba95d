/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim is filled: qemu-img copies an image beside its file, and only when that is
 * whole and on disk does it get the file's name. What is there already is never replaced:
 * it may be somebody's data.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/claim.h"
#include "io/image_private.h"

#define FILE_MODE 0600

/* Nothing but the claim's own file is read of another one, and none is led elsewhere. */
static int find_claim(struct job *job, const struct volume_work *work, int64_t *ret_size)
{
	struct stat st;

	if (lstat(work->base, &st) < 0)
		return image_fail(job, work, work->base, errno);
	if (!S_ISREG(st.st_mode))
		return err_set(&job->err, ERR_INVALID, "volume '%s': '%s' is no file", work->volume,
			work->base);
	*ret_size = st.st_size;
	return 0;
}

static int find_source(struct job *job, struct volume_work *work)
{
	char real[PATH_MAX];
	int64_t size = 0;
	int ret;

	job->formats[0] = "raw";
	if (work->claimed)
		ret = find_claim(job, work, &size);
	else if ((ret = image_find(job, work, real)) == 0 &&
		(ret = image_check_kind(job, work, real)) == 0)
		ret = image_check_format(job, work, real, &job->formats[0], &size);
	if (ret < 0)
		return ret;
	if (size > work->capacity)
		return err_set(&job->err, ERR_INVALID,
			"volume '%s': the disk in '%s' has %lld bytes, and the claim has room for %lld: a "
			"larger one is required",
			work->volume, work->base, (long long)size, (long long)work->capacity);
	work->link = xstrdup(work->claimed ? work->base : real);
	return 0;
}

static int make_empty(struct job *job, const struct volume_work *work, int folder)
{
	int ret = image_write_raw(folder, CLAIM_FILE, work->capacity);

	return ret < 0 && ret != -EEXIST ? image_fail(job, work, work->target, -ret) : 0;
}

/* An image that an earlier try left is not to be mistaken for this one's. */
static int begin(struct job *job, struct volume_work *work, int folder)
{
	if (unlinkat(folder, CLAIM_FILE IMAGE_TMP_SUFFIX, 0) < 0 && errno != ENOENT)
		return image_fail(job, work, work->target, errno);
	return find_source(job, work);
}

int image_check_fill(struct job *job)
{
	struct volume_work *work = &job->op.work[0];
	int folder = image_open_claim(work->target), ret;

	if (folder < 0)
		return image_fail_claim(job, work, work->target, folder);
	job->kept = faccessat(folder, CLAIM_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	if (job->kept)
		ret = image_make_claim(job, work, work->target);
	else
		ret = work->base ? begin(job, work, folder) : make_empty(job, work, folder);
	close(folder);
	return ret;
}

/* ---- it is whole ----------------------------------------------------------------------------- */

static int settle(const struct volume_work *work, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 ||
		(st.st_size < work->capacity && ftruncate(fd, work->capacity) < 0))
		return -errno;
	if (work->preallocate) {
		int error = posix_fallocate(fd, 0, work->capacity);

		if (error)
			return -error;
	}
	return fchmod(fd, FILE_MODE) < 0 || fsync(fd) < 0 ? -errno : 0;
}

static int give_name(const struct volume_work *work, int folder)
{
	const char *tmp = CLAIM_FILE IMAGE_TMP_SUFFIX;
	int fd = openat(folder, work->base ? tmp : CLAIM_FILE,
		O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = settle(work, fd);
	close(fd);
	if (ret < 0 || !work->base)
		return ret;
	if (linkat(folder, tmp, folder, CLAIM_FILE, 0) < 0 || unlinkat(folder, tmp, 0) < 0)
		return -errno;
	return fsync(folder) < 0 ? -errno : 0;
}

int image_finish_fill(struct job *job)
{
	struct volume_work *work = &job->op.work[0];
	int folder, ret;

	if (job->kept)
		return 0;
	folder = image_open_claim(work->target);
	if (folder < 0)
		return image_fail_claim(job, work, work->target, folder);
	ret = give_name(work, folder);
	close(folder);
	return ret < 0 ? image_fail(job, work, work->target, -ret) : 0;
}
