/* SPDX-License-Identifier: Apache-2.0 */
/* The commands, in the order in which help shows them: one file each, or one per family. */
#ifndef VMAGENT_CLI_COMMANDS_H
#define VMAGENT_CLI_COMMANDS_H

#include "cli/cli.h"

/* clang-format off */
#define COMMANDS(X)                                                    \
	X(get) X(describe) X(explain) X(events) X(wait)                \
	X(apply) X(create) X(delete) X(validate) X(adopt)                       \
	X(start) X(stop) X(restart) X(migrate) X(migrate_cancel)       \
	X(pause) X(unpause) X(soft_reboot) X(reset)                    \
	X(console) X(vnc) X(port_forward)                              \
	X(peer) X(db) X(host_shutdown) X(proxy)                                      \
	X(metrics) X(version) X(help)
/* clang-format on */

#define X(name) extern const struct command command_##name;
COMMANDS(X)
#undef X

/* The text of 'vmactl help' and of 'vmactl COMMAND --help'; command may be NULL. */
void help_print(const struct command *command, FILE *out);

#endif
