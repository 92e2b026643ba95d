/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version 2, as protobuf. The numbers are those of gnostic's openapi.v2 messages; each message is
 * made in a text of its own, because its length goes before it.
 */
#include <string.h>

#include "core/schema_json.h"
#include "daemon/api/openapi_private.h"

#define WIRE_BYTES 2

/* clang-format off */
enum {
	DOCUMENT_SWAGGER = 1, DOCUMENT_INFO = 2, DOCUMENT_PATHS = 8, DOCUMENT_DEFINITIONS = 9,
	INFO_TITLE = 1, INFO_VERSION = 2,
	PATHS_PATH = 2,
	NAMED_NAME = 1, NAMED_VALUE = 2,
	OPERATION_PARAMETERS = 8, OPERATION_EXTENSION = 13,
	ITEM_PARAMETER = 1, PARAMETER_NON_BODY = 2, NON_BODY_QUERY = 3,
	QUERY_IN = 2, QUERY_NAME = 4, QUERY_TYPE = 6,
	DEFINITIONS_SCHEMA = 1,
	SCHEMA_DESCRIPTION = 4, SCHEMA_REQUIRED = 19, SCHEMA_ADDITIONAL = 21, SCHEMA_TYPE = 22,
	SCHEMA_ITEMS = 23, SCHEMA_PROPERTIES = 25, SCHEMA_EXTENSION = 31,
	TYPE_VALUE = 1, ITEMS_SCHEMA = 1, ADDITIONAL_SCHEMA = 1, PROPERTIES_SCHEMA = 1,
	ANY_YAML = 2,
};
/* clang-format on */

static void add_number(struct buf *out, uint64_t n)
{
	do {
		unsigned char byte = (unsigned char)((n & 0x7f) | (n > 0x7f ? 0x80 : 0));

		buf_add(out, &byte, 1);
		n >>= 7;
	} while (n);
}

static void add_bytes(struct buf *out, unsigned field, const void *data, size_t len)
{
	add_number(out, (uint64_t)field << 3 | WIRE_BYTES);
	add_number(out, len);
	buf_add(out, data, len);
}

static void add_text(struct buf *out, unsigned field, const char *text)
{
	if (text)
		add_bytes(out, field, text, strlen(text));
}

/* Appends a message and empties it. */
static void add_message(struct buf *out, unsigned field, struct buf *message)
{
	add_bytes(out, field, message->data ? message->data : "", message->len);
	buf_done(message);
}

static void add_named(struct buf *out, unsigned field, const char *name, struct buf *value)
{
	struct buf named = { 0 };

	add_text(&named, NAMED_NAME, name);
	add_message(&named, NAMED_VALUE, value);
	add_message(out, field, &named);
}

static void add_extension(struct buf *out, unsigned field, const char *name, const char *yaml)
{
	struct buf any = { 0 };

	add_text(&any, ANY_YAML, yaml);
	add_named(out, field, name, &any);
}

/* ---- schemas --------------------------------------------------------------------------------- */

static void add_schema(struct buf *out, const struct node *schema);

static void add_properties(struct buf *out, const struct node *properties)
{
	struct buf list = { 0 }, one = { 0 };

	for (size_t i = 0; i < properties->n_children; i++) {
		add_schema(&one, properties->children[i]);
		add_named(&list, PROPERTIES_SCHEMA, properties->children[i]->key, &one);
	}
	add_message(out, SCHEMA_PROPERTIES, &list);
}

/* A message that holds nothing but one schema. */
static void add_wrapped(struct buf *out, unsigned field, unsigned inner, const struct node *schema)
{
	struct buf wrap = { 0 }, one = { 0 };

	add_schema(&one, schema);
	add_message(&wrap, inner, &one);
	add_message(out, field, &wrap);
}

static void add_type(struct buf *out, const char *type)
{
	struct buf item = { 0 };

	add_text(&item, TYPE_VALUE, type);
	add_message(out, SCHEMA_TYPE, &item);
}

static void add_schema(struct buf *out, const struct node *schema)
{
	static const char *const marks[] = { "x-kubernetes-int-or-string",
		"x-kubernetes-preserve-unknown-fields" };
	const struct node *required = node_get(schema, "required");
	const struct node *items = node_get(schema, "items");
	const struct node *properties = node_get(schema, "properties");
	const struct node *additional = node_get(schema, "additionalProperties");
	const char *type = node_text(schema, "type");

	add_text(out, SCHEMA_DESCRIPTION, node_text(schema, "description"));
	for (size_t i = 0; required && i < required->n_children; i++)
		add_text(out, SCHEMA_REQUIRED, required->children[i]->text);
	if (additional)
		add_wrapped(out, SCHEMA_ADDITIONAL, ADDITIONAL_SCHEMA, additional);
	if (type)
		add_type(out, type);
	if (items)
		add_wrapped(out, SCHEMA_ITEMS, ITEMS_SCHEMA, items);
	if (properties)
		add_properties(out, properties);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (node_get(schema, marks[i]))
			add_extension(out, SCHEMA_EXTENSION, marks[i], "true");
}

static void add_definition(struct buf *out, const struct resource *r, const char *version)
{
	autofree char *name = openapi_schema_name(r, version);
	autofree char *gvk = xasprintf("- group: \"%s\"\n  kind: %s\n  version: %s\n", r->group,
		r->kind, version);
	struct node *schema = schema_json(r->object);
	struct buf one = { 0 };

	add_schema(&one, schema);
	add_extension(&one, SCHEMA_EXTENSION, "x-kubernetes-group-version-kind", gvk);
	add_named(out, DEFINITIONS_SCHEMA, name, &one);
	node_free(schema);
}

/* ---- paths ----------------------------------------------------------------------------------- */

static void add_parameter(struct buf *out, const char *name)
{
	struct buf query = { 0 }, non_body = { 0 }, parameter = { 0 }, item = { 0 };

	add_text(&query, QUERY_IN, "query");
	add_text(&query, QUERY_NAME, name);
	add_text(&query, QUERY_TYPE, "string");
	add_message(&non_body, NON_BODY_QUERY, &query);
	add_message(&parameter, PARAMETER_NON_BODY, &non_body);
	add_message(&item, ITEM_PARAMETER, &parameter);
	add_message(out, OPERATION_PARAMETERS, &item);
}

static void add_path(struct buf *out, const struct resource *r, const char *version)
{
	autofree char *path = openapi_path(r, version);
	autofree char *gvk =
		xasprintf("group: \"%s\"\nkind: %s\nversion: %s\n", r->group, r->kind, version);
	struct buf item = { 0 }, operation = { 0 };

	for (const struct openapi_verb *verb = openapi_verbs; verb->name; verb++) {
		if (!(r->verbs & verb->verb) || verb->verb == RESOURCE_CREATE)
			continue;
		for (size_t i = 0; verb->parameters[i]; i++)
			add_parameter(&operation, verb->parameters[i]);
		add_extension(&operation, OPERATION_EXTENSION, "x-kubernetes-action", verb->action);
		add_extension(&operation, OPERATION_EXTENSION, "x-kubernetes-group-version-kind",
			gvk);
		add_message(&item, verb->v2, &operation);
	}
	add_named(out, PATHS_PATH, path, &item);
}

static void add_group(struct buf *paths, struct buf *definitions, const struct api_group *group,
	const char *version)
{
	const struct resource *r = NULL;

	while ((r = openapi_next(group, r))) {
		add_path(paths, r, version);
		add_definition(definitions, r, version);
	}
}

void openapi_v2(struct buf *out)
{
	struct buf info = { 0 }, paths = { 0 }, definitions = { 0 };

	for (const struct api_group *g = api_groups; g->name; g++)
		for (size_t v = 0; v < GROUP_VERSIONS_MAX && g->versions[v]; v++)
			add_group(&paths, &definitions, g, g->versions[v]);
	add_text(out, DOCUMENT_SWAGGER, "2.0");
	add_text(&info, INFO_TITLE, "vmagent");
	add_text(&info, INFO_VERSION, VMAGENT_VERSION);
	add_message(out, DOCUMENT_INFO, &info);
	add_message(out, DOCUMENT_PATHS, &paths);
	add_message(out, DOCUMENT_DEFINITIONS, &definitions);
}
