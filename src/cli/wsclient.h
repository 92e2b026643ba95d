/* SPDX-License-Identifier: Apache-2.0 */
/* A websocket to the agent: binary messages both ways over the connection that http.c opened. */
#ifndef VMAGENT_CLI_WSCLIENT_H
#define VMAGENT_CLI_WSCLIENT_H

#include "cli/client.h"

struct wsclient;

/* Asks for the path to become a websocket of that subprotocol. */
int wsclient_begin(const struct cli *cli, const char *path, const char *protocol,
	struct wsclient **ret, struct fault *fault);
/* The same over a connection that has become one: takes *http over. */
struct wsclient *wsclient_over(const struct http *http);
void wsclient_free(struct wsclient *ws); /* says goodbye first, if it can; NULL is fine */

int wsclient_fd(const struct wsclient *ws);
short wsclient_events(const struct wsclient *ws); /* what to poll for */
bool wsclient_is_full(const struct wsclient *ws); /* messages wait to be sent: send no more now */

void wsclient_send(struct wsclient *ws, const void *data, size_t len);

/* Reads and writes what can be without waiting; what came is appended to *to. Returns 1, or 0 once
 * the other side has closed it. */
int wsclient_step(struct wsclient *ws, struct buf *to);

/* Only writes. The same. */
int wsclient_flush(struct wsclient *ws);

/* Why it was closed, for people; "" when there is nothing to say. */
const char *wsclient_reason(const struct wsclient *ws);
bool wsclient_was_closed_well(const struct wsclient *ws);

#endif
