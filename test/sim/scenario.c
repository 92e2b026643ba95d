/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenario files: one command per line, comments and empty lines kept, and below each
 * command the log lines that it must bring, exactly. --accept writes those of the run into
 * the file, for review.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/agent_private.h"
#include "io/store_private.h"
#include "scenario.h"

#define WORDS_MAX  16
#define SETTLED    SECONDS(10) /* the agent is there before the first command */
#define WRITES_MAX 1000000

/* ---- reading --------------------------------------------------------------------------------- */

void line_done(struct line *line)
{
	free(line->before);
	free(line->text);
	free(line->block);
	free(line->expected);
}

void scenario_done(struct scenario *s)
{
	for (size_t i = 0; i < s->n; i++)
		line_done(&s->lines[i]);
	free(s->lines);
	free(s->path);
	free(s->name);
	free(s->tail);
}

struct reading {
	struct scenario *s;
	struct buf before; /* comments and empty lines */
	struct buf block;
	char *end; /* owned: what ends the block */
	int number;
};

static void read_line(struct reading *r, char *text)
{
	struct line *last = r->s->n ? &r->s->lines[r->s->n - 1] : NULL;
	char *mark;

	if (r->end) {
		if (streq(text, r->end)) {
			last->block = take(&r->block.data);
			r->block = (struct buf){ 0 };
			free(take(&r->end));
		} else {
			buf_printf(&r->block, "%s\n", text);
		}
		return;
	}
	if (text[0] == '|' && last) {
		autofree char *before = take(&last->expected);

		last->expected = xasprintf("%s%s\n", before ? before : "", text);
		return;
	}
	if (!text[0] || text[0] == '#') {
		buf_printf(&r->before, "%s\n", text);
		return;
	}
	last = LIST_ADD(r->s->lines, r->s->n, r->s->cap);
	last->text = xstrdup(text);
	last->number = r->number;
	last->before = take(&r->before.data);
	r->before = (struct buf){ 0 };
	r->s->any_end |= streq(text, "walk any-end");
	r->s->any_boots |= streq(text, "walk any-boots");
	r->s->no_crash_walk |= streq(text, "walk no-crash");
	r->s->no_fault_walk |= streq(text, "walk no-fault");
	if (starts_with(text, "hosts "))
		r->s->hosts = (unsigned)MIN(MAX(atoi(text + strlen("hosts ")), 2), HOSTS_MAX);
	mark = strstr(text, "<<");
	if (mark)
		r->end = xstrdup(mark + 2);
}

static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = xstrdup(slash ? slash + 1 : path), *dot = strrchr(name, '.');

	if (dot)
		*dot = '\0';
	return name;
}

int scenario_load(const char *path, struct scenario *ret, struct err *err)
{
	FILE *file = fopen(path, "re");
	struct reading r = { .s = ret };
	char *line = NULL;
	size_t size = 0;

	memset(ret, 0, sizeof(*ret));
	if (!file)
		return err_set(err, ERR_IO, "open '%s': %s", path, strerror(errno));
	ret->path = xstrdup(path);
	ret->name = name_of(path);
	while (getline(&line, &size, file) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		r.number++;
		read_line(&r, line);
	}
	ret->tail = take(&r.before.data);
	free(r.end);
	buf_done(&r.block);
	free(line);
	fclose(file);
	return 0;
}

int scenario_save(const struct scenario *s, struct err *err)
{
	FILE *file = fopen(s->path, "we");

	if (!file)
		return err_set(err, ERR_IO, "write '%s': %s", s->path, strerror(errno));
	for (size_t i = 0; i < s->n; i++) {
		const struct line *line = &s->lines[i];
		const char *mark = strstr(line->text, "<<");

		fprintf(file, "%s%s\n", line->before ? line->before : "", line->text);
		if (mark)
			fprintf(file, "%s%s\n", line->block ? line->block : "", mark + 2);
		fputs(line->expected ? line->expected : "", file);
	}
	fputs(s->tail ? s->tail : "", file);
	return fclose(file) ? err_set(err, ERR_IO, "write '%s'", s->path) : 0;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Words between blanks; "…" holds blanks. Cuts text up. */
static size_t split(char *text, char *words[WORDS_MAX])
{
	size_t n = 0;

	while (n < WORDS_MAX) {
		text += strspn(text, " \t");
		if (!*text || starts_with(text, "<<"))
			break;
		bool quoted = *text == '"';

		text += quoted;
		words[n++] = text;
		text += strcspn(text, quoted ? "\"" : " \t");
		if (*text)
			*text++ = '\0';
	}
	return n;
}

static void take_log(struct world *w, struct buf *ret)
{
	*ret = w->log;
	w->log = (struct buf){ 0 };
	if (!ret->data)
		buf_puts(ret, "");
}

static void check_log(struct world *w, struct line *line, const struct run_options *options)
{
	struct buf actual, diff = { 0 };
	const char *expected = line->expected ? line->expected : "";

	take_log(w, &actual);
	if (options->print)
		printf("%s\n%s", line->text, actual.data ? actual.data : "");
	if (options->accept) {
		free(line->expected);
		line->expected = take(&actual.data);
	} else if (!w->quiet && !options->print &&
		!streq(expected, actual.data ? actual.data : "")) {
		transcript_diff(expected, actual.data ? actual.data : "", &diff);
		world_fail(w, "the log is not as expected (- expected, + came):\n%s", diff.data);
	}
	buf_done(&actual);
	buf_done(&diff);
}

/* "@node2 COMMAND" is done there, all else on the first host. */
static void run_text(struct world *w, const char *command, const char *block)
{
	autofree char *text = xstrdup(command);
	char *words[WORDS_MAX];
	size_t n = split(text, words), at = n && words[0][0] == '@';
	struct world *host = at ? world_named(w, words[0] + 1) : w;

	if (!host || !command_run(host, words + at, n - at, block))
		world_fail(w, "no such command");
	world_settle(host ? host : w);
}

/* again N <<END: the lines up to END, so many times; what they log is not looked at. */
static void run_again(struct world *w, const struct line *line)
{
	struct buf log;

	for (int times = atoi(line->text + strlen("again ")); times > 0; times--) {
		autofree char *copy = xstrdup(line->block ? line->block : "");
		char *rest = copy, *text;

		while (!w->failure[0] && (text = strsep(&rest, "\n"))) {
			if (*text)
				run_text(w, text, NULL);
		}
	}
	take_log(w, &log);
	buf_done(&log);
}

static void run_line(struct world *w, struct line *line, const struct run_options *options)
{
	if (starts_with(line->text, "again "))
		run_again(w, line);
	else
		run_text(w, line->text, line->block);
	check_log(w, line, options);
}

static void begin(struct world *w, const struct scenario *s, const struct run_options *options)
{
	static const struct mishap none = { .trouble = TROUBLE_NONE };
	struct world *host;
	struct buf log;

	world_init(w, s->hosts && options->mishap.host ? &none : &options->mishap);
	w->quiet = options->mishap.trouble != TROUBLE_NONE;
	w->any_end = s->any_end && w->quiet;
	w->t = -SETTLED;
	if (s->hosts)
		lab_open(w, s->hosts, &options->mishap);
	if (s->hosts)
		w->lab->remade = s->remade;
	if (s->without)
		lab_leave_out(w, s->without);
	for (unsigned i = 0; !w->failure[0] && (host = world_host(w, i)); i++)
		agent_up(host);
	world_run(w, 0);
	take_log(w, &log);
	buf_done(&log);
}

static struct points points_of(const struct world *w)
{
	unsigned left = w->mishap.trouble == FAULT_STORE ? w->mishap.n : WRITES_MAX;

	return (struct points){ w->commits, w->actions, w->ops, left - w->store->fail_after };
}

/* What each host is left with; how often guests were started comes last. */
static char *all_ends(struct world *w)
{
	struct buf ends = { 0 }, boots = { 0 };
	struct world *host;

	for (unsigned i = 0; (host = world_host(w, i)); i++) {
		autofree char *end = look_end(host);
		char *boot = strchr(end, '\f');

		if (w->lab)
			buf_printf(&ends, "%s:\n", host->node);
		buf_add(&ends, end, (size_t)(boot - end));
		buf_puts(&boots, boot);
	}
	buf_puts(&ends, boots.data);
	buf_done(&boots);
	return ends.data;
}

static void finish(struct world *w, struct outcome *ret, int line, bool rest)
{
	struct world *host, *met = world_host(w, w->lab ? w->lab->mishap.host : 0);

	for (unsigned i = 0; (host = world_host(w, i)); i++) {
		if (!w->failure[0])
			watch_end(host);
		if (!w->failure[0] && rest)
			look_rest(host);
	}
	/* Whatever is lost or declared dead in it; in its walks, other things may be still on their way. */
	if (!w->failure[0] && w->lab && (rest || world_trouble(w) == TROUBLE_NONE))
		look_verdicts(w);
	ret->end = all_ends(w);
	if (w->failure[0])
		ret->failure = line ? xasprintf("line %d, %s", line, w->failure)
				    : xstrdup(w->failure);
	ret->all = points_of(met);
	ret->happened = met->happened ||
		(met->mishap.trouble == FAULT_STORE && !met->store->fail_after);
	world_done(w);
}

void scenario_run(struct scenario *s, const struct run_options *options, struct outcome *ret)
{
	struct world *w = xcalloc(1, sizeof(*w)), *met;
	int failed = 0;

	*ret = (struct outcome){ 0 };
	begin(w, s, options);
	met = world_host(w, s->hosts ? options->mishap.host : 0);
	if (options->mishap.trouble == TROUBLE_NONE)
		store_fail_after(met->store, WRITES_MAX);
	for (size_t i = 0; i < s->n && !w->failure[0]; i++) {
		run_line(w, &s->lines[i], options);
		if (!ret->prefix.commits && starts_with(s->lines[i].text, "wait"))
			ret->prefix = points_of(met);
		if (w->failure[0])
			failed = s->lines[i].number;
	}
	w->quiet = true;
	world_run(w, w->t + AFTERLIFE);
	finish(w, ret, failed, options->rest);
	free(w);
}

void outcome_done(struct outcome *o)
{
	free(o->end);
	free(o->failure);
}
