/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API's life, its table of routes, and the way from a request to its handler.
 */
#include "daemon/api/gate.h"
#include "daemon/api/refusal.h"
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"
#include "daemon/api/synthetic.h"

#define SOCKET_GROUP "vmagent" /* its members may do everything */

/* clang-format off */
#define VM      "/{api}/namespaces/{ns}/{vm}/{name}"
#define VMI     "/{api}/namespaces/{ns}/{vmi}/{name}"
#define VMAGENT "/apis/vmagent.io/v1"
#define HOST_SHUTDOWN VMAGENT "/hostshutdown"

static const struct route {
	const char *method, *pattern;
	call_fn *handle;
	unsigned verb; /* that the resource must allow; 0: any */
} routes[] = {
	{ "GET",    "/healthz",					about_health, 0 },
	{ "GET",    "/readyz",					about_health, 0 },
	{ "GET",    "/livez",					about_live, 0 },
	{ "GET",    "/version",					about_version, 0 },
	{ "GET",    "/metrics",					about_metrics, 0 },
	{ "GET",    "/{subapi}/healthz",			about_health, 0 },
	{ "GET",    "/{subapi}/version",			about_version, 0 },

	{ "GET",    "/openapi/v2",				about_openapi_v2, 0 },
	{ "GET",    "/openapi/v3",				about_openapi_index, 0 },
	{ "GET",    "/openapi/v3/{api}",				about_openapi_v3, 0 },

	{ "GET",    "/",					discovery_paths, 0 },
	{ "GET",    "/api",					discovery_core, 0 },
	{ "GET",    "/apis",					discovery_groups, 0 },
	{ "GET",    "/apis/{group}",				discovery_group, 0 },
	{ "GET",    "/{api}",					discovery_resources, 0 },

	{ "PUT",    VM "/{verb}",				lifecycle_verb, 0 },
	{ "PUT",    VM "/migrate",				lifecycle_migrate, 0 },
	{ "PUT",    VMI "/{vmiverb}",				lifecycle_vmi_verb, 0 },
	{ "GET",    VMI "/{look}",				guest_look_get, 0 },
	{ "GET",    VMI "/console",				console_open, 0 },
	{ "GET",    VMI "/vnc",					vnc_open, 0 },
	{ "GET",    VMI "/vnc/screenshot",			screenshot_get, 0 },
	{ "GET",    VMI "/portforward/{port}",			portforward_open, 0 },
	{ "GET",    VMI "/portforward/{port}/{protocol}",	portforward_open, 0 },
	{ "GET",    VM "/portforward/{port}",			portforward_open, 0 },
	{ "GET",    VM "/portforward/{port}/{protocol}",	portforward_open, 0 },
	{ "GET",    VM "/expand-spec",				expand_stored, 0 },
	{ "PUT",    "/{subapi}/namespaces/{ns}/expand-vm-spec",	expand_sent, 0 },

	{ "GET",    VMAGENT "/domains",				domain_get, 0 },
	{ "GET",    VMAGENT "/domains/{name}",			domain_get, 0 },
	{ "POST",   VMAGENT "/domains/{name}/adopt",		domain_adopt, 0 },

	{ "GET",    VMAGENT "/peers",				peer_get, 0 },
	{ "GET",    VMAGENT "/peers/{name}",			peer_get, 0 },
	{ "POST",   VMAGENT "/peers/{name}/declaredead",	peer_declare_dead, 0 },
	{ "POST",   VMAGENT "/database/accept",			database_accept, 0 },

	{ "GET",    HOST_SHUTDOWN,				hostdown_get, 0 },
	{ "POST",   HOST_SHUTDOWN,				hostdown_begin, 0 },
	{ "DELETE", HOST_SHUTDOWN,				hostdown_cancel, 0 },

	{ "GET",    "/{api}/{namespaced}",			object_list, RESOURCE_LIST },
	{ "GET",    "/{api}/{cluster}",				object_list, RESOURCE_LIST },
	{ "POST",   "/{api}/{cluster}",				object_create, RESOURCE_CREATE },
	{ "DELETE", "/{api}/{cluster}",				object_delete_all, RESOURCE_DELETE_ALL },
	{ "GET",    "/{api}/{cluster}/{name}",			object_get, RESOURCE_GET },
	{ "PUT",    "/{api}/{cluster}/{name}",			object_replace, RESOURCE_UPDATE },
	{ "PATCH",  "/{api}/{cluster}/{name}",			object_patch, RESOURCE_PATCH },
	{ "DELETE", "/{api}/{cluster}/{name}",			object_delete, RESOURCE_DELETE },

	{ "GET",    "/{api}/namespaces/{ns}/{namespaced}",	object_list, RESOURCE_LIST },
	{ "POST",   "/{api}/namespaces/{ns}/{namespaced}",	object_create, RESOURCE_CREATE },
	{ "DELETE", "/{api}/namespaces/{ns}/{namespaced}",	object_delete_all, RESOURCE_DELETE_ALL },
	{ "GET",    "/{api}/namespaces/{ns}/{namespaced}/{name}", object_get, RESOURCE_GET },
	{ "PUT",    "/{api}/namespaces/{ns}/{namespaced}/{name}", object_replace, RESOURCE_UPDATE },
	{ "PATCH",  "/{api}/namespaces/{ns}/{namespaced}/{name}", object_patch, RESOURCE_PATCH },
	{ "DELETE", "/{api}/namespaces/{ns}/{namespaced}/{name}", object_delete, RESOURCE_DELETE },

	{ "GET",    "/{api}/namespaces/{ns}/{namespaced}/{name}/status", status_get, RESOURCE_GET },
	{ "PUT",    "/{api}/namespaces/{ns}/{namespaced}/{name}/status", status_refuse, 0 },
	{ "PATCH",  "/{api}/namespaces/{ns}/{namespaced}/{name}/status", status_refuse, 0 },

	{ "GET",    "/{api}/watch/{namespaced}",		watch_open, RESOURCE_WATCH },
	{ "GET",    "/{api}/watch/{cluster}",			watch_open, RESOURCE_WATCH },
	{ "GET",    "/{api}/watch/{cluster}/{name}",		watch_open, RESOURCE_WATCH },
	{ "GET",    "/{api}/watch/namespaces/{ns}/{namespaced}", watch_open, RESOURCE_WATCH },
	{ "GET",    "/{api}/watch/namespaces/{ns}/{namespaced}/{name}", watch_open, RESOURCE_WATCH },
};
/* clang-format on */

static void refuse_method(struct call *call)
{
	const char *why = call->path.resource ? refusal_of_writes(call->path.kind) : NULL;

	reply_refuse(call, ERR_METHOD,
		"the server does not allow method %s on the requested resource%s%s",
		call->request->method, why ? ": " : "", why ? why : "");
}

static int count_row(void *ctx, const struct object_row *row)
{
	(void)row;
	++*(unsigned *)ctx;
	return 0;
}

/* A machine that is not there cannot do anything at all. */
static bool names_nobody(const struct call *call)
{
	struct selection selection = { .path = call->path };
	unsigned n = 0;
	struct err err;

	return call->path.resource && call->path.name[0] &&
		selection_each(call->api, &selection, count_row, &n, &err) == 0 && n == 0;
}

/* Nobody serves it: the path is unknown, or only the method is. */
static void refuse(struct call *call, bool known)
{
	struct err err;

	if (!known && refusal_of(call->request->path, &call->path, &err)) {
		if (err.code == ERR_NOT_BUILT && names_nobody(call))
			reply_not_found(call);
		else
			reply_error(call, &err);
	} else if (known) {
		refuse_method(call);
	} else {
		reply_refuse(call, ERR_NOT_FOUND,
			"the server could not find the requested resource");
	}
}

/* HEAD asks for what GET would answer, without the body; not for what goes on and on. */
static bool serves(const struct route *route, const struct call *call)
{
	static call_fn *const streams[] = { watch_open, console_open, vnc_open, portforward_open };

	if (streq(route->method, call->request->method))
		return true;
	if (!streq(call->request->method, "HEAD") || !streq(route->method, "GET") ||
		query_bool(call, "watch"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
		if (route->handle == streams[i])
			return false;
	return true;
}

static bool is_allowed(const struct route *route, const struct call *call)
{
	return !route->verb || call->path.resource->verbs & route->verb;
}

static void on_request(void *ctx, uint64_t id, const struct http_request *request)
{
	struct api *api = ctx;
	struct call call = { .api = api, .id = id, .request = request };
	bool known = false;
	struct err err;

	if (request->refuse == ERR_TOO_LARGE) {
		reply_refuse(&call, ERR_TOO_LARGE, "the body is larger than %d bytes",
			HTTP_BODY_MAX);
		return;
	}
	if (request->refuse != ERR_OK) {
		reply_refuse(&call, request->refuse,
			"too much is being sent and read at a time, try again later");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (!route_matches(routes[i].pattern, request->path, &call.path))
			continue;
		known = true;
		if (!serves(&routes[i], &call) || !is_allowed(&routes[i], &call))
			continue;
		if (gate_opens(&call, &err))
			routes[i].handle(&call);
		else
			reply_error(&call, &err);
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

static int listen_all(struct api *api, const struct api_options *options, struct err *err)
{
	struct http_socket main = { .path = options->socket_path, .group = SOCKET_GROUP };
	int rc = http_listen(api->http, &main, err);

	if (!rc && options->read_only.path)
		rc = http_listen(api->http, &options->read_only, err);
	return rc;
}

int api_new(const struct api_options *options, struct api **ret_api, struct err *err)
{
	struct api *api = xcalloc(1, sizeof(*api));
	struct http_handler handler = { api, on_request, on_fill, on_upgraded, on_gone };
	int rc;

	api->options = *options;
	api->started = options->clock().wall;
	synthetic_read_os(api->os, sizeof(api->os));
	if (!api->options.bookmark_ms)
		api->options.bookmark_ms = API_BOOKMARK_MS;
	rc = http_new(options->loop, &options->limits, &handler, &api->http, err);
	if (rc) {
		free(api);
		return rc;
	}
	api->timer.data = api;
	uv_timer_init(options->loop, &api->timer);
	rc = listen_all(api, options, err);
	if (rc) {
		api_free(api);
		return rc;
	}
	api->watched = store_current_rv(options->store);
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
	bridges_close(api);
	agent_drop_errands(api->options.agent);
	http_free(api->http);
	pendings_drop(api);
	uv_close((uv_handle_t *)&api->timer, free_api);
}
