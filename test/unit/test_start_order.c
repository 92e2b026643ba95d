/* SPDX-License-Identifier: Apache-2.0 */
/* The annotations that order starts: their bounds, and whose they are. */
#include <check.h>

#include "core/start_order.h"

Suite *test_start_order_suite(void);

/* clang-format off */
static const struct {
	const char *text;
	unsigned max;
	bool good;
	unsigned value;
} values[] = {
	{ "0",      START_ORDER_MAX,   true,  0 },
	{ "7",      START_ORDER_MAX,   true,  7 },
	{ "007",    START_ORDER_MAX,   true,  7 },
	{ "65535",  START_ORDER_MAX,   true,  65535 },
	{ "65536",  START_ORDER_MAX,   false, 0 },
	{ "99999",  START_ORDER_MAX,   false, 0 },
	{ "100000", START_ORDER_MAX,   false, 0 },
	{ "3600",   START_DELAY_MAX_S, true,  3600 },
	{ "3601",   START_DELAY_MAX_S, false, 0 },
	{ "",       START_ORDER_MAX,   false, 0 },
	{ "-1",     START_ORDER_MAX,   false, 0 },
	{ "+1",     START_ORDER_MAX,   false, 0 },
	{ " 1",     START_ORDER_MAX,   false, 0 },
	{ "1s",     START_ORDER_MAX,   false, 0 },
	{ "1.5",    START_ORDER_MAX,   false, 0 },
	{ NULL,     START_ORDER_MAX,   false, 0 },
};

static const struct {
	const char *vm, *vmi; /* their annotations; "": the object is not there */
	unsigned order, delay_s;
} machines[] = {
	{ NULL, "", START_ORDER_LAST, 0 },
	{ "{\"vmagent.io/start-order\":\"3\"}", "", 3, 0 },
	{ "{\"a\":\"b\",\"vmagent.io/start-delay\":\"30\"}", "", START_ORDER_LAST, 30 },
	{ "{\"vmagent.io/start-order\":\"0\",\"vmagent.io/start-delay\":\"3600\"}", "", 0, 3600 },
	{ "", "{\"vmagent.io/start-order\":\"4\"}", 4, 0 },                /* a bare VMI */
	{ NULL, "{\"vmagent.io/start-order\":\"4\"}", START_ORDER_LAST, 0 }, /* the VM's alone count */
	{ "{\"vmagent.io/start-order\":\"many\"}", "", START_ORDER_LAST, 0 },
	{ "{\"vmagent.io/start-order\":5}", "", START_ORDER_LAST, 0 },
};
/* clang-format on */

START_TEST(a_value_has_bounds)
{
	unsigned value = 0;

	ck_assert_int_eq(start_annotation_parse(values[_i].text, values[_i].max, &value),
		values[_i].good);
	ck_assert_uint_eq(value, values[_i].value);
}
END_TEST

START_TEST(an_order_is_of_the_machine)
{
	const char *vm_text = machines[_i].vm, *vmi_text = machines[_i].vmi;
	struct vm vm = { .meta.annotations = (char *)vm_text };
	struct vmi vmi = { .meta.annotations = (char *)vmi_text };
	struct machine m = { .vm = streq(vm_text, "") ? NULL : &vm,
		.vmi = streq(vmi_text, "") ? NULL : &vmi };
	struct start_order order = start_order_of(&m);

	ck_assert_uint_eq(order.order, machines[_i].order);
	ck_assert_uint_eq(order.delay_s, machines[_i].delay_s);
}
END_TEST

Suite *test_start_order_suite(void)
{
	Suite *s = suite_create("start_order");
	TCase *t = tcase_create("start_order");

	tcase_add_loop_test(t, a_value_has_bounds, 0, ARRAY_SIZE(values));
	tcase_add_loop_test(t, an_order_is_of_the_machine, 0, ARRAY_SIZE(machines));
	suite_add_tcase(s, t);
	return s;
}
