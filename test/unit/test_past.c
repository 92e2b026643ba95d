/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of migrations that are forgotten: where machines went has many places, of which the
 * oldest go; what a declared death has settled has places of its own, and keeps them.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "daemon/migrations.h"

Suite *test_past_suite(void);

#define MOVES_MAX   4096
#define SETTLED_MAX 1024

static struct agent agent;
static struct agent_options options;
static const struct peer_config peers[] = { { .name = (char *)"b" } };

static void set_up(void)
{
	memset(&agent, 0, sizeof(agent));
	options = (struct agent_options){ .peer_list = peers, .n_peers = 1 };
	agent.options = &options;
}

static void tear_down(void)
{
	past_done(&agent);
	handovers_done(&agent);
}

static struct migration migration_of(unsigned i, const char *peer)
{
	struct migration g = { .meta.ns = (char *)"default",
		.peer = (char *)(uintptr_t)peer,
		.state = MIGRATION_DONE,
		.epoch = 2,
		.number = i };

	g.vmi = xasprintf("vm-%u", i);
	snprintf(g.meta.uid, UID_SIZE, "migration-%u", i);
	return g;
}

static void moves_away(unsigned i)
{
	struct migration g = migration_of(i, "b");

	g.moved = true;
	past_note(&agent, &g);
	free(g.vmi);
}

static void is_taken(unsigned i, const char *peer)
{
	struct migration g = migration_of(i, peer);

	g.role = MIGRATION_TARGET;
	g.moved = g.taken = g.succeeded = true;
	past_note(&agent, &g);
	free(g.vmi);
}

/* Whether the peer hears, when it asks, that the guest is this host's. */
static bool hears(unsigned i)
{
	struct handover h = { .kind = HANDOVER_ABORT, .epoch = 2 };
	size_t n = agent.n_letters;

	snprintf(h.migration, UID_SIZE, "migration-%u", i);
	return past_hear(&agent, "b", &h) && agent.n_letters == n + 1 &&
		agent.letters[n].handover.kind == HANDOVER_FINALIZED;
}

START_TEST(the_oldest_moves_go)
{
	for (unsigned i = 0; i <= MOVES_MAX; i++)
		moves_away(i);
	ck_assert_uint_eq(agent.migrations.n_past, MOVES_MAX);
	ck_assert_int_eq(past_number(&agent, "default", "vm-0"), 0);
	ck_assert_str_eq(past_peer(&agent, "default", "vm-1"), "b");
	ck_assert_str_eq(past_peer(&agent, "default", "vm-4096"), "b");
}
END_TEST

/* Who is not told so would take its guest for not moved, and run it a second time. */
START_TEST(what_is_settled_is_not_pushed_out)
{
	is_taken(9000, "b");
	for (unsigned i = 0; i <= MOVES_MAX; i++)
		moves_away(i);
	ck_assert(hears(9000));
	ck_assert(!hears(9001));
	ck_assert_uint_eq(agent.migrations.n_past, MOVES_MAX + 1);
}
END_TEST

START_TEST(what_is_settled_has_bounded_places)
{
	for (unsigned i = 0; i < SETTLED_MAX - 1; i++) {
		ck_assert(past_has_room(&agent, 1));
		is_taken(i, "b");
	}
	ck_assert(past_has_room(&agent, 1));
	ck_assert(!past_has_room(&agent, 2));
	is_taken(SETTLED_MAX, "b");
	ck_assert(past_has_room(&agent, 0));
	ck_assert(!past_has_room(&agent, 1));
	ck_assert(hears(0));
}
END_TEST

/* Those that a migration still tells of have their places, too. */
START_TEST(what_will_be_settled_counts)
{
	struct migration g = { .taken = true }, *list[] = { &g };

	agent.migrations.list = list;
	agent.migrations.n = 1;
	ck_assert(past_has_room(&agent, SETTLED_MAX - 1));
	ck_assert(!past_has_room(&agent, SETTLED_MAX));
	g.lost = true;
	ck_assert(past_has_room(&agent, SETTLED_MAX));
	g.lost = false;
	g.removed = true;
	ck_assert(past_has_room(&agent, SETTLED_MAX));
}
END_TEST

START_TEST(who_is_no_peer_makes_room)
{
	is_taken(SETTLED_MAX, "b");
	for (unsigned i = 0; i < SETTLED_MAX - 1; i++)
		is_taken(i, "gone");
	agent.migrations.past_changed = false;
	ck_assert(past_has_room(&agent, 1));
	ck_assert(agent.migrations.past_changed && agent.migrations.changed);
	ck_assert(hears(SETTLED_MAX));
	ck_assert(past_has_room(&agent, SETTLED_MAX - 1));
	ck_assert(!past_has_room(&agent, SETTLED_MAX));
}
END_TEST

static enum err_code declared(void)
{
	struct input input = { .request = { .name = (char *)(uintptr_t) "b" } };
	struct pending_reply *r;
	enum err_code code;

	input_declare_dead(&agent, &input, (struct now){ 1000, 1000000 });
	ck_assert_uint_eq(agent.n_replies, 1);
	r = &agent.replies[--agent.n_replies];
	code = r->err.code;
	if (code)
		ck_assert_ptr_nonnull(strstr(r->err.msg, "there is no room"));
	free(r->note);
	free(r->ns);
	free(r->name);
	return code;
}

/* It could not be told any more who has the guest: nothing is settled. */
START_TEST(a_declaration_is_refused)
{
	struct migration g = { .peer = (char *)(uintptr_t) "b",
		.meta.ns = (char *)(uintptr_t) "default",
		.vmi = (char *)(uintptr_t) "web",
		.role = MIGRATION_TARGET,
		.state = MIGRATION_OWNER };
	struct migration *list[] = { &g };
	struct peer_facts b = { .config = peers };

	agent.peers.list = &b;
	agent.migrations.list = list;
	agent.migrations.n = 1;
	for (unsigned i = 0; i < SETTLED_MAX; i++)
		is_taken(i, "b");
	ck_assert_int_eq(declared(), ERR_TOO_MANY);
	ck_assert(!g.taken && !g.changed && !b.dead.wall);
	past_done(&agent);
	agent.migrations.past = NULL;
	agent.migrations.n_past = agent.migrations.cap_past = 0;
	ck_assert_int_eq(declared(), ERR_OK);
	ck_assert(g.taken && b.dead.wall);
	free(agent.replies);
}
END_TEST

Suite *test_past_suite(void)
{
	Suite *s = suite_create("past");
	TCase *tc = tcase_create("places");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, the_oldest_moves_go);
	tcase_add_test(tc, what_is_settled_is_not_pushed_out);
	tcase_add_test(tc, what_is_settled_has_bounded_places);
	tcase_add_test(tc, what_will_be_settled_counts);
	tcase_add_test(tc, who_is_no_peer_makes_room);
	tcase_add_test(tc, a_declaration_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
