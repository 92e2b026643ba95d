/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's end of a websocket on a connected, non-blocking socket: bytes in, bytes out,
 * framing by wslay. Binary and text frames are one stream of bytes. Loop thread only; it does
 * not own the socket.
 */
#ifndef VMAGENT_IO_WEBSOCKET_H
#define VMAGENT_IO_WEBSOCKET_H

#include <vmagent/base.h>
#include <uv.h>

#define WEBSOCKET_ACCEPT_SIZE 29 /* Sec-WebSocket-Accept, with its NUL */

/* RFC 6455 §4.2.2: the answer to a Sec-WebSocket-Key. */
void websocket_accept(const char *key, char ret[WEBSOCKET_ACCEPT_SIZE]);

#define WEBSOCKET_MESSAGE_MAX (1024 * 1024) /* bytes, in all its fragments: then 1009 */
#define WEBSOCKET_REPLIES_MAX 16            /* pongs that wait: then no more than is read already */
#define WEBSOCKET_TURN_BYTES  65536         /* read from one of them before others get their turn */

struct websocket;

struct websocket_handler {
	void *ctx;
	/* The peer sent bytes. Not to be ended from within this call. */
	void (*data)(void *ctx, const void *data, size_t len);
	/* All that was given to websocket_send() has left. */
	void (*drained)(void *ctx);
	/* The peer has closed, or the connection broke. No call comes after it; websocket_end() may
	 * be called from within it. */
	void (*closed)(void *ctx);
};

/* early (borrowed for the call) is what had been read from the socket already. */
struct websocket *websocket_new(uv_loop_t *loop, int fd, const struct websocket_handler *handler);
void websocket_begin(struct websocket *ws, const void *early, size_t len);

/* Queues a copy as one binary frame. Who sends looks at websocket_pending() to bound it. */
void websocket_send(struct websocket *ws, const void *data, size_t len);
size_t websocket_pending(const struct websocket *ws);

/* While held nothing more is read: the peer's socket fills up, and it waits. */
void websocket_hold(struct websocket *ws, bool hold);

enum websocket_code {
	WEBSOCKET_NORMAL = 1000,
	WEBSOCKET_GOING_AWAY = 1001,
	WEBSOCKET_POLICY = 1008
};

/* Says why (code 0: nothing), as far as the socket takes it at once, and frees ws. NULL is fine. */
void websocket_end(struct websocket *ws, enum websocket_code code, const char *reason);

#endif
