/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From paths to documents. In folders only *.yaml, *.yml and *.json count and hidden files do not,
 * as in the agent's own folder: what an editor leaves behind is no manifest.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files.h"

#define FOLDERS_DEEP_MAX 16

struct reading {
	struct cli *cli;
	struct file_objects *to;
	int depth;
};

void file_objects_done(struct file_objects *objects)
{
	for (size_t i = 0; i < objects->n; i++) {
		free(objects->list[i].source);
		node_free(objects->list[i].root);
	}
	free(objects->list);
	*objects = (struct file_objects){ 0 };
}

static void report(struct reading *r, const char *fmt, ...) PRINTF(2, 3);
static void report(struct reading *r, const char *fmt, ...)
{
	struct fault fault = { .exit = EXIT_ERROR };
	autofree char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	buf_puts(&fault.text, words);
	cli_report(r->cli, &fault);
}

static void add_object(struct reading *r, const char *source, struct node *root)
{
	struct file_objects *to = r->to;
	const char *kind = node_text(root, "kind");
	struct node *items = node_get(root, "items");

	if (kind && items && items->kind == NODE_LIST && strlen(kind) >= 4 &&
		streq(kind + strlen(kind) - 4, "List")) {
		for (size_t i = 0; i < items->n_children; i++)
			add_object(r, source, node_copy(items->children[i]));
		node_free(root);
		return;
	}
	to->list = xrealloc_array(to->list, to->n + 1, sizeof(*to->list));
	to->list[to->n++] = (struct file_object){ .source = xstrdup(source), .root = root };
}

static void parse(struct reading *r, const char *source, const struct buf *text)
{
	struct documents docs = { 0 };
	struct err err = { 0 };
	struct place place;

	if (nodes_parse(text->data ? text->data : "", text->len, &docs, &place, &err)) {
		report(r, "%s:%d:%d: %s", source, place.line, place.column, err.msg);
		return;
	}
	if (!docs.n)
		report(r, "%s: there is no document in it", source);
	for (size_t i = 0; i < docs.n; i++)
		add_object(r, source, take(&docs.roots[i]));
	documents_done(&docs);
}

static void read_fd(struct reading *r, const char *source, int fd)
{
	struct buf text = { 0 };
	char piece[16384];
	ssize_t n;

	while ((n = read(fd, piece, sizeof(piece))) && text.len <= NODE_TEXT_MAX) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		buf_add(&text, piece, (size_t)n);
	}
	if (n < 0)
		report(r, "%s: %s", source, strerror(errno));
	else
		parse(r, source, &text);
	buf_done(&text);
}

static int is_manifest(const struct dirent *entry)
{
	static const char *const endings[] = { ".yaml", ".yml", ".json" };
	size_t len = strlen(entry->d_name);

	for (size_t i = 0; entry->d_name[0] != '.' && i < ARRAY_SIZE(endings); i++) {
		size_t ending = strlen(endings[i]);

		if (len > ending && streq(entry->d_name + len - ending, endings[i]))
			return 1;
	}
	return entry->d_type == DT_DIR && entry->d_name[0] != '.';
}

static void read_path(struct reading *r, const char *path);

/* A folder within a folder only with -R. */
static void read_entry(struct reading *r, const char *folder, const char *name)
{
	autofree char *path = xasprintf("%s/%s", folder, name);
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode) &&
		(!r->cli->args.recursive || r->depth == FOLDERS_DEEP_MAX))
		return;
	read_path(r, path);
}

static void read_folder(struct reading *r, const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_manifest, alphasort);

	if (n < 0) {
		report(r, "%s: %s", path, strerror(errno));
		return;
	}
	for (int i = 0; i < n; i++) {
		read_entry(r, path, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

static void read_path(struct reading *r, const char *path)
{
	struct stat st;
	int fd;

	if (streq(path, "-")) {
		read_fd(r, "standard input", STDIN_FILENO);
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		report(r, "%s: %s", path, strerror(errno));
	} else if (S_ISDIR(st.st_mode)) {
		r->depth++;
		read_folder(r, path);
		r->depth--;
	} else {
		read_fd(r, path, fd);
	}
	if (fd >= 0)
		close(fd);
}

void files_read(struct cli *cli, const char *const *paths, size_t n_paths, struct file_objects *ret)
{
	struct reading r = { .cli = cli, .to = ret };

	for (size_t i = 0; i < n_paths; i++)
		read_path(&r, paths[i]);
}

int file_object_place(const struct cli *cli, const struct file_object *object,
	const struct resource **ret_resource, const char **ret_ns, struct fault *fault)
{
	const char *kind = node_text(object->root, "kind");
	const char *ns = node_text(object->root, "metadata.namespace");
	const char *name = node_text(object->root, "metadata.name");
	const struct resource *resource = resource_of_kind(kind);

	if (!kind || !resource || resource == resource_event)
		return fault_set(fault, EXIT_ERROR,
			"%s:%d: no matches for kind \"%s\": there are VirtualMachine, "
			"VirtualMachineInstance, and what they name (vmactl get --help)",
			object->source, object->root->line, kind ? kind : "");
	if (!name || !*name) /* the path of an empty one would be that of all */
		return fault_set(fault, EXIT_ERROR, "%s:%d: metadata.name is %s", object->source,
			object->root->line, name ? "empty" : "missing");
	if (ns && cli->args.ns && !streq(ns, cli->args.ns))
		return fault_set(fault, EXIT_ERROR,
			"%s: the object's namespace '%s' is not the one "
			"given: '%s'",
			object->source, ns, cli->args.ns);
	*ret_resource = resource;
	*ret_ns = ns ? ns : cli->args.ns ? cli->args.ns : "default";
	return 0;
}
