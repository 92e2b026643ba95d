/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames by wslay, readiness by libuv. wslay is told not to collect messages, so none costs memory.
 * Pings are answered, closes acknowledged, by wslay itself: the answers wait in its queue, so while
 * there are some nothing more is read.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <wslay/wslay.h>

#include "io/websocket.h"

struct websocket {
	uv_poll_t poll;
	int fd; /* borrowed */
	struct websocket_handler handler;
	wslay_event_context_ptr wslay; /* owned */
	struct buf early;              /* read before we were there */
	size_t early_at;
	uint8_t opcode;   /* of the frame that comes in */
	uint64_t message; /* bytes of the message that it is part of, with those to come */
	bool hold;
	size_t turn;   /* bytes that may still be read before others get theirs */
	bool broken;   /* the socket ended or failed */
	bool ended;    /* websocket_end() was called */
	size_t queued; /* payload given to wslay and not sent yet */
};

/* ---- wslay's callbacks ----------------------------------------------------------------------- */

static ssize_t take_early(struct websocket *ws, void *to, size_t len)
{
	size_t n = MIN(len, ws->early.len - ws->early_at);

	memcpy(to, ws->early.data + ws->early_at, n);
	ws->early_at += n;
	if (ws->early_at == ws->early.len) {
		buf_done(&ws->early);
		ws->early_at = 0;
	}
	return (ssize_t)n;
}

static bool is_flooded(const struct websocket *ws)
{
	return wslay_event_get_queued_msg_count(ws->wslay) > WEBSOCKET_REPLIES_MAX;
}

static bool must_wait(const struct websocket *ws)
{
	return ws->hold || !ws->turn || is_flooded(ws);
}

static ssize_t receive(struct websocket *ws, void *to, size_t len)
{
	len = MIN(len, ws->turn);
	return ws->early.len ? take_early(ws, to, len) : recv(ws->fd, to, len, MSG_DONTWAIT);
}

static ssize_t on_recv(wslay_event_context_ptr wslay, uint8_t *to, size_t len, int flags,
	void *user)
{
	struct websocket *ws = user;
	bool wait = must_wait(ws);
	ssize_t n = wait ? -1 : receive(ws, to, len);

	(void)flags;
	if (n > 0) {
		ws->turn -= (size_t)n;
		return n;
	}
	if (n < 0 && (wait || errno == EAGAIN || errno == EINTR)) {
		wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	ws->broken = true;
	wslay_event_set_error(wslay, WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

static ssize_t on_send(wslay_event_context_ptr wslay, const uint8_t *data, size_t len, int flags,
	void *user)
{
	struct websocket *ws = user;
	ssize_t n = send(ws->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	(void)flags;
	if (n >= 0)
		return n;
	if (errno == EAGAIN || errno == EINTR) {
		wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	ws->broken = true;
	wslay_event_set_error(wslay, WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

/* wslay counts only what it collects, so the bound is ours. */
static void on_frame_start(wslay_event_context_ptr wslay,
	const struct wslay_event_on_frame_recv_start_arg *arg, void *user)
{
	struct websocket *ws = user;

	ws->opcode = arg->opcode;
	if (wslay_is_ctrl_frame(arg->opcode))
		return;
	if (arg->opcode != WSLAY_CONTINUATION_FRAME)
		ws->message = 0;
	ws->message += arg->payload_length; /* which has 63 bits */
	if (ws->message <= WEBSOCKET_MESSAGE_MAX)
		return;
	wslay_event_queue_close(wslay, WSLAY_CODE_MESSAGE_TOO_BIG, NULL, 0);
	wslay_event_shutdown_read(wslay);
}

static void on_frame_chunk(wslay_event_context_ptr wslay,
	const struct wslay_event_on_frame_recv_chunk_arg *arg, void *user)
{
	struct websocket *ws = user;

	(void)wslay;
	if (!wslay_is_ctrl_frame(ws->opcode) && arg->data_length &&
		ws->message <= WEBSOCKET_MESSAGE_MAX)
		ws->handler.data(ws->handler.ctx, arg->data, arg->data_length);
}

/* ---- the socket ------------------------------------------------------------------------------ */

static void on_poll(uv_poll_t *poll, int status, int events);

/* A held socket is not looked at: its end is seen when it is read again. */
static void watch(struct websocket *ws)
{
	int events = ws->hold || is_flooded(ws) ? 0 : UV_READABLE;

	if (ws->ended)
		return;
	/* What came early lies in no socket: being writable stands for its being readable. */
	if (wslay_event_want_write(ws->wslay) || (ws->early.len && !ws->hold))
		events |= UV_WRITABLE;
	if (events)
		uv_poll_start(&ws->poll, events, on_poll);
	else
		uv_poll_stop(&ws->poll);
}

static bool is_over(struct websocket *ws)
{
	return ws->broken || wslay_event_get_close_received(ws->wslay) ||
		!wslay_event_want_read(ws->wslay);
}

/* wslay names no code for a frame that cannot be read; it may be said if no other is half sent. */
static void read_frames(struct websocket *ws)
{
	static const uint8_t protocol_error[] = { 0x88, 0x02, 0x03, 0xea }; /* a close, 1002 */
	bool silent = !wslay_event_want_write(ws->wslay);

	ws->turn = WEBSOCKET_TURN_BYTES;
	if (!wslay_event_recv(ws->wslay))
		return;
	if (silent && !ws->broken)
		(void)!send(ws->fd, protocol_error, sizeof(protocol_error),
			MSG_DONTWAIT | MSG_NOSIGNAL);
	ws->broken = true;
}

static void pump(struct websocket *ws)
{
	size_t before = ws->queued;

	if (!ws->hold)
		read_frames(ws);
	if (!ws->broken && wslay_event_send(ws->wslay))
		ws->broken = true;
	ws->queued = wslay_event_get_queued_msg_length(ws->wslay);
	if (is_over(ws)) {
		uv_poll_stop(&ws->poll);
		ws->handler.closed(ws->handler.ctx);
		return;
	}
	if (before && !ws->queued)
		ws->handler.drained(ws->handler.ctx);
	watch(ws);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct websocket *ws = poll->data;

	(void)events;
	if (status < 0)
		ws->broken = true;
	pump(ws);
}

/* ---- for its user ---------------------------------------------------------------------------- */

struct websocket *websocket_new(uv_loop_t *loop, int fd, const struct websocket_handler *handler)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_recv,
		.send_callback = on_send,
		.on_frame_recv_start_callback = on_frame_start,
		.on_frame_recv_chunk_callback = on_frame_chunk,
	};
	struct websocket *ws = xcalloc(1, sizeof(*ws));

	ws->fd = fd;
	ws->handler = *handler;
	ws->poll.data = ws;
	if (wslay_event_context_server_init(&ws->wslay, &callbacks, ws))
		abort();
	wslay_event_config_set_no_buffering(ws->wslay, 1);
	uv_poll_init(loop, &ws->poll, fd);
	return ws;
}

void websocket_begin(struct websocket *ws, const void *early, size_t len)
{
	if (len)
		buf_add(&ws->early, early, len);
	/* Writable at once: what came early is then read from the loop, not from within this
	 * call. */
	uv_poll_start(&ws->poll, UV_READABLE | UV_WRITABLE, on_poll);
}

void websocket_send(struct websocket *ws, const void *data, size_t len)
{
	struct wslay_event_msg message = { .opcode = WSLAY_BINARY_FRAME,
		.msg = data,
		.msg_length = len };

	if (ws->broken || wslay_event_queue_msg(ws->wslay, &message))
		return;
	ws->queued += len;
	watch(ws);
}

size_t websocket_pending(const struct websocket *ws)
{
	return ws->queued;
}

void websocket_hold(struct websocket *ws, bool hold)
{
	if (ws->hold == hold)
		return;
	ws->hold = hold;
	if (!ws->broken)
		watch(ws);
}

static void free_websocket(uv_handle_t *handle)
{
	free(handle->data);
}

void websocket_end(struct websocket *ws, enum websocket_code code, const char *reason)
{
	if (!ws)
		return;
	ws->ended = true;
	if (code && !ws->broken) {
		wslay_event_queue_close(ws->wslay, (uint16_t)code, (const uint8_t *)reason,
			strlen(reason));
		wslay_event_send(ws->wslay);
	}
	uv_poll_stop(&ws->poll);
	wslay_event_context_free(ws->wslay);
	buf_done(&ws->early);
	uv_close((uv_handle_t *)&ws->poll, free_websocket);
}
