/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version 3. Only single objects have a path in it: that is where clients look. The schemas come out of the
 * table that manifests are checked by.
 */
#include "core/schema_json.h"
#include "daemon/api/openapi_private.h"

const char *const openapi_versions[] = { "v1", "v1alpha3", NULL };
const enum object_kind openapi_kinds[] = { KIND_VM, KIND_VMI, KIND_MAX };

static const char *const no_parameters[] = { NULL };
static const char *const write_parameters[] = { "dryRun", "fieldManager", "fieldValidation", NULL };
static const char *const delete_parameters[] = { "dryRun", "gracePeriodSeconds",
	"propagationPolicy", NULL };

const struct openapi_verb openapi_verbs[] = {
	{ "get", "get", no_parameters, 2 },
	{ "put", "put", write_parameters, 3 },
	{ "delete", "delete", delete_parameters, 5 },
	{ "patch", "patch", write_parameters, 8 },
	{ 0 },
};

char *openapi_path(enum object_kind kind, const char *version)
{
	return xasprintf("/apis/kubevirt.io/%s/namespaces/{namespace}/%s/{name}", version,
		object_kind_plural(kind));
}

char *openapi_schema_name(enum object_kind kind, const char *version)
{
	return xasprintf("io.kubevirt.%s.%s", version, object_kind_name(kind));
}

static struct node *map_new(void)
{
	return node_new(NODE_MAP, NULL);
}

static void set_text(struct node *map, const char *key, const char *text)
{
	node_set(map, key, node_new(NODE_STRING, text));
}

static struct node *gvk(enum object_kind kind, const char *version)
{
	struct node *map = map_new();

	set_text(map, "group", "kubevirt.io");
	set_text(map, "version", version);
	set_text(map, "kind", object_kind_name(kind));
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

static struct node *operation(const struct openapi_verb *verb, enum object_kind kind,
	const char *version)
{
	struct node *map = map_new(), *list = node_new(NODE_LIST, NULL);

	for (size_t i = 0; verb->parameters[i]; i++)
		node_append(list, parameter(verb->parameters[i], "query"));
	node_set(map, "parameters", list);
	node_set_path(map, "responses.200.description", node_new(NODE_STRING, "OK"));
	set_text(map, "x-kubernetes-action", verb->action);
	node_set(map, "x-kubernetes-group-version-kind", gvk(kind, version));
	return map;
}

static struct node *path_item(enum object_kind kind, const char *version)
{
	struct node *map = map_new(), *list = node_new(NODE_LIST, NULL);

	for (const struct openapi_verb *verb = openapi_verbs; verb->name; verb++)
		node_set(map, verb->name, operation(verb, kind, version));
	node_append(list, parameter("namespace", "path"));
	node_append(list, parameter("name", "path"));
	node_set(map, "parameters", list);
	return map;
}

static struct node *kind_schema(enum object_kind kind, const char *version)
{
	struct node *schema = schema_json(kind), *list = node_new(NODE_LIST, NULL);

	node_append(list, gvk(kind, version));
	node_set(schema, "x-kubernetes-group-version-kind", list);
	return schema;
}

char *openapi_v3(const char *version)
{
	struct node *root = map_new(), *paths = map_new(), *schemas = map_new();
	char *json;

	set_text(root, "openapi", "3.0.0");
	node_set_path(root, "info.title", node_new(NODE_STRING, "vmagent"));
	node_set_path(root, "info.version", node_new(NODE_STRING, VMAGENT_VERSION));
	for (size_t i = 0; openapi_kinds[i] != KIND_MAX; i++) {
		autofree char *path = openapi_path(openapi_kinds[i], version);
		autofree char *name = openapi_schema_name(openapi_kinds[i], version);

		node_set(paths, path, path_item(openapi_kinds[i], version));
		node_set(schemas, name, kind_schema(openapi_kinds[i], version));
	}
	node_set(root, "paths", paths);
	node_set_path(root, "components.schemas", schemas);
	json = node_json(root);
	node_free(root);
	return json;
}

char *openapi_v3_index(void)
{
	struct node *root = map_new(), *paths = map_new();
	char *json;

	for (size_t i = 0; openapi_versions[i]; i++) {
		autofree char *name = xasprintf("apis/kubevirt.io/%s", openapi_versions[i]);
		autofree char *url = xasprintf("/openapi/v3/%s?hash=%s", name, VMAGENT_VERSION);
		struct node *entry = map_new();

		set_text(entry, "serverRelativeURL", url);
		node_set(paths, name, entry);
	}
	node_set(root, "paths", paths);
	json = node_json(root);
	node_free(root);
	return json;
}
