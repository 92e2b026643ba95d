/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_dir.c watches and decides when to look; manifest_dir_entries.c keeps the list of files
 * and tells what became of each; manifest_dir_read.c reads one.
 */
#ifndef VMAGENT_IO_MANIFEST_DIR_PRIVATE_H
#define VMAGENT_IO_MANIFEST_DIR_PRIVATE_H

#include <sys/stat.h>
#include "io/manifest_dir.h"

struct signature { /* equal: the file need not be read again; zero: never read */
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime, ctime;
};

enum pending {
	PENDING_NO,
	PENDING_SOON,   /* to be read with the next batch */
	PENDING_SETTLE, /* the same, but the batch waits longer */
	PENDING_NEXT    /* PENDING_SETTLE of the batch after the one being made */
};

struct entry {
	char *name; /* owned */
	struct signature signature;
	enum pending pending;
	bool whole;   /* an event says so: closed after writing, or renamed into place */
	bool told;    /* the sink knows of it */
	bool link;    /* a symbolic link: its target changes without an event */
	bool counted; /* among the FOLDER_FILES_MAX; the others are an error each */
	bool seen;    /* by the scan under way */
};

struct entries {
	struct entry *list; /* owned, by name */
	size_t n, cap;
	size_t counted;
};

struct batch {
	struct folder_doc_file *files; /* owned, with their contents and errors */
	size_t n, cap;
	size_t bytes;
};

/* What reading came to. BUSY: somebody writes, IN_CLOSE_WRITE will come; AGAIN: nobody knows,
 * settle. */
enum reading { READING_CONTENT, READING_GONE, READING_ERROR, READING_BUSY, READING_AGAIN };

bool manifest_name(const char *name);
bool signature_equal(const struct signature *a, const struct signature *b);
/* Of the file behind the name, links followed; false and errno when it has none. */
bool signature_of(int folder, const char *name, struct signature *ret_signature);
/* Reads the entry's file below the open folder and sets its signature. *ret_content is owned by the
 * caller; err has the words of READING_ERROR. */
enum reading entry_read(int folder, struct entry *entry, char **ret_content, size_t *ret_len,
	struct err *err);

/* Takes content over. err NULL with content NULL: gone. */
void batch_add(struct batch *batch, const struct entry *entry, char *content, size_t len,
	const struct err *err);
void batch_done(struct batch *batch);

/* The name's entry, new if need be; NULL when there are too many even to name them. */
struct entry *entries_at(struct entries *entries, const char *name);
/* Lists the folder and marks what is to be read: everything, or what changed. -1 and errno. */
int entries_scan(struct entries *entries, int folder, bool complete);
/* Reads what is marked into the batch and forgets what is gone. */
void entries_tell(struct entries *entries, int folder, bool complete, struct batch *batch);
bool entries_pending(struct entries *entries); /* PENDING_NEXT becomes PENDING_SETTLE; any left? */
bool entries_links(const struct entries *entries); /* any symbolic link? */
void entries_done(struct entries *entries);

#endif
