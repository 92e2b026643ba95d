/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said on a connection whose certificate is good: the greeting, PING and PONG, status; and
 * which of two connections with the same peer is used.
 */
#include <stdio.h>
#include <string.h>

#include "io/peer_cert.h"
#include "io/peer_tls_private.h"

void conn_say(struct conn *c, const struct peer_message *message)
{
	peer_message_write(message, &c->out);
}

/* ---- which connection ------------------------------------------------------------------------ */

/* Both ends judge alike: the lesser name's dial stands; of two dials by the same end, the later. */
static bool is_better(const struct conn *c, const struct conn *than)
{
	bool ours = strcmp(c->tls->options.hello.node, c->peer->config->name) < 0;

	return c->dialer == than->dialer || c->dialer == ours;
}

static void tell_up(struct peer *peer)
{
	tls_event(peer->tls,
		&(struct peer_event){ .kind = PEER_UP,
			.name = peer->config->name,
			.hello = &peer->conn->theirs,
			.expires = peer->conn->expires });
}

static void on_tick(uv_timer_t *timer)
{
	struct conn *c = timer->data;
	struct err err;

	if (c->superseded)
		conn_close(c); /* the other end has the better one as well by now */
	else if (conn_tick(c, &err) < 0)
		conn_end(c, err.msg);
	else
		conn_watch(c);
}

/* Of two the better one. */
static void use(struct conn *c)
{
	struct peer *peer = c->peer;
	uint64_t ping = (uint64_t)c->tls->options.limits.ping;

	if (peer->conn && !is_better(c, peer->conn)) {
		c->superseded = true;
		uv_timer_start(&c->timer, on_tick, ping, ping);
		return;
	}
	if (peer->conn)
		peer->conn->superseded = true;
	peer->conn = c;
	tell_up(peer);
}

static void opened(struct conn *c)
{
	struct peer *peer = c->peer;
	uint64_t ping = (uint64_t)c->tls->options.limits.ping;

	c->stage = CONN_OPEN;
	if (peer->dialing == c)
		peer->dialing = NULL;
	peer->failures = 0;
	uv_timer_stop(&peer->timer);
	uv_timer_start(&c->timer, on_tick, 1, ping);
	use(c);
	if (c->dialer)
		peer_reached(peer);
	else if (!peer->reached && !peer->dialing)
		peer_dial_after(peer, c->tls->options.limits.dial_first);
}

void conn_lost(struct conn *c, const char *why)
{
	struct peer *peer = c->peer;

	if (peer->conn != c)
		return;
	peer->conn = NULL;
	for (struct conn *other = c->tls->conns; other; other = other->next) {
		if (other->peer != peer || other->stage != CONN_OPEN)
			continue;
		other->superseded = false;
		peer->conn = other;
		tell_up(peer);
		return;
	}
	peer_failed(peer, why);
}

/* ---- the greeting ---------------------------------------------------------------------------- */

static void say_hello(struct conn *c, enum peer_message_kind kind, unsigned version)
{
	struct peer_message message = { .kind = kind, .hello = c->tls->options.hello };

	message.hello.version = version;
	message.hello.wall = c->tls->options.clock().wall;
	conn_say(c, &message);
}

void conn_greet(struct conn *c)
{
	c->heard = c->tls->options.clock().boot;
	if (c->dialer)
		say_hello(c, PEER_MESSAGE_HELLO, 0);
}

static int check_peer(const struct conn *c, const struct peer_hello *theirs, struct err *err)
{
	if (streq(theirs->node, c->peer->config->name))
		return peer_hello_check(&c->tls->options.hello, theirs, err);
	return err_set(err, ERR_FORBIDDEN,
		"it calls itself '%.150s', but its certificate is for '%.150s'", theirs->node,
		c->peer->config->name);
}

static int hear_hello(struct conn *c, const struct peer_message *m, struct err *err)
{
	const struct peer_hello *ours = &c->tls->options.hello;
	unsigned version;

	if (peer_version_choose(ours, &m->hello, &version, err) < 0 ||
		check_peer(c, &m->hello, err) < 0)
		return -(int)err->code;
	c->theirs = m->hello;
	c->theirs.version = version;
	say_hello(c, PEER_MESSAGE_WELCOME, version);
	opened(c);
	return 0;
}

static int hear_welcome(struct conn *c, const struct peer_message *m, struct err *err)
{
	const struct peer_hello *ours = &c->tls->options.hello;
	struct peer_message status = { .kind = PEER_MESSAGE_STATUS, .status = ours->status };
	unsigned version;

	if (peer_version_choose(ours, &m->hello, &version, err) < 0 ||
		check_peer(c, &m->hello, err) < 0)
		return -(int)err->code;
	if (m->hello.version != version)
		return err_set(err, ERR_BAD_REQUEST, "it chose version %u of the protocol, not %u",
			m->hello.version, version);
	c->theirs = m->hello;
	opened(c);
	/* It may have changed since our HELLO, when nothing else could be said. */
	conn_say(c, &status);
	return 0;
}

static int hear_refused(struct conn *c, const struct peer_message *m, struct err *err)
{
	c->quiet = true;
	return err_set(err, ERR_FORBIDDEN, "it refuses: %s", m->why);
}

/* ---- PING, PONG, status ---------------------------------------------------------------------- */

static int expired(const struct conn *c, struct err *err)
{
	autofree char *who = xasprintf("'%s'", c->peer->config->name);

	return peer_cert_expired(who, c->expires, err);
}

int conn_tick(struct conn *c, struct err *err)
{
	const struct peer_limits *limits = &c->tls->options.limits;
	struct now now = c->tls->options.clock();
	struct peer_message ping = { .kind = PEER_MESSAGE_PING };
	struct err ignored; /* it was reported */

	credentials_get(c->tls, &ignored); /* new ones are seen while the old ones are in use */
	if (now.wall >= c->expires)
		return expired(c, err);
	if (now.boot - c->heard >= limits->idle)
		return err_set(err, ERR_TIMEOUT, "it has not answered for %lld s",
			(long long)((now.boot - c->heard) / 1000));
	if (c->ping_sent)
		return 0; /* the last one is not answered yet */
	ping.ping.id = ++c->ping_id;
	c->ping_sent = now.boot;
	conn_say(c, &ping);
	return 0;
}

static int hear_ping(struct conn *c, const struct peer_message *m, struct err *err)
{
	struct peer_message pong = { .kind = PEER_MESSAGE_PONG };

	(void)err;
	pong.ping.id = m->ping.id;
	pong.ping.wall = c->tls->options.clock().wall;
	conn_say(c, &pong);
	return 0;
}

static int hear_pong(struct conn *c, const struct peer_message *m, struct err *err)
{
	struct now now = c->tls->options.clock();
	msec round_trip = now.boot - c->ping_sent;

	(void)err;
	if (!c->ping_sent || m->ping.id != c->ping_id)
		return 0;
	c->ping_sent = 0;
	if (c->peer->conn == c)
		tls_event(c->tls,
			&(struct peer_event){ .kind = PEER_CLOCK,
				.name = c->peer->config->name,
				.ahead = peer_clock_ahead(now.wall, m->ping.wall, round_trip),
				.round_trip = round_trip });
	return 0;
}

static int hear_status(struct conn *c, const struct peer_message *m, struct err *err)
{
	(void)err;
	c->theirs.status = m->status;
	if (c->peer->conn == c)
		tls_event(c->tls,
			&(struct peer_event){ .kind = PEER_STATUS,
				.name = c->peer->config->name,
				.status = &m->status });
	return 0;
}

static int hear_handover(struct conn *c, const struct peer_message *m, struct err *err)
{
	(void)err;
	if (c->peer->conn == c)
		tls_event(c->tls,
			&(struct peer_event){ .kind = PEER_HANDOVER,
				.name = c->peer->config->name,
				.handover = &m->handover });
	return 0;
}

/* ---- hearing --------------------------------------------------------------------------------- */

static int hear(struct conn *c, const struct peer_frame *frame, struct err *err)
{
	static int (*const handlers[])(struct conn * c, const struct peer_message *m,
		struct err *err) = { [PEER_MESSAGE_HELLO] = hear_hello,
		[PEER_MESSAGE_WELCOME] = hear_welcome,
		[PEER_MESSAGE_REFUSED] = hear_refused,
		[PEER_MESSAGE_PING] = hear_ping,
		[PEER_MESSAGE_PONG] = hear_pong,
		[PEER_MESSAGE_STATUS] = hear_status,
#define X(c, name, number, max) [PEER_MESSAGE_##c] = hear_handover,
		HANDOVERS(X)
#undef X
	};
	struct peer_message message;
	int rc;

	if (peer_frame_expected(frame->kind, !c->dialer, c->stage == CONN_OPEN, err) < 0 ||
		peer_message_read(frame, &message, err) < 0)
		return -(int)err->code;
	rc = handlers[frame->kind](c, &message, err);
	peer_message_done(&message);
	return rc;
}

int conn_hear(struct conn *c, struct err *err)
{
	size_t at = 0;
	int rc;

	do {
		struct peer_frame frame;

		rc = peer_frame_take(c->in.data + at, c->in.len - at, &frame, err);
		if (rc > 0) {
			at += (size_t)rc;
			rc = hear(c, &frame, err) < 0 ? -1 : 1;
		}
	} while (rc > 0);
	memmove(c->in.data, c->in.data + at, c->in.len - at);
	c->in.len -= at;
	return rc;
}
