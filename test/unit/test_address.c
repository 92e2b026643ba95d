/* SPDX-License-Identifier: Apache-2.0 */
/* Where a peer listens, as it may be written. */
#include <check.h>

#include "core/address.h"

Suite *test_address_suite(void);

/* clang-format off */
static const struct { const char *text, *host; unsigned port; } addresses[] = {
	{ "host-b",               "host-b",        16516 },
	{ "host-b.example.org:1", "host-b.example.org", 1 },
	{ "192.0.2.7",            "192.0.2.7",     16516 },
	{ "192.0.2.7:65535",      "192.0.2.7",     65535 },
	{ "[2001:db8::1]",        "2001:db8::1",   16516 },
	{ "[2001:db8::1]:99",     "2001:db8::1",   99 },
	{ "[fe80::1%eth0]:99",    "fe80::1%eth0",  99 },
	{ "::",                   "::",            16516 },
	{ "2001:db8::1",          "2001:db8::1",   16516 },
	{ "127.0.0.1:0",          "127.0.0.1",     0 },
	{ "",                     NULL, 0 },
	{ ":99",                  NULL, 0 },
	{ "host:",                NULL, 0 },
	{ "host:65536",           NULL, 0 },
	{ "host:9x",              NULL, 0 },
	{ "host:-1",              NULL, 0 },
	{ "[::1",                 NULL, 0 },
	{ "[]:99",                NULL, 0 },
	{ "[::1]99",              NULL, 0 },
	{ "[::1]:",               NULL, 0 },
	{ "ho st",                NULL, 0 },
	{ "tcp://host",           NULL, 0 },
};
/* clang-format on */

START_TEST(as_it_may_be_written)
{
	struct address got;
	bool ok = address_parse(addresses[_i].text, &got);

	ck_assert_int_eq(ok, addresses[_i].host != NULL);
	if (!ok)
		return;
	ck_assert_str_eq(got.host, addresses[_i].host);
	ck_assert_uint_eq(got.port, addresses[_i].port);
}
END_TEST

Suite *test_address_suite(void)
{
	Suite *s = suite_create("address");
	TCase *t = tcase_create("addresses");

	tcase_add_loop_test(t, as_it_may_be_written, 0, ARRAY_SIZE(addresses));
	suite_add_tcase(s, t);
	return s;
}
