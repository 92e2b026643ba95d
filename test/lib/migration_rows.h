/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the deciders of a migration see, for tests that put facts there: a migration of a run
 * whose domain runs here, seen just now, with everything connected. And rows: facts, and what
 * is decided by them.
 */
#ifndef VMAGENT_TEST_LIB_MIGRATION_ROWS_H
#define VMAGENT_TEST_LIB_MIGRATION_ROWS_H

#include "core/migration.h"

#define NOW SECONDS(1000)

extern struct migration g;
extern struct machine m;
extern struct vmi vmi;
extern struct handover_rules rules;
extern struct migration_view view; /* of all of these */

void migration_set_up(void); /* the source's, before its target is ready */

/* Facts that either end may find. Each adds to what there is. */
typedef void fact(void);

void pauses(enum domain_reason reason); /* its domain */
fact peer_gone, disconnected, too_late, unseen, run_is_gone, busy_lane, main_lane_busy;
fact acked, post_copy, networked, announced, announcing;

struct migration_row {
	fact *facts[4]; /* in this order */
	enum migration_step step;
	enum handover_kind say; /* of a step SAY */
	const char *reason;     /* words of it, or NULL */
};

#define SAY(kind)  MIGRATION_STEP_SAY, HANDOVER_##kind
#define STEP(step) MIGRATION_STEP_##step, 0

void migration_row_check(const struct migration_row *row);

#endif
