/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done about a migration while its memory is copied: go on, let the guest stand still
 * for longer at the end, pause it, go over to post-copy, give up (semantics §12.3, in the order
 * of its rows). Pure.
 */
#ifndef VMAGENT_CORE_MIGRATION_MONITOR_H
#define VMAGENT_CORE_MIGRATION_MONITOR_H

#include <vmagent/migration_limits.h>

#define MIGRATION_DOWNTIME_FIRST_MS  300 /* QEMU's own */
#define MIGRATION_DOWNTIME_STEPS     7   /* from that to the most that is allowed */
/* Before it is raised the guest's memory was sent so often. */
#define MIGRATION_DOWNTIME_ITERATION 3
#define MIGRATION_DOWNTIME_PAUSE_S   10 /* between two raises */

struct migration_seen {     /* libvirt's statistics of the job */
	msec elapsed;       /* since it began */
	int64_t total;      /* bytes of memory and of the disks that are copied */
	int64_t remaining;  /* … that are still to be sent */
	unsigned iteration; /* how often the memory was gone through; 0: the disks come first */
	bool post_copy;     /* it is in that phase */
	bool device;        /* a host device is given to the guest: no post-copy */
};

struct migration_watch { /* what the monitor remembers of one migration; zero at first */
	bool begun;
	bool memory;    /* it is at the memory, which follows the disks */
	int64_t lowest; /* of what remained … */
	msec lowest_at; /* … and when, by the job's own time */
	bool longer;    /* the guest was paused for it, or may stand still: time is doubled */
	bool given_up;
	unsigned raised; /* steps of downtime */
	msec raised_at;
};

enum migration_action {
	MIGRATION_GO_ON,
	MIGRATION_DOWNTIME,  /* the guest may stand still for downtime_ms */
	MIGRATION_PAUSE,     /* its memory is to change no more */
	MIGRATION_POST_COPY, /* it is to go on at the target before all of it is there */
	MIGRATION_ABORT
};

struct migration_order {
	enum migration_action action;
	unsigned downtime_ms; /* DOWNTIME */
	const char *why;      /* ABORT, PAUSE, POST_COPY: a constant */
};

/* One look: notes in *watch what it decides, so that each thing is ordered once. */
struct migration_order migration_monitor(struct migration_watch *watch,
	const struct migration_limits *limits, const struct migration_seen *seen);

/* Carries an order out. Whether it was taken. */
typedef bool migration_obey_fn(void *ctx, const struct migration_order *order);
/* One look, and what it orders; what was not taken is ordered again by the next. */
void migration_monitor_look(struct migration_watch *watch, const struct migration_limits *limits,
	const struct migration_seen *seen, migration_obey_fn *obey, void *ctx);

/* When the time for all of it is up, by the job's own time; NEVER: there is no limit. */
msec migration_time_limit(const struct migration_limits *limits, int64_t total);

#endif
