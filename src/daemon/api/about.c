/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server says about itself: health, version, and which groups, versions and resources there
 * are.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/node.h"
#include "daemon/api/openapi.h"
#include "daemon/api/reply.h"

void about_live(const struct call *call)
{
	reply_text(call->api, call->id, 200, "ok");
}

void about_health(const struct call *call)
{
	struct err why;
	autofree char *text = NULL;

	if (agent_is_healthy(call->api->options.agent, &why)) {
		about_live(call);
		return;
	}
	text = xasprintf("not healthy: %s\n", why.msg);
	reply_text(call->api, call->id, 503, text);
}

/* Kubernetes' version.Info. major and minor are those of the Kubernetes API that this one resembles. */
void about_version(const struct call *call)
{
	struct utsname host = { 0 };
	struct buf text = { 0 };

	uname(&host);
	buf_printf(&text,
		"{\"major\":\"1\",\"minor\":\"32\",\"gitVersion\":\"v1.32.0+vmagent-%s\","
		"\"gitCommit\":\"\",\"gitTreeState\":\"\",\"buildDate\":\"\",\"goVersion\":\"\","
		"\"compiler\":\"gcc\",\"platform\":\"linux/%s\",\"vmagentVersion\":\"%s\"}",
		VMAGENT_VERSION, streq(host.machine, "x86_64") ? "amd64" : host.machine,
		VMAGENT_VERSION);
	reply_json(call->api, call->id, 200, text.data, NULL);
}

/* ---- discovery --------------------------------------------------------------------------- */

static const char *const groups[] = { "kubevirt.io", "subresources.kubevirt.io", "vmagent.io" };

static void add_group(struct buf *out, const char *group)
{
	bool old = !streq(group, "vmagent.io"); /* KubeVirt serves its older version, too */

	buf_printf(out,
		"{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":\"%s\",\"versions\":["
		"{\"groupVersion\":\"%s/v1\",\"version\":\"v1\"}",
		group, group);
	if (old)
		buf_printf(out, ",{\"groupVersion\":\"%s/v1alpha3\",\"version\":\"v1alpha3\"}",
			group);
	buf_printf(out, "],\"preferredVersion\":{\"groupVersion\":\"%s/v1\",\"version\":\"v1\"}}",
		group);
}

void about_core(const struct call *call)
{
	reply_json(call->api, call->id, 200,
		xstrdup("{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
			"\"serverAddressByClientCIDRs\":[]}"),
		NULL);
}

void about_groups(const struct call *call)
{
	struct buf text = { 0 };

	buf_puts(&text, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		buf_puts(&text, i ? "," : "");
		add_group(&text, groups[i]);
	}
	buf_puts(&text, "]}");
	reply_json(call->api, call->id, 200, text.data, NULL);
}

/* The path's third segment: "/apis/GROUP/…". */
static const char *group_in(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (starts_with(path + strlen("/apis/"), groups[i]))
			return groups[i];
	return "";
}

void about_group(const struct call *call)
{
	struct buf text = { 0 };

	add_group(&text, group_in(call->request->path));
	reply_json(call->api, call->id, 200, text.data, NULL);
}

struct resource {
	const char *group, *name, *singular, *kind, *short_names, *verbs;
};

/* clang-format off */
#define READ_VERBS "\"get\",\"list\",\"watch\""
#define ALL_VERBS "\"create\",\"delete\",\"get\",\"list\",\"patch\",\"update\",\"watch\""
static const struct resource resources[] = {
	{ "", "events", "event", "Event", "\"ev\"", READ_VERBS },
	{ "", "pods", "pod", "Pod", "\"po\"", READ_VERBS },
	{ "", "nodes", "node", "Node", "\"no\"", READ_VERBS },
	{ "kubevirt.io", "kubevirts", "kubevirt", "KubeVirt", "\"kv\",\"kvs\"", READ_VERBS },
	{ "kubevirt.io", "virtualmachines", "virtualmachine", "VirtualMachine", "\"vm\",\"vms\"", ALL_VERBS },
	{ "kubevirt.io", "virtualmachineinstances", "virtualmachineinstance", "VirtualMachineInstance",
	  "\"vmi\",\"vmis\"", ALL_VERBS },
	{ "subresources.kubevirt.io", "virtualmachines/start", "", "", "", "\"update\"" },
	{ "subresources.kubevirt.io", "virtualmachines/stop", "", "", "", "\"update\"" },
	{ "subresources.kubevirt.io", "virtualmachines/restart", "", "", "", "\"update\"" },
	{ "subresources.kubevirt.io", "virtualmachineinstances/pause", "", "", "", "\"update\"" },
	{ "subresources.kubevirt.io", "virtualmachineinstances/unpause", "", "", "", "\"update\"" },
	{ "subresources.kubevirt.io", "virtualmachineinstances/softreboot", "", "", "", "\"update\"" },
	{ "subresources.kubevirt.io", "virtualmachineinstances/reset", "", "", "", "\"update\"" },
	{ "subresources.kubevirt.io", "virtualmachineinstances/console", "", "", "", "\"get\"" },
	{ "vmagent.io", "domains", "domain", "Domain", "", "\"get\",\"list\"" },
	{ "vmagent.io", "domains/adopt", "", "DomainAdoption", "", "\"create\"" },
};
/* clang-format on */

static bool is_namespaced(const struct resource *r)
{
	return !streq(r->kind, "Node") && !streq(r->group, "vmagent.io");
}

static void add_resource(struct buf *out, const struct resource *r)
{
	buf_printf(out,
		"{\"name\":\"%s\",\"singularName\":\"%s\",\"namespaced\":%s,\"kind\":\"%s\","
		"\"verbs\":[%s]",
		r->name, r->singular, is_namespaced(r) ? "true" : "false", r->kind, r->verbs);
	if (*r->short_names)
		buf_printf(out, ",\"shortNames\":[%s]", r->short_names);
	buf_puts(out, "}");
}

static void list_resources(const struct call *call, const char *group)
{
	struct buf text = { 0 };
	const char *separator = "";

	buf_printf(&text,
		"{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"%s%s%s\",",
		group, *group ? "/" : "", *call->path.version ? call->path.version : "v1");
	buf_puts(&text, "\"resources\":[");
	for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
		if (!streq(resources[i].group, group))
			continue;
		buf_puts(&text, separator);
		add_resource(&text, &resources[i]);
		separator = ",";
	}
	buf_puts(&text, "]}");
	reply_json(call->api, call->id, 200, text.data, NULL);
}

void about_core_resources(const struct call *call)
{
	list_resources(call, "");
}

void about_resources(const struct call *call)
{
	list_resources(call, group_in(call->request->path));
}

/* ---- OpenAPI ------------------------------------------------------------------------------- */

void about_openapi_index(const struct call *call)
{
	reply_json(call->api, call->id, 200, openapi_v3_index(), NULL);
}

void about_openapi_v3(const struct call *call)
{
	reply_json(call->api, call->id, 200, openapi_v3(call->path.version), NULL);
}

void about_openapi_v2(const struct call *call)
{
	static const struct http_head head = { .status = 200,
		.fields = { { "Content-Type", OPENAPI_V2_TYPE } } };
	struct buf text = { 0 };

	openapi_v2(&text);
	http_respond(call->api->http, call->id, &head, text.data, text.len);
}
