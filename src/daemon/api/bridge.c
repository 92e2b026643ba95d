/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes between a client's websocket and the guest's side. There is no idle time-out (semantics
 * §5.4).
 *
 * Neither side makes the other's bytes pile up: input that the guest's side does not take leaves
 * the websocket unread; output that the client does not take leaves the guest's side unread, or,
 * where the guest must not be held up, is dropped, oldest first, and the client told.
 */
#include "daemon/api/bridge.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "daemon/api/port.h"
#include "daemon/api/reply.h"
#include "io/websocket.h"

#define SUBPROTOCOL       "plain.kubevirt.io" /* the only one of KubeVirt's, for all its streams */
#define WEBSOCKET_VERSION "13"

struct bridge {
	struct session session; /* first */
	struct api *api;        /* borrowed */
	const struct bridge_plan *plan;
	uint64_t id;
	char *ns, *name;                    /* owned */
	char accept[WEBSOCKET_ACCEPT_SIZE]; /* the answer to its handshake */
	bool has_protocol;                  /* it offered ours */
	int port;                           /* the guest's side; -1: not yet, or closed */
	uv_poll_t poll;                     /* of port */
	uv_timer_t timer;                   /* BRIDGE_LINGER_MS */
	unsigned handles;                   /* of these two, that are open */
	struct websocket *ws; /* owned; NULL before the upgrade and after the client's end */
	struct buf output;    /* to the client */
	size_t dropped;       /* bytes of it that it never got, since told last */
	struct buf input;     /* to the guest's side */
	bool connected, ended;
	struct bridge *next;
	struct bridge **self;
};

/* ---- the end --------------------------------------------------------------------------------- */

static void close_port(struct bridge *b)
{
	if (b->port < 0)
		return;
	uv_poll_stop(&b->poll);
	port_close(b->port);
	b->port = -1;
}

/* http calls gone() when the connection is closed, which frees it. */
static void end(struct bridge *b, enum websocket_code code, const char *why)
{
	if (b->ended)
		return;
	b->ended = true;
	close_port(b);
	websocket_end(take(&b->ws), code, why);
	http_upgrade_close(b->api->http, b->id);
}

static void handle_closed(uv_handle_t *handle)
{
	struct bridge *b = handle->data;

	if (--b->handles)
		return;
	buf_done(&b->output);
	buf_done(&b->input);
	free(b->ns);
	free(b->name);
	free(b);
}

static void gone(struct session *session)
{
	struct bridge *b = (struct bridge *)session;

	*b->self = b->next;
	if (b->next)
		b->next->self = b->self;
	close_port(b);
	websocket_end(take(&b->ws), 0, NULL);
	if (b->connected)
		uv_close((uv_handle_t *)&b->poll, handle_closed);
	uv_close((uv_handle_t *)&b->timer, handle_closed);
}

/* ---- from the guest to the client ------------------------------------------------------------ */

static void forget(struct buf *buf, size_t n)
{
	buf->len -= n;
	memmove(buf->data, buf->data + n, buf->len);
	if (!buf->len)
		buf_done(buf);
}

/* Half goes at once, so that a flood is not moved byte by byte. */
static void keep_output(struct bridge *b, const char *data, size_t len)
{
	if (b->plan->lossy && b->output.len + len > BRIDGE_BACKLOG) {
		size_t n = b->output.len / 2;

		forget(&b->output, n);
		b->dropped += n;
	}
	buf_add(&b->output, data, len);
}

static bool wants_output(const struct bridge *b)
{
	return b->plan->lossy || b->output.len < BRIDGE_WINDOW;
}

static void send_output(struct bridge *b)
{
	size_t n = MIN(b->output.len, (size_t)BRIDGE_PIECE);
	char note[96];

	if (!b->ws || websocket_pending(b->ws))
		return;
	if (b->dropped) {
		snprintf(note, sizeof(note),
			"\r\n[vmagent: %zu bytes dropped, the reader is slow]\r\n", b->dropped);
		b->dropped = 0;
		websocket_send(b->ws, note, strlen(note));
	}
	if (n) {
		websocket_send(b->ws, b->output.data, n);
		forget(&b->output, n);
	} else if (b->port < 0) {
		end(b, WEBSOCKET_NORMAL, b->plan->ended);
	}
}

/* ---- from the client to the guest ------------------------------------------------------------ */

static void on_port(uv_poll_t *poll, int status, int events);

/* What is wanted next of either side. */
static void watch(struct bridge *b)
{
	int events = (b->ws && wants_output(b) ? UV_READABLE : 0) |
		(b->input.len ? UV_WRITABLE : 0);

	if (b->port >= 0 && events)
		uv_poll_start(&b->poll, events, on_port);
	else if (b->port >= 0)
		uv_poll_stop(&b->poll);
	if (b->ws)
		websocket_hold(b->ws, b->port >= 0 && b->input.len >= BRIDGE_INPUT);
}

static void write_input(struct bridge *b)
{
	ssize_t n = b->input.len ? port_write(b->port, b->input.data, b->input.len) : 0;

	if (n > 0)
		forget(&b->input, (size_t)n);
}

static bool read_output(struct bridge *b)
{
	char piece[BRIDGE_PIECE];
	ssize_t n = port_read(b->port, piece, sizeof(piece));

	if (n > 0)
		keep_output(b, piece, (size_t)n);
	return n >= 0;
}

/* When the guest is gone, its last words go out before the end. */
static void on_port(uv_poll_t *poll, int status, int events)
{
	struct bridge *b = poll->data;

	if ((events & UV_WRITABLE) && b->input.len)
		write_input(b);
	if (status < 0 || ((events & UV_READABLE) && !read_output(b)))
		close_port(b);
	if (!b->ws && (b->port < 0 || !b->input.len)) {
		end(b, 0, NULL);
		return;
	}
	send_output(b);
	watch(b);
}

static void on_data(void *ctx, const void *data, size_t len)
{
	struct bridge *b = ctx;

	if (b->port < 0)
		return;
	buf_add(&b->input, data, len);
	write_input(b);
	watch(b);
}

static void on_drained(void *ctx)
{
	struct bridge *b = ctx;

	send_output(b);
	watch(b);
}

static void on_lingered(uv_timer_t *timer)
{
	end(timer->data, 0, NULL);
}

/* What it sent before it left still goes where it was meant to. */
static void on_closed(void *ctx)
{
	struct bridge *b = ctx;

	if (b->port < 0 || !b->input.len) {
		end(b, 0, NULL);
		return;
	}
	websocket_end(take(&b->ws), 0, NULL);
	uv_timer_start(&b->timer, on_lingered, BRIDGE_LINGER_MS, 0);
	watch(b);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static void upgraded(struct session *session, int fd, const void *extra, size_t len)
{
	struct bridge *b = (struct bridge *)session;
	struct websocket_handler handler = { b, on_data, on_drained, on_closed };

	if (b->ended) { /* displaced meanwhile */
		http_upgrade_close(b->api->http, b->id);
		return;
	}
	b->ws = websocket_new(b->api->options.loop, fd, &handler);
	websocket_begin(b->ws, extra, len);
	send_output(b);
	watch(b);
}

static bool is_rival(const struct bridge *b, const struct bridge_plan *plan, const char *ns,
	const char *name)
{
	return b->plan == plan && b->connected && !b->ended && streq(b->ns, ns) &&
		streq(b->name, name);
}

bool bridge_is_taken(const struct api *api, const struct bridge_plan *plan, const char *ns,
	const char *name)
{
	for (const struct bridge *b = api->bridges; b; b = b->next)
		if (is_rival(b, plan, ns, name))
			return true;
	return false;
}

static void displace(struct bridge *by)
{
	autofree char *why = xasprintf("another client has taken over this %s", by->plan->what);
	struct bridge *next;

	for (struct bridge *b = by->api->bridges; b; b = next) {
		next = b->next;
		if (is_rival(b, by->plan, by->ns, by->name))
			end(b, WEBSOCKET_POLICY, why);
	}
}

void bridges_close(struct api *api)
{
	struct bridge *next;

	for (struct bridge *b = api->bridges; b; b = next) {
		next = b->next;
		end(b, WEBSOCKET_GOING_AWAY, "the agent is stopping; the guest goes on");
	}
}

/* "a, b" contains word, as HTTP compares tokens. */
static bool has_token(const char *list, const char *word)
{
	for (size_t len; list && *list; list += len) {
		list += strspn(list, " \t,");
		len = strcspn(list, " \t,");
		if (len == strlen(word) && strncasecmp(list, word, len) == 0)
			return true;
	}
	return false;
}

static const char *check_handshake(const struct call *call, const struct bridge_plan *plan)
{
	const char *key = http_header(call->request, "Sec-WebSocket-Key");

	if (has_token(http_header(call->request, "Upgrade"), "websocket") &&
		has_token(http_header(call->request, "Connection"), "upgrade") &&
		has_token(http_header(call->request, "Sec-WebSocket-Version"), WEBSOCKET_VERSION) &&
		key && strlen(key) == 24)
		return key;
	reply_refuse(call, ERR_BAD_REQUEST,
		"a %s is a websocket: ask for an upgrade, version " WEBSOCKET_VERSION, plan->what);
	return NULL;
}

struct bridge *bridge_new(const struct call *call, const struct bridge_plan *plan)
{
	const char *key = check_handshake(call, plan);
	struct api *api = call->api;
	struct bridge *b;

	if (!key)
		return NULL;
	b = xcalloc(1, sizeof(*b));
	b->session = (struct session){ .upgraded = upgraded, .gone = gone };
	b->api = api;
	b->plan = plan;
	b->id = call->id;
	b->ns = xstrdup(call->path.ns);
	b->name = xstrdup(call->path.name);
	b->port = -1;
	b->has_protocol =
		has_token(http_header(call->request, "Sec-WebSocket-Protocol"), SUBPROTOCOL);
	websocket_accept(key, b->accept);
	b->poll.data = b->timer.data = b;
	uv_timer_init(api->options.loop, &b->timer);
	b->handles = 1;
	b->next = api->bridges;
	b->self = &api->bridges;
	if (b->next)
		b->next->self = &b->next;
	api->bridges = b;
	http_attach(api->http, b->id, b);
	return b;
}

struct bridge *bridge_find(struct api *api, uint64_t id)
{
	return http_attached(api->http, id);
}

struct buf *bridge_output(struct bridge *b)
{
	return &b->output;
}

void bridge_connect(struct bridge *b, int port)
{
	struct http_head head = { .fields = { { "Upgrade", "websocket" },
					  { "Sec-WebSocket-Accept", b->accept } } };

	if (b->plan->exclusive)
		displace(b);
	b->port = port;
	b->connected = true;
	uv_poll_init(b->api->options.loop, &b->poll, port);
	b->handles++;
	if (b->has_protocol)
		head.fields[2] = (struct http_field){ "Sec-WebSocket-Protocol", SUBPROTOCOL };
	http_upgrade(b->api->http, b->id, &head);
}
