/* SPDX-License-Identifier: Apache-2.0 */
/* Which process is ended, and which is not. A shell that has QEMU's words on its command line
 * stands in for it. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/qemu_end.h"

Suite *test_qemu_end_suite(void);

#define UUID    "d0000000-0000-4000-8000-000000000001"
#define ANOTHER "d0000000-0000-4000-8000-000000000002"
#define SHORT   100
#define LONG    30000

static char folder[64];
static char *path;
static pid_t child;
static struct err err;

static void write_pid(const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

/* It is seen by its command line when its output says that it runs. */
static void start(void)
{
	autofree char *pid = NULL;
	int out[2];
	char byte;

	ck_assert_int_eq(pipe(out), 0);
	child = fork();
	if (child == 0) {
		dup2(out[1], STDOUT_FILENO);
		execl("/bin/sh", "qemu", "-c", "echo; while :; do sleep 60; done", "-name",
			"guest=web", "-uuid", UUID, "-msg", (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(read(out[0], &byte, 1), 1);
	close(out[0]);
	close(out[1]);
	pid = xasprintf("%d", (int)child);
	write_pid(pid);
}

static void setup(void)
{
	copy_str(folder, sizeof(folder), "/tmp/vmagent-end.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	path = xasprintf("%s/web.pid", folder);
	err = (struct err){ 0 };
	start();
}

static void teardown(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unlink(path);
	rmdir(folder);
	free(path);
}

static bool lives(void)
{
	return waitpid(child, NULL, WNOHANG) == 0;
}

START_TEST(the_one_that_is_meant)
{
	int status = 0;

	ck_assert_msg(qemu_end(path, UUID, LONG, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(waitpid(child, &status, WNOHANG), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	start();
}
END_TEST

START_TEST(another_one)
{
	ck_assert_int_eq(qemu_end(path, ANOTHER, SHORT, &err), -ERR_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(err.msg, "is not the QEMU of " ANOTHER));
	ck_assert_int_eq(qemu_end(path, "-msg", SHORT, &err), -ERR_NOT_FOUND);
	ck_assert_int_eq(qemu_end(path, "", SHORT, &err), -ERR_NOT_FOUND);
	ck_assert(lives());
}
END_TEST

/* What has ended of itself, and is a zombie, is no evidence of anything. */
START_TEST(one_that_has_ended)
{
	siginfo_t info;

	kill(child, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(qemu_end(path, UUID, SHORT, &err), -ERR_NOT_FOUND);
}
END_TEST

START_TEST(files_that_name_none)
{
	static const char *const texts[] = { "", "0", "1", "-1", "qemu", "99999999999" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		write_pid(texts[i]);
		ck_assert_msg(qemu_end(path, UUID, SHORT, &err) == -ERR_NOT_FOUND, "'%s'",
			texts[i]);
	}
	unlink(path);
	ck_assert_int_eq(qemu_end(path, UUID, SHORT, &err), -ERR_NOT_FOUND);
	ck_assert(lives());
}
END_TEST

START_TEST(where_libvirt_has_it)
{
	autofree char *file = qemu_pid_file("default_web");

	ck_assert_str_eq(file, "/run/libvirt/qemu/default_web.pid");
}
END_TEST

Suite *test_qemu_end_suite(void)
{
	Suite *suite = suite_create("qemu end");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_one_that_is_meant);
	tcase_add_test(tc, another_one);
	tcase_add_test(tc, one_that_has_ended);
	tcase_add_test(tc, files_that_name_none);
	tcase_add_test(tc, where_libvirt_has_it);
	suite_add_tcase(suite, tc);
	return suite;
}
