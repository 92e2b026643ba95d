/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the adapter share. peer_tls.c: its life, the listener; peer_tls_dial.c: the way
 * to a peer; peer_tls_conn.c: one connection, from its first byte to its end; peer_tls_talk.c: what
 * is said on it; peer_tls_cert.c: certificates.
 */
#ifndef VMAGENT_IO_PEER_TLS_PRIVATE_H
#define VMAGENT_IO_PEER_TLS_PRIVATE_H

#include <gnutls/gnutls.h>

#include "core/address.h"
#include "core/peer_frame.h"
#include "io/peer_tls.h"

#define PEER_ADDRESS_SIZE 64    /* numeric, with its port */
#define PEER_OUT_MAX      65536 /* bytes that a peer may leave unread, beside handovers */

enum conn_stage {
	CONN_CONNECT,   /* dialer: TCP is on its way */
	CONN_PREFACE,   /* in plain text */
	CONN_HANDSHAKE, /* TLS */
	CONN_OPENING,   /* authenticated; HELLO, WELCOME */
	CONN_OPEN,
	CONN_DRAIN, /* the last words are on their way */
	CONN_GONE   /* its handles are closing */
};

struct conn {
	struct peer_tls *tls;
	struct conn *next, **self; /* of tls->conns */
	enum conn_stage stage;
	bool dialer;       /* we are */
	struct peer *peer; /* borrowed; the listener knows it from the certificate on */
	bool superseded;   /* the peer has another connection */
	char address[PEER_ADDRESS_SIZE]; /* of the other end */
	char host[PEER_ADDRESS_SIZE];    /* without its port */
	int fd;
	uv_poll_t poll;
	uv_timer_t timer; /* until OPEN and while DRAIN: the end; while OPEN: the next PING */
	unsigned handles; /* of those two, that are open */
	gnutls_session_t session;
	struct credentials *credentials; /* borrowed from tls */
	bool authenticated;
	size_t raw_in; /* bytes that were read off the socket before that */
	uint8_t preface[PEER_STREAM_PREFACE_SIZE];
	size_t preface_done;
	struct buf in, out; /* owned: frames */
	size_t out_sent;
	size_t out_handovers; /* bytes of it that are these: they may be large */
	bool quiet;           /* the other side has ended it, and needs no words */
	bool bye;             /* DRAIN: all words are out, and the TLS end mark */
	msec expires;         /* wall time: the peer's certificate */
	struct peer_hello theirs;
	msec heard; /* boot time of the last word */
	uint64_t ping_id;
	msec ping_sent; /* boot time */
};

struct peer { /* one that is configured */
	struct peer_tls *tls;
	const struct peer_config *config; /* borrowed */
	struct address address;
	struct conn *conn;    /* borrowed: OPEN, and the one that is used; NULL: unreachable */
	struct conn *dialing; /* borrowed: on the way to OPEN */
	uv_timer_t timer;     /* of the next dial */
	uv_getaddrinfo_t lookup;
	bool looking_up;
	bool reached;      /* by a dial of ours, since it was up */
	bool one_way;      /* … and that was told not to be so */
	unsigned failures; /* to dial, in a row */
};

struct credentials { /* what the certificate files held */
	struct credentials *next;
	gnutls_certificate_credentials_t gnutls;
	msec expires; /* wall time */
};

struct peer_tls {
	struct peer_port port; /* first */
	struct peer_tls_options options;
	struct peer *peers; /* owned */
	struct conn *conns; /* owned */
	unsigned n_conns;
	int listen_fd, spare_fd;
	unsigned listen_port;
	uv_poll_t listener;
	uv_timer_t check;
	/* Owned: the newest first; older ones while a connection uses them. */
	struct credentials *credentials;
	struct err credentials_err; /* why the files as they are now cannot be used */
	char stamp[256];            /* of the files when they were last read */
	unsigned reports;           /* of strangers, … */
	msec reports_since;         /* … since then (boot time) */
	unsigned handles;           /* that are open */
	bool closing;
};

/* Of peer_tls's and peers' own handles: data is peer_tls. */
void tls_handle_closed(uv_handle_t *handle);
void tls_stranger(struct peer_tls *tls, const char *address, const char *why);
void tls_event(struct peer_tls *tls, const struct peer_event *event);

/* peer_tls_cert.c */
/* Reads the files if they have changed; ret: what is to be used for a new connection,
 * or NULL with words. */
struct credentials *credentials_get(struct peer_tls *tls, struct err *err);
void credentials_sweep(struct peer_tls *tls); /* frees what nobody uses any more */
void credentials_report(struct peer_tls *tls);
/* Judges the certificate that c's peer has shown, and sets c->peer and c->expires by it.
 * ERR_FORBIDDEN. */
int conn_verify(struct conn *c, struct err *err);

/* peer_tls_dial.c */
int dials_init(struct peer_tls *tls, struct err *err);
void dials_close(struct peer_tls *tls);
void peer_dial_after(struct peer *peer, msec delay);
void peer_reached(struct peer *peer);                 /* a dial of ours has led to a connection */
void peer_failed(struct peer *peer, const char *why); /* to be reached; it is tried again later */

/* peer_tls_conn.c */
struct conn *conn_new(struct peer_tls *tls, int fd, struct peer *dialed);
void conn_drive(struct conn *c); /* does what can be done without waiting */
void conn_watch(struct conn *c);
void conn_close(struct conn *c); /* at once */
/* The end, for that reason: the other side is told where that is possible, and whoever
 * waits for it here. */
void conn_end(struct conn *c, const char *why);

/* peer_tls_talk.c; what returns something: 0, or <0 with words for the end of the connection */
void conn_greet(struct conn *c);                /* the certificate is good */
int conn_hear(struct conn *c, struct err *err); /* takes the whole frames of c->in */
int conn_tick(struct conn *c, struct err *err); /* the PING timer */
void conn_say(struct conn *c, const struct peer_message *message);
void conn_lost(struct conn *c, const char *why); /* an OPEN one has ended */

#endif
