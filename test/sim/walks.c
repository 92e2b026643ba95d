/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walks: a scenario again and again, each time with the agent killed, or something failing, at
 * another point; the end state must always be that of the plain run (design §6.5, §7).
 */
#include <stdio.h>
#include <string.h>

#include "scenario.h"

/* clang-format off */
static const char *const trouble_names[] = {
	[TROUBLE_NONE]        = "none",
	[CRASH_BEFORE_COMMIT] = "before-commit",
	[CRASH_AFTER_COMMIT]  = "after-commit",
	[CRASH_AFTER_ACTION]  = "after-action",
	[FAULT_STORE]         = "store-fault",
	[FAULT_OP]            = "op-fault",
	[FAULT_ANSWER]        = "answer-fault",
};
static const char *const fate_names[FATE_MAX] = {
	[FATE_FINISH]   = "finish",
	[FATE_VANISH]   = "vanish",
	[FATE_FINISHED] = "finished",
};
/* clang-format on */

const char *trouble_name(enum trouble trouble)
{
	return trouble_names[trouble];
}

struct walk {
	unsigned host;
	struct scenario *s;
	const struct outcome *plain;
	bool full;
	unsigned runs;
	bool failed;
};

static void report(struct walk *walk, const struct mishap *m, const struct outcome *o)
{
	struct buf diff = { 0 };

	walk->failed = true;
	printf("FAIL %s: host %u, %s %u, ops %s: ", walk->s->name, m->host + 1,
		trouble_names[m->trouble], m->n, fate_names[m->fate]);
	if (o->failure) {
		printf("%s\n", o->failure);
	} else {
		transcript_diff(walk->plain->end, o->end, &diff);
		printf("another end state (- plain, + now):\n%s", diff.data ? diff.data : "");
	}
	printf("  again: sim --only %s:%u:%s:%u %s\n", trouble_names[m->trouble], m->n,
		fate_names[m->fate], m->host, walk->s->path);
	buf_done(&diff);
}

/* Unless the scenario says so, how often guests were started counts too: those lines come last. */
static bool same_end(const struct walk *walk, const struct outcome *o)
{
	size_t a = strcspn(walk->plain->end, "\f"), b = strcspn(o->end, "\f");

	if (walk->s->any_end)
		return true;
	if (!walk->s->any_boots)
		return streq(o->end, walk->plain->end);
	return a == b && strncmp(o->end, walk->plain->end, a) == 0;
}

static bool walk_one(struct walk *walk, const struct run_options *options)
{
	struct outcome o;
	bool good;

	scenario_run(walk->s, options, &o);
	good = !o.failure && same_end(walk, &o);
	if (!good)
		report(walk, &options->mishap, &o);
	walk->runs += o.happened;
	outcome_done(&o);
	return good;
}

/*
 * The first failure ends a walk: its neighbours would say the same. Writes of one transaction fail
 * alike, so that a third of them will do, another third in each scenario.
 */
static void walk_points(struct walk *walk, struct mishap m, unsigned from, unsigned to)
{
	unsigned fates = m.trouble == CRASH_AFTER_ACTION ? FATE_MAX : 1;
	bool sample = m.trouble == FAULT_STORE && !walk->full;
	unsigned skip = sample ? (unsigned)strlen(walk->s->name) % 3 : 0;

	for (m.n = from + 1 + skip; m.n <= to && !walk->failed; m.n += sample ? 3 : 1) {
		for (unsigned fate = 0; fate < fates && !walk->failed; fate++) {
			struct run_options options = { .mishap = { m.trouble, m.n, fate,
							       walk->host },
				.rest = walk->s->any_end };

			walk_one(walk, &options);
		}
	}
}

static void walk(struct walk *walk, enum trouble trouble, unsigned from, unsigned to)
{
	walk_points(walk, (struct mishap){ .trouble = trouble }, from, to);
}

static bool walk_done(const struct walk *walk, const char *name)
{
	if (!walk->failed && walk->s->hosts)
		printf("ok %s (%s walk of host %u, %u runs)\n", walk->s->name, name, walk->host + 1,
			walk->runs);
	else if (!walk->failed)
		printf("ok %s (%s walk, %u runs)\n", walk->s->name, name, walk->runs);
	return !walk->failed;
}

/* Whether an earlier scenario of this process began with the same lines. */
static bool is_known_prefix(const struct scenario *s)
{
	static uint64_t known[1024];
	static size_t n_known;
	uint64_t hash = UINT64_C(14695981039346656037);
	bool waits = false;

	for (size_t i = 0; i < s->n && !waits; i++) {
		for (const char *c = s->lines[i].text; *c; c++)
			hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
		waits = starts_with(s->lines[i].text, "wait");
	}
	for (size_t i = 0; i < n_known; i++) {
		if (known[i] == hash)
			return true;
	}
	if (n_known < ARRAY_SIZE(known))
		known[n_known++] = hash;
	return false;
}

static bool walk_host(struct scenario *s, const struct outcome *plain, unsigned host, bool full)
{
	struct walk crash = { .host = host, .s = s, .plain = plain, .full = full }, fault = crash;
	struct points from = { 0 }, to = plain->all;

	if (is_known_prefix(s) && !full)
		from = plain->prefix;
	if (!s->no_crash_walk) {
		walk(&crash, CRASH_BEFORE_COMMIT, from.commits, to.commits);
		walk(&crash, CRASH_AFTER_COMMIT, from.commits, to.commits);
		walk(&crash, CRASH_AFTER_ACTION, from.actions, to.actions);
	}
	if (!s->no_fault_walk) {
		walk(&fault, FAULT_STORE, from.writes, to.writes);
		walk(&fault, FAULT_OP, from.ops, to.ops);
		walk(&fault, FAULT_ANSWER, from.ops, to.ops);
	}
	return (s->no_crash_walk || walk_done(&crash, "crash")) &
		(s->no_fault_walk || walk_done(&fault, "fault"));
}

/* The points of another host than the first are found in a plain run. */
bool walks_run(struct scenario *s, const struct outcome *plain, bool full)
{
	bool good = walk_host(s, plain, 0, full);

	for (unsigned host = 1; host < s->hosts; host++) {
		struct run_options options = { .mishap.host = host };
		struct outcome points;

		scenario_run(s, &options, &points);
		good &= walk_host(s, &points, host, full);
		outcome_done(&points);
	}
	return good;
}

bool walks_only(struct scenario *s, const struct outcome *plain, const char *what)
{
	struct walk walk = { .s = s, .plain = plain };
	struct run_options options = { .print = true };
	char trouble[32] = "", fate[32] = "";

	sscanf(what, "%31[^:]:%u:%31[^:]:%u", trouble, &options.mishap.n, fate,
		&options.mishap.host);
	for (unsigned i = 0; i < ARRAY_SIZE(trouble_names); i++) {
		if (streq(trouble_names[i], trouble))
			options.mishap.trouble = i;
	}
	for (unsigned i = 0; i < FATE_MAX; i++) {
		if (streq(fate_names[i], fate))
			options.mishap.fate = i;
	}
	return walk_one(&walk, &options);
}
