/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server on unix sockets: libmicrohttpd driven by libuv, without a thread of its own and
 * without a wake-up while nothing happens. It knows nothing of what it serves.
 *
 * A request is named by an id, which stays valid, and simply finds nothing any more, after the
 * client has left: whoever answers later keeps the id, never a pointer. All of it belongs to the
 * loop's thread. Answers may be given from within the callbacks or at any time later; what they
 * cause is sent from the loop, never from within the call.
 */
#ifndef VMAGENT_IO_HTTP_H
#define VMAGENT_IO_HTTP_H

#include <vmagent/err.h>
#include <uv.h>

/* Of each kind of socket apart: who crowds the read-only one is in nobody's way on the other. */
#define HTTP_CONNECTIONS_MAX   2048 /* open connections, all users together */
#define HTTP_PER_UID_MAX       1280 /* open connections of one user */
#define HTTP_ROOT_SLOTS        32   /* of the total, kept for uid 0 */
#define HTTP_READ_ONLY_MAX     256  /* the same on a read-only socket */
#define HTTP_READ_ONLY_PER_UID 128
#define HTTP_READ_ONLY_ROOT    8
#define HTTP_DESCRIPTORS_KEPT  128 /* of the process's, for all else; root may have half of them */
#define HTTP_SOCKET_MODE       0660

#define HTTP_BODY_MAX    (1024 * 1024) /* bytes of a request's body */
#define HTTP_HEADERS_MAX (36 * 1024)   /* bytes of a request's line and headers (MHD's pool) */
#define HTTP_IDLE_S      60            /* without a byte moving, unless we are the one to move */
#define HTTP_REQUEST_S   90 /* from the connection's being free until a whole request is there */

/* Bytes kept for all clients together, to come in or to go out. Then newcomers wait in a line, and
 * who has not moved for so long makes room for them: its connection is closed. */
#define HTTP_HELD_MAX   (64 * 1024 * 1024)
#define HTTP_STALLED_MS 2000

struct http;

struct http_options { /* zero takes the default above */
	unsigned connections_max, per_uid_max, root_slots;
	unsigned read_only_max, read_only_per_uid, read_only_root;
	size_t body_max, held_max;
	unsigned idle_s, request_s, stalled_ms;
};

struct http_request {       /* borrowed for the call */
	const char *method; /* "GET" */
	const char *path;   /* unescaped, without the query */
	const char *body;   /* NUL-terminated; "" when there is none */
	size_t body_len;
	int64_t uid;    /* of the calling process */
	bool read_only; /* it came in by a socket that is for reading */
	/* The body was not read: TOO_LARGE, or UNAVAILABLE for lack of room. */
	enum err_code refuse;
};

/* Called on the loop's thread. */
struct http_handler {
	void *ctx;
	/* A request is complete. It is answered now or later by one of http_respond(),
	 * http_stream() and http_upgrade(). */
	void (*request)(void *ctx, uint64_t id, const struct http_request *request);
	/* A stream can take more, to be given by http_stream_write() from within this call. If
	 * nothing is, it sleeps until http_stream_wake(). */
	void (*fill)(void *ctx, uint64_t id);
	/* The connection speaks another protocol from now on: fd is non-blocking and stays
	 * owned by the server; extra is what the client had sent already. */
	void (*upgraded)(void *ctx, uint64_t id, int fd, const void *extra, size_t len);
	/* It is over, completed or because the client left. The id is valid for the last time,
	 * and only for http_attached(). */
	void (*gone)(void *ctx, uint64_t id);
};

/* handler is copied. Errors: ERR_INTERNAL. */
int http_new(uv_loop_t *loop, const struct http_options *options,
	const struct http_handler *handler, struct http **ret_http, struct err *err);

struct http_socket { /* borrowed for the call */
	const char *path;
	unsigned mode;     /* 0: HTTP_SOCKET_MODE */
	const char *group; /* it is given to, if there is such a group; NULL: to none */
	bool group_must_exist;
	/* Its requests say so; the server makes no other difference than the bounds. */
	bool read_only;
};

/*
 * Listens on a socket, beside those that it listens on already. A socket file that nobody
 * answers on is replaced; a live one is refused with ERR_CONFLICT. Errors: ERR_INVALID
 * (no such group), ERR_IO.
 */
int http_listen(struct http *http, const struct http_socket *socket, struct err *err);

/* Ends every request (handler.gone is called for each) and removes the socket files that are still
 * ours. The memory goes when the loop has run the close callbacks. NULL is fine. */
void http_free(struct http *http);

/* Of the request that is just being handled; NULL when it is not there. A parameter without a
 * value ("?watch") is "". */
const char *http_query(const struct http_request *request, const char *name);
const char *http_header(const struct http_request *request, const char *name);

/* Calls back for each value of a parameter that may repeat. */
void http_query_each(const struct http_request *request, const char *name,
	void (*cb)(void *ctx, const char *value), void *ctx);

struct http_field {
	const char *name, *value;
};

#define HTTP_FIELDS_MAX 6

/* What an answer opens with; all borrowed. */
struct http_head {
	unsigned status;
	struct http_field fields[HTTP_FIELDS_MAX]; /* ends with a NULL name unless full */
};

/* Answers with body, which it takes over from the caller (malloc'd; NULL when len is 0). */
void http_respond(struct http *http, uint64_t id, const struct http_head *head, char *body,
	size_t len);

/* Answers with a body that comes in pieces, when handler.fill is called. */
void http_stream(struct http *http, uint64_t id, const struct http_head *head);
void http_stream_write(struct http *http, uint64_t id, const void *data, size_t len);
void http_stream_wake(struct http *http, uint64_t id); /* there is something to fill in again */
void http_stream_end(struct http *http, uint64_t id);  /* after what was written */

/* Answers 101 (which head need not say) and hands the connection over by handler.upgraded. */
void http_upgrade(struct http *http, uint64_t id, const struct http_head *head);
void http_upgrade_close(struct http *http, uint64_t id);

/* A pointer of the handler's that stays with the request until after handler.gone; NULL at first
 * and when the request is not there. */
void http_attach(struct http *http, uint64_t id, void *data);
void *http_attached(struct http *http, uint64_t id);

/* How many bytes are kept for clients, and how many connections are open; for
 * limits, tests and metrics. */
size_t http_held(const struct http *http);
unsigned http_connections(const struct http *http);

#endif
