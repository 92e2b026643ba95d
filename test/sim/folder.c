/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest folder, and how the agent hears of it: changes one by one, or all of
 * it at a start. */
#include <string.h>

#include "sim.h"

static struct manifest_file *find(struct world *w, const char *name)
{
	for (size_t i = 0; i < w->n_files; i++) {
		if (streq(w->files[i].name, name))
			return &w->files[i];
	}
	return NULL;
}

static struct folder_doc_file doc_of(const struct manifest_file *file)
{
	return (struct folder_doc_file){ .name = file->name,
		.content = file->content,
		.len = strlen(file->content) };
}

static void tell(struct world *w, const struct folder_doc_file *files, size_t n, bool complete)
{
	struct input input = { .kind = INPUT_FOLDER,
		.folder = { .complete = complete, .files = files, .n_files = n } };

	if (w->folder_missing) {
		input.folder = (struct folder_input){ .missing = true,
			.why = "No such file or directory" };
	}
	world_input(w, &input);
}

void folder_scan(struct world *w)
{
	struct folder_doc_file docs[FILES_MAX];

	for (size_t i = 0; i < w->n_files; i++)
		docs[i] = doc_of(&w->files[i]);
	tell(w, docs, w->n_files, true);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct manifest_file *)a)->name,
		((const struct manifest_file *)b)->name);
}

void folder_put(struct world *w, const char *name, const char *content)
{
	struct manifest_file *file = find(w, name);
	struct folder_doc_file doc;

	if (!file) {
		if (w->n_files == FILES_MAX) {
			world_fail(w, "the simulation has no room for another file");
			return;
		}
		file = &w->files[w->n_files++];
		*file = (struct manifest_file){ 0 };
		copy_str(file->name, sizeof(file->name), name);
	}
	replace_str(&file->content, content);
	qsort(w->files, w->n_files, sizeof(*w->files), compare);
	doc = doc_of(find(w, name));
	if (!w->folder_missing)
		tell(w, &doc, 1, false);
}

void folder_remove(struct world *w, char *const *names, size_t n)
{
	struct folder_doc_file docs[FILES_MAX];

	for (size_t i = 0; i < n; i++) {
		struct manifest_file *file = find(w, names[i]);

		docs[i] = (struct folder_doc_file){ .name = names[i] };
		if (!file) {
			world_fail(w, "there is no file %s", names[i]);
			return;
		}
		free(file->content);
		memmove(file, file + 1, (size_t)(w->files + w->n_files - file - 1) * sizeof(*file));
		w->n_files--;
	}
	tell(w, docs, n, false);
}

/* In one batch, in order of name, as the watcher tells it. */
void folder_rename(struct world *w, const char *from, const char *to)
{
	struct manifest_file *file = find(w, from);
	struct folder_doc_file docs[2];
	bool first = strcmp(from, to) < 0;

	if (!file || find(w, to)) {
		world_fail(w, "%s cannot be renamed to %s", from, to);
		return;
	}
	copy_str(file->name, sizeof(file->name), to);
	docs[first] = doc_of(file);
	docs[!first] = (struct folder_doc_file){ .name = from };
	tell(w, docs, 2, false);
	qsort(w->files, w->n_files, sizeof(*w->files), compare);
}
