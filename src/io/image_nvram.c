/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file with the variables of a guest's EFI firmware, in the VM's own folder, which QEMU has
 * open while the guest runs: it is read where the guest does not run any more, and written where it
 * does not run yet. Links are not followed: QEMU's user may write to the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/domxml.h"
#include "core/json.h"
#include "core/nvram.h"
#include "io/image_private.h"

static char *path_of(const struct job *job)
{
	return xasprintf("%s/" DOMAIN_NVRAM_FILE, job->op.kept);
}

static int failed(struct err *err, const char *what, const char *path)
{
	return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s '%s': %s", what, path,
		strerror(errno));
}

static int read_all(int fd, const char *path, struct nvram *ret, struct err *err)
{
	struct nvram nvram = { 0 };
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return failed(err, "read", path);
	if (!S_ISREG(st.st_mode) || st.st_size < 1 || st.st_size > NVRAM_MAX)
		return err_set(err, ERR_TOO_LARGE,
			"'%s' is no file with the variables of a firmware, of at most %d bytes",
			path, NVRAM_MAX);
	nvram.len = (size_t)st.st_size;
	nvram.data = xcalloc(1, nvram.len);
	n = pread(fd, nvram.data, nvram.len, 0);
	if (n == st.st_size) {
		*ret = nvram;
		return 0;
	}
	errno = n < 0 ? errno : EIO;
	nvram_done(&nvram);
	return failed(err, "read", path);
}

static int read_file(const char *path, struct nvram *ret, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc = fd < 0 ? failed(err, "open", path) : read_all(fd, path, ret, err);

	if (fd >= 0)
		close(fd);
	return rc;
}

static bool write_all(int fd, const struct nvram *nvram)
{
	size_t done = 0;

	while (done < nvram->len) {
		ssize_t n = pwrite(fd, nvram->data + done, nvram->len - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return ftruncate(fd, (off_t)nvram->len) == 0 && fsync(fd) == 0;
}

/* In place, made if it is not there; it is on the disk afterwards, and so is its name. */
static int write_file(const char *path, const char *folder, const struct nvram *nvram,
	struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int rc = 0;

	if (fd < 0)
		return failed(err, "open", path);
	if (!write_all(fd, nvram) || image_sync_folder(folder) < 0)
		rc = failed(err, "write", path);
	close(fd);
	return rc;
}

void image_read_nvram(struct job *job)
{
	autofree char *path = path_of(job);
	struct nvram nvram;

	if (read_file(path, &nvram, &job->err) < 0)
		return;
	job->text = json_take_text(nvram_pack(&nvram));
	nvram_done(&nvram);
}

void image_write_nvram(struct job *job)
{
	autofree char *path = path_of(job);
	cJSON *json = cJSON_Parse(job->op.nvram);
	struct nvram nvram;

	if (nvram_unpack(json, &nvram, &job->err) == 0) {
		write_file(path, job->op.kept, &nvram, &job->err);
		nvram_done(&nvram);
	}
	cJSON_Delete(json);
}
