/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes quantities: sign, digits with a fraction, and a binary suffix (Ki … Ei), a decimal one
 * (n u m k M G T P E) or an exponent. Worked in whole nano-units, which is the scale that
 * Kubernetes itself rounds up to, in 128 bits, so that nothing is lost on the way.
 *
 * Owns nothing and knows of no field that uses it.
 */
#include "core/quantity.h"

#include <ctype.h>
#include <string.h>

__extension__ typedef unsigned __int128 nanos;

#define NANO         1000000000u
#define MILLIS       1000u
#define NANOS_MAX    ((nanos)INT64_MAX * NANO)
#define TEXT_MAX     64 /* characters of one quantity */
#define HALF_DIGITS  9  /* the fraction is kept as two halves of so many digits */
#define EXPONENT_MAX 99
#define EXPECTED     "expected a quantity such as '2Gi', '1500M' or '0.5'"

struct parts {
	nanos whole;
	uint64_t half[2]; /* fraction: half[0] / 10^9 + half[1] / 10^18 */
	bool more;        /* and something beyond that */
	int decimal;      /* times 10^decimal */
	int binary;       /* times 2^binary */
};

/* clang-format off */
static const struct { const char *text; int decimal, binary; } suffixes[] = {
	{ "",   0, 0 }, { "n", -9, 0 }, { "u", -6, 0 }, { "m", -3, 0 },
	{ "k",  3, 0 }, { "M",  6, 0 }, { "G",  9, 0 }, { "T", 12, 0 }, { "P", 15, 0 }, { "E", 18, 0 },
	{ "Ki", 0, 10 }, { "Mi", 0, 20 }, { "Gi", 0, 30 }, { "Ti", 0, 40 }, { "Pi", 0, 50 }, { "Ei", 0, 60 },
};
/* clang-format on */

static const char *fraction_parse(const char *s, struct parts *parts)
{
	int i = 0;

	for (; isdigit((unsigned char)*s); s++, i++) {
		unsigned digit = (unsigned)(*s - '0');

		if (i < 2 * HALF_DIGITS)
			parts->half[i / HALF_DIGITS] = parts->half[i / HALF_DIGITS] * 10 + digit;
		else
			parts->more |= digit != 0;
	}
	for (; i < 2 * HALF_DIGITS; i++)
		parts->half[i / HALF_DIGITS] *= 10;
	return s;
}

/* The digits; returns what follows them, or NULL when there are none. */
static const char *digits_parse(const char *s, struct parts *parts)
{
	bool any = isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1]));

	for (; isdigit((unsigned char)*s); s++) {
		if (parts->whole <= NANOS_MAX) /* beyond it is too large anyhow */
			parts->whole = parts->whole * 10 + (unsigned)(*s - '0');
	}
	if (*s == '.')
		s = fraction_parse(s + 1, parts);
	return any ? s : NULL;
}

static bool exponent_parse(const char *s, struct parts *parts)
{
	char *end;
	long value;

	if (*s != 'e' && *s != 'E')
		return false;
	if (!isdigit((unsigned char)s[1]) &&
		!(s[1] && strchr("+-", s[1]) && isdigit((unsigned char)s[2])))
		return false;
	value = strtol(s + 1, &end, 10);
	if (*end)
		return false;
	parts->decimal = (int)MAX(MIN(value, EXPONENT_MAX), -EXPONENT_MAX);
	return true;
}

static bool suffix_parse(const char *s, struct parts *parts)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (strcmp(suffixes[i].text, s) != 0)
			continue;
		parts->decimal = suffixes[i].decimal;
		parts->binary = suffixes[i].binary;
		return true;
	}
	return exponent_parse(s, parts);
}

static bool parts_are_zero(const struct parts *parts)
{
	return !parts->whole && !parts->half[0] && !parts->half[1] && !parts->more;
}

static nanos div_up(nanos value, nanos by)
{
	return value / by + (value % by != 0);
}

/* (whole + fraction) * scale, rounded up; NANOS_MAX + 1 stands for all that is too large. */
static nanos scaled_up(const struct parts *parts, nanos scale)
{
	nanos high = parts->half[0] * scale; /* over 10^9 */
	nanos low = parts->half[1] * scale;  /* over 10^18 */
	nanos rest = (high % NANO) * NANO + low;

	if (scale > NANOS_MAX || parts->whole > NANOS_MAX / scale)
		return NANOS_MAX + 1;
	return parts->whole * scale + high / NANO + div_up(rest + parts->more, (nanos)NANO * NANO);
}

static nanos parts_value(const struct parts *parts)
{
	nanos scale = (nanos)NANO << parts->binary;
	nanos divide = 1;

	if (parts_are_zero(parts))
		return 0;
	if (parts->whole > NANOS_MAX)
		return NANOS_MAX + 1;
	for (int i = 0; i < parts->decimal && scale <= NANOS_MAX; i++)
		scale *= 10;
	for (int i = 0; i > parts->decimal; i--) {
		if (scale > 1)
			scale /= 10; /* a power of ten here: no binary suffix has an exponent */
		else if (divide < NANOS_MAX)
			divide *= 10;
	}
	return div_up(scaled_up(parts, scale), divide);
}

static int nanos_parse(const char *text, nanos *ret_value, struct err *err)
{
	struct parts parts = { 0 };
	const char *s = text;

	if (!text || !*text)
		return err_set(err, ERR_INVALID, EXPECTED ", got nothing");
	if (strlen(text) > TEXT_MAX)
		return err_set(err, ERR_INVALID, EXPECTED ", got over %d characters", TEXT_MAX);
	if (*s == '-')
		return err_set(err, ERR_INVALID, EXPECTED ", got the negative '%s'", text);
	s = digits_parse(*s == '+' ? s + 1 : s, &parts);
	if (!s)
		return err_set(err, ERR_INVALID, EXPECTED ", got '%s'", text);
	if (!suffix_parse(s, &parts))
		return err_set(err, ERR_INVALID,
			"unknown suffix '%s' of quantity '%s'; known: n u m k M G T P E, Ki Mi Gi Ti Pi Ei",
			s, text);
	*ret_value = parts_value(&parts);
	if (*ret_value > NANOS_MAX)
		return err_set(err, ERR_INVALID, "quantity '%s' is too large", text);
	return 0;
}

int quantity_parse(const char *text, int64_t *ret_value, struct err *err)
{
	nanos value;
	int rc = nanos_parse(text, &value, err);

	if (rc)
		return rc;
	*ret_value = (int64_t)div_up(value, NANO);
	return 0;
}

int quantity_parse_milli(const char *text, int64_t *ret_value, struct err *err)
{
	nanos value;
	int rc = nanos_parse(text, &value, err);

	if (rc)
		return rc;
	if (value > NANOS_MAX / MILLIS)
		return err_set(err, ERR_INVALID, "quantity '%s' is too large", text);
	*ret_value = (int64_t)div_up(value, NANO / MILLIS);
	return 0;
}

int quantity_compare(const char *a, const char *b)
{
	nanos left = 0, right = 0;

	nanos_parse(a, &left, NULL);
	nanos_parse(b, &right, NULL);
	return (left > right) - (left < right);
}
