/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console's websocket, byte by byte: to a guest on a unix socket and on a pty, displaced, slow
 * on either side, replayed, ended by each side.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "io/websocket.h"
#include "test/lib/stream.h"

#define NS "/apis/kubevirt.io/v1/namespaces/default"
#define CONSOLE \
	"/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/a/console"

static void start(struct api_fixture *f, struct guest *g)
{
	guest_start(g, "serial0");
	api_fixture_start(f);
	f->yes.console = g->path;
	api_expect(f, "POST " NS "/virtualmachines", api_vm("a", "Always"), 201, NULL);
	api_expect(f, "GET " NS "/virtualmachineinstances/a", NULL, 200, "\"Running\"");
}

static void stop(struct api_fixture *f, struct guest *g)
{
	api_fixture_stop(f);
	guest_stop(g);
}

static void attach(struct client *c, struct api_fixture *f)
{
	stream_attach(c, f, CONSOLE);
}

START_TEST(the_answer_to_a_key)
{
	char accept[WEBSOCKET_ACCEPT_SIZE];

	websocket_accept(STREAM_KEY, accept);
	ck_assert_str_eq(accept, STREAM_ACCEPT);
	websocket_accept("x3JJHMbDL1EzLkh9GBhXDw==", accept); /* RFC 6455's other example */
	ck_assert_str_eq(accept, "HSmrc0sMlYUkAGmm5OPpG2HaGWk=");
}
END_TEST

START_TEST(bytes_go_both_ways)
{
	struct api_fixture f;
	struct guest g;
	struct client c;

	start(&f, &g);
	attach(&c, &f);
	guest_accept(&g);
	ck_assert_int_eq(write(g.fd, "login: ", 7), 7);
	ck_assert(client_sees(&c, "\x82\x07login: "));
	stream_send(&c, 2, "root\r", 5);
	guest_expect(&f, &g, "root\r");
	stream_send(&c, 1, "text", 4);
	guest_expect(&f, &g, "text");
	stream_send(&c, 9, "are you there", 13);
	ck_assert(client_sees(&c,
		"\x8a\x0d"
		"are you there"));
	stream_send(&c, 8, "\x03\xe8", 2);
	ck_assert(client_sees(&c, "\x88\x02\x03\xe8"));
	ck_assert(client_ends(&c));
	guest_expect(&f, &g, "");
	client_close(&c);
	stop(&f, &g);
}
END_TEST

/* What a client sends just before it leaves still reaches the guest: `echo
 * poweroff | vmactl console`. */
START_TEST(last_words_of_a_client)
{
	struct api_fixture f;
	struct guest g;
	struct client c;

	start(&f, &g);
	attach(&c, &f);
	guest_accept(&g);
	f.frozen = true;
	stream_send(&c, 2, "poweroff\r", 9);
	client_close(&c);
	guest_expect(&f, &g, "poweroff\r");
	stop(&f, &g);
}
END_TEST

START_TEST(a_newcomer_displaces)
{
	struct api_fixture f;
	struct guest g;
	struct client first, second;

	start(&f, &g);
	attach(&first, &f);
	guest_accept(&g);
	attach(&second, &f);
	ck_assert(client_sees(&first,
		"\x03\xf0"
		"another client has taken over this console"));
	ck_assert(client_ends(&first));
	guest_accept(&g);
	ck_assert_int_eq(write(g.fd, "again", 5), 5);
	ck_assert(client_sees(&second, "again"));
	client_close(&first);
	client_close(&second);
	stop(&f, &g);
}
END_TEST

START_TEST(the_guest_ends)
{
	struct api_fixture f;
	struct guest g;
	struct client c;

	start(&f, &g);
	attach(&c, &f);
	guest_accept(&g);
	ck_assert_int_eq(write(g.fd, "Power down.", 11), 11);
	close(g.fd);
	g.fd = -1;
	ck_assert(client_sees(&c, "Power down."));
	ck_assert(client_sees(&c, "\x03\xe8the console has ended with its guest"));
	ck_assert(client_ends(&c));
	client_close(&c);
	stop(&f, &g);
}
END_TEST

/* The guest is never held up by a client that does not read; the client is told what it missed. */
START_TEST(a_slow_client)
{
	struct api_fixture f;
	struct guest g;
	struct client c;
	char flood[4096];
	size_t written = 0;

	memset(flood, '.', sizeof(flood));
	start(&f, &g);
	attach(&c, &f);
	guest_accept(&g);
	for (int i = 0; i < 20000 && written < 4 * 1024 * 1024; i++) {
		ssize_t n = write(g.fd, flood, sizeof(flood));

		written += n > 0 ? (size_t)n : 0;
		uv_run(&f.loop, UV_RUN_NOWAIT);
	}
	ck_assert_uint_ge(written, 4 * 1024 * 1024);
	ck_assert_int_eq(write(g.fd, "the end", 7), 7);
	ck_assert(client_sees(&c, " bytes dropped, the reader is slow]"));
	ck_assert(client_sees(&c, "the end"));
	client_close(&c);
	stop(&f, &g);
}
END_TEST

/* … and a guest that does not read makes the client wait: nothing piles up in the agent. */
START_TEST(a_slow_guest)
{
	struct api_fixture f;
	struct guest g;
	struct client c;
	struct guest_reading r = { .guest = &g };
	char flood[16384 + 8];
	size_t sent = 0;

	memset(flood, 0, sizeof(flood)); /* one frame of zeros: masked by zero, header below */
	memcpy(flood, "\x82\xfe\x40\x00", 4);
	start(&f, &g);
	attach(&c, &f);
	guest_accept(&g);
	for (int idle = 0; idle < 100; idle++) {
		size_t at = sent % sizeof(flood);
		ssize_t n = send(c.fd, flood + at, sizeof(flood) - at, MSG_DONTWAIT);

		if (n > 0) {
			sent += (size_t)n;
			idle = 0;
		}
		ck_assert_uint_lt(sent, 8 * 1024 * 1024);
		uv_run(&f.loop, UV_RUN_NOWAIT);
	}
	r.want = sent / sizeof(flood) * 16384;
	ck_assert(loop_until(&f.loop, guest_has_read, &r));
	ck_assert_uint_ge(r.in.len, r.want);
	buf_done(&r.in);
	client_close(&c);
	stop(&f, &g);
}
END_TEST

START_TEST(replays_what_was_before)
{
	struct api_fixture f;
	struct guest g;
	struct client c;
	autofree char *path = NULL;
	FILE *log;

	start(&f, &g);
	path = xasprintf("%s/serial0.log", g.dir);
	log = fopen(path, "w");
	for (int i = 0; i < 5000; i++)
		fprintf(log, "line %04d\n", i);
	fclose(log);
	attach(&c, &f);
	ck_assert(client_sees(&c, "line 4999\n"));
	ck_assert_uint_lt(c.in.len, 17 * 1024);
	ck_assert_int_eq(memcmp(c.in.data + 4, "line ", 5), 0); /* behind the frame's head */
	client_close(&c);
	stop(&f, &g);
}
END_TEST

START_TEST(a_pty)
{
	struct api_fixture f;
	struct guest g;
	struct client c;
	struct termios raw;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	guest_start(&g, "serial0");
	api_fixture_start(&f);
	f.yes.console = ptsname(master);
	api_expect(&f, "POST " NS "/virtualmachines", api_vm("a", "Always"), 201, NULL);
	attach(&c, &f);
	ck_assert_int_eq(tcgetattr(master, &raw), 0);
	ck_assert_uint_eq(raw.c_lflag & (ECHO | ICANON), 0);
	ck_assert_int_eq(write(master, "login: ", 7), 7);
	ck_assert(client_sees(&c, "login: "));
	stream_send(&c, 2, "root\r", 5);
	g.fd = master;
	guest_expect(&f, &g, "root\r");
	close(master);
	g.fd = -1;
	ck_assert(client_sees(&c, "the console has ended"));
	client_close(&c);
	stop(&f, &g);
}
END_TEST

START_TEST(who_gets_none)
{
	struct api_fixture f;
	struct guest g;

	start(&f, &g);
	api_expect(&f, "GET " CONSOLE, NULL, 400, "websocket");
	for (int i = 0; i < 2; i++) {
		struct client_request request = { .line = i ? "GET " CONSOLE
							    : "GET /apis/subresources.kubevirt.io"
							      "/v1/namespaces/default"
							      "/virtualmachineinstances/b/console",
			.headers = "Connection: close, Upgrade\r\nUpgrade: websocket\r\n"
				   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " STREAM_KEY
				   "\r\n" };

		if (i)
			unlink(g.path);
		ck_assert_int_eq(client_request(&f.loop, f.path, &request, NULL, NULL),
			i ? 503 : 404);
	}
	stop(&f, &g);
}
END_TEST

START_TEST(the_agent_stops)
{
	struct api_fixture f;
	struct guest g;
	struct client c;

	start(&f, &g);
	attach(&c, &f);
	guest_accept(&g);
	c.loop = NULL;
	stop(&f, &g);
	uv_loop_init(&f.loop);
	c.loop = &f.loop;
	ck_assert(client_sees(&c, "\x03\xe9the agent is stopping"));
	client_close(&c);
	uv_run(&f.loop, UV_RUN_DEFAULT);
	uv_loop_close(&f.loop);
}
END_TEST

Suite *test_api_console_suite(void);

Suite *test_api_console_suite(void)
{
	Suite *suite = suite_create("api_console");
	TCase *tc = tcase_create("console");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, the_answer_to_a_key);
	tcase_add_test(tc, bytes_go_both_ways);
	tcase_add_test(tc, last_words_of_a_client);
	tcase_add_test(tc, a_newcomer_displaces);
	tcase_add_test(tc, the_guest_ends);
	tcase_add_test(tc, a_slow_client);
	tcase_add_test(tc, a_slow_guest);
	tcase_add_test(tc, replays_what_was_before);
	tcase_add_test(tc, a_pty);
	tcase_add_test(tc, who_gets_none);
	tcase_add_test(tc, the_agent_stops);
	suite_add_tcase(suite, tc);
	return suite;
}
