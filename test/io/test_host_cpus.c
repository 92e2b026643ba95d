/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells of a host's CPUs and NUMA nodes, from a folder that stands for '/'. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "io/host_cpus.h"

Suite *test_host_cpus_suite(void);

static char root[64];

static void set_up(void)
{
	strcpy(root, "/tmp/vmagent-cpus.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void tear_down(void)
{
	autofree char *command = xasprintf("rm -r '%s'", root);

	ck_assert_int_eq(system(command), 0);
}

static void tell(const char *folder, const char *file, const char *line)
{
	autofree char *command = xasprintf(
		"mkdir -p '%s/sys/devices/system/%s' && echo '%s' > '%s/sys/devices/system/%s/%s'",
		root, folder, line, root, folder, file);

	ck_assert_int_eq(system(command), 0);
}

/* Node 1 has memory only, and there is no node 2. */
START_TEST(two_nodes)
{
	struct host_shares shares = { .n_nodes = 0 };

	tell("cpu", "online", "0-3,8-11");
	tell("node/node0", "cpulist", "0-3");
	tell("node/node1", "cpulist", "");
	tell("node/node3", "cpulist", "8-11");
	host_cpus_read(root, &shares);
	ck_assert_uint_eq(cpu_set_count(&shares.online), 8);
	ck_assert_uint_eq(shares.n_nodes, 4);
	ck_assert_uint_eq(cpu_set_count(&shares.nodes[0]), 4);
	ck_assert_uint_eq(cpu_set_count(&shares.nodes[1]) + cpu_set_count(&shares.nodes[2]), 0);
	ck_assert(cpu_set_has(&shares.nodes[3], 11));
}
END_TEST

START_TEST(nothing_is_told)
{
	struct host_shares shares = { .n_nodes = 0 };

	host_cpus_read(root, &shares);
	ck_assert_uint_eq(cpu_set_count(&shares.online), 0);
	ck_assert_uint_eq(shares.n_nodes, 0);
}
END_TEST

/* Whatever it is, it has CPU 0. */
START_TEST(this_host)
{
	struct host_shares shares = { .n_nodes = 0 };

	host_cpus_read("", &shares);
	ck_assert(cpu_set_has(&shares.online, 0));
}
END_TEST

Suite *test_host_cpus_suite(void)
{
	Suite *suite = suite_create("host_cpus");
	TCase *tcase = tcase_create("what the kernel tells");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, two_nodes);
	tcase_add_test(tcase, nothing_is_told);
	tcase_add_test(tcase, this_host);
	suite_add_tcase(suite, tcase);
	return suite;
}
