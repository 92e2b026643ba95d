/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the public documents share. */
#ifndef VMAGENT_CORE_DOCUMENT_PRIVATE_H
#define VMAGENT_CORE_DOCUMENT_PRIVATE_H

#include "core/json.h"
#include "core/machine.h"

/* migration_document.c: status.migrationState; node is this host. */
struct migration;
void document_add_migration(cJSON *status, const struct migration *g, const char *node);

/* document_run.c: what a run's status says of its machine. */
void document_add_run(cJSON *status, const struct vmi *vmi);

#endif
