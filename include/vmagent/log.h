/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line per phase change and per action, and it says why. The sink is the only global of the
 * program: journald or stderr in the daemon, a list of expected lines in the simulation.
 */
#ifndef VMAGENT_LOG_H
#define VMAGENT_LOG_H

#include <vmagent/base.h>

enum log_level {
	LOG_LEVEL_ERROR = 3,
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7
};

struct log_line { /* borrowed for the call */
	enum log_level level;
	const char *machine; /* "ns/name", or NULL */
	const char *uid;     /* VMI or VM UID, or NULL */
	const char *reason;  /* an event's reason, or NULL */
	const char *text;
};
typedef void log_sink(void *ctx, const struct log_line *line);

/* Sets where lines go, before any thread starts. NULL drops them. */
void log_to(log_sink *sink, void *ctx);

/* May be called on any thread if the sink may. */
void log_emit(const struct log_line *line);
void log_text(enum log_level level, const char *fmt, ...) PRINTF(2, 3);

#endif
