/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room: the bytes that are kept for all clients together, bodies that come in and answers that go
 * out, are bounded. When there is no room left, whoever would need more waits in a line, a body
 * that grows is refused, and those in whose connections nothing has moved for a while are closed:
 * who does not read makes room for who does.
 */
#include <sys/socket.h>

#include "io/http_private.h"

#define LOOK_MS 500 /* at who has not moved, as long as somebody waits */

static void look_on(struct http *http);

void room_take(struct exchange *x, size_t n)
{
	x->held += n;
	x->http->held += n;
	x->moved = uv_now(x->http->loop);
	look_on(x->http);
}

void room_give(struct exchange *x, size_t n)
{
	x->held -= n;
	x->http->held -= n;
	x->moved = uv_now(x->http->loop);
	room_serve(x->http);
}

bool room_is_full(const struct http *http)
{
	return http->held >= http->options.held_max;
}

/* One at a time: how much it needs shows when it has been served. */
void room_serve(struct http *http)
{
	struct exchange *x = http->line;

	if (!x || http->admitted || room_is_full(http))
		return;
	room_forget(x);
	http->admitted = x;
	exchange_resume(x);
}

static void evict(struct exchange *x)
{
	x->departed = true;
	buf_done(&x->body);
	buf_done(&x->out);
	free(take(&x->answer));
	shutdown(x->conn->fd, SHUT_RDWR); /* libmicrohttpd notices, and ends it */
	room_give(x, x->held);
}

/* For so long, and at the look before this one as well: where the loop itself was held up, all are
 * late, and in between whoever reads has moved. */
static bool has_stalled(struct exchange *x)
{
	bool again = x->late == x->moved;

	if (!x->held || x->waits || uv_now(x->http->loop) - x->moved < x->http->options.stalled_ms)
		return false;
	x->late = x->moved;
	return again;
}

static void on_look(uv_timer_t *timer)
{
	struct http *http = timer->data;

	for (unsigned i = 0; i < http->n_slots; i++) {
		struct exchange *x = http->slots[i];

		if (x && has_stalled(x))
			evict(x);
	}
	if (!http->line && !room_is_full(http))
		uv_timer_stop(timer);
}

static void look_on(struct http *http)
{
	if ((http->line || room_is_full(http)) && !http->closing &&
		!uv_is_active((uv_handle_t *)&http->look))
		uv_timer_start(&http->look, on_look, LOOK_MS, LOOK_MS);
}

bool room_wait(struct exchange *x)
{
	struct http *http = x->http;
	struct exchange **end = &http->line;

	if (http->admitted == x || (!http->line && !room_is_full(http)))
		return false;
	while (*end)
		end = &(*end)->line_next;
	*end = x;
	x->waits = true;
	look_on(http);
	exchange_suspend(x);
	return true;
}

void room_served(struct exchange *x)
{
	if (x->http->admitted != x)
		return;
	x->http->admitted = NULL;
	room_serve(x->http);
}

void room_forget(struct exchange *x)
{
	struct exchange **at = &x->http->line;

	if (!x->waits)
		return;
	while (*at != x)
		at = &(*at)->line_next;
	*at = x->line_next;
	x->line_next = NULL;
	x->waits = false;
}
