/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a run can be moved to another host while it lives, and how, as its spec tells (semantics
 * §1.3): conditions LiveMigratable and StorageLiveMigratable, status.migrationMethod. Pure.
 */
#ifndef VMAGENT_CORE_MIGRATABLE_H
#define VMAGENT_CORE_MIGRATABLE_H

#include "core/manifest.h"

struct migratable {
	/* LiveMigratable=False: the first check that fails, a constant; NULL: it is True. */
	const char *reason;
	char *message; /* owned or NULL: its words */
	char *storage; /* owned or NULL: StorageLiveMigratable=False, all causes; disks are none */
	bool block;    /* disks are to be copied: BlockMigration */
};

void migratable_of(const struct vmi *vmi, struct migratable *ret);
/* Every check that fails, each as a finding whose field is its reason. */
void migratable_findings(const struct vmi *vmi, struct findings *ret);
void migratable_done(struct migratable *m);

#endif
