/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port to other agents over TCP and mutual TLS (GnuTLS), driven by the loop and without a
 * thread of its own. It listens, dials every configured peer with back-off, and keeps one
 * connection with each: whoever got through first; of two, the one that the node with the lesser
 * name dialed. A node that has no configured peer's certificate is told so, reported, and heard no
 * further. Loop thread only.
 */
#ifndef VMAGENT_IO_PEER_TLS_H
#define VMAGENT_IO_PEER_TLS_H

#include <uv.h>

#include <vmagent/err.h>
#include <vmagent/peer.h>

struct peer_tls;

struct peer_limits {            /* zero in a field: its default */
	msec handshake;         /* from the connection to the greeting's end */
	msec ping;              /* between two PINGs */
	msec idle;              /* without a word: the peer is gone */
	msec dial_first;        /* back-off of dialing: doubles from here … */
	msec dial_max;          /* … to here */
	msec check;             /* how often the certificate files are looked at, at least */
	unsigned per_address;   /* connections that one address may have open to us, … */
	unsigned total;         /* … and all of them */
	size_t unauthenticated; /* bytes that are read before the certificate has come */
};

struct peer_tls_options { /* copied; what it points at is borrowed for the adapter's life */
	uv_loop_t *loop;
	const char *listen; /* as address_parse() reads it */
	const struct peer_config *peers;
	size_t n_peers;
	const char *ca, *cert, *key; /* PEM files */
	const char *migrations;      /* where relays have their folders; NULL: there are none */
	struct peer_hello hello;     /* of this node; status as it is at the start */
	struct now (*clock)(void);
	struct peer_sink sink;
	struct peer_limits limits;
};

/* Listens at once; certificates that cannot be read are reported by PEER_SELF and read when they
 * change. Errors: ERR_IO, ERR_INVALID. */
int peer_tls_new(const struct peer_tls_options *options, struct peer_tls **ret, struct err *err);
struct peer_port *peer_tls_port(struct peer_tls *tls);
unsigned peer_tls_listens_at(const struct peer_tls *tls); /* the port */

/* What this host is called, once it is known: those that are greeted from then on are told. */
void peer_tls_identify(struct peer_tls *tls, const char *host_uuid);

/* Ends every connection; the loop must run once more for the close callbacks. NULL is fine. */
void peer_tls_free(struct peer_tls *tls);

#endif
