/* SPDX-License-Identifier: Apache-2.0 */
/* A peer that asks too often, and one that is none any more: what an agent does for them. */
#include <check.h>
#include <string.h>

#include "daemon/agent_private.h"
#include "test/lib/rig.h"

Suite *test_peer_words_suite(void);

static struct rig r;
static unsigned told[HANDOVER_MAX];

static void publish(struct peer_port *port, const struct peer_status *status)
{
	(void)port;
	(void)status;
}

static void send(struct peer_port *port, const char *peer, const struct handover *handover)
{
	(void)port;
	ck_assert_str_eq(peer, "b");
	told[handover->kind]++;
}

static const struct peer_port_ops ops = { .publish = publish, .send = send };
static struct peer_port port = { .ops = &ops };
static const struct peer_config peers[] = { { .name = "b", .address = "b:1" } };

static void hear(const struct peer_event *event)
{
	struct input input = { .kind = INPUT_PEER, .peer = event };

	agent_input(r.agent, &input, r.now);
}

static void set_up(void)
{
	static const struct peer_hello hello = { .version = 2, .node = "b" };

	memset(told, 0, sizeof(told));
	rig_begin(&r);
	r.options.peers = &port;
	r.options.peer_list = peers;
	r.options.n_peers = ARRAY_SIZE(peers);
	r.options.migrations = true;
	rig_restart(&r);
	rig_create(&r, "Always");
	rig_run(&r, 10);
	hear(&(struct peer_event){ .kind = PEER_UP,
		.name = "b",
		.hello = &hello,
		.expires = NEVER });
	rig_run(&r, 1);
}

static void tear_down(void)
{
	rig_end(&r);
}

/* An answer has all names there are, a question hardly anything. */
START_TEST(many_questions_at_once_have_one_answer)
{
	struct handover whose = { .kind = HANDOVER_WHOSE };

	for (unsigned i = 0; i < 100; i++)
		hear(&(struct peer_event){ .kind = PEER_HANDOVER, .name = "b", .handover = &whose });
	rig_run(&r, 1);
	ck_assert_uint_eq(told[HANDOVER_MINE], 1);
	hear(&(struct peer_event){ .kind = PEER_HANDOVER, .name = "b", .handover = &whose });
	rig_run(&r, 1);
	ck_assert_uint_eq(told[HANDOVER_MINE], 2);
}
END_TEST

/* After a restart without it in the configuration, its way in is closed. */
START_TEST(who_is_no_peer_any_more_has_no_relay)
{
	struct input move = { .kind = INPUT_MIGRATE,
		.request = { .kind = KIND_VM, .ns = "default", .name = "web", .to = "b" } };
	struct migration *g;

	agent_input(r.agent, &move, r.now);
	rig_run(&r, 1);
	ck_assert_uint_ge(told[HANDOVER_PREPARE], 1);
	ck_assert_uint_eq(r.agent->migrations.n, 1);
	g = r.agent->migrations.list[0];
	ck_assert(agent_needs_relay(r.agent, g->meta.uid));
	r.options.n_peers = 0;
	ck_assert(!agent_needs_relay(r.agent, g->meta.uid));
	g->post_copy = true; /* the rest of its memory is still to come */
	ck_assert(agent_needs_relay(r.agent, g->meta.uid));
	g->post_copy = false;
	r.options.n_peers = ARRAY_SIZE(peers);
}
END_TEST

Suite *test_peer_words_suite(void)
{
	Suite *s = suite_create("peer_words");
	TCase *t = tcase_create("peer");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, many_questions_at_once_have_one_answer);
	tcase_add_test(t, who_is_no_peer_any_more_has_no_relay);
	suite_add_tcase(s, t);
	return s;
}
