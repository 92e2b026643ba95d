/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The split of an embedding agent, without libvirt: who dies with whom, who reaps, which signal
 * goes where; and the folder that is made ready. Every scene plays in a process of its own.
 */
#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/embed.h"

static char root[] = "/tmp/vmagent-embed-XXXXXX";
static char uri[sizeof(root) + 32];
static int from_agent; /* what the agent writes */
static pid_t parent;

static void setup(void)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(uri, sizeof(uri), "qemu:///embed?root=%s", root);
}

static void teardown(void)
{
	autofree char *command = xasprintf("rm -r %s", root);

	ck_assert_int_eq(system(command), 0);
}

/* Runs the agent's part behind embed_enter() in a process of its own; its stdout is from_agent. */
static void enter(void (*agent)(void))
{
	struct err err = { 0 };
	int pipe_fds[2];

	ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	parent = fork();
	ck_assert_int_ge(parent, 0);
	from_agent = pipe_fds[0];
	if (parent) {
		close(pipe_fds[1]);
		return;
	}
	dup2(pipe_fds[1], STDOUT_FILENO);
	if (embed_enter(uri, &err))
		_exit(99);
	agent();
	_exit(98);
}

static void say(int number)
{
	dprintf(STDOUT_FILENO, "%d\n", number);
}

static int hear(void)
{
	char text[16] = "";
	ssize_t n = 0;

	for (size_t i = 0; i < sizeof(text) - 1 && (n = read(from_agent, text + i, 1)) == 1; i++)
		if (text[i] == '\n')
			return atoi(text);
	return -1; /* its end */
}

static int status_of_parent(void)
{
	int status = 0;

	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	close(from_agent);
	return status;
}

static void ends_with_7(void)
{
	_exit(7);
}

START_TEST(exit_status)
{
	enter(ends_with_7);
	ck_assert_int_eq(hear(), -1);
	ck_assert_int_eq(WEXITSTATUS(status_of_parent()), 7);
}
END_TEST

static void kills_itself(void)
{
	raise(SIGKILL);
}

START_TEST(signal_status)
{
	int status;

	enter(kills_itself);
	status = status_of_parent();
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

static void waits_for_term(void)
{
	sigset_t term;
	int sig;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	say(0);
	sigwait(&term, &sig);
	say(sig);
	_exit(3);
}

START_TEST(forwards_term)
{
	enter(waits_for_term);
	ck_assert_int_eq(hear(), 0);
	kill(parent, SIGTERM);
	ck_assert_int_eq(hear(), SIGTERM);
	ck_assert_int_eq(WEXITSTATUS(status_of_parent()), 3);
}
END_TEST

START_TEST(dies_with_parent)
{
	enter(waits_for_term);
	ck_assert_int_eq(hear(), 0);
	kill(parent, SIGKILL);
	ck_assert_int_eq(hear(), -1); /* the agent's end of the pipe is closed: it is gone */
	status_of_parent();
}
END_TEST

/* As QEMU does: a grandchild whose own parent has ended. */
static void leaves_an_orphan(void)
{
	pid_t middle = fork();

	if (!middle) {
		if (!fork()) {
			say(getpid());
			usleep(50000);
		}
		_exit(0);
	}
	waitpid(middle, NULL, 0);
	waits_for_term();
}

START_TEST(reaps_orphans)
{
	int orphan, tries = 200;

	enter(leaves_an_orphan);
	orphan = hear();
	if (orphan == 0) /* the two may speak in any order */
		orphan = hear();
	ck_assert_int_gt(orphan, 1);
	while (!kill(orphan, 0) && --tries) /* a zombie can still be signalled */
		usleep(20000);
	ck_assert_int_gt(tries, 0);
	kill(parent, SIGTERM);
	status_of_parent();
}
END_TEST

START_TEST(folder)
{
	autofree char *conf = xasprintf("%s/etc/qemu.conf", root);
	char text[4096] = "";
	struct stat st;
	FILE *file;

	enter(ends_with_7);
	ck_assert_int_eq(WEXITSTATUS(status_of_parent()), 7);
	file = fopen(conf, "r+");
	ck_assert_ptr_nonnull(file);
	ck_assert(fread(text, 1, sizeof(text) - 1, file) > 0);
	ck_assert_ptr_nonnull(strstr(text, "stdio_handler = \"file\""));
	ck_assert((strstr(text, "dynamic_ownership") != NULL) == (geteuid() == 0));
	ck_assert_int_eq(ftruncate(fileno(file), 0), 0);
	fclose(file);
	enter(ends_with_7); /* what the admin made of it stays */
	ck_assert_int_eq(WEXITSTATUS(status_of_parent()), 7);
	ck_assert_int_eq(stat(conf, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
}
END_TEST

/* In a mount namespace of its own: a control group file system that nobody can write to. */
static void make_cgroups_read_only(void)
{
	static const unsigned long only = MS_BIND | MS_REMOUNT | MS_RDONLY;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("none", root, "cgroup2", 0, NULL) || mount(NULL, root, NULL, only, NULL) ||
		mount("none", "/mnt", "tmpfs", 0, NULL))
		_exit(77);
}

START_TEST(read_only_cgroups)
{
	static const char conf[] = "/mnt/etc/qemu.conf";
	char text[4096] = "";
	struct err err = { 0 };
	int status;
	FILE *file;

	parent = fork();
	if (!parent) {
		make_cgroups_read_only();
		if (embed_enter("qemu:///embed?root=/mnt", &err))
			_exit(99);
		file = fopen(conf, "r");
		_exit(!file || !fread(text, 1, sizeof(text) - 1, file) ||
			!strstr(text, "\ncgroup_controllers = [ ]\n"));
	}
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77) /* no rights to mount */
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

#define TEN "0123456789"

/* clang-format off */
static const struct { const char *uri, *words; } bad[] = {
	{ "qemu:///embed?root=relative", "not an absolute path" },
	{ "qemu:///embed?root=/a%20b", "not an absolute path" },
	{ "qemu:///embed?root=/a&b=c", "not an absolute path" },
	{ "qemu:///embed?root=/" TEN TEN TEN TEN TEN, "51 characters long" },
	{ "qemu:///embed?root=/nonexistent/a", "'/nonexistent/a': No such file" },
};
/* clang-format on */

#define STATUS(pid) \
	"<!--\nWARNING\n-->\n\n<domstatus state='paused' reason='starting up' pid='" pid "'>\n"

static void put(const char *name, const char *text)
{
	autofree char *path = xasprintf("%s/run/qemu/%s", root, name);
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static bool is_there(const char *name)
{
	autofree char *path = xasprintf("%s/run/qemu/%s", root, name);

	return access(path, F_OK) == 0;
}

/* libvirt's state of domains whose start was cut off before there was a QEMU, beside others'. */
static void put_states(void)
{
	autofree char *command = xasprintf("mkdir -p %s/run/qemu", root);

	ck_assert_int_eq(system(command), 0);
	put("cut.xml", STATUS("0"));
	put("runs.xml", STATUS("12"));
	put("odd.xml", "<other pid='0'>\n<domstatus state='running' pid='12'>\n<monitor pid='0'/>");
	put("cut.pid", STATUS("0"));
	put("driver.pid", "");
}

static void end_at_once(void)
{
	_exit(0);
}

START_TEST(cut_starts_are_forgotten)
{
	put_states();
	enter(end_at_once);
	ck_assert_int_eq(status_of_parent(), 0);
	ck_assert(!is_there("cut.xml"));
	ck_assert(is_there("runs.xml") && is_there("odd.xml") && is_there("cut.pid"));
}
END_TEST

/* … but not those of a libvirt that lives: its start may be under way. */
START_TEST(starts_under_way_are_not)
{
	autofree char *path = xasprintf("%s/run/qemu/driver.pid", root);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd;

	put_states();
	fd = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(fcntl(fd, F_SETLK, &lock), 0);
	enter(end_at_once);
	ck_assert_int_eq(status_of_parent(), 0);
	ck_assert(is_there("cut.xml"));
	close(fd);
}
END_TEST

START_TEST(bad_root)
{
	struct err err = { 0 };

	ck_assert_int_lt(embed_enter(bad[_i].uri, &err), 0);
	ck_assert_msg(strstr(err.msg, bad[_i].words) != NULL, "%s", err.msg);
}
END_TEST

START_TEST(other_uri)
{
	struct err err = { 0 };

	ck_assert_int_eq(embed_enter("qemu:///system", &err), 0);
}
END_TEST

Suite *test_embed_suite(void);
Suite *test_embed_suite(void)
{
	Suite *suite = suite_create("embed");
	TCase *tc = tcase_create("embed");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, exit_status);
	tcase_add_test(tc, signal_status);
	tcase_add_test(tc, forwards_term);
	tcase_add_test(tc, dies_with_parent);
	tcase_add_test(tc, reaps_orphans);
	tcase_add_test(tc, folder);
	tcase_add_test(tc, read_only_cgroups);
	tcase_add_test(tc, cut_starts_are_forgotten);
	tcase_add_test(tc, starts_under_way_are_not);
	tcase_add_loop_test(tc, bad_root, 0, (int)ARRAY_SIZE(bad));
	tcase_add_test(tc, other_uri);
	suite_add_tcase(suite, tc);
	return suite;
}
