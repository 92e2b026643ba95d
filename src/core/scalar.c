/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML 1.1 resolution of plain scalars, with the particulars of go-yaml v2: yes/no/on/off and y/n
 * are booleans, 0777, 0o777, 0x1f and 0b11 are integers, underscores are skipped, base 60 is not
 * known, a time is a string. What JSON would write the same way keeps its source text, so that
 * 9007199254740993 stays what it was.
 *
 * Owns only constants. It must not know of trees, tags or quotes: node_parse.c asks when
 * a scalar is plain.
 */
#include "core/scalar.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NUMBER_LEN_MAX 64 /* characters of a number that is not JSON as it stands */

enum word { WORD_NONE, WORD_NULL, WORD_TRUE, WORD_FALSE, WORD_NOT_FINITE };

/* clang-format off */
static const struct { const char *text; enum word word; } words[] = {
	{ "", WORD_NULL }, { "~", WORD_NULL },
	{ "null", WORD_NULL }, { "Null", WORD_NULL }, { "NULL", WORD_NULL },
	{ "true", WORD_TRUE }, { "True", WORD_TRUE }, { "TRUE", WORD_TRUE },
	{ "yes", WORD_TRUE }, { "Yes", WORD_TRUE }, { "YES", WORD_TRUE },
	{ "on", WORD_TRUE }, { "On", WORD_TRUE }, { "ON", WORD_TRUE },
	{ "y", WORD_TRUE }, { "Y", WORD_TRUE },
	{ "false", WORD_FALSE }, { "False", WORD_FALSE }, { "FALSE", WORD_FALSE },
	{ "no", WORD_FALSE }, { "No", WORD_FALSE }, { "NO", WORD_FALSE },
	{ "off", WORD_FALSE }, { "Off", WORD_FALSE }, { "OFF", WORD_FALSE },
	{ "n", WORD_FALSE }, { "N", WORD_FALSE },
	{ ".nan", WORD_NOT_FINITE }, { ".NaN", WORD_NOT_FINITE }, { ".NAN", WORD_NOT_FINITE },
	{ ".inf", WORD_NOT_FINITE }, { ".Inf", WORD_NOT_FINITE }, { ".INF", WORD_NOT_FINITE },
	{ "+.inf", WORD_NOT_FINITE }, { "+.Inf", WORD_NOT_FINITE }, { "+.INF", WORD_NOT_FINITE },
	{ "-.inf", WORD_NOT_FINITE }, { "-.Inf", WORD_NOT_FINITE }, { "-.INF", WORD_NOT_FINITE },
};
/* clang-format on */

static enum word word_of(const char *text)
{
	if (strlen(text) > strlen("false"))
		return WORD_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i].text, text) == 0)
			return words[i].word;
	}
	return WORD_NONE;
}

static const char *skip_digits(const char *s)
{
	while (isdigit((unsigned char)*s))
		s++;
	return s;
}

/* Whether nothing, or a whole exponent, is what is left. */
static bool is_exponent_or_end(const char *s)
{
	const char *digits;

	if (!*s)
		return true;
	if (*s != 'e' && *s != 'E')
		return false;
	s++;
	digits = *s == '+' || *s == '-' ? s + 1 : s;
	s = skip_digits(digits);
	return s != digits && !*s;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)? */
static bool is_json_number(const char *s)
{
	const char *digits = *s == '-' ? s + 1 : s;

	s = skip_digits(digits);
	if (s == digits || (*digits == '0' && s != digits + 1))
		return false;
	if (*s == '.') {
		digits = s + 1;
		s = skip_digits(digits);
		if (s == digits)
			return false;
	}
	return is_exponent_or_end(s);
}

/* go-yaml's yamlStyleFloat: [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float(const char *s)
{
	const char *digits = *s == '+' || *s == '-' ? s + 1 : s;

	s = skip_digits(digits);
	if (*s == '.') {
		bool leading = s != digits;

		digits = s + 1;
		s = skip_digits(digits);
		if (!leading && s == digits)
			return false;
	} else if (s == digits) {
		return false;
	}
	return is_exponent_or_end(s);
}

/* The same number as JSON writes it: no plus, no bare point, no leading zeros. */
static char *float_text(const char *s)
{
	struct buf out = { 0 };
	const char *end;

	if (*s == '-')
		buf_puts(&out, "-");
	s += *s == '-' || *s == '+';
	while (*s == '0' && isdigit((unsigned char)s[1]))
		s++;
	end = skip_digits(s);
	buf_puts(&out, end == s ? "0" : "");
	buf_add(&out, s, (size_t)(end - s));
	if (*end == '.' && !isdigit((unsigned char)end[1]))
		end++;
	buf_puts(&out, end);
	return out.data;
}

/* The base that Go's ParseInt sees in digits, and where they begin. */
static int base_of(const char **digits)
{
	const char *s = *digits;
	int base = 10;

	if (s[0] != '0' || !s[1])
		return base;
	switch (s[1]) {
	case 'x':
	case 'X':
		base = 16;
		break;
	case 'o':
	case 'O':
		base = 8;
		break;
	case 'b':
	case 'B':
		base = 2;
		break;
	default:
		*digits = s + 1;
		return 8;
	}
	*digits = s + 2;
	return base;
}

/* The decimal text of an integer in any of the bases, owned; NULL if it is none. */
static char *integer_text(const char *s)
{
	bool minus = *s == '-';
	const char *digits = minus || *s == '+' ? s + 1 : s;
	int base = base_of(&digits);
	const char *allowed = base == 16 ? "0123456789abcdefABCDEF" : "0123456789";
	unsigned long long value;
	char *end;

	if (!*digits || digits[strspn(digits, allowed)])
		return NULL;
	errno = 0;
	value = strtoull(digits, &end, base);
	if (errno || *end || (minus && value > (unsigned long long)INT64_MAX + 1))
		return NULL;
	return xasprintf("%s%llu", minus && value ? "-" : "", value);
}

/* s without underscores, in a buffer of NUMBER_LEN_MAX + 1. */
static void drop_underscores(const char *s, char *ret_plain)
{
	for (; *s; s++) {
		if (*s != '_')
			*ret_plain++ = *s;
	}
	*ret_plain = '\0';
}

/* As Go's ParseFloat: what is beyond a double is no number. Never in a locale of another
 * point: nothing sets one. */
static bool is_finite(const char *json)
{
	return isfinite(strtod(json, NULL));
}

/* The JSON text of a number that needs rewriting, owned; NULL if it is none. */
static char *odd_number(const char *text)
{
	char plain[NUMBER_LEN_MAX + 1];
	char *integer;

	if (strlen(text) > NUMBER_LEN_MAX)
		return NULL;
	if (*text == '.') /* go-yaml reads these as they are, others without underscores */
		return is_float(text) ? float_text(text) : NULL;
	drop_underscores(text, plain);
	integer = integer_text(plain);
	if (integer)
		return integer;
	return is_float(plain) ? float_text(plain) : NULL;
}

/* The JSON text of a number, owned; NULL if it is none. */
static char *number_text(const char *text)
{
	char *number;

	if (!isdigit((unsigned char)*text) && !strchr("+-.", *text))
		return NULL;
	number = is_json_number(text) ? xstrdup(text) : odd_number(text);
	if (number && is_finite(number))
		return number;
	free(number);
	return NULL;
}

int scalar_resolve(const char *text, enum node_kind *ret_kind, char **ret_text, struct err *err)
{
	enum word word = word_of(text);
	char *number;

	switch (word) {
	case WORD_NOT_FINITE:
		return err_set(err, ERR_BAD_REQUEST,
			"'%s' is not a number that can be kept; quote it if it is meant as text",
			text);
	case WORD_NULL:
		*ret_kind = NODE_NULL;
		*ret_text = NULL;
		return 0;
	case WORD_TRUE:
	case WORD_FALSE:
		*ret_kind = NODE_BOOL;
		*ret_text = xstrdup(word == WORD_TRUE ? "true" : "false");
		return 0;
	case WORD_NONE:
		break;
	}
	number = number_text(text);
	*ret_kind = number ? NODE_NUMBER : NODE_STRING;
	*ret_text = number ? number : xstrdup(text);
	return 0;
}
