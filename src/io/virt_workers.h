/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small pools of threads for calls that may block: normal, urgent, those that wait for a guest's
 * agent, what clients fetch from guests, probes, and migrations. Threads start when there is work
 * for them and then stay. libuv's own pool is not used: its destructor would join a thread that
 * hangs in a call, and hung calls would hold up what libuv itself does there.
 *
 * The queues are as long as the callers make them: at most one op per machine and lane.
 */
#ifndef VMAGENT_IO_VIRT_WORKERS_H
#define VMAGENT_IO_VIRT_WORKERS_H

#include <vmagent/base.h>

#include <uv.h>

enum worker_pool {
	WORKERS_NORMAL,
	WORKERS_URGENT,
	WORKERS_AGENT,
	WORKERS_ERRAND,
	WORKERS_PROBE,
	WORKERS_MIGRATE,
	WORKERS_MAX
};

/* libvirtd serves five calls of a connection at once; urgent ones, agents and errands share one. */
#define WORKERS_NORMAL_THREADS  4
#define WORKERS_URGENT_THREADS  2
#define WORKERS_AGENT_THREADS   2
#define WORKERS_ERRAND_THREADS  1
#define WORKERS_PROBE_THREADS   4
/* MIGRATIONS_AT_ONCE_MAX: as many as may leave a host at once; each on a connection of its own. */
#define WORKERS_MIGRATE_THREADS 16

/* Embedded in what the caller allocates; owned by the pool from submit to done. */
struct job {
	struct job *next;
	void (*run)(struct job *job);  /* on a worker; NULL: only done */
	void (*done)(struct job *job); /* afterwards, on the loop's thread */
};

struct workers;

struct workers *workers_new(uv_loop_t *loop);

/* Loop thread. Returns at once; job->done() is never called from within. */
void workers_submit(struct workers *workers, enum worker_pool pool, struct job *job);

/* Jobs that are in run() now. */
size_t workers_busy(const struct workers *workers);

/* Loop thread; nothing may be busy. Ends the threads and drops what is queued (its done() is
 * called); memory goes when the loop has run the close callback. */
void workers_free(struct workers *workers);

#endif
