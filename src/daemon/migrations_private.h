/* SPDX-License-Identifier: Apache-2.0 */
/* What migrations_turn.c and migration_owners.c share: one migration with its machine, and what is
 * said and done of both. */
#ifndef VMAGENT_DAEMON_MIGRATIONS_PRIVATE_H
#define VMAGENT_DAEMON_MIGRATIONS_PRIVATE_H

#include "daemon/migrations.h"

struct migration_call {
	struct agent *agent;
	struct migration *g;
	struct machine *m; /* or NULL */
	const struct migration_plan *plan;
	struct now now;
};

/* An event of its run, unless reason is NULL, and a log line. */
void migration_note(struct migration_call *c, bool warning, const char *reason, const char *text);
/* before 'PEER' after */
void migration_note_peer(struct migration_call *c, const char *reason, const char *before,
	const char *after);
void migration_note_failed(struct migration_call *c);
void migration_changed(struct migration_call *c); /* … and its machine: both are saved */
void migration_end_run(struct migration_call *c, enum phase phase);
void migration_leave(struct migration_call *c, bool moved); /* its VM and what belongs to it go */
void migration_move_away(struct migration_call *c);

#endif
