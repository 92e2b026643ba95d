/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a client's stream may pass to the agent. A browser on this machine can be led by any web
 * site to send requests to a loopback port, so each request must name a loopback host (which
 * defeats DNS that is rebound) and must carry no Origin (which pages cannot leave out). HTTP/1.1 is
 * read just as far as that takes: where a request ends. Pure.
 */
#ifndef VMAGENT_CLI_PROXY_FILTER_H
#define VMAGENT_CLI_PROXY_FILTER_H

#include <vmagent/err.h>

/* Bytes of a request's line and headers; of a body's trailers. */
#define FILTER_HEAD_MAX  (64 * 1024)
#define FILTER_CHUNK_MAX 1024 /* bytes of the line that begins a chunk */

enum filter_state {
	FILTER_HEAD,
	FILTER_BODY,
	FILTER_CHUNK_LINE,
	FILTER_CHUNK,
	FILTER_TRAILERS,
	FILTER_TUNNEL, /* the connection changes its protocol: all passes */
};

struct filter { /* zero is the beginning of a connection */
	enum filter_state state;
	struct buf line; /* owned: of a head or line what has come of it */
	uint64_t left;   /* bytes of the body or the chunk */
};
void filter_done(struct filter *f);

/*
 * Takes the next bytes from the client and appends to out those that may pass now: a head passes
 * whole or not at all. Errors, after which nothing more may pass: ERR_FORBIDDEN, ERR_BAD_REQUEST,
 * ERR_TOO_LARGE.
 */
int filter_feed(struct filter *f, const char *data, size_t len, struct buf *out, struct err *err);

#endif
