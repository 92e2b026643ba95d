/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP/1.1 client over a unix socket: one request per connection, its answer in pieces.
 *
 * It is written out here because libcurl brings some thirty libraries, whose loading takes longer
 * than everything vmactl does; over a unix socket none of TLS, proxies, names or redirects exists.
 */
#ifndef VMAGENT_CLI_HTTP_H
#define VMAGENT_CLI_HTTP_H

#include <vmagent/err.h>

#define HTTP_HEAD_MAX (64 * 1024) /* bytes of a status line with its headers */

enum http_framing {
	HTTP_ENDED, /* nothing (more) to read */
	HTTP_LENGTH,
	HTTP_CHUNKED,
	HTTP_UNTIL_CLOSE
};

struct http {   /* zero-initialise with fd -1 */
	int fd; /* -1: none */
	int status;
	char *head;    /* owned; the headers' lines, each ending in \r\n */
	struct buf in; /* read from the socket; consumed up to `at` */
	size_t at;
	enum http_framing framing;
	int64_t left;     /* bytes of the body, or of the chunk that is being read */
	bool first_chunk; /* no chunk has been begun */
};

/* Milliseconds of CLOCK_MONOTONIC: what the deadlines here count. */
msec http_clock(void);

/* Errors: ERR_UNAVAILABLE, saying what is in the way and what to do about it. */
int http_connect(struct http *h, const char *socket_path, struct err *err);
void http_close(struct http *h);

struct http_call {           /* borrowed strings */
	const char *line;    /* "GET /version" */
	const char *headers; /* NULL, or lines that end in \r\n */
	const char *body;    /* NULL, or JSON */
};

/* Sends the request and reads the answer's head; 1xx answers but 101 are skipped. Errors:
 * ERR_TIMEOUT, ERR_UNAVAILABLE (the connection ended), ERR_IO (that is no HTTP). */
int http_request(struct http *h, const struct http_call *call, msec deadline, struct err *err);

/* Appends the next piece of the body to *to. Returns 1, 0 at its end, or -code as above. */
int http_read(struct http *h, msec deadline, struct buf *to, struct err *err);

/* The n-th header of that name, as an owned string; NULL: there is none. Names in any case. */
char *http_header_of(const struct http *h, const char *name, unsigned n);

/* Reads what the socket has into h->in, waiting for it. Returns 1, 0 at the end, or -code. */
int http_fill(struct http *h, msec deadline, struct err *err);

#endif
