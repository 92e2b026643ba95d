/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the HTTP adapter share. A connection (conn) lives from accept to close; on it
 * one request after the other (exchange) comes and goes.
 */
#ifndef VMAGENT_IO_HTTP_PRIVATE_H
#define VMAGENT_IO_HTTP_PRIVATE_H

#include <microhttpd.h>

#include "io/http.h"

enum exchange_state {
	EXCHANGE_READING,  /* its body comes in */
	EXCHANGE_ASKED,    /* the handler is being called */
	EXCHANGE_WAITING,  /* suspended until the handler answers */
	EXCHANGE_ANSWERED, /* the response is ready, or is being sent */
	EXCHANGE_UPGRADED  /* the connection was handed over */
};

#define NOT_DUE UINT64_MAX

struct bounds { /* of the connections of one kind of socket */
	unsigned total, per_uid, root;
};

struct listener {
	struct http *http; /* borrowed */
	struct bounds bounds;
	bool read_only;
	uv_poll_t poll;
	int fd;
	char *path; /* owned */
	dev_t path_dev;
	ino_t path_ino;
	unsigned n_conns;
	struct listener *next; /* owned */
};

struct conn {
	struct http *http;         /* borrowed */
	struct listener *listener; /* borrowed; it outlives its connections */
	int fd;                    /* MHD's */
	int64_t uid;
	uint64_t due;        /* a whole request, by the loop's clock; NOT_DUE: none is awaited */
	uv_poll_t departure; /* active while suspended: MHD does not look at it then */
	struct exchange *exchange; /* borrowed; the present one, or NULL */
	struct conn *next;
	struct conn **self; /* where the list points at us */
};

struct exchange {
	struct http_request request; /* first: the public view of it; its strings are owned */
	uint64_t id;
	struct http *http;          /* borrowed */
	struct conn *conn;          /* borrowed */
	struct MHD_Connection *mhd; /* borrowed */
	enum exchange_state state;
	bool suspended;
	bool departed; /* the client has left */
	struct buf body;
	size_t held;                /* bytes that are kept for it, see http_room.c */
	uint64_t moved;             /* when they last became more or fewer, by the loop's clock */
	uint64_t late;              /* that, when it was too long ago for the first time */
	bool waits;                 /* for room, in http's line */
	struct exchange *line_next; /* borrowed */
	char *answer;               /* owned: a large one, of answer_len bytes */
	size_t answer_len;
	struct MHD_Response *response; /* owned; ready to be queued */
	unsigned status;
	bool streaming;
	struct buf out; /* a stream's bytes not yet taken by MHD */
	size_t out_at;
	bool ended;
	struct MHD_UpgradeResponseHandle *upgrade; /* MHD's */
	void *data;                                /* the handler's */
};

struct http {
	uv_loop_t *loop;
	struct http_options options;
	struct http_handler handler;
	struct MHD_Daemon *daemon; /* owned */
	uv_poll_t epoll;           /* MHD's own epoll descriptor */
	uv_timer_t timer;          /* MHD's time-outs, and "run soon" */
	uv_timer_t lateness;       /* active while a request is awaited */
	uv_timer_t look;           /* active while there is no room */
	size_t held;               /* of all exchanges */
	struct exchange *line;     /* borrowed; who waits for room, in order */
	/* Borrowed; the one that was let in last, until it has been served. */
	struct exchange *admitted;
	unsigned n_awaited;         /* connections that are due */
	struct listener *listeners; /* owned */
	int spare_fd;               /* given up for a moment when descriptors run out */
	struct conn *conns;         /* owned by their close callback */
	unsigned n_conns;
	struct conn *arriving;   /* between accept and MHD's notification */
	struct exchange **slots; /* owned */
	unsigned n_slots;
	unsigned next_slot;
	uint64_t sequence;
	bool kicked;
	bool closing;
	unsigned open_handles;
};

/* http.c */
void http_kick(struct http *http); /* MHD runs in the loop's next round */
void http_handle_closed(uv_handle_t *handle);

/* http_socket.c: fd and path of l. */
int socket_open(struct listener *l, const struct http_socket *how, struct err *err);
void socket_close(struct listener *l);

/* http_listen.c */
void http_unlisten(struct http *http);
void conn_notify(void *cls, struct MHD_Connection *mhd, void **context,
	enum MHD_ConnectionNotificationCode code);

void conn_await(struct conn *c); /* a request, from now on */
void conn_arrived(struct conn *c);
void conn_is_late(uv_timer_t *timer);

/* http_room.c */
void room_take(struct exchange *x, size_t n);
void room_give(struct exchange *x, size_t n);
/* Before something is made that takes room. True: x is suspended now, and comes again. */
bool room_wait(struct exchange *x);
bool room_is_full(const struct http *http);
void room_served(struct exchange *x); /* … it has been made */
void room_serve(struct http *http);
void room_forget(struct exchange *x);

/* http_exchange.c */
struct exchange *exchange_find(struct http *http, uint64_t id);
void exchange_resume(struct exchange *x);
void exchange_suspend(struct exchange *x);
void exchange_answer(struct exchange *x, const struct http_head *head);
enum MHD_Result exchange_access(void *cls, struct MHD_Connection *mhd, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_size,
	void **context);
void exchange_completed(void *cls, struct MHD_Connection *mhd, void **context,
	enum MHD_RequestTerminationCode why);

#endif
