/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The serial console over a websocket: one session per machine, a newcomer displaces the one before
 * (semantics §5.4), and there is no idle time-out.
 *
 * The guest is never held up: its output is always read, and what a slow client has not taken is
 * dropped, oldest first, and the client told. The client is: input that the guest does not take leaves
 * the websocket unread. Output from before is replayed from the log that QEMU writes beside the socket.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "daemon/api/console_port.h"
#include "daemon/api/reply.h"
#include "io/websocket.h"

#define CONSOLE_BACKLOG   (256 * 1024) /* bytes of output kept for a slow client */
#define CONSOLE_INPUT     (16 * 1024) /* bytes of input not taken by the guest, then the client waits */
#define CONSOLE_PIECE     (16 * 1024) /* bytes of one frame, and of one read */
#define SUBPROTOCOL       "plain.kubevirt.io"
#define WEBSOCKET_VERSION "13"

struct console {
	struct session session; /* first */
	struct api *api;        /* borrowed */
	uint64_t id;
	char *ns, *name;      /* owned */
	int port;             /* the guest's end: a pty or a socket; -1: closed */
	uv_poll_t poll;       /* of port */
	struct websocket *ws; /* owned; NULL before the upgrade and after the end */
	struct buf output;    /* to the client */
	size_t dropped;       /* bytes of it that it never got, since told last */
	struct buf input;     /* to the guest */
	bool ended;
	struct console *next;
	struct console **self;
};

/* ---- the end ----------------------------------------------------------------------------- */

static void close_port(struct console *c)
{
	if (c->port < 0)
		return;
	uv_poll_stop(&c->poll);
	port_close(c->port);
	c->port = -1;
}

/* http calls gone() when the connection is closed, which frees it. */
static void end(struct console *c, enum websocket_code code, const char *why)
{
	if (c->ended)
		return;
	c->ended = true;
	close_port(c);
	websocket_end(take(&c->ws), code, why);
	http_upgrade_close(c->api->http, c->id);
}

static void free_console(uv_handle_t *handle)
{
	struct console *c = handle->data;

	buf_done(&c->output);
	buf_done(&c->input);
	free(c->ns);
	free(c->name);
	free(c);
}

static void gone(struct session *session)
{
	struct console *c = (struct console *)session;

	*c->self = c->next;
	if (c->next)
		c->next->self = c->self;
	close_port(c);
	websocket_end(take(&c->ws), 0, NULL);
	uv_close((uv_handle_t *)&c->poll, free_console);
}

/* ---- from the guest to the client -------------------------------------------------------- */

static void forget(struct buf *b, size_t n)
{
	b->len -= n;
	memmove(b->data, b->data + n, b->len);
	if (!b->len)
		buf_done(b);
}

/* Half goes at once, so that a flood is not moved byte by byte. */
static void keep_output(struct console *c, const char *data, size_t len)
{
	if (c->output.len + len > CONSOLE_BACKLOG) {
		size_t n = c->output.len / 2;

		forget(&c->output, n);
		c->dropped += n;
	}
	buf_add(&c->output, data, len);
}

static void send_output(struct console *c)
{
	size_t n = MIN(c->output.len, (size_t)CONSOLE_PIECE);
	char note[96];

	if (!c->ws || websocket_pending(c->ws))
		return;
	if (c->dropped) {
		snprintf(note, sizeof(note),
			"\r\n[vmagent: %zu bytes dropped, the reader is slow]\r\n", c->dropped);
		c->dropped = 0;
		websocket_send(c->ws, note, strlen(note));
	}
	if (n) {
		websocket_send(c->ws, c->output.data, n);
		forget(&c->output, n);
	} else if (c->port < 0) {
		end(c, WEBSOCKET_NORMAL, "the console has ended with its guest");
	}
}

/* ---- from the client to the guest -------------------------------------------------------- */

static void on_port(uv_poll_t *poll, int status, int events);

static void watch_port(struct console *c)
{
	if (c->port >= 0)
		uv_poll_start(&c->poll, UV_READABLE | (c->input.len ? UV_WRITABLE : 0), on_port);
	if (c->ws)
		websocket_hold(c->ws, c->port >= 0 && c->input.len >= CONSOLE_INPUT);
}

static void write_input(struct console *c)
{
	ssize_t n = c->input.len ? port_write(c->port, c->input.data, c->input.len) : 0;

	if (n > 0)
		forget(&c->input, (size_t)n);
}

static bool read_output(struct console *c)
{
	char piece[CONSOLE_PIECE];
	ssize_t n = port_read(c->port, piece, sizeof(piece));

	if (n > 0)
		keep_output(c, piece, (size_t)n);
	return n >= 0;
}

/* When the guest is gone, its last words go out before the end. */
static void on_port(uv_poll_t *poll, int status, int events)
{
	struct console *c = poll->data;

	if ((events & UV_WRITABLE) && c->input.len)
		write_input(c);
	if (status < 0 || ((events & UV_READABLE) && !read_output(c)))
		close_port(c);
	watch_port(c);
	send_output(c);
}

static void on_data(void *ctx, const void *data, size_t len)
{
	struct console *c = ctx;

	if (c->port < 0)
		return;
	buf_add(&c->input, data, len);
	write_input(c);
	watch_port(c);
}

static void on_drained(void *ctx)
{
	send_output(ctx);
}

static void on_closed(void *ctx)
{
	end(ctx, 0, NULL);
}

/* ---- the beginning ----------------------------------------------------------------------- */

static void upgraded(struct session *session, int fd, const void *extra, size_t len)
{
	struct console *c = (struct console *)session;
	struct websocket_handler handler = { c, on_data, on_drained, on_closed };

	if (c->ended) { /* displaced meanwhile */
		http_upgrade_close(c->api->http, c->id);
		return;
	}
	c->ws = websocket_new(c->api->options.loop, fd, &handler);
	websocket_begin(c->ws, extra, len);
	watch_port(c);
	send_output(c);
}

static void displace(struct api *api, const char *ns, const char *name)
{
	struct console *next;

	for (struct console *c = api->consoles; c; c = next) {
		next = c->next;
		if (streq(c->ns, ns) && streq(c->name, name))
			end(c, WEBSOCKET_POLICY, "another client has taken over this console");
	}
}

void consoles_close(struct api *api)
{
	struct console *next;

	for (struct console *c = api->consoles; c; c = next) {
		next = c->next;
		end(c, WEBSOCKET_GOING_AWAY, "the agent is stopping; the guest goes on");
	}
}

static struct console *console_new(const struct call *call, int port)
{
	struct console *c = xcalloc(1, sizeof(*c));
	struct api *api = call->api;

	c->session = (struct session){ .upgraded = upgraded, .gone = gone };
	c->api = api;
	c->id = call->id;
	c->ns = xstrdup(call->path.ns);
	c->name = xstrdup(call->path.name);
	c->port = port;
	c->poll.data = c;
	uv_poll_init(api->options.loop, &c->poll, port);
	c->next = api->consoles;
	c->self = &api->consoles;
	if (c->next)
		c->next->self = &c->next;
	api->consoles = c;
	http_attach(api->http, c->id, c);
	return c;
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

static const char *check_handshake(const struct call *call)
{
	const char *key = http_header(call->request, "Sec-WebSocket-Key");

	if (has_token(http_header(call->request, "Upgrade"), "websocket") &&
		has_token(http_header(call->request, "Connection"), "upgrade") &&
		has_token(http_header(call->request, "Sec-WebSocket-Version"), WEBSOCKET_VERSION) &&
		key && strlen(key) == 24)
		return key;
	reply_refuse(call, ERR_BAD_REQUEST,
		"a console is a websocket: ask for an upgrade, version " WEBSOCKET_VERSION);
	return NULL;
}

static void accept_websocket(const struct call *call, const char *key)
{
	char accept[WEBSOCKET_ACCEPT_SIZE];
	struct http_head head = { .fields = { { "Upgrade", "websocket" },
					  { "Sec-WebSocket-Accept", accept } } };

	websocket_accept(key, accept);
	if (has_token(http_header(call->request, "Sec-WebSocket-Protocol"), SUBPROTOCOL))
		head.fields[2] = (struct http_field){ "Sec-WebSocket-Protocol", SUBPROTOCOL };
	http_upgrade(call->api->http, call->id, &head);
}

void console_open(const struct call *call)
{
	const struct route_path *path = &call->path;
	const char *key = check_handshake(call), *file;
	struct console *c;
	struct err err;
	int port;

	if (!key)
		return;
	if (agent_console(call->api->options.agent, path->ns, path->name, &file, &err)) {
		reply_error(call, &err);
		return;
	}
	port = port_open(file, &err);
	if (port < 0) {
		reply_error(call, &err);
		return;
	}
	displace(call->api, path->ns, path->name); /* QEMU serves the next one then */
	c = console_new(call, port);
	port_history(file, &c->output);
	accept_websocket(call, key);
}
