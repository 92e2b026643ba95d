/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a domain's QEMU: where it lies by libvirt's URI, and that only a plain,
 * readable file is read. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/qemu_log.h"

Suite *test_qemu_log_suite(void);

#define HEADER                                                               \
	"2026-11-29 00:00:05.250+0000: starting up libvirt version: 9.0.0\n" \
	"/usr/bin/qemu-system-x86_64 \\\n-name guest=default_web\n"

static char folder[] = "/tmp/vmagent-log.XXXXXX", path[128];

/* clang-format off */
static const struct { const char *uri, *folder; } folders[] = {
	{ "qemu:///system",                              "/var/log/libvirt/qemu" },
	{ "qemu+unix:///system?socket=/run/x",           "/var/log/libvirt/qemu" },
	{ "qemu:///session",                             "/home/u/.cache/libvirt/qemu/log" },
	{ "qemu:///embed?root=/var/lib/e",               "/var/lib/e/log/qemu" },
	{ "qemu+ssh://host/system",                      NULL },
	{ "qemu:///embed",                               NULL },
	{ "test:///default",                             NULL },
};
/* clang-format on */

START_TEST(where_the_logs_lie)
{
	autofree char *got = NULL;

	setenv("HOME", "/home/u", 1);
	unsetenv("XDG_CACHE_HOME");
	got = qemu_log_folder(folders[_i].uri);
	ck_assert_msg(streq(got, folders[_i].folder), "%s", got ? got : "none");
}
END_TEST

START_TEST(a_user_may_have_a_cache_elsewhere)
{
	autofree char *got = NULL;

	setenv("XDG_CACHE_HOME", "/srv/cache", 1);
	got = qemu_log_folder("qemu:///session");
	ck_assert_str_eq(got, "/srv/cache/libvirt/qemu/log");
}
END_TEST

struct got {
	unsigned n;
	uint64_t id;
	enum err_code code;
	char *words;
};

static void on_result(void *ctx, const struct op_result *result)
{
	struct got *got = ctx;

	got->n++;
	got->id = result->id;
	got->code = result->err.code;
	got->words = xstrdup(result->words);
}

/* What is read of the log of default_web, whose libvirt has its root in the test's folder. */
static char *ask(const char *uri)
{
	struct op op = { .id = 7, .kind = OP_WORDS, .domain = "default_web", .since = 0 };
	struct got got = { 0 };
	struct hv_sink sink = { .ctx = &got, .result = on_result };
	uv_loop_t loop;
	struct qemu_log *log;

	uv_loop_init(&loop);
	log = qemu_log_new(&loop, uri, sink);
	qemu_log_submit(log, &op);
	ck_assert_uint_eq(qemu_log_busy(log), 1);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_uint_eq(qemu_log_busy(log), 0);
	ck_assert_uint_eq(got.n, 1);
	ck_assert_uint_eq(got.id, 7);
	ck_assert_int_eq(got.code, ERR_OK); /* nothing to read is no error */
	qemu_log_free(log);
	uv_loop_close(&loop);
	return got.words;
}

static char *ask_here(void)
{
	autofree char *uri = xasprintf("qemu:///embed?root=%s", folder);

	return ask(uri);
}

static void write_log(const char *text, size_t filling)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < filling; i++)
		fputs("something older\n", file);
	fputs(text, file);
	fclose(file);
}

START_TEST(the_end_of_a_log_is_read)
{
	autofree char *words = NULL;

	write_log(HEADER "qemu: one\nqemu: two\n", _i ? QEMU_LOG_TAIL : 0);
	words = ask_here();
	ck_assert_str_eq(words, "qemu: one\nqemu: two");
}
END_TEST

START_TEST(what_is_no_readable_file_is_not_there)
{
	autofree char *elsewhere = xasprintf("%s/elsewhere", folder);

	unlink(path);
	ck_assert_ptr_null(ask_here());
	ck_assert_ptr_null(ask("test:///default"));
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_ptr_null(ask_here());
	rmdir(path);
	/* Nobody writes to it: it must not be waited for. */
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_ptr_null(ask_here());
	unlink(path);
	write_log(HEADER "qemu: of something else\n", 0);
	ck_assert_int_eq(rename(path, elsewhere), 0);
	ck_assert_int_eq(symlink(elsewhere, path), 0);
	ck_assert_ptr_null(ask_here());
	unlink(path);
	unlink(elsewhere);
	write_log("", 0);
	ck_assert_ptr_null(ask_here());
}
END_TEST

static void begin(void)
{
	autofree char *log = NULL, *qemu = NULL;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	log = xasprintf("%s/log", folder);
	qemu = xasprintf("%s/qemu", log);
	ck_assert_int_eq(mkdir(log, 0700) | mkdir(qemu, 0700), 0);
	snprintf(path, sizeof(path), "%s/default_web.log", qemu);
}

static void end(void)
{
	autofree char *qemu = xasprintf("%s/log/qemu", folder), *log = xasprintf("%s/log", folder);

	unlink(path);
	rmdir(qemu);
	rmdir(log);
	rmdir(folder);
}

Suite *test_qemu_log_suite(void)
{
	Suite *s = suite_create("qemu log");
	TCase *t = tcase_create("folders");

	tcase_add_loop_test(t, where_the_logs_lie, 0, ARRAY_SIZE(folders));
	tcase_add_test(t, a_user_may_have_a_cache_elsewhere);
	suite_add_tcase(s, t);
	t = tcase_create("files");
	tcase_add_unchecked_fixture(t, begin, end);
	tcase_add_loop_test(t, the_end_of_a_log_is_read, 0, 2);
	tcase_add_test(t, what_is_no_readable_file_is_not_there);
	suite_add_tcase(s, t);
	return s;
}
