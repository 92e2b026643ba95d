/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one manifest file, or says why not: only regular files, only whole ones, only so large.
 *
 * Whether somebody is writing is asked with a read lease: the kernel refuses one on a file that is
 * open for writing. Where leases are not to be had (foreign owner without CAP_LEASE, network file
 * systems) an event that says so, or the age of the last change, must do.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "io/manifest_dir_private.h"

#define CHUNK (64 * 1024)

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), e = strlen(ending);

	return n > e && streq(name + n - e, ending);
}

bool manifest_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return *name != '.' && *name != '#' &&
		(ends_with(name, ".yaml") || ends_with(name, ".yml") || ends_with(name, ".json"));
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool signature_equal(const struct signature *a, const struct signature *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
		same_time(a->mtime, b->mtime) && same_time(a->ctime, b->ctime);
}

static struct signature signature_from(const struct stat *st)
{
	return (struct signature){ st->st_dev, st->st_ino, st->st_size, st->st_mtim, st->st_ctim };
}

bool signature_of(int folder, const char *name, struct signature *ret_signature)
{
	struct stat st;

	if (fstatat(folder, name, &st, 0))
		return false;
	*ret_signature = signature_from(&st);
	return true;
}

static bool changed_lately(const struct stat *st)
{
	struct timespec now;
	msec age;

	clock_gettime(CLOCK_REALTIME, &now);
	age = (now.tv_sec - st->st_mtim.tv_sec) * 1000 +
		(now.tv_nsec - st->st_mtim.tv_nsec) / 1000000;
	return age >= 0 && age < FOLDER_SETTLE_MS;
}

/* READING_CONTENT: whole, as far as anybody can tell. */
static enum reading wholeness(int fd, const struct stat *st, bool whole)
{
	fcntl(fd, F_SETSIG, SIGURG); /* who opens it meanwhile must not end us by SIGIO */
	if (!fcntl(fd, F_SETLEASE, F_RDLCK)) {
		fcntl(fd, F_SETLEASE, F_UNLCK);
		return READING_CONTENT;
	}
	if (errno == EAGAIN)
		return READING_BUSY;
	return whole || !changed_lately(st) ? READING_CONTENT : READING_AGAIN;
}

/* One byte more than allowed is enough to know. */
static int read_all(int fd, struct buf *content)
{
	while (content->len <= NODE_TEXT_MAX) {
		char chunk[CHUNK];
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n > 0)
			buf_add(content, chunk, (size_t)n);
		else if (n == 0)
			return 0;
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

static enum reading too_large(const char *name, struct err *err)
{
	err_set(err, ERR_TOO_LARGE, "file '%s' is larger than %d bytes", name, NODE_TEXT_MAX);
	return READING_ERROR;
}

static enum reading read_open(int fd, struct entry *entry, struct buf *content, struct err *err)
{
	struct signature after;
	struct stat st;
	enum reading whole;

	if (fstat(fd, &st))
		goto failed;
	entry->signature = signature_from(&st);
	if (!S_ISREG(st.st_mode)) {
		err_set(err, ERR_IO, "'%s' is not a regular file", entry->name);
		return READING_ERROR;
	}
	whole = wholeness(fd, &st, entry->whole);
	if (whole != READING_CONTENT)
		return whole;
	if (st.st_size > NODE_TEXT_MAX)
		return too_large(entry->name, err);
	if (read_all(fd, content) || fstat(fd, &st))
		goto failed;
	after = signature_from(&st);
	if (!signature_equal(&after, &entry->signature))
		return READING_AGAIN;
	return content->len > NODE_TEXT_MAX ? too_large(entry->name, err) : READING_CONTENT;
failed:
	err_set(err, ERR_IO, "cannot read '%s': %s", entry->name, strerror(errno));
	return READING_ERROR;
}

/* ENOENT of a name that is there: the link is dangling. */
static enum reading not_open(int folder, const struct entry *entry, struct err *err)
{
	int why = errno;
	char target[256];
	ssize_t n = readlinkat(folder, entry->name, target, sizeof(target) - 1);

	if (why == ENOENT && n < 0)
		return READING_GONE;
	if (n >= 0)
		err_set(err, ERR_IO, "cannot open '%s', a link to '%.*s': %s", entry->name, (int)n,
			target, strerror(why));
	else
		err_set(err, ERR_IO, "cannot open '%s': %s", entry->name, strerror(why));
	return READING_ERROR;
}

enum reading entry_read(int folder, struct entry *entry, char **ret_content, size_t *ret_len,
	struct err *err)
{
	struct buf content = { 0 };
	struct stat st;
	enum reading reading;
	int fd;

	entry->signature = (struct signature){ 0 };
	entry->link = !fstatat(folder, entry->name, &st, AT_SYMLINK_NOFOLLOW) &&
		S_ISLNK(st.st_mode);
	fd = openat(folder, entry->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		reading = not_open(folder, entry, err);
		signature_of(folder, entry->name, &entry->signature);
		return reading;
	}
	reading = read_open(fd, entry, &content, err);
	close(fd);
	if (reading == READING_BUSY || reading == READING_AGAIN)
		entry->signature = (struct signature){ 0 };
	if (reading == READING_CONTENT) {
		*ret_content = content.data ? take(&content.data)
					    : xstrdup(""); /* empty is a content */
		*ret_len = content.len;
	}
	free(content.data);
	return reading;
}

/* ---- batches --------------------------------------------------------------------------------- */

void batch_add(struct batch *batch, const struct entry *entry, char *content, size_t len,
	const struct err *err)
{
	struct err *copy = NULL;

	if (batch->n == batch->cap) {
		batch->cap = batch->cap ? batch->cap * 2 : 16;
		batch->files = xrealloc_array(batch->files, batch->cap, sizeof(*batch->files));
	}
	if (err) {
		copy = xcalloc(1, sizeof(*copy));
		*copy = *err;
	}
	batch->files[batch->n++] =
		(struct folder_doc_file){ xstrdup(entry->name), content, len, copy };
	batch->bytes += len;
}

void batch_done(struct batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		free((char *)(uintptr_t)batch->files[i].name);
		free((char *)(uintptr_t)batch->files[i].content);
		free((struct err *)(uintptr_t)batch->files[i].err);
	}
	free(batch->files);
	*batch = (struct batch){ 0 };
}
