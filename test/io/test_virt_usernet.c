/* SPDX-License-Identifier: Apache-2.0 */
/* What QEMU 7.2 prints for "info usernet", line by line. */
#include <check.h>
#include <string.h>

#include "io/virt_usernet.h"

static const char table[] =
	"Hub -1 (hostnet0):\r\n"
	"  Protocol[State]    FD  Source Address  Port   Dest. Address  Port RecvQ SendQ\r\n"
	"  TCP[HOST_FORWARD]  15  127.118.109.97 35745       10.0.2.15    22     0     0\r\n"
	"  TCP[ESTABLISHED]   21  127.118.109.97 35745       10.0.2.15    22     0     0\r\n"
	"  TCP[SYN_SENT]      -1               * 35746       10.0.2.15    80    10     0\r\n"
	"  UDP[236 sec]       47       10.0.2.15 35061       10.0.2.3     53     0     0\r\n"
	"  ICMP[9 sec]        12       10.0.2.15     -       10.0.2.2      -     0     0\r\n"
	"  TCP[a state that is longer than any] 1 1.2.3.4 5 6.7.8.9 10 0 0\r\n"
	"  TCP[CLOSE_WAIT]";

START_TEST(lines)
{
	static const struct usernet_line want[] = {
		{ "HOST_FORWARD", "127.118.109.97", 35745, 22 },
		{ "ESTABLISHED", "127.118.109.97", 35745, 22 },
		{ "SYN_SENT", "*", 35746, 80 },
	};
	const char *at = table;
	struct usernet_line line;
	size_t n = 0;

	for (; usernet_next(&at, &line); n++) {
		ck_assert_uint_lt(n, ARRAY_SIZE(want));
		ck_assert_str_eq(line.state, want[n].state);
		ck_assert_str_eq(line.address, want[n].address);
		ck_assert_uint_eq(line.port, want[n].port);
		ck_assert_uint_eq(line.guest_port, want[n].guest_port);
	}
	ck_assert_uint_eq(n, ARRAY_SIZE(want));
	ck_assert_str_eq(at, "");
}
END_TEST

Suite *test_virt_usernet_suite(void);

Suite *test_virt_usernet_suite(void)
{
	Suite *suite = suite_create("virt_usernet");
	TCase *tc = tcase_create("usernet");

	tcase_add_test(tc, lines);
	suite_add_tcase(suite, tc);
	return suite;
}
