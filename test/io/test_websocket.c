/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's end of a websocket and clients that do not keep to the protocol, or to any measure:
 * RFC 6455 says with which code each is told.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/websocket.h"
#include "test/lib/client.h"

struct peer {
	uv_loop_t loop;
	struct client client;
	struct websocket *ws;
	int fd;
	size_t got; /* bytes of payload */
	bool closed, drained;
};

static void on_data(void *ctx, const void *data, size_t len)
{
	struct peer *p = ctx;

	(void)data;
	p->got += len;
}

static void on_drained(void *ctx)
{
	struct peer *p = ctx;

	p->drained = true;
}

static void on_closed(void *ctx)
{
	struct peer *p = ctx;

	p->closed = true;
	shutdown(p->fd, SHUT_WR);
}

static void peer_open(struct peer *p, const void *early, size_t len)
{
	struct websocket_handler handler = { p, on_data, on_drained, on_closed };
	int pair[2];

	*p = (struct peer){ 0 };
	uv_loop_init(&p->loop);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair),
		0);
	p->client = (struct client){ .loop = &p->loop, .fd = pair[0] };
	p->fd = pair[1];
	p->ws = websocket_new(&p->loop, p->fd, &handler);
	websocket_begin(p->ws, early, len);
}

static void peer_close(struct peer *p)
{
	websocket_end(p->ws, 0, NULL);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&p->loop), 0);
	client_close(&p->client);
	close(p->fd);
}

/* A client's frame; its mask is zero, so the payload stands as it is. head: FIN, opcode. */
static void add_frame(struct buf *out, unsigned head, const void *payload, size_t len)
{
	unsigned char start[14] = { (unsigned char)head };
	size_t n = 2;

	start[1] = 0x80 | (unsigned char)(len < 126 ? len : len < 65536 ? 126 : 127);
	if (len >= 65536)
		for (int shift = 56; shift >= 0; shift -= 8)
			start[n++] = (unsigned char)(len >> shift);
	else if (len >= 126)
		for (int shift = 8; shift >= 0; shift -= 8)
			start[n++] = (unsigned char)(len >> shift);
	buf_add(out, start, n + 4);
	buf_add(out, payload, len);
}

static void settle(struct peer *p)
{
	for (int i = 0; i < 50; i++)
		uv_run(&p->loop, UV_RUN_NOWAIT);
}

#define BYTES(...)                                                     \
	{                                                              \
		(const char *)(const unsigned char[]){ __VA_ARGS__ },  \
			sizeof((const unsigned char[]){ __VA_ARGS__ }) \
	}

/* clang-format off */
static const struct {
	const char *what;
	struct { const char *at; size_t len; } bytes;
	unsigned code;
} wrong[] = {
	{ "not masked",             BYTES(0x82, 0x01, 'x'), 1002 },
	{ "a reserved bit",         BYTES(0xc2, 0x81, 0, 0, 0, 0, 'x'), 1002 },
	{ "a reserved opcode",      BYTES(0x83, 0x81, 0, 0, 0, 0, 'x'), 1002 },
	{ "a reserved control",     BYTES(0x8b, 0x80, 0, 0, 0, 0), 1002 },
	{ "a ping in fragments",    BYTES(0x09, 0x80, 0, 0, 0, 0), 1002 },
	{ "a ping that is long",    BYTES(0x89, 0xfe, 0, 126, 0, 0, 0, 0), 1002 },
	{ "a continuation alone",   BYTES(0x80, 0x81, 0, 0, 0, 0, 'x'), 1002 },
	{ "a message in a message", BYTES(0x02, 0x81, 0, 0, 0, 0, 'x', 0x82, 0x81, 0, 0, 0, 0, 'x'), 1002 },
	{ "a length that could be shorter", BYTES(0x82, 0xfe, 0, 1, 0, 0, 0, 0, 'x'), 1002 },
	{ "a length of 2^63",       BYTES(0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 1002 },
	{ "text that is no UTF-8",  BYTES(0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28), 1007 },
	{ "a close code that is none", BYTES(0x88, 0x82, 0, 0, 0, 0, 0, 1), 1002 },
	{ "a message over the bound", BYTES(0x82, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 1, 0, 0, 0, 0, 'x'), 1009 },
};
/* clang-format on */

START_TEST(closes_with_the_code)
{
	struct peer p;

	peer_open(&p, NULL, 0);
	client_send(&p.client, wrong[_i].bytes.at, wrong[_i].bytes.len);
	ck_assert_msg(client_gets(&p.client, 4), "%s", wrong[_i].what);
	ck_assert_uint_eq((unsigned char)p.client.in.data[0], 0x88);
	ck_assert_msg(((unsigned char)p.client.in.data[2] << 8 |
			      (unsigned char)p.client.in.data[3]) == (int)wrong[_i].code,
		"%s: %02x%02x", wrong[_i].what, p.client.in.data[2] & 255,
		p.client.in.data[3] & 255);
	ck_assert(p.closed);
	peer_close(&p);
}
END_TEST

/* The parts of a message count together. */
START_TEST(fragments_for_ever)
{
	char piece[32 * 1024] = { 0 };
	struct buf frame = { 0 };
	struct peer p;

	peer_open(&p, NULL, 0);
	for (int i = 0; i < 40 && !p.closed; i++) {
		frame.len = 0;
		add_frame(&frame, i ? 0x00 : 0x02, piece, sizeof(piece));
		client_send(&p.client, frame.data, frame.len);
	}
	ck_assert(client_gets(&p.client, 4));
	ck_assert_int_eq(memcmp(p.client.in.data + 2, "\x03\xf1", 2), 0); /* 1009 */
	ck_assert_uint_le(p.got, WEBSOCKET_MESSAGE_MAX);
	buf_done(&frame);
	peer_close(&p);
}
END_TEST

/* Nobody reads the answers: they are few, and the sender waits. */
START_TEST(pings_without_end)
{
	struct buf pings = { 0 };
	char payload[125] = { 0 };
	size_t sent = 0, stuck = 0;
	struct peer p;

	for (int i = 0; i < 1000; i++)
		add_frame(&pings, 0x89, payload, sizeof(payload));
	peer_open(&p, NULL, 0);
	while (stuck < 100) {
		ssize_t n = send(p.client.fd, pings.data + sent % pings.len,
			pings.len - sent % pings.len, MSG_NOSIGNAL);

		stuck = n > 0 ? 0 : stuck + 1;
		sent += n > 0 ? (size_t)n : 0;
		ck_assert_uint_lt(sent, 64 * 1024 * 1024);
		uv_run(&p.loop, UV_RUN_NOWAIT);
		ck_assert_uint_le(websocket_pending(p.ws),
			WEBSOCKET_REPLIES_MAX * sizeof(payload) + 4096);
	}
	ck_assert(client_gets(&p.client, sent / pings.len * pings.len)); /* then all come */
	ck_assert(!p.closed);
	buf_done(&pings);
	peer_close(&p);
}
END_TEST

/* What came with the handshake is not forgotten while the other side is not ready for it. */
START_TEST(what_came_early_waits)
{
	struct buf early = { 0 };
	struct peer p;

	add_frame(&early, 0x82, "early", 5);
	peer_open(&p, early.data, early.len);
	websocket_hold(p.ws, true);
	settle(&p);
	ck_assert_uint_eq(p.got, 0);
	websocket_hold(p.ws, false);
	settle(&p);
	ck_assert_uint_eq(p.got, 5);
	buf_done(&early);
	peer_close(&p);
}
END_TEST

/* A sender that is always ready does not keep the loop. */
START_TEST(others_get_their_turn)
{
	autofree char *piece = xcalloc(1, 100 * 1024);
	struct buf frame = { 0 };
	struct peer p;
	size_t before;

	add_frame(&frame, 0x82, piece, 100 * 1024);
	peer_open(&p, NULL, 0);
	uv_run(&p.loop, UV_RUN_NOWAIT);
	ck_assert_int_eq(send(p.client.fd, frame.data, frame.len, 0), (ssize_t)frame.len);
	do {
		before = p.got;
		uv_run(&p.loop, UV_RUN_NOWAIT);
		ck_assert_uint_le(p.got - before, WEBSOCKET_TURN_BYTES);
	} while (p.got != before);
	ck_assert_uint_eq(p.got, 100 * 1024);
	buf_done(&frame);
	peer_close(&p);
}
END_TEST

Suite *test_websocket_suite(void);

Suite *test_websocket_suite(void)
{
	Suite *suite = suite_create("websocket");
	TCase *tc = tcase_create("bounds");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, closes_with_the_code, 0, ARRAY_SIZE(wrong));
	tcase_add_test(tc, fragments_for_ever);
	tcase_add_test(tc, pings_without_end);
	tcase_add_test(tc, what_came_early_waits);
	tcase_add_test(tc, others_get_their_turn);
	suite_add_tcase(suite, tc);
	return suite;
}
