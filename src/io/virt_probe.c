/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking a guest whether it is well: its agent, or one of its ports. Workers. Each ends by itself:
 * an agent's answer is waited for as long as the probe says, a port's too.
 */
#include <libvirt/libvirt-qemu.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/probe.h"
#include "io/virt_private.h"

#define EXEC_LOOKS 10 /* at a process, within the probe's time */
#define STATUS_MAX 64 /* of an answer's first line as much as is looked at */

static msec boot_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return SECONDS(now.tv_sec) + now.tv_nsec / 1000000;
}

/* ---- by the agent ---------------------------------------------------------------------------- */

/* Its answer, owned by the caller; NULL with words. */
static char *ask(virDomainPtr dom, const char *command, const struct op *op, struct err *err)
{
	char *answer = virDomainQemuAgentCommand(dom, command, (int)op->timeout_s, 0);

	if (!answer)
		virt_error(err, "ask the guest agent of '%s'", op->name);
	return answer;
}

static void ping(virDomainPtr dom, const struct op *op, struct err *err)
{
	free(ask(dom, "{\"execute\":\"guest-ping\"}", op, err));
}

static int begin_command(virDomainPtr dom, const struct op *op, int64_t *ret_pid, struct err *err)
{
	autofree char *command =
		xasprintf("{\"execute\":\"guest-exec\",\"arguments\":%s}", op->question);
	autofree char *answer = ask(dom, command, op, err);

	if (!answer)
		return -(int)err->code;
	if (probe_exec_pid(answer, ret_pid))
		return 0;
	return err_set(err, ERR_HYPERVISOR, "the guest agent of '%s' began no process: %.200s",
		op->name, answer);
}

/* Whether it is known how it ended. */
static bool look_at_command(virDomainPtr dom, const struct op *op, int64_t pid, struct err *err)
{
	autofree char *command = xasprintf("{\"execute\":\"guest-exec-status\",\"arguments\":"
					   "{\"pid\":%lld}}",
		(long long)pid);
	autofree char *answer = ask(dom, command, op, err);
	int64_t code = 0;
	bool exited;

	if (!answer)
		return true;
	if (!probe_exec_status(answer, &exited, &code)) {
		err_set(err, ERR_HYPERVISOR, "the guest agent of '%s' knows no process %lld",
			op->name, (long long)pid);
		return true;
	}
	if (exited && code)
		err_set(err, ERR_HYPERVISOR,
			code < 0 ? "the command was killed" : "the command ended with code %lld",
			(long long)code);
	return exited;
}

static void run_command(virDomainPtr dom, const struct op *op, struct err *err)
{
	int64_t pid;

	if (begin_command(dom, op, &pid, err))
		return;
	for (int i = 0; i < EXEC_LOOKS; i++) {
		if (look_at_command(dom, op, pid, err))
			return;
		poll(NULL, 0, (int)(SECONDS(op->timeout_s) / EXEC_LOOKS));
	}
	err_set(err, ERR_TIMEOUT, "the command did not end within %u s", op->timeout_s);
}

/* ---- by a port ------------------------------------------------------------------------------- */

static int send_request(int fd, const char *request, struct err *err)
{
	size_t length = strlen(request);

	while (length) {
		ssize_t n = send(fd, request, length, MSG_NOSIGNAL);

		if (n < 0)
			return err_set(err, ERR_UNAVAILABLE, "send the request: %s",
				strerror(errno));
		request += n;
		length -= (size_t)n;
	}
	return 0;
}

/* The beginning of the answer, as far as it came in time. */
static void receive_status(int fd, msec until, char ret[STATUS_MAX])
{
	size_t length = 0;

	while (length < STATUS_MAX - 1) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		msec left = until - boot_time();
		ssize_t n;

		if (left <= 0 || poll(&poll_fd, 1, (int)left) <= 0)
			break;
		n = recv(fd, ret + length, STATUS_MAX - 1 - length, 0);
		if (n <= 0 || memchr(ret + length, '\n', (size_t)n)) {
			length += n > 0 ? (size_t)n : 0;
			break;
		}
		length += (size_t)n;
	}
	ret[length] = '\0';
}

static void get(int fd, const struct op *op, struct err *err)
{
	msec until = boot_time() + SECONDS(op->timeout_s);
	char answer[STATUS_MAX];
	int status;

	if (send_request(fd, op->question, err))
		return;
	receive_status(fd, until, answer);
	status = probe_http_status(answer);
	if (!status)
		err_set(err, ERR_TIMEOUT, "no answer over HTTP from port %u within %u s", op->port,
			op->timeout_s);
	else if (status < 200 || status > 399)
		err_set(err, ERR_HYPERVISOR, "HTTP status %d from port %u", status, op->port);
}

/* Connected to one of the host's addresses, or -1. */
static int connect_one(const struct addrinfo *to, msec until)
{
	int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	socklen_t size = sizeof(error);
	msec left = until - boot_time();

	if (fd < 0)
		return -1;
	if (connect(fd, to->ai_addr, to->ai_addrlen) < 0 &&
		(errno != EINPROGRESS || left <= 0 || poll(&poll_fd, 1, (int)left) <= 0))
		error = errno ? errno : ETIMEDOUT;
	else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	if (!error && fcntl(fd, F_SETFL, 0) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Somebody else than the guest, as Kubernetes allows it: over the network of this host. */
static int connect_host(const struct op *op, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	msec until = boot_time() + SECONDS(op->timeout_s);
	char port[16];
	int failure, fd = -1;

	snprintf(port, sizeof(port), "%u", op->port);
	failure = getaddrinfo(op->host, port, &hints, &list);
	if (failure)
		return err_set(err, ERR_HYPERVISOR, "find host '%s': %s", op->host,
			gai_strerror(failure));
	for (const struct addrinfo *one = list; one && fd < 0; one = one->ai_next)
		fd = connect_one(one, until);
	freeaddrinfo(list);
	if (fd < 0)
		err_set(err, ERR_HYPERVISOR, "no connection to port %u of host '%s' within %u s",
			op->port, op->host, op->timeout_s);
	return fd;
}

/* That the guest does not answer is what it says; only of a libvirt that is gone nothing is
 * known. */
static void enter(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	int fd;

	if (op->host) {
		fd = connect_host(op, &result->err);
	} else {
		virt_do_forward(conn, op, result);
		fd = result->fd;
		result->fd = 0;
	}
	if (fd > 0 && op->probe == PROBE_HTTP)
		get(fd, op, &result->err);
	if (fd > 0)
		close(fd);
	if (result->err.code == ERR_UNAVAILABLE && virConnectIsAlive(conn) == 1)
		result->err.code = ERR_HYPERVISOR;
}

void virt_do_probe(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom;

	if (op->probe == PROBE_HTTP || op->probe == PROBE_TCP) {
		enter(conn, op, result);
		return;
	}
	dom = virt_find_ours(conn, op, &result->err);
	if (!dom)
		return;
	if (op->probe == PROBE_EXEC)
		run_command(dom, op, &result->err);
	else
		ping(dom, op, &result->err);
	virDomainFree(dom);
}
