/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection: each stage does what it can without waiting, then the next. Whatever goes wrong
 * has words, which go to the other side too where there is an encrypted way, and to whoever waits
 * for the peer here.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/peer_cert.h"
#include "io/peer_relay.h"
#include "io/peer_tls_private.h"

#define RECORD_SIZE 16384
#define RECORDS     16          /* that are read before the rest of the loop gets its turn */
#define DRAIN_MS    2000        /* for the last words */
#define DRAIN_MAX   (1 << 20)   /* bytes that the other side may still send meanwhile */
#define CERTS_MAX   (32 * 1024) /* of a handshake's message */

/* ---- the socket, as GnuTLS uses it ----------------------------------------------------------- */

static ssize_t pull(gnutls_transport_ptr_t ptr, void *data, size_t len)
{
	struct conn *c = ptr;
	ssize_t got = recv(c->fd, data, len, 0);

	if (got <= 0 || c->authenticated)
		return got;
	c->raw_in += (size_t)got;
	if (c->raw_in <= c->tls->options.limits.unauthenticated)
		return got;
	errno = EMSGSIZE;
	return -1;
}

static ssize_t push(gnutls_transport_ptr_t ptr, const void *data, size_t len)
{
	struct conn *c = ptr;

	return send(c->fd, data, len, MSG_NOSIGNAL);
}

static int tls_words(struct conn *c, int rc, const char *what, struct err *err)
{
	bool alert = rc == GNUTLS_E_FATAL_ALERT_RECEIVED;
	const char *name = alert ? gnutls_alert_get_name(gnutls_alert_get(c->session)) : NULL;

	if (!c->authenticated && c->raw_in > c->tls->options.limits.unauthenticated)
		return err_set(err, ERR_TOO_LARGE,
			"it sent more than %zu bytes before its certificate",
			c->tls->options.limits.unauthenticated);
	if (rc == GNUTLS_E_PREMATURE_TERMINATION || rc == GNUTLS_E_PULL_ERROR ||
		rc == GNUTLS_E_PUSH_ERROR)
		return err_set(err, ERR_UNAVAILABLE, "the connection was cut");
	return err_set(err, ERR_UNAVAILABLE, "%s: %s%s", what, name ? "it says: " : "",
		name ? name : gnutls_strerror(rc));
}

/* 0: later; 1: go on; <0: the end. */
static int tls_retry(struct conn *c, int rc, const char *what, struct err *err)
{
	if (rc == GNUTLS_E_AGAIN)
		return 0;
	if (!gnutls_error_is_fatal(rc))
		return 1;
	return tls_words(c, rc, what, err);
}

/* ---- stages: 1: the next one; 0: wait; <0: the end, for those words -------------------------- */

static int stage_connect(struct conn *c, struct err *err)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error)
		return err_set(err, ERR_UNAVAILABLE, "cannot connect to %s: %s", c->address,
			strerror(error));
	c->stage = CONN_PREFACE;
	return 1;
}

static int begin_tls(struct conn *c, struct err *err)
{
	unsigned end = c->dialer ? GNUTLS_CLIENT : GNUTLS_SERVER;
	int rc = gnutls_init(&c->session, end | GNUTLS_NONBLOCK | GNUTLS_NO_TICKETS);

	if (rc == 0)
		rc = gnutls_priority_set_direct(c->session, PEER_PRIORITIES, NULL);
	c->credentials = credentials_get(c->tls, err);
	if (!c->credentials)
		return -(int)err->code;
	if (rc == 0)
		rc = gnutls_credentials_set(c->session, GNUTLS_CRD_CERTIFICATE,
			c->credentials->gnutls);
	if (rc < 0)
		return err_set(err, ERR_INTERNAL, "TLS cannot begin: %s", gnutls_strerror(rc));
	gnutls_certificate_server_set_request(c->session, GNUTLS_CERT_REQUIRE);
	/* Whose CA is another one sends nothing if it sees ours, and could not be told
	 * why it is refused. */
	gnutls_certificate_send_x509_rdn_sequence(c->session, 1);
	gnutls_handshake_set_max_packet_length(c->session, CERTS_MAX);
	gnutls_transport_set_ptr(c->session, c);
	gnutls_transport_set_pull_function(c->session, pull);
	gnutls_transport_set_push_function(c->session, push);
	c->stage = CONN_HANDSHAKE;
	return 1;
}

/* What comes next is TLS, or, of a stream, the UUID of its migration. */
static int preface_kind(const struct conn *c, enum peer_connection *ret, struct err *err)
{
	*ret = PEER_AGENTS;
	return c->dialer || c->preface_done < PEER_PREFACE_SIZE
		? 0
		: peer_preface_read(c->preface, ret, err);
}

/* A stream is its migration's relay's from here on: TLS, certificate and token are judged there. */
static int hand_over(struct conn *c, enum peer_connection kind, struct err *err)
{
	char id[UID_SIZE];
	int rc = 0;

	peer_stream_preface_id(c->preface, id);
	if (c->tls->options.migrations)
		rc = relay_hand_over(c->tls->options.migrations, id, relay_channel_of(kind), c->fd,
			err);
	if (rc < 0 || !c->tls->options.migrations)
		return err_set(err, ERR_NOT_FOUND, "there is no migration '%s' here", id);
	conn_close(c);
	return 0;
}

static int stage_preface(struct conn *c, struct err *err)
{
	enum peer_connection kind;
	uint8_t *at = c->preface + c->preface_done;
	size_t left;
	ssize_t n;
	int rc = preface_kind(c, &kind, err);

	if (rc < 0)
		return rc;
	left = (kind == PEER_AGENTS ? PEER_PREFACE_SIZE : PEER_STREAM_PREFACE_SIZE) -
		c->preface_done;
	if (!left)
		return kind == PEER_AGENTS ? begin_tls(c, err) : hand_over(c, kind, err);
	n = c->dialer ? send(c->fd, at, left, MSG_NOSIGNAL) : recv(c->fd, at, left, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return err_set(err, ERR_UNAVAILABLE, "the connection was cut");
	c->preface_done += (size_t)n;
	return 1;
}

static int stage_handshake(struct conn *c, struct err *err)
{
	int rc = gnutls_handshake(c->session);

	if (rc < 0) {
		rc = tls_retry(c, rc, "TLS failed", err);
		return rc < 0 ? rc : rc > 0;
	}
	c->stage = CONN_OPENING;
	if (conn_verify(c, err) < 0)
		return -(int)err->code;
	c->authenticated = true;
	conn_greet(c);
	return 1;
}

static int flush(struct conn *c, struct err *err)
{
	while (c->out_sent < c->out.len) {
		ssize_t n = gnutls_record_send(c->session, c->out.data + c->out_sent,
			MIN(c->out.len - c->out_sent, RECORD_SIZE));
		int rc;

		if (n > 0) {
			c->out_sent += (size_t)n;
			continue;
		}
		rc = tls_retry(c, (int)n, "cannot send", err);
		if (rc <= 0)
			return rc;
	}
	c->out.len = c->out_sent = c->out_handovers = 0;
	return 0;
}

static int read_records(struct conn *c, struct err *err)
{
	char record[RECORD_SIZE];
	int rc = 0;

	for (int i = 0; i < RECORDS && rc >= 0; i++) {
		ssize_t n = gnutls_record_recv(c->session, record, sizeof(record));

		if (n == 0) {
			c->quiet = true;
			return err_set(err, ERR_UNAVAILABLE, "it has ended the connection");
		}
		if (n < 0) {
			rc = tls_retry(c, (int)n, "cannot read", err);
			if (rc <= 0)
				return rc;
			continue;
		}
		c->heard = c->tls->options.clock().boot;
		buf_add(&c->in, record, (size_t)n);
		rc = conn_hear(c, err);
		if (rc == 0 && c->out.len - c->out_sent > PEER_OUT_MAX + c->out_handovers)
			rc = err_set(err, ERR_TOO_MANY, "it does not read what it is sent");
	}
	return rc;
}

static int stage_talk(struct conn *c, struct err *err)
{
	int rc = read_records(c, err);

	return rc < 0 ? rc : flush(c, err);
}

/* Whoever closes with bytes unread resets the connection, and the last words with it. */
static int stage_drain(struct conn *c, struct err *err)
{
	char bytes[RECORD_SIZE];
	ssize_t n;

	if (!c->bye) {
		if (flush(c, err) < 0)
			return -(int)err->code;
		if (c->out.len)
			return 0;
		gnutls_bye(c->session, GNUTLS_SHUT_WR);
		shutdown(c->fd, SHUT_WR);
		c->bye = true;
		c->raw_in = 0;
	}
	for (int i = 0; i < RECORDS; i++) {
		n = recv(c->fd, bytes, sizeof(bytes), 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		c->raw_in += n > 0 ? (size_t)n : 0;
		if (n <= 0 || c->raw_in > DRAIN_MAX)
			return err_set(err, ERR_UNAVAILABLE, "ended");
	}
	return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
	struct conn *c = handle->data;

	if (--c->handles == 0)
		free(c);
}

void conn_close(struct conn *c)
{
	struct peer_tls *tls = c->tls;

	if (c->stage == CONN_GONE)
		return;
	c->stage = CONN_GONE;
	*c->self = c->next;
	if (c->next)
		c->next->self = c->self;
	if (c->session)
		gnutls_deinit(c->session);
	uv_close((uv_handle_t *)&c->poll, on_closed);
	uv_close((uv_handle_t *)&c->timer, on_closed);
	close(c->fd);
	buf_done(&c->in);
	buf_done(&c->out);
	credentials_sweep(tls);
}

static void on_drained(uv_timer_t *timer)
{
	conn_close(timer->data);
}

/* Says why, and waits a little for that to arrive. */
static void say_last_words(struct conn *c, const char *why)
{
	struct peer_message last = { .kind = PEER_MESSAGE_REFUSED };

	copy_str(last.why, sizeof(last.why), why);
	conn_say(c, &last);
	c->stage = CONN_DRAIN;
	uv_timer_start(&c->timer, on_drained, DRAIN_MS, 0);
	conn_drive(c);
}

void conn_end(struct conn *c, const char *why)
{
	enum conn_stage stage = c->stage;
	struct peer *peer = c->peer;
	bool dialed = peer && peer->dialing == c;

	if (dialed)
		peer->dialing = NULL; /* now: last words that fail end it once more */
	if ((stage == CONN_OPENING || stage == CONN_OPEN) && !c->quiet)
		say_last_words(c, why);
	else
		conn_close(c);
	if (stage == CONN_OPEN)
		conn_lost(c, why);
	else if (dialed)
		peer_failed(peer, why);
	else if (!c->dialer && stage != CONN_DRAIN && stage != CONN_GONE)
		tls_stranger(c->tls, c->address, why);
}

/* ---- driving --------------------------------------------------------------------------------- */

static void on_poll(uv_poll_t *poll, int status, int events)
{
	(void)status; /* the socket itself says what is wrong */
	(void)events;
	conn_drive(poll->data);
}

static bool wants_write(const struct conn *c)
{
	if (c->stage == CONN_CONNECT || (c->stage == CONN_PREFACE && c->dialer))
		return true;
	if (c->stage == CONN_HANDSHAKE)
		return gnutls_record_get_direction(c->session) == 1;
	return c->out.len > c->out_sent;
}

void conn_watch(struct conn *c)
{
	bool write = wants_write(c);
	bool read = c->stage >= CONN_HANDSHAKE || (c->stage == CONN_PREFACE && !c->dialer);

	if (c->stage != CONN_GONE)
		uv_poll_start(&c->poll,
			(read && !(c->stage == CONN_HANDSHAKE && write) ? UV_READABLE : 0) |
				(write ? UV_WRITABLE : 0),
			on_poll);
}

void conn_drive(struct conn *c)
{
	static int (*const stages[])(struct conn * c, struct err * err) = {
		[CONN_CONNECT] = stage_connect,
		[CONN_PREFACE] = stage_preface,
		[CONN_HANDSHAKE] = stage_handshake,
		[CONN_OPENING] = stage_talk,
		[CONN_OPEN] = stage_talk,
		[CONN_DRAIN] = stage_drain,
	};
	struct err err = { 0 };
	int rc = 1;

	while (rc > 0 && c->stage != CONN_GONE)
		rc = stages[c->stage](c, &err);
	if (rc < 0)
		conn_end(c, err.msg);
	else
		conn_watch(c);
}

/* ---- birth ----------------------------------------------------------------------------------- */

static void on_too_slow(uv_timer_t *timer)
{
	struct conn *c = timer->data;
	struct err err;

	err_set(&err, ERR_TIMEOUT, "%s took longer than %lld s",
		c->stage == CONN_CONNECT ? "connecting" : "the greeting",
		(long long)(c->tls->options.limits.handshake / 1000));
	conn_end(c, err.msg);
}

static void set_address(struct conn *c)
{
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof(at);
	char host[PEER_ADDRESS_SIZE] = "?", port[8] = "?";

	/* A connection that is on its way has no peer's name yet. */
	if (c->peer)
		copy_str(c->address, sizeof(c->address), c->peer->config->address);
	if (c->peer || getpeername(c->fd, (struct sockaddr *)&at, &len) < 0)
		return;
	getnameinfo((struct sockaddr *)&at, len, host, sizeof(host), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV);
	copy_str(c->host, sizeof(c->host), host);
	snprintf(c->address, sizeof(c->address), strchr(host, ':') ? "[%.50s]:%s" : "%.50s:%s",
		host, port);
}

static void tune_socket(int fd, msec idle)
{
	int on = 1;
	unsigned timeout = (unsigned)idle;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof(timeout));
}

struct conn *conn_new(struct peer_tls *tls, int fd, struct peer *dialed)
{
	struct conn *c = xcalloc(1, sizeof(*c));

	c->tls = tls;
	c->fd = fd;
	c->dialer = dialed != NULL;
	c->peer = dialed;
	c->stage = c->dialer ? CONN_CONNECT : CONN_PREFACE;
	c->poll.data = c->timer.data = c;
	if (uv_poll_init(tls->options.loop, &c->poll, fd)) {
		close(fd);
		free(c);
		return NULL;
	}
	uv_timer_init(tls->options.loop, &c->timer);
	c->handles = 2;
	uv_timer_start(&c->timer, on_too_slow, (uint64_t)tls->options.limits.handshake, 0);
	tune_socket(fd, tls->options.limits.idle);
	set_address(c);
	if (c->dialer)
		peer_preface_write(c->preface);
	c->next = tls->conns;
	c->self = &tls->conns;
	if (c->next)
		c->next->self = &c->next;
	tls->conns = c;
	return c;
}
