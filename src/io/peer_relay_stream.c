/* SPDX-License-Identifier: Apache-2.0 */
/* One connection: found, authenticated, pumped, closed, all on a thread of its own. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/peer_relay_private.h"

#define DIAL_S        30 /* a restarting agent is worth waiting for */
#define DIAL_PAUSE_MS 200
#define STACK_SIZE    (512 * 1024)
#define GREETING_S    20 /* in all, however slowly the other side speaks */

void stream_poke(struct stream *s)
{
	uint64_t one = 1;

	while (write(s->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* ---- who it is ------------------------------------------------------------------------------- */

/* Its thread waits for the other side, and sees nothing else. Under the lock, so that the
 * descriptor is still its own. */
static void end_greeting(const struct stream *s)
{
	if (s->greets >= 0)
		shutdown(s->greets, SHUT_RDWR);
}

void stream_greets(struct stream *s, int fd)
{
	pthread_mutex_lock(&s->relay->lock);
	s->greets = fd;
	s->greets_since = relay_now();
	if (atomic_load(&s->cut))
		end_greeting(s);
	pthread_mutex_unlock(&s->relay->lock);
	relay_changed(s->relay); /* the main thread looks at the time from now on */
}

void stream_greeted(struct stream *s)
{
	pthread_mutex_lock(&s->relay->lock);
	s->greets = -1;
	pthread_mutex_unlock(&s->relay->lock);
}

int stream_let_in(struct stream *s, struct err *err)
{
	struct relay *relay = s->relay;
	bool taken;

	pthread_mutex_lock(&relay->lock);
	taken = s->channel == RELAY_RPC && relay->rpc;
	if (s->channel == RELAY_RPC && !taken)
		relay->rpc = s;
	pthread_mutex_unlock(&relay->lock);
	return taken ? err_set(err, ERR_CONFLICT, "libvirt's RPC has a stream already") : 0;
}

static void let_out(struct stream *s)
{
	pthread_mutex_lock(&s->relay->lock);
	if (s->relay->rpc == s)
		s->relay->rpc = NULL;
	pthread_mutex_unlock(&s->relay->lock);
}

void stream_cut(struct stream *s)
{
	atomic_store(&s->cut, true);
	pthread_mutex_lock(&s->relay->lock);
	end_greeting(s);
	pthread_mutex_unlock(&s->relay->lock);
	stream_poke(s);
}

bool streams_hurry(struct relay *relay)
{
	msec late = relay_now() - SECONDS(GREETING_S);
	bool any = false;

	pthread_mutex_lock(&relay->lock);
	for (const struct stream *s = relay->streams; s; s = s->next) {
		any |= s->greets >= 0;
		if (s->greets_since <= late)
			end_greeting(s);
	}
	pthread_mutex_unlock(&relay->lock);
	return any;
}

/* Whoever knows the token needs a moment for it: of those that wait the one that came
 * first has to go. */
static void make_room(struct relay *relay)
{
	struct stream *oldest = NULL;
	unsigned n = 0;

	pthread_mutex_lock(&relay->lock);
	for (struct stream *s = relay->streams; s; s = s->next) {
		if (s->greets < 0)
			continue;
		oldest = s;
		n++;
	}
	if (n >= RELAY_GREETERS_MAX) {
		end_greeting(oldest);
		oldest->greets = -1; /* the next time it is another one's turn */
	}
	pthread_mutex_unlock(&relay->lock);
}

/* ---- one connection -------------------------------------------------------------------------- */

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec;
}

/* Whether libvirtd or QEMU still waits for the connection. What it has sent meanwhile stays
 * unread. */
static bool still_wanted(struct stream *s)
{
	struct pollfd pfds[] = { { .fd = s->local.fd, .events = POLLRDHUP },
		{ .fd = s->wake, .events = POLLIN } };

	poll(pfds, ARRAY_SIZE(pfds), DIAL_PAUSE_MS);
	return !(pfds[0].revents & (POLLRDHUP | POLLHUP | POLLERR)) && !atomic_load(&s->cut);
}

static int dial_in_turn(struct stream *s, struct err *err)
{
	time_t until = seconds() + DIAL_S;
	int rc;

	if (atomic_load(&s->cut)) /* while it waited for its turn */
		return err_set(err, ERR_UNAVAILABLE, "it was cut here");
	do
		rc = link_dial(s, err);
	while (rc == -ERR_UNAVAILABLE && seconds() < until && still_wanted(s));
	return rc;
}

/* One after the other: QEMU takes the first connection that arrives for the main
 * one of a migration. */
static int dial(struct stream *s, struct err *err)
{
	struct relay *relay = s->relay;
	int rc;

	pthread_mutex_lock(&relay->lock);
	while (relay->turn[s->channel] != s->number)
		pthread_cond_wait(&relay->next, &relay->lock);
	pthread_mutex_unlock(&relay->lock);
	rc = dial_in_turn(s, err);
	pthread_mutex_lock(&relay->lock);
	relay->turn[s->channel]++;
	pthread_cond_broadcast(&relay->next);
	pthread_mutex_unlock(&relay->lock);
	return rc;
}

static int accept_stream(struct stream *s, struct err *err)
{
	struct relay *relay = s->relay;
	autofree char *path = s->channel == RELAY_RPC
		? xstrdup(relay->config.libvirt)
		: xasprintf("%s/%s", relay->folder, relay_channel_path(s->channel));

	return link_accept(s, path, err);
}

static void set_flows(struct stream *s)
{
	struct relay *relay = s->relay;
	bool source = relay->config.source;
	struct flow *outward = source ? &s->forth : &s->back;
	struct flow *inward = source ? &s->back : &s->forth;

	*outward = (struct flow){ &s->local, &s->remote, .count = &relay->sent[s->channel] };
	*inward = (struct flow){ &s->remote, &s->local, .count = &relay->received[s->channel] };
}

/* The other side is told by the end of the connection, in good order where this side has said
 * all it had to. */
static void close_stream(struct stream *s, bool good)
{
	const struct flow *outward = s->relay->config.source ? &s->forth : &s->back;

	if (s->held_in) /* before libvirtd can see it */
		relay_set_finish(s->relay, RELAY_FINISH_LOST);
	if (good)
		link_bye(&s->remote, s->channel != RELAY_RPC && outward->eof);
	let_out(s); /* whoever sees its end may come again at once */
	link_close(&s->local);
	link_close(&s->remote);
	buf_done(&s->held);
	buf_done(&s->forth.in);
	buf_done(&s->forth.out);
	buf_done(&s->back.in);
	buf_done(&s->back.out);
}

static void *run(void *arg)
{
	struct stream *s = arg;
	struct relay *relay = s->relay;
	struct err err = { 0 };
	int rc = relay->config.source ? dial(s, &err) : accept_stream(s, &err);

	if (rc == 0) {
		atomic_fetch_add(&relay->opened[s->channel], 1);
		relay_changed(relay);
		set_flows(s);
		rc = stream_pump(s, &err);
	}
	if (rc < 0)
		relay_complain(relay, s, rc == -ERR_FORBIDDEN, err.msg);
	close_stream(s, rc == 0);
	atomic_store(&s->ended, true);
	relay_changed(relay);
	return NULL;
}

static int refusal(const struct relay *relay, enum relay_channel channel, struct err *err)
{
	unsigned n = 0;

	for (const struct stream *s = relay->streams; s; s = s->next)
		n++;
	if (n >= RELAY_STREAMS_MAX)
		return err_set(err, ERR_TOO_MANY, "more than %d streams", RELAY_STREAMS_MAX);
	if (channel == RELAY_DISKS && !relay->config.disks)
		return err_set(err, ERR_FORBIDDEN, "no disks are copied in this migration");
	return 0;
}

/* The source's own libvirtd needs no token. */
static int begin(struct stream *s, struct err *err)
{
	if (s->relay->config.source)
		return stream_let_in(s, err);
	make_room(s->relay);
	return 0;
}

static int run_thread(struct stream *s, struct err *err)
{
	pthread_attr_t attr;
	int rc;

	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	rc = s->wake < 0 ? errno : pthread_create(&s->thread, &attr, run, s);
	pthread_attr_destroy(&attr);
	if (rc && s->wake >= 0)
		close(s->wake);
	return rc ? err_set(err, ERR_IO, "no stream can begin: %s", strerror(rc)) : 0;
}

int stream_start(struct relay *relay, enum relay_channel channel, int fd, struct err *err)
{
	struct stream *s = xcalloc(1, sizeof(*s));
	int rc = refusal(relay, channel, err);

	*s = (struct stream){ .relay = relay,
		.channel = channel,
		.local.fd = relay->config.source ? fd : -1,
		.remote.fd = relay->config.source ? -1 : fd,
		.number = relay->begun[channel],
		.talk.data_uri = relay->data_uri,
		.greets = relay->config.source ? -1 : fd,
		.greets_since = relay_now() };
	if (rc == 0)
		rc = begin(s, err);
	if (rc == 0)
		rc = run_thread(s, err);
	if (rc < 0) {
		close(fd);
		let_out(s);
		free(s);
		return rc;
	}
	relay->begun[channel]++;
	s->next = relay->streams;
	relay->streams = s;
	return 0;
}

void streams_sweep(struct relay *relay, bool all)
{
	struct stream **at = &relay->streams, *s;

	while ((s = *at)) {
		if (!all && !atomic_load(&s->ended)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		pthread_join(s->thread, NULL);
		close(s->wake);
		free(s);
	}
}
