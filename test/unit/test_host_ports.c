/* SPDX-License-Identifier: Apache-2.0 */
/* The annotation that forwards ports of the host: what it may say, and what QEMU is told. */
#include <check.h>
#include <string.h>

#include "core/host_ports.h"

Suite *test_host_ports_suite(void);

#define MANY16(p)                                                                         \
	p "00:1," p "01:1," p "02:1," p "03:1," p "04:1," p "05:1," p "06:1," p "07:1," p \
	  "08:1," p "09:1," p "10:1," p "11:1," p "12:1," p "13:1," p "14:1," p "15:1"

static const struct {
	const char *text;
	const char *rules, *words; /* one of them */
} rows[] = {
	{ "8080:80", "tcp::8080-:80\n", NULL },
	{ " 8080:80/tcp ,\t5353:53/udp ", "tcp::8080-:80\nudp::5353-:53\n", NULL },
	{ "5353:53/udp,5353:53/tcp", "udp::5353-:53\ntcp::5353-:53\n", NULL },
	{ "1024:1,65535:65535", "tcp::1024-:1\ntcp::65535-:65535\n", NULL },
	{ "", NULL, "expected HOST:GUEST" },
	{ ",", NULL, "expected HOST:GUEST" },
	{ "8080:80,", NULL, "expected HOST:GUEST" },
	{ "8080", NULL, "expected HOST:GUEST" },
	{ "8080:", NULL, "expected HOST:GUEST" },
	{ "8080:80/sctp", NULL, "expected HOST:GUEST" },
	{ "8080:80/tcpx", NULL, "expected HOST:GUEST" },
	{ "8080 :80", NULL, "expected HOST:GUEST" },
	{ "-1:80", NULL, "expected HOST:GUEST" },
	{ "008080:80", NULL, "expected HOST:GUEST" },
	{ "127.0.0.1:8080:80", NULL, "expected HOST:GUEST" },
	{ "8080:80\n9:9", NULL, "expected HOST:GUEST" },
	{ "1023:80", NULL, "a port of the host is from 1024 to 65535, not 1023" },
	{ "65536:80", NULL, "a port of the host is from 1024 to 65535, not 65536" },
	{ "8080:0", NULL, "a port of the guest is from 1 to 65535, not 0" },
	{ "8080:65536", NULL, "a port of the guest is from 1 to 65535, not 65536" },
	{ "8080:80,8080:81/tcp", NULL, "port 8080/tcp is there twice" },
	{ MANY16("11") "," MANY16("12") "," MANY16("13") "," MANY16("14") ",1500:1", NULL,
		"at most 64 ports are possible" },
};

START_TEST(texts)
{
	autofree char *rules = NULL;
	struct host_ports ports;
	struct err err = { 0 };

	ck_assert_int_eq(host_ports_parse(rows[_i].text, &ports, &err),
		rows[_i].words ? -ERR_INVALID : 0);
	rules = host_ports_rules(&ports);
	ck_assert(streq(rules, rows[_i].rules));
	if (rows[_i].words)
		ck_assert_msg(strstr(err.msg, rows[_i].words) != NULL, "%s", err.msg);
}
END_TEST

START_TEST(of_a_run)
{
	struct vmi vmi = { .phase = PHASE_RUNNING };
	struct host_ports ports;

	host_ports_of(&vmi, &ports);
	ck_assert_uint_eq(ports.n, 0);
	vmi.meta.annotations = (char *)"{\"a\":\"b\",\"vmagent.io/host-ports\":\"8080:80\"}";
	host_ports_of(&vmi, &ports);
	ck_assert_uint_eq(ports.n, 1);
	ck_assert_uint_eq(ports.list[0].host, 8080);
	ck_assert_uint_eq(ports.list[0].guest, 80);
	vmi.meta.annotations = (char *)"{\"vmagent.io/host-ports\":8080}";
	host_ports_of(&vmi, &ports);
	ck_assert_uint_eq(ports.n, 0);
}
END_TEST

Suite *test_host_ports_suite(void)
{
	Suite *suite = suite_create("host ports");
	TCase *tc = tcase_create("annotation");

	tcase_add_loop_test(tc, texts, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, of_a_run);
	suite_add_tcase(suite, tc);
	return suite;
}
