/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that are not there at once: a stream is pulled by MHD when its client can take more, and
 * sleeps suspended in between, so a slow client costs one piece of memory and no time; an upgraded
 * connection leaves HTTP for good.
 */
#include <fcntl.h>
#include <string.h>

#include "io/http_private.h"

#define BLOCK_SIZE 4096 /* bytes that MHD asks for at a time, at most */

static ssize_t take_out(struct exchange *x, char *to, size_t max)
{
	size_t n = MIN(max, x->out.len - x->out_at);

	memcpy(to, x->out.data + x->out_at, n);
	x->out_at += n;
	x->moved = uv_now(x->http->loop);
	if (x->out_at == x->out.len) {
		room_give(x, x->out.len);
		buf_done(&x->out);
		x->out_at = 0;
	}
	return (ssize_t)n;
}

/* MHD calls this whenever the connection can take more. */
static ssize_t read_stream(void *cls, uint64_t position, char *to, size_t max)
{
	struct exchange *x = cls;
	struct http *http = x->http;

	(void)position;
	/* Not END_WITH_ERROR: MHD would keep the closed connection until it comes up in
	 * its sweep of time-outs, which ends at the first idle one. So it tries to write
	 * the end, and fails. */
	if (x->departed)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!x->out.len && !x->ended) {
		if (room_wait(x))
			return 0;
		http->handler.fill(http->handler.ctx, x->id);
		room_served(x);
	}
	if (x->out.len)
		return take_out(x, to, max);
	if (x->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	exchange_suspend(x);
	return 0;
}

static struct exchange *find_unanswered(struct http *http, uint64_t id)
{
	struct exchange *x = exchange_find(http, id);

	return x && (x->state == EXCHANGE_ASKED || x->state == EXCHANGE_WAITING) ? x : NULL;
}

static struct exchange *find_stream(struct http *http, uint64_t id)
{
	struct exchange *x = exchange_find(http, id);

	return x && x->streaming ? x : NULL;
}

void http_stream(struct http *http, uint64_t id, const struct http_head *head)
{
	struct exchange *x = find_unanswered(http, id);

	if (!x)
		return;
	x->streaming = true;
	x->response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_stream,
		x, NULL);
	if (!x->response)
		abort();
	exchange_answer(x, head);
}

void http_stream_write(struct http *http, uint64_t id, const void *data, size_t len)
{
	struct exchange *x = find_stream(http, id);

	if (!x || x->ended)
		return;
	buf_add(&x->out, data, len);
	room_take(x, len);
}

void http_stream_wake(struct http *http, uint64_t id)
{
	struct exchange *x = find_stream(http, id);

	if (x)
		exchange_resume(x);
}

void http_stream_end(struct http *http, uint64_t id)
{
	struct exchange *x = find_stream(http, id);

	if (!x)
		return;
	x->ended = true;
	exchange_resume(x);
}

/* ---- upgrade --------------------------------------------------------------------------------- */

static void on_upgrade(void *cls, struct MHD_Connection *mhd, void *context, const char *extra,
	size_t extra_len, MHD_socket fd, struct MHD_UpgradeResponseHandle *upgrade)
{
	struct exchange *x = cls;
	int flags = fcntl(fd, F_GETFL);

	(void)mhd;
	(void)context;
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	x->upgrade = upgrade;
	x->state = EXCHANGE_UPGRADED;
	x->http->handler.upgraded(x->http->handler.ctx, x->id, fd, extra, extra_len);
}

void http_upgrade(struct http *http, uint64_t id, const struct http_head *head)
{
	struct exchange *x = find_unanswered(http, id);
	struct http_head switching = *head;

	if (!x)
		return;
	switching.status = MHD_HTTP_SWITCHING_PROTOCOLS;
	x->response = MHD_create_response_for_upgrade(on_upgrade, x);
	if (!x->response)
		abort();
	exchange_answer(x, &switching);
}

void http_upgrade_close(struct http *http, uint64_t id)
{
	struct exchange *x = exchange_find(http, id);

	if (!x || !x->upgrade)
		return;
	MHD_upgrade_action(take(&x->upgrade), MHD_UPGRADE_ACTION_CLOSE);
	http_kick(http);
}
