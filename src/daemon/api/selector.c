/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selectors as kubectl writes them, of equality and of sets. They are matched against JSON text by
 * jsonspan, so that a watch costs no tree per change.
 */
#include <string.h>

#include "core/names.h"
#include "daemon/api/jsonspan.h"
#include "daemon/api/selector.h"

void selector_done(struct selector *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct selector_term *t = &s->terms[i];

		for (size_t v = 0; v < t->n_values; v++)
			free(t->values[v]);
		free(t->values);
		free(t->key);
	}
	*s = (struct selector){ 0 };
}

/* Cuts the blanks off both ends, in place. */
static char *trimmed(char *text)
{
	text += strspn(text, " ");
	for (size_t i = strlen(text); i && text[i - 1] == ' '; i--)
		text[i - 1] = '\0';
	return text;
}

static void add_value(struct selector_term *t, const char *value)
{
	t->values = xrealloc_array(t->values, t->n_values + 1, sizeof(*t->values));
	t->values[t->n_values++] = xstrdup(value);
}

static int bad_term(const char *text, struct err *err)
{
	return err_set(err, ERR_BAD_REQUEST,
		"selector term '%.200s' is none of key=value, key!=value, key, !key, "
		"key in (a, b) and key notin (a, b)",
		text);
}

/* "a, b)" of a set. */
static int parse_values(struct selector_term *t, char *text, const char *whole, struct err *err)
{
	char *end = strchr(text, ')'), *rest = text, *piece;

	if (!end || end[1])
		return bad_term(whole, err);
	*end = '\0';
	while ((piece = strsep(&rest, ","))) {
		if (t->n_values == SELECTOR_VALUES_MAX)
			return err_set(err, ERR_BAD_REQUEST,
				"a selector's set has more than %d values", SELECTOR_VALUES_MAX);
		add_value(t, trimmed(piece));
	}
	return 0;
}

/* "key in (a, b)"; false when there is no such operator in it. */
static bool find_set(char *text, struct selector_term *t, char **ret_values)
{
	char *open = strchr(text, '('), *word;

	if (!open)
		return false;
	*open = '\0';
	word = strrchr(trimmed(text), ' ');
	if (!word || (!streq(word, " in") && !streq(word, " notin")))
		return false;
	t->op = streq(word, " in") ? SELECTOR_IN : SELECTOR_NOT_IN;
	*word = '\0';
	t->key = xstrdup(trimmed(text));
	*ret_values = open + 1;
	return true;
}

static int parse_set(const char *whole, struct selector_term *t, struct err *err)
{
	autofree char *text = xstrdup(whole);
	char *values;

	if (!find_set(text, t, &values))
		return bad_term(whole, err);
	return parse_values(t, values, whole, err);
}

/* "key", "!key", or the two ends of the first operator. */
static int parse_simple(const char *whole, struct selector_term *t, struct err *err)
{
	autofree char *text = xstrdup(whole);
	bool negated = *text == '!';
	char *at = strpbrk(text + negated, "=!");

	if (!at) {
		t->op = negated ? SELECTOR_NOT_EXISTS : SELECTOR_EXISTS;
		t->key = xstrdup(trimmed(text + negated));
		return 0;
	}
	if (negated || (*at == '!' && at[1] != '='))
		return bad_term(whole, err);
	t->op = *at == '!' ? SELECTOR_NOT_IN : SELECTOR_IN;
	add_value(t, trimmed(at + (at[1] == '=' ? 2 : 1)));
	*at = '\0';
	t->key = xstrdup(trimmed(text));
	return 0;
}

/* None of these stands in a key or a value, so that a term can be read in one way only. */
#define MARKS " ()<>\"\\=!"

static int check_term(const char *whole, const struct selector_term *t, struct err *err)
{
	if (!*t->key)
		return err_set(err, ERR_BAD_REQUEST, "selector term '%.200s' has no key", whole);
	if (strpbrk(t->key, MARKS))
		return bad_term(whole, err);
	for (size_t i = 0; i < t->n_values; i++)
		if (strpbrk(t->values[i], MARKS))
			return bad_term(whole, err);
	return 0;
}

static int parse_term(char *piece, struct selector_term *t, struct err *err)
{
	const char *text = trimmed(piece);
	int rc;

	if (!*text)
		return err_set(err, ERR_BAD_REQUEST, "a selector has an empty term");
	rc = strchr(text, '(') ? parse_set(text, t, err) : parse_simple(text, t, err);
	return rc ? rc : check_term(text, t, err);
}

/* The next term of *rest, at a comma that stands outside of parentheses; NULL at the end. */
static char *next_term(char **rest)
{
	char *term = *rest;
	bool inside = false;

	if (!term)
		return NULL;
	for (char *c = term; *c; c++) {
		inside = *c == '(' || (inside && *c != ')');
		if (*c == ',' && !inside) {
			*c = '\0';
			*rest = c + 1;
			return term;
		}
	}
	*rest = NULL;
	return term;
}

static int parse_terms(const char *text, struct selector *s, struct err *err)
{
	autofree char *copy = xstrdup(text);
	char *rest = copy, *piece;
	int rc;

	if (!copy || !*copy)
		return 0;
	while ((piece = next_term(&rest))) {
		if (s->n == SELECTOR_TERMS_MAX)
			return err_set(err, ERR_BAD_REQUEST, "a selector has more than %d terms",
				SELECTOR_TERMS_MAX);
		if ((rc = parse_term(piece, &s->terms[s->n++], err)))
			return rc;
	}
	return 0;
}

static int check_labels(const struct selector *s, struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct selector_term *t = &s->terms[i];

		if (!is_label_key(t->key))
			return err_set(err, ERR_BAD_REQUEST, "'%.200s' is no label's key", t->key);
		for (size_t v = 0; v < t->n_values; v++)
			if (!is_label_value(t->values[v]))
				return err_set(err, ERR_BAD_REQUEST, "'%.200s' is no label's value",
					t->values[v]);
	}
	return 0;
}

int selector_parse_labels(const char *text, struct selector *ret, struct err *err)
{
	struct selector s = { 0 };
	int rc = parse_terms(text, &s, err);

	if (!rc)
		rc = check_labels(&s, err);
	if (rc)
		selector_done(&s);
	else
		*ret = s;
	return rc;
}

#define OF_ANY KIND_MAX

static const struct field {
	const char *key;
	enum object_kind of;
	bool changes; /* in the object's life */
} fields[] = {
	{ "metadata.name", OF_ANY, false },
	{ "metadata.namespace", OF_ANY, false },
	{ "involvedObject.kind", KIND_EVENT, false },
	{ "involvedObject.name", KIND_EVENT, false },
	{ "involvedObject.namespace", KIND_EVENT, false },
	{ "involvedObject.uid", KIND_EVENT, false },
	{ "involvedObject.apiVersion", KIND_EVENT, false },
	{ "involvedObject.resourceVersion", KIND_EVENT, false },
	{ "involvedObject.fieldPath", KIND_EVENT, false },
	{ "type", KIND_EVENT, false },
	{ "reason", KIND_EVENT, false },
	{ "reportingComponent", KIND_EVENT, false },
	{ "regarding.kind", KIND_NEW_EVENT, false },
	{ "regarding.name", KIND_NEW_EVENT, false },
	{ "regarding.namespace", KIND_NEW_EVENT, false },
	{ "regarding.uid", KIND_NEW_EVENT, false },
	{ "regarding.apiVersion", KIND_NEW_EVENT, false },
	{ "regarding.resourceVersion", KIND_NEW_EVENT, false },
	{ "regarding.fieldPath", KIND_NEW_EVENT, false },
	{ "type", KIND_NEW_EVENT, false },
	{ "reason", KIND_NEW_EVENT, false },
	{ "reportingController", KIND_NEW_EVENT, false },
	{ "spec.nodeName", KIND_POD, true },
	{ "status.phase", KIND_POD, true },
};

static bool field_is_known(const char *key, enum object_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (streq(fields[i].key, key) && (fields[i].of == OF_ANY || fields[i].of == kind))
			return true;
	return false;
}

static bool field_changes(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (streq(fields[i].key, key) && fields[i].changes)
			return true;
	return false;
}

bool selector_fields_change(const struct selector *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (field_changes(s->terms[i].key))
			return true;
	return false;
}

static int check_fields(const struct selector *s, enum object_kind kind, struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct selector_term *t = &s->terms[i];

		if (t->n_values != 1)
			return err_set(err, ERR_BAD_REQUEST,
				"field selector term '%s': write key=value or key!=value", t->key);
		if (!field_is_known(t->key, kind))
			return err_set(err, ERR_BAD_REQUEST, "field label not supported: %s",
				t->key);
	}
	return 0;
}

int selector_parse_fields(const char *text, enum object_kind kind, struct selector *ret,
	struct err *err)
{
	struct selector s = { 0 };
	int rc = parse_terms(text, &s, err);

	if (!rc)
		rc = check_fields(&s, kind, err);
	if (rc)
		selector_done(&s);
	else
		*ret = s;
	return rc;
}

/* ---- matching -------------------------------------------------------------------------------- */

static bool term_holds(const struct selector_term *t, bool there, struct jsonspan value)
{
	bool in = false;

	for (size_t i = 0; i < t->n_values && there && !in; i++)
		in = jsonspan_is(value, t->values[i]);
	switch (t->op) {
	case SELECTOR_IN:
		return in;
	case SELECTOR_NOT_IN:
		return !in;
	case SELECTOR_EXISTS:
		return there;
	case SELECTOR_NOT_EXISTS:
		return !there;
	}
	return false;
}

static bool labels_match(const struct selector *s, struct jsonspan labels)
{
	struct jsonspan value = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		bool there = jsonspan_member(labels, s->terms[i].key, &value);

		if (!term_holds(&s->terms[i], there, value))
			return false;
	}
	return true;
}

bool selector_matches_labels(const struct selector *s, const char *labels)
{
	return labels_match(s, jsonspan_of(labels));
}

bool selector_matches_object_labels(const struct selector *s, const char *object)
{
	struct jsonspan metadata, labels = { 0 };

	if (!jsonspan_member(jsonspan_of(object), "metadata", &metadata) ||
		!jsonspan_member(metadata, "labels", &labels))
		labels.len = 0;
	return labels_match(s, labels);
}

bool selector_matches_fields(const struct selector *s, const char *object)
{
	struct jsonspan whole = jsonspan_of(object), value = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		const struct selector_term *t = &s->terms[i];
		bool there = jsonspan_path(whole, t->key, &value);

		/* An absent field is the empty string, as in Kubernetes. */
		if (!there && !*t->values[0]) {
			if (t->op == SELECTOR_NOT_IN)
				return false;
		} else if (!term_holds(t, there, value)) {
			return false;
		}
	}
	return true;
}
