/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selectors as kubectl writes them, of the equality kind. They are matched against JSON text by
 * jsonspan, so that a watch costs no tree per change.
 */
#include <string.h>

#include "daemon/api/jsonspan.h"
#include "daemon/api/selector.h"

void selector_done(struct selector *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->terms[i].key);
		free(s->terms[i].value);
	}
	*s = (struct selector){ 0 };
}

static void set_term(struct selector_term *t, enum selector_op op, const char *key, size_t key_len)
{
	t->op = op;
	t->key = xstrndup(key, key_len);
}

/* One term's text. Operators stand in the order in which they must be tried. */
static int parse_term(char *text, struct selector_term *ret, struct err *err)
{
	static const struct {
		const char *text;
		enum selector_op op;
	} ops[] = {
		{ "!=", SELECTOR_NOT_EQUAL },
		{ "==", SELECTOR_EQUAL },
		{ "=", SELECTOR_EQUAL },
	};
	const char *at;

	text += strspn(text, " ");
	for (size_t i = strlen(text); i && text[i - 1] == ' '; i--)
		text[i - 1] = '\0';
	if (!*text)
		return err_set(err, ERR_BAD_REQUEST, "a selector has an empty term");
	if (strpbrk(text, " ()<>\"\\"))
		return err_set(err, ERR_BAD_REQUEST,
			"selector term '%s': only key=value, key!=value, key and !key are implemented",
			text);
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		if (!(at = strstr(text, ops[i].text)))
			continue;
		set_term(ret, ops[i].op, text, (size_t)(at - text));
		ret->value = xstrdup(at + strlen(ops[i].text));
		return 0;
	}
	set_term(ret, *text == '!' ? SELECTOR_NOT_EXISTS : SELECTOR_EXISTS, text + (*text == '!'),
		strlen(text));
	ret->value = xstrdup("");
	return 0;
}

static int parse_terms(const char *text, struct selector *s, struct err *err)
{
	autofree char *copy = xstrdup(text);
	char *rest = copy, *piece;
	int rc;

	if (!copy || !*copy)
		return 0;
	while ((piece = strsep(&rest, ","))) {
		if (s->n == SELECTOR_TERMS_MAX)
			return err_set(err, ERR_BAD_REQUEST, "a selector has more than %d terms",
				SELECTOR_TERMS_MAX);
		if ((rc = parse_term(piece, &s->terms[s->n], err)))
			return rc;
		if (!*s->terms[s->n++].key)
			return err_set(err, ERR_BAD_REQUEST,
				"selector '%s' has a term without a key", text);
	}
	return 0;
}

int selector_parse_labels(const char *text, struct selector *ret, struct err *err)
{
	struct selector s = { 0 };
	int rc = parse_terms(text, &s, err);

	if (rc)
		selector_done(&s);
	else
		*ret = s;
	return rc;
}

static bool field_is_known(const char *key, enum object_kind kind)
{
	static const struct {
		const char *key;
		bool of_events;
	} fields[] = {
		{ "metadata.name", false },
		{ "metadata.namespace", false },
		{ "involvedObject.kind", true },
		{ "involvedObject.name", true },
		{ "involvedObject.namespace", true },
		{ "involvedObject.uid", true },
		{ "involvedObject.apiVersion", true },
		{ "involvedObject.resourceVersion", true },
		{ "involvedObject.fieldPath", true },
		{ "type", true },
		{ "reason", true },
		{ "reportingComponent", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (streq(fields[i].key, key))
			return !fields[i].of_events || kind == KIND_EVENT;
	return false;
}

static int check_fields(const struct selector *s, enum object_kind kind, struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct selector_term *t = &s->terms[i];

		if (t->op != SELECTOR_EQUAL && t->op != SELECTOR_NOT_EQUAL)
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

/* ---- matching ---------------------------------------------------------------------------- */

static bool term_holds(const struct selector_term *t, bool there, struct jsonspan value)
{
	bool equal = there && jsonspan_is(value, t->value);

	switch (t->op) {
	case SELECTOR_EQUAL:
		return equal;
	case SELECTOR_NOT_EQUAL:
		return !equal;
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
		if (!there && !*t->value) {
			if (t->op == SELECTOR_NOT_EQUAL)
				return false;
		} else if (!term_holds(t, there, value)) {
			return false;
		}
	}
	return true;
}
