/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/api/accept.h"

#include <string.h>
#include <strings.h>

bool media_next(const char **rest, struct media *ret)
{
	*rest += strspn(*rest, ", \t");
	ret->at = *rest;
	ret->len = strcspn(*rest, ",");
	*rest += ret->len;
	return ret->len > 0;
}

bool media_is(struct media m, const char *type)
{
	size_t len = strlen(type);

	return m.len >= len && strncasecmp(m.at, type, len) == 0 &&
		(m.len == len || strchr("; \t", m.at[len]));
}

/* The value of a parameter, empty when there is none. */
static struct media parameter(struct media m, const char *name)
{
	size_t len = strlen(name), at = 0;

	while (at < m.len) {
		size_t n;

		at += strcspn(m.at + at, ";,");
		if (at >= m.len)
			break;
		at++;
		at += strspn(m.at + at, " \t");
		n = strcspn(m.at + at, ";, \t");
		if (n > len && m.at[at + len] == '=' && strncasecmp(m.at + at, name, len) == 0)
			return (struct media){ m.at + at + len + 1, n - len - 1 };
	}
	return (struct media){ m.at, 0 };
}

static bool says(struct media m, const char *name, const char *value)
{
	struct media found = parameter(m, name);

	return found.len == strlen(value) && memcmp(found.at, value, found.len) == 0;
}

bool media_is_as(struct media m, const char *kind, const char *group, const char *version)
{
	return media_is(m, "application/json") && says(m, "as", kind) && says(m, "g", group) &&
		says(m, "v", version);
}

bool media_has_form(struct media m)
{
	return parameter(m, "as").len > 0;
}
