/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version 3, a document for each version of each group. Of resources only single objects have a
 * path in it: that is where clients look. The schemas of machines come out of the table that
 * manifests are checked by.
 */
#include <string.h>

#include "core/schema_json.h"
#include "daemon/api/openapi_private.h"

static const char *const no_parameters[] = { NULL };
static const char *const write_parameters[] = { "dryRun", "fieldManager", "fieldValidation", NULL };
static const char *const delete_parameters[] = { "dryRun", "gracePeriodSeconds",
	"propagationPolicy", NULL };

const struct openapi_verb openapi_verbs[] = {
	{ "get", "get", no_parameters, 2, RESOURCE_GET },
	{ "put", "put", write_parameters, 3, RESOURCE_UPDATE },
	{ "post", "post", write_parameters, 4, RESOURCE_CREATE },
	{ "delete", "delete", delete_parameters, 5, RESOURCE_DELETE },
	{ "patch", "patch", write_parameters, 8, RESOURCE_PATCH },
	{ 0 },
};

const struct resource *openapi_next(const struct api_group *group, const struct resource *r)
{
	for (r = r ? r + 1 : api_resources; r->plural; r++)
		if (streq(r->group, group->name) && r->object != KIND_MAX)
			return r;
	return NULL;
}

static char *api_path(const char *group, const char *version)
{
	return *group ? xasprintf("apis/%s/%s", group, version) : xasprintf("api/%s", version);
}

char *openapi_path(const struct resource *r, const char *version)
{
	autofree char *api = api_path(r->group, version);

	return xasprintf("/%s/%s%s/{name}", api, r->namespaced ? "namespaces/{namespace}/" : "",
		r->plural);
}

/* A group's name back to front, as in Kubernetes and KubeVirt: io.kubevirt, io.k8s.events. */
static void add_reversed(struct buf *out, const char *group)
{
	const char *dot = strchr(group, '.');

	if (dot)
		add_reversed(out, dot + 1);
	buf_printf(out, "%s%.*s", dot ? "." : "", (int)strcspn(group, "."), group);
}

char *openapi_schema_name(const struct resource *r, const char *version)
{
	struct buf out = { 0 };

	add_reversed(&out, *r->group ? r->group : "core.api.k8s.io");
	buf_printf(&out, ".%s.%s", version, r->kind);
	return out.data;
}

static struct node *map_new(void)
{
	return node_new(NODE_MAP, NULL);
}

static void set_text(struct node *map, const char *key, const char *text)
{
	node_set(map, key, node_new(NODE_STRING, text));
}

static struct node *gvk(const struct resource *r, const char *version)
{
	struct node *map = map_new();

	set_text(map, "group", r->group);
	set_text(map, "version", version);
	set_text(map, "kind", r->kind);
	return map;
}

static struct node *parameter(const char *name, const char *in)
{
	struct node *map = map_new();

	set_text(map, "name", name);
	set_text(map, "in", in);
	if (streq(in, "path"))
		node_set(map, "required", node_new(NODE_BOOL, "true"));
	node_set_path(map, "schema.type", node_new(NODE_STRING, "string"));
	return map;
}

static struct node *operation(const struct openapi_verb *verb)
{
	struct node *map = map_new(), *list = node_new(NODE_LIST, NULL);

	for (size_t i = 0; verb->parameters[i]; i++)
		node_append(list, parameter(verb->parameters[i], "query"));
	node_set(map, "parameters", list);
	node_set_path(map, "responses.200.description", node_new(NODE_STRING, "OK"));
	set_text(map, "x-kubernetes-action", verb->action);
	return map;
}

static void add_place(struct node *item, bool namespaced)
{
	struct node *list = node_new(NODE_LIST, NULL);

	if (namespaced)
		node_append(list, parameter("namespace", "path"));
	node_append(list, parameter("name", "path"));
	node_set(item, "parameters", list);
}

/* ---- resources ------------------------------------------------------------------------------- */

static struct node *path_item(const struct resource *r, const char *version)
{
	struct node *map = map_new(), *one;

	for (const struct openapi_verb *verb = openapi_verbs; verb->name; verb++) {
		if (!(r->verbs & verb->verb) || verb->verb == RESOURCE_CREATE)
			continue;
		one = operation(verb);
		node_set(one, "x-kubernetes-group-version-kind", gvk(r, version));
		node_set(map, verb->name, one);
	}
	add_place(map, r->namespaced);
	return map;
}

static struct node *kind_schema(const struct resource *r, const char *version)
{
	struct node *schema = schema_json(r->object), *list = node_new(NODE_LIST, NULL);

	node_append(list, gvk(r, version));
	node_set(schema, "x-kubernetes-group-version-kind", list);
	return schema;
}

static void add_resources(struct node *paths, struct node *schemas, const struct api_group *group,
	const char *version)
{
	const struct resource *r = NULL;

	while ((r = openapi_next(group, r))) {
		autofree char *path = openapi_path(r, version);
		autofree char *name = openapi_schema_name(r, version);

		node_set(paths, path, path_item(r, version));
		node_set(schemas, name, kind_schema(r, version));
	}
}

/* ---- subresources ---------------------------------------------------------------------------- */

static void add_subresource(struct node *paths, const struct subresource *s, const char *version)
{
	bool namespaced = streq(s->group, SUBRESOURCES_GROUP);
	autofree char *path = xasprintf("/apis/%s/%s/%s%s/{name}/%s", s->group, version,
		namespaced ? "namespaces/{namespace}/" : "", s->parent, s->name);
	struct node *item = map_new();

	for (const struct openapi_verb *verb = openapi_verbs; verb->name; verb++)
		if (s->verbs & verb->verb)
			node_set(item, verb->name, operation(verb));
	add_place(item, namespaced);
	node_set(paths, path, item);
}

/* Those that lie in a group without objects, or are verbs of what is not an object. */
static bool is_verb_of(const struct subresource *s, const struct api_group *group)
{
	return streq(s->group, group->name) && !streq(s->name, "status");
}

/* ---- documents ------------------------------------------------------------------------------- */

static char *text_of(struct node *root)
{
	char *json = node_json(root);

	node_free(root);
	return json;
}

char *openapi_v3(const struct api_group *group, const char *version)
{
	struct node *root = map_new(), *paths = map_new(), *schemas = map_new();

	set_text(root, "openapi", "3.0.0");
	node_set_path(root, "info.title", node_new(NODE_STRING, "vmagent"));
	node_set_path(root, "info.version", node_new(NODE_STRING, VMAGENT_VERSION));
	add_resources(paths, schemas, group, version);
	for (const struct subresource *s = api_subresources; s->name; s++)
		if (is_verb_of(s, group))
			add_subresource(paths, s, version);
	node_set(root, "paths", paths);
	node_set_path(root, "components.schemas", schemas);
	return text_of(root);
}

static void add_document(struct node *paths, const char *group, const char *version)
{
	autofree char *name = api_path(group, version);
	autofree char *url = xasprintf("/openapi/v3/%s?hash=%s", name, VMAGENT_VERSION);
	struct node *entry = map_new();

	set_text(entry, "serverRelativeURL", url);
	node_set(paths, name, entry);
}

char *openapi_v3_index(void)
{
	struct node *root = map_new(), *paths = map_new();

	for (const struct api_group *g = api_groups; g->name; g++)
		for (size_t i = 0; i < GROUP_VERSIONS_MAX && g->versions[i]; i++)
			add_document(paths, g->name, g->versions[i]);
	node_set(root, "paths", paths);
	return text_of(root);
}
