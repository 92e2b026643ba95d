/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scanner over JSON text. It checks no grammar: what is stored was written by ourselves. It only
 * promises to stay within the text.
 */
#include <string.h>

#include "daemon/api/jsonspan.h"

struct jsonspan jsonspan_of(const char *json)
{
	return (struct jsonspan){ .at = json, .len = json ? strlen(json) : 0 };
}

static struct jsonspan skip(struct jsonspan s, size_t n)
{
	return (struct jsonspan){ .at = s.at + n, .len = s.len - n };
}

static struct jsonspan skip_space(struct jsonspan s)
{
	while (s.len && memchr(" \t\r\n", *s.at, 4))
		s = skip(s, 1);
	return s;
}

/* Whether the quote at `at` is the string's own letter: an odd number of
 * backslashes stands before it. */
static bool is_escaped(const char *string, const char *at)
{
	size_t n = 0;

	while (at - n > string && at[-1 - (ptrdiff_t)n] == '\\')
		n++;
	return n % 2;
}

/* Length of the string that s begins with, quotes included; all of s if it does not end. */
static size_t string_length(struct jsonspan s)
{
	const char *end = s.at + s.len, *at = s.at;

	while (++at < end && (at = memchr(at, '"', (size_t)(end - at)))) {
		if (!is_escaped(s.at, at))
			return (size_t)(at - s.at) + 1;
	}
	return s.len;
}

static size_t nested_length(struct jsonspan s)
{
	size_t depth = 0;

	for (size_t i = 0; i < s.len; i++) {
		switch (s.at[i]) {
		case '"':
			i += string_length(skip(s, i)) - 1;
			break;
		case '{':
		case '[':
			depth++;
			break;
		case '}':
		case ']':
			if (--depth == 0)
				return i + 1;
			break;
		default:
			break;
		}
	}
	return s.len;
}

static size_t value_length(struct jsonspan s)
{
	size_t i = 0;

	if (s.len == 0)
		return 0;
	if (*s.at == '"')
		return string_length(s);
	if (*s.at == '{' || *s.at == '[')
		return nested_length(s);
	while (i < s.len && !memchr(",}] \t\r\n", s.at[i], 7))
		i++;
	return i;
}

bool jsonspan_is(struct jsonspan value, const char *text)
{
	size_t len = strlen(text);

	return value.len == len + 2 && value.at[0] == '"' && value.at[len + 1] == '"' &&
		memcmp(value.at + 1, text, len) == 0;
}

bool jsonspan_next_member(struct jsonspan *rest, struct jsonspan *ret_key, struct jsonspan *ret)
{
	struct jsonspan s = skip_space(*rest);

	if (s.len == 0 || (*s.at != '{' && *s.at != ','))
		return false;
	s = skip_space(skip(s, 1));
	if (s.len == 0 || *s.at != '"')
		return false;
	*ret_key = (struct jsonspan){ s.at, string_length(s) };
	s = skip_space(skip(s, ret_key->len));
	if (s.len == 0 || *s.at != ':')
		return false;
	s = skip_space(skip(s, 1));
	*ret = (struct jsonspan){ s.at, value_length(s) };
	*rest = skip(s, ret->len);
	return ret->len > 0;
}

bool jsonspan_member(struct jsonspan value, const char *key, struct jsonspan *ret)
{
	struct jsonspan name, found;

	while (jsonspan_next_member(&value, &name, &found)) {
		if (jsonspan_is(name, key)) {
			*ret = found;
			return true;
		}
	}
	return false;
}

bool jsonspan_next(struct jsonspan *rest, struct jsonspan *ret)
{
	struct jsonspan s = skip_space(*rest);

	if (s.len == 0 || (*s.at != '[' && *s.at != ','))
		return false;
	s = skip_space(skip(s, 1));
	*ret = (struct jsonspan){ s.at, value_length(s) };
	*rest = skip(s, ret->len);
	return ret->len > 0;
}

static bool step_into(struct jsonspan value, const char *key, struct jsonspan *ret)
{
	struct jsonspan rest = value;
	char *end;
	unsigned long index = strtoul(key, &end, 10);

	if (*end || end == key)
		return jsonspan_member(value, key, ret);
	while (jsonspan_next(&rest, ret)) {
		if (index-- == 0)
			return true;
	}
	return false;
}

bool jsonspan_path(struct jsonspan value, const char *path, struct jsonspan *ret)
{
	char key[64];

	for (;;) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof(key))
			return false;
		memcpy(key, path, len);
		key[len] = '\0';
		if (!step_into(value, key, ret))
			return false;
		if (!path[len])
			return true;
		value = *ret;
		path += len + 1;
	}
}

bool jsonspan_condition(struct jsonspan object, const char *type, struct jsonspan *ret)
{
	struct jsonspan list, item, value;

	if (!jsonspan_path(object, "status.conditions", &list))
		return false;
	while (jsonspan_next(&list, &item)) {
		if (jsonspan_member(item, "type", &value) && jsonspan_is(value, type))
			return jsonspan_member(item, "status", ret);
	}
	return false;
}
