/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's end of a relay's control socket. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/peer_relay_private.h"

#define PATIENCE_S 5

static int connect_control(const char *folder, int flags, struct err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	autofree char *path = xasprintf("%s/%s", folder, RELAY_SOCKET);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);

	if (strlen(path) < sizeof(at.sun_path)) {
		copy_str(at.sun_path, sizeof(at.sun_path), path);
		if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
			return fd;
	} else {
		errno = ENAMETOOLONG;
	}
	err_set(err, ERR_NOT_FOUND, "no relay is at '%s': %s", folder, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -ERR_NOT_FOUND;
}

int relay_ask(const char *folder, const struct relay_request *request, struct relay_status *ret,
	struct err *err)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	char answer[RELAY_PACKET_MAX];
	struct buf packet = { 0 };
	ssize_t n;
	int fd = connect_control(folder, 0, err);

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	relay_request_write(request, &packet);
	n = send(fd, packet.data, packet.len, MSG_NOSIGNAL);
	buf_done(&packet);
	if (n >= 0)
		n = recv(fd, answer, sizeof(answer) - 1, 0);
	close(fd);
	if (n < 0)
		return err_set(err, errno == EAGAIN ? ERR_TIMEOUT : ERR_IO,
			"the relay at '%s' does not answer: %s", folder, strerror(errno));
	answer[n] = '\0';
	return relay_answer_read(answer, ret, err);
}

/* ---- watching -------------------------------------------------------------------------------- */

struct relay_watch {
	uv_poll_t poll;
	int fd; /* owned */
	relay_changed_fn *changed;
	void *ctx; /* borrowed */
};

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct relay_watch *w = poll->data;
	char text[RELAY_PACKET_MAX];
	struct relay_status told;
	struct err ignored;
	ssize_t n = status < 0 ? 0 : recv(w->fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		uv_poll_stop(poll);
		w->changed(w->ctx, NULL);
		return;
	}
	text[n] = '\0';
	if (relay_answer_read(text, &told, &ignored) == 0)
		w->changed(w->ctx, &told);
}

static void on_closed(uv_handle_t *handle)
{
	struct relay_watch *w = handle->data;

	close(w->fd);
	free(w);
}

struct relay_watch *relay_watch(uv_loop_t *loop, const char *folder, relay_changed_fn *changed,
	void *ctx)
{
	struct relay_request request = { .verb = RELAY_WATCH };
	struct buf packet = { 0 };
	struct relay_watch *w;
	struct err ignored;
	int fd = connect_control(folder, SOCK_NONBLOCK, &ignored);

	if (fd < 0)
		return NULL;
	relay_request_write(&request, &packet);
	(void)!send(fd, packet.data, packet.len, MSG_NOSIGNAL); /* who has gone is seen below */
	buf_done(&packet);
	w = xcalloc(1, sizeof(*w));
	*w = (struct relay_watch){ .fd = fd, .changed = changed, .ctx = ctx };
	w->poll.data = w;
	uv_poll_init(loop, &w->poll, fd);
	uv_poll_start(&w->poll, UV_READABLE | UV_DISCONNECT, on_readable);
	return w;
}

void relay_unwatch(struct relay_watch *w)
{
	if (w)
		uv_close((uv_handle_t *)&w->poll, on_closed);
}

int relay_hand_over(const char *migrations, const char *id, enum relay_channel channel, int fd,
	struct err *err)
{
	autofree char *folder = xasprintf("%s/%s", migrations, id);
	struct relay_request request = { .verb = RELAY_ADOPT, .channel = channel };
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))] = { 0 };
	struct buf packet = { 0 };
	struct iovec part;
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space) };
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	int control = connect_control(folder, SOCK_NONBLOCK, err), rc = 0;

	if (control < 0)
		return control;
	relay_request_write(&request, &packet);
	part = (struct iovec){ packet.data, packet.len };
	*rights = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(rights), &fd, sizeof(int));
	if (sendmsg(control, &message, MSG_NOSIGNAL) < 0)
		rc = err_set(err, ERR_IO, "migration '%s': its relay takes no connection: %s", id,
			strerror(errno));
	buf_done(&packet);
	close(control);
	return rc;
}
