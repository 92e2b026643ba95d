/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Glue: inputs arrive by callbacks of any handle, and before the loop blocks the agent has its
 * turn. An idle agent wakes up for nothing but its own next deadline.
 */
#include "daemon/loop.h"

#include <signal.h>
#include <time.h>

#include "io/notify.h"

static msec clock_read(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (msec)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

struct now clock_now(void)
{
	return (struct now){ .boot = clock_read(CLOCK_BOOTTIME),
		.wall = clock_read(CLOCK_REALTIME) };
}

static void on_idle(uv_idle_t *handle)
{
	(void)handle;
}

static void on_wake(uv_timer_t *handle)
{
	(void)handle; /* the turn comes before the loop blocks again */
}

static void arm(struct loop *loop, struct now now)
{
	msec at = agent_wake_at(loop->agent);

	if (at == NEVER) {
		uv_timer_stop(&loop->wake);
		return;
	}
	uv_update_time(&loop->uv);
	uv_timer_start(&loop->wake, on_wake, at > now.boot ? (uint64_t)(at - now.boot) : 1, 0);
}

static void on_prepare(uv_prepare_t *handle)
{
	struct loop *loop = handle->data;
	struct now now = clock_now();

	if (agent_turn(loop->agent, now))
		uv_idle_start(&loop->busy, on_idle);
	else
		uv_idle_stop(&loop->busy);
	arm(loop, now);
}

static void on_terminate(uv_signal_t *handle, int number)
{
	(void)number;
	uv_stop(handle->loop);
}

static void on_rescan(uv_signal_t *handle, int number)
{
	struct loop *loop = handle->data;

	(void)number;
	if (loop->on_rescan)
		loop->on_rescan(loop->rescan_ctx);
}

static void on_watchdog(uv_timer_t *handle)
{
	(void)handle;
	notify_send("WATCHDOG=1");
}

static void start_watchdog(struct loop *loop)
{
	uint64_t interval = (uint64_t)notify_watchdog_interval();

	if (interval)
		uv_timer_start(&loop->watchdog, on_watchdog, interval, interval);
}

int loop_init(struct loop *loop, struct err *err)
{
	static const int terminating[] = { SIGTERM, SIGINT };
	int ret = uv_loop_init(&loop->uv);

	if (ret < 0)
		return err_set(err, ERR_INTERNAL, "event loop: %s", uv_strerror(ret));
	uv_prepare_init(&loop->uv, &loop->turn);
	uv_idle_init(&loop->uv, &loop->busy);
	uv_timer_init(&loop->uv, &loop->wake);
	uv_timer_init(&loop->uv, &loop->watchdog);
	for (size_t i = 0; i < ARRAY_SIZE(terminating); i++) {
		uv_signal_init(&loop->uv, &loop->terminate[i]);
		uv_signal_start(&loop->terminate[i], on_terminate, terminating[i]);
	}
	uv_signal_init(&loop->uv, &loop->rescan);
	uv_signal_start(&loop->rescan, on_rescan, SIGHUP);
	loop->turn.data = loop->rescan.data = loop;
	return 0;
}

void loop_run(struct loop *loop, struct agent *agent)
{
	loop->agent = agent;
	uv_prepare_start(&loop->turn, on_prepare);
	start_watchdog(loop);
	uv_run(&loop->uv, UV_RUN_DEFAULT);
	uv_prepare_stop(&loop->turn);
}

static void close_handle(uv_handle_t *handle, void *ctx)
{
	(void)ctx;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

void loop_close(struct loop *loop)
{
	uv_walk(&loop->uv, close_handle, NULL);
	uv_run(&loop->uv, UV_RUN_DEFAULT);
	uv_loop_close(&loop->uv);
}
