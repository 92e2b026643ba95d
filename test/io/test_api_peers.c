/* SPDX-License-Identifier: Apache-2.0 */
/* Peers through the agent and its API: what comes in about them, what is shown and logged,
 * what they are told. */
#include <check.h>
#include <string.h>

#include "test/lib/api_fixture.h"

Suite *test_api_peers_suite(void);

#define PEERS "/apis/vmagent.io/v1/peers"
#define WALL  INT64_C(1764460800000) /* 2025-11-30T00:00:00Z */
#define DAY   SECONDS(24 * 60 * 60)

static struct api_fixture f;
static struct buf lines;
static struct peer_status published;
static unsigned publications;

static void on_line(void *ctx, const struct log_line *line)
{
	(void)ctx;
	buf_printf(&lines, "%s\n", line->text);
}

static void publish(struct peer_port *port, const struct peer_status *status)
{
	(void)port;
	published = *status;
	publications++;
}

static void set_up(void)
{
	static const struct peer_port_ops ops = { .publish = publish };
	static struct peer_port port = { .ops = &ops };

	published = (struct peer_status){ 0 };
	publications = 0;
	api_fixture_start(&f);
	f.options.peers = &port;
	log_to(on_line, NULL);
}

static void tear_down(void)
{
	log_to(NULL, NULL);
	api_fixture_stop(&f);
	buf_done(&lines);
}

static void say_at(msec wall, struct peer_event event)
{
	struct input input = { .kind = INPUT_PEER, .peer = &event };

	agent_input(f.agent, &input, (struct now){ .boot = 1000, .wall = wall });
}

static void say(struct peer_event event)
{
	say_at(WALL, event);
}

static struct peer_hello hello_of(const char *boot_id)
{
	struct peer_hello hello = { .version_min = 1,
		.version_max = 1,
		.version = 1,
		.agent = "0.2.0",
		.node = "b",
		.capabilities = 1U << PEER_CAN_KVM,
		.status = { 8, INT64_C(1) << 36, 2, INT64_C(1) << 31 } };

	copy_str(hello.boot_id, sizeof(hello.boot_id), boot_id);
	return hello;
}

static void come_up(const char *boot_id, msec expires)
{
	struct peer_hello hello = hello_of(boot_id);

	say((struct peer_event){ .kind = PEER_UP,
		.name = "b",
		.hello = &hello,
		.expires = expires });
}

static unsigned count(const char *words)
{
	unsigned n = 0;

	for (const char *at = lines.data; at && (at = strstr(at, words)); at++)
		n++;
	return n;
}

START_TEST(test_before_it_answers)
{
	api_expect(&f, "GET /apis/vmagent.io/v1", NULL, 200, "\"name\":\"peers\"");
	api_expect(&f, "GET " PEERS, NULL, 200,
		"{\"apiVersion\":\"vmagent.io/v1\",\"kind\":\"PeerList\",\"metadata\":{},\"items\":["
		"{\"apiVersion\":\"vmagent.io/v1\",\"kind\":\"Peer\",\"metadata\":{\"name\":\"node\"}");
	api_expect(&f, "GET " PEERS "/b", NULL, 200,
		"{\"apiVersion\":\"vmagent.io/v1\",\"kind\":\"Peer\",\"metadata\":{\"name\":\"b\"},"
		"\"spec\":{\"address\":\"host-b\"},\"status\":{\"state\":\"Unreachable\","
		"\"message\":\"it was not asked yet\"}}");
	api_expect(&f, "GET " PEERS "/z", NULL, 404, "peers.vmagent.io \\\"z\\\" not found");
	api_expect(&f, "GET " PEERS "?watch=true", NULL, 405, "list them again");
	api_expect(&f, "DELETE " PEERS "/b", NULL, 405, NULL);
}
END_TEST

START_TEST(test_it_answers)
{
	come_up("boot-1", WALL + 100 * DAY);
	say((struct peer_event){ .kind = PEER_CLOCK, .name = "b", .ahead = -12, .round_trip = 3 });
	api_expect(&f, "GET " PEERS "/b", NULL, 200,
		"\"status\":{\"state\":\"Reachable\",\"since\":\"2025-11-30T00:00:00Z\","
		"\"version\":\"0.2.0\",\"protocol\":1,\"bootID\":\"boot-1\",\"capabilities\":[\"kvm\"],"
		"\"capacity\":{\"cpus\":8,\"memory\":\"65536Mi\"},\"guests\":2,"
		"\"guestMemory\":\"2048Mi\",\"certificateExpires\":\"2026-03-10T00:00:00Z\","
		"\"clockDifferenceMilliseconds\":-12,\"roundTripMilliseconds\":3}");
	say((struct peer_event){ .kind = PEER_STATUS,
		.name = "b",
		.status = &(struct peer_status){ 4, 1 << 20, 0, 0 } });
	api_expect(&f, "GET " PEERS "/b", NULL, 200, "\"cpus\":4,\"memory\":\"1Mi\"},\"guests\":0");
	ck_assert_str_eq(lines.data, "peer 'b' is reachable: vmagent 0.2.0, protocol 1\n");
}
END_TEST

START_TEST(test_a_change_is_one_line)
{
	struct peer_event refused = { .kind = PEER_DOWN, .name = "b", .why = "Connection refused" };

	say(refused);
	say(refused);
	ck_assert_uint_eq(count("peer 'b' cannot be reached: Connection refused"), 1);
	come_up("boot-1", WALL + 100 * DAY);
	come_up("boot-1", WALL + 100 * DAY);
	ck_assert_uint_eq(count("peer 'b' is reachable"), 1);
	come_up("boot-2", WALL + 100 * DAY);
	ck_assert_uint_eq(count("peer 'b' was booted"), 1);
	say_at(WALL + SECONDS(60), refused);
	say(refused);
	ck_assert_uint_eq(count("cannot be reached"), 2);
	api_expect(&f, "GET " PEERS "/b", NULL, 200,
		"\"status\":{\"state\":\"Unreachable\",\"message\":\"Connection refused\","
		"\"since\":\"2025-11-30T00:01:00Z\",\"version\":\"0.2.0\"");
	say((struct peer_event){ .kind = PEER_STRANGER, .why = "192.0.2.9:1: who is that" });
	ck_assert_uint_eq(count("refused a connection from 192.0.2.9:1: who is that"), 1);
}
END_TEST

/* It reaches us: it is there, but no guest can be moved to it. */
START_TEST(test_one_way)
{
	struct peer_event event = { .kind = PEER_ONE_WAY,
		.name = "b",
		.why = "Connection refused" };

	come_up("boot-1", WALL + 100 * DAY);
	say(event);
	say(event);
	ck_assert_uint_eq(count("so that no guest can be moved there: Connection refused"), 1);
	api_expect(&f, "GET " PEERS "/b", NULL, 200,
		"\"status\":{\"state\":\"Reachable\",\"message\":\"no guest can be moved there, for this "
		"host does not reach it: Connection refused\"");
	event.why = NULL;
	say(event);
	api_expect(&f, "GET " PEERS "/b", NULL, 200, "\"state\":\"Reachable\",\"since\"");
}
END_TEST

START_TEST(test_clocks_that_differ)
{
	struct peer_event event = { .kind = PEER_CLOCK, .name = "b", .ahead = SECONDS(5) - 1 };

	say(event);
	ck_assert_uint_eq(count("clock"), 0);
	event.ahead = -SECONDS(5);
	say(event);
	say(event);
	ck_assert_uint_eq(count("the clock of peer 'b' is 5 s behind ours"), 1);
}
END_TEST

START_TEST(test_certificates_expire)
{
	struct peer_event own = { .kind = PEER_SELF, .expires = WALL + 31 * DAY };

	say(own);
	come_up("boot-1", WALL + 31 * DAY);
	ck_assert_uint_eq(count("certificate"), 0);
	own.expires = WALL + 30 * DAY;
	say(own);
	say_at(WALL + DAY - 1, own);
	ck_assert_uint_eq(count("the certificate of this node expires at 2025-12-30T00:00:00Z"), 1);
	say_at(WALL + DAY, own);
	ck_assert_uint_eq(count("the certificate of this node expires"), 2);
	say_at(WALL + 40 * DAY, own);
	ck_assert_uint_eq(count("the certificate of this node has expired at"), 1);
	come_up("boot-1", WALL + 2 * DAY);
	ck_assert_uint_eq(count("the certificate of peer 'b' expires at"), 1);
	api_expect(&f, "GET " PEERS "/node", NULL, 200,
		"\"certificateExpires\":\"2025-12-30T00:00:00Z\"");
}
END_TEST

START_TEST(test_an_own_certificate_that_is_no_good)
{
	struct peer_event own = { .kind = PEER_SELF, .why = "cannot read it" };

	say(own);
	say(own);
	ck_assert_uint_eq(count("no peer can be reached: cannot read it"), 1);
	api_expect(&f, "GET " PEERS "/node", NULL, 200,
		"\"status\":{\"state\":\"Self\",\"message\":\"cannot read it\"");
}
END_TEST

#define DEAD "POST " PEERS "/b/declaredead"

START_TEST(test_one_is_declared_dead)
{
	api_expect(&f, DEAD, NULL, 400, "powerOffVerified: expected true");
	api_expect(&f, DEAD, "{\"powerOffVerified\":false}", 400, "no proof");
	api_expect(&f, DEAD, "{\"powerOffVerified\":1}", 400, NULL);
	api_expect(&f, "POST " PEERS "/z/declaredead", "{\"powerOffVerified\":true}", 404,
		"'z' is no peer in the configuration");
	api_expect(&f, "GET " PEERS "/b", NULL, 200, "\"state\":\"Unreachable\"");
	api_expect(&f, DEAD, "{\"powerOffVerified\":true}", 200, "\"status\":\"Success\"");
	ck_assert_uint_eq(count("peer 'b' was declared dead by user"), 1);
	api_expect(&f, "GET " PEERS "/b", NULL, 200, "\"state\":\"DeclaredDead\"");
	api_expect(&f, "GET " PEERS "/b", NULL, 200, "\"declaredDead\":{\"time\":\"");
	come_up("boot-1", WALL + 100 * DAY);
	ck_assert_uint_eq(count("peer 'b', which was declared dead, is back"), 1);
	api_expect(&f, DEAD, "{\"powerOffVerified\":true}", 409,
		"'b' can be reached: it is not dead");
	api_expect(&f, "GET " PEERS "/b", NULL, 200, "\"state\":\"Reachable\"");
}
END_TEST

START_TEST(test_nothing_to_accept)
{
	api_expect(&f, "POST /apis/vmagent.io/v1/database/accept", NULL, 409,
		"the database was not lost");
}
END_TEST

static bool tells_of_one(void *ctx)
{
	(void)ctx;
	return published.guests == 1;
}

static bool tells_of_none(void *ctx)
{
	(void)ctx;
	return published.guests == 0;
}

START_TEST(test_what_they_are_told)
{
	unsigned before;

	api_expect(&f, "POST /apis/kubevirt.io/v1/namespaces/default/virtualmachines",
		api_vm("web", "Always"), 201, NULL);
	ck_assert(loop_until(&f.loop, tells_of_one, NULL));
	ck_assert_uint_eq(published.cpus, 3);
	ck_assert_int_gt(published.guest_memory, 0);
	before = publications;
	api_expect(&f, "GET " PEERS "/node", NULL, 200, "\"guests\":1");
	ck_assert_uint_eq(publications, before); /* nothing new */
	api_expect(&f, "DELETE /apis/kubevirt.io/v1/namespaces/default/virtualmachines/web", NULL,
		200, NULL);
	ck_assert(loop_until(&f.loop, tells_of_none, NULL));
	ck_assert_int_eq(published.guest_memory, 0);
}
END_TEST

Suite *test_api_peers_suite(void)
{
	Suite *suite = suite_create("api_peers");
	TCase *tcase = tcase_create("peers");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_before_it_answers);
	tcase_add_test(tcase, test_it_answers);
	tcase_add_test(tcase, test_a_change_is_one_line);
	tcase_add_test(tcase, test_one_way);
	tcase_add_test(tcase, test_clocks_that_differ);
	tcase_add_test(tcase, test_one_is_declared_dead);
	tcase_add_test(tcase, test_nothing_to_accept);
	tcase_add_test(tcase, test_certificates_expire);
	tcase_add_test(tcase, test_an_own_certificate_that_is_no_good);
	tcase_add_test(tcase, test_what_they_are_told);
	suite_add_tcase(suite, tcase);
	return suite;
}
