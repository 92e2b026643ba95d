/* SPDX-License-Identifier: Apache-2.0 */
/* An errand that libvirt never answers ends at its deadline, once; and there are only so
 * many at a time. */
#include <check.h>
#include <string.h>

#include "test/lib/rig.h"

Suite *test_errands_suite(void);

struct asked {
	unsigned answers[40]; /* by id */
	struct err err;       /* of the last */
};

static void answered(const struct errand *errand, const struct op_result *result)
{
	struct asked *asked = errand->ctx;

	asked->answers[errand->id]++;
	asked->err = result->err;
}

static void ask(struct rig *r, struct asked *asked, uint64_t id)
{
	struct input input = { .kind = INPUT_ERRAND,
		.errand = { .kind = OP_FORWARD,
			.named = KIND_VMI,
			.ns = "default",
			.name = "web",
			.port = 22,
			.ctx = asked,
			.id = id,
			.done = answered } };

	agent_input(r->agent, &input, r->now);
}

static void begin(struct rig *r)
{
	rig_begin(r);
	rig_create(r, "Always");
	rig_run(r, 10);
	r->hung = true;
}

START_TEST(one_that_hangs)
{
	struct rig r;
	struct asked asked = { 0 };
	struct op_result late = { .kind = OP_FORWARD };
	struct input input = { .kind = INPUT_RESULT, .result = &late };

	begin(&r);
	ask(&r, &asked, 0);
	rig_run(&r, 14);
	ck_assert_uint_eq(asked.answers[0], 0);
	rig_run(&r, 1);
	ck_assert_uint_eq(asked.answers[0], 1);
	ck_assert_int_eq(asked.err.code, ERR_TIMEOUT);
	ck_assert_str_eq(asked.err.msg, "libvirt has not answered 'port-forward' for 15 s");
	late.id = r.hung_op;
	ck_assert_uint_ne(late.id, 0);
	agent_input(r.agent, &input, r.now);
	rig_run(&r, 100);
	ck_assert_uint_eq(asked.answers[0], 1);
	rig_end(&r);
}
END_TEST

START_TEST(no_more_than_some)
{
	struct rig r;
	struct asked asked = { 0 };

	begin(&r);
	for (unsigned i = 0; i < 33; i++)
		ask(&r, &asked, i);
	ck_assert_int_eq(asked.err.code, ERR_TOO_MANY);
	ck_assert_uint_eq(asked.answers[32], 1);
	rig_run(&r, 20);
	for (unsigned i = 0; i < 33; i++)
		ck_assert_uint_eq(asked.answers[i], 1);
	ask(&r, &asked, 33);
	agent_drop_errands(r.agent);
	rig_run(&r, 20);
	ck_assert_uint_eq(asked.answers[33], 0);
	rig_end(&r);
}
END_TEST

Suite *test_errands_suite(void)
{
	Suite *suite = suite_create("errands");
	TCase *tc = tcase_create("errands");

	tcase_add_test(tc, one_that_hangs);
	tcase_add_test(tc, no_more_than_some);
	suite_add_tcase(suite, tc);
	return suite;
}
