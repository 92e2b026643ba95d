/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API's life, its table of routes, and the way from a request to its handler.
 */
#include "daemon/api/reply.h"

/* clang-format off */
#define KUBEVIRT     "/apis/kubevirt.io/{kv}"
#define HOST_SHUTDOWN "/apis/vmagent.io/v1/hostshutdown"
#define SUBRESOURCES "/apis/subresources.kubevirt.io/{kv}"
#define VMAGENT      "/apis/vmagent.io/v1"

static const struct route {
	const char *method, *pattern;
	call_fn *handle;
} routes[] = {
	{ "GET",    "/healthz",						about_health },
	{ "GET",    "/readyz",						about_health },
	{ "GET",    "/livez",						about_live },
	{ "GET",    "/version",						about_version },

	{ "GET",    "/openapi/v2",					about_openapi_v2 },
	{ "GET",    "/openapi/v3",					about_openapi_index },
	{ "GET",    "/openapi/v3/apis/kubevirt.io/{kv}",		about_openapi_v3 },

	{ "GET",    "/api",						about_core },
	{ "GET",    "/api/v1",						about_core_resources },
	{ "GET",    "/apis",						about_groups },
	{ "GET",    "/apis/kubevirt.io",				about_group },
	{ "GET",    "/apis/subresources.kubevirt.io",			about_group },
	{ "GET",    KUBEVIRT,						about_resources },
	{ "GET",    SUBRESOURCES,					about_resources },
	{ "GET",    "/apis/vmagent.io",					about_group },
	{ "GET",    VMAGENT,						about_resources },

	{ "GET",    KUBEVIRT "/{kubevirt}",				object_list },
	{ "GET",    KUBEVIRT "/namespaces/{ns}/{kubevirt}",		object_list },
	{ "POST",   KUBEVIRT "/namespaces/{ns}/{machine}",		object_create },
	{ "GET",    KUBEVIRT "/namespaces/{ns}/{kubevirt}/{name}",	object_get },
	{ "PUT",    KUBEVIRT "/namespaces/{ns}/{machine}/{name}",	object_replace },
	{ "PATCH",  KUBEVIRT "/namespaces/{ns}/{machine}/{name}",	object_patch },
	{ "DELETE", KUBEVIRT "/namespaces/{ns}/{machine}/{name}",	object_delete },

	{ "PUT",    SUBRESOURCES "/namespaces/{ns}/virtualmachines/{name}/{verb}",		lifecycle_verb },
	{ "PUT",    SUBRESOURCES "/namespaces/{ns}/virtualmachineinstances/{name}/{vmiverb}",	lifecycle_vmi_verb },
	{ "GET",    SUBRESOURCES "/namespaces/{ns}/virtualmachineinstances/{name}/console",	console_open },

	{ "GET",    VMAGENT "/domains",					domain_get },
	{ "GET",    VMAGENT "/domains/{name}",				domain_get },
	{ "POST",   VMAGENT "/domains/{name}/adopt",			domain_adopt },

	{ "GET",    HOST_SHUTDOWN,					hostdown_get },
	{ "POST",   HOST_SHUTDOWN,					hostdown_begin },
	{ "DELETE", HOST_SHUTDOWN,					hostdown_cancel },

	{ "GET",    "/api/v1/{core}",					object_list },
	{ "GET",    "/api/v1/{cluster}/{name}",				object_get },
	{ "GET",    "/api/v1/namespaces/{ns}/{core}",			object_list },
	{ "GET",    "/api/v1/namespaces/{ns}/{core}/{name}",		object_get },
};
/* clang-format on */

/* Nobody serves it: the path is unknown, or only the method is. */
static void refuse(struct call *call, bool known)
{
	if (known)
		reply_refuse(call, ERR_METHOD,
			"the server does not allow method %s on the requested resource",
			call->request->method);
	else
		reply_refuse(call, ERR_NOT_FOUND,
			"the server could not find the requested resource");
}

static void on_request(void *ctx, uint64_t id, const struct http_request *request)
{
	struct api *api = ctx;
	struct call call = { .api = api, .id = id, .request = request };
	bool known = false;

	if (request->refuse != ERR_OK) {
		reply_refuse(&call, request->refuse, "the body is larger than %d bytes",
			HTTP_BODY_MAX);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (!route_matches(routes[i].pattern, request->path, &call.path))
			continue;
		known = true;
		if (!streq(routes[i].method, request->method))
			continue;
		routes[i].handle(&call);
		return;
	}
	refuse(&call, known);
}

static void on_fill(void *ctx, uint64_t id)
{
	struct api *api = ctx;
	struct session *s = http_attached(api->http, id);

	if (s)
		s->fill(s);
}

static void on_upgraded(void *ctx, uint64_t id, int fd, const void *extra, size_t len)
{
	struct api *api = ctx;
	struct session *s = http_attached(api->http, id);

	if (s)
		s->upgraded(s, fd, extra, len);
	else
		http_upgrade_close(api->http, id);
}

static void on_gone(void *ctx, uint64_t id)
{
	struct api *api = ctx;
	struct session *s = http_attached(api->http, id);

	if (s)
		s->gone(s);
}

static void on_commit(void *ctx, int64_t rv)
{
	(void)rv;
	watches_wake(ctx);
}

static void free_api(uv_handle_t *timer)
{
	free(timer->data);
}

int api_new(const struct api_options *options, struct api **ret_api, struct err *err)
{
	struct api *api = xcalloc(1, sizeof(*api));
	struct http_handler handler = { api, on_request, on_fill, on_upgraded, on_gone };
	int rc;

	api->options = *options;
	api->started = options->clock().wall;
	if (!api->options.bookmark_ms)
		api->options.bookmark_ms = API_BOOKMARK_MS;
	rc = http_new(options->loop, &options->limits, &handler, &api->http, err);
	if (rc) {
		free(api);
		return rc;
	}
	api->timer.data = api;
	uv_timer_init(options->loop, &api->timer);
	rc = http_listen(api->http, options->socket_path, err);
	if (rc) {
		api_free(api);
		return rc;
	}
	agent_on_commit(options->agent, on_commit, api);
	*ret_api = api;
	return 0;
}

void api_free(struct api *api)
{
	if (!api)
		return;
	api->closing = true;
	agent_on_commit(api->options.agent, NULL, NULL);
	consoles_close(api);
	http_free(api->http);
	pendings_drop(api);
	uv_close((uv_handle_t *)&api->timer, free_api);
}
