/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a migration's relay (io/peer_relay.h), which then lives on without this
 * process. Loop thread only. */
#ifndef VMAGENT_IO_PEER_RELAY_SPAWN_H
#define VMAGENT_IO_PEER_RELAY_SPAWN_H

#include <uv.h>

#include <vmagent/err.h>

#include "core/relay_config.h"

#define RELAY_COMMAND  "migrate-relay" /* of this same program, as a process of its own */
#define RELAY_READY_MS 10000           /* until one that does not say so is none */

/* err: OK, when it listens. Called once, later. */
typedef void relay_started_fn(void *ctx, const struct err *err);

struct relay_start { /* borrowed, but for the call only */
	uv_loop_t *loop;
	const char *program; /* this one */
	const char *folder;
	const struct relay_config *config;
};

/* Errors come to done(): ERR_IO, ERR_TIMEOUT. */
void relay_spawn(const struct relay_start *what, relay_started_fn *done, void *ctx);

#endif
