/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to each peer: its name is looked up, its addresses are tried one after the other, and
 * after a failure there is a pause that doubles. Who has reached us is dialed all the same, until
 * that has worked once: a guest that is to move there needs this way.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/peer_tls_private.h"

static void on_dial(uv_timer_t *timer);

void peer_dial_after(struct peer *peer, msec delay)
{
	uv_timer_start(&peer->timer, on_dial, (uint64_t)delay, 0);
}

/* It has a connection with us, and does not need another one to be heard. */
static void tell_one_way(struct peer *peer, const char *why)
{
	if (!why && !peer->one_way)
		return;
	peer->one_way = why != NULL;
	tls_event(peer->tls,
		&(struct peer_event){ .kind = PEER_ONE_WAY,
			.name = peer->config->name,
			.why = why });
}

void peer_reached(struct peer *peer)
{
	peer->reached = true;
	tell_one_way(peer, NULL);
}

void peer_failed(struct peer *peer, const char *why)
{
	const struct peer_limits *limits = &peer->tls->options.limits;
	msec delay = limits->dial_first;

	if ((peer->conn && peer->reached) || peer->tls->closing)
		return;
	if (peer->conn) {
		peer->failures++;
		peer_dial_after(peer, limits->dial_max);
		tell_one_way(peer, why);
		return;
	}
	peer->reached = peer->one_way = false;
	for (unsigned i = 0; i < peer->failures && delay < limits->dial_max; i++)
		delay *= 2;
	peer->failures++;
	peer_dial_after(peer, MIN(delay, limits->dial_max));
	tls_event(peer->tls,
		&(struct peer_event){ .kind = PEER_DOWN, .name = peer->config->name, .why = why });
}

static void failed(struct peer *peer, const char *what, const char *why)
{
	struct err err;

	err_set(&err, ERR_UNAVAILABLE, "%s: %s", what, why);
	peer_failed(peer, err.msg);
}

static void dial(struct peer *peer, const struct addrinfo *at)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || (connect(fd, at->ai_addr, at->ai_addrlen) < 0 && errno != EINPROGRESS)) {
		failed(peer, "cannot connect", strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	peer->dialing = conn_new(peer->tls, fd, peer);
	if (peer->dialing)
		conn_watch(peer->dialing);
	else
		failed(peer, "cannot connect", "out of descriptors");
}

static void on_lookup(uv_getaddrinfo_t *request, int status, struct addrinfo *list)
{
	struct peer *peer = request->data;
	const struct addrinfo *at = list;
	unsigned n = 0;

	peer->looking_up = false;
	for (const struct addrinfo *a = list; a; a = a->ai_next)
		n++;
	for (unsigned i = 0; n && i < peer->failures % n; i++)
		at = at->ai_next;
	if (!peer->tls->closing && !(peer->conn && peer->reached)) {
		if (status < 0 || !at)
			failed(peer, "cannot look up its address", uv_strerror(status));
		else
			dial(peer, at);
	}
	uv_freeaddrinfo(list);
	tls_handle_closed((uv_handle_t *)&peer->timer); /* the request counts as a handle */
}

static void on_dial(uv_timer_t *timer)
{
	struct peer *peer = (struct peer *)((char *)timer - offsetof(struct peer, timer));
	struct peer_tls *tls = peer->tls;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct err err;
	char port[16];
	int rc;

	if ((peer->conn && peer->reached) || peer->dialing || peer->looking_up)
		return;
	if (!credentials_get(tls, &err)) {
		peer_failed(peer, err.msg);
		return;
	}
	snprintf(port, sizeof(port), "%u", peer->address.port);
	peer->lookup.data = peer;
	rc = uv_getaddrinfo(tls->options.loop, &peer->lookup, on_lookup, peer->address.host, port,
		&hints);
	if (rc < 0) {
		failed(peer, "cannot look up its address", uv_strerror(rc));
		return;
	}
	peer->looking_up = true;
	tls->handles++;
}

int dials_init(struct peer_tls *tls, struct err *err)
{
	const struct peer_tls_options *o = &tls->options;

	tls->peers = xcalloc(o->n_peers, sizeof(*tls->peers));
	for (size_t i = 0; i < o->n_peers; i++) {
		if (!address_parse(o->peers[i].address, &tls->peers[i].address))
			return err_set(err, ERR_INVALID, "peer '%s': '%s' is no address",
				o->peers[i].name, o->peers[i].address);
	}
	for (size_t i = 0; i < o->n_peers; i++) {
		struct peer *peer = &tls->peers[i];

		peer->tls = tls;
		peer->config = &o->peers[i];
		peer->timer.data = tls;
		uv_timer_init(o->loop, &peer->timer);
		tls->handles++;
		peer_dial_after(peer, 0);
	}
	return 0;
}

void dials_close(struct peer_tls *tls)
{
	for (size_t i = 0; i < tls->options.n_peers; i++) {
		struct peer *peer = &tls->peers[i];

		if (!peer->tls)
			continue; /* it was not begun with */
		if (peer->looking_up)
			uv_cancel((uv_req_t *)&peer->lookup);
		uv_close((uv_handle_t *)&peer->timer, tls_handle_closed);
	}
}
