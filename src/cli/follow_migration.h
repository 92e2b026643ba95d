/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the end of a migration, and shows on the way how far it is. */
#ifndef VMAGENT_CLI_FOLLOW_MIGRATION_H
#define VMAGENT_CLI_FOLLOW_MIGRATION_H

#include "cli/cli.h"

/*
 * Follows the migration of the VM that is under way, or else its last one. On a terminal one line
 * is drawn again and again; elsewhere there is a line for each phase, and one every few seconds.
 * Interrupted, the program ends and says that the migration goes on. deadline: http_clock(); NEVER.
 * Returns 0 when it succeeded, or -1: its reason, or EXIT_TIMEOUT.
 */
int follow_migration(const struct cli *cli, const char *vm, msec deadline, struct fault *fault);

#endif
