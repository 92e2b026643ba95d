/* SPDX-License-Identifier: Apache-2.0 */
/* Links are not followed: the folder is the VM's own, and QEMU's user may write to the file. */
#include "io/nvram_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

int nvram_file_read(const char *path, struct nvram *ret, struct err *err)
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

/* So that the file is there after a power cut, and not only what is in it. */
static bool sync_folder(const char *path)
{
	autofree char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool good = fd >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	return good;
}

int nvram_file_write(const char *path, const struct nvram *nvram, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int rc = 0;

	if (fd < 0)
		return failed(err, "open", path);
	if (!write_all(fd, nvram) || !sync_folder(path))
		rc = failed(err, "write", path);
	close(fd);
	return rc;
}
