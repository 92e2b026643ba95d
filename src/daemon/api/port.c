/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening, reading and writing the guest's end of a stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "daemon/api/port.h"

static int connect_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	copy_str(address.sun_path, sizeof(address.sun_path), path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static int open_pty(const char *path)
{
	int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct termios raw;

	if (fd >= 0 && tcgetattr(fd, &raw) == 0) {
		cfmakeraw(&raw);
		tcsetattr(fd, TCSANOW, &raw);
	}
	return fd;
}

int port_open(const char *path, const char *what, struct err *err)
{
	struct stat st;
	int fd = -1;

	if (stat(path, &st) == 0) {
		if (S_ISSOCK(st.st_mode))
			fd = connect_socket(path);
		else if (S_ISCHR(st.st_mode))
			fd = open_pty(path);
		else
			errno = ENOTSUP;
	}
	if (fd < 0)
		return err_set(err, ERR_UNAVAILABLE, "cannot open the %s '%s': %s", what, path,
			strerror(errno));
	return fd;
}

void port_close(int port)
{
	close(port);
}

static ssize_t moved(ssize_t n)
{
	if (n > 0)
		return n;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

ssize_t port_read(int port, void *to, size_t len)
{
	return moved(read(port, to, len));
}

/* A socket whose reader is gone must not raise SIGPIPE; a pty is no socket. */
ssize_t port_write(int port, const void *data, size_t len)
{
	ssize_t n = send(port, data, len, MSG_NOSIGNAL);

	if (n < 0 && errno == ENOTSOCK)
		n = write(port, data, len);
	return moved(n);
}
