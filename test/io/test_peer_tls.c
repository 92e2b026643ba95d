/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two agents' ports on loopback: they find each other over mutual TLS, and whoever is not the peer
 * that was configured is refused in words, at both ends.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "test/lib/client.h"
#include "test/lib/peer_ends.h"

Suite *test_peer_tls_suite(void);

/* ---- peers ----------------------------------------------------------------------------------- */

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

/* … and no other one is to come: each has dialed once. */
static bool has_settled(void *ctx)
{
	return has_one(ctx) && a.tls->peers[0].reached && b.tls->peers[0].reached;
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

static bool publishes(void *ctx)
{
	const struct conn *c = b.tls->peers[0].dialing;

	(void)ctx;
	if (!c || c->stage != CONN_OPENING)
		return false;
	peer_publish(peer_tls_port(b.tls), &(struct peer_status){ 4, 1 << 20, 3, 5 });
	return true;
}

/* Between its HELLO and the answer, which is when an agent that begins finds its guests. */
START_TEST(what_changes_during_the_greeting_is_told)
{
	pair("b", "b", "b");
	snprintf(a.to, sizeof(a.to), "127.0.0.1:%u", free_port());
	start_both();
	ck_assert(loop_until(&loop, publishes, NULL));
	ck_assert(loop_until(&loop, both_up, NULL));
	ck_assert(loop_until(&loop, has_status, NULL));
}
END_TEST

static bool says_one_way(void *ctx)
{
	struct end *e = ctx;

	return e->one_ways && e->ups && (*e->one_way != '\0') == (e->wanted != NULL);
}

/* Only one of them can reach the other: that serves both, and the other says that it
 * cannot, until it can. */
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
	ck_assert(loop_until(&loop, has_settled, NULL));
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
	ck_assert(loop_until(&loop, has_settled, NULL));
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
	ck_assert(loop_until(&loop, has_settled, NULL));
	a.tls->conns->expires = clock_now().wall;
	expect_why(&a, "the certificate of 'b' has expired at 2");
	expect_why(&b, "it refuses: the certificate of 'b' has expired at 2");
}
END_TEST

/* ---- who is refused -------------------------------------------------------------------------- */

static bool refuses(void *ctx)
{
	struct conn *c = a.tls->peers[0].dialing;

	(void)ctx;
	if (!c || c->stage != CONN_OPENING)
		return false;
	shutdown(c->fd, SHUT_RDWR);
	conn_end(c, "it is refused");
	return true;
}

/* That the other side does not hear it any more is no reason of its own. */
START_TEST(last_words_that_cannot_be_said)
{
	pair("b", "b", "b");
	snprintf(b.to, sizeof(b.to), "127.0.0.1:%u", free_port());
	a.options.limits.dial_first = a.options.limits.dial_max = 1000000;
	start_both();
	ck_assert(loop_until(&loop, refuses, NULL));
	ck_assert_str_eq(a.why, "it is refused");
	ck_assert_uint_eq(a.downs, 1);
}
END_TEST

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
	expect_stranger(&a, "the certificate of 'b' has expired at 2");
	expect_why(&a, "the certificate of 'b' has expired at 2");
	expect_why(&b, "it refuses: the certificate of 'b' has expired at 2");
	ck_assert_uint_eq(a.ups + b.ups, 0);
}
END_TEST

/* It is not dialed for long: when it comes itself, it says why it is no peer. */
START_TEST(an_expired_certificate_of_a_peer_that_was_away)
{
	pair("b", "b", "b");
	a.options.limits.dial_first = a.options.limits.dial_max = 1000000;
	start_both();
	ck_assert(loop_until(&loop, both_up, NULL));
	ck_assert(loop_until(&loop, has_settled, NULL));
	end_stop(&b);
	expect_why(&a, "e"); /* the end */
	snprintf(b.cert, sizeof(b.cert), "%s/old.cert", folder);
	snprintf(b.key, sizeof(b.key), "%s/old.key", folder);
	end_start(&b);
	expect_why(&a, "the certificate of 'b' has expired at 2");
	ck_assert_ptr_null(a.tls->peers[0].conn);
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

/* ---- handovers ------------------------------------------------------------------------------- */

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
	ck_assert(loop_until(&loop, has_settled, NULL)); /* by another one it would be lost */
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

/* ---- our own certificate --------------------------------------------------------------------- */

static bool tells_again(void *told)
{
	return b.selfs > *(unsigned *)told;
}

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

/* What is told of our own, and warned of, is what the files hold; the connection
 * stays as it was. */
START_TEST(files_that_are_renewed)
{
	unsigned told;

	pki_issue(&ours, folder, "late", "b", 20);
	pair("late", "b", "b");
	start_both();
	ck_assert(loop_until(&loop, both_up, NULL));
	told = b.selfs;
	pki_issue(&ours, folder, "late", "b", 40);
	ck_assert(loop_until(&loop, tells_again, &told));
	ck_assert_str_eq(b.self, "");
	ck_assert_uint_eq(a.downs + b.downs, 0);
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

Suite *test_peer_tls_suite(void)
{
	Suite *s = suite_create("peer tls");
	TCase *t = tcase_create("peers");

	tcase_set_timeout(t, 60);
	tcase_add_unchecked_fixture(t, peers_begin, peers_end);
	tcase_add_checked_fixture(t, peers_set_up, peers_tear_down);
	tcase_add_test(t, two_find_each_other);
	tcase_add_test(t, what_changes_during_the_greeting_is_told);
	tcase_add_test(t, one_way_is_enough);
	tcase_add_test(t, a_cut_is_noticed_and_healed);
	tcase_add_test(t, who_is_silent_is_gone);
	tcase_add_test(t, a_certificate_may_expire_meanwhile);
	tcase_add_test(t, last_words_that_cannot_be_said);
	tcase_add_test(t, a_certificate_of_another_ca);
	tcase_add_test(t, an_expired_certificate);
	tcase_add_test(t, an_expired_certificate_of_a_peer_that_was_away);
	tcase_add_test(t, a_certificate_for_another_name);
	tcase_add_test(t, another_name_than_the_certificate);
	tcase_add_test(t, another_version);
	tcase_add_test(t, a_twin);
	tcase_add_test(t, handovers_arrive);
	tcase_add_test(t, an_older_peer_is_left_alone);
	tcase_add_test(t, files_that_come_later);
	tcase_add_test(t, files_that_are_renewed);
	tcase_add_test(t, a_certificate_that_is_not_ours);
	suite_add_tcase(s, t);
	return s;
}
