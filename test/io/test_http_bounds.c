/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that are slow or mean no good: each finds a bound, and whoever else is there is served.
 * The bounds are small here, so that they are reached soon.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/http.h"
#include "test/lib/client.h"

#define BIG (512 * 1024) /* bytes: more than a socket holds */

/* What it does is in the path: /now /later /big /stream. */
struct server {
	uv_loop_t loop;
	struct http *http;
	char *path;
	unsigned requests, refused, gone;
	bool sleeps; /* a stream has nothing to say */
	size_t held_most;
};

static const struct http_head plain = { .status = 200,
	.fields = { { "Content-Type", "text/plain" } } };

static char *big_text(void)
{
	char *text = xcalloc(1, BIG + 1);

	memset(text, 'b', BIG);
	memcpy(text + BIG - 4, "end.", 4);
	return text;
}

static void on_request(void *ctx, uint64_t id, const struct http_request *request)
{
	struct server *s = ctx;

	s->requests++;
	s->refused += request->refuse != ERR_OK;
	if (streq(request->path, "/big"))
		http_respond(s->http, id, &plain, big_text(), BIG);
	else if (streq(request->path, "/stream"))
		http_stream(s->http, id, &plain);
	else if (!streq(request->path, "/later"))
		http_respond(s->http, id, &plain, xstrdup("now\n"), 4);
	s->held_most = MAX(s->held_most, http_held(s->http));
}

static void on_fill(void *ctx, uint64_t id)
{
	struct server *s = ctx;
	autofree char *text = big_text();

	if (!s->sleeps)
		http_stream_write(s->http, id, text, BIG);
	s->held_most = MAX(s->held_most, http_held(s->http));
}

static void on_gone(void *ctx, uint64_t id)
{
	struct server *s = ctx;

	(void)id;
	s->gone++;
}

static void server_start(struct server *s, const struct http_options *options)
{
	struct http_handler handler = { .ctx = s,
		.request = on_request,
		.fill = on_fill,
		.gone = on_gone };
	struct http_socket socket = { 0 };
	struct err err;

	*s = (struct server){ 0 };
	socket.path = s->path = xasprintf("/tmp/test_http_bounds.%d.sock", (int)getpid());
	unlink(s->path);
	uv_loop_init(&s->loop);
	ck_assert_int_eq(http_new(&s->loop, options, &handler, &s->http, &err), 0);
	ck_assert_int_eq(http_listen(s->http, &socket, &err), 0);
}

static bool is_empty(void *ctx)
{
	struct server *s = ctx;

	return http_connections(s->http) == 0;
}

/* Nothing is left of anybody. */
static void server_stop(struct server *s)
{
	ck_assert(loop_until(&s->loop, is_empty, s));
	ck_assert_uint_eq(http_held(s->http), 0);
	http_free(s->http);
	uv_run(&s->loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&s->loop), 0);
	free(s->path);
}

static void expect_served(struct server *s, const char *path, const char *text)
{
	struct client c;

	client_open(&c, &s->loop, s->path);
	client_printf(&c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
	ck_assert(client_sees(&c, text));
	client_close(&c);
}

START_TEST(who_says_nothing)
{
	struct http_options options = { .idle_s = 1 };
	struct server s;
	struct client c;

	server_start(&s, &options);
	client_open(&c, &s.loop, s.path);
	ck_assert(client_ends(&c));
	client_close(&c);
	server_stop(&s);
}
END_TEST

/* A watch whose client has stopped reading. */
START_TEST(who_takes_nothing)
{
	struct http_options options = { .idle_s = 1 };
	struct server s;
	struct client c;

	server_start(&s, &options);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
	while (!http_held(s.http))
		uv_run(&s.loop, UV_RUN_NOWAIT);
	ck_assert(loop_until(&s.loop, is_empty, &s));
	client_close(&c);
	server_stop(&s);
}
END_TEST

/* A byte now and then keeps every time-out between bytes from ending it. */
static bool drips_to_the_end(struct client *c, const char *bytes)
{
	for (int i = 0; i < 200; i++) {
		char sink[4096];
		ssize_t n;

		(void)!send(c->fd, bytes + i % strlen(bytes), 1, MSG_NOSIGNAL);
		uv_run(c->loop, UV_RUN_NOWAIT);
		usleep(50 * 1000);
		do {
			n = recv(c->fd, sink, sizeof(sink), MSG_DONTWAIT);
		} while (n > 0);
		if (n == 0)
			return true;
	}
	return false;
}

static const struct {
	const char *head, *drip;
} slow[] = {
	{ "G", "ET" }, { "GET /now HTTP/1.1\r\nX: ", "y" },
	{ "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n", "z" },
	{ "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nz\r\n" },
	{ "GET /now HTTP/1.1\r\nHost: x\r\n\r\nGET /n", "o" }, /* the second one counts anew */
};

START_TEST(a_request_that_never_ends)
{
	struct http_options options = { .request_s = 1 };
	struct server s;
	struct client c, waiting;

	server_start(&s, &options);
	client_open(&waiting, &s.loop, s.path);
	client_printf(&waiting, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "%s", slow[_i].head);
	ck_assert(drips_to_the_end(&c, slow[_i].drip));
	ck_assert_uint_eq(http_connections(s.http), 1); /* who waits for us is not late */
	client_close(&c);
	client_close(&waiting);
	server_stop(&s);
}
END_TEST

static const char *const lengths[] = { "-1", "-9223372036854775808", "18446744073709551615",
	"18446744073709551616", "99999999999999999999999", "0x10", "1 1", "+5", "1048577" };

/* Refused, by us or by the parser; the next one is served. */
START_TEST(lengths_that_are_none)
{
	struct server s;
	struct client c;

	server_start(&s, NULL);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\nabc",
		lengths[_i]);
	shutdown(c.fd, SHUT_WR);
	ck_assert(client_ends(&c));
	ck_assert_uint_eq(s.requests, s.refused);
	client_close(&c);
	expect_served(&s, "/now", "now\n");
	server_stop(&s);
}
END_TEST

START_TEST(chunks_that_are_none)
{
	static const char *const sizes[] = { "ffffffffffffffff", "fffffffffffffffff", "-1", "g",
		"7fffffffffffffff" };
	struct server s;
	struct client c;

	server_start(&s, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		client_open(&c, &s.loop, s.path);
		client_printf(&c,
			"POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
			"%s\r\nabc\r\n",
			sizes[i]);
		for (int k = 0; k < 20; k++)
			uv_run(&s.loop, UV_RUN_NOWAIT);
		client_close(&c);
	}
	expect_served(&s, "/now", "now\n");
	ck_assert_uint_eq(s.requests, 1);
	server_stop(&s);
}
END_TEST

/* One after the other, and nobody else waits for all of them. */
START_TEST(requests_in_advance)
{
	struct buf many = { 0 };
	struct server s;
	struct client c;

	for (int i = 0; i < 500; i++)
		buf_puts(&many, "GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
	server_start(&s, NULL);
	client_open(&c, &s.loop, s.path);
	client_send(&c, many.data, many.len);
	expect_served(&s, "/now", "now\n");
	client_printf(&c, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(client_sees(&c, "end."));
	ck_assert_uint_eq(s.requests, 502);
	client_close(&c);
	buf_done(&many);
	server_stop(&s);
}
END_TEST

#define CROWD 12

static void open_crowd(struct server *s, struct client *crowd, const char *path)
{
	for (int i = 0; i < CROWD; i++) {
		client_open(&crowd[i], &s->loop, s->path);
		client_printf(&crowd[i], "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
	}
}

static unsigned close_crowd(struct client *crowd)
{
	unsigned ended = 0;
	char sink[4096];
	ssize_t n;

	for (int i = 0; i < CROWD; i++) {
		while ((n = recv(crowd[i].fd, sink, sizeof(sink), MSG_DONTWAIT)) > 0)
			;
		ended += n == 0;
		client_close(&crowd[i]);
	}
	return ended;
}

/* More answers, or streams, than there is room for lie unread: they make room for one that
 * reads. */
START_TEST(who_does_not_read)
{
	struct http_options options = { .held_max = 2 * BIG, .stalled_ms = 100 };
	struct client crowd[CROWD];
	struct server s;

	server_start(&s, &options);
	open_crowd(&s, crowd, _i ? "/stream" : "/big");
	expect_served(&s, "/big", "end.");
	ck_assert_uint_le(s.held_most, 2 * BIG + BIG);
	ck_assert_uint_ge(close_crowd(crowd), 1);
	server_stop(&s);
}
END_TEST

/* As long as nobody wants the room, he may take his time. */
START_TEST(who_reads_late)
{
	struct http_options options = { .held_max = 2 * BIG, .stalled_ms = 1 };
	struct server s;
	struct client c;

	server_start(&s, &options);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
	for (int i = 0; i < 20; i++) {
		uv_run(&s.loop, UV_RUN_NOWAIT);
		usleep(50 * 1000);
	}
	ck_assert(client_sees(&c, "end."));
	client_close(&c);
	server_stop(&s);
}
END_TEST

static bool is_held(void *ctx)
{
	struct server *s = ctx;

	return http_held(s->http) > 0;
}

/* Whoever reads what there is did not stand still while it was us who did. */
START_TEST(who_waits_for_us)
{
	struct http_options options = { .held_max = BIG, .stalled_ms = 300 };
	struct server s;
	struct client c;

	server_start(&s, &options);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(loop_until(&s.loop, is_held, &s));
	usleep(1000 * 1000);
	ck_assert(client_sees(&c, "end."));
	client_close(&c);
	server_stop(&s);
}
END_TEST

/* Bodies that stop half-way fill the room, too. */
START_TEST(who_does_not_end_a_body)
{
	struct http_options options = { .held_max = BIG, .stalled_ms = 100 };
	struct client crowd[CROWD];
	autofree char *text = big_text();
	struct server s;

	server_start(&s, &options);
	for (int i = 0; i < CROWD; i++) {
		client_open(&crowd[i], &s.loop, s.path);
		client_printf(&crowd[i],
			"POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", BIG);
		client_send(&crowd[i], text, BIG / 2);
	}
	ck_assert_uint_ge(http_held(s.http), BIG);
	ck_assert_uint_lt(http_held(s.http), 2 * BIG);
	expect_served(&s, "/big", "end.");
	ck_assert_uint_ge(close_crowd(crowd), 1);
	ck_assert_uint_eq(s.refused, 0); /* they never got to be a request */
	server_stop(&s);
}
END_TEST

/* What grows when there is no room is refused, and told so. */
START_TEST(a_body_without_room)
{
	struct http_options options = { .held_max = BIG };
	autofree char *text = big_text();
	struct client holder, c;
	struct server s;

	server_start(&s, &options);
	client_open(&holder, &s.loop, s.path);
	client_printf(&holder, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
	while (!s.requests)
		uv_run(&s.loop, UV_RUN_NOWAIT);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", BIG);
	client_send(&c, text, BIG);
	ck_assert(client_sees(&c, "now\n"));
	ck_assert_uint_eq(s.refused, 1);
	client_close(&c);
	client_close(&holder);
	server_stop(&s);
}
END_TEST

/* A line of waiting clients, some of which leave. */
START_TEST(who_waits_may_leave)
{
	struct http_options options = { .held_max = BIG, .stalled_ms = 100 };
	struct client holder, crowd[CROWD];
	struct server s;

	server_start(&s, &options);
	client_open(&holder, &s.loop, s.path);
	client_printf(&holder, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
	while (!s.requests)
		uv_run(&s.loop, UV_RUN_NOWAIT);
	open_crowd(&s, crowd, "/now");
	for (int i = 0; i < 20; i++)
		uv_run(&s.loop, UV_RUN_NOWAIT);
	ck_assert_uint_eq(s.requests, 1);
	for (int i = 0; i < CROWD; i += 2)
		client_close(&crowd[i]);
	for (int i = 1; i < CROWD; i += 2) {
		ck_assert(client_sees(&crowd[i], "now\n"));
		client_close(&crowd[i]);
	}
	ck_assert_uint_eq(s.requests, 1 + CROWD / 2);
	client_close(&holder);
	server_stop(&s);
}
END_TEST

/* It can say nothing more, and nobody speaks HTTP so: it has left. */
START_TEST(who_has_half_closed)
{
	static const char *const paths[] = { "/later", "/stream" };
	struct server s;
	struct client c;

	server_start(&s, NULL);
	s.sleeps = true;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		client_open(&c, &s.loop, s.path);
		client_printf(&c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", paths[i]);
		for (int k = 0; k < 20; k++)
			uv_run(&s.loop, UV_RUN_NOWAIT);
		shutdown(c.fd, SHUT_WR);
		ck_assert(client_ends(&c));
		client_close(&c);
	}
	server_stop(&s);
	ck_assert_uint_eq(s.gone, 2);
}
END_TEST

Suite *test_http_bounds_suite(void);

Suite *test_http_bounds_suite(void)
{
	Suite *suite = suite_create("http_bounds");
	TCase *tc = tcase_create("bounds");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, who_says_nothing);
	tcase_add_test(tc, who_takes_nothing);
	tcase_add_loop_test(tc, a_request_that_never_ends, 0, ARRAY_SIZE(slow));
	tcase_add_loop_test(tc, lengths_that_are_none, 0, ARRAY_SIZE(lengths));
	tcase_add_test(tc, chunks_that_are_none);
	tcase_add_test(tc, requests_in_advance);
	tcase_add_loop_test(tc, who_does_not_read, 0, 2);
	tcase_add_test(tc, who_reads_late);
	tcase_add_test(tc, who_waits_for_us);
	tcase_add_test(tc, who_does_not_end_a_body);
	tcase_add_test(tc, a_body_without_room);
	tcase_add_test(tc, who_waits_may_leave);
	tcase_add_test(tc, who_has_half_closed);
	suite_add_tcase(suite, tc);
	return suite;
}
