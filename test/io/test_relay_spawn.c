/* SPDX-License-Identifier: Apache-2.0 */
/* An agent starts a relay: when it is ready, when it is not, and what it is told. Scripts
 * stand in for it. */
#include <check.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/peer_relay_spawn.h"

Suite *test_relay_spawn_suite(void);

static char folder[64];
static uv_loop_t loop;
static struct err heard;
static unsigned answers;

static void setup(void)
{
	copy_str(folder, sizeof(folder), "/tmp/vmagent-spawn.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(uv_loop_init(&loop), 0);
	answers = 0;
}

/* An agent does not wait for its relays; here their ends are seen. */
static void wait_for_it(uv_handle_t *handle, void *ctx)
{
	(void)ctx;
	if (!uv_is_closing(handle))
		uv_ref(handle);
}

static void teardown(void)
{
	autofree char *remove_all = xasprintf("rm -rf %s", folder);

	uv_walk(&loop, wait_for_it, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	ck_assert_int_eq(system(remove_all), 0);
}

static void on_started(void *ctx, const struct err *err)
{
	(void)ctx;
	heard = *err;
	answers++;
}

static char *write_script(const char *lines)
{
	char *path = xasprintf("%s/relay", folder);
	FILE *file = fopen(path, "w");

	fprintf(file, "#!/bin/sh\n%s\n", lines);
	fclose(file);
	chmod(path, 0700);
	return path;
}

static void start(const char *program)
{
	struct relay_config config = { .id = "5e1f0000-0000-4000-8000-000000000001",
		.token = { 1 },
		.peer = "host-b",
		.source = true,
		.plain = true,
		.address = "192.0.2.1" };
	struct relay_start what = { &loop, program, folder, &config };

	relay_spawn(&what, on_started, NULL);
	ck_assert_uint_eq(answers, 0);
	while (!answers)
		uv_run(&loop, UV_RUN_ONCE);
	uv_run(&loop, UV_RUN_NOWAIT);
	ck_assert_uint_eq(answers, 1);
}

START_TEST(one_that_is_ready)
{
	struct relay_config told;
	struct buf json = { 0 };
	autofree char *program = write_script(
			      "cat >$2/told\n[ \"$1\" = migrate-relay ] && echo ready"),
		      *path = xasprintf("%s/told", folder);
	char text[4096];
	FILE *file;

	start(program);
	ck_assert_msg(heard.code == ERR_OK, "%s", heard.msg);
	file = fopen(path, "r");
	buf_add(&json, text, fread(text, 1, sizeof(text), file));
	fclose(file);
	ck_assert_msg(relay_config_read(json.data, &told, &heard) == 0, "%s", heard.msg);
	ck_assert_str_eq(told.peer, "host-b");
	relay_config_done(&told);
	buf_done(&json);
}
END_TEST

START_TEST(one_that_ends)
{
	autofree char *program = write_script("cat >/dev/null\nexit 1");

	start(program);
	ck_assert_int_eq(heard.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(heard.msg, "the migration's relay did not start: "));
}
END_TEST

START_TEST(one_that_says_something_else)
{
	autofree char *program = write_script("cat >/dev/null\necho 'ready or not, here I come'");

	start(program);
	ck_assert_int_eq(heard.code, ERR_IO);
	ck_assert_ptr_nonnull(strstr(heard.msg, "something else"));
}
END_TEST

START_TEST(one_that_is_not_there)
{
	start("/nonexistent/relay");
	ck_assert_int_eq(heard.code, ERR_IO);
	ck_assert_str_eq(heard.msg, "the migration's relay did not start: it cannot be executed");
}
END_TEST

Suite *test_relay_spawn_suite(void)
{
	Suite *suite = suite_create("relay spawn");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, one_that_is_ready);
	tcase_add_test(tc, one_that_ends);
	tcase_add_test(tc, one_that_says_something_else);
	tcase_add_test(tc, one_that_is_not_there);
	suite_add_tcase(suite, tc);
	return suite;
}
