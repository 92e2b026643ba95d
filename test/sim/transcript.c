/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of a run as scenario files hold it: "|    1.210 web: phase Scheduled -> Running", with '!' for
 * warnings and UIDs numbered in the order in which they first appeared.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "scenario.h"

static bool is_uid(const char *text)
{
	for (int i = 0; i < UID_SIZE - 1; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return false;
	}
	return true;
}

static size_t uid_number(struct world *w, const char *text)
{
	for (size_t i = 0; i < w->n_uids; i++) {
		if (strncmp(w->uids[i], text, UID_SIZE - 1) == 0)
			return i + 1;
	}
	if (w->n_uids < TRACKED_MAX)
		copy_str(w->uids[w->n_uids++], UID_SIZE, text);
	return w->n_uids;
}

/* w: the first host. */
static void add_text(struct world *w, const char *text)
{
	static const char ns[] = "default/";

	while (*text) {
		if (starts_with(text, ns)) {
			text += strlen(ns);
		} else if (is_uid(text)) {
			buf_printf(&w->log, "UID%zu", uid_number(w, text));
			text += UID_SIZE - 1;
		} else {
			buf_add(&w->log, *text == '\n' ? " " : text, 1);
			text++;
		}
	}
	buf_puts(&w->log, "\n");
}

void transcript_log(void *ctx, const struct log_line *line)
{
	struct world *w = ctx;

	if (w->dead || line->level > LOG_LEVEL_INFO)
		return;
	buf_printf(&world_main(w)->log, "| %8.3f %s%s%s", (double)w->t / 1000,
		w->lab ? w->node : "", w->lab ? " " : "",
		line->level <= LOG_LEVEL_WARNING ? "! " : "");
	add_text(world_main(w), line->text);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static size_t line_length(const char *text)
{
	return strcspn(text, "\n") + (strchr(text, '\n') ? 1 : 0);
}

/* Whether the line stands further on in the other text. */
static bool comes_later(const char *line, size_t length, const char *text)
{
	for (; *text; text += line_length(text)) {
		if (line_length(text) == length && strncmp(text, line, length) == 0)
			return true;
	}
	return false;
}

static void add_line(struct buf *ret, const char *sign, const char **text)
{
	size_t length = line_length(*text);

	buf_puts(ret, sign);
	buf_add(ret, *text, length);
	*text += length;
}

void transcript_diff(const char *expected, const char *actual, struct buf *ret)
{
	while (*expected || *actual) {
		size_t a = line_length(expected), b = line_length(actual);

		if (a && a == b && strncmp(expected, actual, a) == 0) {
			add_line(ret, "    ", &expected);
			actual += b;
		} else if (a && !comes_later(expected, a, actual)) {
			add_line(ret, "  - ", &expected);
		} else if (b) {
			add_line(ret, "  + ", &actual);
		} else {
			add_line(ret, "  - ", &expected);
		}
	}
}
