/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which groups, versions and resources there are, out of the tables of resources.h: a document a
 * version, as clients have always asked, or all in one (aggregated discovery), as newer ones do.
 */
#include <string.h>

#include "daemon/api/accept.h"
#include "daemon/api/reply.h"

#define AGGREGATED_GROUP "apidiscovery.k8s.io"
#define AGGREGATED_KIND  "APIGroupDiscoveryList"

static void add_verbs(struct buf *out, unsigned verbs)
{
	const char *separator = "";

	buf_puts(out, "\"verbs\":[");
	for (int i = 0; i < RESOURCE_VERBS_N; i++) {
		if (!(verbs & 1U << i))
			continue;
		buf_printf(out, "%s\"%s\"", separator, resource_verb_name(i));
		separator = ",";
	}
	buf_puts(out, "]");
}

/* What both forms say of a resource in the same words. */
static void add_words(struct buf *out, const struct resource *r)
{
	add_verbs(out, r->verbs);
	if (*r->short_names)
		buf_printf(out, ",\"shortNames\":[%s]", r->short_names);
	if (*r->categories)
		buf_printf(out, ",\"categories\":[%s]", r->categories);
}

static bool is_of(const struct subresource *s, const struct resource *r)
{
	return streq(s->group, r->group) && streq(s->parent, r->plural);
}

/* ---- a document a version -------------------------------------------------------------------- */

static void add_group_version(struct buf *out, const char *group, const char *version)
{
	buf_printf(out, "\"%s%s%s\"", group, *group ? "/" : "", version);
}

static void add_version(struct buf *out, const struct api_group *group, const char *version)
{
	buf_puts(out, "{\"groupVersion\":");
	add_group_version(out, group->name, version);
	buf_printf(out, ",\"version\":\"%s\"}", version);
}

static void add_group(struct buf *out, const struct api_group *group)
{
	buf_printf(out,
		"{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":\"%s\",\"versions\":[",
		group->name);
	for (size_t i = 0; i < GROUP_VERSIONS_MAX && group->versions[i]; i++) {
		buf_puts(out, i ? "," : "");
		add_version(out, group, group->versions[i]);
	}
	buf_puts(out, "],\"preferredVersion\":");
	add_version(out, group, group->versions[0]);
	buf_puts(out, "}");
}

static void add_resource(struct buf *out, const struct resource *r)
{
	buf_printf(out,
		"{\"name\":\"%s\",\"singularName\":\"%s\",\"namespaced\":%s,\"kind\":\"%s\",",
		r->plural, r->singular, r->namespaced ? "true" : "false", r->kind);
	add_words(out, r);
	buf_puts(out, "}");
}

static void add_subresource(struct buf *out, const struct subresource *s)
{
	const struct api_group *group = api_group_find(s->group, strlen(s->group));
	const struct resource *parent = api_resource_find(group, s->parent, strlen(s->parent));
	bool namespaced = !parent || parent->namespaced; /* a machine's own is in another group */

	buf_printf(out,
		"{\"name\":\"%s/%s\",\"singularName\":\"\",\"namespaced\":%s,\"kind\":\"%s\",",
		s->parent, s->name, namespaced ? "true" : "false", s->kind);
	add_verbs(out, s->verbs);
	buf_puts(out, "}");
}

static void add_resources(struct buf *out, const struct api_group *group)
{
	const char *separator = "";

	for (const struct resource *r = api_resources; r->plural; r++) {
		if (!streq(r->group, group->name))
			continue;
		buf_puts(out, separator);
		add_resource(out, r);
		separator = ",";
	}
	for (const struct subresource *s = api_subresources; s->name; s++) {
		if (!streq(s->group, group->name))
			continue;
		buf_puts(out, separator);
		add_subresource(out, s);
		separator = ",";
	}
}

void discovery_resources(const struct call *call)
{
	struct buf text = { 0 };

	buf_puts(&text, "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":");
	add_group_version(&text, call->path.group->name, call->path.version);
	buf_puts(&text, ",\"resources\":[");
	add_resources(&text, call->path.group);
	buf_puts(&text, "]}");
	reply_json(call->api, call->id, 200, text.data, NULL);
}

void discovery_group(const struct call *call)
{
	struct buf text = { 0 };

	add_group(&text, call->path.group);
	reply_json(call->api, call->id, 200, text.data, NULL);
}

/* ---- all in one ------------------------------------------------------------------------------ */

static void add_response_kind(struct buf *out, const char *group, const char *version,
	const char *kind)
{
	buf_printf(out, "\"responseKind\":{\"group\":\"%s\",\"version\":\"%s\",\"kind\":\"%s\"},",
		group, version, kind);
}

static void add_discovered_subresources(struct buf *out, const struct resource *r,
	const char *version)
{
	const char *separator = "";

	buf_puts(out, ",\"subresources\":[");
	for (const struct subresource *s = api_subresources; s->name; s++) {
		if (!is_of(s, r))
			continue;
		buf_printf(out, "%s{\"subresource\":\"%s\",", separator, s->name);
		add_response_kind(out, s->group, version, s->kind);
		add_verbs(out, s->verbs);
		buf_puts(out, "}");
		separator = ",";
	}
	buf_puts(out, "]");
}

static void add_discovered(struct buf *out, const struct resource *r, const char *version)
{
	buf_printf(out, "{\"resource\":\"%s\",", r->plural);
	add_response_kind(out, r->group, version, r->kind);
	buf_printf(out, "\"scope\":\"%s\",\"singularResource\":\"%s\",",
		r->namespaced ? "Namespaced" : "Cluster", r->singular);
	add_words(out, r);
	add_discovered_subresources(out, r, version);
	buf_puts(out, "}");
}

static void add_discovered_version(struct buf *out, const struct api_group *group,
	const char *version)
{
	const char *separator = "";

	buf_printf(out, "{\"version\":\"%s\",\"freshness\":\"Current\",\"resources\":[", version);
	for (const struct resource *r = api_resources; r->plural; r++) {
		if (!streq(r->group, group->name))
			continue;
		buf_puts(out, separator);
		add_discovered(out, r, version);
		separator = ",";
	}
	buf_puts(out, "]}");
}

static void add_discovered_group(struct buf *out, const struct api_group *group)
{
	buf_printf(out, "{\"metadata\":{\"name\":\"%s\",\"creationTimestamp\":null},\"versions\":[",
		group->name);
	for (size_t i = 0; i < GROUP_VERSIONS_MAX && group->versions[i]; i++) {
		buf_puts(out, i ? "," : "");
		add_discovered_version(out, group, group->versions[i]);
	}
	buf_puts(out, "]}");
}

/* The version of the aggregated form that the client takes first, or NULL. */
static const char *aggregated(const struct call *call)
{
	static const char *const versions[] = { "v2", "v2beta1" };
	const char *rest = http_header(call->request, "Accept");
	struct media media;

	while (rest && media_next(&rest, &media)) {
		for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
			if (media_is_as(media, AGGREGATED_KIND, AGGREGATED_GROUP, versions[i]))
				return versions[i];
		if (media_is(media, "application/json") && !media_has_form(media))
			break;
	}
	return NULL;
}

/* The core group alone, or all the others: they have an address each. */
static void reply_aggregated(const struct call *call, const char *version, bool core)
{
	autofree char *type = xasprintf("application/json;g=" AGGREGATED_GROUP
					";v=%s;as=" AGGREGATED_KIND,
		version);
	struct http_head head = { .status = 200,
		.fields = { { "Content-Type", type }, { "Vary", "Accept" } } };
	struct buf text = { 0 };
	const char *separator = "";

	buf_printf(&text,
		"{\"kind\":\"" AGGREGATED_KIND "\",\"apiVersion\":\"" AGGREGATED_GROUP
		"/%s\",\"metadata\":{},"
		"\"items\":[",
		version);
	for (const struct api_group *g = api_groups; g->name; g++) {
		if (core != (*g->name == '\0'))
			continue;
		buf_puts(&text, separator);
		add_discovered_group(&text, g);
		separator = ",";
	}
	buf_puts(&text, "]}");
	http_respond(call->api->http, call->id, &head, text.data, text.len);
}

/* ---- what there is besides ------------------------------------------------------------------- */

static void add_path(struct buf *out, const char *path)
{
	buf_printf(out, "%s\"%s\"", out->data[out->len - 1] == '[' ? "" : ",", path);
}

static void add_group_paths(struct buf *out, const struct api_group *group)
{
	autofree char *whole = xasprintf("/apis/%s", group->name);

	if (*group->name)
		add_path(out, whole);
	for (size_t i = 0; i < GROUP_VERSIONS_MAX && group->versions[i]; i++) {
		autofree char *path =
			xasprintf("%s/%s", *group->name ? whole : "/api", group->versions[i]);

		add_path(out, path);
	}
}

void discovery_paths(const struct call *call)
{
	static const char *const others[] = { "/healthz", "/livez", "/metrics", "/openapi/v2",
		"/openapi/v3", "/readyz", "/version" };
	struct buf text = { 0 };

	buf_puts(&text, "{\"paths\":[");
	add_path(&text, "/api");
	add_path(&text, "/apis");
	for (const struct api_group *g = api_groups; g->name; g++)
		add_group_paths(&text, g);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		add_path(&text, others[i]);
	buf_puts(&text, "]}");
	reply_json(call->api, call->id, 200, text.data, NULL);
}

/* ---- the two addresses that have both forms -------------------------------------------------- */

void discovery_core(const struct call *call)
{
	const char *version = aggregated(call);

	if (version)
		reply_aggregated(call, version, true);
	else
		reply_json(call->api, call->id, 200,
			xstrdup("{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
				"\"serverAddressByClientCIDRs\":[]}"),
			NULL);
}

void discovery_groups(const struct call *call)
{
	const char *version = aggregated(call);
	struct buf text = { 0 };
	const char *separator = "";

	if (version) {
		reply_aggregated(call, version, false);
		return;
	}
	buf_puts(&text, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
	for (const struct api_group *g = api_groups; g->name; g++) {
		if (!*g->name)
			continue;
		buf_puts(&text, separator);
		add_group(&text, g);
		separator = ",";
	}
	buf_puts(&text, "]}");
	reply_json(call->api, call->id, 200, text.data, NULL);
}
