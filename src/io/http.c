/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server's life: libmicrohttpd, told to keep no thread and no listening socket, runs
 * whenever its epoll descriptor is readable or a time-out of its is due. Connections are accepted
 * in http_listen.c, requests handled in http_exchange.c, long answers given in http_stream.c.
 */
#include "io/http_private.h"

static void run(struct http *http)
{
	MHD_UNSIGNED_LONG_LONG timeout;

	http->kicked = false;
	MHD_run(http->daemon);
	if (http->kicked)
		uv_timer_start(&http->timer, http->timer.timer_cb, 0, 0);
	else if (MHD_get_timeout(http->daemon, &timeout) == MHD_YES)
		uv_timer_start(&http->timer, http->timer.timer_cb, timeout, 0);
	else
		uv_timer_stop(&http->timer);
}

static void on_timer(uv_timer_t *timer)
{
	run(timer->data);
}

static void on_epoll(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	run(poll->data);
}

/* Never runs MHD at once: the caller may stand in a callback of MHD's or in the agent's turn. */
void http_kick(struct http *http)
{
	http->kicked = true;
	if (!http->closing)
		uv_timer_start(&http->timer, on_timer, 0, 0);
}

static unsigned or_default(unsigned value, unsigned fallback)
{
	return value ? value : fallback;
}

static void set_options(struct http *http, const struct http_options *options)
{
	struct http_options *o = &http->options;

	*o = options ? *options : (struct http_options){ 0 };
	o->connections_max = or_default(o->connections_max, HTTP_CONNECTIONS_MAX);
	o->per_uid_max = or_default(o->per_uid_max, HTTP_PER_UID_MAX);
	o->root_slots = or_default(o->root_slots, HTTP_ROOT_SLOTS);
	o->read_only_max = or_default(o->read_only_max, HTTP_READ_ONLY_MAX);
	o->read_only_per_uid = or_default(o->read_only_per_uid, HTTP_READ_ONLY_PER_UID);
	o->read_only_root = or_default(o->read_only_root, HTTP_READ_ONLY_ROOT);
	o->request_s = or_default(o->request_s, HTTP_REQUEST_S);
	o->stalled_ms = or_default(o->stalled_ms, HTTP_STALLED_MS);
	o->held_max = o->held_max ? o->held_max : HTTP_HELD_MAX;
	o->idle_s = or_default(o->idle_s, HTTP_IDLE_S);
	o->body_max = o->body_max ? o->body_max : HTTP_BODY_MAX;
}

/* MHD maps pools of more than 32 KiB: only touched pages count, and they go with the connection. */
_Static_assert(HTTP_HEADERS_MAX > 32 * 1024, "a connection's pool is mapped");

static struct MHD_Daemon *start_daemon(struct http *http)
{
	return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE |
			MHD_USE_NO_LISTEN_SOCKET,
		0, NULL, NULL, exchange_access, http,            //
		MHD_OPTION_NOTIFY_CONNECTION, conn_notify, http, //
		MHD_OPTION_NOTIFY_COMPLETED, exchange_completed, http, MHD_OPTION_CONNECTION_LIMIT,
		http->n_slots, MHD_OPTION_CONNECTION_TIMEOUT, http->options.idle_s,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_HEADERS_MAX, MHD_OPTION_END);
}

int http_new(uv_loop_t *loop, const struct http_options *options,
	const struct http_handler *handler, struct http **ret_http, struct err *err)
{
	struct http *http = xcalloc(1, sizeof(*http));

	http->loop = loop;
	http->handler = *handler;
	http->spare_fd = -1;
	set_options(http, options);
	http->n_slots = http->options.connections_max + http->options.read_only_max;
	http->daemon = start_daemon(http);
	if (!http->daemon) {
		free(http);
		return err_set(err, ERR_INTERNAL, "libmicrohttpd does not start");
	}
	http->slots = xcalloc(http->n_slots, sizeof(struct exchange *));
	http->timer.data = http->lateness.data = http->look.data = http->epoll.data = http;
	uv_timer_init(loop, &http->timer);
	uv_timer_init(loop, &http->lateness);
	uv_timer_init(loop, &http->look);
	uv_poll_init(loop, &http->epoll,
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
	uv_poll_start(&http->epoll, UV_READABLE, on_epoll);
	http->open_handles = 4;
	*ret_http = http;
	return 0;
}

size_t http_held(const struct http *http)
{
	return http->held;
}

unsigned http_connections(const struct http *http)
{
	return http->n_conns;
}

void http_handle_closed(uv_handle_t *handle)
{
	struct http *http = handle->data;

	if (--http->open_handles)
		return;
	while (http->listeners) {
		struct listener *l = http->listeners;

		http->listeners = l->next;
		free(l->path);
		free(l);
	}
	free(http->slots);
	free(http);
}

/* MHD refuses to stop over a suspended or upgraded connection. */
static void let_all_go(struct http *http)
{
	for (struct conn *c = http->conns; c; c = c->next) {
		struct exchange *x = c->exchange;

		if (!x)
			continue;
		x->departed = true;
		if (x->upgrade)
			http_upgrade_close(http, x->id);
		else
			exchange_resume(x);
	}
	MHD_run(http->daemon);
}

void http_free(struct http *http)
{
	if (!http)
		return;
	http->closing = true;
	http_unlisten(http);
	let_all_go(http);
	uv_poll_stop(&http->epoll);
	MHD_stop_daemon(http->daemon);
	uv_close((uv_handle_t *)&http->epoll, http_handle_closed);
	uv_close((uv_handle_t *)&http->timer, http_handle_closed);
	uv_close((uv_handle_t *)&http->lateness, http_handle_closed);
	uv_close((uv_handle_t *)&http->look, http_handle_closed);
}
