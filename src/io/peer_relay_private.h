/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the relay share. peer_relay.c: its life and its main thread;
 * peer_relay_control.c: the agent's questions; peer_relay_stream.c: one connection from its
 * begin to its end, on a thread of its own; peer_relay_pump.c: bytes from here to there, and
 * which frames wait; peer_relay_link.c: the way between the hosts; peer_relay_ask.c: the agent's
 * end of the control socket.
 */
#ifndef VMAGENT_IO_PEER_RELAY_PRIVATE_H
#define VMAGENT_IO_PEER_RELAY_PRIVATE_H

#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/relay_config.h"
#include "core/relay_rules.h"
#include "io/peer_relay.h"

#define RELAY_STREAMS_MAX  64
#define RELAY_GREETERS_MAX 16 /* streams that have not shown the token yet */
#define RELAY_CONTROLS_MAX 8
#define RELAY_SOCKET       "control"

struct link {                     /* a connection: TLS or plain */
	int fd;                   /* -1: none */
	gnutls_session_t session; /* owned or NULL */
	bool again;               /* a record is half sent */
};

struct flow { /* bytes in one direction */
	struct link *from, *to;
	struct buf in;  /* RPC: a frame that is not complete */
	struct buf out; /* to be sent, … */
	size_t sent;    /* … of that, was */
	bool eof;
	_Atomic uint64_t *count;
};

struct stream {
	struct relay *relay;
	struct stream *next; /* of relay->streams */
	enum relay_channel channel;
	unsigned number; /* of its channel's */
	struct link local, remote;
	struct flow forth, back; /* to the target, and from it */
	struct relay_talk talk;
	struct buf held;      /* the frame that waits, … */
	struct flow *held_in; /* … in this direction */
	int wake;             /* an eventfd: look at what follows */
	atomic_bool cut, release;
	atomic_bool ended; /* its thread is about to return */
	int greets;        /* the connection on which it finds out who is there, or -1; … */
	msec greets_since; /* … boot time; both under the relay's lock */
	pthread_t thread;
};

struct relay {
	struct relay_config config;
	const char *folder;         /* borrowed */
	struct xml_facts *facts;    /* owned; target */
	char *data_uri, *disks_uri; /* owned */
	struct relay_rules rules;
	gnutls_certificate_credentials_t credentials;
	int changed;                      /* an eventfd: a stream has something to tell */
	int listeners[RELAY_CHANNEL_MAX]; /* source; -1: none */
	int control_fd, controls[RELAY_CONTROLS_MAX]; /* -1: none */
	bool watches[RELAY_CONTROLS_MAX];
	bool ending;
	struct stream *streams; /* owned; of the main thread alone */
	_Atomic uint64_t opened[RELAY_CHANNEL_MAX], sent[RELAY_CHANNEL_MAX],
		received[RELAY_CHANNEL_MAX];
	unsigned begun[RELAY_CHANNEL_MAX]; /* streams; of the main thread */
	pthread_cond_t next;
	pthread_mutex_t lock;             /* of what follows */
	const struct stream *rpc;         /* borrowed or NULL: the one that is libvirt's */
	unsigned turn[RELAY_CHANNEL_MAX]; /* the stream that may dial now */
	enum relay_hold hold;
	enum relay_finish finish;
	int waiter;   /* libvirtd's end, while its answer is held; -1: none */
	msec held_at; /* boot time since which it is */
	msec pinged;  /* boot time of libvirtd's first keepalive that was not answered; 0: none */
	uint64_t refused;
	char why[RELAY_WHY_SIZE];
};

/* Any thread: something is to be told to those who watch. */
void relay_changed(struct relay *relay);
void relay_set_finish(struct relay *relay, enum relay_finish finish);
/* Any thread: ERR_CONFLICT unless a good answer is held here, and this host's libvirtd
 * still waits for it. */
int relay_vouch(struct relay *relay, struct err *err);
msec relay_now(void); /* boot time */
/* Says it in the log and keeps it for the status; refused: somebody wanted what must not be. */
void relay_complain(struct relay *relay, const struct stream *s, bool refused, const char *words);

/* Main thread. fd becomes the stream's: the local end at the source, the other
 * host's at the target. */
int stream_start(struct relay *relay, enum relay_channel channel, int fd, struct err *err);
void stream_poke(struct stream *s);
void stream_cut(struct stream *s);
/* Ends the greetings that take too long; whether any is left. */
bool streams_hurry(struct relay *relay);
/* Joins those that have ended, or, with all, every one. */
void streams_sweep(struct relay *relay, bool all);

/* Its own thread: from here on until stream_greeted() the main thread may end the connection. */
void stream_greets(struct stream *s, int fd);
void stream_greeted(struct stream *s);
/* Its own thread: the other side is the one that it should be. ERR_CONFLICT: libvirt's
 * RPC has its stream. */
int stream_let_in(struct stream *s, struct err *err);

/* peer_relay_control.c; main thread */
void control_hear(struct relay *relay, unsigned i); /* a packet waits there, or its end */
void control_tell(struct relay *relay);             /* those who watch */

/* peer_relay_pump.c: until the end; 0: a good one. ERR_FORBIDDEN for a frame that must not pass. */
int stream_pump(struct stream *s, struct err *err);

/* peer_relay_link.c */
/* >0: bytes; 0: the other side has ended it; -1: errno, EAGAIN for later */
ssize_t link_read(struct link *link, void *data, size_t len);
ssize_t link_write(struct link *link, const void *data, size_t len);
bool link_has_more(const struct link *link); /* read already, and not seen by poll() */
void link_close(struct link *link);
/* No more will be sent; waits a little for the other side's end. */
void link_bye(struct link *link, bool wait);
/* One attempt at the remote link: ERR_UNAVAILABLE may be better later, ERR_FORBIDDEN not. It is
 * ready for the pump. */
int link_dial(struct stream *s, struct err *err);
/* The target's end of it; the local link, to that path, is made when the other side has shown who
 * it is, before it is let in. */
int link_accept(struct stream *s, const char *path, struct err *err);

#endif
