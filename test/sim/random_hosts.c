/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios drawn at random in which one guest moves between hosts while agents, libvirts, QEMUs,
 * hosts, links and messages fail. Whatever happens it runs at most once, never from an image that
 * is out of date, and when all is healed every migration has ended and the guest is at one host.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/agent_private.h"
#include "scenario.h"

#define LINES_MIN 6
#define LINES_MAX 34
#define MISHAPS   80

/* What is so at a host. */
enum state { AGENT = 1 << 0, LIBVIRT = 1 << 1, POWER = 1 << 2, FILED = 1 << 3, EFI = 1 << 4 };
#define ALL (AGENT | LIBVIRT | POWER)

/* Which moves a game may hold besides: each has its own promises. */
enum play {
	PLAIN,
	ORDERS, /* users stop, delete and create machines, and edit files, wherever */
	DEATHS, /* hosts lose their power, and are declared dead */
	LOSSES, /* … and their databases */
	PLAYS
};

/* clang-format off */
static const struct deed {
	unsigned weight;
	unsigned needs, lacks, sets, clears;
	/* @, first: on a host; &, first: on another one that has an agent. ^: the host; $:
	 * another one; #: seconds; %: a kind of message; !: a stage; +: a strategy */
	const char *text;
	enum play play; /* PLAIN: in all */
} deeds[] = {
	{ 22, AGENT,   0,       0,       0,       "@try migrate web $", PLAIN },
	{  3, AGENT,   0,       0,       0,       "@try cancel web", PLAIN },
	{  3, AGENT,   0,       0,       0,       "@try delete migration web", PLAIN },
	{  2, AGENT,   0,       0,       0,       "@try pause web", PLAIN },
	{  3, AGENT,   0,       0,       0,       "@try unpause web", PLAIN },
	{  1, AGENT,   0,       0,       0,       "@try restart web grace=0", PLAIN },
	{  3, AGENT,   0,       0,       0,       "@agent restart", PLAIN },
	{  2, AGENT,   0,       0,       AGENT,   "@agent down", PLAIN },
	{  6, POWER,   AGENT,   AGENT,   0,       "@agent up", PLAIN },
	{  3, LIBVIRT, 0,       0,       0,       "@libvirt restart", PLAIN },
	{  2, LIBVIRT, 0,       0,       LIBVIRT, "@libvirt down", PLAIN },
	{  6, POWER,   LIBVIRT, LIBVIRT, 0,       "@libvirt up", PLAIN },
	{  3, LIBVIRT, 0,       0,       0,       "@try guest web crash", PLAIN },
	{  2, AGENT | LIBVIRT, 0, 0,     0,       "@host reboot", PLAIN },
	{  4, 0,       0,       0,       0,       "net break ^ $", PLAIN },
	{  3, 0,       0,       0,       0,       "net cut ^ $", PLAIN },
	{  6, 0,       0,       0,       0,       "net heal ^ $", PLAIN },
	{  5, 0,       0,       0,       0,       "net lose % 2", PLAIN },
	{  3, 0,       0,       0,       0,       "net double % 1", PLAIN },
	{  3, 0,       0,       0,       0,       "net late % 1 2500", PLAIN },
	{  1, 0,       0,       0,       0,       "net lose all 3", PLAIN },
	{  4, LIBVIRT, 0,       0,       0,       "@libvirt stop-at !", PLAIN },
	{  6, LIBVIRT, 0,       0,       0,       "@libvirt go-on", PLAIN },
	{  2, LIBVIRT, 0,       0,       0,       "@libvirt fail migrate-resume 1", PLAIN },
	{  1, LIBVIRT, 0,       0,       0,       "@libvirt fail migrate-seal 1", PLAIN },
	{  2, LIBVIRT, 0,       0,       0,       "@libvirt hang migrate-seal", PLAIN },
	{  2, LIBVIRT, 0,       0,       0,       "@libvirt answers", PLAIN },
	{  1, 0,       0,       0,       0,       "@store down #", PLAIN },
	{  1, 0,       0,       0,       0,       "@host clock -7200", PLAIN },
	{  1, 0,       0,       0,       0,       "@host clock 7200", PLAIN },
	{  1, 0,       0,       0,       0,       "@tune variables read-only", PLAIN },
	{  2, 0,       0,       0,       0,       "@tune variables writable", PLAIN },
	{  1, 0,       0,       0,       0,       "@tune space none", PLAIN },
	{  2, 0,       0,       0,       0,       "@tune space enough", PLAIN },
	{ 40, 0,       0,       0,       0,       "wait #", PLAIN },
	{  4, AGENT,   0,       0,       0,       "@try stop web", ORDERS },
	{  2, AGENT,   0,       0,       0,       "@try stop web grace=0", ORDERS },
	{  8, AGENT,   0,       0,       0,       "@try start web", ORDERS },
	{  3, AGENT,   0,       0,       0,       "@try delete vm web grace=0", ORDERS },
	{  1, AGENT,   EFI,     0,       0,       "@try delete vm web orphan", ORDERS },
	{  2, AGENT,   0,       0,       0,       "@try delete vmi web", ORDERS },
	{  6, AGENT,   0,       0,       0,       "@try create vm web +", ORDERS },
	{  3, 0,       0,       FILED,   0,       "@vm web +", ORDERS },
	{  1, FILED,   0,       0,       FILED,   "@rm web.yaml", ORDERS },
	{  3, ALL,     0,       0,       ALL,     "@host off", DEATHS },
	{ 12, 0,       POWER,   0,       0,       "&try declare-dead ^", DEATHS },
	{  5, 0,       POWER,   ALL,     0,       "@host boot", DEATHS },
	{  3, ALL,     0,       0,       0,       "@database lost", LOSSES },
};
static const char *const seconds[] = { "0.01", "0.02", "0.03", "0.1", "0.2", "0.3", "0.6", "0.61", "0.63",
	"0.65", "0.7", "0.85", "1", "2", "5", "31", "130" };
static const char *const stages[] = { "open", "copy", "switch", "finish", "held", "confirm" };
static const char *const strategies[] = { "Always", "Always", "RerunOnFailure" };
static const char *const modes[] = { "@libvirt silent", "@libvirt odd", "@libvirt late 40", "@libvirt late 3000" };
/* clang-format on */

#define DRAW(seed, list) ((list)[random_draw(seed, ARRAY_SIZE(list))])

struct game {
	struct scenario *s;
	enum play play;
	unsigned hosts;
	unsigned state[HOSTS_MAX];
	uint64_t *seed;
};

/* The number of one that has an agent; 0: none has. */
static unsigned other_of(const struct game *g, unsigned host)
{
	for (unsigned i = 1; i < g->hosts; i++)
		if (g->state[(host + i) % g->hosts] & AGENT)
			return (host + i) % g->hosts + 1;
	return 0;
}

static void add(struct game *g, unsigned host, const char *text)
{
	struct buf b = { 0 };

	if (*text == '@' && host)
		buf_printf(&b, "@node%u ", host + 1);
	if (*text == '&')
		buf_printf(&b, "@node%u ", other_of(g, host));
	for (text += *text == '@' || *text == '&'; *text; text++) {
		if (*text == '^')
			buf_printf(&b, "node%u", host + 1);
		else if (*text == '+')
			buf_puts(&b, DRAW(g->seed, strategies));
		else if (*text == '$')
			buf_printf(&b, "node%u",
				(host + 1 + random_draw(g->seed, g->hosts - 1)) % g->hosts + 1);
		else if (*text == '#')
			buf_puts(&b, DRAW(g->seed, seconds));
		else if (*text == '%')
			buf_puts(&b, handover_name(random_draw(g->seed, HANDOVER_MAX)));
		else if (*text == '!')
			buf_puts(&b, DRAW(g->seed, stages));
		else
			buf_add(&b, text, 1);
	}
	random_line(g->s, b.data);
	buf_done(&b);
}

static const struct deed *draw_deed(struct game *g)
{
	unsigned all = 0, at;

	for (size_t i = 0; i < ARRAY_SIZE(deeds); i++)
		all += deeds[i].weight;
	at = random_draw(g->seed, all);
	for (size_t i = 0; i < ARRAY_SIZE(deeds); i++) {
		if (at < deeds[i].weight)
			return &deeds[i];
		at -= deeds[i].weight;
	}
	return &deeds[0];
}

/* What cannot be done just now is not. */
static void act(struct game *g)
{
	const struct deed *deed = draw_deed(g);
	unsigned host = random_draw(g->seed, g->hosts);
	unsigned *state = &g->state[host];

	if ((deed->needs & ~*state) || (deed->lacks & *state) ||
		(deed->play && deed->play != g->play) || (*deed->text == '&' && !other_of(g, host)))
		return;
	add(g, host, deed->text);
	*state = (*state | deed->sets) & ~deed->clears;
}

static void heal_links(struct game *g)
{
	for (unsigned a = 0; a < g->hosts; a++)
		for (unsigned b = 0; b < a; b++) {
			autofree char *line = xasprintf("net heal node%u node%u", b + 1, a + 1);

			add(g, 0, line);
		}
}

static void heal(struct game *g)
{
	heal_links(g);
	for (unsigned host = 0; host < g->hosts; host++) {
		add(g, host, "@tune variables writable");
		add(g, host, "@tune space enough");
		if (!(g->state[host] & POWER))
			add(g, host, "@host boot");
		else if (!(g->state[host] & LIBVIRT))
			add(g, host, "@libvirt up");
		add(g, host, "@libvirt answers");
		add(g, host, "@libvirt go-on");
		if (g->state[host] & POWER && !(g->state[host] & AGENT))
			add(g, host, "@agent up");
	}
}

/* The guest has gone over in the second attempt, and its agent cannot see that: what fails now
 * fails before it is released. */
static void go_over(struct game *g)
{
	static const char *const lines[] = { "try migrate web node2", "wait 1",
		"libvirt stop-at copy", "wait 2", "libvirt hang read", "libvirt go-on",
		"wait 0.7" };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		add(g, 0, lines[i]);
}

static void make(struct game *g)
{
	size_t n = LINES_MIN + random_draw(g->seed, LINES_MAX - LINES_MIN);
	bool busy; /* guests go over before their memory */
	autofree char *hosts = xasprintf("hosts %u", g->hosts);
	/* What its variables were goes with who is declared dead before COMMIT, or with a database. */
	bool keeps = g->play == PLAIN || g->play == ORDERS;
	const char *firmware = random_draw(g->seed, 3) || !keeps ? "" : " efi";
	autofree char *vm = xasprintf("vm web %s%s", DRAW(g->seed, strategies), firmware);

	busy = !random_draw(g->seed, 2);
	add(g, 0, hosts);
	g->s->hosts = g->hosts;
	if (!random_draw(g->seed, 3))
		add(g, random_draw(g->seed, g->hosts), DRAW(g->seed, modes));
	add(g, 0, vm);
	add(g, 0, "wait 1");
	add(g, 0, "wait 1");
	for (unsigned host = 0; host < g->hosts; host++)
		g->state[host] = ALL | (host ? 0 : FILED) | (*firmware ? EFI : 0);
	for (unsigned host = 0; busy && host < g->hosts; host++) {
		add(g, host, "@tune post-copy on");
		add(g, host, "@libvirt busy on");
	}
	if (busy && random_draw(g->seed, 2))
		go_over(g);
	else if (random_draw(g->seed, 4))
		add(g, 0, "@try migrate web $");
	while (g->s->n < n)
		act(g);
	heal(g);
}

static struct mishap make_seed(struct scenario *s, unsigned long seed)
{
	uint64_t chance = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	struct mishap mishap = random_mishap(&chance, MISHAPS);
	struct game g = { .s = s, .hosts = 2 + !random_draw(&chance, 4), .seed = &chance };

	*s = (struct scenario){ .path = xstrdup("random"), .name = xstrdup("random") };
	g.play = random_draw(&chance, PLAYS);
	s->remade = g.play == ORDERS;
	s->restless = g.play == LOSSES; /* what was lost with it, a person has to bring back */
	mishap.host = random_draw(&chance, g.hosts);
	make(&g);
	return mishap;
}

/* Owned: how the scenario fails without that rule, or NULL. */
static char *file_failure(const char *path, const char *without)
{
	struct run_options options = { .accept = true };
	struct outcome o;
	struct scenario s;
	struct err err;
	char *why;

	if (scenario_load(path, &s, &err) < 0)
		return NULL;
	s.without = without;
	scenario_run(&s, &options, &o);
	why = take(&o.failure);
	outcome_done(&o);
	scenario_done(&s);
	return why;
}

/* A failure of the simulation's own asserts, not only of what the scenario expects. */
static bool is_invariant(const char *why)
{
	return why && !strstr(why, "not as expected") && !strstr(why, "waited in vain");
}

static bool is_noticed(char *const *paths, size_t n, const char *without)
{
	for (size_t i = 0; i < n; i++) {
		autofree char *why = file_failure(paths[i], without);

		autofree char *always = file_failure(paths[i], NULL);

		if (!is_invariant(why) || always)
			continue;
		printf("ok moves without %s are noticed: %s: %s\n", without, paths[i], why);
		return true;
	}
	printf("FAIL moves without %s: nothing is noticed\n", without);
	return false;
}

bool random_without(char *const *paths, size_t n)
{
	static const char *const rules[] = { "paused", "evidence", "patience", "memory",
		"suspicion", "vouching" };
	bool good = true;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		good &= is_noticed(paths, n, rules[i]);
	return good;
}

bool random_hosts(unsigned long seed, unsigned long count)
{
	bool good = true;

	for (unsigned long i = 0; i < count; i++) {
		struct scenario s;
		struct mishap mishap = make_seed(&s, seed + i);

		good &= random_try(&s, seed + i, mishap);
		scenario_done(&s);
	}
	if (good)
		printf("ok random moves, %lu scenarios from seed %lu\n", count, seed);
	return good;
}
