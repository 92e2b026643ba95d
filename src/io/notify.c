/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One datagram per state, to a path or an abstract socket. NOTIFY_SOCKET stays in the environment,
 * so it must not be handed to children that are not trusted with it.
 */
#include "io/notify.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bool notify_address(struct sockaddr_un *address, socklen_t *len)
{
	const char *path = getenv("NOTIFY_SOCKET");

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (!path || (path[0] != '/' && path[0] != '@') ||
		strlen(path) >= sizeof(address->sun_path))
		return false;
	copy_str(address->sun_path, sizeof(address->sun_path), path);
	if (path[0] == '@')
		address->sun_path[0] = '\0';
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	return true;
}

void notify_send(const char *state)
{
	struct sockaddr_un address;
	socklen_t len;
	int fd;

	if (!notify_address(&address, &len))
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, len);
	close(fd);
}

msec notify_watchdog_interval(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!usec || (pid && strtoll(pid, NULL, 10) != getpid()))
		return 0;
	return strtoll(usec, NULL, 10) / 2000;
}
