/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking things up in the schema's table: a field by its place, and what somebody may have meant.
 *
 * Owns nothing. It must not know what is done with the answer.
 */
#include "core/schema_rows.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX  40 /* longer words are not compared */
#define SHORT_LEN 5  /* words up to this may differ by one letter, others by two */

/* What follows the map's own path, of length len, in field's; NULL when field is elsewhere. */
static const char *within(const struct schema_field *field, const char *path, size_t len)
{
	const char *rest;

	if (field->len <= len)
		return NULL;
	rest = field->path + len;
	if (!len)
		return rest;
	if ((*rest != '.' && *rest != '{') || memcmp(field->path, path, len) != 0)
		return NULL;
	if (*rest == '.')
		return rest + 1;
	return streq(rest, "{}") ? rest : NULL;
}

bool schema_is_child(const struct schema_field *field, enum schema_scope scope, const char *path)
{
	const char *name = field->scope == scope ? within(field, path, strlen(path)) : NULL;

	return name && !strpbrk(name, ".[{");
}

const struct schema_field *schema_find(enum schema_scope scope, const char *path, const char *key)
{
	const struct schema_field *f;
	const struct schema_field *any = NULL;
	size_t len = strlen(path);
	bool simple = !strpbrk(key, ".[{"); /* a key "a.b" is not the field a.b */

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		const char *name;

		if (f->scope != scope)
			continue;
		name = within(f, path, len);
		if (!name)
			continue;
		if (strcmp(name, "{}") == 0)
			any = f;
		else if (simple && strcmp(name, key) == 0)
			return f;
	}
	return any;
}

static const struct schema_field *find_row(enum schema_scope scope, const char *path, size_t len)
{
	const struct schema_field *f;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		if (f->scope == scope && f->len == len && memcmp(f->path, path, len) == 0)
			return f;
	}
	return NULL;
}

static size_t outer_len(const char *path, size_t len)
{
	do
		len--;
	while (len && !strchr(".[{", path[len]));
	return len;
}

const struct schema_field *schema_meaning(const struct schema_field *field)
{
	const struct schema_field *row = NULL;

	if (field->type != TYPE_AS)
		return field;
	for (size_t len = strlen(field->as); len && !row; len = outer_len(field->as, len))
		row = find_row(field->below, field->as, len);
	return row;
}

const struct schema_field *schema_element(const struct schema_field *list)
{
	size_t len = list->len;
	const struct schema_field *f;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		if (f->scope == list->scope && f->len == len + 2 &&
			memcmp(f->path, list->path, len) == 0 && strcmp(f->path + len, "[]") == 0)
			return f;
	}
	return NULL;
}

/* Letters to insert, remove, change or swap with a neighbour, case aside. */
static int distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int row[3][WORD_MAX + 1];

	for (size_t j = 0; j <= b_len; j++)
		row[0][j] = (int)j;
	for (size_t i = 1; i <= a_len; i++) {
		int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = (int)i;
		for (size_t j = 1; j <= b_len; j++) {
			int x = tolower((unsigned char)a[i - 1]),
			    y = tolower((unsigned char)b[j - 1]);

			now[j] = MIN(MIN(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
				y == tolower((unsigned char)a[i - 2]))
				now[j] = MIN(now[j], before[j - 2] + 1);
		}
	}
	return row[a_len % 3][b_len];
}

/* How unlike two words are; INT32_MAX when too much to be meant. */
static int unlike(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int limit = MIN(a_len, b_len) <= SHORT_LEN ? 1 : 2;
	int d;

	if (!a_len || !b_len || a_len > WORD_MAX || b_len > WORD_MAX)
		return INT32_MAX;
	d = distance(a, a_len, b, b_len);
	return d <= limit ? d : INT32_MAX;
}

const char *schema_like_key(enum schema_scope scope, const char *path, const char *key)
{
	const struct schema_field *f;
	const char *best = NULL;
	int least = INT32_MAX;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		const char *name;
		int d;

		if (!schema_is_child(f, scope, path))
			continue;
		name = within(f, path, strlen(path));
		d = unlike(key, strlen(key), name, strlen(name));
		if (d < least) {
			least = d;
			best = name;
		}
	}
	return best;
}

const char *schema_like_kind(const char *text)
{
	const char *best = NULL;
	int least = INT32_MAX;

	for (const struct schema_kind *k = schema_kinds; k->kind; k++) {
		int d = k->refused ? INT32_MAX
				   : unlike(text, strlen(text), k->kind, strlen(k->kind));

		if (d < least) {
			least = d;
			best = k->kind;
		}
	}
	return best;
}

bool schema_value_is_in(const char *values, const char *text)
{
	size_t len = strlen(text);

	for (; *values; values += strspn(values, "|")) {
		size_t one = strcspn(values, "|");

		if (one && one == len && strncmp(values, text, len) == 0)
			return true;
		values += one;
	}
	return false;
}

char *schema_like_value(const char *values, const char *text)
{
	const char *best = NULL;
	size_t best_len = 0;
	int least = INT32_MAX;

	for (; *values; values += strspn(values, "|")) {
		size_t len = strcspn(values, "|");
		int d = unlike(text, strlen(text), values, len);

		if (d < least) {
			least = d;
			best = values;
			best_len = len;
		}
		values += len;
	}
	return best ? xstrndup(best, best_len) : NULL;
}
