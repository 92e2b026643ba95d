/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds beside machines, as they are described to clients: which parts an object has, and what
 * they are for. What may stand in them is known to whoever reads them.
 */
#include "core/schema_json.h"

enum part { PART_OPEN, PART_TEXT, PART_BOOL, PART_INTEGER, PART_TEXTS };

static const struct {
	enum object_kind kind;
	const char *name;
	enum part part;
	const char *words;
} parts[] = {
	/* clang-format off */
	{ KIND_NAMESPACE,            "spec",                PART_OPEN,    NULL },
	{ KIND_SECRET,               "data",                PART_TEXTS,   "values in base64" },
	{ KIND_SECRET,               "stringData",          PART_TEXTS,   "values as they are; for writing only, they become data" },
	{ KIND_SECRET,               "type",                PART_TEXT,    "default: Opaque" },
	{ KIND_SECRET,               "immutable",           PART_BOOL,    NULL },
	{ KIND_CONFIG_MAP,           "data",                PART_TEXTS,   NULL },
	{ KIND_CONFIG_MAP,           "binaryData",          PART_TEXTS,   "values in base64" },
	{ KIND_CONFIG_MAP,           "immutable",           PART_BOOL,    NULL },
	{ KIND_NETWORK,              "spec",                PART_OPEN,    NULL },
	{ KIND_POD,                  "spec",                PART_OPEN,    NULL },
	{ KIND_NODE,                 "spec",                PART_OPEN,    NULL },
	{ KIND_KUBEVIRT,             "spec",                PART_OPEN,    NULL },
	{ KIND_PRIORITY_CLASS,       "value",               PART_INTEGER, "higher ones start first when there is room" },
	{ KIND_PRIORITY_CLASS,       "globalDefault",       PART_BOOL,    "of machines that name no class" },
	{ KIND_PRIORITY_CLASS,       "preemptionPolicy",    PART_TEXT,    "no guest is ever stopped for another" },
	{ KIND_PRIORITY_CLASS,       "description",         PART_TEXT,    NULL },
	{ KIND_EVENT,                "involvedObject",      PART_OPEN,    "what it is about" },
	{ KIND_EVENT,                "reason",              PART_TEXT,    "in one word" },
	{ KIND_EVENT,                "message",             PART_TEXT,    "in words" },
	{ KIND_EVENT,                "type",                PART_TEXT,    "Normal or Warning" },
	{ KIND_EVENT,                "source",              PART_OPEN,    NULL },
	{ KIND_EVENT,                "firstTimestamp",      PART_TEXT,    NULL },
	{ KIND_EVENT,                "lastTimestamp",       PART_TEXT,    NULL },
	{ KIND_EVENT,                "count",               PART_INTEGER, NULL },
	{ KIND_EVENT,                "reportingComponent",  PART_TEXT,    NULL },
	{ KIND_EVENT,                "reportingInstance",   PART_TEXT,    NULL },
	{ KIND_NEW_EVENT,            "regarding",           PART_OPEN,    "what it is about" },
	{ KIND_NEW_EVENT,            "reason",              PART_TEXT,    "in one word" },
	{ KIND_NEW_EVENT,            "note",                PART_TEXT,    "in words" },
	{ KIND_NEW_EVENT,            "type",                PART_TEXT,    "Normal or Warning" },
	{ KIND_NEW_EVENT,            "eventTime",           PART_TEXT,    NULL },
	{ KIND_NEW_EVENT,            "reportingController", PART_TEXT,    NULL },
	{ KIND_NEW_EVENT,            "reportingInstance",   PART_TEXT,    NULL },
	{ KIND_NEW_EVENT,            "deprecatedCount",     PART_INTEGER, NULL },
	/* clang-format on */
};

static void set_text(struct node *map, const char *key, const char *text)
{
	node_set(map, key, node_new(NODE_STRING, text));
}

static struct node *part_schema(enum part part, const char *words)
{
	static const char *const types[] = { "object", "string", "boolean", "integer", "object" };
	struct node *schema = node_new(NODE_MAP, NULL);

	set_text(schema, "type", types[part]);
	if (words)
		set_text(schema, "description", words);
	if (part == PART_OPEN)
		node_set(schema, "x-kubernetes-preserve-unknown-fields",
			node_new(NODE_BOOL, "true"));
	if (part == PART_TEXTS)
		node_set_path(schema, "additionalProperties.type", node_new(NODE_STRING, "string"));
	return schema;
}

static bool has_status(enum object_kind kind)
{
	return kind != KIND_SECRET && kind != KIND_CONFIG_MAP && kind != KIND_EVENT &&
		kind != KIND_NEW_EVENT && kind != KIND_NETWORK && kind != KIND_PRIORITY_CLASS;
}

static struct node *plain_schema(enum object_kind kind)
{
	struct node *schema = node_new(NODE_MAP, NULL), *properties = node_new(NODE_MAP, NULL);

	node_set(properties, "apiVersion", part_schema(PART_TEXT, NULL));
	node_set(properties, "kind", part_schema(PART_TEXT, NULL));
	node_set(properties, "metadata", schema_json_scope(SCOPE_META));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].kind == kind)
			node_set(properties, parts[i].name,
				part_schema(parts[i].part, parts[i].words));
	if (has_status(kind))
		node_set(properties, "status", part_schema(PART_OPEN, NULL));
	set_text(schema, "type", "object");
	node_set(schema, "properties", properties);
	return schema;
}

struct node *schema_json(enum object_kind kind)
{
	const struct schema_kind *known = schema_kind(object_kind_name(kind));

	return known && known->scope != SCOPE_MAX ? schema_json_scope(known->scope)
						  : plain_schema(kind);
}
