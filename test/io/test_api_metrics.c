/* SPDX-License-Identifier: Apache-2.0 */
/* The page of figures: that it is one in Prometheus' text format, and that it says what is so. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "test/lib/api_fixture.h"

Suite *test_api_metrics_suite(void);

#define WALL INT64_C(1764460800000) /* 2025-11-30T00:00:00Z */
#define VMS  "/apis/kubevirt.io/v1/namespaces/default/virtualmachines"

static struct api_fixture f;
static char *page;

static void set_up(void)
{
	api_fixture_start(&f);
}

static void tear_down(void)
{
	free(take(&page));
	api_fixture_stop(&f);
}

static void read_page(void)
{
	free(take(&page));
	ck_assert_int_eq(api_ask(&f, "GET /metrics", NULL, &page), 200);
}

static void expect_line(const char *line)
{
	autofree char *whole = xasprintf("\n%s\n", line);

	ck_assert_msg(strstr(page, whole) != NULL, "'%s' is not in:\n%s", line, page);
}

/* Of each name HELP, TYPE and then its samples, none of which comes twice. */
static void check_line(const char *line, char name[128])
{
	const char *value = strrchr(line, ' ');
	char read[128], *end;

	if (sscanf(line, "# HELP %127s", read) == 1) {
		copy_str(name, 128, read);
		ck_assert_msg(strlen(line) > strlen("# HELP  ") + strlen(name), "%s", line);
		return;
	}
	if (sscanf(line, "# TYPE %127s", read) == 1) {
		ck_assert_msg(streq(read, name) && streq(value, " gauge"), "%s", line);
		return;
	}
	ck_assert_msg(starts_with(line, name) && strchr("{ ", line[strlen(name)]), "%s", line);
	strtod(value + 1, &end);
	ck_assert_msg(end > value + 1 && !*end, "%s", line);
}

START_TEST(test_it_is_well_formed)
{
	char name[128] = "";
	char *rest, *line;

	api_expect(&f, "POST " VMS, api_vm("a", "Halted"), 201, NULL);
	read_page();
	ck_assert(page[strlen(page) - 1] == '\n');
	page[strlen(page) - 1] = '\0';
	for (rest = page; (line = strsep(&rest, "\n"));)
		check_line(line, name);
}
END_TEST

static void say(struct peer_event event)
{
	struct input input = { .kind = INPUT_PEER, .peer = &event };

	agent_input(f.agent, &input, (struct now){ .boot = 1000, .wall = WALL });
}

START_TEST(test_peers)
{
	struct peer_hello hello = { .version = 1, .node = "b" };

	read_page();
	expect_line("vmagentd_peer_up{peer=\"b\"} 0");
	ck_assert_ptr_null(strstr(page, "timestamp_seconds{"));
	say((struct peer_event){ .kind = PEER_UP, .name = "b", .hello = &hello, .expires = WALL });
	say((struct peer_event){ .kind = PEER_CLOCK, .name = "b", .ahead = -1500 });
	say((struct peer_event){ .kind = PEER_SELF, .expires = WALL + 999 });
	read_page();
	expect_line("vmagentd_peer_up{peer=\"b\"} 1");
	expect_line("vmagentd_peer_clock_ahead_seconds{peer=\"b\"} -1.5");
	expect_line("vmagentd_certificate_expiry_timestamp_seconds{node=\"b\"} 1764460800");
	expect_line("vmagentd_certificate_expiry_timestamp_seconds{node=\"node\"} 1764460800");
	say((struct peer_event){ .kind = PEER_DOWN, .name = "b", .why = "gone" });
	read_page();
	expect_line("vmagentd_peer_up{peer=\"b\"} 0");
	expect_line("vmagentd_certificate_expiry_timestamp_seconds{node=\"b\"} 1764460800");
}
END_TEST

static bool has_line(void *ctx)
{
	read_page();
	return strstr(page, ctx) != NULL;
}

START_TEST(test_guests)
{
	static char running[] = "kubevirt_vmi_phase_count{node=\"node\",phase=\"Running\"} 2\n";

	api_expect(&f, "POST " VMS, api_vm("a", "Always"), 201, NULL);
	api_expect(&f, "POST " VMS, api_vm("b", "Always"), 201, NULL);
	api_expect(&f, "POST " VMS, api_vm("c", "Halted"), 201, NULL);
	ck_assert(loop_until(&f.loop, has_line, running));
	expect_line("kubevirt_number_of_vms{namespace=\"default\"} 3");
	expect_line("kubevirt_vmi_phase_count{node=\"node\",phase=\"Failed\"} 0");
	expect_line("kubevirt_vmi_migrations_in_running_phase 0");
	expect_line("vmagentd_libvirt_up 1");
	expect_line("vmagentd_healthy 1");
}
END_TEST

Suite *test_api_metrics_suite(void)
{
	Suite *suite = suite_create("api_metrics");
	TCase *tcase = tcase_create("metrics");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_it_is_well_formed);
	tcase_add_test(tcase, test_peers);
	tcase_add_test(tcase, test_guests);
	suite_add_tcase(suite, tcase);
	return suite;
}
