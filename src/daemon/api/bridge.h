/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A websocket joined to a descriptor of the guest's side: console, VNC and forwarded ports differ
 * only in what a plan says. It is named by the id of its request and lives as long as that, so
 * whoever comes back to it later looks it up. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_API_BRIDGE_H
#define VMAGENT_DAEMON_API_BRIDGE_H

#include "daemon/api/api_private.h"

/* Bytes of output kept for a slow client, where what is older is dropped. */
#define BRIDGE_BACKLOG   (256 * 1024)
#define BRIDGE_WINDOW    (64 * 1024) /* … where nothing is: then the guest's side is not read */
/* Bytes of input not taken by the guest's side, then the client waits. */
#define BRIDGE_INPUT     (16 * 1024)
#define BRIDGE_PIECE     (16 * 1024) /* bytes of one frame, and of one read */
#define BRIDGE_LINGER_MS 5000        /* for the last input of a client that has left */

struct bridge_plan {       /* a constant of its kind: compared by its address */
	const char *what;  /* "console" */
	const char *ended; /* what the client reads when the guest's side has ended */
	bool lossy; /* a slow client loses output, oldest first, and the guest is never held up */
	bool exclusive; /* a newcomer ends the one before */
};

/* Checks the client's handshake; NULL: it was refused, and answered. From here on the request is
 * over by bridge_connect(), or by any other answer. */
struct bridge *bridge_new(const struct call *call, const struct bridge_plan *plan);

/* The one of that request, or NULL once it is over. */
struct bridge *bridge_find(struct api *api, uint64_t id);

/* What the client is to see before all else; owned by the bridge. */
struct buf *bridge_output(struct bridge *b);

/* Joins it to port, which it takes over, and answers 101. */
void bridge_connect(struct bridge *b, int port);

/* Whether a client is connected by such a plan to that VMI. */
bool bridge_is_taken(const struct api *api, const struct bridge_plan *plan, const char *ns,
	const char *name);

#endif
