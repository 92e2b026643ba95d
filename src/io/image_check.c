/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold before a run may use its files, and what can be made without qemu-img. It runs on
 * the pool, because a file may lie on storage that hangs. Links are followed first, then judged.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/image_format.h"
#include "core/migration_check.h"
#include "io/image_private.h"

#define FOLDER_MODE 0711 /* QEMU's user must get through */
#define RAW_MODE    0600

bool work_needs_child(const struct volume_work *work)
{
	return work->kind == VOLUME_WORK_OVERLAY || work->kind == VOLUME_WORK_EMPTY ||
		work->kind == VOLUME_WORK_MEDIUM || (work->kind == VOLUME_WORK_FILL && work->link);
}

char *work_tmp(const struct volume_work *work)
{
	return xasprintf("%s%s", work->target, IMAGE_TMP_SUFFIX);
}

int image_fail(struct job *job, const struct volume_work *work, const char *path, int error)
{
	enum err_code code = ERR_IO;

	if (error == ENOENT || error == ENOTDIR)
		code = ERR_NOT_FOUND;
	else if (error == ENOSPC || error == EDQUOT)
		code = ERR_NO_SPACE;
	else if (error == EACCES || error == EPERM || error == ELOOP)
		code = ERR_FORBIDDEN;
	return err_set(&job->err, code, "volume '%s': '%s': %s", work->volume, path,
		strerror(error));
}

/* Names the first part of the path that fails, where that is not the whole. */
int image_fail_at(struct job *job, const struct volume_work *work, const char *path, int error)
{
	autofree char *part = xstrdup(path);

	for (char *c = strchr(part + 1, '/'); c; c = strchr(c + 1, '/')) {
		struct stat st;

		*c = '\0';
		if (stat(part, &st) < 0 || !S_ISDIR(st.st_mode))
			break;
		*c = '/';
	}
	image_fail(job, work, path, error);
	if (!streq(part, path))
		err_set(&job->err, job->err.code, "%s: it fails at '%s'", job->err.msg, part);
	return -(int)job->err.code;
}

/* ---- roots ----------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *const *roots)
{
	char real[PATH_MAX];

	for (; roots && *roots; roots++) {
		size_t len;

		if (!realpath(*roots, real))
			continue;
		len = strlen(real);
		if (strncmp(path, real, len) == 0 && (!path[len] || path[len] == '/' || len == 1))
			return true;
	}
	return false;
}

static int refuse_place(struct job *job, const struct volume_work *work, const char *path,
	const char *real, const char *roots)
{
	return err_set(&job->err, ERR_FORBIDDEN,
		"volume '%s': '%s' is '%s', which is not below a folder that the configuration allows "
		"(%s)",
		work->volume, path, real, roots);
}

/* Also what is no way to anything: a link into the void tells that there is none. */
int image_check_way(struct job *job, const struct volume_work *work, const char *path,
	const char *const own[2])
{
	const struct image_roots *roots = &job->image->roots;
	bool disk = work->kind == VOLUME_WORK_CHECK;
	autofree char *part = xstrdup(path);
	char real[PATH_MAX];
	struct stat st;

	if (job->op.kind != OP_LOOK)
		return 0;
	while (lstat(part, &st) < 0 && strrchr(part, '/') > part)
		*strrchr(part, '/') = '\0';
	if (realpath(part, real) &&
		(is_below(real, disk ? roots->host_disks : roots->images) || is_below(real, own)))
		return 0;
	return err_set(&job->err, ERR_FORBIDDEN,
		"volume '%s': '%s' leads to nothing below a folder that the configuration allows (%s)",
		work->volume, path, disk ? "hostDiskRoots" : "imageRoots");
}

/* A guest writes to its hostDisks: never to what the others are made of. at is path,
 * or another way there. */
static int check_roots(struct job *job, const struct volume_work *work, const char *path,
	const char *at)
{
	char real[PATH_MAX];

	if (image_check_way(job, work, path, NULL) < 0)
		return -(int)job->err.code;
	if (!realpath(at, real))
		return image_fail_at(job, work, path, errno);
	if (is_below(real, job->image->roots.host_disks))
		return 0;
	return refuse_place(job, work, path, real, "hostDiskRoots");
}

int image_check_real(struct job *job, const struct volume_work *work, const char *real,
	const char *const own[2])
{
	if (is_below(real, job->image->roots.images) || is_below(real, own))
		return 0;
	return refuse_place(job, work, work->base, real, "imageRoots");
}

int image_check_kind(struct job *job, const struct volume_work *work, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return image_fail(job, work, path, errno);
	if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
		return 0;
	return err_set(&job->err, ERR_INVALID,
		"volume '%s': '%s' is neither a file nor a block device", work->volume, path);
}

static int check_file(struct job *job, const struct volume_work *work, const char *path)
{
	if (check_roots(job, work, path, path) < 0)
		return -(int)job->err.code;
	return image_check_kind(job, work, path);
}

/* ---- what is there, and what is made here ---------------------------------------------------- */

/* An empty disk of its size that is on disk before it has its name: what a crash leaves is a
 * leftover, not a disk without a size. Never replaces what is there. */
int image_write_raw(int folder, const char *name, int64_t capacity)
{
	autofree char *tmp = xasprintf("%s" IMAGE_TMP_SUFFIX, name);
	int fd, ret = 0;

	unlinkat(folder, tmp, 0);
	fd = openat(folder, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, RAW_MODE);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, capacity) < 0 || fsync(fd) < 0 ||
		linkat(folder, tmp, folder, name, 0) < 0)
		ret = -errno;
	close(fd);
	unlinkat(folder, tmp, 0);
	return ret == 0 && fsync(folder) < 0 ? -errno : ret;
}

/* The folder that a disk is to be made in, judged once it is open: its name may lead
 * elsewhere the next moment. */
static int open_folder(struct job *job, const struct volume_work *work, const char *path)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autofree char *self = xasprintf("/proc/self/fd/%d", folder);

	if (folder < 0)
		return image_fail_at(job, work, path, errno);
	if (check_roots(job, work, path, self) == 0)
		return folder;
	close(folder);
	return -(int)job->err.code;
}

static int create_raw(struct job *job, const struct volume_work *work)
{
	const char *name = strrchr(work->target, '/') + 1;
	autofree char *path = xstrndup(work->target, (size_t)(name - work->target));
	int folder, ret;

	if (faccessat(AT_FDCWD, work->target, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return check_file(job, work, work->target);
	folder = open_folder(job, work, path);
	if (folder < 0)
		return -(int)job->err.code;
	ret = image_write_raw(folder, name, work->capacity);
	close(folder);
	if (ret == -EEXIST) /* somebody was faster */
		return check_file(job, work, work->target);
	return ret < 0 ? image_fail(job, work, work->target, -ret) : 0;
}

/* An image that names another file would open it for the guest: refused. */
int image_check_format(struct job *job, const struct volume_work *work, const char *path,
	const char **ret_format, int64_t *ret_size)
{
	unsigned char head[IMAGE_HEAD_SIZE];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));
	int64_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	bool refers;

	if (n < 0)
		image_fail(job, work, path, errno);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return -(int)job->err.code;
	*ret_format = image_format_of(head, (size_t)n, &refers);
	if (!*ret_format)
		return err_set(&job->err, ERR_INVALID,
			"volume '%s': '%s' is neither a raw nor a qcow2 image; unpack it, or make one "
			"with 'qemu-img convert -O qcow2'",
			work->volume, path);
	if (ret_size)
		*ret_size = image_size_of(head, (size_t)n, *ret_format, size);
	if (refers)
		return err_set(&job->err, ERR_INVALID,
			"volume '%s': '%s' refers to another file (backing or data file), which is not "
			"allowed; make it whole with 'qemu-img convert'",
			work->volume, path);
	return 0;
}

/* What was judged is what is opened later: by the real path, under a name that does not change. */
static int put_link(struct job *job, const struct volume_work *work, const char *link,
	const char *real)
{
	autofree char *tmp = xasprintf("%s" IMAGE_TMP_SUFFIX, link);

	unlink(tmp);
	if (symlink(real, tmp) < 0 || rename(tmp, link) < 0)
		return image_fail(job, work, link, errno);
	return 0;
}

/* A guest writes to it: raw, whatever its first bytes say. */
static int check_claimed(struct job *job, const struct volume_work *work, const char **ret_format)
{
	*ret_format = "raw";
	if (image_make_claim(job, work, work->base) < 0)
		return -(int)job->err.code;
	return put_link(job, work, work->link, work->base);
}

static int find_file(struct job *job, const struct volume_work *work, char ret_real[PATH_MAX])
{
	if (image_find(job, work, ret_real) < 0 || image_check_kind(job, work, ret_real) < 0)
		return -(int)job->err.code;
	return 0;
}

static int find_base(struct job *job, const struct volume_work *work, const char **ret_format,
	char ret_real[PATH_MAX])
{
	if (find_file(job, work, ret_real) < 0)
		return -(int)job->err.code;
	return image_check_format(job, work, ret_real, ret_format, NULL);
}

static int check_base(struct job *job, const struct volume_work *work, const char **ret_format)
{
	char real[PATH_MAX];

	if (work->claimed)
		return check_claimed(job, work, ret_format);
	if (find_base(job, work, ret_format, real) < 0)
		return -(int)job->err.code;
	return put_link(job, work, work->link, real);
}

static int link_file(struct job *job, const struct volume_work *work)
{
	char real[PATH_MAX];

	if (find_file(job, work, real) < 0)
		return -(int)job->err.code;
	return put_link(job, work, work->target, real);
}

static int check_target(struct job *job, const struct volume_work *work)
{
	return work->claimed ? image_check_claim(job, work) : check_file(job, work, work->target);
}

static int make_folder(struct job *job, const char *path, const char *whose)
{
	if (mkdir(path, FOLDER_MODE) < 0 && errno != EEXIST)
		return err_set(&job->err, errno == ENOSPC ? ERR_NO_SPACE : ERR_IO,
			"the %s folder '%s': %s", whose, path, strerror(errno));
	if (chmod(path, FOLDER_MODE) < 0) /* whatever the umask */
		return err_set(&job->err, ERR_IO, "the %s folder '%s': %s", whose, path,
			strerror(errno));
	return 0;
}

static int make_folders(struct job *job)
{
	if (make_folder(job, job->op.directory, "run's") < 0)
		return -(int)job->err.code;
	return job->op.kept ? make_folder(job, job->op.kept, "VM's") : 0;
}

static int check_work(struct job *job, size_t i)
{
	const struct volume_work *work = &job->op.work[i];

	switch (work->kind) {
	case VOLUME_WORK_CHECK:
		return check_target(job, work);
	case VOLUME_WORK_CREATE_RAW:
		return create_raw(job, work);
	case VOLUME_WORK_CLAIM:
		return image_make_claim(job, work, work->target);
	case VOLUME_WORK_OVERLAY:
		return check_base(job, work, &job->formats[i]);
	case VOLUME_WORK_LINK:
		return link_file(job, work);
	case VOLUME_WORK_MEDIUM:
		return image_stage_medium(job, work);
	case VOLUME_WORK_FOLDER:
		return image_make_folder(job, work);
	case VOLUME_WORK_TABLE:
		return image_make_table(job, work);
	case VOLUME_WORK_CLAIM_FOLDER:
		return image_make_claim_folder(job, work);
	case VOLUME_WORK_BRIDGE:
	case VOLUME_WORK_DEVICE:
	case VOLUME_WORK_PROGRAM:
	case VOLUME_WORK_PATH:
	case VOLUME_WORK_PORT:
		return image_check_host(job, work);
	case VOLUME_WORK_EMPTY:
	case VOLUME_WORK_FILL:
	case VOLUME_WORK_MAX:
		return 0;
	}
	return 0;
}

void image_check(struct job *job)
{
	int ret = job->op.kind == OP_FILL ? image_check_fill(job) : make_folders(job);

	for (size_t i = 0; i < job->op.n_work && ret == 0; i++)
		ret = check_work(job, i);
}

/* ---- looked for ------------------------------------------------------------------------------ */

static enum migration_check look_for(struct job *job, const struct volume_work *work)
{
	const char *format;
	char real[PATH_MAX];

	if (work->kind == VOLUME_WORK_CHECK)
		check_target(job, work);
	else if (work->kind == VOLUME_WORK_OVERLAY)
		find_base(job, work, &format, real);
	else if (work->kind == VOLUME_WORK_LINK)
		find_file(job, work, real);
	else {
		image_check_host(job, work);
		return MIGRATION_CHECK_NETWORKS;
	}
	return MIGRATION_CHECK_VOLUMES;
}

void image_look(struct job *job)
{
	struct findings missing = { 0 };

	for (size_t i = 0; i < job->op.n_work; i++) {
		const struct volume_work *work = &job->op.work[i];
		enum migration_check check;

		if (!volume_work_is_expected(work))
			continue;
		job->err = (struct err){ .code = ERR_OK };
		check = look_for(job, work);
		if (job->err.code)
			findings_add(&missing, NULL, migration_check_name(check), "%s",
				job->err.msg);
	}
	job->err = (struct err){ .code = ERR_OK };
	job->text = migration_findings_write(&missing);
	findings_done(&missing);
}

/* ---- names ----------------------------------------------------------------------------------- */

static int finish_image(struct job *job, const struct volume_work *work)
{
	autofree char *tmp = work_tmp(work);
	int fd = open(tmp, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), ret;

	if (fd < 0)
		return image_fail(job, work, tmp, errno);
	ret = fsync(fd);
	close(fd);
	if (ret < 0 || rename(tmp, work->target) < 0)
		return image_fail(job, work, work->target, errno);
	return 0;
}

static int drop_stage(struct job *job, const struct volume_work *work)
{
	autofree char *folder = work_stage(work);
	int ret = image_remove_tree(folder);

	return ret < 0 ? image_fail(job, work, folder, -ret) : 0;
}

void image_finish(struct job *job)
{
	int ret = job->op.kind == OP_FILL ? image_finish_fill(job) : 0;

	for (size_t i = 0; job->op.kind != OP_FILL && i < job->op.n_work && ret == 0; i++) {
		if (work_needs_child(&job->op.work[i]))
			ret = finish_image(job, &job->op.work[i]);
		if (job->op.work[i].kind == VOLUME_WORK_MEDIUM && ret == 0)
			ret = drop_stage(job, &job->op.work[i]);
	}
}
