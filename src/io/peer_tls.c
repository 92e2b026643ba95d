/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The adapter's life, and who may connect: accepting is bounded in total and per address, and a
 * flood of strangers fills neither the log nor the memory.
 */
#include "io/peer_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/peer_tls_private.h"

#define HANDSHAKE_MS     10000
#define PING_MS          5000
#define IDLE_MS          15000
#define DIAL_FIRST_MS    1000
#define DIAL_MAX_MS      30000
#define CHECK_MS         3600000
#define PER_ADDRESS      8
#define UNAUTHENTICATED  65536
#define CONNS_MAX        (2 * PEERS_MAX + 64) /* of the listener's */
#define BACKLOG          32
#define ACCEPTS_A_TURN   16
#define REPORTS_MAX      10 /* of strangers, … */
#define REPORTS_WINDOW_S 60 /* … within this time */

void tls_event(struct peer_tls *tls, const struct peer_event *event)
{
	if (!tls->closing)
		tls->options.sink.event(tls->options.sink.ctx, event);
}

void tls_stranger(struct peer_tls *tls, const char *address, const char *why)
{
	msec now = tls->options.clock().boot;
	struct err text;

	if (now - tls->reports_since >= SECONDS(REPORTS_WINDOW_S)) {
		tls->reports_since = now;
		tls->reports = 0;
	}
	if (tls->reports++ >= REPORTS_MAX)
		return;
	err_set(&text, ERR_FORBIDDEN, "%s: %s%s", address, why,
		tls->reports == REPORTS_MAX ? " (more of these are not shown for a minute)" : "");
	tls_event(tls, &(struct peer_event){ .kind = PEER_STRANGER, .why = text.msg });
}

/* ---- accepting ------------------------------------------------------------------------------- */

struct crowd { /* of those who have come to the listener */
	unsigned n;
	struct conn *oldest; /* that has not said who it is; the newest is never that */
};

/* host: of that address only; NULL: all */
static struct crowd crowd_of(const struct peer_tls *tls, const struct conn *newest,
	const char *host)
{
	struct crowd ret = { 0 };

	for (struct conn *c = tls->conns; c; c = c->next) {
		if (c->dialer || (host && !streq(c->host, host)))
			continue;
		ret.n++;
		if (!c->authenticated && c != newest)
			ret.oldest = c; /* the list begins with the newest */
	}
	return ret;
}

/* A peer needs a moment to say who it is: who takes longer makes room, lest a few that say nothing
 * keep all others out. */
static bool make_room(struct peer_tls *tls, const struct crowd *crowd, unsigned most,
	const char *why)
{
	if (crowd->n <= most)
		return true;
	if (!crowd->oldest)
		return false;
	tls_stranger(tls, crowd->oldest->address, why);
	conn_close(crowd->oldest);
	return true;
}

/* Why a newcomer, which is among the connections already, is not let in, or NULL. */
static const char *refusal(struct peer_tls *tls, const struct conn *c)
{
	static const char all[] = "too many connections are open",
			  same[] = "that address has too many connections open";
	const struct peer_limits *limits = &tls->options.limits;
	struct crowd crowd = crowd_of(tls, c, c->host);

	if (!make_room(tls, &crowd, limits->per_address, same))
		return same;
	crowd = crowd_of(tls, c, NULL);
	return make_room(tls, &crowd, limits->total, all) ? NULL : all;
}

static void admit(struct peer_tls *tls, int fd)
{
	struct conn *c = conn_new(tls, fd, NULL);
	const char *why;
	struct err err;

	if (!c)
		return;
	why = refusal(tls, c);
	if (!why && !credentials_get(tls, &err))
		why = err.msg;
	if (why) {
		tls_stranger(tls, c->address, why);
		conn_close(c);
		return;
	}
	conn_watch(c);
}

/* Out of descriptors: answer by closing, else the socket stays readable and the loop spins. */
static void shed(struct peer_tls *tls)
{
	int fd;

	close(tls->spare_fd);
	fd = accept4(tls->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	tls->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_listener(uv_poll_t *poll, int status, int events)
{
	struct peer_tls *tls = poll->data;

	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPTS_A_TURN; i++) {
		int fd = accept4(tls->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			admit(tls, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE)
			shed(tls);
		if (errno != EINTR && errno != ECONNABORTED)
			return;
	}
}

/* ---- listening ------------------------------------------------------------------------------- */

static int listen_at(const struct addrinfo *at)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, off = 0, saved;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at->ai_family == AF_INET6) /* "::" is for IPv4, too */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static unsigned port_of(int fd)
{
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof(at);
	char port[8] = "0";

	if (getsockname(fd, (struct sockaddr *)&at, &len) == 0)
		getnameinfo((struct sockaddr *)&at, len, NULL, 0, port, sizeof(port),
			NI_NUMERICSERV);
	return (unsigned)strtoul(port, NULL, 10);
}

static int open_listener(struct peer_tls *tls, struct err *err)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *at = NULL;
	struct address address;
	char port[16];

	if (!address_parse(tls->options.listen, &address))
		return err_set(err, ERR_INVALID, "'%s' is no address to listen at",
			tls->options.listen);
	snprintf(port, sizeof(port), "%u", address.port);
	if (getaddrinfo(address.host, port, &hints, &at) != 0)
		return err_set(err, ERR_INVALID, "'%s' is no numeric address to listen at",
			tls->options.listen);
	tls->listen_fd = listen_at(at);
	if (tls->listen_fd < 0 && errno == EAFNOSUPPORT && streq(address.host, "::")) {
		freeaddrinfo(at); /* a host without IPv6 */
		if (getaddrinfo("0.0.0.0", port, &hints, &at) != 0)
			return err_set(err, ERR_IO, "cannot listen for peers");
		tls->listen_fd = listen_at(at);
	}
	freeaddrinfo(at);
	if (tls->listen_fd < 0)
		return err_set(err, ERR_IO, "cannot listen for peers at '%s': %s",
			tls->options.listen, strerror(errno));
	tls->listen_port = port_of(tls->listen_fd);
	return 0;
}

void peer_tls_identify(struct peer_tls *tls, const char *host_uuid)
{
	copy_str(tls->options.hello.host_uuid, UID_SIZE, host_uuid);
}

/* ---- the port -------------------------------------------------------------------------------- */

static void publish(struct peer_port *port, const struct peer_status *status)
{
	struct peer_tls *tls = (struct peer_tls *)port;
	struct peer_message message = { .kind = PEER_MESSAGE_STATUS, .status = *status };

	tls->options.hello.status = *status;
	for (struct conn *c = tls->conns; c; c = c->next) {
		if (c->stage != CONN_OPEN)
			continue;
		conn_say(c, &message);
		conn_watch(c);
	}
}

static struct conn *conn_of(const struct peer_tls *tls, const char *name)
{
	for (size_t i = 0; i < tls->options.n_peers; i++) {
		if (streq(tls->peers[i].config->name, name))
			return tls->peers[i].conn;
	}
	return NULL;
}

/* Dropped where it cannot be understood, or while too much waits: it will be said again. */
static void send_handover(struct peer_port *port, const char *name, const struct handover *handover)
{
	struct conn *c = conn_of((struct peer_tls *)port, name);
	size_t before = c ? c->out.len : 0;
	struct peer_message message = {
		.kind = PEER_MESSAGE_HANDOVER + (int)handover->kind,
		.handover = *handover,
	};

	if (!c || c->theirs.version < PEER_HANDOVER_VERSION ||
		c->out.len - c->out_sent > PEER_OUT_MAX)
		return;
	conn_say(c, &message);
	c->out_handovers += c->out.len - before;
	conn_watch(c);
}

static const struct peer_port_ops port_ops = { .publish = publish, .send = send_handover };

/* ---- life ------------------------------------------------------------------------------------ */

static void set_defaults(struct peer_limits *limits)
{
#define DEFAULT(field, value) limits->field = limits->field ? limits->field : (value)
	DEFAULT(handshake, HANDSHAKE_MS);
	DEFAULT(ping, PING_MS);
	DEFAULT(idle, IDLE_MS);
	DEFAULT(dial_first, DIAL_FIRST_MS);
	DEFAULT(dial_max, DIAL_MAX_MS);
	DEFAULT(check, CHECK_MS);
	DEFAULT(per_address, PER_ADDRESS);
	DEFAULT(total, CONNS_MAX);
	DEFAULT(unauthenticated, UNAUTHENTICATED);
#undef DEFAULT
}

static void on_check(uv_timer_t *timer)
{
	struct peer_tls *tls = timer->data;
	struct err err;

	credentials_get(tls, &err);
	credentials_report(tls);
}

static void start(struct peer_tls *tls)
{
	uint64_t check = (uint64_t)tls->options.limits.check;

	tls->listener.data = tls->check.data = tls;
	uv_timer_init(tls->options.loop, &tls->check);
	uv_poll_init(tls->options.loop, &tls->listener, tls->listen_fd);
	tls->handles = 2;
	uv_poll_start(&tls->listener, UV_READABLE, on_listener);
	uv_timer_start(&tls->check, on_check, 0, check);
}

int peer_tls_new(const struct peer_tls_options *options, struct peer_tls **ret, struct err *err)
{
	struct peer_tls *tls = xcalloc(1, sizeof(*tls));
	int rc;

	tls->port.ops = &port_ops;
	tls->port.sink = options->sink;
	tls->options = *options;
	set_defaults(&tls->options.limits);
	rc = open_listener(tls, err);
	if (rc < 0) {
		free(tls);
		return rc;
	}
	tls->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	start(tls);
	rc = dials_init(tls, err);
	if (rc < 0)
		peer_tls_free(tls);
	else
		*ret = tls;
	return rc;
}

struct peer_port *peer_tls_port(struct peer_tls *tls)
{
	return &tls->port;
}

unsigned peer_tls_listens_at(const struct peer_tls *tls)
{
	return tls->listen_port;
}

void tls_handle_closed(uv_handle_t *handle)
{
	struct peer_tls *tls = handle->data;

	if (--tls->handles || !tls->closing)
		return;
	credentials_sweep(tls);
	free(tls->peers);
	free(tls);
}

void peer_tls_free(struct peer_tls *tls)
{
	if (!tls)
		return;
	tls->closing = true;
	tls->handles++; /* ours, until the end of this function */
	for (struct conn *c = tls->conns, *next; c; c = next) {
		next = c->next;
		conn_close(c);
	}
	dials_close(tls);
	uv_close((uv_handle_t *)&tls->check, tls_handle_closed);
	uv_close((uv_handle_t *)&tls->listener, tls_handle_closed);
	close(tls->listen_fd);
	close(tls->spare_fd);
	tls->handles--;
}
