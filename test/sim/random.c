/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random walk: scenarios drawn from the same commands that scenario files are made of, each from
 * a seed of its own. Requests may be accepted or refused (`try`), guests do as they like, libvirt
 * and the agent come and go; the invariants of watch.c hold all the way, and when all is healed
 * everything has come to rest as it was last told. A seed that fails is cut down to the lines that
 * matter, and these are printed in the language of the scenario files.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/agent_private.h"
#include "scenario.h"

#define LINES_MIN 8
#define LINES_MAX 40
#define MISHAPS   60 /* the crash or fault comes among the first so many */

static const char *const names[] = { "a", "b", "c" };

/* What is so at a point of a scenario. A line needs some of it, and changes some. */
enum state {
	AGENT = 1 << 0,
	LIBVIRT = 1 << 1,
	HUNG = 1 << 2,  /* some op hangs */
	DEAF = 1 << 3,  /* some guest is */
	CRASH = 1 << 4, /* the agent will be killed at some moment */
	FILED = 1 << 5  /* the machine has a file; of each machine, shifted */
};
#define UP (AGENT | LIBVIRT)

/* clang-format off */
static const struct deed {
	unsigned weight;
	unsigned needs, lacks, sets, clears; /* of enum state */
	const char *text; /* $: a machine, %: a strategy, #: a number of seconds, @: an op */
} acts[] = {
	{ 10, AGENT, 0,       0, 0, "try start $" },
	{  2, AGENT, 0,       0, 0, "try start $ paused" },
	{ 10, AGENT, 0,       0, 0, "try stop $" },
	{  3, AGENT, 0,       0, 0, "try stop $ grace=0" },
	{  3, AGENT, 0,       0, 0, "try stop $ grace=2" },
	{  6, AGENT, 0,       0, 0, "try restart $" },
	{  3, AGENT, 0,       0, 0, "try restart $ grace=0" },
	{  4, AGENT, 0,       0, 0, "try pause $" },
	{  4, AGENT, 0,       0, 0, "try unpause $" },
	{  2, AGENT, 0,       0, 0, "try softreboot $" },
	{  2, AGENT, 0,       0, 0, "try reset $" },
	{  3, AGENT, 0,       0, 0, "try delete vm $" },
	{  2, AGENT, 0,       0, 0, "try delete vm $ grace=0" },
	{  2, AGENT, 0,       0, 0, "try delete vm $ orphan" },
	{  3, AGENT, 0,       0, 0, "try delete vmi $" },
	{  2, AGENT, 0,       0, 0, "try create vm $ %" },
	{  6, 0,     0,       FILED, 0, "vm $ %" },
	{  2, 0,     0,       FILED, 0, "vm $ % grace=3" },
	{  1, 0,     0,       FILED, 0, "vm $ % noacpi" },
	{  2, 0,     0,       FILED, 0, "vm $ % panic" },
	{  2, 0,     0,       FILED, 0, "vm $ % memory=128Mi" },
	{  1, 0,     0,       FILED, 0, "vm $ % order=2 delay=3" },
	{  2, FILED, 0,       0, FILED, "rm $.yaml" },
	{  5, 0,     0,       0, 0, "try guest $ poweroff" },
	{  4, 0,     0,       0, 0, "try guest $ crash" },
	{  2, 0,     0,       0, 0, "try guest $ panic" },
	{  2, 0,     0,       0, 0, "try guest $ reboot" },
	{  3, 0,     0,       0, 0, "try guest $ ioerror data enospc" },
	{  2, 0,     0,       0, 0, "try guest $ heals" },
	{  2, 0,     0,       0, 0, "try guest $ agent on" },
	{  1, 0,     0,       0, 0, "try guest $ agent off" },
	{  2, 0,     0,       DEAF, 0, "guest $ deaf" },
	{  2, DEAF,  0,       0, 0, "guest $ hears" },
	{  1, LIBVIRT, 0,     0, 0, "try virsh pause $" },
	{  1, LIBVIRT, 0,     0, 0, "try virsh resume $" },
	{  1, LIBVIRT, 0,     0, 0, "try virsh destroy $" },
	{  1, LIBVIRT, 0,     0, 0, "try virsh vanish $" },
	{  3, LIBVIRT, 0,     0, LIBVIRT, "libvirt down" },
	{  6, 0,     LIBVIRT, LIBVIRT, HUNG, "libvirt up" },
	{  3, LIBVIRT, 0,     0, HUNG, "libvirt restart" },
	{  2, LIBVIRT, HUNG | CRASH, HUNG, 0, "libvirt hang @" },
	{  4, HUNG,  0,       0, HUNG, "libvirt answers" },
	{  2, LIBVIRT, 0,     0, 0, "libvirt fail @ 2" },
	{  3, AGENT, HUNG,    0, AGENT, "agent down" },
	{  8, 0,     AGENT,   AGENT, 0, "agent up" },
	{  4, AGENT, HUNG,    0, 0, "agent restart" },
	{  2, UP,    HUNG,    0, 0, "host reboot" },
	{  2, 0,     0,       0, 0, "store down #" },
	{ 30, 0,     0,       0, 0, "wait #" },
};
static const char *const strategies[] = { "Always", "RerunOnFailure", "Manual", "Halted", "Once" };
static const char *const seconds[] = { "0.01", "0.1", "0.2", "0.21", "0.5", "1", "3", "10", "40" };
static const char *const ops[] = { "prepare", "start", "shutdown", "destroy", "undefine", "clean", "read",
	"list" };
static const char *const modes[] = { "libvirt odd", "libvirt silent", "libvirt late 40",
	"libvirt late 3000", "tune parallel-starts 1", "tune guard off", "tune free-restarts 0",
	"tune stable-seconds 5" };
/* clang-format on */

/* ---- chance ---------------------------------------------------------------------------------- */

/* xorshift64*: below n. */
unsigned random_draw(uint64_t *seed, unsigned n)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return (unsigned)((*seed * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % n;
}

#define DRAW(seed, list) ((list)[random_draw(seed, ARRAY_SIZE(list))])

/* ---- scenarios ------------------------------------------------------------------------------- */

void random_line(struct scenario *s, const char *text)
{
	struct line *line = LIST_ADD(s->lines, s->n, s->cap);

	line->text = xstrdup(text);
	line->number = (int)s->n;
}

static void write_act(struct scenario *s, const char *text, const char *name, uint64_t *seed)
{
	struct buf b = { 0 };

	for (; *text; text++) {
		if (*text == '$')
			buf_puts(&b, name);
		else if (*text == '%')
			buf_puts(&b, DRAW(seed, strategies));
		else if (*text == '#')
			buf_puts(&b, DRAW(seed, seconds));
		else if (*text == '@')
			buf_puts(&b, DRAW(seed, ops));
		else
			buf_add(&b, text, 1);
	}
	random_line(s, b.data);
	buf_done(&b);
}

/* NULL when what was drawn cannot be done in that state. */
static const struct deed *draw_act(unsigned state, uint64_t *seed)
{
	unsigned all = 0, at;

	for (size_t i = 0; i < ARRAY_SIZE(acts); i++)
		all += acts[i].weight;
	at = random_draw(seed, all);
	for (size_t i = 0; i < ARRAY_SIZE(acts); i++) {
		if (at >= acts[i].weight)
			at -= acts[i].weight;
		else if ((acts[i].needs & ~state) || (acts[i].lacks & state))
			return NULL;
		else
			return &acts[i];
	}
	return NULL;
}

/* A machine's own FILED, where the table has that of "the machine". */
static unsigned shifted(unsigned bits, size_t name)
{
	return (bits & ~FILED) | (bits & FILED ? FILED << name : 0);
}

static unsigned add_act(struct scenario *s, unsigned state, uint64_t *seed)
{
	size_t name = random_draw(seed, ARRAY_SIZE(names));
	unsigned view = (state & (FILED - 1)) | (state & (FILED << name) ? FILED : 0);
	const struct deed *act = draw_act(view, seed);

	if (!act)
		return state;
	write_act(s, act->text, names[name], seed);
	return (state | shifted(act->sets, name)) & ~shifted(act->clears, name);
}

static void heal(struct scenario *s, unsigned state)
{
	random_line(s, state & LIBVIRT ? "libvirt answers" : "libvirt up");
	if (!(state & AGENT))
		random_line(s, "agent up");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		write_act(s, "guest $ hears", names[i], &(uint64_t){ 1 });
		write_act(s, "try guest $ heals", names[i], &(uint64_t){ 1 });
	}
}

/* A start that hangs must not outlive the agent that sent it: libvirt would let nobody
 * else near the domain. */
static void make(struct scenario *s, bool crash, uint64_t *seed)
{
	unsigned state = UP | (crash ? CRASH : 0);
	size_t n = LINES_MIN + random_draw(seed, LINES_MAX - LINES_MIN);

	if (random_draw(seed, 2))
		random_line(s, DRAW(seed, modes));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		state |= FILED << i;
		write_act(s, "vm $ %", names[i], seed);
	}
	while (s->n < n)
		state = add_act(s, state, seed);
	heal(s, state);
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct mishap random_mishap(uint64_t *seed, unsigned among)
{
	struct mishap m = { .trouble = TROUBLE_NONE };

	if (random_draw(seed, 2))
		return m;
	m.trouble = 1 + random_draw(seed, FAULT_ANSWER);
	m.n = 1 + random_draw(seed, among);
	m.fate = random_draw(seed, FATE_MAX);
	return m;
}

/* Owned: why it fails, without the line and the moment; NULL: it does not. */
char *random_failure(struct scenario *s, struct mishap mishap)
{
	struct run_options options = { .mishap = mishap, .accept = true, .rest = !s->restless };
	struct outcome o;
	const char *text;
	char *why = NULL;

	scenario_run(s, &options, &o);
	if (o.failure) {
		text = strstr(o.failure, " s: ");
		why = xstrdup(text ? text + strlen(" s: ") : o.failure);
	}
	outcome_done(&o);
	return why;
}

/* Leaves out each line without which it fails just the same, from the end, until none is. */
static void shrink(struct scenario *s, struct mishap mishap, const char *why)
{
	for (size_t i = s->n; i-- > 0;) {
		struct line line = s->lines[i];

		memmove(&s->lines[i], &s->lines[i + 1], (--s->n - i) * sizeof(line));
		autofree char *now = random_failure(s, mishap);

		if (now && streq(now, why)) {
			line_done(&line);
			i = s->n; /* once more from the end */
			continue;
		}
		memmove(&s->lines[i + 1], &s->lines[i], (s->n++ - i) * sizeof(line));
		s->lines[i] = line;
	}
}

static void report(struct scenario *s, unsigned long seed, struct mishap mishap, const char *why)
{
	printf("FAIL random walk with seed %lu: %s\n", seed, why);
	shrink(s, mishap, why);
	if (mishap.trouble != TROUBLE_NONE)
		printf("# with the agent of host %u in trouble: %s, the %u, fate %d.\n",
			mishap.host + 1, trouble_name(mishap.trouble), mishap.n, mishap.fate);
	free(random_failure(s, mishap));
	for (size_t i = 0; i < s->n; i++)
		printf("%s\n%s", s->lines[i].text, s->lines[i].expected);
}

bool random_try(struct scenario *s, unsigned long seed, struct mishap mishap)
{
	autofree char *why = random_failure(s, mishap);

	if (why)
		report(s, seed, mishap, why);
	return !why;
}

bool random_walk(unsigned long seed, unsigned long count)
{
	bool good = true;

	for (unsigned long i = 0; i < count; i++) {
		struct scenario s = { .path = xstrdup("random"), .name = xstrdup("random") };
		uint64_t chance = (seed + i + 1) * UINT64_C(0x9e3779b97f4a7c15);

		struct mishap mishap = random_mishap(&chance, MISHAPS);

		make(&s, mishap.trouble && mishap.trouble <= CRASH_AFTER_ACTION, &chance);
		good &= random_try(&s, seed + i, mishap);
		scenario_done(&s);
	}
	if (good)
		printf("ok random walk, %lu scenarios from seed %lu\n", count, seed);
	return good;
}
