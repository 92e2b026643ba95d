/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP adapter on a real unix socket: answers now and later, streams, upgrades, bounds, clients
 * that leave, and the socket file.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/http.h"
#include "test/lib/client.h"

/* What the handler below does is in the path: /now /later /stream /upgrade. */
struct server {
	uv_loop_t loop;
	struct http *http;
	char *path;
	uint64_t id; /* of the last request */
	unsigned requests, gone, fills;
	size_t body_len;
	int64_t uid;
	bool read_only;
	enum err_code refuse;
	int piece;   /* a stream writes numbers up to this one … */
	int written; /* … and got as far as here */
	int upgraded_fd;
};

static const struct http_head plain = { .status = 200,
	.fields = { { "Content-Type", "text/plain" } } };

static void on_request(void *ctx, uint64_t id, const struct http_request *request)
{
	struct server *s = ctx;
	const char *word = http_query(request, "word");

	s->id = id;
	s->requests++;
	s->body_len = request->body_len;
	s->uid = request->uid;
	s->read_only = request->read_only;
	s->refuse = request->refuse;
	if (streq(request->path, "/now"))
		http_respond(s->http, id, &plain, xstrdup(word ? word : "now"),
			strlen(word ? word : "now"));
	else if (streq(request->path, "/stream"))
		http_stream(s->http, id, &plain);
	else if (streq(request->path, "/upgrade"))
		http_upgrade(s->http, id,
			&(struct http_head){ .fields = { { "Upgrade", "echo" } } });
}

static void on_fill(void *ctx, uint64_t id)
{
	struct server *s = ctx;
	char text[32];

	s->fills++;
	if (s->written < s->piece) {
		snprintf(text, sizeof(text), "piece%d\n", ++s->written);
		http_stream_write(s->http, id, text, strlen(text));
	}
}

static void on_upgraded(void *ctx, uint64_t id, int fd, const void *extra, size_t len)
{
	struct server *s = ctx;

	(void)id;
	s->upgraded_fd = fd;
	if (len)
		ck_assert_int_eq(write(fd, extra, len), len);
}

static void on_gone(void *ctx, uint64_t id)
{
	struct server *s = ctx;

	(void)id;
	s->gone++;
}

static int listen_on(struct http *http, const char *path, struct err *err)
{
	return http_listen(http, &(struct http_socket){ .path = path }, err);
}

static void server_start(struct server *s, const struct http_options *options)
{
	struct http_handler handler = { s, on_request, on_fill, on_upgraded, on_gone };
	struct err err;

	*s = (struct server){ .upgraded_fd = -1 };
	s->path = xasprintf("/tmp/test_http.%d.sock", (int)getpid());
	unlink(s->path);
	uv_loop_init(&s->loop);
	ck_assert_int_eq(http_new(&s->loop, options, &handler, &s->http, &err), 0);
	ck_assert_int_eq(listen_on(s->http, s->path, &err), 0);
}

static void server_stop(struct server *s)
{
	http_free(s->http);
	uv_run(&s->loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&s->loop), 0);
	ck_assert_int_ne(access(s->path, F_OK), 0);
	free(s->path);
}

static bool is_asked(void *ctx)
{
	struct server *s = ctx;

	return s->requests > 0;
}

static bool is_gone(void *ctx)
{
	struct server *s = ctx;

	return s->gone > 0;
}

static bool is_empty(void *ctx)
{
	struct server *s = ctx;

	return http_connections(s->http) == 0;
}

START_TEST(answers_at_once_and_again)
{
	struct server s;
	struct client c;

	server_start(&s, NULL);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /now?word=a%%20b HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(client_sees(&c, "\r\n\r\na b"));
	client_drop(&c, "a b");
	client_printf(&c, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
	ck_assert(client_sees(&c, "200 OK"));
	ck_assert_uint_eq(s.body_len, 5);
	ck_assert_int_eq(s.uid, getuid());
	ck_assert_uint_eq(s.gone, 2);
	client_close(&c);
	ck_assert(loop_until(&s.loop, is_empty, &s));
	server_stop(&s);
}
END_TEST

START_TEST(answers_later)
{
	struct server s;
	struct client c;

	server_start(&s, NULL);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(loop_until(&s.loop, is_asked, &s));
	http_respond(s.http, s.id, &plain, xstrdup("later"), 5);
	http_respond(s.http, s.id, &plain, xstrdup("twice"), 5); /* is dropped */
	ck_assert(client_sees(&c, "\r\n\r\nlater"));
	ck_assert_uint_eq(s.gone, 1);
	http_respond(s.http, s.id, &plain, xstrdup("after"), 5); /* finds nothing */
	client_close(&c);
	server_stop(&s);
}
END_TEST

/* Slots are used again, ids are not: an answer never reaches the next one's client. */
START_TEST(a_late_answer_in_a_used_slot)
{
	struct http_options options = { .connections_max = 2, .root_slots = 1 };
	struct server s;
	struct client c;
	uint64_t first = 0;

	server_start(&s, &options);
	client_open(&c, &s.loop, s.path);
	for (unsigned i = 0; i < 3; i++) {
		s.requests = 0;
		client_printf(&c, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
		ck_assert(loop_until(&s.loop, is_asked, &s));
		if (i == 2)
			http_respond(s.http, first, &plain, xstrdup("wrong"), 5);
		http_respond(s.http, s.id, &plain, xstrdup("right"), 5);
		ck_assert(client_sees(&c, "\r\n\r\nright"));
		client_drop(&c, "right");
		first = i ? first : s.id;
	}
	client_close(&c);
	server_stop(&s);
}
END_TEST

/* Another connection, older and idle: libmicrohttpd's own sweep of closed ones ends
 * at the first such. */
static void open_idle(struct client *c, struct server *s)
{
	client_open(c, &s->loop, s->path);
	client_printf(c, "GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(client_sees(c, "\r\n\r\nnow"));
	s->requests = s->gone = 0;
}

static void settle(struct server *s)
{
	for (int i = 0; i < 20; i++)
		uv_run(&s->loop, UV_RUN_NOWAIT);
}

/* Noticed and freed at once, without anything else happening on the loop. */
static void expect_departure(struct server *s, struct client *c)
{
	settle(s);
	ck_assert_uint_eq(http_connections(s->http), 2);
	client_close(c);
	settle(s);
	ck_assert_uint_eq(s->gone, 1);
	ck_assert_uint_eq(http_connections(s->http), 1);
}

/* The handler learns that nobody waits any more, and its late answer hurts nobody. */
START_TEST(a_client_leaves_before_the_answer)
{
	struct server s;
	struct client c, idle;

	server_start(&s, NULL);
	open_idle(&idle, &s);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(loop_until(&s.loop, is_asked, &s));
	expect_departure(&s, &c);
	http_respond(s.http, s.id, &plain, xstrdup("late"), 4);
	client_close(&idle);
	server_stop(&s);
}
END_TEST

START_TEST(streams_sleep_and_wake)
{
	struct server s;
	struct client c;

	server_start(&s, NULL);
	s.piece = 2;
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(client_sees(&c, "piece2\n"));
	ck_assert_uint_eq(s.fills, 3); /* the third had nothing and went to sleep */
	for (int i = 0; i < 20; i++)
		uv_run(&s.loop, UV_RUN_NOWAIT);
	ck_assert_uint_eq(s.fills, 3);
	s.piece = 3;
	http_stream_wake(s.http, s.id);
	ck_assert(client_sees(&c, "piece3\n"));
	http_stream_end(s.http, s.id);
	ck_assert(client_sees(&c, "\r\n0\r\n\r\n"));
	client_close(&c);
	server_stop(&s);
}
END_TEST

START_TEST(a_stream_whose_client_leaves)
{
	struct server s;
	struct client c, idle;

	for (int piece = 0; piece < 2; piece++) { /* before and after its first byte */
		server_start(&s, NULL);
		open_idle(&idle, &s);
		s.piece = piece;
		client_open(&c, &s.loop, s.path);
		client_printf(&c, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
		ck_assert(client_sees(&c, piece ? "piece1\n" : "\r\n\r\n"));
		expect_departure(&s, &c);
		client_close(&idle);
		server_stop(&s);
	}
}
END_TEST

/* It stops reading, so that the stream waits for it, and then leaves. */
START_TEST(a_blocked_stream_whose_client_leaves)
{
	struct server s;
	struct client c, idle;

	server_start(&s, NULL);
	open_idle(&idle, &s);
	s.piece = 10000000;
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
	for (int i = 0; i < 100; i++)
		settle(&s);
	expect_departure(&s, &c);
	client_close(&idle);
	server_stop(&s);
}
END_TEST

/* A reader that does not read costs one piece, however much there is to be told. */
START_TEST(a_slow_reader_is_not_filled_up)
{
	struct server s;
	struct client c;
	unsigned fills;
	char last[32];

	server_start(&s, NULL);
	s.piece = 10000000;
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
	do {
		fills = s.fills;
		for (int i = 0; i < 100; i++)
			uv_run(&s.loop, UV_RUN_NOWAIT);
	} while (s.fills != fills || fills == 0);
	ck_assert_uint_lt(fills, 1000000);
	s.piece = s.written; /* once it reads, it gets all of it */
	snprintf(last, sizeof(last), "piece%d\n", s.written);
	ck_assert(client_sees(&c, last));
	client_close(&c);
	ck_assert(loop_until(&s.loop, is_gone, &s));
	server_stop(&s);
}
END_TEST

START_TEST(upgrades)
{
	struct server s;
	struct client c;

	server_start(&s, NULL);
	client_open(&c, &s.loop, s.path);
	client_printf(&c,
		"GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
		"Upgrade: echo\r\n\r\nearly");
	ck_assert(client_sees(&c, "101 Switching"));
	ck_assert(client_sees(&c, "\r\n\r\nearly"));
	ck_assert_int_eq(write(s.upgraded_fd, "bytes", 5), 5);
	ck_assert(client_sees(&c, "bytes"));
	ck_assert_uint_eq(s.gone, 0);
	http_upgrade_close(s.http, s.id);
	ck_assert(client_ends(&c));
	ck_assert(loop_until(&s.loop, is_gone, &s));
	client_close(&c);
	server_stop(&s);
}
END_TEST

START_TEST(bodies_have_a_bound)
{
	struct http_options options = { .body_max = 1000 };
	struct server s;
	struct client c;
	char much[1001];

	memset(much, 'x', sizeof(much));
	server_start(&s, &options);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n");
	ck_assert(client_sees(&c, "200 OK"));
	ck_assert_int_eq(s.refuse, ERR_TOO_LARGE);
	client_close(&c);

	client_open(&c, &s.loop, s.path);
	client_printf(&c, "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
	client_printf(&c, "3e9\r\n%.1001s\r\n0\r\n\r\n", much);
	ck_assert(client_sees(&c, "200 OK"));
	ck_assert_int_eq(s.refuse, ERR_TOO_LARGE);
	client_close(&c);

	client_open(&c, &s.loop, s.path);
	client_printf(&c, "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 5; i++)
		client_printf(&c, "3e9\r\n%.1001s\r\n", much);
	ck_assert(client_ends(&c));
	ck_assert_uint_eq(s.requests, 2);
	client_close(&c);
	server_stop(&s);
}
END_TEST

START_TEST(headers_have_a_bound)
{
	struct server s;
	struct client c;
	char line[1001];

	memset(line, 'x', sizeof(line));
	server_start(&s, NULL);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /now HTTP/1.1\r\nHost: x\r\n");
	for (int i = 0; i < 50; i++)
		client_printf(&c, "X-%d: %.1000s\r\n", i, line);
	ck_assert(client_sees(&c, " 431 "));
	client_close(&c);
	ck_assert_uint_eq(s.requests, 0);
	server_stop(&s);
}
END_TEST

START_TEST(connections_have_a_bound)
{
	struct http_options options = { .per_uid_max = 2 };
	struct server s;
	struct client c[4];
	int n = 0;

	server_start(&s, &options);
	for (int i = 0; i < 3; i++)
		client_open(&c[i], &s.loop, s.path);
	ck_assert(client_sees(&c[2], "429 Too Many Requests"));
	ck_assert(client_ends(&c[2]));
	client_close(&c[0]);
	client_close(&c[2]);
	client_printf(&c[1], "GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(client_sees(&c[1], "200 OK"));
	client_open(&c[0], &s.loop, s.path);
	client_printf(&c[0], "GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(client_sees(&c[0], "200 OK"));
	client_close(&c[0]);
	client_close(&c[1]);
	server_stop(&s);

	/* Root may have all three, everybody else one. */
	options = (struct http_options){ .connections_max = 3, .root_slots = 2 };
	server_start(&s, &options);
	for (int i = 0, mine = getuid() == 0 ? 3 : 1; i <= mine; i++) {
		client_open(&c[i], &s.loop, s.path);
		client_printf(&c[i], "GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
		ck_assert(client_sees(&c[i], i < mine ? "200 OK" : "503 Service Unavailable"));
		n++;
	}
	while (n)
		client_close(&c[--n]);
	server_stop(&s);
}
END_TEST

/* Each socket has its own connections: one that is full leaves the other as it was. */
START_TEST(a_socket_for_reading)
{
	struct http_options options = { .per_uid_max = 1, .read_only_per_uid = 2 };
	struct http_socket socket = { .read_only = true, .mode = 0640 };
	struct server s;
	struct client c[3], full;
	struct err err;
	struct stat st;

	server_start(&s, &options);
	socket.path = xasprintf("%s-ro", s.path);
	ck_assert_int_eq(http_listen(s.http, &socket, &err), 0);
	ck_assert_int_eq(stat(socket.path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0640);
	for (int i = 0; i < 3; i++) {
		client_open(&c[i], &s.loop, i ? socket.path : s.path);
		client_printf(&c[i], "GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
		ck_assert(client_sees(&c[i], "200 OK"));
		ck_assert(s.read_only == (i > 0));
	}
	client_open(&full, &s.loop, socket.path);
	ck_assert(client_sees(&full, "429 Too Many Requests"));
	client_close(&full);
	client_open(&full, &s.loop, s.path);
	ck_assert(client_sees(&full, "429 Too Many Requests"));
	client_close(&full);
	for (int i = 0; i < 3; i++)
		client_close(&c[i]);
	ck_assert(loop_until(&s.loop, is_empty, &s));
	server_stop(&s);
	ck_assert_int_ne(access(socket.path, F_OK), 0);
	free((char *)socket.path);
}
END_TEST

START_TEST(a_socket_for_a_group)
{
	struct http_socket socket = { .group = "no-such-group" };
	struct server s;
	struct err err;

	server_start(&s, NULL);
	socket.path = xasprintf("%s-group", s.path);
	ck_assert_int_eq(http_listen(s.http, &socket, &err), 0); /* it was only a wish */
	socket.group_must_exist = true;
	free((char *)socket.path);
	socket.path = xasprintf("%s-must", s.path);
	ck_assert_int_eq(http_listen(s.http, &socket, &err), -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(err.msg, "there is no group 'no-such-group'"));
	free((char *)socket.path);
	server_stop(&s);
}
END_TEST

START_TEST(idle_connections_are_closed)
{
	struct http_options options = { .idle_s = 1 };
	struct server s;
	struct client c;

	server_start(&s, &options);
	client_open(&c, &s.loop, s.path);
	client_printf(&c, "GET /now HTTP/1.1\r\nHo");
	ck_assert(client_ends(&c));
	client_close(&c);
	server_stop(&s);
}
END_TEST

START_TEST(sleeps_when_idle)
{
	struct server s;
	struct client c;

	server_start(&s, NULL);
	s.piece = 1;
	uv_run(&s.loop, UV_RUN_NOWAIT);
	ck_assert_int_eq(uv_backend_timeout(&s.loop), -1);
	client_open(&c, &s.loop, s.path); /* a stream that waits wakes nobody either */
	client_printf(&c, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert(client_sees(&c, "piece1"));
	for (int i = 0; i < 20; i++)
		uv_run(&s.loop, UV_RUN_NOWAIT);
	ck_assert_int_eq(uv_backend_timeout(&s.loop), -1);
	client_close(&c);
	server_stop(&s);
}
END_TEST

START_TEST(stops_with_everything_open)
{
	const char *paths[] = { "/later", "/stream", "/upgrade" };
	struct server s;
	struct client c[4];

	server_start(&s, NULL);
	s.piece = 1;
	for (int i = 0; i < 3; i++) {
		s.requests = 0;
		client_open(&c[i], &s.loop, s.path);
		client_printf(&c[i],
			"GET %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
			"Upgrade: echo\r\n\r\n",
			paths[i]);
		ck_assert(loop_until(&s.loop, is_asked, &s));
	}
	client_open(&c[3], &s.loop, s.path);
	client_printf(&c[3], "GET /n");
	uv_run(&s.loop, UV_RUN_NOWAIT);
	server_stop(&s);
	ck_assert_uint_eq(s.gone, 3);
	for (int i = 0; i < 4; i++)
		client_close(&c[i]);
}
END_TEST

START_TEST(the_socket_file)
{
	struct server s;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct http_handler handler = { 0 };
	struct http *other;
	struct err err;
	struct stat st;
	int fd;

	server_start(&s, NULL);
	ck_assert_int_eq(stat(s.path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0660);
	ck_assert_int_eq(http_new(&s.loop, NULL, &handler, &other, &err), 0);
	ck_assert_int_eq(listen_on(other, s.path, &err), -ERR_CONFLICT);
	ck_assert_ptr_nonnull(strstr(err.msg, "another agent listens on '/tmp/"));

	unlink(s.path); /* the first server's file is another one now, which it must leave alone */
	copy_str(address.sun_path, sizeof(address.sun_path), s.path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	ck_assert_int_eq(listen_on(other, s.path, &err), 0);
	http_free(other);
	ck_assert_int_ne(access(s.path, F_OK), 0);

	ck_assert_int_eq(http_new(&s.loop, NULL, &handler, &other, &err), 0);
	ck_assert_int_eq(listen_on(other, "/dev/null", &err), -ERR_CONFLICT);
	ck_assert_int_eq(listen_on(other, "/nonexistent/sock", &err), -ERR_IO);
	http_free(other);
	server_stop(&s);
}
END_TEST

static void *close_soon(void *arg)
{
	usleep(200 * 1000);
	close(*(int *)arg);
	return NULL;
}

/* A server that was killed answers until the kernel has closed all that it had. */
START_TEST(a_socket_whose_server_is_going)
{
	autofree char *path = xasprintf("/tmp/test_http.going.%d", (int)getpid());
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct http_handler handler = { 0 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct http *http;
	struct err err;
	uv_loop_t loop;
	pthread_t thread;

	copy_str(address.sun_path, sizeof(address.sun_path), path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	uv_loop_init(&loop);
	ck_assert_int_eq(http_new(&loop, NULL, &handler, &http, &err), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, close_soon, &fd), 0);
	ck_assert_msg(listen_on(http, path, &err) == 0, "%s", err.msg);
	pthread_join(thread, NULL);
	http_free(http);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
}
END_TEST

Suite *test_http_suite(void);

Suite *test_http_suite(void)
{
	Suite *suite = suite_create("http");
	TCase *tc = tcase_create("server");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, answers_at_once_and_again);
	tcase_add_test(tc, answers_later);
	tcase_add_test(tc, a_late_answer_in_a_used_slot);
	tcase_add_test(tc, a_client_leaves_before_the_answer);
	tcase_add_test(tc, streams_sleep_and_wake);
	tcase_add_test(tc, a_stream_whose_client_leaves);
	tcase_add_test(tc, a_blocked_stream_whose_client_leaves);
	tcase_add_test(tc, a_slow_reader_is_not_filled_up);
	tcase_add_test(tc, upgrades);
	tcase_add_test(tc, bodies_have_a_bound);
	tcase_add_test(tc, headers_have_a_bound);
	tcase_add_test(tc, connections_have_a_bound);
	tcase_add_test(tc, a_socket_for_reading);
	tcase_add_test(tc, a_socket_for_a_group);
	tcase_add_test(tc, idle_connections_are_closed);
	tcase_add_test(tc, sleeps_when_idle);
	tcase_add_test(tc, stops_with_everything_open);
	tcase_add_test(tc, the_socket_file);
	tcase_add_test(tc, a_socket_whose_server_is_going);
	suite_add_tcase(suite, tc);
	return suite;
}
