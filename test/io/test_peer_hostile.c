/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who knocks at an agent's port and means harm, or is a peer and speaks nonsense, costs nothing and
 * is told of; a stream of a migration is handed to its relay.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/lib/client.h"
#include "test/lib/peer_ends.h"
#include "test/lib/process.h"

Suite *test_peer_hostile_suite(void);

static int raw_connect(const struct end *e)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)e->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static bool is_ended(void *ctx)
{
	char byte[4096];
	ssize_t n = recv(*(int *)ctx, byte, sizeof(byte), MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno == ECONNRESET);
}

static void alone(void)
{
	pair("b", "b", "b");
	snprintf(a.to, sizeof(a.to), "127.0.0.1:%u", free_port());
}

/* What is sent, how often, and why the connection ends. */
static const struct {
	const char *text;
	size_t len, times;
	const char *words;
} hostile[] = {
	{ "", 0, 0, "the greeting took longer than" },
	{ "VMAP\1", 5, 1, "the greeting took longer than" },
	{ "VMAP\1\1\0\0", 8, 1, "the greeting took longer than" },
	{ "GET / HTTP/1.1\r\n", 16, 1, "what it sent is no peer's greeting" },
	{ "VMAP\1\7\0\0", 8, 1, "a connection of kind 1.7, which this agent does not know" },
	{ "VMAP\1\2\0\0"
	  "0123456789abcde",
		23, 1, "the greeting took longer than" },
	{ "VMAP\1\2\0\0"
	  "0123456789abcdef",
		24, 1, "there is no migration '30313233-3435-3637-3839-616263646566' here" },
	{ "VMAP\1\1\0\0GET / HTTP/1.1\r\n\r\n", 26, 1, "TLS failed" },
};

START_TEST(hostile_greetings)
{
	int fd;

	alone();
	a.options.limits.handshake = strstr(hostile[_i].words, "took longer") ? 300 : 60000;
	end_start(&a);
	fd = raw_connect(&a);
	for (size_t i = 0; i < hostile[_i].times; i++)
		ck_assert_int_eq(send(fd, hostile[_i].text, hostile[_i].len, MSG_NOSIGNAL),
			hostile[_i].len);
	ck_assert(loop_until(&loop, is_ended, &fd));
	expect_stranger(&a, hostile[_i].words);
	ck_assert_ptr_nonnull(strstr(a.stranger, "127.0.0.1:"));
	close(fd);
}
END_TEST

/* A record that never ends is not kept for ever. */
START_TEST(too_many_bytes_before_the_certificate)
{
	char bytes[8192] = "VMAP\1\1\0\0";
	int fd;

	alone();
	a.options.limits.unauthenticated = 4096;
	end_start(&a);
	fd = raw_connect(&a);
	memcpy(bytes + 8, "\x16\x03\x01\x40\x00", 5);
	ck_assert_int_eq(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
	ck_assert(loop_until(&loop, is_ended, &fd));
	expect_stranger(&a, "it sent more than 4096 bytes before its certificate");
	close(fd);
}
END_TEST

START_TEST(too_many_connections)
{
	int fds[5];

	alone();
	a.options.limits.per_address = 4;
	end_start(&a);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = raw_connect(&a);
	ck_assert(loop_until(&loop, is_ended, &fds[0])); /* the next one may be a peer */
	expect_stranger(&a, "that address has too many connections open");
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		ck_assert(i == 0 || !is_ended(&fds[i]));
		close(fds[i]);
	}
}
END_TEST

static bool sees_b(void *ctx)
{
	(void)ctx;
	return a.ups > 0;
}

static bool have_all_come(void *ctx)
{
	size_t n = 0;

	for (const struct conn *c = a.tls->conns; c; c = c->next)
		n += !c->dialer;
	return n >= *(size_t *)ctx;
}

/* They come from everywhere, and say nothing. */
START_TEST(whoever_says_nothing_keeps_no_peer_out)
{
	size_t n = 8;
	int fds[8];

	pair("b", "b", "b");
	snprintf(a.to, sizeof(a.to), "127.0.0.1:%u", free_port()); /* b has to come */
	a.options.limits.per_address = 100;
	a.options.limits.total = ARRAY_SIZE(fds);
	a.options.limits.handshake = 600000;
	end_start(&a);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = raw_connect(&a);
	ck_assert(loop_until(&loop, have_all_come, &n));
	end_start(&b);
	ck_assert(loop_until(&loop, sees_b, NULL));
	ck_assert(is_ended(&fds[0]));
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
}
END_TEST

static void knock(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		int fd = raw_connect(&a);

		ck_assert_int_eq(send(fd, hostile[i % 2 ? 3 : 4].text, hostile[i % 2 ? 3 : 4].len,
					 MSG_NOSIGNAL),
			hostile[i % 2 ? 3 : 4].len);
		ck_assert(loop_until(&loop, is_ended, &fd));
		close(fd);
	}
}

START_TEST(a_thousand_refusals_leave_nothing)
{
	unsigned fds, tasks;
	long memory;

	alone();
	end_start(&a);
	knock(100);
	fds = process_files(0);
	tasks = process_tasks(0);
	memory = process_memory_kb(0);
	knock(1000);
	ck_assert_uint_le(process_files(0), fds);
	ck_assert_uint_le(process_tasks(0), tasks);
	ck_assert_int_le(process_memory_kb(0), memory + PROCESS_GROWTH_KB);
}
END_TEST

START_TEST(a_flood_is_not_reported_for_ever)
{
	alone();
	end_start(&a);
	for (int i = 0; i < 40; i++) {
		int fd = raw_connect(&a);

		ck_assert_int_eq(send(fd, "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL), 16);
		ck_assert(loop_until(&loop, is_ended, &fd));
		close(fd);
	}
	ck_assert_uint_eq(a.strangers, 10);
	ck_assert_ptr_nonnull(strstr(a.stranger, "more of these are not shown"));
}
END_TEST

/* ---- a peer whose certificate is good and whose words are not -------------------------------- */

/* What b says in place of the HELLO that a expects, or after it, and what a answers. */
static const struct {
	bool after_hello;
	unsigned number;
	const char *payload, *words;
} nonsense[] = {
	{ false, 4, "{\"id\":1,\"wall\":0}", "message PING came too early" },
	{ false, 2, "{}", "message WELCOME is not for that end to send" },
	{ false, 1, "{}", "message HELLO: 'versionMin': expected a number" },
	{ true, 99, "{}", "message 99 is not known" },
	{ true, 1, "{}", "message HELLO came too late" },
	{ true, 4, "[", "message PING: expected a JSON object" },
};

static void say_nonsense(struct conn *c, int i)
{
	size_t len = strlen(nonsense[i].payload);
	uint8_t header[PEER_HEADER_SIZE] = { 0, 0, 0, (uint8_t)len, 0,
		(uint8_t)nonsense[i].number };

	c->out.len = c->out_sent;
	buf_add(&c->out, header, sizeof(header));
	buf_add(&c->out, nonsense[i].payload, len);
}

static int nonsense_row;

/* On b's dialing connection, before its HELLO, or after the answer to it. */
static bool has_spoken(void *ctx)
{
	(void)ctx;
	for (struct conn *c = b.tls->conns; c; c = c->next) {
		enum conn_stage stage = nonsense[nonsense_row].after_hello ? CONN_OPEN
									   : CONN_HANDSHAKE;

		if (!c->dialer || c->stage != stage)
			continue;
		say_nonsense(c, nonsense_row);
		conn_watch(c);
		return true;
	}
	return false;
}

START_TEST(words_that_make_no_sense)
{
	alone();
	b.options.limits.dial_max = b.options.limits.dial_first = 1000000;
	start_both();
	nonsense_row = _i;
	ck_assert(loop_until(&loop, has_spoken, NULL));
	expect_why(&b, nonsense[_i].words);
}
END_TEST

/* ---- streams of migrations ------------------------------------------------------------------- */

static int relay_sock = -1, relay_conn = -1;

static bool relay_hears(void *ctx)
{
	(void)ctx;
	if (relay_conn < 0)
		relay_conn = accept4(relay_sock, NULL, NULL, SOCK_CLOEXEC);
	return relay_conn >= 0;
}

static void relay_listen(const char *place)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	ck_assert_int_eq(mkdir(place, 0700), 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/control", place);
	relay_sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(relay_sock, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(relay_sock, 1), 0);
}

static int relay_takes(char *text, size_t size)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))];
	struct iovec part = { text, size - 1 };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space) };
	ssize_t n = recvmsg(relay_conn, &message, MSG_CMSG_CLOEXEC);
	int fd;

	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	ck_assert_ptr_nonnull(CMSG_FIRSTHDR(&message));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* What comes after the preface is the relay's, to the last byte; what it writes arrives. */
START_TEST(a_stream_is_handed_to_its_relay)
{
	static const char id[] = "30313233-3435-3637-3839-616263646566";
	autofree char *place = xasprintf("%s/%s", folder, id);
	autofree char *control = xasprintf("%s/control", place);
	char text[64];
	int fd, taken;

	relay_listen(place);
	alone();
	a.options.migrations = folder;
	end_start(&a);
	fd = raw_connect(&a);
	ck_assert_int_eq(send(fd,
				 "VMAP\1\3\0\0"
				 "0123456789abcdef"
				 "and so on",
				 33, MSG_NOSIGNAL),
		33);
	ck_assert(loop_until(&loop, relay_hears, NULL));
	taken = relay_takes(text, sizeof(text));
	ck_assert_str_eq(text, "1 adopt data");
	ck_assert_int_eq(recv(taken, text, sizeof(text), 0), 9);
	ck_assert_mem_eq(text, "and so on", 9);
	ck_assert_int_eq(send(taken, "back", 4, MSG_NOSIGNAL), 4);
	ck_assert_int_eq(recv(fd, text, sizeof(text), 0), 4);
	ck_assert_str_eq(a.stranger, "");
	close(taken);
	close(fd);
	close(relay_conn);
	close(relay_sock);
	relay_conn = -1;
	unlink(control);
	rmdir(place);
}
END_TEST

Suite *test_peer_hostile_suite(void)
{
	Suite *s = suite_create("peer hostile");
	TCase *t = tcase_create("the port");

	tcase_set_timeout(t, 60);
	tcase_add_unchecked_fixture(t, peers_begin, peers_end);
	tcase_add_checked_fixture(t, peers_set_up, peers_tear_down);
	tcase_add_loop_test(t, hostile_greetings, 0, ARRAY_SIZE(hostile));
	tcase_add_test(t, a_stream_is_handed_to_its_relay);
	tcase_add_test(t, too_many_bytes_before_the_certificate);
	tcase_add_test(t, too_many_connections);
	tcase_add_test(t, whoever_says_nothing_keeps_no_peer_out);
	tcase_add_test(t, a_thousand_refusals_leave_nothing);
	tcase_add_test(t, a_flood_is_not_reported_for_ever);
	tcase_add_loop_test(t, words_that_make_no_sense, 0, ARRAY_SIZE(nonsense));
	suite_add_tcase(s, t);
	return s;
}
