/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function per type of field. Whatever of a field has no word in JSON Schema (its rule, its
 * default, a note) is said in its description.
 */
#include "core/schema_json.h"

#include <string.h>

static void set_text(struct node *schema, const char *key, const char *text)
{
	node_set(schema, key, node_new(NODE_STRING, text));
}

static struct node *typed(const char *type)
{
	struct node *schema = node_new(NODE_MAP, NULL);

	set_text(schema, "type", type);
	return schema;
}

static struct node *object_schema(enum schema_scope scope, const char *path);

static void add_sentence(struct buf *text, const char *before, const char *words)
{
	if (words)
		buf_printf(text, "%s%s%s", text->len ? "; " : "", before, words);
}

static void add_description(struct node *schema, const struct schema_field *field)
{
	struct buf text = { 0 };

	add_sentence(&text, "", field->note);
	if (field->rule)
		add_sentence(&text, "", schema_rule_words(field->rule));
	if (field->treat == TREAT_IGNORED)
		add_sentence(&text, "", "accepted, without effect");
	add_sentence(&text, "default: ", field->fallback);
	if (text.len)
		set_text(schema, "description", text.data);
	buf_done(&text);
}

static void add_range(struct node *schema, const struct schema_field *field, const char *least,
	const char *most)
{
	if (!field->max)
		return;
	if (field->min)
		node_set(schema, least, node_new_int(field->min));
	node_set(schema, most, node_new_int(field->max));
}

static struct node *enum_schema(const struct schema_field *field)
{
	struct node *schema = typed("string"), *list = node_new(NODE_LIST, NULL);

	for (const char *at = field->values; *at; at += strspn(at, "|")) {
		size_t len = strcspn(at, "|");
		autofree char *value = xstrndup(at, len);

		if (len)
			node_append(list, node_new(NODE_STRING, value));
		at += len;
	}
	node_set(schema, "enum", list);
	return schema;
}

static struct node *field_schema(const struct schema_field *field);

static struct node *list_schema(const struct schema_field *field)
{
	const struct schema_field *element = schema_element(field);
	struct node *schema = typed("array");

	node_set(schema, "items", element ? field_schema(element) : node_new(NODE_MAP, NULL));
	add_range(schema, field, "minItems", "maxItems");
	return schema;
}

static struct node *open_schema(const char *mark)
{
	struct node *schema = node_new(NODE_MAP, NULL);

	node_set(schema, mark, node_new(NODE_BOOL, "true"));
	return schema;
}

static struct node *type_schema(const struct schema_field *field)
{
	struct node *schema;

	switch (field->type) {
	case TYPE_MAP:
		return object_schema(field->scope, field->path);
	case TYPE_SCOPE:
		return object_schema(field->below, "");
	case TYPE_LIST:
		return list_schema(field);
	case TYPE_ENUM:
		return enum_schema(field);
	case TYPE_BOOL:
		return typed("boolean");
	case TYPE_INTEGER:
		schema = typed("integer");
		add_range(schema, field, "minimum", "maximum");
		return schema;
	case TYPE_QUANTITY:
		return open_schema("x-kubernetes-int-or-string");
	case TYPE_ANY:
		return open_schema("x-kubernetes-preserve-unknown-fields");
	case TYPE_STRING:
	case TYPE_AS:
		break;
	}
	return typed("string");
}

/* What is refused only where it will be worked in is open here. */
static struct node *field_schema(const struct schema_field *field)
{
	const struct schema_field *is = schema_meaning(field);
	struct node *schema = is->treat == TREAT_REFUSED
		? open_schema("x-kubernetes-preserve-unknown-fields")
		: type_schema(is);

	add_description(schema, is);
	return schema;
}

static const char *last_name(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

static struct node *object_schema(enum schema_scope scope, const char *path)
{
	const struct schema_field *field;
	struct node *schema = typed("object"), *properties = node_new(NODE_MAP, NULL);
	struct node *required = node_new(NODE_LIST, NULL);
	const struct schema_field *any = schema_find(scope, path, "");

	for (struct schema_walk walk = { 0 }; (field = schema_walk(&walk));) {
		if (!schema_is_child(field, scope, path) || field->treat == TREAT_REFUSED)
			continue;
		node_set(properties, last_name(field->path), field_schema(field));
		if (field->required)
			node_append(required, node_new(NODE_STRING, last_name(field->path)));
	}
	if (any)
		node_set(schema, "additionalProperties", field_schema(any));
	if (required->n_children)
		node_set(schema, "required", required);
	else
		node_free(required);
	if (properties->n_children)
		node_set(schema, "properties", properties);
	else
		node_free(properties);
	return schema;
}

struct node *schema_json_scope(enum schema_scope scope)
{
	return object_schema(scope, "");
}

/* ---- a document of its own ------------------------------------------------------------------- */

static void close_maps(struct node *schema)
{
	struct node *properties = node_get(schema, "properties");

	if (properties && !node_get(schema, "additionalProperties"))
		node_set(schema, "additionalProperties", node_new(NODE_BOOL, "false"));
	for (size_t i = 0; properties && i < properties->n_children; i++)
		close_maps(properties->children[i]);
	if (node_get(schema, "items"))
		close_maps(node_get(schema, "items"));
	if (node_get(schema, "additionalProperties"))
		close_maps(node_get(schema, "additionalProperties"));
}

struct node *schema_json_document(enum object_kind kind)
{
	struct node *schema = schema_json(kind), *document = node_new(NODE_MAP, NULL);

	close_maps(schema);
	node_set_path(schema, "properties.kind.const",
		node_new(NODE_STRING, object_kind_name(kind)));
	set_text(document, "$schema", "http://json-schema.org/draft-07/schema#");
	set_text(document, "title", object_kind_name(kind));
	while (schema->n_children)
		node_append(document, node_take(schema, 0));
	node_free(schema);
	return document;
}
