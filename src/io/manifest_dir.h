/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watched folder of manifests: tells the loop what its files hold, whole files only, in
 * batches. What a removal, an error or a missing folder means is not decided here.
 *
 * A file counts when its name ends in .yaml, .yml or .json and begins with neither `.`
 * nor `#`; what editors and package managers drop (x.yaml~, .x.yaml.swp,
 * x.yaml.dpkg-new, x.yaml.rpmnew) does not.
 */
#ifndef VMAGENT_IO_MANIFEST_DIR_H
#define VMAGENT_IO_MANIFEST_DIR_H

#include "core/input.h"

#include <uv.h>

#define FOLDER_BATCH_MS    5 /* quiet time after files were closed or renamed into place */
/* Quiet time after a removal, and where nobody says that a file is whole. */
#define FOLDER_SETTLE_MS   250
#define FOLDER_DELAY_MS    1000 /* the longest that a stream of events puts a batch off */
/* Looks for a missing folder, and whether the targets of links changed. */
#define FOLDER_POLL_MS     2000
#define FOLDER_FILES_MAX   4096 /* more files than that are an error for each further one */
#define FOLDER_SURPLUS_MAX 64   /* of these, as many are named */
#define FOLDER_BYTES_MAX   (64 * 1024 * 1024) /* of one batch */

struct manifest_dir;

struct folder_sink {
	void *ctx;
	/* On the loop's thread, never from within a call of this header; everything is borrowed.
	 * Files are in order of name. The first batch and the one after the folder was missing, or
	 * after events were lost, is complete; the others name what changed. */
	void (*batch)(void *ctx, const struct folder_input *folder);
};

/* Begins to watch; the first batch comes from the loop's next turn. Without inotify (limits of the
 * system) the folder is looked at every FOLDER_POLL_MS. Copies path. Never fails. */
struct manifest_dir *manifest_dir_new(uv_loop_t *loop, const char *path,
	const struct folder_sink *sink);

/* Looks at every file again soon, and tells what changed (SIGHUP). */
void manifest_dir_rescan(struct manifest_dir *dir);

/* No batch comes any more; the memory goes when the loop has closed the handles. NULL is fine.
 * Not from within batch(). */
void manifest_dir_close(struct manifest_dir *dir);

#endif
