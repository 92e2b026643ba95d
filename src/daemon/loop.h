/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libuv loop around the agent: a turn before the loop blocks, an idle handle while something is
 * dirty, one timer for the next wake-up, and the watchdog. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_LOOP_H
#define VMAGENT_DAEMON_LOOP_H

#include <uv.h>

#include "daemon/agent.h"

struct loop {
	uv_loop_t uv;
	uv_prepare_t turn;
	uv_idle_t busy; /* keeps the loop from blocking while something is dirty */
	uv_timer_t wake;
	uv_timer_t watchdog;
	uv_signal_t terminate[2]; /* SIGTERM, SIGINT: end, guests stay */
	uv_signal_t rescan;       /* SIGHUP */
	struct agent *agent;      /* borrowed */
	void (*on_rescan)(void *ctx);
	void *rescan_ctx;
};

struct now clock_now(void); /* CLOCK_BOOTTIME and CLOCK_REALTIME */

int loop_init(struct loop *loop, struct err *err);

/* Runs until SIGTERM or SIGINT. */
void loop_run(struct loop *loop, struct agent *agent);

/* Closes its handles, and runs the close callbacks of everybody's. */
void loop_close(struct loop *loop);

#endif
