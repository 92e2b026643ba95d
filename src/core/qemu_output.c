/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding QEMU's lines in the end of a log, and cleaning them. It knows libvirt's way of writing
 * that file and must not know where it lies or how it is read.
 */
#include "core/qemu_output.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <vmagent/hypervisor.h>

#include "core/utf8.h"

#define STARTING "starting up " /* … libvirt version: 9.0.0, … */

struct text { /* a part of the log */
	const char *at;
	size_t len;
};

struct finding {
	struct text lines[OUTPUT_LINES_MAX]; /* the last ones, as a ring */
	size_t n;                            /* … ever */
	msec started;                        /* by the newest header; -1: there is none */
	bool in_command;
};

static bool begins(struct text line, const char *word)
{
	size_t len = strlen(word);

	return line.len >= len && !memcmp(line.at, word, len);
}

/* "2026-11-29 21:45:03.123+0000: " is how libvirt's own lines begin. */
static bool libvirt_line(struct text line, msec *ret_time, struct text *ret_rest)
{
	struct tm tm = { 0 };
	char head[40];
	int ms, n = 0;

	snprintf(head, sizeof(head), "%.*s", (int)line.len, line.at);
	if (sscanf(head, "%4d-%2d-%2d %2d:%2d:%2d.%3d+0000: %n", &tm.tm_year, &tm.tm_mon,
		    &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &ms, &n) < 7 ||
		n == 0)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	*ret_time = SECONDS(timegm(&tm)) + ms;
	*ret_rest = (struct text){ line.at + n, line.len - (size_t)n };
	return true;
}

/* "2026-11-29T21:45:03.123456Z " stands before each message of QEMU; the event has a
 * time of its own. */
static struct text without_stamp(struct text line)
{
	int year, month, day, hour, minute, second, us, n = 0;
	char head[40];

	snprintf(head, sizeof(head), "%.*s", (int)line.len, line.at);
	if (sscanf(head, "%4d-%2d-%2dT%2d:%2d:%2d.%6dZ %n", &year, &month, &day, &hour, &minute,
		    &second, &us, &n) == 7 &&
		n > 0)
		return (struct text){ line.at + n, line.len - (size_t)n };
	return line;
}

static bool goes_on(struct text line)
{
	return line.len >= 2 && !memcmp(line.at + line.len - 2, " \\", 2);
}

/* Whether the line belongs to a command line, which ends with one that does not go on. */
static bool of_command(struct finding *f, struct text line)
{
	bool was = f->in_command;

	if (f->started >= 0 && !was)
		return false; /* it is over */
	f->in_command = goes_on(line);
	if (f->in_command)
		f->n = 0;
	return was || f->in_command;
}

static void take_line(struct finding *f, struct text line)
{
	struct text rest;
	msec time;

	if (line.len && line.at[line.len - 1] == '\r')
		line.len--;
	if (libvirt_line(line, &time, &rest)) {
		if (!begins(rest, STARTING))
			return;
		*f = (struct finding){ .started = time, .in_command = true };
		return;
	}
	if (of_command(f, line) || begins(line, "char device redirected to "))
		return;
	line = without_stamp(line);
	if (line.len)
		f->lines[f->n++ % OUTPUT_LINES_MAX] = line;
}

/* ---- cleaning -------------------------------------------------------------------------------- */

/* Length of the UTF-8 character at s, or 0 if there is none, or one that is a control. */
static size_t character(const char *s, size_t left)
{
	unsigned code;
	size_t len = utf8_char(s, left, &code);

	return len && !utf8_is_control(code) ? len : 0;
}

/* To out, which then has at most max bytes more. */
static void add_clean(struct buf *out, struct text line, size_t max)
{
	size_t end = out->len + max;

	for (size_t i = 0, len; i < line.len; i += MAX(len, 1)) {
		len = character(line.at + i, line.len - i);
		if (out->len + MAX(len, 1) > end)
			return;
		buf_add(out, len ? line.at + i : line.at[i] == '\t' ? " " : "?", MAX(len, 1));
	}
}

/* From the last line backwards, as many as there is room for. */
static char *kept(const struct finding *f)
{
	size_t n = MIN(f->n, OUTPUT_LINES_MAX), size = 0, from = f->n;
	struct buf out = { 0 };

	while (from > f->n - n && size + f->lines[(from - 1) % OUTPUT_LINES_MAX].len < OUTPUT_MAX)
		size += f->lines[--from % OUTPUT_LINES_MAX].len + 1;
	if (n && from == f->n)
		from--; /* one line alone is too long: its beginning */
	for (size_t i = from; i < f->n; i++) {
		buf_puts(&out, i > from ? "\n" : "");
		add_clean(&out, f->lines[i % OUTPUT_LINES_MAX], OUTPUT_MAX - out.len);
	}
	return out.data;
}

char *qemu_output(const struct qemu_log_tail *tail)
{
	struct finding f = { .started = -1 };
	const char *at = tail->text, *end = tail->text + tail->len;

	for (bool part = tail->cut; at < end; part = false) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct text line = { at, (size_t)((newline ? newline : end) - at) };

		if (!part)
			take_line(&f, line);
		at = newline ? newline + 1 : end;
	}
	if (f.started < 0 && !tail->cut)
		return NULL; /* not a log of libvirt's */
	if ((f.started < 0 ? tail->written : f.started) < tail->since)
		return NULL;
	return kept(&f);
}
