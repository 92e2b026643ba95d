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

static bool take_group(struct piece p, struct route_path *path)
{
	path->group = p.len ? api_group_find(p.at, p.len) : NULL;
	return path->group;
}

static bool take_resource(struct piece p, struct route_path *path, bool namespaced)
{
	const struct resource *r = path->group ? api_resource_find(path->group, p.at, p.len) : NULL;

	if (!r || r->namespaced != namespaced || r->object == KIND_MAX)
		return false;
	path->resource = r;
	path->kind = r->object;
	return true;
}

static bool take_namespaced(struct piece p, struct route_path *path)
{
	return take_resource(p, path, true);
}

static bool take_cluster(struct piece p, struct route_path *path)
{
	return take_resource(p, path, false);
}

/* A machine's subresources lie in a group of their own, which has no objects. */
static bool take_machine(struct piece p, struct route_path *path, enum object_kind kind)
{
	path->resource = api_resource_of(kind);
	path->kind = kind;
	return path->group && streq(path->group->name, SUBRESOURCES_GROUP) &&
		piece_is(p, path->resource->plural);
}

static bool take_vm(struct piece p, struct route_path *path)
{
	return take_machine(p, path, KIND_VM);
}

static bool take_vmi(struct piece p, struct route_path *path)
{
	return take_machine(p, path, KIND_VMI);
}

static bool take_ns(struct piece p, struct route_path *path)
{
	return piece_copy(p, path->ns, sizeof(path->ns));
}

static bool take_name(struct piece p, struct route_path *path)
{
	return piece_copy(p, path->name, sizeof(path->name));
}

/* What is no port is the handler's to refuse, in words. */
static bool take_port(struct piece p, struct route_path *path)
{
	char text[8], *end;
	unsigned long port;

	path->port = 0;
	if (!piece_copy(p, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
		return p.len;
	port = strtoul(text, &end, 10);
	if (!*end && port <= UINT16_MAX)
		path->port = (unsigned)port;
	return true;
}

static bool take_protocol(struct piece p, struct route_path *path)
{
	return piece_copy(p, path->protocol, sizeof(path->protocol));
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

static bool take_look(struct piece p, struct route_path *path)
{
	char text[16];

	return piece_copy(p, text, sizeof(text)) && guest_look_parse(text, &path->look);
}

static bool take_piece(struct piece pattern, struct piece p, struct route_path *path)
{
	static const struct {
		const char *pattern;
		bool (*into)(struct piece p, struct route_path *path);
	} places[] = {
		{ "{group}", take_group },
		{ "{namespaced}", take_namespaced },
		{ "{cluster}", take_cluster },
		{ "{vm}", take_vm },
		{ "{vmi}", take_vmi },
		{ "{ns}", take_ns },
		{ "{name}", take_name },
		{ "{port}", take_port },
		{ "{protocol}", take_protocol },
		{ "{verb}", take_verb },
		{ "{vmiverb}", take_vmi_verb },
		{ "{look}", take_look },
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

/* Takes "/apis/GROUP/VERSION" or "/api/v1" off *path, of any group or of that one alone. */
static bool take_api(const char **path, const char *only, struct route_path *ret)
{
	struct piece p;

	if (!next_piece(path, &p))
		return false;
	if (piece_is(p, "api"))
		ret->group = api_group_find("", 0);
	else if (!piece_is(p, "apis") || !next_piece(path, &p) || !take_group(p, ret))
		return false;
	if (next_piece(path, &p))
		ret->version = api_group_version(ret->group, p.at, p.len);
	return ret->version && (!only || streq(ret->group->name, only));
}

bool route_matches(const char *pattern, const char *path, struct route_path *ret)
{
	struct route_path found = { 0 };
	struct piece want, have;

	while (next_piece(&pattern, &want)) {
		bool sub = piece_is(want, "{subapi}");

		if (sub || piece_is(want, "{api}")) {
			if (!take_api(&path, sub ? SUBRESOURCES_GROUP : NULL, &found))
				return false;
		} else if (!next_piece(&path, &have) || !take_piece(want, have, &found)) {
			return false;
		}
	}
	if (*path && !streq(path, "/"))
		return false;
	*ret = found;
	return true;
}
