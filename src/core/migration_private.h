/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the migration's deciders share. A rule returns true when the plan is made. */
#ifndef VMAGENT_CORE_MIGRATION_PRIVATE_H
#define VMAGENT_CORE_MIGRATION_PRIVATE_H

#include "core/migration.h"

bool plan_migration(struct migration_plan *plan, enum migration_step step, const char *reason);
/* Asks to be woken. Returns false. */
bool migration_wake(struct migration_plan *plan, msec at);
/* Says it, unless it was said just now or nobody would hear it. */
bool migration_say(const struct migration_view *v, enum handover_kind kind,
	struct migration_plan *plan);
/* Has the domain read again, from time to time. */
bool migration_look(const struct migration_view *v, struct migration_plan *plan);
/* Has somebody told of it when nobody has resolved it for a while. */
bool migration_tell_doubt(const struct migration_view *v, struct migration_plan *plan);
/* With post-copy: its domain says that the way broke down. */
bool migration_is_broken(const struct migration_view *v);
/* What is known of the domain is fresh. */
bool migration_knows(const struct migration_view *v);
/* The lane is free, and the last failure is long enough ago. */
bool migration_may_act(const struct migration_view *v, enum op_lane lane,
	struct migration_plan *plan);

/* Has the network told where the guest is now. True until that was tried, then false; also where
 * nothing can be told. */
bool migration_announce(const struct migration_view *v, struct migration_plan *plan);

/* migration_source.c, migration_target.c */
void migration_decide_source(const struct migration_view *v, struct migration_plan *plan);
void migration_decide_target(const struct migration_view *v, struct migration_plan *plan);

#endif
