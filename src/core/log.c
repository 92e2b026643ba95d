/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where log lines go.
 *
 * Owns the program's only global, the sink, which is set once before any thread starts. It must not
 * know what a sink does with a line.
 */
#include <vmagent/log.h>

static struct {
	log_sink *sink;
	void *ctx; /* borrowed */
} out;

void log_to(log_sink *sink, void *ctx)
{
	out.sink = sink;
	out.ctx = ctx;
}

void log_emit(const struct log_line *line)
{
	if (out.sink)
		out.sink(out.ctx, line);
}

void log_text(enum log_level level, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	if (!out.sink)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	log_emit(&(struct log_line){ .level = level, .text = text });
}
