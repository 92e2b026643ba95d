/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of image references (the OCI distribution specification's and Docker's), and which
 * local file stands for one.
 */
#include "core/image_ref.h"

#include <fnmatch.h>
#include <string.h>

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define ALNUM  LOWER UPPER DIGITS
#define HEX    DIGITS "abcdefABCDEF"

#define NAME_LEN_MAX   255
#define TAG_LEN_MAX    128
#define DIGEST_LEN_MIN 32

void image_rules_done(struct image_map *map)
{
	while (map->n_rules) {
		struct image_rule *rule = &map->rules[--map->n_rules];

		free(take(&rule->match));
		free(take(&rule->path));
	}
}

/* ---- the grammar ----------------------------------------------------------------------------- */

/* NAME[:TAG][@DIGEST], cut into its parts: a tag's colon stands after the last slash. */
struct parts {
	size_t name;     /* how long it is */
	const char *tag; /* NULL: none */
	size_t n_tag;
	const char *digest; /* NULL: none */
};

static struct parts parts_of(const char *ref)
{
	const char *at = strchrnul(ref, '@'), *slash = ref, *colon;
	struct parts p = { .digest = *at ? at + 1 : NULL };

	for (const char *c = ref; c < at; c++)
		if (*c == '/')
			slash = c;
	colon = memchr(slash, ':', (size_t)(at - slash));
	if (colon) {
		p.tag = colon + 1;
		p.n_tag = (size_t)(at - p.tag);
	}
	p.name = (size_t)((colon ? colon : at) - ref);
	return p;
}

static bool is_of(const char *s, size_t len, const char *allowed)
{
	return strspn(s, allowed) >= len;
}

/* What may stand between two runs of letters and digits: one of ".", "_", "__" or
 * any number of dashes. */
static size_t separator(const char *s)
{
	if (*s == '-')
		return strspn(s, "-");
	if (strncmp(s, "__", 2) == 0)
		return 2;
	return *s == '.' || *s == '_';
}

static bool is_component(const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		size_t run = strspn(s, LOWER DIGITS);

		if (!run)
			return false;
		s += run;
		if (s >= end)
			return s == end;
		run = separator(s);
		if (!run)
			return false;
		s += run;
	}
	return false;
}

static bool is_port(const char *s, size_t len)
{
	return len && len <= 5 && is_of(s, len, DIGITS);
}

static bool is_host_name(const char *s, size_t len)
{
	bool edge = true; /* of a part: neither a dash nor another dot may stand there */

	for (size_t i = 0; i < len; i++) {
		bool dot = s[i] == '.', dash = s[i] == '-';

		if (!dot && !dash && !strchr(ALNUM, s[i]))
			return false;
		if (edge ? dot || dash : dot && s[i - 1] == '-')
			return false;
		edge = dot;
	}
	return len && !edge && s[len - 1] != '-';
}

static bool is_host(const char *s, size_t len)
{
	const char *bracket = *s == '[' ? memchr(s, ']', len) : NULL;
	const char *colon =
		memchr(bracket ? bracket : s, ':', len - (size_t)(bracket ? bracket - s : 0));
	size_t host = colon ? (size_t)(colon - s) : len;

	if (colon && !is_port(colon + 1, len - host - 1))
		return false;
	if (bracket)
		return bracket == s + host - 1 && host > 2 && is_of(s + 1, host - 2, HEX ":");
	return is_host_name(s, host);
}

static bool is_name(const char *s, size_t len)
{
	const char *end = s + len;
	bool first = true;

	if (!len || len > NAME_LEN_MAX)
		return false;
	while (true) {
		const char *slash = memchr(s, '/', (size_t)(end - s));
		size_t part = (size_t)((slash ? slash : end) - s);

		if (!is_component(s, part) && !(first && slash && part && is_host(s, part)))
			return false;
		if (!slash)
			return true;
		s = slash + 1;
		first = false;
	}
}

static bool is_tag(const char *s, size_t len)
{
	return len && len <= TAG_LEN_MAX && is_of(s, len, ALNUM "_.-") && *s != '.' && *s != '-';
}

static bool is_digest(const char *s)
{
	const char *colon = strchr(s, ':');
	size_t algorithm = colon ? (size_t)(colon - s) : 0;

	return algorithm && is_of(s, algorithm, ALNUM "+.-_") && strchr(ALNUM, *s) &&
		strlen(colon + 1) >= DIGEST_LEN_MIN && is_of(colon + 1, strlen(colon + 1), HEX);
}

bool is_image_ref(const char *text)
{
	struct parts p;

	if (strlen(text) > IMAGE_REF_LEN_MAX)
		return false;
	p = parts_of(text);
	return is_name(text, p.name) && (!p.tag || is_tag(p.tag, p.n_tag)) &&
		(!p.digest || is_digest(p.digest));
}

/* ---- what stands for it ---------------------------------------------------------------------- */

const struct image_rule *image_rule_of(const struct image_map *map, const char *ref)
{
	for (size_t i = 0; i < map->n_rules; i++)
		if (streq(map->rules[i].match, ref) || fnmatch(map->rules[i].match, ref, 0) == 0)
			return &map->rules[i];
	return NULL;
}

static const char *const endings[] = { "", ".qcow2", ".img", ".raw" };
#define ENDINGS ARRAY_SIZE(endings)

static size_t add_names(char **names, size_t n, const char *stem, size_t len)
{
	for (size_t i = 0; i < ENDINGS; i++)
		names[n++] = xasprintf("%.*s%s", (int)len, stem, endings[i]);
	return n;
}

size_t image_files_of(const char *ref, char *ret_names[IMAGE_FILES_MAX])
{
	struct parts p = parts_of(ref);
	const char *last = ref;
	size_t n = 0;

	for (const char *c = ref; c < ref + p.name; c++)
		if (*c == '/')
			last = c + 1;
	if (p.tag)
		n = add_names(ret_names, n, last, (size_t)(p.tag + p.n_tag - last));
	return add_names(ret_names, n, last, (size_t)(ref + p.name - last));
}

/* "'cirros:1.0' or 'cirros'"; owned. */
static char *names_text(const char *ref)
{
	char *names[IMAGE_FILES_MAX];
	size_t n = image_files_of(ref, names);
	char *text = n > ENDINGS ? xasprintf("'%s' or '%s'", names[0], names[ENDINGS])
				 : xasprintf("'%s'", names[0]);

	for (size_t i = 0; i < n; i++)
		free(names[i]);
	return text;
}

char *image_missing_text(const struct image_map *map, const char *ref)
{
	const struct image_rule *rule = image_rule_of(map, ref);
	autofree char *names = rule ? NULL : names_text(ref);

	if (rule)
		return xasprintf("by the configuration's images (match: '%s') it is '%s', which is not there: "
				 "put it there, or correct the configuration",
			rule->match, rule->path);
	return xasprintf(
		"no rule of the configuration's images matches it, and the folder '%s' has no "
		"file %s (or with .qcow2, .img, .raw): put the image there, or add a rule; nothing is "
		"pulled from registries in this version",
		map->directory, names);
}
