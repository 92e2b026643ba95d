/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the watch share: what is stored, as they look at it. */
#ifndef VMAGENT_TEST_SIM_WATCH_H
#define VMAGENT_TEST_SIM_WATCH_H

#include "core/migration.h"
#include "sim.h"

/* The few fields that matter of a VMI's private state; the whole is loaded only where it counts. */
struct stored {
	bool there;
	char uid[UID_SIZE];
	enum phase phase;
	enum pause pause;
	bool stopping; /* it was deleted, goes down with its host, or is not well */
	bool signalled, killed, act, tried, ended, claim, words;
	bool discard; /* its image is not to be used */
};

struct stored watch_stored(const struct object_row *row); /* of a VMI */

/* watch_migrations.c */
#define IN(state) (1U << MIGRATION_##state)
/* A migration of that run, in one of these states (bits). */
struct row_query {
	const char *vmi_uid;
	enum migration_role role;
	unsigned states;
	bool found, moved, discard;
};
struct row_query watch_migration(struct world *w, const char *vmi_uid, enum migration_role role,
	unsigned states);
/* NULL: what is stored justifies that op, one of a migration. */
const char *watch_migration_objection(struct world *w, const struct op *op);
void watch_quiet_migrations(struct world *w);

#endif
