/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines on a pipe, and as journald's datagrams: in a child with a /run of its own. */
#include <check.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/journal.h"

Suite *test_journal_suite(void);

#define NOT_ALLOWED 77

static const struct log_line line = { LOG_LEVEL_WARNING, "default/web", "u-1", "Crashed",
	"it\nended" };

/* stderr becomes a pipe; returns its other end. */
static int pipe_stderr(void)
{
	int ends[2];

	if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
		_exit(1);
	close(ends[1]);
	return ends[0];
}

static void announce_stream(unsigned long long skew)
{
	char text[64];
	struct stat st;

	fstat(STDERR_FILENO, &st);
	snprintf(text, sizeof(text), "%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino + skew);
	setenv("JOURNAL_STREAM", text, 1);
}

/* The journal's socket in a /run that only this child sees. */
static int journal_socket(void)
{
	struct sockaddr_un address = { AF_UNIX, "/run/systemd/journal/socket" };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("none", "/run", "tmpfs", 0, NULL))
		_exit(NOT_ALLOWED);
	mkdir("/run/systemd", 0755);
	mkdir("/run/systemd/journal", 0755);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		_exit(2);
	return fd;
}

static bool arrives(int fd, const void *expected, size_t len)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	char got[512];

	return poll(&poll_fd, 1, 10000) == 1 && read(fd, got, sizeof(got)) == (ssize_t)len &&
		memcmp(got, expected, len) == 0;
}

static int native(void)
{
	static const char expected[] = "MESSAGE\n\x08\0\0\0\0\0\0\0it\nended\nPRIORITY=4\n"
				       "SYSLOG_IDENTIFIER=vmagent\nVMAGENT_VM=default/web\n"
				       "VMAGENT_UID=u-1\nVMAGENT_REASON=Crashed\n";
	int fd = journal_socket();

	pipe_stderr();
	announce_stream(0);
	journal_open();
	log_emit(&line);
	return arrives(fd, expected, sizeof(expected) - 1) ? 0 : 3;
}

static int to_stderr(void)
{
	static const char expected[] = "<4>plain words\n";
	int fd = pipe_stderr();

	unsetenv("JOURNAL_STREAM");
	journal_open();
	log_text(LOG_LEVEL_WARNING, "plain %s", "words");
	return arrives(fd, expected, sizeof(expected) - 1) ? 0 : 3;
}

/* JOURNAL_STREAM is inherited, but stderr is redirected: a file gets lines. */
static int redirected(void)
{
	static const char expected[] = "<6>here\n";
	int fd;

	journal_socket();
	fd = pipe_stderr();
	announce_stream(1);
	journal_open();
	log_text(LOG_LEVEL_INFO, "here");
	return arrives(fd, expected, sizeof(expected) - 1) ? 0 : 3;
}

static int (*const scenes[])(void) = { native, to_stderr, redirected };

START_TEST(test_where_lines_go)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(scenes[_i]());
	waitpid(child, &status, 0);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) != NOT_ALLOWED)
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

Suite *test_journal_suite(void)
{
	Suite *suite = suite_create("journal");
	TCase *tcase = tcase_create("lines");

	tcase_add_loop_test(tcase, test_where_lines_go, 0, (int)ARRAY_SIZE(scenes));
	suite_add_tcase(suite, tcase);
	return suite;
}
