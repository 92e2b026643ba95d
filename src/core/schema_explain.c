/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks down the tables by the names of a path and puts the rows there into words.
 *
 * Owns the words. It must not know a single field by name.
 */
#include "core/schema_explain.h"

#include <inttypes.h>
#include <string.h>

static const char *const type_words[] = {
	[TYPE_MAP] = "map",
	[TYPE_LIST] = "list",
	[TYPE_STRING] = "string",
	[TYPE_BOOL] = "true or false",
	[TYPE_INTEGER] = "whole number",
	[TYPE_QUANTITY] = "quantity such as 2Gi",
	[TYPE_ENUM] = "one of",
	[TYPE_ANY] = "anything",
	[TYPE_SCOPE] = "map",
	[TYPE_AS] = "map",
};

struct standing { /* where a walk is: in the map at path */
	enum schema_scope scope;
	char *path;                       /* owned */
	const struct schema_field *field; /* that the map belongs to; NULL: the whole object */
};

static void put_values(struct buf *out, const char *values)
{
	const char *before = " ";

	for (values += strspn(values, "|"); *values; values += strspn(values, "|")) {
		size_t len = strcspn(values, "|");

		buf_puts(out, before);
		buf_add(out, values, len);
		before = ", ";
		values += len;
	}
}

static void put_range(struct buf *out, const struct schema_field *f)
{
	const char *lead = f->type == TYPE_LIST ? " of " : f->type == TYPE_QUANTITY ? ", " : " ";

	if (f->type == TYPE_INTEGER || (f->min && f->max))
		buf_printf(out, "%s%s%" PRId64 " to %" PRId64, lead,
			f->type == TYPE_LIST ? "" : "from ", f->min, f->max);
	else if (f->min || f->max)
		buf_printf(out, "%s%s %" PRId64, lead, f->max ? "at most" : "at least",
			f->max ? f->max : f->min);
}

static void put_value(struct buf *out, const struct schema_field *f)
{
	buf_puts(out, type_words[f->type]);
	if (f->type == TYPE_ENUM)
		put_values(out, f->values);
	else if (f->rule)
		buf_printf(out, ": %s", schema_rule_words(f->rule));
	else
		put_range(out, f);
	if (f->required)
		buf_puts(out, "; required");
	if (f->fallback)
		buf_printf(out, "; default: %s", f->fallback);
}

void schema_words(const struct schema_field *field, struct buf *out)
{
	const struct schema_field *f = schema_meaning(field);

	if (f->treat == TREAT_REFUSED) {
		buf_printf(out, "not supported by this version; %s", f->note);
		return;
	}
	if (f->treat == TREAT_DROPPED) {
		buf_puts(out, "set by the agent");
		return;
	}
	put_value(out, f);
	if (f->treat == TREAT_IGNORED)
		buf_printf(out, "; accepted without effect: %s", f->note);
	else if (f->note)
		buf_printf(out, "; %s", f->note);
}

static const char *last_name(const struct schema_field *field)
{
	const char *dot = strrchr(field->path, '.');

	return dot ? dot + 1 : field->path;
}

/* Goes on into what the field holds. */
static void enter(struct standing *at, const struct schema_field *found)
{
	const struct schema_field *field = schema_meaning(found);
	const struct schema_field *element = field->type == TYPE_LIST ? schema_element(field)
								      : NULL;

	at->field = field;
	at->scope = field->type == TYPE_SCOPE ? field->below : field->scope;
	replace_str(&at->path,
		field->type == TYPE_SCOPE ? ""
			: element         ? element->path
					  : field->path);
}

static bool covers(const struct schema_field *field)
{
	return field->type == TYPE_ANY || field->treat == TREAT_REFUSED ||
		field->treat == TREAT_DROPPED;
}

static int step(struct standing *at, const char *name, struct err *err)
{
	const struct schema_field *field = schema_find(at->scope, at->path, name);
	const char *like = field ? NULL : schema_like_key(at->scope, at->path, name);

	if (field)
		enter(at, field);
	else if (like)
		return err_set(err, ERR_NOT_FOUND, "field '%.64s' is not known, did you mean '%s'?",
			name, like);
	else
		return err_set(err, ERR_NOT_FOUND, "field '%.64s' is not known", name);
	return 0;
}

static int walk(struct standing *at, const char *path, struct err *err)
{
	int rc = 0;

	while (!rc && *path && !(at->field && covers(at->field))) {
		size_t len = strcspn(path, ".[{");
		autofree char *name = xstrndup(path, len);

		rc = step(at, name, err);
		path += len;
		path += strspn(path, "[]{}.");
	}
	return rc;
}

static int width(const struct standing *at)
{
	const struct schema_field *f;
	size_t longest = 0;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		if (schema_is_child(f, at->scope, at->path))
			longest = MAX(longest, strlen(last_name(f)));
	}
	return (int)longest;
}

static void put_children(struct buf *out, const struct standing *at)
{
	const struct schema_field *f;
	const struct schema_field *any = schema_find(at->scope, at->path, "");
	int columns = width(at);

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		if (!schema_is_child(f, at->scope, at->path))
			continue;
		buf_printf(out, "  %-*s  ", columns, last_name(f));
		schema_words(f, out);
		buf_puts(out, "\n");
	}
	if (!any)
		return;
	buf_printf(out, "  %-*s  ", columns, columns ? "any other" : "any");
	schema_words(any, out);
	buf_puts(out, "\n");
}

int schema_explain(enum schema_scope scope, const char *path, struct buf *ret_text, struct err *err)
{
	struct standing at = { .scope = scope, .path = xstrdup("") };
	int rc = walk(&at, path, err);

	if (rc == 0) {
		if (at.field)
			schema_words(at.field, ret_text);
		else
			buf_puts(ret_text, "map");
		buf_puts(ret_text, "\n");
		if (!at.field || !covers(at.field))
			put_children(ret_text, &at);
	}
	free(at.path);
	return rc;
}
