/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a port of a guest: to its address, where the host can reach that. With
 * user-mode networking the host can only enter by a forward of QEMU's: one is made, connected to,
 * and taken away again as soon as QEMU has accepted. The connection stays, and nobody else's can
 * come after it. Workers.
 *
 * Forwards listen on an address of the loopback network that is ours, so that one which was left
 * behind (the agent was killed in between) is known, and removed the next time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/virt_usernet.h"
#include "io/virt_private.h"
#include "io/virt_xml.h"

#define FORWARD_ADDRESS "127.118.109.97" /* "vma" */
#define CONNECT_MS      5000             /* until a guest's address has answered */
#define PROBE_ADDRESS   "127.118.109.98" /* probes are on other workers: they have one of their own */
#define LOOK_MS         20               /* between looks at how far it is … */
#define LOOKS_MAX       150              /* … of which so many: 3 s */

static const char *address_of(const struct op *op)
{
	return op->kind == OP_PROBE ? PROBE_ADDRESS : FORWARD_ADDRESS;
}

static bool is_forward(const struct usernet_line *line, const char *address)
{
	return streq(line->state, "HOST_FORWARD") && streq(line->address, address);
}

static void remove_forward(virDomainPtr dom, const char *address, unsigned port)
{
	char command[96];
	struct err ignored;

	snprintf(command, sizeof(command), "hostfwd_remove tcp:%s:%u", address, port);
	free(virt_monitor(dom, command, &ignored));
}

/* Those of a life of the agent's that ended too early: one op at a time does it to a domain, so
 * there is no other's. */
static int remove_old(virDomainPtr dom, const char *address, struct err *err)
{
	autofree char *table = virt_monitor(dom, "info usernet", err);
	const char *at = table;
	struct usernet_line line;

	while (table && usernet_next(&at, &line))
		if (is_forward(&line, address))
			remove_forward(dom, address, line.port);
	return table ? 0 : -(int)err->code;
}

/* QEMU chooses the host's port; 0 with words. */
static unsigned add_forward(virDomainPtr dom, const struct op *op, struct err *err)
{
	autofree char *command = xasprintf("hostfwd_add tcp:%s:0-:%u", address_of(op), op->port);
	autofree char *said = virt_monitor(dom, command, err);
	autofree char *table = said ? virt_monitor(dom, "info usernet", err) : NULL;
	const char *at = table;
	struct usernet_line line;

	while (table && usernet_next(&at, &line))
		if (is_forward(&line, address_of(op)) && line.guest_port == op->port)
			return line.port;
	if (table)
		err_set(err, ERR_HYPERVISOR, "QEMU forwards no port to '%s': %.*s",
			virDomainGetName(dom), (int)strcspn(said, "\r\n"), said);
	return 0;
}

static int connect_to(const char *host, unsigned port, struct err *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, host, &address.sin_addr);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	err_set(err, ERR_UNAVAILABLE, "cannot connect to QEMU's forward: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

enum progress { WAITING, REFUSED, DONE };

/* Of a connection that QEMU's table does not show (any more). */
static enum progress look_at_socket(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char byte;

	if (poll(&poll_fd, 1, 0) <= 0)
		return WAITING; /* it was not accepted yet */
	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0 ? DONE : REFUSED;
}

static enum progress look(virDomainPtr dom, int fd, const char *address, unsigned port)
{
	struct err ignored;
	autofree char *table = virt_monitor(dom, "info usernet", &ignored);
	const char *at = table;
	struct usernet_line line;

	while (table && usernet_next(&at, &line)) {
		if (line.port == port && streq(line.address, address) &&
			!is_forward(&line, address))
			return starts_with(line.state, "SYN_") ? WAITING : DONE;
	}
	return look_at_socket(fd);
}

/* Until the guest has answered: only then may the forward go. */
static int await(virDomainPtr dom, int fd, unsigned port, const struct op *op, struct err *err)
{
	enum progress progress = WAITING;

	for (int i = 0; i < LOOKS_MAX && progress == WAITING; i++) {
		progress = look(dom, fd, address_of(op), port);
		if (progress == WAITING)
			poll(NULL, 0, LOOK_MS);
	}
	if (progress == DONE)
		return 0;
	return err_set(err, ERR_UNAVAILABLE,
		progress == REFUSED ? "connection refused: nothing listens on port %u of '%s'"
				    : "no answer from port %u of '%s'",
		op->port, op->name);
}

static int forward_by_qemu(virDomainPtr dom, const struct op *op, struct err *err)
{
	const char *address = address_of(op);
	unsigned port = remove_old(dom, address, err) ? 0 : add_forward(dom, op, err);
	int fd = port ? connect_to(address, port, err) : -1;

	if (fd >= 0 && await(dom, fd, port, op, err)) {
		close(fd);
		fd = -1;
	}
	if (port)
		remove_forward(dom, address, port);
	return fd;
}

/* ---- by its address -------------------------------------------------------------------------- */

/* 0 when it is connected; else an errno. */
static int finish_connect(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	socklen_t size = sizeof(int);
	int error = 0;

	if (poll(&poll_fd, 1, CONNECT_MS) <= 0)
		return ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return errno;
	return error;
}

static int connect_address(const char *address, const struct op *op, struct err *err)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)op->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;

	if (fd < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1)
		error = fd < 0 ? errno : EINVAL;
	else if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		error = errno == EINPROGRESS ? finish_connect(fd) : errno;
	if (!error && fcntl(fd, F_SETFL, 0) == 0)
		return fd;
	if (error == ECONNREFUSED)
		err_set(err, ERR_UNAVAILABLE,
			"connection refused: nothing listens on port %u of '%s'", op->port,
			op->name);
	else
		err_set(err, ERR_UNAVAILABLE, "no answer from port %u of '%s' (%s): %s", op->port,
			op->name, address, strerror(error));
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool has_user_network(const struct domain_info *info)
{
	for (size_t i = 0; i < info->n_nics; i++)
		if (streq(info->nics[i].type, "user"))
			return true;
	return false;
}

static int connect_nics(const struct domain_info *info, const struct op *op, struct err *err)
{
	for (size_t i = 0; i < info->n_nics; i++)
		if (info->nics[i].address[0])
			return connect_address(info->nics[i].address, op, err);
	err_set(err, ERR_UNAVAILABLE,
		"no address of '%s' is known yet: on a bridge of the host's it is seen once the two "
		"have talked",
		op->name);
	return -1;
}

static int forward(virDomainPtr dom, const struct op *op, struct err *err)
{
	char *xml = virDomainGetXMLDesc(dom, 0);
	struct domain_info info = { 0 };
	int fd = -1;

	if (!xml) {
		virt_error(err, "read the XML of domain '%s'", op->domain);
		return -1;
	}
	virt_xml_live(xml, &info);
	if (has_user_network(&info)) {
		fd = forward_by_qemu(dom, op, err);
	} else {
		virt_network_addresses(dom, &info);
		fd = connect_nics(&info, op, err);
	}
	domain_info_done(&info);
	free(xml);
	return fd;
}

void virt_do_forward(virConnectPtr conn, const struct op *op, struct op_result *result)
{
	virDomainPtr dom = virt_find_ours(conn, op, &result->err);
	int fd = dom ? forward(dom, op, &result->err) : -1;

	if (fd > 0)
		result->fd = fd;
	if (dom)
		virDomainFree(dom);
}

/* ---- ports of the host ----------------------------------------------------------------------- */

/* One that is there already makes way: the agent may have been killed between the start and
 * this. */
static int add_host_forward(virDomainPtr dom, const char *rule, struct err *err)
{
	autofree char *add = xasprintf("hostfwd_add %s", rule);
	autofree char *remove = xasprintf("hostfwd_remove %.*s", (int)strcspn(rule, "-"), rule);
	autofree char *said = NULL;

	free(virt_monitor(dom, remove, err));
	*err = (struct err){ 0 };
	said = virt_monitor(dom, add, err);
	if (said && *said)
		err_set(err, ERR_HYPERVISOR, "QEMU forwards no port of the host to '%s': %.*s",
			virDomainGetName(dom), (int)strcspn(said, "\r\n"), said);
	return -(int)err->code;
}

void virt_host_forwards(virConnectPtr conn, const struct op *op, struct err *err)
{
	virDomainPtr dom = virt_find_ours(conn, op, err);
	autofree char *rules = xstrdup(op->forwards);
	char *rest = rules, *rule;

	while (dom && !err->code && (rule = strsep(&rest, "\n")))
		if (*rule)
			add_host_forward(dom, rule, err);
	if (dom)
		virDomainFree(dom);
}
