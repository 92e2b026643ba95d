/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile SOCKET HOW COUNT: a client that means no good, COUNT times over. It prints how many of
 * its connections were let in and holds them until its standard input ends. Meanwhile it goes on
 * doing what HOW says: silent (says nothing), drip (a header byte now and then), deaf (asks for
 * all machines and reads nothing), watch (a watch that reads), deafwatch (one that does not),
 * flood (opens and closes).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LIST  "/apis/kubevirt.io/v1/virtualmachines"
#define COUNT 8192

static const struct how {
	const char *name, *first; /* what is sent at once */
	const char *again;        /* … and then, a byte at each tick */
	bool reads, closes;
} hows[] = {
	{ "silent", "", "", false, false },
	{ "drip", "GET " LIST " HTTP/1.1\r\nX: ", "x", false, false },
	{ "deaf", "GET " LIST " HTTP/1.1\r\nHost: x\r\n\r\n", "", false, false },
	{ "watch", "GET " LIST "?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n", "", true, false },
	{ "deafwatch", "GET " LIST "?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n", "", false, false },
	{ "flood", "GET " LIST " HTTP/1.1\r\n", "", false, true },
};

static int enter(const char *path, const struct how *how)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (*how->first)
		(void)!send(fd, how->first, strlen(how->first), MSG_NOSIGNAL);
	return fd;
}

/* Reads what there is; false when it has ended. */
static bool drain(int fd)
{
	static char sink[65536];
	ssize_t n;

	while ((n = recv(fd, sink, sizeof(sink), MSG_DONTWAIT)) > 0)
		;
	return n < 0 && errno == EAGAIN;
}

/* One round; the number of connections that are open. */
static unsigned tick(const char *path, const struct how *how, int *fds, unsigned count)
{
	unsigned open = 0;

	for (unsigned i = 0; i < count; i++) {
		if (fds[i] < 0)
			fds[i] = how->closes ? enter(path, how) : -1;
		if (fds[i] < 0)
			continue;
		open++;
		if (*how->again)
			(void)!send(fds[i], how->again, 1, MSG_NOSIGNAL);
		if (how->closes || (how->reads && !drain(fds[i]))) {
			close(fds[i]);
			fds[i] = -1;
		}
	}
	return open;
}

/* What the agent has refused at once has ended: it does not count. */
static unsigned let_in(int *fds, unsigned count)
{
	unsigned n = 0;
	char byte[16];

	for (unsigned i = 0; i < count; i++) {
		ssize_t len = fds[i] < 0 ? 0 : recv(fds[i], byte, sizeof(byte), MSG_PEEK);

		n += len < 0 || (len > 0 && !memcmp(byte, "HTTP/1.1 200", 12));
	}
	return n;
}

int main(int argc, char **argv)
{
	static int fds[COUNT];
	struct pollfd end = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned count = argc == 4 ? (unsigned)atoi(argv[3]) : 0, h = 0;
	struct rlimit limit;

	while (argc == 4 && h < sizeof(hows) / sizeof(hows[0]) &&
		strcmp(hows[h].name, argv[2]) != 0)
		h++;
	if (!count || count > COUNT || h == sizeof(hows) / sizeof(hows[0]))
		return 2;
	signal(SIGPIPE, SIG_IGN);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned i = 0; i < count; i++)
		fds[i] = enter(argv[1], &hows[h]);
	usleep(500 * 1000); /* the agent answers those that it refuses */
	printf("%u\n", let_in(fds, count));
	fflush(stdout);
	while (poll(&end, 1, 50) == 0)
		tick(argv[1], &hows[h], fds, count);
	return 0;
}
