/* SPDX-License-Identifier: Apache-2.0 */
/* What systemd gets to hear, over a path and over an abstract socket. */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/notify.h"

Suite *test_notify_suite(void);

static char folder[] = "/tmp/vmagent-notify.XXXXXX", path[64];

static int listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, name, len);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
		0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static void expect(int fd, const char *text)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	char got[128] = "";

	ck_assert_int_eq(poll(&poll_fd, 1, 10000), 1);
	ck_assert_int_ge(recv(fd, got, sizeof(got) - 1, 0), 0);
	ck_assert_str_eq(got, text);
}

START_TEST(test_states_arrive)
{
	int fd;

	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), _i ? "@%s/abstract" : "%s/notify", folder);
	fd = listen_at(path);
	notify_send("READY=1\nSTATUS=all is well");
	expect(fd, "READY=1\nSTATUS=all is well");
	for (int i = 0; i < 4096; i++)
		notify_send("WATCHDOG=1"); /* nobody reads: it must not block */
	expect(fd, "WATCHDOG=1");
	close(fd);
	notify_send("STOPPING=1"); /* nobody is there */
	unlink(path);
	rmdir(folder);
}
END_TEST

START_TEST(test_without_systemd)
{
	unsetenv("NOTIFY_SOCKET");
	notify_send("READY=1");
	setenv("NOTIFY_SOCKET", "relative", 1);
	notify_send("READY=1");
	unsetenv("NOTIFY_SOCKET");
}
END_TEST

START_TEST(test_watchdog)
{
	char pid[16];

	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	ck_assert_int_eq(notify_watchdog_interval(), 0);
	setenv("WATCHDOG_USEC", "30000000", 1);
	ck_assert_int_eq(notify_watchdog_interval(), SECONDS(15));
	snprintf(pid, sizeof(pid), "%d", getpid() + 1);
	setenv("WATCHDOG_PID", pid, 1); /* meant for another process */
	ck_assert_int_eq(notify_watchdog_interval(), 0);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	ck_assert_int_eq(notify_watchdog_interval(), SECONDS(15));
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}
END_TEST

Suite *test_notify_suite(void)
{
	Suite *suite = suite_create("notify");
	TCase *tcase = tcase_create("datagrams");

	tcase_add_loop_test(tcase, test_states_arrive, 0, 2);
	tcase_add_test(tcase, test_without_systemd);
	tcase_add_test(tcase, test_watchdog);
	suite_add_tcase(suite, tcase);
	return suite;
}
