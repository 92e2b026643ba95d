/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process id alone may be another process by now: so a descriptor of the process is opened first,
 * then looked whether it is the QEMU that is meant, and the signal goes to the descriptor.
 */
#include "io/qemu_end.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PID_FILES      "/run/libvirt/qemu"
#define COMMAND_MAX    (256 * 1024)
#define COMMAND_OPTION "-uuid"

char *qemu_pid_file(const char *domain)
{
	return xasprintf(PID_FILES "/%s.pid", domain);
}

/* 0: there is none. */
static pid_t read_pid(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	long pid = n > 0 ? strtol(text, NULL, 10) : 0;

	if (fd >= 0)
		close(fd);
	return pid > 1 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static size_t read_command(pid_t pid, char *text)
{
	autofree char *path = xasprintf("/proc/%d/cmdline", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 0;

	while (fd >= 0 && len < COMMAND_MAX && (n = read(fd, text + len, COMMAND_MAX - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		close(fd);
	return n < 0 ? 0 : len;
}

/* Words that end with NUL each: "-uuid", and then that one. */
static bool is_meant(pid_t pid, const char *uuid)
{
	autofree char *text = xcalloc(1, COMMAND_MAX + 1);
	size_t len = read_command(pid, text);
	bool next = false;

	for (size_t at = 0; at < len; at += strlen(text + at) + 1) {
		if (next)
			return streq(text + at, uuid);
		next = streq(text + at, COMMAND_OPTION);
	}
	return false;
}

static bool has_ended(int process, int patience_ms)
{
	struct pollfd pfd = { .fd = process, .events = POLLIN };

	return poll(&pfd, 1, patience_ms) > 0;
}

static int end(int process, int patience_ms, struct err *err)
{
	if (syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
		return err_set(err, ERR_FORBIDDEN, "cannot end QEMU: %s", strerror(errno));
	if (!has_ended(process, patience_ms))
		return err_set(err, ERR_TIMEOUT, "QEMU has not ended after %d ms", patience_ms);
	return 0;
}

int qemu_end(const char *pid_file, const char *uuid, int patience_ms, struct err *err)
{
	pid_t pid = read_pid(pid_file);
	int process = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1, rc;

	if (process < 0)
		return err_set(err, ERR_NOT_FOUND, "no QEMU is found by '%s'", pid_file);
	if (is_meant(pid, uuid) && !has_ended(process, 0))
		rc = end(process, patience_ms, err);
	else
		rc = err_set(err, ERR_NOT_FOUND, "process %d of '%s' is not the QEMU of %s",
			(int)pid, pid_file, uuid);
	close(process);
	return rc;
}
