/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of CPUs; what a run gets of the host, and the words when it does not. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/holding.h"

Suite *test_holding_suite(void);

/* clang-format off */
static const struct { const char *text, *shortest; unsigned n, end; } sets[] = { /* NULL: refused */
	{ "0",            "0",      1, 1 },
	{ "2-5,8",        "2-5,8",  5, 9 },
	{ "8,2,3,4-5",    "2-5,8",  5, 9 },
	{ "0-3,^1",       "0,2-3",  3, 4 },
	{ "0-7,^2-5,3",   "0-1,3,6-7", 5, 8 },
	{ "63-64",        "63-64",  2, 65 },
	{ "1022-1023",    "1022-1023", 2, 1024 },
	{ "",      NULL, 0, 0 },
	{ "1024",  NULL, 0, 0 },
	{ "3-1",   NULL, 0, 0 },
	{ "1,",    NULL, 0, 0 },
	{ ",1",    NULL, 0, 0 },
	{ "1 2",   NULL, 0, 0 },
	{ "-1",    NULL, 0, 0 },
	{ "1-",    NULL, 0, 0 },
	{ "^1",    NULL, 0, 0 },
	{ "99999999999999999999", NULL, 0, 0 },
};

/* On a host with two nodes, CPUs 0-3 and 4-7, of which 2-7 are dedicated. a and b
 * are who has what. */
static const struct {
	const char *name;
	unsigned vcpus;              /* 0: shared ones */
	bool emulator, passthrough;
	const char *devices;         /* by blanks */
	bool vsock;
	const char *a, *b;
	const char *gets, *words;    /* one of them */
} asks[] = {
	{ "the lowest",        1, false, false, "", false, "", "", "cpu:2", NULL },
	{ "one node's",        3, false, false, "", false, "", "", "cpu:4 cpu:5 cpu:6", NULL },
	{ "of both",           5, false, false, "", false, "", "", "cpu:2 cpu:3 cpu:4 cpu:5 cpu:6", NULL },
	{ "the emulator's",    1, true,  false, "", false, "cpu:2", "", "cpu:4 cpu:5", NULL },
	{ "what was given back", 2, false, false, "", false, "cpu:3", "cpu:5", "cpu:4 cpu:6", NULL },
	{ "a node",            4, false, true,  "", false, "", "", "cpu:4 cpu:5 cpu:6 cpu:7 node:1", NULL },
	{ "no node",           4, false, true,  "", false, "cpu:5", "cpu:2 cpu:3", NULL,
		"0/1 nodes are available: 1 Insufficient dedicated CPUs: needs 4 of one NUMA node, 3 of 6 is free "
		"there; 'default/b' has 2, 'default/a' has 1" },
	{ "too many",          4, true,  false, "", false, "cpu:5", "cpu:2", NULL,
		"0/1 nodes are available: 1 Insufficient dedicated CPUs: needs 5, 4 of 6 is free; 'default/b' has 1, "
		"'default/a' has 1" },
	{ "ever",              6, true,  false, "", false, "", "", NULL,
		"0/1 nodes are available: 1 Insufficient dedicated CPUs: needs 7, 6 of 6 is free, which is never enough" },
	{ "a device",          0, false, false, "x.org/gpu", false, "", "", "pci:0000:65:00.0", NULL },
	{ "the other one",     0, false, false, "x.org/gpu", false, "pci:0000:65:00.0", "", "pci:0000:66:00.0", NULL },
	{ "both",              0, false, false, "x.org/gpu stick x.org/gpu", false, "", "",
		"pci:0000:65:00.0 usb:1234:5678 pci:0000:66:00.0", NULL },
	{ "three",             0, false, false, "x.org/gpu x.org/gpu x.org/gpu", false, "", "", NULL,
		"0/1 nodes are available: hostDevice 'd2': needs 3 of 'x.org/gpu', of which this host has 2" },
	{ "too few",           0, false, false, "x.org/gpu x.org/gpu", false, "pci:0000:66:00.0", "", NULL,
		"0/1 nodes are available: hostDevice 'd1': 1 Insufficient 'x.org/gpu': too few of 2 are free; "
		"'default/a' has 1" },
	{ "an unknown one",    0, false, false, "x.org/tpu", false, "", "", NULL,
		"0/1 nodes are available: hostDevice 'd0': this host has no device of the name 'x.org/tpu': list it in "
		"the agent's configuration as one of hostDevices" },
	{ "a CID",             0, false, false, "", true, "", "", "cid:1024", NULL },
	{ "the next CID",      0, false, false, "", true, "cid:1024", "cid:1025", "cid:1026", NULL },
	{ "all at once",       1, false, false, "stick", true, "cid:1024", "cpu:2", "cpu:3 usb:1234:5678 cid:1025", NULL },
};
/* clang-format on */

START_TEST(a_set)
{
	struct cpu_set set;
	autofree char *text = NULL;

	ck_assert_int_eq(cpu_set_parse(sets[_i].text, &set), sets[_i].shortest != NULL);
	if (!sets[_i].shortest)
		return;
	text = cpu_set_text(&set);
	ck_assert_str_eq(text, sets[_i].shortest);
	ck_assert_uint_eq(cpu_set_count(&set), sets[_i].n);
	ck_assert_uint_eq(cpu_set_end(&set), sets[_i].end);
}
END_TEST

static const struct machine a = { .ns = (char *)"default", .name = (char *)"a" };
static const struct machine b = { .ns = (char *)"default", .name = (char *)"b" };

static bool has(const char *words, const char *key)
{
	bool found = false;

	for (char *word; !found && (word = holding_word(&words)); free(word))
		found = streq(word, key);
	return found;
}

static const struct machine *holder(const void *ctx, const char *key)
{
	int i = *(const int *)ctx;

	return has(asks[i].a, key) ? &a : has(asks[i].b, key) ? &b : NULL;
}

static void make_host(struct host_shares *host)
{
	*host = (struct host_shares){ .n_nodes = 2 };
	ck_assert(cpu_set_parse("0-7", &host->online));
	ck_assert(cpu_set_parse("2-7", &host->dedicated));
	ck_assert(cpu_set_parse("0-3", &host->nodes[0]));
	ck_assert(cpu_set_parse("4-7", &host->nodes[1]));
	ck_assert(host_shares_add(host, "x.org/gpu", HOST_DEVICE_PCI, "0000:65:00.0"));
	ck_assert(host_shares_add(host, "stick", HOST_DEVICE_USB, "1234:5678"));
	ck_assert(host_shares_add(host, "x.org/gpu", HOST_DEVICE_PCI, "0000:66:00.0"));
}

static void make_spec(struct vmi_spec *spec, int i)
{
	const char *at = asks[i].devices;

	*spec = (struct vmi_spec){ .sockets = MAX(asks[i].vcpus, 1),
		.cores = 1,
		.threads = 1,
		.dedicated = asks[i].vcpus,
		.isolate_emulator = asks[i].emulator,
		.numa_passthrough = asks[i].passthrough,
		.vsock = asks[i].vsock };
	spec->devices = xcalloc(4, sizeof(*spec->devices));
	for (char *word; (word = holding_word(&at)); spec->n_devices++)
		spec->devices[spec->n_devices] =
			(struct device_ask){ .name = xasprintf("d%zu", spec->n_devices),
				.resource = word };
}

START_TEST(a_run_gets)
{
	struct host_shares host;
	struct shares_view view = { &host, holder, &_i };
	autofree char *words = NULL, *gets = NULL;
	struct vmi_spec spec;

	make_host(&host);
	make_spec(&spec, _i);
	ck_assert(spec_shares(&spec));
	gets = holding_choose(&view, &spec, &words);
	ck_assert_msg(streq(gets, asks[_i].gets), "%s: gets '%s'", asks[_i].name, gets);
	ck_assert_msg(streq(words, asks[_i].words), "%s: '%s'", asks[_i].name, words);
	vmi_spec_done(&spec);
	host_shares_done(&host);
}
END_TEST

START_TEST(a_host_without_any)
{
	static const struct host_shares none;
	int i = 0;
	struct shares_view view = { &none, holder, &i };
	struct vmi_spec spec = { .sockets = 1, .cores = 1, .threads = 1, .dedicated = true };
	autofree char *words = NULL;

	ck_assert_ptr_null(holding_choose(&view, &spec, &words));
	ck_assert_ptr_nonnull(
		strstr(words, "list them in the agent's configuration as dedicatedCPUs"));
	ck_assert_ptr_null(shared_cpus(&none));
}
END_TEST

START_TEST(what_is_left)
{
	struct host_shares host;
	autofree char *left = NULL;

	make_host(&host);
	left = shared_cpus(&host);
	ck_assert_str_eq(left, "0-1");
	cpu_set_parse("0-7", &host.dedicated);
	ck_assert_ptr_null(shared_cpus(&host));
	host_shares_done(&host);
}
END_TEST

START_TEST(a_text_and_back)
{
	struct holding h;

	holding_parse("cpu:4 cpu:2 node:1 later:5 mdev:5d307ca9-b3ef-428c-8861-06e72d69f223 cid:1024",
		&h);
	ck_assert_uint_eq(h.n_cpus, 2);
	ck_assert_uint_eq(h.cpus[0], 4);
	ck_assert_int_eq(h.node, 1);
	ck_assert_uint_eq(h.n_devices, 1);
	ck_assert_str_eq(h.devices[0], "mdev:5d307ca9-b3ef-428c-8861-06e72d69f223");
	ck_assert_uint_eq(h.cid, 1024);
	holding_done(&h);
	holding_parse(NULL, &h);
	ck_assert_uint_eq(h.n_cpus + h.n_devices + h.cid, 0);
	ck_assert_int_eq(h.node, -1);
	holding_done(&h);
}
END_TEST

/* An address is of its kind's form, and there is a bound. */
START_TEST(an_address)
{
	struct host_shares host = { .n_devices = 0 };

	ck_assert(!host_shares_add(&host, "x", HOST_DEVICE_PCI, "65:00.0"));
	ck_assert(!host_shares_add(&host, "x", HOST_DEVICE_PCI, "../../65:00.0"));
	ck_assert(!host_shares_add(&host, "x", HOST_DEVICE_USB, "1234:567"));
	ck_assert(!host_shares_add(&host, "x", HOST_DEVICE_USB, "1234:567g"));
	ck_assert(!host_shares_add(&host, "x", HOST_DEVICE_MDEV, "0000:65:00.0"));
	while (host_shares_add(&host, "x", HOST_DEVICE_USB, "1234:abCD"))
		;
	ck_assert_str_eq(host.devices[0].key, "usb:1234:abcd");
	ck_assert_uint_eq(host.n_devices, HOST_DEVICES_MAX);
	host_shares_done(&host);
}
END_TEST

Suite *test_holding_suite(void)
{
	Suite *s = suite_create("holding");
	TCase *t = tcase_create("what a run has of the host to itself");

	tcase_add_loop_test(t, a_set, 0, ARRAY_SIZE(sets));
	tcase_add_loop_test(t, a_run_gets, 0, ARRAY_SIZE(asks));
	tcase_add_test(t, a_host_without_any);
	tcase_add_test(t, what_is_left);
	tcase_add_test(t, a_text_and_back);
	tcase_add_test(t, an_address);
	suite_add_tcase(s, t);
	return s;
}
