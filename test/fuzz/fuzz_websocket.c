/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes both ends of a websocket with what the other may send: the agent's, frames after the
 * handshake, and vmactl's, the answer's head and frames. The first byte is odd for the client's
 * end; its other bits tell into how many pieces the rest is cut and, for the server, whether the
 * first of them came early and whether it is held at times.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/wsclient.h"
#include "io/websocket.h"

/* What was read with the last of them, too. */
#define PENDING_MAX (WEBSOCKET_REPLIES_MAX * 125 + 4096)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the server's end ------------------------------------------------------------------------ */

struct server {
	struct websocket *ws;
	size_t got, sent;
	bool closed;
};

static void on_data(void *ctx, const void *data, size_t len)
{
	struct server *s = ctx;

	s->got += len;
	if (s->closed || !data || !len || s->got > s->sent)
		abort();
}

static void on_drained(void *ctx)
{
	struct server *s = ctx;

	if (s->closed)
		abort();
}

static void on_closed(void *ctx)
{
	struct server *s = ctx;

	if (s->closed)
		abort();
	s->closed = true;
}

static void run(uv_loop_t *loop, struct server *s)
{
	for (int i = 0; i < 4 && !s->closed; i++)
		uv_run(loop, UV_RUN_NOWAIT);
	if (websocket_pending(s->ws) > PENDING_MAX)
		abort();
}

static void feed_server(const int pair[2], const uint8_t *data, size_t size, unsigned how)
{
	struct server s = { .sent = size };
	struct websocket_handler handler = { &s, on_data, on_drained, on_closed };
	size_t step = size / (1 + (how & 3)) + 1, early = how & 4 ? MIN(step, size) : 0;
	uv_loop_t loop;

	uv_loop_init(&loop);
	s.ws = websocket_new(&loop, pair[1], &handler);
	websocket_begin(s.ws, data, early);
	for (size_t at = early; at < size && !s.closed; at += step) {
		(void)!send(pair[0], data + at, MIN(step, size - at), MSG_NOSIGNAL);
		websocket_hold(s.ws, how & 8);
		run(&loop, &s);
		websocket_hold(s.ws, false);
		run(&loop, &s);
	}
	run(&loop, &s);
	websocket_end(s.ws, how & 16 ? WEBSOCKET_NORMAL : 0, "fuzz");
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
}

/* ---- the client's end ------------------------------------------------------------------------ */

/* Frames follow the head, or there is no head and they come at once. */
static void feed_client(const int pair[2], const uint8_t *data, size_t size, unsigned how)
{
	struct http_call call = { .line = "GET /console" };
	struct http http = { .fd = dup(pair[1]) };
	struct buf to = { 0 };
	struct wsclient *ws;
	struct err err;

	(void)!send(pair[0], data, size, MSG_NOSIGNAL);
	shutdown(pair[0], SHUT_WR);
	if (!(how & 1) &&
		(http_request(&http, &call, http_clock() + 1000, &err) || http.status != 101)) {
		while (http.status && http_read(&http, http_clock() + 1000, &to, &err) > 0)
			;
		http_close(&http);
		buf_done(&to);
		return;
	}
	ws = wsclient_over(&http);
	while (wsclient_step(ws, &to) > 0)
		;
	if (to.len > size || strlen(wsclient_reason(ws)) > size)
		abort();
	wsclient_was_closed_well(ws);
	wsclient_free(ws);
	buf_done(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int pair[2];

	if (!size || size > 65536)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair))
		abort();
	if (data[0] & 1)
		feed_client(pair, data + 1, size - 1, data[0] >> 1);
	else
		feed_server(pair, data + 1, size - 1, data[0] >> 1);
	close(pair[0]);
	close(pair[1]);
	return 0;
}
