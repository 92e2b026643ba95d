/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths against patterns. It allocates nothing and bounds every segment, because paths come from
 * outside.
 */
#include <string.h>

#include "daemon/api/route.h"

struct piece { /* one segment of a path */
	const char *at;
	size_t len;
};

static bool piece_is(struct piece p, const char *text)
{
	return p.len == strlen(text) && memcmp(p.at, text, p.len) == 0;
}

static bool piece_copy(struct piece p, char *dst, size_t size)
{
	if (p.len == 0 || p.len >= size)
		return false;
	memcpy(dst, p.at, p.len);
	dst[p.len] = '\0';
	return true;
}

static bool take_version(struct piece p, struct route_path *path)
{
	return (piece_is(p, "v1") || piece_is(p, "v1alpha3")) &&
		piece_copy(p, path->version, sizeof(path->version));
}

static bool take_kind(struct piece p, struct route_path *path, const char *group)
{
	for (int kind = 0; kind < KIND_MAX; kind++) {
		if (!piece_is(p, object_kind_plural(kind)) ||
			strncmp(object_kind_api_version(kind), group, strlen(group)) != 0)
			continue;
		path->kind = kind;
		return true;
	}
	return false;
}

static bool take_kubevirt(struct piece p, struct route_path *path)
{
	return take_kind(p, path, "kubevirt.io/");
}

static bool take_machine(struct piece p, struct route_path *path)
{
	return take_kubevirt(p, path) && (path->kind == KIND_VM || path->kind == KIND_VMI);
}

static bool take_core(struct piece p, struct route_path *path)
{
	copy_str(path->version, sizeof(path->version), "v1");
	return take_kind(p, path, "v1");
}

static bool take_cluster(struct piece p, struct route_path *path)
{
	return take_core(p, path) && path->kind == KIND_NODE;
}

static bool take_ns(struct piece p, struct route_path *path)
{
	return piece_copy(p, path->ns, sizeof(path->ns));
}

static bool take_name(struct piece p, struct route_path *path)
{
	return piece_copy(p, path->name, sizeof(path->name));
}

static bool take_verb(struct piece p, struct route_path *path)
{
	char text[16];

	return piece_copy(p, text, sizeof(text)) && verb_parse(text, &path->verb);
}

static bool take_vmi_verb(struct piece p, struct route_path *path)
{
	char text[16];

	return piece_copy(p, text, sizeof(text)) && vmi_verb_parse(text, &path->vmi_verb);
}

static bool take_piece(struct piece pattern, struct piece p, struct route_path *path)
{
	static const struct {
		const char *pattern;
		bool (*into)(struct piece p, struct route_path *path);
	} places[] = {
		{ "{kv}", take_version },
		{ "{machine}", take_machine },
		{ "{kubevirt}", take_kubevirt },
		{ "{core}", take_core },
		{ "{cluster}", take_cluster },
		{ "{ns}", take_ns },
		{ "{name}", take_name },
		{ "{verb}", take_verb },
		{ "{vmiverb}", take_vmi_verb },
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (piece_is(pattern, places[i].pattern))
			return places[i].into(p, path);
	return p.len == pattern.len && memcmp(p.at, pattern.at, p.len) == 0;
}

/* Takes "/segment" off *path; false at its end. */
static bool next_piece(const char **path, struct piece *ret)
{
	if (**path != '/')
		return false;
	ret->at = *path + 1;
	ret->len = strcspn(ret->at, "/");
	*path = ret->at + ret->len;
	return true;
}

bool route_matches(const char *pattern, const char *path, struct route_path *ret)
{
	struct route_path found = { 0 };
	struct piece want, have;

	while (next_piece(&pattern, &want))
		if (!next_piece(&path, &have) || !take_piece(want, have, &found))
			return false;
	if (*path && !streq(path, "/"))
		return false;
	*ret = found;
	return true;
}
