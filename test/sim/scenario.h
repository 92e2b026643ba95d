/* SPDX-License-Identifier: Apache-2.0 */
/* Scenario files, one run of one, and what a run comes to: shared by main, the
 * runner and the walks. */
#ifndef VMAGENT_TEST_SCENARIO_H
#define VMAGENT_TEST_SCENARIO_H

#include "sim.h"

/* transcript.c: the lines of both, '-' for those that were expected only, '+' for those that
 * came. */
void transcript_diff(const char *expected, const char *actual, struct buf *ret);

/* scenario.c */
struct line {           /* one command of a scenario */
	char *before;   /* owned or NULL: comments and empty lines above it */
	char *text;     /* owned */
	char *block;    /* owned or NULL: what stood between << and its end */
	char *expected; /* owned or NULL: the log lines below it */
	int number;
};
struct scenario {
	char *path, *name;  /* owned */
	struct line *lines; /* owned */
	size_t n, cap;
	char *tail; /* owned or NULL: comments after the last command */
	bool no_crash_walk, no_fault_walk;
	const char *without; /* borrowed or NULL: a rule of the hand-over that is left out */
	unsigned hosts;      /* 0: one, without peers */
	bool any_end; /* how it ends depends on that, too: only that it ends, and at rest, is asked for */
	/* Drawn at random: */
	bool restless;  /* nobody promises that it comes to rest */
	bool remade;    /* users delete machines, and make others of their names */
	bool any_boots; /* how often a guest was started depends on when the agent was killed */
};
void line_done(struct line *line);
int scenario_load(const char *path, struct scenario *ret, struct err *err);
void scenario_done(struct scenario *s);

struct points { /* at which a crash or a fault is possible */
	unsigned commits, actions, ops, writes;
};
struct outcome {
	char *end;            /* owned: the end state */
	char *failure;        /* owned or NULL */
	struct points prefix; /* up to and with the first line that waits */
	struct points all;
	bool happened; /* the mishap */
};
void outcome_done(struct outcome *o);
/* accept: writes the actual log into the scenario's lines instead of comparing. */
struct run_options {
	struct mishap mishap;
	bool accept;
	bool print;
	bool rest; /* at the end all is healed, and must have come to rest */
};
void scenario_run(struct scenario *s, const struct run_options *options, struct outcome *ret);
int scenario_save(const struct scenario *s, struct err *err);

/* walks.c */
/* Beginnings that an earlier scenario shares are not walked again, unless `full`. */
bool walks_run(struct scenario *s, const struct outcome *plain, bool full);
const char *trouble_name(enum trouble trouble);
/* One run; what: "after-action:7:vanish". */
bool walks_only(struct scenario *s, const struct outcome *plain, const char *what);

/* random.c */
/* That many scenarios, of the seeds from that one on. */
bool random_walk(unsigned long seed, unsigned long count);
unsigned random_draw(uint64_t *seed, unsigned n); /* below n */
void random_line(struct scenario *s, const char *text);
struct mishap random_mishap(uint64_t *seed, unsigned among);
/* Owned: why it fails, or NULL. */
char *random_failure(struct scenario *s, struct mishap mishap);
/* Runs it; one that fails is cut down and shown. */
bool random_try(struct scenario *s, unsigned long seed, struct mishap mishap);

/* crash_table.c */
bool crash_table(void);

/* random_hosts.c: the same of several hosts, between which a guest moves. */
bool random_hosts(unsigned long seed, unsigned long count);
/* Whether one of the scenarios notices when a rule is left out that moves stand on,
 * for each of them. */
bool random_without(char *const *paths, size_t n);

#endif
