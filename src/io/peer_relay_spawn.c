/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay is this same program, in a session of its own; what it must know goes through its
 * standard input, and "ready" on its output is all that is waited for. Its end is awaited, too, so
 * that it leaves no zombie, but holds up nothing.
 */
#include "io/peer_relay_spawn.h"

#include <string.h>

#define READY "ready\n"

struct spawned {
	uv_process_t process;
	uv_pipe_t in, out;
	uv_timer_t timer;
	uv_write_t write;
	char *json;
	char said[16];
	size_t n_said;
	unsigned open; /* handles */
	relay_started_fn *done;
	void *ctx;
};

static void on_closed(uv_handle_t *handle)
{
	struct spawned *s = handle->data;

	if (--s->open)
		return;
	free(s->json);
	free(s);
}

static void close_once(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, on_closed);
}

/* All but the process itself, whose end comes when it comes. */
static void conclude(struct spawned *s, const struct err *err)
{
	relay_started_fn *done = take(&s->done);

	if (!done)
		return;
	close_once((uv_handle_t *)&s->in);
	close_once((uv_handle_t *)&s->out);
	close_once((uv_handle_t *)&s->timer);
	done(s->ctx, err);
}

static void fail(struct spawned *s, enum err_code code, const char *why)
{
	struct err err;

	err_set(&err, code, "the migration's relay did not start: %s", why);
	conclude(s, &err);
}

static void on_exit_of_it(uv_process_t *process, int64_t status, int signal)
{
	struct spawned *s = process->data;

	(void)status;
	(void)signal;
	fail(s, ERR_IO, "it ended at once, and the log says why");
	close_once((uv_handle_t *)process);
}

static void on_late(uv_timer_t *timer)
{
	struct spawned *s = timer->data;

	uv_process_kill(&s->process, SIGKILL);
	fail(s, ERR_TIMEOUT, "it was not ready in time");
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct spawned *s = handle->data;

	(void)suggested;
	*buf = uv_buf_init(s->said + s->n_said, (unsigned)(sizeof(s->said) - s->n_said));
}

static void on_said(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf)
{
	static const struct err good = { 0 };
	struct spawned *s = stream->data;

	(void)buf;
	s->n_said += len > 0 ? (size_t)len : 0;
	if (s->n_said >= strlen(READY) && memcmp(s->said, READY, strlen(READY)) == 0)
		conclude(s, &good);
	else if (len < 0 || s->n_said == sizeof(s->said))
		fail(s, ERR_IO, "it said something else than that it is ready, see the log");
}

/* The whole of it is told when its input ends. */
static void on_written(uv_write_t *write, int status)
{
	struct spawned *s = write->data;

	(void)status;
	close_once((uv_handle_t *)&s->in);
}

static int start(struct spawned *s, const struct relay_start *what)
{
	char *args[] = { "vmagent", RELAY_COMMAND, (char *)(uintptr_t)what->folder, NULL };
	uv_stdio_container_t stdio[] = {
		{ .flags = UV_CREATE_PIPE | UV_READABLE_PIPE,
			.data.stream = (uv_stream_t *)&s->in },
		{ .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
			.data.stream = (uv_stream_t *)&s->out },
		{ .flags = UV_INHERIT_FD, .data.fd = 2 },
	};
	uv_process_options_t options = { .exit_cb = on_exit_of_it,
		.file = what->program,
		.args = args,
		.flags = UV_PROCESS_DETACHED,
		.stdio_count = ARRAY_SIZE(stdio),
		.stdio = stdio };

	return uv_spawn(what->loop, &s->process, &options);
}

static void talk(struct spawned *s)
{
	uv_buf_t text = uv_buf_init(s->json, (unsigned)strlen(s->json));

	uv_unref((uv_handle_t *)&s->process);
	uv_timer_start(&s->timer, on_late, RELAY_READY_MS, 0);
	uv_read_start((uv_stream_t *)&s->out, on_room, on_said);
	if (uv_write(&s->write, (uv_stream_t *)&s->in, &text, 1, on_written) < 0)
		fail(s, ERR_IO, "it takes no configuration");
}

/* Never from within relay_spawn(). */
static void on_not_started(uv_timer_t *timer)
{
	struct spawned *s = timer->data;

	close_once((uv_handle_t *)&s->process);
	fail(s, ERR_IO, "it cannot be executed");
}

void relay_spawn(const struct relay_start *what, relay_started_fn *done, void *ctx)
{
	struct spawned *s = xcalloc(1, sizeof(*s));

	s->done = done;
	s->ctx = ctx;
	s->json = relay_config_write(what->config);
	s->open = 4;
	uv_pipe_init(what->loop, &s->in, 0);
	uv_pipe_init(what->loop, &s->out, 0);
	uv_timer_init(what->loop, &s->timer);
	s->process.data = s->in.data = s->out.data = s->timer.data = s->write.data = s;
	if (start(s, what) == 0)
		talk(s);
	else
		uv_timer_start(&s->timer, on_not_started, 0, 0);
}
