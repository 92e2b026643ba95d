/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree against the schema's table: unknown and refused fields, types, single values, what is
 * required. Everything is found at once.
 *
 * Owns nothing. It must not know a single field by name: those are in the tables, schema_*.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/check.h"
#include "core/quantity.h"

#define SHOWN_MAX 64 /* characters of a wrong value that a message repeats */

static const char *const kind_words[] = {
	[NODE_NULL] = "null",
	[NODE_BOOL] = "true or false",
	[NODE_NUMBER] = "a number",
	[NODE_STRING] = "a string",
	[NODE_MAP] = "a map",
	[NODE_LIST] = "a list",
};

/* clang-format off */
static const struct { enum node_kind kind, also; const char *expected; } types[] = {
	[TYPE_MAP]      = { NODE_MAP, NODE_MAP, "a map" },
	[TYPE_LIST]     = { NODE_LIST, NODE_LIST, "a list" },
	[TYPE_STRING]   = { NODE_STRING, NODE_STRING, "a string" },
	[TYPE_BOOL]     = { NODE_BOOL, NODE_BOOL, "true or false" },
	[TYPE_INTEGER]  = { NODE_NUMBER, NODE_NUMBER, "a whole number" },
	[TYPE_QUANTITY] = { NODE_NUMBER, NODE_STRING, "a quantity such as 2Gi" },
	[TYPE_ENUM]     = { NODE_STRING, NODE_STRING, "a string" },
	[TYPE_SCOPE]    = { NODE_MAP, NODE_MAP, "a map" },
};
/* clang-format on */

static void check_map(struct check *c, const struct node *map, enum schema_scope scope,
	const char *path);
static void check_value(struct check *c, const struct node *value,
	const struct schema_field *field);

static void refuse_type(struct check *c, const struct node *value, enum schema_type type)
{
	bool text_wanted = types[type].kind == NODE_STRING;
	const char *cure = "";

	if (text_wanted && (value->kind == NODE_NUMBER || value->kind == NODE_BOOL))
		cure = "; quote it";
	else if (value->kind == NODE_STRING && (type == TYPE_BOOL || type == TYPE_INTEGER))
		cure = "; take the quotes off if there are any";
	check_add(c, value, "", "expected %s, not %s%s", types[type].expected,
		kind_words[value->kind], cure);
}

static void check_integer(struct check *c, const struct node *value, const struct schema_field *f)
{
	char *end;
	int64_t number;

	errno = 0;
	number = strtoll(value->text, &end, 10);
	if (*end)
		check_add(c, value, "", "expected a whole number, not %.*s", SHOWN_MAX,
			value->text);
	else if (errno || number < f->min || number > f->max)
		check_add(c, value, "",
			"expected a number from %" PRId64 " to %" PRId64 ", not %.*s", f->min,
			f->max, SHOWN_MAX, value->text);
}

static void check_quantity(struct check *c, const struct node *value, const struct schema_field *f)
{
	int64_t number;
	struct err err;

	if (quantity_parse(value->text, &number, &err))
		check_add(c, value, "", "%s", err.msg);
	else if (number < f->min)
		check_add(c, value, "", "expected at least %" PRId64 ", not %s", f->min,
			value->text);
	else if (f->max && number > f->max)
		check_add(c, value, "", "expected at most %" PRId64 ", not %s", f->max,
			value->text);
}

static void check_string(struct check *c, const struct node *value, enum schema_rule rule)
{
	if (!schema_rule_holds(rule, value->text))
		check_add(c, value, "", "expected %s, not '%.*s'", schema_rule_words(rule),
			SHOWN_MAX, value->text);
}

/* "a, b, c" of "|a|b|c|"; owned by the caller. */
static char *listed(const char *values)
{
	struct buf out = { 0 };

	for (values += strspn(values, "|"); *values; values += strspn(values, "|")) {
		size_t len = strcspn(values, "|");

		buf_puts(&out, out.len ? ", " : "");
		buf_add(&out, values, len);
		values += len;
	}
	return out.data;
}

static void check_enum(struct check *c, const struct node *value, const struct schema_field *f)
{
	autofree char *like = NULL;
	autofree char *all = NULL;

	if (schema_value_is_in(f->values, value->text))
		return;
	like = schema_like_value(f->values, value->text);
	all = listed(f->values);
	if (like)
		check_add(c, value, "", "'%.*s' is not known, did you mean '%s'? Known: %s",
			SHOWN_MAX, value->text, like, all);
	else
		check_add(c, value, "", "'%.*s' is not supported, known: %s", SHOWN_MAX,
			value->text, all);
}

static void check_list(struct check *c, const struct node *list, const struct schema_field *f)
{
	const struct schema_field *element = schema_element(f);

	if (list->n_children > (size_t)f->max) {
		check_add(c, list, "", "expected at most %" PRId64 " elements, not %zu", f->max,
			list->n_children);
		return;
	}
	for (size_t i = 0; i < list->n_children; i++) {
		size_t mark = check_enter_item(c, "", i);

		check_value(c, list->children[i], element);
		check_leave(c, mark);
	}
}

static void check_value(struct check *c, const struct node *value, const struct schema_field *field)
{
	field = schema_meaning(field);
	if (field->type == TYPE_ANY)
		return;
	if (value->kind != types[field->type].kind && value->kind != types[field->type].also) {
		refuse_type(c, value, field->type);
		return;
	}
	switch (field->type) {
	case TYPE_MAP:
		check_map(c, value, field->scope, field->path);
		break;
	case TYPE_SCOPE:
		check_map(c, value, field->below, "");
		break;
	case TYPE_LIST:
		check_list(c, value, field);
		break;
	case TYPE_STRING:
		check_string(c, value, field->rule);
		break;
	case TYPE_INTEGER:
		check_integer(c, value, field);
		break;
	case TYPE_QUANTITY:
		check_quantity(c, value, field);
		break;
	case TYPE_ENUM:
		check_enum(c, value, field);
		break;
	case TYPE_BOOL:
	case TYPE_ANY:
	case TYPE_AS:
		break;
	}
}

static void refuse_unknown(struct check *c, const struct node *value, enum schema_scope scope,
	const char *path)
{
	const char *like = schema_like_key(scope, path, value->key);

	if (like)
		check_add_key(c, value, "", "field '%.*s' is not known, did you mean '%s'?",
			SHOWN_MAX, value->key, like);
	else
		check_add_key(c, value, "", "field '%.*s' is not supported by this version",
			SHOWN_MAX, value->key);
}

/* Whether the field as such is accepted, whatever its value. */
static bool check_field(struct check *c, const struct node *value, const struct schema_field *field)
{
	if (field->treat == TREAT_REFUSED && !c->elsewhere)
		check_add_key(c, value, "", "field '%s' is not supported by this version; %s",
			value->key, field->note);
	else if (!schema_rule_holds(field->key_rule, value->key))
		check_add_key(c, value, "", "expected %s as key, not '%.*s'",
			schema_rule_words(field->key_rule), SHOWN_MAX, value->key);
	else
		return true;
	return false;
}

/* is: what describes the value. */
static void check_known(struct check *c, const struct node *value, const struct schema_field *is)
{
	if (is->treat == TREAT_REFUSED) {
		check_warn_key(c, value, "machines that take it are refused; %s", is->note);
		return;
	}
	if (is->treat == TREAT_IGNORED)
		check_warn_key(c, value, "no effect: %s", is->note);
	check_value(c, value, is);
}

static void check_entry(struct check *c, const struct node *value, enum schema_scope scope,
	const char *path)
{
	const struct schema_field *field = schema_find(scope, path, value->key);
	bool outside = c->elsewhere;

	if (!field) {
		refuse_unknown(c, value, scope, path);
	} else if (check_field(c, value, field)) {
		c->elsewhere |= field->type == TYPE_AS;
		check_known(c, value, schema_meaning(field));
		c->elsewhere = outside;
	}
}

static void check_required(struct check *c, const struct node *map, enum schema_scope scope,
	const char *path)
{
	const struct schema_field *f;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		const char *dot, *name;

		if (!f->required || !schema_is_child(f, scope, path))
			continue;
		dot = strrchr(f->path, '.');
		name = dot ? dot + 1 : f->path;
		if (!node_get(map, name))
			check_add_key(c, map, name, "field '%s' is required", name);
	}
}

static void check_map(struct check *c, const struct node *map, enum schema_scope scope,
	const char *path)
{
	if (map->n_children > NODE_KEYS_MAX) /* of a patch or a merge: it could not be read again */
		check_add(c, map, "", "%zu keys, at most %d are possible in one map",
			map->n_children, NODE_KEYS_MAX);
	for (size_t i = 0; i < map->n_children; i++) {
		size_t mark = check_enter(c, map->children[i]->key);

		check_entry(c, map->children[i], scope, path);
		check_leave(c, mark);
	}
	check_required(c, map, scope, path);
}

void schema_check(struct check *c, const struct node *map, enum schema_scope scope)
{
	check_map(c, map, scope, "");
}

/* ---- what is not kept ------------------------------------------------------------------------ */

static void prune_value(struct node *value, const struct schema_field *field)
{
	field = schema_meaning(field);
	if (field->type == TYPE_SCOPE) {
		schema_prune(value, field->below, "");
	} else if (field->type == TYPE_MAP) {
		schema_prune(value, field->scope, field->path);
	} else if (field->type == TYPE_LIST && value->kind == NODE_LIST) {
		for (size_t i = 0; i < value->n_children; i++)
			prune_value(value->children[i], schema_element(field));
	}
}

void schema_prune(struct node *map, enum schema_scope scope, const char *path)
{
	size_t kept = 0;

	if (map->kind != NODE_MAP)
		return;
	for (size_t i = 0; i < map->n_children; i++) {
		struct node *child = map->children[i];
		const struct schema_field *field = schema_find(scope, path, child->key);

		if (field && (child->kind == NODE_NULL || field->treat == TREAT_DROPPED)) {
			node_free(child);
			continue;
		}
		if (field && field->treat != TREAT_REFUSED)
			prune_value(child, field);
		map->children[kept++] = child;
	}
	map->n_children = kept;
}
