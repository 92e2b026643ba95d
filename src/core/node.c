/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree that manifests and stored objects are worked on as: building, looking up, comparing, and
 * writing it as JSON.
 *
 * A node owns its key, text and children. Depth is bounded where trees are made (node_parse.c), so
 * recursion is fine here. It must not know what any field means.
 */
#include "core/node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CHILDREN_FIRST 4 /* capacity of a first allocation */

void node_free(struct node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->n_children; i++)
		node_free(node->children[i]);
	free(node->children);
	free(node->key);
	free(node->text);
	free(node);
}

void documents_done(struct documents *docs)
{
	for (size_t i = 0; i < docs->n; i++)
		node_free(docs->roots[i]);
	free(docs->roots);
	*docs = (struct documents){ 0 };
}

struct node *node_new(enum node_kind kind, const char *text)
{
	struct node *node = xcalloc(1, sizeof(*node));

	node->kind = kind;
	node->text = xstrdup(text);
	return node;
}

struct node *node_new_int(int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	return node_new(NODE_NUMBER, text);
}

struct node *node_copy(const struct node *node)
{
	struct node *copy;

	if (!node)
		return NULL;
	copy = node_new(node->kind, node->text);
	copy->key = xstrdup(node->key);
	copy->key_line = node->key_line;
	copy->key_column = node->key_column;
	copy->line = node->line;
	copy->column = node->column;
	for (size_t i = 0; i < node->n_children; i++)
		node_append(copy, node_copy(node->children[i]));
	return copy;
}

static bool children_equal(const struct node *a, const struct node *b)
{
	for (size_t i = 0; i < a->n_children; i++) {
		const struct node *child = a->children[i];
		const struct node *other = a->kind == NODE_MAP ? node_get(b, child->key)
							       : b->children[i];

		if (!other || !node_equal(child, other))
			return false;
	}
	return true;
}

bool node_equal(const struct node *a, const struct node *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->n_children != b->n_children)
		return false;
	return streq(a->text, b->text) && children_equal(a, b);
}

/* The index of a map's entry, or n_children. */
size_t node_index(const struct node *map, const char *key)
{
	size_t i = 0;

	while (i < map->n_children && strcmp(map->children[i]->key, key) != 0)
		i++;
	return i;
}

struct node *node_get(const struct node *node, const char *key)
{
	size_t i;

	if (!node || node->kind != NODE_MAP)
		return NULL;
	i = node_index(node, key);
	return i < node->n_children ? node->children[i] : NULL;
}

/* Takes the next name off a path "a.b.c" into an owned string; *path moves on, NULL at the end. */
static char *path_next(const char **path)
{
	const char *dot = strchr(*path, '.');
	char *name = dot ? xstrndup(*path, (size_t)(dot - *path)) : xstrdup(*path);

	*path = dot ? dot + 1 : NULL;
	return name;
}

static struct node *get_len(const struct node *map, const char *key, size_t len)
{
	if (map->kind != NODE_MAP)
		return NULL;
	for (size_t i = 0; i < map->n_children; i++) {
		const char *name = map->children[i]->key;

		if (strncmp(name, key, len) == 0 && !name[len])
			return map->children[i];
	}
	return NULL;
}

struct node *node_at(const struct node *node, const char *path)
{
	struct node *at = (struct node *)node;

	while (at) {
		size_t len = strcspn(path, ".");

		at = get_len(at, path, len);
		if (!path[len])
			break;
		path += len + 1;
	}
	return at;
}

const char *node_text(const struct node *node, const char *path)
{
	const struct node *at = node_at(node, path);

	return at && (at->kind == NODE_STRING || at->kind == NODE_NUMBER) ? at->text : NULL;
}

void node_append(struct node *list, struct node *value)
{
	if (list->n_children == list->cap_children) {
		list->cap_children = MAX(list->cap_children * 2, (size_t)CHILDREN_FIRST);
		list->children =
			xrealloc_array(list->children, list->cap_children, sizeof(struct node *));
	}
	list->children[list->n_children++] = value;
}

void node_set(struct node *map, const char *key, struct node *value)
{
	size_t i = node_index(map, key);

	replace_str(&value->key, key);
	if (i == map->n_children) {
		node_append(map, value);
		return;
	}
	if (map->children[i] != value)
		node_free(map->children[i]);
	map->children[i] = value;
}

void node_set_path(struct node *map, const char *path, struct node *value)
{
	for (;;) {
		autofree char *name = path_next(&path);
		struct node *next = node_get(map, name);

		if (!path) {
			node_set(map, name, value);
			return;
		}
		if (!next || next->kind != NODE_MAP) {
			next = node_new(NODE_MAP, NULL);
			node_set(map, name, next);
		}
		map = next;
	}
}

struct node *node_take(struct node *parent, size_t i)
{
	struct node *child = parent->children[i];

	parent->n_children--;
	memmove(&parent->children[i], &parent->children[i + 1],
		(parent->n_children - i) * sizeof(struct node *));
	return child;
}

void node_remove(struct node *map, const char *key)
{
	size_t i = node_index(map, key);

	if (i < map->n_children)
		node_free(node_take(map, i));
}

void node_insert(struct node *list, size_t i, struct node *value)
{
	node_append(list, value);
	memmove(&list->children[i + 1], &list->children[i],
		(list->n_children - 1 - i) * sizeof(struct node *));
	list->children[i] = value;
}

size_t node_count(const struct node *node)
{
	size_t n = 1;

	for (size_t i = 0; i < node->n_children; i++)
		n += node_count(node->children[i]);
	return n;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_escape(struct buf *out, unsigned char c)
{
	switch (c) {
	case '"':
		buf_puts(out, "\\\"");
		break;
	case '\\':
		buf_puts(out, "\\\\");
		break;
	case '\n':
		buf_puts(out, "\\n");
		break;
	case '\r':
		buf_puts(out, "\\r");
		break;
	case '\t':
		buf_puts(out, "\\t");
		break;
	default:
		buf_printf(out, "\\u%04x", c);
	}
}

/* The code point at s if a YAML reader would not give it back as it stands: U+0080 to U+009F, the
 * line separators U+2028 and U+2029, the byte order mark. Else 0. */
static unsigned fragile_at(const unsigned char *s)
{
	if (s[0] == 0xC2 && s[1] >= 0x80 && s[1] < 0xA0)
		return s[1];
	if (s[0] == 0xE2 && s[1] == 0x80 && (s[2] == 0xA8 || s[2] == 0xA9))
		return 0x2000u + (s[2] & 0x3Fu);
	if (s[0] == 0xEF && s[1] == 0xBB && s[2] == 0xBF)
		return 0xFEFF;
	return 0;
}

static bool is_plain(const unsigned char *s)
{
	return *s >= 0x20 && *s != '"' && *s != '\\' && !(*s >= 0x80 && fragile_at(s));
}

static void json_string(struct buf *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	buf_puts(out, "\"");
	while (*s) {
		size_t plain = 0;

		while (is_plain(s + plain))
			plain++;
		buf_add(out, s, plain);
		s += plain;
		if (*s >= 0x80) {
			buf_printf(out, "\\u%04x", fragile_at(s));
			s += *s == 0xC2 ? 2 : 3;
		} else if (*s) {
			json_escape(out, *s++);
		}
	}
	buf_puts(out, "\"");
}

static void json_value(struct buf *out, const struct node *node);

static void json_children(struct buf *out, const struct node *node)
{
	buf_puts(out, node->kind == NODE_MAP ? "{" : "[");
	for (size_t i = 0; i < node->n_children; i++) {
		if (i)
			buf_puts(out, ",");
		if (node->kind == NODE_MAP) {
			json_string(out, node->children[i]->key);
			buf_puts(out, ":");
		}
		json_value(out, node->children[i]);
	}
	buf_puts(out, node->kind == NODE_MAP ? "}" : "]");
}

static void json_value(struct buf *out, const struct node *node)
{
	switch (node->kind) {
	case NODE_NULL:
		buf_puts(out, "null");
		break;
	case NODE_BOOL:
	case NODE_NUMBER:
		buf_puts(out, node->text);
		break;
	case NODE_STRING:
		json_string(out, node->text);
		break;
	case NODE_MAP:
	case NODE_LIST:
		json_children(out, node);
		break;
	}
}

char *node_json(const struct node *node)
{
	struct buf out = { 0 };

	json_value(&out, node);
	return out.data;
}
