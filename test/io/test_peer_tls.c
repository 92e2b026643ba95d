/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two agents' ports on loopback: they find each other over mutual TLS, and whoever is not the peer that was
 * configured is refused in words, at both ends.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "io/peer_tls_private.h"
#include "test/lib/client.h"
#include "test/lib/pki.h"

Suite *test_peer_tls_suite(void);

static char folder[] = "/tmp/vmagent-peers.XXXXXX";
static struct pki ours, others;

static struct now clock_now(void)
{
	struct timespec boot, wall;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &wall);
	return (struct now){ SECONDS(boot.tv_sec) + boot.tv_nsec / 1000000,
		SECONDS(wall.tv_sec) + wall.tv_nsec / 1000000 };
}

/* ---- an end: an adapter, and what it has reported ------------------------------------------------------- */

struct end {
	uv_loop_t *loop;
	const char *name;
	unsigned port;
	char listen[64], to[64], ca[128], cert[128], key[128];
	struct peer_config peer;
	struct peer_tls_options options;
	struct peer_tls *tls;
	unsigned ups, downs, one_ways, clocks, strangers, selfs, handovers;
	struct handover handover;
	char *document; /* owned */
	struct peer_hello hello;
	struct peer_status status;
	msec expires, ahead;
	char why[ERR_MSG_SIZE], one_way[ERR_MSG_SIZE], stranger[ERR_MSG_SIZE], self[ERR_MSG_SIZE];
	const char *wanted; /* by waits below */
};

static void on_event(void *ctx, const struct peer_event *event)
{
	struct end *e = ctx;

	switch (event->kind) {
	case PEER_UP:
		e->ups++;
		e->hello = *event->hello;
		e->expires = event->expires;
		break;
	case PEER_DOWN:
		e->downs++;
		copy_str(e->why, sizeof(e->why), event->why);
		break;
	case PEER_ONE_WAY:
		e->one_ways++;
		copy_str(e->one_way, sizeof(e->one_way), event->why ? event->why : "");
		break;
	case PEER_CLOCK:
		e->clocks++;
		e->ahead = event->ahead;
		break;
	case PEER_STATUS:
		e->status = *event->status;
		break;
	case PEER_HANDOVER:
		e->handovers++;
		e->handover = *event->handover;
		free(e->document);
		e->document = xstrdup(event->handover->document);
		break;
	case PEER_STRANGER:
		e->strangers++;
		copy_str(e->stranger, sizeof(e->stranger), event->why);
		break;
	case PEER_SELF:
		e->selfs++;
		copy_str(e->self, sizeof(e->self), event->why);
		break;
	}
}

/* A port that is free just now. */
static unsigned free_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	close(fd);
	return ntohs(at.sin_port);
}

/* Of that name, with the certificate FILE; its peer is called `peer`. */
static void end_init(struct end *e, uv_loop_t *loop, const char *name, const char *file,
	const char *peer)
{
	*e = (struct end){ .loop = loop, .name = name, .port = free_port() };
	snprintf(e->listen, sizeof(e->listen), "127.0.0.1:%u", e->port);
	snprintf(e->ca, sizeof(e->ca), "%s/ours.ca", folder);
	snprintf(e->cert, sizeof(e->cert), "%s/%s.cert", folder, file);
	snprintf(e->key, sizeof(e->key), "%s/%s.key", folder, file);
	e->peer = (struct peer_config){ .name = (char *)peer, .address = e->to };
	e->options = (struct peer_tls_options){ .loop = loop,
		.listen = e->listen,
		.peers = &e->peer,
		.n_peers = 1,
		.ca = e->ca,
		.cert = e->cert,
		.key = e->key,
		.hello = { .version_min = PEER_PROTOCOL_MIN,
			.version_max = PEER_PROTOCOL_MAX,
			.agent = "0.1.0",
			.boot_id = "b",
			.status = { 2, 1 << 30, 0, 0 } },
		.clock = clock_now,
		.sink = { e, on_event },
		.limits = { .dial_first = 20, .dial_max = 100, .ping = 50, .per_address = 1000 } };
	copy_str(e->options.hello.node, sizeof(e->options.hello.node), name);
}

static void end_start(struct end *e)
{
	struct err err;

	ck_assert_msg(peer_tls_new(&e->options, &e->tls, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(peer_tls_listens_at(e->tls), e->port);
}

static void end_stop(struct end *e)
{
	peer_tls_free(take(&e->tls));
	free(take(&e->document));
	uv_run(e->loop, UV_RUN_NOWAIT);
}

static struct end a, b;
static uv_loop_t loop;

static void pair(const char *file_b, const char *name_b, const char *a_knows)
{
	end_init(&a, &loop, "a", "a", a_knows);
	end_init(&b, &loop, name_b, file_b, "a");
	strcpy(a.to, b.listen);
	strcpy(b.to, a.listen);
}

static void start_both(void)
{
	end_start(&a);
	end_start(&b);
}

static bool both_up(void *ctx)
{
	(void)ctx;
	return a.ups && b.ups;
}

static bool says_why(void *ctx)
{
	struct end *e = ctx;

	return strstr(e->why, e->wanted) != NULL;
}

static bool says_stranger(void *ctx)
{
	struct end *e = ctx;

	return strstr(e->stranger, e->wanted) != NULL;
}

static void expect_why(struct end *e, const char *words)
{
	e->wanted = words;
	ck_assert_msg(loop_until(&loop, says_why, e), "%s: '%s'", e->name, e->why);
}

static void expect_stranger(struct end *e, const char *words)
{
	e->wanted = words;
	ck_assert_msg(loop_until(&loop, says_stranger, e), "%s: '%s'", e->name, e->stranger);
}

/* ---- peers ---------------------------------------------------------------------------------------------- */

static bool knows_clocks(void *ctx)
{
	(void)ctx;
	return a.clocks >= 2 && b.clocks >= 2;
}

static bool has_status(void *ctx)
{
	(void)ctx;
	return a.status.guests == 3;
}

static unsigned conns_of(const struct end *e)
{
	unsigned n = 0;

	for (const struct conn *c = e->tls->conns; c; c = c->next)
		n++;
	return n;
}

static bool has_one(void *ctx)
{
	(void)ctx;
	return conns_of(&a) == 1 && conns_of(&b) == 1;
}

START_TEST(two_find_each_other)
{
	pair("b", "b", "b");
	start_both();
	ck_assert(loop_until(&loop, both_up, NULL));
	ck_assert_str_eq(a.hello.node, "b");
	ck_assert_str_eq(b.hello.node, "a");
	ck_assert_uint_eq(a.hello.version, PEER_PROTOCOL_MAX);
	ck_assert_int_gt(a.expires, clock_now().wall);
	ck_assert(loop_until(&loop, knows_clocks, NULL));
	ck_assert_int_lt(llabs(a.ahead), SECONDS(5));
	peer_publish(peer_tls_port(b.tls), &(struct peer_status){ 4, 1 << 20, 3, 5 });
	ck_assert(loop_until(&loop, has_status, NULL));
	ck_assert_int_eq(a.status.guest_memory, 5);
	ck_assert_msg(loop_until(&loop, has_one, NULL), "two connections stay");
	ck_assert_uint_eq(a.downs + b.downs, 0);
	ck_assert_uint_eq(a.strangers + b.strangers, 0);
}
END_TEST

static bool says_one_way(void *ctx)
{
	struct end *e = ctx;

	return e->one_ways && e->ups && (*e->one_way != '\0') == (e->wanted != NULL);
}

/* Only one of them can reach the other: that serves both, and the other says that it cannot, until it can. */
START_TEST(one_way_is_enough)
{
	pair("b", "b", "b");
	snprintf(a.to, sizeof(a.to), "127.0.0.1:%u", free_port());
	a.options.limits.dial_max = 100;
	start_both();
	ck_assert(loop_until(&loop, both_up, NULL));
	a.wanted = "refused";
	ck_assert(loop_until(&loop, says_one_way, &a));
	ck_assert_msg(strstr(a.one_way, "Connection refused"), "%s", a.one_way);
	ck_assert_ptr_nonnull(a.tls->peers[0].conn);
	ck_assert_uint_eq(b.one_ways, 0);
	a.tls->peers[0].address.port = b.port;
	a.wanted = NULL;
	ck_assert(loop_until(&loop, says_one_way, &a));
	ck_assert(loop_until(&loop, has_one, NULL));
	ck_assert_uint_eq(b.downs, 0);
}
END_TEST

static bool up_again(void *ctx)
{
	(void)ctx;
	return a.ups >= 2;
}

START_TEST(a_cut_is_noticed_and_healed)
{
	pair("b", "b", "b");
	start_both();
	ck_assert(loop_until(&loop, both_up, NULL));
	ck_assert(loop_until(&loop, has_one, NULL));
	end_stop(&b);
	expect_why(&a, "e"); /* whichever it is: the end, or that nobody listens there */
	expect_why(&a, "Connection refused");
	end_start(&b);
	ck_assert(loop_until(&loop, up_again, NULL));
}
END_TEST

START_TEST(who_is_silent_is_gone)
{
	pair("b", "b", "b");
	a.options.limits.idle = 300;
	b.options.limits.idle = 1000000;
	b.options.limits.ping = 1000000;
	start_both();
	ck_assert(loop_until(&loop, both_up, NULL));
	ck_assert(loop_until(&loop, has_one, NULL));
	for (struct conn *c = b.tls->conns; c; c = c->next) { /* b hangs */
		uv_poll_stop(&c->poll);
		uv_timer_stop(&c->timer);
	}
	uv_poll_stop(&b.tls->listener);
	expect_why(&a, "it has not answered for");
}
END_TEST

START_TEST(a_certificate_may_expire_meanwhile)
{
	pair("b", "b", "b");
	b.options.limits.dial_first = b.options.limits.dial_max = 1000000;
	start_both();
	ck_assert(loop_until(&loop, both_up, NULL));
	ck_assert(loop_until(&loop, has_one, NULL));
	a.tls->conns->expires = clock_now().wall;
	expect_why(&a, "its certificate has expired");
	expect_why(&b, "it refuses: its certificate has expired");
}
END_TEST

/* ---- who is refused ---------------------------------------------------------------------------------------- */

START_TEST(a_certificate_of_another_ca)
{
	pair("stranger", "b", "b");
	start_both();
	expect_stranger(&a, "the certificate of 'b' is refused");
	expect_why(&a, "the certificate of 'b' is refused");
	expect_why(&b, "it refuses: the certificate of 'b' is refused");
	ck_assert_ptr_nonnull(strstr(a.why, "unknown")); /* its issuer is */
	ck_assert_uint_eq(a.ups + b.ups, 0);
}
END_TEST

START_TEST(an_expired_certificate)
{
	pair("old", "b", "b");
	start_both();
	expect_stranger(&a, "expired");
	expect_why(&a, "expired");
	expect_why(&b, "it refuses: the certificate of 'b' is refused");
	ck_assert_uint_eq(a.ups + b.ups, 0);
}
END_TEST

START_TEST(a_certificate_for_another_name)
{
	pair("b", "b", "c");
	start_both();
	expect_stranger(&a, "'b' is no peer in the configuration of 'a'");
	expect_why(&a, "the certificate is for 'b', not for 'c'");
	expect_why(&b, "it refuses: 'b' is no peer in the configuration of 'a'");
	ck_assert_uint_eq(a.ups + b.ups, 0);
}
END_TEST

/* b's certificate is good, but what it calls itself is not what that says. */
START_TEST(another_name_than_the_certificate)
{
	struct err err;

	pair("b", "b", "b");
	end_start(&a);
	end_start(&b);
	ck_assert_ptr_nonnull(credentials_get(b.tls, &err)); /* which are for 'b' */
	strcpy(b.tls->options.hello.node, "z");
	expect_why(&a, "it calls itself 'z', but its certificate is for 'b'");
	ck_assert_uint_eq(a.ups, 0);
}
END_TEST

START_TEST(another_version)
{
	pair("b", "b", "b");
	b.options.hello.version_min = 7;
	b.options.hello.version_max = 9;
	start_both();
	expect_why(&a, "it refuses: 'b' (vmagent 0.1.0) speaks versions 7 to 9 of the protocol");
	expect_why(&b, "it refuses: 'a' (vmagent 0.1.0) speaks versions 1 to 2 of the protocol");
	expect_stranger(&a, "upgrade 'a'");
	expect_stranger(&b, "upgrade 'a'");
	ck_assert_uint_eq(a.ups + b.ups, 0);
}
END_TEST

/* A copied host: certificate and name are its own, but the database came along. */
START_TEST(a_twin)
{
	pair("b", "b", "b");
	strcpy(a.options.hello.database, "d");
	strcpy(b.options.hello.database, "d");
	start_both();
	expect_why(&a, "is a copy of that of");
	expect_why(&b, "is a copy of that of");
	ck_assert_uint_eq(a.ups + b.ups, 0);
}
END_TEST

/* ---- handovers ------------------------------------------------------------------------------------------ */

static bool heard_both(void *ctx)
{
	(void)ctx;
	return a.handovers == 2 && b.handovers == 1;
}

/* One as large as they may be, twice, and an answer. */
START_TEST(handovers_arrive)
{
	autofree char *document = xcalloc(1, HANDOVER_DOCUMENT_MAX - 400);
	struct handover prepare = { .kind = HANDOVER_PREPARE, .epoch = 2, .document = document };
	struct handover answer = { .kind = HANDOVER_DECLINED, .why = "no room" };

	memset(document, 'x', HANDOVER_DOCUMENT_MAX - 401);
	strcpy(prepare.migration, "44444444-2222-3333-4444-555555555555");
	strcpy(answer.migration, prepare.migration);
	pair("b", "b", "b");
	start_both();
	peer_send(peer_tls_port(b.tls), "a", &prepare); /* too early: it is lost */
	ck_assert(loop_until(&loop, both_up, NULL));
	peer_send(peer_tls_port(b.tls), "a", &answer);
	peer_send(peer_tls_port(b.tls), "a", &prepare);
	peer_send(peer_tls_port(b.tls), "a", &prepare); /* too much waits already: it is lost */
	peer_send(peer_tls_port(b.tls), "nobody", &answer);
	peer_send(peer_tls_port(a.tls), "b", &answer);
	ck_assert(loop_until(&loop, heard_both, NULL));
	ck_assert_str_eq(b.handover.why, "no room");
	ck_assert_int_eq(b.handover.kind, HANDOVER_DECLINED);
	ck_assert_int_eq(a.handover.kind, HANDOVER_PREPARE);
	ck_assert_int_eq(a.handover.epoch, 2);
	ck_assert_str_eq(a.handover.migration, "44444444-2222-3333-4444-555555555555");
	ck_assert_str_eq(a.document, document);
}
END_TEST

/* A peer that speaks only of itself is sent nothing that it would take for nonsense. */
START_TEST(an_older_peer_is_left_alone)
{
	struct handover answer = { .kind = HANDOVER_DECLINED };

	pair("b", "b", "b");
	b.options.hello.version_max = 1;
	start_both();
	ck_assert(loop_until(&loop, both_up, NULL));
	peer_send(peer_tls_port(a.tls), "b", &answer);
	a.clocks = b.clocks = 0;
	ck_assert(loop_until(&loop, knows_clocks, NULL));
	ck_assert_uint_eq(b.handovers + a.downs, 0);
}
END_TEST

/* ---- our own certificate -------------------------------------------------------------------------------------- */

START_TEST(files_that_come_later)
{
	pair("late", "b", "b");
	start_both();
	expect_why(&b, "cannot read the certificate");
	ck_assert_uint_ge(b.selfs, 1);
	ck_assert_ptr_nonnull(strstr(b.self, "late.cert"));
	pki_issue(&ours, folder, "late", "b", 20);
	ck_assert(loop_until(&loop, both_up, NULL));
	ck_assert_str_eq(b.self, "");
}
END_TEST

START_TEST(a_certificate_that_is_not_ours)
{
	pair("b", "c", "b");
	start_both();
	expect_why(&b, "is not for this node's name, 'c'");
	ck_assert_uint_eq(a.ups + b.ups, 0);
}
END_TEST

/* ---- who means harm -------------------------------------------------------------------------------------------- */

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
	a.options.limits.handshake = 300;
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

/* ---- streams of migrations ------------------------------------------------------------------------------ */

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
	ck_assert(loop_until(&loop, is_ended, &fds[4]));
	expect_stranger(&a, "that address has too many connections open");
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		ck_assert(i == 4 || !is_ended(&fds[i]));
		close(fds[i]);
	}
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

/* ---- a peer whose certificate is good and whose words are not ---------------------------------------------------- */

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

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void set_up(void)
{
	uv_loop_init(&loop);
	a = b = (struct end){ 0 };
}

static void tear_down(void)
{
	peer_tls_free(a.tls);
	peer_tls_free(b.tls);
	free(a.document);
	free(b.document);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
}

static void begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	pki_init(&ours, folder, "ours");
	pki_init(&others, folder, "others");
	pki_issue(&ours, folder, "a", "a", 20);
	pki_issue(&ours, folder, "b", "b", 20);
	pki_issue(&ours, folder, "old", "b", -1);
	pki_issue(&others, folder, "stranger", "b", 20);
}

static void end(void)
{
	static const char *const names[] = { "ours.ca", "others.ca", "a", "b", "old", "stranger",
		"late" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		static const char *const suffixes[] = { "", ".cert", ".key" };

		for (size_t s = 0; s < ARRAY_SIZE(suffixes); s++) {
			autofree char *path = xasprintf("%s/%s%s", folder, names[i], suffixes[s]);

			unlink(path);
		}
	}
	rmdir(folder);
	pki_done(&ours);
	pki_done(&others);
}

Suite *test_peer_tls_suite(void)
{
	Suite *s = suite_create("peer tls");
	TCase *t = tcase_create("peers");

	tcase_set_timeout(t, 60);
	tcase_add_unchecked_fixture(t, begin, end);
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, two_find_each_other);
	tcase_add_test(t, one_way_is_enough);
	tcase_add_test(t, a_cut_is_noticed_and_healed);
	tcase_add_test(t, who_is_silent_is_gone);
	tcase_add_test(t, a_certificate_may_expire_meanwhile);
	tcase_add_test(t, a_certificate_of_another_ca);
	tcase_add_test(t, an_expired_certificate);
	tcase_add_test(t, a_certificate_for_another_name);
	tcase_add_test(t, another_name_than_the_certificate);
	tcase_add_test(t, another_version);
	tcase_add_test(t, a_twin);
	tcase_add_test(t, handovers_arrive);
	tcase_add_test(t, an_older_peer_is_left_alone);
	tcase_add_test(t, files_that_come_later);
	tcase_add_test(t, a_certificate_that_is_not_ours);
	tcase_add_loop_test(t, hostile_greetings, 0, ARRAY_SIZE(hostile));
	tcase_add_test(t, a_stream_is_handed_to_its_relay);
	tcase_add_test(t, too_many_bytes_before_the_certificate);
	tcase_add_test(t, too_many_connections);
	tcase_add_test(t, a_flood_is_not_reported_for_ever);
	tcase_add_loop_test(t, words_that_make_no_sense, 0, ARRAY_SIZE(nonsense));
	suite_add_tcase(s, t);
	return s;
}
