/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's end of a websocket: the handshake here, the frames by wslay. Sec-WebSocket-Accept is
 * not verified: it protects from caches and confused servers, of which a unix socket has none.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <wslay/wslay.h>

#include "cli/wsclient.h"
#include "core/base64.h"

#define MESSAGE_MAX (1024 * 1024)
#define QUEUED_MAX  65536
#define KEY_BYTES   16

struct wsclient {
	struct http http;
	wslay_event_context_ptr events; /* owned */
	struct buf *to;                 /* borrowed for a step: where messages go */
	bool ended;
	bool well; /* it ended by a close frame without an error */
	char reason[128];
};

static ssize_t on_recv(wslay_event_context_ptr events, uint8_t *data, size_t len, int flags,
	void *user)
{
	struct wsclient *ws = user;
	size_t waiting = ws->http.in.len - ws->http.at;
	ssize_t n;

	(void)flags;
	if (waiting) { /* came together with the answer's head */
		n = (ssize_t)MIN(waiting, len);
		memcpy(data, ws->http.in.data + ws->http.at, (size_t)n);
		ws->http.at += (size_t)n;
		return n;
	}
	do
		n = recv(ws->http.fd, data, len, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		return n;
	ws->ended = !n || errno != EAGAIN;
	wslay_event_set_error(events,
		ws->ended ? WSLAY_ERR_CALLBACK_FAILURE : WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static ssize_t on_send(wslay_event_context_ptr events, const uint8_t *data, size_t len, int flags,
	void *user)
{
	struct wsclient *ws = user;
	ssize_t n;

	(void)flags;
	do
		n = send(ws->http.fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return n;
	ws->ended = errno != EAGAIN;
	wslay_event_set_error(events,
		ws->ended ? WSLAY_ERR_CALLBACK_FAILURE : WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static int on_mask(wslay_event_context_ptr events, uint8_t *mask, size_t len, void *user)
{
	(void)events;
	(void)user;
	return getrandom(mask, len, 0) == (ssize_t)len ? 0 : -1;
}

static void on_close(struct wsclient *ws, const struct wslay_event_on_msg_recv_arg *message)
{
	size_t len = message->msg_length > 2 ? message->msg_length - 2 : 0;

	ws->ended = true;
	ws->well = message->status_code == 0 || message->status_code == WSLAY_CODE_NORMAL_CLOSURE ||
		message->status_code == WSLAY_CODE_GOING_AWAY ||
		message->status_code == WSLAY_CODE_NO_STATUS_RCVD;
	if (len)
		memcpy(ws->reason, message->msg + 2, MIN(len, sizeof(ws->reason) - 1));
}

static void on_message(wslay_event_context_ptr events,
	const struct wslay_event_on_msg_recv_arg *message, void *user)
{
	struct wsclient *ws = user;

	(void)events;
	if (message->opcode == WSLAY_CONNECTION_CLOSE)
		on_close(ws, message);
	else if (!wslay_is_ctrl_frame(message->opcode))
		buf_add(ws->to, message->msg, message->msg_length);
}

/* Random bytes in base64; owned by the caller. */
static char *make_key(void)
{
	uint8_t bytes[KEY_BYTES] = { 0 };

	if (getrandom(bytes, KEY_BYTES, 0) != KEY_BYTES)
		bytes[0] = 1; /* any key will do: nobody is to be kept out by it */
	return base64_encode(bytes, sizeof(bytes));
}

static int upgrade(struct http *http, const struct cli *cli, const char *path, const char *protocol,
	struct fault *fault)
{
	autofree char *key = make_key();
	autofree char *line = xasprintf("GET %s", path);
	autofree char *headers = NULL;
	int ret;

	headers =
		xasprintf("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
			  "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: %s\r\n",
			key, protocol);
	ret = client_begin(cli, &(struct http_call){ .line = line, .headers = headers }, http,
		fault);
	if (!ret && http->status != 101)
		return fault_set(fault, EXIT_ERROR, "the agent does not open a websocket there");
	return ret;
}

struct wsclient *wsclient_over(const struct http *http)
{
	static const struct wslay_event_callbacks callbacks = { .recv_callback = on_recv,
		.send_callback = on_send,
		.genmask_callback = on_mask,
		.on_msg_recv_callback = on_message };
	struct wsclient *ws = xcalloc(1, sizeof(*ws));

	ws->http = *http;
	if (wslay_event_context_client_init(&ws->events, &callbacks, ws))
		abort(); /* out of memory */
	wslay_event_config_set_max_recv_msg_length(ws->events, MESSAGE_MAX);
	return ws;
}

int wsclient_begin(const struct cli *cli, const char *path, const char *protocol,
	struct wsclient **ret, struct fault *fault)
{
	struct http http = { .fd = -1 };

	if (upgrade(&http, cli, path, protocol, fault)) {
		http_close(&http);
		return -1;
	}
	*ret = wsclient_over(&http);
	return 0;
}

void wsclient_free(struct wsclient *ws)
{
	if (ws && ws->events) {
		wslay_event_queue_close(ws->events, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0);
		wslay_event_send(ws->events);
		wslay_event_context_free(ws->events);
	}
	if (ws)
		http_close(&ws->http);
	free(ws);
}

int wsclient_fd(const struct wsclient *ws)
{
	return ws->http.fd;
}

short wsclient_events(const struct wsclient *ws)
{
	return (short)(POLLIN | (wslay_event_want_write(ws->events) ? POLLOUT : 0));
}

bool wsclient_is_full(const struct wsclient *ws)
{
	return wslay_event_get_queued_msg_length(ws->events) > QUEUED_MAX;
}

void wsclient_send(struct wsclient *ws, const void *data, size_t len)
{
	struct wslay_event_msg message = { .opcode = WSLAY_BINARY_FRAME,
		.msg = data,
		.msg_length = len };

	if (wslay_event_queue_msg(ws->events, &message))
		ws->ended = true;
}

int wsclient_step(struct wsclient *ws, struct buf *to)
{
	ws->to = to;
	if (wslay_event_recv(ws->events) || wslay_event_send(ws->events) ||
		!wslay_event_want_read(ws->events))
		ws->ended = true;
	ws->to = NULL;
	return !ws->ended;
}

int wsclient_flush(struct wsclient *ws)
{
	if (wslay_event_send(ws->events))
		ws->ended = true;
	return !ws->ended;
}

const char *wsclient_reason(const struct wsclient *ws)
{
	return ws->reason;
}

bool wsclient_was_closed_well(const struct wsclient *ws)
{
	return ws->well;
}
