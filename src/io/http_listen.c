/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may come in by a listening socket. Accepting is ours, not MHD's, because the peer's uid
 * decides: connections are bounded in total and per user, and some are kept for root, so that no
 * user can lock the administrator out. Who is refused is told so in a complete HTTP answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/http_private.h"

#define ACCEPTS_A_TURN 32 /* then the rest of the loop gets its turn */
#define WHY_SIZE       128
#define LATENESS_MS    1000 /* between two looks at who is late */

/* ---- connections ----------------------------------------------------------------------------- */

static void conn_free(uv_handle_t *handle)
{
	free(handle->data);
}

static void conn_close(struct conn *c)
{
	conn_arrived(c);
	*c->self = c->next;
	if (c->next)
		c->next->self = c->self;
	c->http->n_conns--;
	c->listener->n_conns--;
	uv_close((uv_handle_t *)&c->departure, conn_free);
}

static struct conn *conn_new(struct listener *l, int fd, int64_t uid)
{
	struct http *http = l->http;
	struct conn *c = xcalloc(1, sizeof(*c));

	c->http = http;
	c->listener = l;
	c->fd = fd;
	c->uid = uid;
	c->due = NOT_DUE;
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
	l->n_conns++;
	conn_await(c);
	return c;
}

/* ---- requests that do not get there ---------------------------------------------------------- */

void conn_await(struct conn *c)
{
	struct http *http = c->http;

	if (c->due == NOT_DUE)
		http->n_awaited++;
	c->due = uv_now(http->loop) + 1000 * (uint64_t)http->options.request_s;
	if (!uv_is_active((uv_handle_t *)&http->lateness) && !http->closing)
		uv_timer_start(&http->lateness, conn_is_late, 1000 * http->options.request_s, 0);
}

void conn_arrived(struct conn *c)
{
	if (c->due == NOT_DUE)
		return;
	c->due = NOT_DUE;
	if (!--c->http->n_awaited)
		uv_timer_stop(&c->http->lateness);
}

/* libmicrohttpd's own time-out begins anew with each byte. Now it reads the end, and closes. */
void conn_is_late(uv_timer_t *timer)
{
	struct http *http = timer->data;
	uint64_t now = uv_now(http->loop), next = NOT_DUE;

	for (struct conn *c = http->conns; c; c = c->next) {
		if (c->due <= now) {
			shutdown(c->fd, SHUT_RDWR);
			conn_arrived(c);
		}
		next = MIN(next, c->due);
	}
	if (next != NOT_DUE)
		uv_timer_start(timer, conn_is_late, MAX(next - now, LATENESS_MS), 0);
}

/* ---- libmicrohttpd's view -------------------------------------------------------------------- */

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

/* ---- accepting ------------------------------------------------------------------------------- */

static unsigned connections_of(const struct listener *l, int64_t uid)
{
	unsigned n = 0;

	for (const struct conn *c = l->http->conns; c; c = c->next)
		n += c->listener == l && c->uid == uid;
	return n;
}

/* The lowest free descriptor is taken first, so a high one tells that most are in use. */
static bool descriptors_run_out(int fd, int64_t uid)
{
	rlim_t kept = uid == 0 ? HTTP_DESCRIPTORS_KEPT / 2 : HTTP_DESCRIPTORS_KEPT;
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd + kept >= limit.rlim_cur;
}

/* The HTTP status that a newcomer is refused with and why; 0: come in. */
static unsigned refusal(const struct listener *l, int fd, int64_t uid, char ret_why[WHY_SIZE])
{
	const struct bounds *b = &l->bounds;
	unsigned reserve = uid == 0 ? 0 : b->root;

	if (l->n_conns + reserve >= b->total) {
		snprintf(ret_why, WHY_SIZE, "all %u connections are in use, try again later",
			b->total - reserve);
		return 503;
	}
	if (descriptors_run_out(fd, uid)) {
		snprintf(ret_why, WHY_SIZE, "file descriptors run out, try again later");
		return 503;
	}
	if (connections_of(l, uid) >= b->per_uid) {
		snprintf(ret_why, WHY_SIZE, "user %lld has %u connections open, which is the limit",
			(long long)uid, b->per_uid);
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

static void admit(struct listener *l, int fd)
{
	struct http *http = l->http;
	struct sockaddr_un nobody = { .sun_family = AF_UNIX };
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(peer);
	char why[WHY_SIZE];
	unsigned status;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) {
		close(fd);
		return;
	}
	status = refusal(l, fd, peer.uid, why);
	if (status) {
		refuse(fd, status, why);
		return;
	}
	http->arriving = conn_new(l, fd, peer.uid);
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
static void shed(struct listener *l)
{
	struct http *http = l->http;
	int fd;

	close(http->spare_fd);
	fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	http->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_listener(uv_poll_t *poll, int status, int events)
{
	struct listener *l = poll->data;

	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPTS_A_TURN; i++) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			admit(l, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE)
			shed(l);
		if (errno != EINTR && errno != ECONNABORTED)
			return;
	}
}

/* ---- listening ------------------------------------------------------------------------------- */

static struct bounds bounds_of(const struct http_options *o, bool read_only)
{
	if (read_only)
		return (struct bounds){ o->read_only_max, o->read_only_per_uid, o->read_only_root };
	return (struct bounds){ o->connections_max, o->per_uid_max, o->root_slots };
}

int http_listen(struct http *http, const struct http_socket *socket, struct err *err)
{
	struct listener *l = xcalloc(1, sizeof(*l));
	int code = socket_open(l, socket, err);

	if (code) {
		free(l);
		return code;
	}
	l->http = http;
	l->read_only = socket->read_only;
	l->bounds = bounds_of(&http->options, socket->read_only);
	l->next = http->listeners;
	http->listeners = l;
	if (http->spare_fd < 0)
		http->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	l->poll.data = l;
	uv_poll_init(http->loop, &l->poll, l->fd);
	uv_poll_start(&l->poll, UV_READABLE, on_listener);
	http->open_handles++;
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct listener *l = handle->data;

	handle->data = l->http;
	http_handle_closed(handle);
}

void http_unlisten(struct http *http)
{
	for (struct listener *l = http->listeners; l; l = l->next) {
		uv_close((uv_handle_t *)&l->poll, on_closed);
		socket_close(l);
	}
	if (http->spare_fd >= 0)
		close(http->spare_fd);
	http->spare_fd = -1;
}
