/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes between a websocket of the agent's and two descriptors of this machine: a terminal, a pipe,
 * a viewer's socket. Neither side makes the other's bytes pile up.
 */
#ifndef VMAGENT_CLI_RELAY_H
#define VMAGENT_CLI_RELAY_H

#include "cli/wsclient.h"

struct relay {
	struct wsclient *ws; /* borrowed */
	int in, out;         /* borrowed; may be the same socket */
	int signals;         /* a signalfd, borrowed: any ends it */
	int escape;          /* a byte of the input that ends it; -1: none */
	msec drain; /* how long to go on after the end of the input, since a byte was sent … */
	bool until_quiet; /* … or came */
	bool left;        /* returned: it was our side that ended it, not the agent's */
};

void relay_run(struct relay *relay);

/* A signalfd of the signals that end a command, blocked from now on; extra (0:
 * none) is one more. */
int relay_signals(int extra);

#endif
