/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console's websocket, byte by byte: to a guest on a unix socket and on a pty, displaced, slow on
 * either side, replayed, ended by each side.
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
#include "test/lib/api_fixture.h"

#define NS "/apis/kubevirt.io/v1/namespaces/default"
#define CONSOLE \
	"/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/a/console"
#define KEY    "dGhlIHNhbXBsZSBub25jZQ==" /* RFC 6455 §1.3 */
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

struct guest { /* QEMU's end of the serial port */
	char *dir, *path;
	int listener, fd;
};

static void guest_start(struct guest *g)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*g = (struct guest){ .fd = -1 };
	g->dir = xstrdup("/tmp/test_console.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(g->dir));
	g->path = xasprintf("%s/serial0", g->dir);
	copy_str(address.sun_path, sizeof(address.sun_path), g->path);
	g->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(g->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(g->listener, 1), 0);
}

static void guest_stop(struct guest *g)
{
	autofree char *log = xasprintf("%s/serial0.log", g->dir);

	close(g->listener);
	if (g->fd >= 0)
		close(g->fd);
	unlink(g->path);
	unlink(log);
	rmdir(g->dir);
	free(g->path);
	free(g->dir);
}

static void guest_accept(struct guest *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = accept4(g->listener, NULL, NULL, SOCK_NONBLOCK);
	ck_assert_int_ge(g->fd, 0);
}

static void start(struct api_fixture *f, struct guest *g)
{
	guest_start(g);
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
	client_open(c, &f->loop, f->path);
	client_printf(c,
		"GET " CONSOLE " HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
		"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
		"Sec-WebSocket-Key: " KEY "\r\n"
		"Sec-WebSocket-Protocol: other, plain.kubevirt.io\r\n\r\n");
	ck_assert(client_sees(c, "\r\n\r\n"));
	ck_assert_msg(strstr(c->in.data, " 101 "), "%s", c->in.data);
	ck_assert_ptr_nonnull(strstr(c->in.data, "Sec-WebSocket-Accept: " ACCEPT "\r\n"));
	ck_assert_ptr_nonnull(strstr(c->in.data, "Sec-WebSocket-Protocol: plain.kubevirt.io\r\n"));
	client_drop(c, "\r\n\r\n");
}

/* A masked frame, as clients must send them. */
static void send_frame(struct client *c, unsigned char opcode, const char *data, size_t len)
{
	unsigned char head[14] = { 0x80 | opcode, 0x80 | 126, (unsigned char)(len >> 8),
		(unsigned char)len, 1, 2, 3, 4 };
	char masked[65536];

	ck_assert_uint_lt(len, sizeof(masked));
	if (len < 126) {
		head[1] = (unsigned char)(0x80 | len);
		memcpy(head + 2, "\1\2\3\4", 4);
	}
	for (size_t i = 0; i < len; i++)
		masked[i] = (char)(data[i] ^ (int)(1 + i % 4));
	client_send(c, head, len < 126 ? 6 : 8);
	client_send(c, masked, len);
}

struct reading {
	struct guest *guest;
	struct buf in;
	size_t want;
};

static bool has_read(void *ctx)
{
	struct reading *r = ctx;
	char piece[65536];
	ssize_t n;

	while ((n = read(r->guest->fd, piece, sizeof(piece))) > 0)
		buf_add(&r->in, piece, (size_t)n);
	return r->in.len >= r->want || n == 0;
}

static void expect_input(struct api_fixture *f, struct guest *g, const char *text)
{
	struct reading r = { .guest = g, .want = strlen(text) };

	ck_assert(loop_until(&f->loop, has_read, &r));
	ck_assert_str_eq(r.in.data ? r.in.data : "", text);
	buf_done(&r.in);
}

START_TEST(the_answer_to_a_key)
{
	char accept[WEBSOCKET_ACCEPT_SIZE];

	websocket_accept(KEY, accept);
	ck_assert_str_eq(accept, ACCEPT);
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
	send_frame(&c, 2, "root\r", 5);
	expect_input(&f, &g, "root\r");
	send_frame(&c, 1, "text", 4);
	expect_input(&f, &g, "text");
	send_frame(&c, 9, "are you there", 13);
	ck_assert(client_sees(&c,
		"\x8a\x0d"
		"are you there"));
	send_frame(&c, 8, "\x03\xe8", 2);
	ck_assert(client_sees(&c, "\x88\x02\x03\xe8"));
	ck_assert(client_ends(&c));
	expect_input(&f, &g, "");
	client_close(&c);
	stop(&f, &g);
}
END_TEST

/* What a client sends just before it leaves still reaches the guest: `echo poweroff | vmactl console`. */
START_TEST(last_words_of_a_client)
{
	struct api_fixture f;
	struct guest g;
	struct client c;

	start(&f, &g);
	attach(&c, &f);
	guest_accept(&g);
	f.frozen = true;
	send_frame(&c, 2, "poweroff\r", 9);
	client_close(&c);
	expect_input(&f, &g, "poweroff\r");
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
	struct reading r = { .guest = &g };
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
	ck_assert(loop_until(&f.loop, has_read, &r));
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
	guest_start(&g);
	api_fixture_start(&f);
	f.yes.console = ptsname(master);
	api_expect(&f, "POST " NS "/virtualmachines", api_vm("a", "Always"), 201, NULL);
	attach(&c, &f);
	ck_assert_int_eq(tcgetattr(master, &raw), 0);
	ck_assert_uint_eq(raw.c_lflag & (ECHO | ICANON), 0);
	ck_assert_int_eq(write(master, "login: ", 7), 7);
	ck_assert(client_sees(&c, "login: "));
	send_frame(&c, 2, "root\r", 5);
	g.fd = master;
	expect_input(&f, &g, "root\r");
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
				   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " KEY "\r\n" };

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
