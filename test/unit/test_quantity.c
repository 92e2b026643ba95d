/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities as Kubernetes has them: every suffix, rounding up, exponents, bounds, order. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/quantity.h"

Suite *test_quantity_suite(void);

static const struct {
	const char *text;
	int64_t value;
} good[] = {
	{ "0", 0 },
	{ "1", 1 },
	{ "+1", 1 },
	{ "007", 7 },
	{ "5.", 5 },
	{ ".5", 1 },
	{ "0.0", 0 },
	{ "1k", 1000 },
	{ "1M", 1000000 },
	{ "1G", 1000000000 },
	{ "1T", 1000000000000 },
	{ "1P", 1000000000000000 },
	{ "1E", 1000000000000000000 },
	{ "1Ki", 1024 },
	{ "128Mi", 134217728 },
	{ "1Gi", 1073741824 },
	{ "1Ti", 1099511627776 },
	{ "1Pi", 1125899906842624 },
	{ "7Ei", 8070450532247928832 },
	{ "1500m", 2 },
	{ "1000m", 1 },
	{ "1n", 1 },
	{ "1000000000n", 1 },
	{ "1000001u", 2 },
	{ "0.1m", 1 },
	{ "1.5Gi", 1610612736 },
	{ "1.5G", 1500000000 },
	{ "0.5Ki", 512 },
	{ "0.0001Ki", 1 },
	{ "1e3", 1000 },
	{ "1E3", 1000 },
	{ "1e+3", 1000 },
	{ "12e-1", 2 },
	{ "1.25e2", 125 },
	{ "1e-99", 1 },
	{ "0e99", 0 },
	{ "0e999999999999999999999", 0 },
	{ "9223372036854775807", INT64_MAX },
	{ "9223372036854775806.000000001", INT64_MAX },
	{ "1.000000000000000001E", 1000000000000000001 },
	{ "1.0000000000000000001E", 1000000000000000001 },
	{ "9007199254740993", 9007199254740993 },
};

START_TEST(good_ones)
{
	int64_t value = -1;
	struct err err;

	ck_assert_msg(!quantity_parse(good[_i].text, &value, &err), "%s: %s", good[_i].text,
		err.msg);
	ck_assert_msg(value == good[_i].value, "%s is %" PRId64, good[_i].text, value);
}
END_TEST

static const struct {
	const char *text, *words;
} bad[] = {
	{ NULL, "got nothing" },
	{ "", "got nothing" },
	{ "-1", "negative" },
	{ "-0", "negative" },
	{ ".", "got '.'" },
	{ "+", "got '+'" },
	{ "Gi", "got 'Gi'" },
	{ " 1", "got ' 1'" },
	{ "1 ", "suffix ' '" },
	{ "1GB", "suffix 'GB'" },
	{ "1Gb", "suffix 'Gb'" },
	{ "1K", "suffix 'K'" },
	{ "1ki", "suffix 'ki'" },
	{ "1.2.3", "suffix '.3'" },
	{ "1e", "suffix 'e'" },
	{ "1e+", "suffix 'e+'" },
	{ "1e3k", "suffix 'e3k'" },
	{ "0x10", "suffix 'x10'" },
	{ "1,5", "suffix ',5'" },
	{ "9223372036854775808", "too large" },
	{ "9223372036854775807.000000001", "too large" },
	{ "8Ei", "too large" },
	{ "10E", "too large" },
	{ "1e19", "too large" },
	{ "1e99", "too large" },
	{ "99999999999999999999999999999999999999999e-30", "too large" },
	{ "1111111111111111111111111111111111111111111111111111111111111111111", "over 64" },
};

START_TEST(bad_ones)
{
	int64_t value = 42;
	struct err err;

	ck_assert_int_eq(quantity_parse(bad[_i].text, &value, &err), -ERR_INVALID);
	ck_assert_msg(strstr(err.msg, bad[_i].words), "%s", err.msg);
	ck_assert_int_eq(value, 42);
}
END_TEST

static const struct {
	const char *text;
	int64_t value; /* -1: it is refused */
} millis[] = {
	{ "0", 0 },
	{ "1", 1000 },
	{ "0.5", 500 },
	{ "100m", 100 },
	{ "1.0001", 1001 },
	{ "1u", 1 },
	{ "2k", 2000000 },
	{ "9P", 9000000000000000000 },
	{ "10P", -1 },
	{ "-1", -1 },
	{ "", -1 },
};

START_TEST(thousandths)
{
	int64_t value = -1;
	struct err err;

	quantity_parse_milli(millis[_i].text, &value, &err);
	ck_assert_int_eq(value, millis[_i].value);
}
END_TEST

static const struct {
	const char *a, *b;
	int order;
} orders[] = {
	{ "300m", "500m", -1 },
	{ "0.5", "500m", 0 },
	{ "1Gi", "1G", 1 },
	{ "1024Mi", "1Gi", 0 },
	{ "1e3", "1k", 0 },
	{ "1n", "0", 1 },
	{ "nonsense", "0", 0 },
	{ "9223372036854775807", "9223372036854775806", 1 },
};

START_TEST(order)
{
	ck_assert_int_eq(quantity_compare(orders[_i].a, orders[_i].b), orders[_i].order);
	ck_assert_int_eq(quantity_compare(orders[_i].b, orders[_i].a), -orders[_i].order);
}
END_TEST

Suite *test_quantity_suite(void)
{
	Suite *suite = suite_create("quantity");
	TCase *tc = tcase_create("quantity");

	tcase_add_loop_test(tc, good_ones, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(tc, bad_ones, 0, ARRAY_SIZE(bad));
	tcase_add_loop_test(tc, thousandths, 0, ARRAY_SIZE(millis));
	tcase_add_loop_test(tc, order, 0, ARRAY_SIZE(orders));
	suite_add_tcase(suite, tc);
	return suite;
}
