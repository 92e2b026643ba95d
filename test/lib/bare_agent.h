/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real agent with a store in memory, and a hypervisor that only keeps what it is asked for: what
 * comes of it is the test's to say. For fuzz targets; rig.h has a domain as well.
 */
#ifndef VMAGENT_TEST_LIB_BARE_AGENT_H
#define VMAGENT_TEST_LIB_BARE_AGENT_H

#include "daemon/agent.h"

#define BARE_OPS_MAX 64 /* further ones are lost */

struct bare_agent {
	struct hypervisor hv;         /* first */
	struct store *store;          /* owned */
	struct agent *agent;          /* owned or NULL */
	struct agent_options options; /* may be added to before a life */
	struct now now;               /* stands still */
	uint8_t seed;
	struct op ops[BARE_OPS_MAX]; /* owned: submitted, not answered */
	size_t n_ops;
};

/* Zeroed before. Aborts where that cannot be, as all of this does. */
void bare_agent_init(struct bare_agent *a, struct now now);
void bare_agent_done(struct bare_agent *a);

/* A life; the one before it, and what it had asked for, ends. */
void bare_agent_start(struct bare_agent *a);
/* Takes out the i-th op, which is the caller's from then on; the last one has its place. */
struct op bare_agent_take(struct bare_agent *a, size_t i);

#endif
