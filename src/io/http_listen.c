/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listening socket and who may come in. Accepting is ours, not MHD's, because the peer's uid
 * decides: connections are bounded in total and per user, and some are kept for root, so that no
 * user can lock the administrator out. Who is refused is told so in a complete HTTP answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/http_private.h"

#define SOCKET_MODE    0660
#define SOCKET_GROUP   "vmagent"
#define BACKLOG        128
#define ACCEPTS_A_TURN 32  /* then the rest of the loop gets its turn */
#define GOING_LOOKS    20  /* at a socket that is answered, before it is taken for a live agent's */
#define GOING_MS       100 /* between them */

/* ---- connections ------------------------------------------------------------------------- */

static void conn_free(uv_handle_t *handle)
{
	free(handle->data);
}

static void conn_close(struct conn *c)
{
	*c->self = c->next;
	if (c->next)
		c->next->self = c->self;
	c->http->n_conns--;
	uv_close((uv_handle_t *)&c->departure, conn_free);
}

static struct conn *conn_new(struct http *http, int fd, int64_t uid)
{
	struct conn *c = xcalloc(1, sizeof(*c));

	c->http = http;
	c->fd = fd;
	c->uid = uid;
	c->departure.data = c;
	if (uv_poll_init(http->loop, &c->departure, fd)) {
		free(c);
		return NULL;
	}
	c->next = http->conns;
	c->self = &http->conns;
	if (c->next)
		c->next->self = &c->next;
	http->conns = c;
	http->n_conns++;
	return c;
}

/* MHD says STARTED from within MHD_add_connection(), and CLOSED before it closes the socket. */
void conn_notify(void *cls, struct MHD_Connection *mhd, void **context,
	enum MHD_ConnectionNotificationCode code)
{
	struct http *http = cls;

	(void)mhd;
	switch (code) {
	case MHD_CONNECTION_NOTIFY_STARTED:
		*context = take(&http->arriving);
		break;
	case MHD_CONNECTION_NOTIFY_CLOSED:
		if (*context)
			conn_close(*context);
		*context = NULL;
		break;
	}
}

/* ---- accepting --------------------------------------------------------------------------- */

static unsigned connections_of(const struct http *http, int64_t uid)
{
	unsigned n = 0;

	for (const struct conn *c = http->conns; c; c = c->next)
		n += c->uid == uid;
	return n;
}

/* The HTTP status that a newcomer is refused with and why; 0: come in. */
static unsigned refusal(const struct http *http, int64_t uid, char *ret_why, size_t size)
{
	const struct http_options *o = &http->options;
	unsigned reserve = uid == 0 ? 0 : o->root_slots;

	if (http->n_conns + reserve >= o->connections_max) {
		snprintf(ret_why, size, "all %u connections are in use, try again later",
			o->connections_max - reserve);
		return 503;
	}
	if (connections_of(http, uid) >= o->per_uid_max) {
		snprintf(ret_why, size, "user %lld has %u connections open, which is the limit",
			(long long)uid, o->per_uid_max);
		return 429;
	}
	return 0;
}

static void refuse(int fd, unsigned status, const char *why)
{
	char text[512], sink[4096];
	int len = snprintf(text, sizeof(text),
		"HTTP/1.1 %u %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
		"Retry-After: 1\r\nConnection: close\r\n\r\n%s\n",
		status, status == 429 ? "Too Many Requests" : "Service Unavailable",
		strlen(why) + 1, why);

	/* What lies unread when a unix socket closes would reset the connection. */
	while (recv(fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
		;
	(void)!send(fd, text, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static void admit(struct http *http, int fd)
{
	struct sockaddr_un nobody = { .sun_family = AF_UNIX };
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(peer);
	char why[128];
	unsigned status;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) {
		close(fd);
		return;
	}
	status = refusal(http, peer.uid, why, sizeof(why));
	if (status) {
		refuse(fd, status, why);
		return;
	}
	http->arriving = conn_new(http, fd, peer.uid);
	if (!http->arriving) {
		close(fd);
		return;
	}
	/* On failure MHD closes fd; whether it had said STARTED shows in `arriving`. */
	MHD_add_connection(http->daemon, fd, (struct sockaddr *)&nobody, sizeof(sa_family_t));
	if (http->arriving)
		conn_close(take(&http->arriving));
	http_kick(http);
}

/* Out of descriptors: answer by closing, else the socket stays readable and the loop spins. */
static void shed(struct http *http)
{
	int fd;

	close(http->spare_fd);
	fd = accept4(http->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	http->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_listener(uv_poll_t *poll, int status, int events)
{
	struct http *http = poll->data;

	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPTS_A_TURN; i++) {
		int fd = accept4(http->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			admit(http, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE)
			shed(http);
		if (errno != EINTR && errno != ECONNABORTED)
			return;
	}
}

/* ---- the socket file --------------------------------------------------------------------- */

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

/* Nobody can connect before listen(), so mode and group are in force from the first moment. */
static int open_socket(const struct sockaddr_un *address, int *ret_fd, struct err *err)
{
	const char *path = address->sun_path;
	const struct group *group = getgrnam(SOCKET_GROUP);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		goto fail;
	if (chmod(path, SOCKET_MODE) < 0)
		goto fail;
	if (group && geteuid() == 0 && lchown(path, (uid_t)-1, group->gr_gid) < 0)
		goto fail;
	if (listen(fd, BACKLOG) < 0)
		goto fail;
	*ret_fd = fd;
	return 0;
fail:
	err_set(err, ERR_IO, "listen on '%s': %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -ERR_IO;
}

int http_listen(struct http *http, const char *path, struct err *err)
{
	struct sockaddr_un address;
	struct stat st = { 0 };
	int code;

	if ((code = address_of(path, &address, err)) || (code = clear_path(&address, err)) ||
		(code = open_socket(&address, &http->listen_fd, err)))
		return code;
	replace_str(&http->path, path);
	if (stat(path, &st) == 0) {
		http->path_dev = st.st_dev;
		http->path_ino = st.st_ino;
	}
	http->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	uv_poll_init(http->loop, &http->listener, http->listen_fd);
	uv_poll_start(&http->listener, UV_READABLE, on_listener);
	http->open_handles++;
	return 0;
}

static void remove_file(const struct http *http)
{
	struct stat st;

	if (stat(http->path, &st) == 0 && st.st_dev == http->path_dev &&
		st.st_ino == http->path_ino)
		unlink(http->path);
}

void http_unlisten(struct http *http)
{
	if (http->listen_fd < 0)
		return;
	remove_file(http);
	uv_close((uv_handle_t *)&http->listener, http_handle_closed);
	close(http->listen_fd);
	close(http->spare_fd);
	http->listen_fd = http->spare_fd = -1;
}
