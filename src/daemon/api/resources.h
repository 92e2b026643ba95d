/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is served, in tables: groups with their versions, resources with what may be done to them,
 * and the subresources. Routes and discovery both come out of them. Constants only; pure.
 */
#ifndef VMAGENT_DAEMON_API_RESOURCES_H
#define VMAGENT_DAEMON_API_RESOURCES_H

#include <vmagent/model.h>

#define GROUP_VERSIONS_MAX 2
#define SUBRESOURCES_GROUP "subresources.kubevirt.io"

struct api_group {
	const char *name;                         /* "kubevirt.io"; "" is the core group */
	const char *versions[GROUP_VERSIONS_MAX]; /* the preferred one first */
};

/* In the order in which discovery lists them: X(constant, text) */
#define RESOURCE_VERBS(X)                 \
	X(CREATE, "create")               \
	X(DELETE, "delete")               \
	X(DELETE_ALL, "deletecollection") \
	X(GET, "get") X(LIST, "list") X(PATCH, "patch") X(UPDATE, "update") X(WATCH, "watch")

enum resource_verb_number {
#define X(c, text) RESOURCE_NUMBER_##c,
	RESOURCE_VERBS(X)
#undef X
		RESOURCE_VERBS_N
};
enum resource_verb { /* a set of them is an unsigned */
#define X(c, text) RESOURCE_##c = 1 << RESOURCE_NUMBER_##c,
	RESOURCE_VERBS(X)
#undef X
};

#define RESOURCE_READ (RESOURCE_GET | RESOURCE_LIST | RESOURCE_WATCH)
#define RESOURCE_WRITE \
	(RESOURCE_CREATE | RESOURCE_DELETE | RESOURCE_DELETE_ALL | RESOURCE_PATCH | RESOURCE_UPDATE)

struct resource {
	const char *group;
	const char *plural, *singular, *kind;
	const char *short_names; /* in JSON: "\"vm\",\"vms\"", or "" */
	const char *categories;  /* the same */
	bool namespaced;
	unsigned verbs;
	enum object_kind object; /* KIND_MAX: not an object of the store's or synthetic's */
};

struct subresource {
	const char *group, *parent; /* the parent's plural */
	const char *name;
	const char *kind; /* of what is sent or answered, or "" */
	unsigned verbs;
};

extern const struct api_group api_groups[];         /* ends with a NULL name */
extern const struct resource api_resources[];       /* ends with a NULL plural */
extern const struct subresource api_subresources[]; /* ends with a NULL name */

/* NULL when there is none. Texts of len bytes, as they stand in a path. */
const struct api_group *api_group_find(const char *name, size_t len);
const char *api_group_version(const struct api_group *group, const char *version, size_t len);
const struct resource *api_resource_find(const struct api_group *group, const char *plural,
	size_t len);

/* NULL when the resource has none of that name in its own group. */
const struct subresource *api_subresource_of(const struct resource *resource, const char *name);

/* The resource whose objects are of that kind. */
const struct resource *api_resource_of(enum object_kind kind);

/* "create", of one bit. */
const char *resource_verb_name(enum resource_verb_number verb);

#endif
