/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the manifest folder that are known: what was last read of each and what is to be
 * looked at. It puts what became of them into a batch, and must not know when that happens.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "io/manifest_dir_private.h"

#define ENTRIES_MAX (FOLDER_FILES_MAX + FOLDER_SURPLUS_MAX)

/* Where the name is, or would be. */
static size_t place_of(const struct entries *entries, const char *name)
{
	size_t low = 0, high = entries->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(entries->list[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct entry *entries_at(struct entries *entries, const char *name)
{
	size_t place = place_of(entries, name);
	struct entry *entry;

	if (place < entries->n && streq(entries->list[place].name, name))
		return &entries->list[place];
	if (entries->n == ENTRIES_MAX)
		return NULL;
	if (entries->n == entries->cap) {
		entries->cap = entries->cap ? entries->cap * 2 : 16;
		entries->list = xrealloc_array(entries->list, entries->cap, sizeof(*entry));
	}
	entry = &entries->list[place];
	memmove(entry + 1, entry, (entries->n++ - place) * sizeof(*entry));
	*entry = (struct entry){ .name = xstrdup(name) };
	return entry;
}

/* ---- scan ------------------------------------------------------------------------------------ */

static void scan_name(struct entries *entries, int folder, const char *name, bool complete)
{
	struct entry *entry = entries_at(entries, name);
	struct signature now = { 0 };

	if (!entry)
		return;
	entry->seen = true;
	signature_of(folder, name, &now);
	if (complete || !entry->told || !signature_equal(&now, &entry->signature))
		entry->pending = PENDING_SOON;
}

/* -1 and errno when the listing is not whole: then nobody may conclude that a file is gone. */
static int scan_names(struct entries *entries, DIR *stream, bool complete)
{
	struct dirent *found;

	while ((errno = 0, found = readdir(stream)))
		if (manifest_name(found->d_name))
			scan_name(entries, dirfd(stream), found->d_name, complete);
	return errno ? -1 : 0;
}

int entries_scan(struct entries *entries, int folder, bool complete)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc, why;
	DIR *stream = copy < 0 ? NULL : fdopendir(copy);

	if (!stream)
		return -1;
	for (size_t i = 0; i < entries->n; i++)
		entries->list[i].seen = false;
	rc = scan_names(entries, stream, complete);
	why = errno;
	closedir(stream);
	errno = why;
	if (rc)
		return -1;
	for (size_t i = 0; i < entries->n; i++) {
		struct entry *entry = &entries->list[i];

		if (!entry->seen && entry->pending == PENDING_NO)
			entry->pending = complete ? PENDING_SOON : PENDING_NEXT;
	}
	return 0;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* Reads the entry within the bounds of folder and batch. */
static enum reading look(struct entries *entries, struct entry *entry, int folder,
	struct folder_doc_file *file, struct err *err)
{
	char *content = NULL;
	enum reading reading;

	if (!entry->counted && entries->counted >= FOLDER_FILES_MAX) {
		entry->signature = (struct signature){ 0 };
		if (!signature_of(folder, entry->name, &entry->signature))
			return READING_GONE;
		err_set(err, ERR_TOO_LARGE, "file '%s' is left out: there are more than %d",
			entry->name, FOLDER_FILES_MAX);
		return READING_ERROR;
	}
	reading = entry_read(folder, entry, &content, &file->len, err);
	file->content = content;
	if (reading != READING_GONE && !entry->counted) {
		entry->counted = true;
		entries->counted++;
	}
	return reading;
}

static void tell_content(struct batch *batch, const struct entry *entry,
	struct folder_doc_file *file)
{
	char *content = (char *)(uintptr_t)file->content;
	struct err err;

	if (batch->bytes + file->len <= FOLDER_BYTES_MAX) {
		batch_add(batch, entry, content, file->len, NULL);
		return;
	}
	free(content);
	err_set(&err, ERR_TOO_LARGE,
		"file '%s' is left out: the files are larger than %d bytes together", entry->name,
		FOLDER_BYTES_MAX);
	batch_add(batch, entry, NULL, 0, &err);
}

/* In a complete batch a file that cannot be read yet is an error, since one that is not named there
 * counts as gone. */
static void tell_unsettled(struct batch *batch, struct entry *entry)
{
	struct err err;

	err_set(&err, ERR_UNAVAILABLE, "file '%s' is being written", entry->name);
	batch_add(batch, entry, NULL, 0, &err);
	entry->told = true;
}

static void tell(struct entries *entries, struct entry *entry, int folder, bool complete,
	struct batch *batch)
{
	struct folder_doc_file file = { 0 };
	struct err err = { .code = ERR_OK };
	enum reading reading = look(entries, entry, folder, &file, &err);

	entry->pending = reading == READING_AGAIN ? PENDING_NEXT : PENDING_NO;
	entry->whole = false;
	switch (reading) {
	case READING_BUSY:
	case READING_AGAIN:
		if (complete)
			tell_unsettled(batch, entry);
		return;
	case READING_GONE:
		if (entry->told && !complete)
			batch_add(batch, entry, NULL, 0, NULL);
		entry->told = false;
		return;
	case READING_ERROR:
		batch_add(batch, entry, NULL, 0, &err);
		break;
	case READING_CONTENT:
		tell_content(batch, entry, &file);
		break;
	}
	entry->told = true;
}

/* Drops what the sink does not know and nobody waits for. Where room came, the
 * surplus gets its turn. */
static void forget(struct entries *entries)
{
	size_t kept = 0, counted = entries->counted;

	for (size_t i = 0; i < entries->n; i++) {
		struct entry *entry = &entries->list[i];

		if (entry->told || entry->pending != PENDING_NO) {
			entries->list[kept++] = *entry;
			continue;
		}
		entries->counted -= entry->counted;
		free(entry->name);
	}
	entries->n = kept;
	for (size_t i = 0; counted > entries->counted && i < entries->n; i++)
		if (!entries->list[i].counted)
			entries->list[i].pending = PENDING_NEXT;
}

void entries_tell(struct entries *entries, int folder, bool complete, struct batch *batch)
{
	for (size_t i = 0; i < entries->n; i++) {
		struct entry *entry = &entries->list[i];

		if (entry->pending == PENDING_SOON || entry->pending == PENDING_SETTLE)
			tell(entries, entry, folder, complete, batch);
	}
	forget(entries);
}

bool entries_pending(struct entries *entries)
{
	bool any = false;

	for (size_t i = 0; i < entries->n; i++) {
		if (entries->list[i].pending == PENDING_NEXT)
			entries->list[i].pending = PENDING_SETTLE;
		any |= entries->list[i].pending != PENDING_NO;
	}
	return any;
}

bool entries_links(const struct entries *entries)
{
	for (size_t i = 0; i < entries->n; i++)
		if (entries->list[i].link)
			return true;
	return false;
}

void entries_done(struct entries *entries)
{
	for (size_t i = 0; i < entries->n; i++)
		free(entries->list[i].name);
	free(entries->list);
	*entries = (struct entries){ 0 };
}
