/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes selectors against objects. The input is a label selector, a field selector and an object's
 * JSON text, a line each. What was understood must mean the same when it is written out and read
 * again, and of a term and its opposite exactly one must hold, whatever the object is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/api/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_term(struct buf *out, const struct selector_term *t)
{
	bool set = t->n_values > 1;

	if (t->op == SELECTOR_NOT_EXISTS)
		buf_puts(out, "!");
	buf_puts(out, t->key);
	if (!t->n_values)
		return;
	if (set)
		buf_puts(out, t->op == SELECTOR_IN ? " in (" : " notin (");
	else
		buf_puts(out, t->op == SELECTOR_IN ? "=" : "!=");
	for (size_t i = 0; i < t->n_values; i++)
		buf_printf(out, "%s%s", i ? "," : "", t->values[i]);
	buf_puts(out, set ? ")" : "");
}

static char *written(const struct selector *s)
{
	struct buf out = { 0 };

	buf_puts(&out, "");
	for (size_t i = 0; i < s->n; i++) {
		buf_puts(&out, i ? "," : "");
		write_term(&out, &s->terms[i]);
	}
	return out.data;
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void compare(const struct selector *a, const struct selector *b)
{
	check(a->n == b->n);
	for (size_t i = 0; i < a->n; i++) {
		const struct selector_term *s = &a->terms[i], *t = &b->terms[i];

		check(s->op == t->op && streq(s->key, t->key) && s->n_values == t->n_values);
		for (size_t v = 0; v < s->n_values; v++)
			check(streq(s->values[v], t->values[v]));
	}
}

typedef bool matches_fn(const struct selector *s, const char *object);

/* All of it matches if and only if each of its terms does, and no term does
 * together with its opposite. */
static void match(const struct selector *s, const char *object, matches_fn *matches)
{
	static const enum selector_op opposite[] = {
		[SELECTOR_IN] = SELECTOR_NOT_IN,
		[SELECTOR_NOT_IN] = SELECTOR_IN,
		[SELECTOR_EXISTS] = SELECTOR_NOT_EXISTS,
		[SELECTOR_NOT_EXISTS] = SELECTOR_EXISTS,
	};
	bool all = true;

	for (size_t i = 0; i < s->n; i++) {
		struct selector one = { .n = 1 };
		bool holds;

		one.terms[0] = s->terms[i]; /* borrowed */
		holds = matches(&one, object);
		one.terms[0].op = opposite[one.terms[0].op];
		check(matches(&one, object) != holds);
		all = all && holds;
	}
	check(matches(s, object) == all);
}

static void try_labels(const char *text, const char *object)
{
	struct selector s, again;
	autofree char *out = NULL;

	if (selector_parse_labels(text, &s, NULL))
		return;
	out = written(&s);
	check(selector_parse_labels(out, &again, NULL) == 0);
	compare(&s, &again);
	match(&s, object, selector_matches_object_labels);
	match(&s, object, selector_matches_labels);
	selector_done(&s);
	selector_done(&again);
}

static void try_fields(const char *text, enum object_kind kind, const char *object)
{
	struct selector s, again;
	autofree char *out = NULL;

	if (selector_parse_fields(text, kind, &s, NULL))
		return;
	out = written(&s);
	check(selector_parse_fields(out, kind, &again, NULL) == 0);
	compare(&s, &again);
	match(&s, object, selector_matches_fields);
	selector_fields_change(&s);
	selector_done(&s);
	selector_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = memcpy(xcalloc(1, size + 1), data, size);
	char *rest = text;
	const char *labels = strsep(&rest, "\n"), *fields = rest ? strsep(&rest, "\n") : "";
	autofree char *object =
		xstrdup(rest ? rest : ""); /* of its own, so that no step over is missed */

	try_labels(labels, object);
	for (int kind = 0; kind < KIND_MAX; kind++)
		try_fields(fields, kind, object);
	return 0;
}
