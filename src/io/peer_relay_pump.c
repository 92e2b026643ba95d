/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two flows between two connections. Memory and disks pass as they come. libvirt's RPC passes frame
 * by frame: the target judges each call, the source each answer, so each guards its own libvirtd
 * from the other; and one frame of the switch-over may be held back while all others, libvirt's
 * keepalives among them, go on.
 *
 * How it ends: when the source's end of memory or disks is over, the rest is still delivered. Every
 * other end closes both connections at once, for half of one hangs: QEMU waits for more than a
 * minute on a socket that nobody reads. And what libvirtd said before it closed its connection is
 * dropped, lest a Finish is executed that nobody waits for.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/peer_relay_private.h"

#define FLOW_SIZE  (256 * 1024) /* bytes that one direction may keep; of RPC: beside one frame */
#define READ_SIZE  65536        /* of RPC */
#define DELIVER_MS 5000         /* for the rest, once one end is over */
#define HELD_MS    20000        /* that an answer is held for an agent that does not come */
#define PING       1            /* the keepalive that asks for an answer */

static size_t pending(const struct flow *flow)
{
	return flow->out.len - flow->sent;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static int judge(struct stream *s, const struct flow *flow, const struct rpc_frame *frame,
	struct err *err)
{
	if (flow == &s->back)
		return s->relay->config.source ? relay_talk_answer(&s->talk, frame, err) : 0;
	if (s->relay->config.source)
		return relay_talk_call(&s->talk, frame, err);
	return relay_rules_call(&s->relay->rules, frame, err);
}

/* Whether this is the frame to be held; notes how far the switch-over has come. */
static bool holds(struct stream *s, const struct flow *flow, const struct rpc_frame *frame)
{
	struct relay *relay = s->relay;
	bool call = flow == &s->forth && relay_is_finish_call(frame);
	bool reply = flow == &s->back && relay_is_finish_reply(frame), hold = false;

	if (!call && !reply)
		return false;
	pthread_mutex_lock(&relay->lock);
	if (call) {
		hold = relay->hold == RELAY_HOLD_CALL;
		relay->finish = hold ? RELAY_FINISH_CALL_HELD : RELAY_FINISH_CALLED;
	} else if (relay->finish == RELAY_FINISH_CALLED) {
		hold = relay->hold == RELAY_HOLD_REPLY && frame->status == RPC_OK;
		relay->finish = hold              ? RELAY_FINISH_REPLY_HELD
			: frame->status == RPC_OK ? RELAY_FINISH_ANSWERED
						  : RELAY_FINISH_FAILED;
	}
	if (hold && reply) {
		relay->waiter = s->local.fd;
		relay->held_at = relay_now();
	}
	pthread_mutex_unlock(&relay->lock);
	relay_changed(relay);
	return hold;
}

/* Whatever comes from the other host shows libvirtd that it is there. */
static void note_keepalive(struct stream *s, const struct flow *flow, const struct rpc_frame *frame)
{
	struct relay *relay = s->relay;
	bool asks = flow == &s->forth && relay_is_keepalive(frame) && frame->procedure == PING;

	if (!asks && flow == &s->forth)
		return;
	pthread_mutex_lock(&relay->lock);
	if (!asks)
		relay->pinged = 0;
	else if (!relay->pinged)
		relay->pinged = relay_now();
	pthread_mutex_unlock(&relay->lock);
}

static int take_frames(struct stream *s, struct flow *flow, struct err *err)
{
	size_t at = 0;

	for (;;) {
		const char *bytes = flow->in.data + at;
		struct rpc_frame frame;
		int used = rpc_frame_take(bytes, flow->in.len - at, &frame, err);
		int rc = used > 0 ? judge(s, flow, &frame, err) : used;

		if (rc < 0)
			return -ERR_FORBIDDEN;
		if (used == 0)
			break;
		if (holds(s, flow, &frame)) {
			if (s->held_in)
				return err_set(err, ERR_FORBIDDEN,
					"it switches over a second time, while the first one is held");
			buf_add(&s->held, bytes, (size_t)used);
			s->held_in = flow;
		} else {
			note_keepalive(s, flow, &frame);
			buf_add(&flow->out, bytes, (size_t)used);
		}
		at += (size_t)used;
	}
	flow->in.len -= at;
	if (flow->in.data)
		memmove(flow->in.data, flow->in.data + at, flow->in.len);
	return 0;
}

static void release_held(struct stream *s)
{
	bool call = s->held_in == &s->forth;

	if (!s->held_in)
		return;
	buf_add(&s->held_in->out, s->held.data, s->held.len);
	buf_done(&s->held);
	s->held_in = NULL;
	relay_set_finish(s->relay, call ? RELAY_FINISH_CALLED : RELAY_FINISH_ANSWERED);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool wants_more(const struct flow *flow)
{
	return !flow->eof && flow->out.len < FLOW_SIZE;
}

static ssize_t fill(struct stream *s, struct flow *flow)
{
	struct buf *into = s->channel == RELAY_RPC ? &flow->in : &flow->out;
	size_t room = s->channel == RELAY_RPC ? READ_SIZE : FLOW_SIZE - into->len;
	ssize_t n;

	if (into->cap < into->len + room + 1) {
		into->cap = into->len + room + 1;
		into->data = xrealloc_array(into->data, into->cap, 1);
	}
	n = link_read(flow->from, into->data + into->len, room);
	if (n > 0)
		into->len += (size_t)n;
	return n;
}

/* 0 for what is tried again later. */
static int failed(const struct stream *s, const struct link *link, const char *what,
	struct err *err)
{
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	return err_set(err, ERR_UNAVAILABLE, "cannot %s %s: %s", what,
		link == &s->local ? "this host's end" : "the other host", strerror(errno));
}

/* Reads what is there and fits. */
static int flow_read(struct stream *s, struct flow *flow, struct err *err)
{
	while (wants_more(flow)) {
		ssize_t n = fill(s, flow);

		if (n < 0)
			return failed(s, flow->from, "read from", err);
		if (n == 0) {
			flow->eof = true;
			return 0;
		}
		atomic_fetch_add(flow->count, (uint64_t)n);
		if (s->channel == RELAY_RPC && take_frames(s, flow, err) < 0)
			return -ERR_FORBIDDEN;
	}
	return 0;
}

static int flow_write(const struct stream *s, struct flow *flow, struct err *err)
{
	while (pending(flow)) {
		ssize_t n = link_write(flow->to, flow->out.data + flow->sent, pending(flow));

		if (n < 0)
			return failed(s, flow->to, "write to", err);
		flow->sent += (size_t)n;
	}
	flow->out.len = flow->sent = 0;
	return 0;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* What was held was the answer to this host's libvirtd, which still waits for it: the other host
 * is needed no more. */
static bool outlives_remote(const struct stream *s)
{
	return s->relay->config.source && s->held_in == &s->back && !s->forth.eof;
}

static bool is_over(const struct stream *s)
{
	if (s->channel == RELAY_RPC && s->forth.eof)
		return true;
	if (s->back.eof && outlives_remote(s))
		return false;
	return (s->forth.eof && !pending(&s->forth)) || (s->back.eof && !pending(&s->back));
}

static void watch(struct pollfd *pfd, const struct link *link, const struct flow *in,
	const struct flow *out)
{
	short events = (short)((wants_more(in) ? POLLIN : 0) | (pending(out) ? POLLOUT : 0));

	/* A connection that is over is always ready; whose turn it is not is not asked. */
	*pfd = (struct pollfd){ .fd = events ? link->fd : -1, .events = events };
}

static int wait_for_something(struct stream *s, int timeout)
{
	bool at_source = s->relay->config.source;
	struct flow *from_local = at_source ? &s->forth : &s->back;
	struct flow *from_remote = at_source ? &s->back : &s->forth;
	struct pollfd pfds[3];
	uint64_t n;
	int rc;

	watch(&pfds[0], &s->local, from_local, from_remote);
	watch(&pfds[1], &s->remote, from_remote, from_local);
	pfds[2] = (struct pollfd){ .fd = s->wake, .events = POLLIN };
	if (wants_more(from_remote) && link_has_more(&s->remote))
		timeout = 0;
	rc = poll(pfds, ARRAY_SIZE(pfds), timeout);
	if (rc > 0 && pfds[2].revents && read(s->wake, &n, sizeof(n)) < 0)
		return 0;
	return rc;
}

/* The connection with the other host was cut while a good answer is held: as if it had ended. */
static int excuse(struct stream *s, int rc)
{
	if (rc != -ERR_UNAVAILABLE || !outlives_remote(s) || s->back.eof)
		return rc;
	s->back.eof = true;
	return 0;
}

static int pump_once(struct stream *s, struct err *err)
{
	int rc = flow_read(s, &s->forth, err);

	if (rc == 0)
		rc = excuse(s, flow_read(s, &s->back, err));
	if (s->back.eof && outlives_remote(s))
		s->forth.out.len = s->forth.sent = 0; /* nobody is there to read it */
	if (rc == 0)
		rc = excuse(s, flow_write(s, &s->forth, err));
	if (rc == 0)
		rc = flow_write(s, &s->back, err);
	return rc;
}

/* Until an answer that nobody has released is passed on; -1: none is held. */
static int patience(const struct stream *s)
{
	if (s->held_in != &s->back)
		return -1;
	return (int)MAX(s->relay->held_at + HELD_MS - relay_now(), 0);
}

int stream_pump(struct stream *s, struct err *err)
{
	bool ending = false;
	int rc = 0;

	while (rc == 0 && !is_over(s)) {
		int ready = wait_for_something(s, ending ? DELIVER_MS : patience(s));

		if (atomic_load(&s->cut))
			return err_set(err, ERR_UNAVAILABLE, "it was cut here");
		if (ready == 0 && ending)
			return err_set(err, ERR_TIMEOUT, "the rest could not be delivered");
		if (atomic_exchange(&s->release, false) || patience(s) == 0)
			release_held(s);
		rc = pump_once(s, err);
		ending = (s->forth.eof || s->back.eof) && !outlives_remote(s);
	}
	return rc;
}
