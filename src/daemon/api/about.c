/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server says about itself: health, version, and the schemas of its objects.
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

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

void about_metrics(const struct call *call)
{
	static const struct http_head head = { .status = 200,
		.fields = { { "Content-Type", METRICS_TYPE } } };
	char *text = agent_metrics(call->api->options.agent, call->api->options.clock());

	http_respond(call->api->http, call->id, &head, text, strlen(text));
}

#define KUBERNETES_MINOR 32
#define KUBEVIRT_MINOR   9

/* version.Info with the version of the API that this one resembles: Kubernetes', or in the group of
 * subresources KubeVirt's. virtctl warns of a server whose major and minor are not its own. */
void about_version(const struct call *call)
{
	int minor = call->path.group ? KUBEVIRT_MINOR : KUBERNETES_MINOR;
	struct utsname host = { 0 };
	struct buf text = { 0 };

	uname(&host);
	buf_printf(&text,
		"{\"major\":\"1\",\"minor\":\"%d\",\"gitVersion\":\"v1.%d.0+vmagent-%s\","
		"\"gitCommit\":\"\",\"gitTreeState\":\"\",\"buildDate\":\"\",\"goVersion\":\"\","
		"\"compiler\":\"gcc\",\"platform\":\"linux/%s\",\"vmagentVersion\":\"%s\"}",
		minor, minor, VMAGENT_VERSION,
		streq(host.machine, "x86_64") ? "amd64" : host.machine, VMAGENT_VERSION);
	reply_json(call->api, call->id, 200, text.data, NULL);
}

/* ---- OpenAPI --------------------------------------------------------------------------------- */

void about_openapi_index(const struct call *call)
{
	reply_json(call->api, call->id, 200, openapi_v3_index(), NULL);
}

void about_openapi_v3(const struct call *call)
{
	reply_json(call->api, call->id, 200, openapi_v3(call->path.group, call->path.version),
		NULL);
}

void about_openapi_v2(const struct call *call)
{
	static const struct http_head head = { .status = 200,
		.fields = { { "Content-Type", OPENAPI_V2_TYPE } } };
	struct buf text = { 0 };

	openapi_v2(&text);
	http_respond(call->api->http, call->id, &head, text.data, text.len);
}
