/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' label selectors, applied here to what the agent lists: terms joined by commas, all of
 * which must hold. As in Kubernetes, != and notin also hold for an object without the label.
 */
#include <string.h>

#include "cli/select.h"

enum verdict { MUST_HAVE, MUST_LACK, MUST_BE_IN, MUST_NOT_BE_IN };

struct term {
	enum verdict verdict;
	char *key;     /* owned */
	char **values; /* owned */
	size_t n_values;
};

struct selector {
	struct term *terms; /* owned */
	size_t n;
};

void selector_free(struct selector *selector)
{
	for (size_t i = 0; selector && i < selector->n; i++) {
		struct term *term = &selector->terms[i];

		for (size_t k = 0; k < term->n_values; k++)
			free(term->values[k]);
		free(term->values);
		free(term->key);
	}
	if (selector)
		free(selector->terms);
	free(selector);
}

static void skip_space(const char **at)
{
	*at += strspn(*at, " \t");
}

static bool take_text(const char **at, const char *text)
{
	skip_space(at);
	if (!starts_with(*at, text))
		return false;
	*at += strlen(text);
	return true;
}

/* A key or a value; a value may be empty. */
static char *read_word(const char **at)
{
	size_t len;
	char *word;

	skip_space(at);
	len = strspn(*at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./");
	word = xstrndup(*at, len);
	*at += len;
	skip_space(at);
	return word;
}

static void add_value(struct term *term, const char **at)
{
	term->values = xrealloc_array(term->values, term->n_values + 1, sizeof(char *));
	term->values[term->n_values++] = read_word(at);
}

static bool read_set(struct term *term, const char **at)
{
	if (!take_text(at, "("))
		return false;
	do
		add_value(term, at);
	while (take_text(at, ","));
	return take_text(at, ")");
}

static bool read_term(struct term *term, const char **at)
{
	if (take_text(at, "!")) {
		term->verdict = MUST_LACK;
		term->key = read_word(at);
		return *term->key;
	}
	term->key = read_word(at);
	term->verdict = MUST_BE_IN;
	if (take_text(at, "notin")) {
		term->verdict = MUST_NOT_BE_IN;
		return *term->key && read_set(term, at);
	}
	if (take_text(at, "in"))
		return *term->key && read_set(term, at);
	if (take_text(at, "!="))
		term->verdict = MUST_NOT_BE_IN;
	else if (!take_text(at, "==") && !take_text(at, "="))
		term->verdict = MUST_HAVE;
	if (term->verdict != MUST_HAVE)
		add_value(term, at);
	return *term->key;
}

int selector_parse(const char *text, struct selector **ret, struct err *err)
{
	struct selector *s = xcalloc(1, sizeof(*s));
	const char *at = text;

	skip_space(&at);
	while (*at) {
		s->terms = xrealloc_array(s->terms, s->n + 1, sizeof(*s->terms));
		s->terms[s->n] = (struct term){ 0 };
		if (!read_term(&s->terms[s->n++], &at) || (*at && !take_text(&at, ","))) {
			selector_free(s);
			return err_set(err, ERR_BAD_REQUEST,
				"selector '%s': cannot be read at '%s'", text, at);
		}
	}
	*ret = s;
	return 0;
}

static bool has_value(const struct term *term, const char *value)
{
	for (size_t i = 0; i < term->n_values; i++)
		if (streq(term->values[i], value))
			return true;
	return false;
}

static bool term_holds(const struct term *term, const char *value)
{
	switch (term->verdict) {
	case MUST_HAVE:
		return value;
	case MUST_LACK:
		return !value;
	case MUST_BE_IN:
		return value && has_value(term, value);
	case MUST_NOT_BE_IN:
		return !value || !has_value(term, value);
	}
	return false;
}

bool selector_matches(const struct selector *selector, const struct node *object)
{
	const struct node *labels = node_at(object, "metadata.labels");

	for (size_t i = 0; selector && i < selector->n; i++) {
		const struct node *label = node_get(labels, selector->terms[i].key);

		if (!term_holds(&selector->terms[i], label ? label->text : NULL))
			return false;
	}
	return true;
}
