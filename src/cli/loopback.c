/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any user of the machine can connect to a loopback port. Whose a connection is stands in the
 * kernel's table, so what is somebody else's is closed before a byte of it is read.
 */
#include "cli/loopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 64

/* The owner of the TCP socket at `local` that is connected to `remote`, by
 * /proc/net/tcp; -1: not found. */
static int64_t owner_of(const struct sockaddr_in *local, const struct sockaddr_in *remote)
{
	FILE *table = fopen("/proc/net/tcp", "re");
	unsigned address[2], port[2], uid;
	int64_t found = -1;
	char line[256];

	while (table && found < 0 && fgets(line, sizeof(line), table)) {
		if (sscanf(line, "%*d: %x:%x %x:%x %*x %*x:%*x %*x:%*x %*x %u", &address[0],
			    &port[0], &address[1], &port[1], &uid) != 5)
			continue;
		if (address[0] == local->sin_addr.s_addr && port[0] == ntohs(local->sin_port) &&
			address[1] == remote->sin_addr.s_addr && port[1] == ntohs(remote->sin_port))
			found = uid;
	}
	if (table)
		fclose(table);
	return found;
}

static bool is_welcome(int client)
{
	struct sockaddr_in here, there;
	socklen_t len[2] = { sizeof(here), sizeof(there) };
	int64_t uid;

	if (getsockname(client, (struct sockaddr *)&here, &len[0]) ||
		getpeername(client, (struct sockaddr *)&there, &len[1]))
		return false;
	uid = owner_of(&there, &here);
	return uid == 0 || uid == (int64_t)getuid();
}

int loopback_accept(int listener)
{
	int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (client < 0 || is_welcome(client))
		return client;
	close(client);
	return -1;
}

int loopback_listen(int64_t port, const char *hint, int *ret_listener, uint16_t *ret_port,
	struct fault *fault)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener, on = 1;

	if (port < 0 || port > UINT16_MAX)
		return fault_set(fault, EXIT_USAGE, "there is no port %" PRId64, port);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
		listen(listener, BACKLOG) ||
		getsockname(listener, (struct sockaddr *)&address, &len)) {
		fault_set(fault, EXIT_ERROR, "cannot listen on 127.0.0.1:%" PRId64 ": %s%s%s", port,
			strerror(errno), errno == EADDRINUSE ? "; " : "",
			errno == EADDRINUSE ? hint : "");
		close(listener);
		return -1;
	}
	*ret_listener = listener;
	*ret_port = ntohs(address.sin_port);
	return 0;
}
