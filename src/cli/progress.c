/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "web: Running  [#########---------]   50%  1.0 GiB of 2.0 GiB  110.0 MiB/s  10s left": its parts, and
 * which of them a narrow terminal gets. Where the figures come from it does not know.
 */
#include <stdio.h>
#include <string.h>

#include "cli/progress.h"

#include "core/age.h"

enum part { PART_HEAD, PART_BAR, PART_PERCENT, PART_BYTES, PART_RATE, PART_LEFT, PART_MAX };

#define GAP     "  " /* between two parts */
#define BAR_MIN 12   /* columns, with its brackets */
#define BAR_MAX 32

struct line {
	char *parts[PART_MAX]; /* owned; NULL: left away */
};

static int64_t done_of(int64_t total, int64_t remaining)
{
	return total - MIN(MAX(remaining, 0), total);
}

int progress_percent(int64_t total, int64_t remaining)
{
	int64_t done = done_of(total, remaining);

	if (total <= 0)
		return -1;
	return done == total ? 100 : MIN((int)((double)done * 100 / (double)total), 99);
}

/* "512 B", "1.5 MiB" */
static char *bytes_text(int64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	double value = (double)MAX(bytes, 0);
	size_t i = 0;

	while (value >= 1024 && i + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		i++;
	}
	return xasprintf(i ? "%.1f %s" : "%.0f %s", value, units[i]);
}

/* columns: of all of it. */
static char *bar_text(const struct progress *p, size_t columns)
{
	size_t cells = columns - strlen("[]");
	size_t full = cells * (size_t)progress_percent(p->total, p->remaining) / 100;
	char *bar = xasprintf("[%*s]", (int)cells, "");

	memset(bar + 1, '#', full);
	memset(bar + 1 + full, '-', cells - full);
	return bar;
}

static char *bytes_part(const struct progress *p)
{
	autofree char *done = bytes_text(done_of(p->total, p->remaining));
	autofree char *total = bytes_text(p->total);

	return xasprintf("%s of %s", done, total);
}

static char *rate_part(const struct progress *p)
{
	autofree char *rate = bytes_text(p->rate);

	return xasprintf("%s/s", rate);
}

static char *left_part(const struct progress *p)
{
	char age[AGE_SIZE];

	age_format(SECONDS(p->seconds_left), age);
	return xasprintf("%s left", age);
}

static void set_parts(struct line *line, const struct progress *p, bool bar)
{
	line->parts[PART_HEAD] = xasprintf("%s: %s%s%s%s", p->name, p->phase, p->note ? " (" : "",
		p->note ? p->note : "", p->note ? ")" : "");
	if (p->total <= 0)
		return;
	if (bar)
		line->parts[PART_BAR] = bar_text(p, BAR_MIN);
	line->parts[PART_PERCENT] = xasprintf("%3d%%", progress_percent(p->total, p->remaining));
	line->parts[PART_BYTES] = bytes_part(p);
	if (p->rate > 0)
		line->parts[PART_RATE] = rate_part(p);
	if (p->seconds_left >= 0)
		line->parts[PART_LEFT] = left_part(p);
}

static char *join(const struct line *line)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < PART_MAX; i++)
		if (line->parts[i])
			buf_printf(&text, "%s%s", i ? GAP : "", line->parts[i]);
	return text.data;
}

static size_t length_of(const struct line *line)
{
	autofree char *text = join(line);

	return strlen(text);
}

/* What is least missed goes first; then the bar gets the room that is left. */
static void fit(struct line *line, const struct progress *p, size_t width)
{
	static const enum part order[] = { PART_RATE, PART_BYTES, PART_BAR, PART_LEFT,
		PART_PERCENT };
	size_t room;

	for (size_t i = 0; i < ARRAY_SIZE(order) && length_of(line) > width; i++)
		replace_str(&line->parts[order[i]], NULL);
	if (length_of(line) > width)
		line->parts[PART_HEAD][width] = '\0';
	if (!line->parts[PART_BAR])
		return;
	room = width - length_of(line);
	free(line->parts[PART_BAR]);
	line->parts[PART_BAR] = bar_text(p, MIN(BAR_MIN + room, BAR_MAX));
}

char *progress_line(const struct progress *p, size_t width)
{
	struct line line = { 0 };
	char *text;

	set_parts(&line, p, width != PROGRESS_NO_BAR);
	if (width != PROGRESS_NO_BAR)
		fit(&line, p, width);
	text = join(&line);
	for (size_t i = 0; i < PART_MAX; i++)
		free(line.parts[i]);
	return text;
}
