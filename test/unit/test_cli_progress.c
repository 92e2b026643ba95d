/* SPDX-License-Identifier: Apache-2.0 */
/* How far a migration is: the line for every width, and what a terminal and an
 * interrupt make of it. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "test/lib/agent_socket.h"

Suite *test_cli_progress_suite(void);

#define MIB INT64_C(1048576)

/* clang-format off */
static const struct {
	int64_t total, remaining;
	int percent;
} percents[] = {
	{ 0, 0, -1 }, { -5, 0, -1 }, { 100, 100, 0 }, { 100, 250, 0 }, { 100, 50, 50 }, { 1000, 1, 99 },
	{ 100, 0, 100 }, { 100, -3, 100 }, { INT64_MAX, 1, 99 }, { INT64_MAX, INT64_MAX, 0 }, { 3, 2, 33 },
};

#define HALF  { "web", "Running", NULL, 2048 * MIB, 1024 * MIB, 110 * MIB, 10 }
#define PLAIN { "web", "Scheduling", NULL, 0, 0, 0, -1 }

static const struct {
	struct progress progress;
	size_t width;
	const char *line;
} lines[] = {
	{ HALF, PROGRESS_NO_BAR, "web: Running   50%  1.0 GiB of 2.0 GiB  110.0 MiB/s  10s left" },
	{ HALF, 200, "web: Running  [###############---------------]   50%  1.0 GiB of 2.0 GiB  110.0 MiB/s  10s left" },
	{ HALF, 80, "web: Running  [#######--------]   50%  1.0 GiB of 2.0 GiB  110.0 MiB/s  10s left" },
	{ HALF, 75, "web: Running  [#####-----]   50%  1.0 GiB of 2.0 GiB  110.0 MiB/s  10s left" },
	{ HALF, 74, "web: Running  [###########-----------]   50%  1.0 GiB of 2.0 GiB  10s left" },
	{ HALF, 62, "web: Running  [#####-----]   50%  1.0 GiB of 2.0 GiB  10s left" },
	{ HALF, 61, "web: Running  [##############---------------]   50%  10s left" },
	{ HALF, 42, "web: Running  [#####-----]   50%  10s left" },
	{ HALF, 41, "web: Running   50%  10s left" },
	{ HALF, 20, "web: Running   50%" },
	{ HALF, 17, "web: Running" },
	{ HALF, 7, "web: Ru" },
	{ HALF, 1, "w" },
	{ PLAIN, PROGRESS_NO_BAR, "web: Scheduling" },
	{ PLAIN, 80, "web: Scheduling" },
	{ { "web", "Pending", "the target cannot be reached", 0, 0, 0, -1 }, 80, "web: Pending (the target cannot be reached)" },
	{ { "web", "Pending", "the target cannot be reached", 0, 0, 0, -1 }, 20, "web: Pending (the ta" },
	{ { "web", "Running", NULL, 100, 100, 0, -1 }, 60, "web: Running  [------------------------]    0%  0 B of 100 B" },
	{ { "web", "Running", NULL, 100, 900, 0, 200 }, PROGRESS_NO_BAR, "web: Running    0%  0 B of 100 B  3m20s left" },
	{ { "web", "Running", NULL, 1536, 0, 1023, 0 }, 61, "web: Running  [##########]  100%  1.5 KiB of 1.5 KiB  0s left" },
	{ { "web", "Running", "post-copy", 4 * MIB, MIB, 2 * MIB, 1 }, PROGRESS_NO_BAR, "web: Running (post-copy)   75%  3.0 MiB of 4.0 MiB  2.0 MiB/s  1s left" },
	{ { "web", "Running", "post-copy", 4 * MIB, MIB, 2 * MIB, 1 }, 53, "web: Running (post-copy)  [#######---]   75%  1s left" },
	{ { "web", "Running", NULL, INT64_MAX, INT64_MAX, INT64_MAX, -1 }, PROGRESS_NO_BAR, "web: Running    0%  0 B of 8192.0 PiB  8192.0 PiB/s" },
};
/* clang-format on */

START_TEST(percents_are_whole)
{
	ck_assert_int_eq(progress_percent(percents[_i].total, percents[_i].remaining),
		percents[_i].percent);
}
END_TEST

START_TEST(a_line_fits)
{
	autofree char *line = progress_line(&lines[_i].progress, lines[_i].width);

	ck_assert_str_eq(line, lines[_i].line);
	ck_assert(!lines[_i].width || strlen(line) <= lines[_i].width);
}
END_TEST

/* ---- a terminal ------------------------------------------------------------------------------ */

#define OBJECT(phase, more)                                                                \
	"{\"metadata\":{\"name\":\"m\",\"uid\":\"u\",\"resourceVersion\":\"5\"},\"spec\":" \
	"{\"vmiName\":\"web\"},\"status\":{\"phase\":\"" phase "\"" more "}}"
#define LIST(items) "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" items "]}"
#define HALF_WAY \
	",\"progress\":{\"bytesTotal\":4096,\"bytesRemaining\":2048,\"bytesPerSecond\":1024,\"secondsLeft\":2}"
#define MOVED ",\"migrationState\":{\"targetNode\":\"host-b\"}"

/* The n-th request gets the n-th body; the watch that is not answered stays open. */
static void answer(int listener, const char *const *bodies)
{
	for (; *bodies; bodies++) {
		char request[4096];
		int fd = accept(listener, NULL, NULL);

		ck_assert_int_gt(read(fd, request, sizeof(request)), 0);
		dprintf(fd, "HTTP/1.1 200 OK\r\n\r\n%s", *bodies);
		close(fd);
	}
}

/* vmactl on a terminal of 62 columns, whose other end is returned. */
static pid_t begin_on_terminal(int *ret_master, FILE *err)
{
	struct winsize size = { .ws_row = 24, .ws_col = 62 };
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	pid_t pid;

	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	ck_assert_int_eq(ioctl(master, TIOCSWINSZ, &size), 0);
	pid = fork();
	if (!pid) {
		char *words[] = { "migrate", "web", "--wait" };

		dup2(open(ptsname(master), O_RDWR | O_NOCTTY), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		_exit(cli_main(ARRAY_SIZE(words), words));
	}
	*ret_master = master;
	return pid;
}

/* Reads what the terminal got, until it has shown the words. */
static void read_until(int master, const char *words, struct buf *seen)
{
	while (!seen->data || !strstr(seen->data, words)) {
		char piece[512];
		ssize_t n = read(master, piece, sizeof(piece));

		ck_assert_msg(n > 0, "it ended with: %s", seen->data ? seen->data : "");
		buf_add(seen, piece, (size_t)n);
	}
}

START_TEST(a_terminal_has_one_line)
{
	static const char *const bodies[] = { "", LIST(OBJECT("Running", HALF_WAY)),
		"{\"type\":\"MODIFIED\",\"object\":" OBJECT("Succeeded", MOVED) "}\n", NULL };
	FILE *err = tmpfile();
	int listener = agent_socket_listen(), master, status;
	pid_t pid = begin_on_terminal(&master, err);
	struct buf seen = { 0 };

	answer(listener, bodies);
	read_until(master, "host-b'\r\n", &seen);
	ck_assert_str_eq(seen.data,
		"VM web was scheduled to migrate\r\n"
		"\rweb: Running  [#####-----]   50%  2.0 KiB of 4.0 KiB  2s left\033[K"
		"\r\033[KVM web was moved to 'host-b'\r\n");
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
	buf_done(&seen);
	close(master);
	close(listener);
	fclose(err);
}
END_TEST

START_TEST(an_interrupt_says_that_it_goes_on)
{
	static const char *const bodies[] = { "", LIST(OBJECT("Running", "")), NULL };
	FILE *err = tmpfile();
	int listener = agent_socket_listen(), master, status;
	pid_t pid = begin_on_terminal(&master, err);
	struct buf seen = { 0 };
	char words[128] = "";

	answer(listener, bodies);
	read_until(master, "Running", &seen);
	kill(pid, SIGINT);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	rewind(err);
	ck_assert_int_gt((int)fread(words, 1, sizeof(words) - 1, err), 0);
	ck_assert_str_eq(words, "\nthe migration goes on; 'vmactl migrate-cancel' calls it off\n");
	buf_done(&seen);
	close(master);
	close(listener);
	fclose(err);
}
END_TEST

Suite *test_cli_progress_suite(void)
{
	Suite *s = suite_create("cli progress");
	TCase *lines_case = tcase_create("lines"), *terminal = tcase_create("terminal");

	tcase_add_loop_test(lines_case, percents_are_whole, 0, ARRAY_SIZE(percents));
	tcase_add_loop_test(lines_case, a_line_fits, 0, ARRAY_SIZE(lines));
	suite_add_tcase(s, lines_case);
	tcase_add_checked_fixture(terminal, agent_socket_set_up, agent_socket_tear_down);
	tcase_set_timeout(terminal, 60);
	tcase_add_test(terminal, a_terminal_has_one_line);
	tcase_add_test(terminal, an_interrupt_says_that_it_goes_on);
	suite_add_tcase(s, terminal);
	return s;
}
