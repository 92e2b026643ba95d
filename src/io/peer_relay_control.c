/* SPDX-License-Identifier: Apache-2.0 */
/* What this host's agent asks for, on the main thread: never waits, for the asker does. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/peer_relay_private.h"

static void status_of(struct relay *relay, struct relay_status *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < RELAY_CHANNEL_MAX; i++) {
		ret->channels[i].opened = atomic_load(&relay->opened[i]);
		ret->channels[i].sent = atomic_load(&relay->sent[i]);
		ret->channels[i].received = atomic_load(&relay->received[i]);
	}
	for (const struct stream *s = relay->streams; s; s = s->next)
		ret->channels[s->channel].open += !atomic_load(&s->ended);
	pthread_mutex_lock(&relay->lock);
	ret->hold = relay->hold;
	ret->finish = relay->finish;
	ret->refused = relay->refused;
	copy_str(ret->why, sizeof(ret->why), relay->why);
	pthread_mutex_unlock(&relay->lock);
}

/* Who does not read its answers has none. */
static void say(int fd, const struct buf *packet)
{
	(void)!send(fd, packet->data, packet->len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer(struct relay *relay, int fd)
{
	struct relay_status status;
	struct buf packet = { 0 };

	status_of(relay, &status);
	relay_answer_write(&status, &packet);
	say(fd, &packet);
	buf_done(&packet);
}

void control_tell(struct relay *relay)
{
	for (unsigned i = 0; i < RELAY_CONTROLS_MAX; i++)
		if (relay->controls[i] >= 0 && relay->watches[i])
			answer(relay, relay->controls[i]);
}

/* ---- what can be asked for ------------------------------------------------------------------- */

static void poke_all(struct relay *relay, bool cut)
{
	for (struct stream *s = relay->streams; s; s = s->next) {
		if (cut) {
			stream_cut(s);
			continue;
		}
		atomic_store(&s->release, true);
		stream_poke(s);
	}
}

static int set_hold(struct relay *relay, enum relay_hold hold, struct err *err)
{
	bool held;

	pthread_mutex_lock(&relay->lock);
	held = relay->finish == RELAY_FINISH_CALL_HELD || relay->finish == RELAY_FINISH_REPLY_HELD;
	if (!held)
		relay->hold = hold;
	pthread_mutex_unlock(&relay->lock);
	return held ? err_set(err, ERR_CONFLICT, "a frame is held: release it, or cut") : 0;
}

static int release(struct relay *relay, struct err *err)
{
	bool held;

	pthread_mutex_lock(&relay->lock);
	held = relay->finish == RELAY_FINISH_CALL_HELD || relay->finish == RELAY_FINISH_REPLY_HELD;
	if (held)
		relay->hold = RELAY_HOLD_NOTHING;
	pthread_mutex_unlock(&relay->lock);
	if (!held)
		return err_set(err, ERR_CONFLICT, "nothing is held");
	poke_all(relay, false);
	return 0;
}

static int adopt(struct relay *relay, enum relay_channel channel, int *fd, struct err *err)
{
	int taken = *fd;

	if (relay->config.source || taken < 0)
		return err_set(err, ERR_CONFLICT,
			taken < 0 ? "no connection came along" : "the source takes no connections");
	*fd = -1;
	return stream_start(relay, channel, taken, err);
}

static int obey(struct relay *relay, unsigned i, const struct relay_request *request, int *fd,
	struct err *err)
{
	switch (request->verb) {
	case RELAY_STATUS:
		return 0;
	case RELAY_WATCH:
		relay->watches[i] = true;
		return 0;
	case RELAY_HOLD:
		return set_hold(relay, request->hold, err);
	case RELAY_RELEASE:
		return release(relay, err);
	case RELAY_VOUCH:
		return relay_vouch(relay, err);
	case RELAY_CUT:
		poke_all(relay, true);
		return 0;
	case RELAY_END:
		relay->ending = true;
		return 0;
	case RELAY_ADOPT:
		return adopt(relay, request->channel, fd, err);
	case RELAY_VERB_MAX:
		break;
	}
	return err_set(err, ERR_BAD_REQUEST, "that is nothing that a relay does");
}

/* ---- packets --------------------------------------------------------------------------------- */

/* The one descriptor that may come along, or -1. */
static int descriptor_of(struct msghdr *message)
{
	int ret = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
			c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(&ret, CMSG_DATA(c), sizeof(int));
	return ret;
}

static ssize_t receive(int socket, char *text, size_t size, int *ret_fd)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))];
	struct iovec part = { text, size - 1 };
	struct msghdr message = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = space,
		.msg_controllen = sizeof(space) };
	ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	*ret_fd = n > 0 ? descriptor_of(&message) : -1;
	text[MAX(n, 0)] = '\0';
	return n;
}

static void complain(int fd, const struct err *err)
{
	struct buf packet = { 0 };

	relay_error_write(err->msg, &packet);
	say(fd, &packet);
	buf_done(&packet);
}

void control_hear(struct relay *relay, unsigned i)
{
	struct relay_request request;
	char text[RELAY_PACKET_MAX];
	struct err err = { 0 };
	int fd, control = relay->controls[i];
	ssize_t n = receive(control, text, sizeof(text), &fd);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close(control);
		relay->controls[i] = -1;
		return;
	}
	if (relay_request_read(text, &request, &err) < 0 || obey(relay, i, &request, &fd, &err) < 0)
		complain(control, &err);
	else
		answer(relay, control);
	if (fd >= 0)
		close(fd);
}
