/* SPDX-License-Identifier: Apache-2.0 */
/* A websocket to the agent: binary messages both ways over the connection that http.c opened. */
#ifndef VMAGENT_CLI_WEBSOCKET_H
#define VMAGENT_CLI_WEBSOCKET_H

#include "cli/client.h"

struct websocket;

/* Asks for the path to become a websocket of that subprotocol. */
int websocket_open(const struct cli *cli, const char *path, const char *protocol,
	struct websocket **ret, struct fault *fault);
void websocket_free(struct websocket *ws); /* says goodbye first, if it can; NULL is fine */

int websocket_fd(const struct websocket *ws);
short websocket_events(const struct websocket *ws); /* what to poll for */
bool websocket_is_full(const struct websocket *ws); /* messages wait to be sent: send no more now */

void websocket_send(struct websocket *ws, const void *data, size_t len);

/* Reads and writes what can be without waiting; what came is appended to *to. Returns 1, or 0 once the
 * other side has closed it. */
int websocket_step(struct websocket *ws, struct buf *to);

/* Why it was closed, for people; "" when there is nothing to say. */
const char *websocket_reason(const struct websocket *ws);
bool websocket_was_closed_well(const struct websocket *ws);

#endif
