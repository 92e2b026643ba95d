/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client side of HTTP in tests: as little as it takes to send bytes that no real client would
 * send, and to look at every byte of the answer.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/lib/client.h"

static void on_tick(uv_timer_t *timer)
{
	(void)timer;
}

bool loop_until(uv_loop_t *loop, bool (*done)(void *ctx), void *ctx)
{
	uint64_t end = uv_hrtime() / 1000000 + CLIENT_DEADLINE_MS;
	uv_timer_t *tick = xcalloc(1, sizeof(*tick));
	bool ret;

	uv_timer_init(loop, tick); /* we poll our side: the loop must not sleep long */
	uv_timer_start(tick, on_tick, 1, 2);
	while (!(ret = done(ctx)) && uv_hrtime() / 1000000 < end)
		uv_run(loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)tick, (uv_close_cb)free);
	uv_run(loop, UV_RUN_NOWAIT);
	return ret;
}

void client_open(struct client *c, uv_loop_t *loop, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*c = (struct client){ .loop = loop };
	copy_str(address.sun_path, sizeof(address.sun_path), path);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

void client_close(struct client *c)
{
	close(c->fd);
	buf_done(&c->in);
}

void client_send(struct client *c, const void *data, size_t len)
{
	uint64_t end = uv_hrtime() / 1000000 + CLIENT_DEADLINE_MS;

	for (const char *p = data; len && uv_hrtime() / 1000000 < end;) {
		ssize_t n = send(c->fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			return;
		uv_run(c->loop, UV_RUN_NOWAIT);
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
}

void client_printf(struct client *c, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	client_send(c, text, strlen(text));
	free(text);
}

static void receive(struct client *c)
{
	char piece[65536];
	ssize_t n;

	while (!c->eof && (n = recv(c->fd, piece, sizeof(piece), MSG_DONTWAIT)) != -1) {
		c->eof = n == 0;
		buf_add(&c->in, piece, (size_t)n);
	}
	if (!c->eof && errno != EAGAIN)
		c->eof = true;
}

struct wait {
	struct client *client;
	const char *text;
	size_t len;
};

static bool is_seen(void *ctx)
{
	struct wait *w = ctx;

	receive(w->client);
	if (w->text)
		return w->client->eof ||
			(w->client->in.len &&
				memmem(w->client->in.data, w->client->in.len, w->text,
					strlen(w->text)));
	return w->client->eof || w->client->in.len >= w->len;
}

bool client_sees(struct client *c, const char *text)
{
	struct wait w = { .client = c, .text = text };

	return loop_until(c->loop, is_seen, &w) && c->in.len &&
		memmem(c->in.data, c->in.len, text, strlen(text));
}

bool client_gets(struct client *c, size_t len)
{
	struct wait w = { .client = c, .len = len };

	return loop_until(c->loop, is_seen, &w) && c->in.len >= len;
}

bool client_ends(struct client *c)
{
	struct wait w = { .client = c, .len = SIZE_MAX };

	loop_until(c->loop, is_seen, &w);
	return c->eof;
}

void client_drop(struct client *c, const char *text)
{
	char *at = c->in.len ? memmem(c->in.data, c->in.len, text, strlen(text)) : NULL;

	ck_assert_ptr_nonnull(at);
	at += strlen(text);
	c->in.len -= (size_t)(at - c->in.data);
	memmove(c->in.data, at, c->in.len + 1);
}

static char *without_chunks(const char *body)
{
	struct buf plain = { 0 };
	unsigned long len;
	char *end;

	while ((len = strtoul(body, &end, 16)) && strlen(end) >= len + 4) {
		buf_add(&plain, end + 2, len);
		body = end + 2 + len + 2;
	}
	return plain.data ? plain.data : xstrdup("");
}

static int split_answer(struct client *c, char **ret_head, char **ret_body)
{
	char *body = c->in.len ? strstr(c->in.data, "\r\n\r\n") : NULL;
	int status = 0;

	ck_assert_msg(body, "no answer: '%s'", c->in.data ? c->in.data : "");
	body[2] = '\0';
	body += 4;
	ck_assert_int_eq(sscanf(c->in.data, "HTTP/1.1 %d", &status), 1);
	if (ret_body)
		*ret_body = strcasestr(c->in.data, "transfer-encoding: chunked")
			? without_chunks(body)
			: xstrdup(body);
	if (ret_head)
		*ret_head = xstrdup(c->in.data);
	return status;
}

int client_request(uv_loop_t *loop, const char *path, const struct client_request *request,
	char **ret_head, char **ret_body)
{
	const char *headers = request->headers ? request->headers : "";
	const char *body = request->body ? request->body : "";
	struct client c;
	int status;

	client_open(&c, loop, path);
	client_printf(&c, "%s HTTP/1.1\r\nHost: x\r\n%s%s", request->line, headers,
		strstr(headers, "Connection:") ? "" : "Connection: close\r\n");
	client_printf(&c, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
	ck_assert_msg(client_ends(&c), "'%s' gets no complete answer", request->line);
	status = split_answer(&c, ret_head, ret_body);
	client_close(&c);
	return status;
}

int client_ask(uv_loop_t *loop, const char *path, const char *request_line, const char *body,
	char **ret_body)
{
	struct client_request request = { .line = request_line, .body = body };

	return client_request(loop, path, &request, NULL, ret_body);
}
