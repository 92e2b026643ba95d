/* SPDX-License-Identifier: Apache-2.0 */
/* What -f names: every document of the files, of the files in folders, or of standard input. */
#ifndef VMAGENT_CLI_FILES_H
#define VMAGENT_CLI_FILES_H

#include "cli/resource.h"

struct file_object {
	char *source;      /* owned; the file's path, or "standard input" */
	struct node *root; /* owned */
};
struct file_objects {
	struct file_object *list; /* owned */
	size_t n;
};
void file_objects_done(struct file_objects *objects);

/*
 * Reads all paths. A file that cannot be read or parsed is reported, with line and column, and the
 * others still are. The items of a List stand for it.
 */
void files_read(struct cli *cli, const char *const *paths, size_t n_paths,
	struct file_objects *ret);

/* The type of such an object, and its namespace (borrowed): its own, or the one
 * given. -1 with a fault that names the source when there is no such type, no name,
 * or a namespace that disagrees. */
int file_object_place(const struct cli *cli, const struct file_object *object,
	const struct resource **ret_resource, const char **ret_ns, struct fault *fault);

#endif
