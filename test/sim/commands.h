/* SPDX-License-Identifier: Apache-2.0 */
/* A command of a scenario, for the table in commands.c. */
#ifndef VMAGENT_TEST_COMMANDS_H
#define VMAGENT_TEST_COMMANDS_H

#include "sim.h"

struct command {
	struct world *w;
	char *const *words; /* after the command's name */
	size_t n;
	const char *block; /* or NULL */
	const char *name;
};

typedef void command_fn(struct command *c);
command_fn do_guest, do_virsh, do_libvirt, do_agent, do_host, do_store, do_database, do_tune;

#endif
