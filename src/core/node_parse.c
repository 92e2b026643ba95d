/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libyaml's events to trees, their marks becoming the nodes' places.
 *
 * Owns the budgets of depth, values, text, keys and anchors. Aliases are copied within them, so
 * that a small source cannot grow. It must not know where the text came from (node_source.c), nor
 * what any field means.
 */
#include "core/node_parse.h"

#include <string.h>

#include "core/base64.h"
#include "core/scalar.h"
#include "core/utf8.h"

#define YAML_TAG  "tag:yaml.org,2002:"
#define SHOWN_MAX 64 /* characters of a wrong value that a message repeats */

struct weight { /* of a subtree */
	size_t nodes, bytes;
	int depth;
};

/* ---- budgets --------------------------------------------------------------------------------- */

static int spend(struct parse *p, const struct weight *weight)
{
	p->n_nodes += weight->nodes;
	p->n_bytes += weight->bytes;
	if (p->n_nodes > NODE_COUNT_MAX)
		return fail(p, "over %d values, with aliases expanded", NODE_COUNT_MAX);
	if (p->n_bytes > SCALARS_MAX)
		return fail(p, "over %d bytes of text, with aliases expanded", SCALARS_MAX);
	return 0;
}

static void weigh(const struct node *node, int depth, struct weight *ret)
{
	ret->nodes++;
	ret->bytes += (node->text ? strlen(node->text) : 0) + (node->key ? strlen(node->key) : 0);
	ret->depth = MAX(ret->depth, depth);
	for (size_t i = 0; i < node->n_children; i++)
		weigh(node->children[i], depth + 1, ret);
}

/* ---- anchors and aliases --------------------------------------------------------------------- */

static int anchor_add(struct parse *p, const char *name, const struct node *node)
{
	if (p->n_anchors == NODE_ANCHORS_MAX)
		return fail(p, "over %d anchors", NODE_ANCHORS_MAX);
	p->anchors = xrealloc_array(p->anchors, p->n_anchors + 1, sizeof(*p->anchors));
	p->anchors[p->n_anchors++] = (struct anchor){ xstrdup(name), node };
	return 0;
}

void parse_forget(struct parse *p)
{
	for (size_t i = 0; i < p->n_anchors; i++)
		free(p->anchors[i].name);
	free(p->anchors);
	p->anchors = NULL;
	p->n_anchors = 0;
	node_free(p->attic);
	p->attic = node_new(NODE_LIST, NULL);
}

static int parse_alias(struct parse *p, int depth, struct node **ret)
{
	const char *name = (const char *)p->event.data.alias.anchor;
	struct weight weight = { 0 };
	size_t i = p->n_anchors;

	while (i && strcmp(p->anchors[i - 1].name, name) != 0)
		i--;
	if (!i)
		return fail(p, "alias '*%s' names no value that ends before it", name);
	weigh(p->anchors[i - 1].node, depth, &weight);
	if (weight.depth > NODE_DEPTH_MAX)
		return fail(p, "nested more than %d deep", NODE_DEPTH_MAX);
	if (spend(p, &weight))
		return -ERR_BAD_REQUEST;
	*ret = node_copy(p->anchors[i - 1].node);
	return 0;
}

/* ---- scalars --------------------------------------------------------------------------------- */

static void drop_fillers(char *s)
{
	char *at;

	while ((at = strstr(s, FILLER))) {
		memmove(at, at + strlen(FILLER), strlen(at + strlen(FILLER)) + 1);
		s = at;
	}
}

/* clang-format off */
static const struct { const char *tag; enum node_kind kind; } tags[] = {
	{ YAML_TAG "str", NODE_STRING }, { YAML_TAG "int", NODE_NUMBER },
	{ YAML_TAG "float", NODE_NUMBER }, { YAML_TAG "bool", NODE_BOOL },
	{ YAML_TAG "null", NODE_NULL }, { YAML_TAG "map", NODE_MAP }, { YAML_TAG "seq", NODE_LIST },
};
/* clang-format on */

/* The kind that an explicit tag asks for. */
static int tag_kind(struct parse *p, const char *tag, enum node_kind *ret_kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		if (streq(tags[i].tag, tag)) {
			*ret_kind = tags[i].kind;
			return 0;
		}
	}
	return fail(p, "tag '%s' is not known here", tag);
}

/* Takes text as the string that it is. */
static int be_string(struct node *node, char *text)
{
	node->kind = NODE_STRING;
	node->text = text;
	return 0;
}

static int resolve_binary(struct parse *p, struct node *node, const char *text)
{
	size_t len;
	autofree char *bytes = base64_decode(text, &len);

	if (!bytes)
		return fail(p, "this is not the base64 that its tag says");
	if (!utf8_is_clean(bytes, len))
		return fail(p, "bytes that are no text cannot be kept here");
	return be_string(node, take(&bytes));
}

/* As Kubernetes' library does it, a time is the text that it was written as. */
static int resolve_timestamp(struct parse *p, struct node *node, const char *text)
{
	if (strspn(text, "0123456789") != 4 || text[strspn(text, "0123456789-:.+TtZz ")])
		return fail(p, "'%.*s' is not the time that its tag says", SHOWN_MAX, text);
	return be_string(node, xstrdup(text));
}

static int resolve_tagged(struct parse *p, struct node *node, const char *text)
{
	const char *tag = (const char *)p->event.data.scalar.tag;
	enum node_kind wanted;

	if (streq(tag, YAML_TAG "binary"))
		return resolve_binary(p, node, text);
	if (streq(tag, YAML_TAG "timestamp"))
		return resolve_timestamp(p, node, text);
	if (streq(tag, "!")) /* YAML's way to say: not resolved */
		return be_string(node, xstrdup(text));
	if (tag_kind(p, tag, &wanted))
		return -ERR_BAD_REQUEST;
	if (wanted == NODE_STRING)
		return be_string(node, xstrdup(text));
	if (scalar_resolve(text, &node->kind, &node->text, p->err))
		return fail(p, "'%s' is not a number that can be kept", text);
	if (node->kind != wanted)
		return fail(p, "'%s' is not of the kind that its tag '%s' says", text, tag);
	return 0;
}

static int resolve(struct parse *p, struct node *node, const char *text)
{
	struct err err;

	if (p->event.data.scalar.tag)
		return resolve_tagged(p, node, text);
	if (!p->event.data.scalar.plain_implicit)
		return be_string(node, xstrdup(text));
	if (!scalar_resolve(text, &node->kind, &node->text, &err))
		return 0;
	return fail(p, "%s", err.msg);
}

static int parse_scalar(struct parse *p, struct node *node)
{
	char *text = (char *)p->event.data.scalar.value;
	size_t len = p->event.data.scalar.length;

	if (!utf8_is_clean(text, len))
		return fail(p, "a control character in text");
	if (p->filled)
		drop_fillers(text);
	if (spend(p, &(struct weight){ .nodes = 1, .bytes = len }))
		return -ERR_BAD_REQUEST;
	return resolve(p, node, text);
}

/* ---- lists and maps -------------------------------------------------------------------------- */

static int parse_list(struct parse *p, int depth, struct node *list)
{
	for (;;) {
		struct node *child;

		if (parse_next(p))
			return -ERR_BAD_REQUEST;
		if (p->event.type == YAML_SEQUENCE_END_EVENT)
			return 0;
		if (parse_value(p, depth + 1, &child))
			return -ERR_BAD_REQUEST;
		node_append(list, child);
	}
}

static bool is_merge_key(const yaml_event_t *event)
{
	return event->type == YAML_SCALAR_EVENT &&
		(event->data.scalar.plain_implicit ||
			streq((const char *)event->data.scalar.tag, YAML_TAG "merge")) &&
		strcmp((const char *)event->data.scalar.value, "<<") == 0;
}

/* The name of the entry whose key is at hand: strings, and numbers and booleans as their text. */
static int parse_key(struct parse *p, const struct node *map, char **ret_key)
{
	yaml_mark_t mark = p->event.start_mark;
	struct node *key;

	if (p->event.type != YAML_SCALAR_EVENT && p->event.type != YAML_ALIAS_EVENT)
		return fail(p, "a key must be a simple name");
	if (map->n_children == NODE_KEYS_MAX)
		return fail(p, "over %d keys in one map", NODE_KEYS_MAX);
	if (parse_value(p, NODE_DEPTH_MAX, &key))
		return -ERR_BAD_REQUEST;
	node_append(p->attic, key);
	if (!key->text)
		return fail_at(p, mark.line + 1, mark.column + 1,
			"a key must be a simple name, not null, a map or a list");
	if (strlen(key->text) > NODE_KEY_MAX)
		return fail_at(p, mark.line + 1, mark.column + 1, "a key of over %d bytes",
			NODE_KEY_MAX);
	if (node_get(map, key->text))
		return fail_at(p, mark.line + 1, mark.column + 1,
			"key '%.200s' is there twice, first in line %d", key->text,
			node_get(map, key->text)->key_line);
	*ret_key = xstrdup(key->text);
	return 0;
}

static int parse_entry(struct parse *p, int depth, struct node *map)
{
	yaml_mark_t mark = p->event.start_mark;
	autofree char *key = NULL;
	struct node *value;

	if (parse_key(p, map, &key) || parse_next(p) || parse_value(p, depth + 1, &value))
		return -ERR_BAD_REQUEST;
	free(value->key);
	value->key = take(&key);
	value->key_line = (int)mark.line + 1;
	value->key_column = (int)mark.column + 1;
	node_append(map, value);
	return 0;
}

/* Moves what map does not say itself out of the value of a merge key. */
static int merge_into(struct parse *p, struct node *map, struct node *from)
{
	size_t kept = 0;
	bool full = false;

	for (size_t i = 0; i < from->n_children; i++) {
		struct node *child = from->children[i];
		bool said = node_get(map, child->key);

		full |= !said && map->n_children == NODE_KEYS_MAX;
		if (said || full)
			from->children[kept++] = child;
		else
			node_append(map, child);
	}
	from->n_children = kept;
	if (full)
		return fail_at(p, from->line, from->column, "over %d keys in one map",
			NODE_KEYS_MAX);
	return 0;
}

/* merges: the values of a map's merge keys; the first source that names a key wins. */
static int merge_all(struct parse *p, struct node *map, struct node *merges)
{
	for (size_t i = 0; i < merges->n_children; i++) {
		struct node *from = merges->children[i];

		if (from->kind == NODE_LIST) {
			if (merge_all(p, map, from))
				return -ERR_BAD_REQUEST;
		} else if (from->kind != NODE_MAP) {
			return fail_at(p, from->line, from->column,
				"'<<' takes a map or a list of maps");
		} else if (merge_into(p, map, from)) {
			return -ERR_BAD_REQUEST;
		}
	}
	return 0;
}

static int parse_merge(struct parse *p, int depth, struct node *merges)
{
	struct node *value;

	if (parse_next(p) || parse_value(p, depth + 1, &value))
		return -ERR_BAD_REQUEST;
	node_append(merges, value);
	return 0;
}

static int parse_map(struct parse *p, int depth, struct node *map)
{
	struct node *merges = node_new(NODE_LIST, NULL);

	node_append(p->attic, merges);
	for (;;) {
		int rc;

		if (parse_next(p))
			return -ERR_BAD_REQUEST;
		if (p->event.type == YAML_MAPPING_END_EVENT)
			return merge_all(p, map, merges);
		rc = is_merge_key(&p->event) ? parse_merge(p, depth, merges)
					     : parse_entry(p, depth, map);
		if (rc)
			return rc;
	}
}

/* ---- values ---------------------------------------------------------------------------------- */

static int container_begin(struct parse *p, struct node *node)
{
	bool map = p->event.type == YAML_MAPPING_START_EVENT;
	const char *tag = (const char *)(map ? p->event.data.mapping_start.tag
					     : p->event.data.sequence_start.tag);
	enum node_kind kind = map ? NODE_MAP : NODE_LIST;

	node->kind = kind;
	if (tag && tag_kind(p, tag, &kind))
		return -ERR_BAD_REQUEST;
	if (kind != node->kind)
		return fail(p, "this is not of the kind that its tag '%s' says", tag);
	return spend(p, &(struct weight){ .nodes = 1 });
}

static int parse_container(struct parse *p, int depth, struct node *node)
{
	if (depth == NODE_DEPTH_MAX)
		return fail(p, "nested more than %d deep", NODE_DEPTH_MAX);
	if (container_begin(p, node))
		return -ERR_BAD_REQUEST;
	return node->kind == NODE_MAP ? parse_map(p, depth, node) : parse_list(p, depth, node);
}

static const char *anchor_name(const yaml_event_t *event)
{
	if (event->type == YAML_SCALAR_EVENT)
		return (const char *)event->data.scalar.anchor;
	if (event->type == YAML_SEQUENCE_START_EVENT)
		return (const char *)event->data.sequence_start.anchor;
	return (const char *)event->data.mapping_start.anchor;
}

int parse_value(struct parse *p, int depth, struct node **ret)
{
	autofree char *anchor = NULL;
	struct node *node;
	int rc;

	if (p->event.type == YAML_ALIAS_EVENT)
		return parse_alias(p, depth, ret);
	anchor = xstrdup(anchor_name(&p->event));
	node = node_new(NODE_NULL, NULL);
	node->line = (int)p->event.start_mark.line + 1;
	node->column = (int)p->event.start_mark.column + 1;
	rc = p->event.type == YAML_SCALAR_EVENT ? parse_scalar(p, node)
						: parse_container(p, depth, node);
	if (!rc && anchor)
		rc = anchor_add(p, anchor, node);
	if (rc)
		node_free(node);
	else
		*ret = node;
	return rc;
}
