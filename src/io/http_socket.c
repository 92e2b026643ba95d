/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket files: who may open them, what a dead agent left behind, and their removal. It
 * knows nothing of connections.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/http_private.h"

#define BACKLOG     128
#define GOING_LOOKS 20  /* at a socket that is answered, before it is taken for a live agent's */
#define GOING_MS    100 /* between them */

static int address_of(const char *path, struct sockaddr_un *ret_address, struct err *err)
{
	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret_address->sun_path))
		return err_set(err, ERR_IO, "socket path '%s' is longer than %zu bytes", path,
			sizeof(ret_address->sun_path) - 1);
	copy_str(ret_address->sun_path, sizeof(ret_address->sun_path), path);
	return 0;
}

static bool is_answered(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int code = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? errno : 0;

	close(fd);
	return code == 0 || code == EAGAIN;
}

/* One that was killed answers until the last of it is gone. */
static bool stays_answered(const struct sockaddr_un *address)
{
	for (int i = 0; i < GOING_LOOKS; i++) {
		if (!is_answered(address))
			return false;
		usleep(GOING_MS * 1000);
	}
	return true;
}

/* Removes what a dead agent left behind; a live one, or what is no socket, is refused. */
static int clear_path(const struct sockaddr_un *address, struct err *err)
{
	const char *path = address->sun_path;
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0
				       : err_set(err, ERR_IO, "'%s': %s", path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, ERR_CONFLICT, "'%s' exists and is not a socket", path);
	if (stays_answered(address))
		return err_set(err, ERR_CONFLICT, "another agent listens on '%s'", path);
	if (unlink(path) < 0 && errno != ENOENT)
		return err_set(err, ERR_IO, "remove stale socket '%s': %s", path, strerror(errno));
	return 0;
}

/* An ordinary user's agent has no group to give it to, unless one was asked for. */
static int give_to_group(const struct http_socket *socket, struct err *err)
{
	const struct group *group = getgrnam(socket->group);

	if (!group && socket->group_must_exist)
		return err_set(err, ERR_INVALID,
			"there is no group '%s' for the socket '%s': create it, or name another",
			socket->group, socket->path);
	if (!group || (geteuid() != 0 && !socket->group_must_exist))
		return 0;
	if (lchown(socket->path, (uid_t)-1, group->gr_gid) < 0)
		return err_set(err, ERR_IO, "give the socket '%s' to the group '%s': %s",
			socket->path, socket->group, strerror(errno));
	return 0;
}

/* Nobody can connect before listen(), so mode and group are in force from the first moment. */
static int open_socket(const struct http_socket *how, const struct sockaddr_un *address,
	int *ret_fd, struct err *err)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		goto fail;
	if (chmod(how->path, how->mode ? how->mode : HTTP_SOCKET_MODE) < 0)
		goto fail;
	if (how->group && give_to_group(how, err) < 0)
		goto out;
	if (listen(fd, BACKLOG) < 0)
		goto fail;
	*ret_fd = fd;
	return 0;
fail:
	err_set(err, ERR_IO, "listen on '%s': %s", how->path, strerror(errno));
out:
	if (fd >= 0)
		close(fd);
	return -(int)err->code;
}

int socket_open(struct listener *l, const struct http_socket *how, struct err *err)
{
	struct sockaddr_un address;
	struct stat st = { 0 };
	int code;

	if ((code = address_of(how->path, &address, err)) || (code = clear_path(&address, err)) ||
		(code = open_socket(how, &address, &l->fd, err)))
		return code;
	replace_str(&l->path, how->path);
	if (stat(how->path, &st) == 0) {
		l->path_dev = st.st_dev;
		l->path_ino = st.st_ino;
	}
	return 0;
}

/* Another agent's may lie there by now. */
void socket_close(struct listener *l)
{
	struct stat st;

	if (stat(l->path, &st) == 0 && st.st_dev == l->path_dev && st.st_ino == l->path_ino)
		unlink(l->path);
	close(l->fd);
}
