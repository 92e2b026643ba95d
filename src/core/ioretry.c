/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KubeVirt's retry manager for I/O errors, and the memory of which disks failed: a text of words,
 * one per disk and reason, as "data:enospc log:". Names of disks hold neither blank nor colon.
 */
#include "core/ioretry.h"

#include <string.h>

enum io_step io_retry_decide(const struct io_retry *io, msec now, msec *ret_delay)
{
	*ret_delay = MAX(io->next - now, 0);
	if (!io->last)
		return IO_RESUME;
	if (!io->failed)
		return now < io->last + SECONDS(IO_RETRY_RELATED_S) ? IO_FAILED : IO_RESUME;
	return now <= io->next ? IO_WAIT : IO_RESUME;
}

void io_retry_note(struct io_retry *io, enum io_step step, msec now)
{
	bool again = io->failed;

	io->failed = step == IO_FAILED;
	if (io->failed)
		return;
	io->wait = again ? MIN(2 * io->wait, SECONDS(IO_RETRY_MAX_S)) : SECONDS(IO_RETRY_FIRST_S);
	io->last = now;
	io->next = now + io->wait;
}

bool io_retry_is_over(const struct io_retry *io, msec now, msec *ret_at)
{
	*ret_at = io->last ? io->last + SECONDS(IO_RETRY_RELATED_S) : now;
	return now >= *ret_at;
}

void io_retry_clear(struct io_retry *io)
{
	free(io->errors);
	*io = (struct io_retry){ 0 };
}

/* ---- which disks ----------------------------------------------------------------------------- */

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = words; at && *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (n == length && !strncmp(at, word, n))
			return true;
		at += n;
	}
	return false;
}

bool io_error_is_known(const struct io_retry *io, const char *disk, const char *reason)
{
	autofree char *word = xasprintf("%s:%s", disk, reason);

	return has_word(io->errors, word);
}

bool io_error_add(struct io_retry *io, const char *disk, const char *reason)
{
	autofree char *word = xasprintf("%s:%s", disk, reason), *before = NULL;

	if (io_error_is_known(io, disk, reason))
		return false;
	before = take(&io->errors);
	io->errors = xasprintf("%s%s%s", before ? before : "", before ? " " : "", word);
	return true;
}

char *io_error_text(const struct io_retry *io)
{
	struct buf text = { 0 };

	if (!io->errors)
		return xstrdup("I/O error on an unknown disk");
	for (const char *at = io->errors; *at; at += strspn(at, " ")) {
		int disk = (int)strcspn(at, ":");
		bool full = starts_with(at + disk, ":enospc");

		buf_printf(&text, "%s%s disk '%.*s'", text.len ? ", " : "",
			full ? "no space left for" : "I/O error on", disk, at);
		at += strcspn(at, " ");
	}
	return text.data;
}
