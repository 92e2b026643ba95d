/* SPDX-License-Identifier: Apache-2.0 */
/* Events as more than one command shows them. */
#ifndef VMAGENT_CLI_EVENTS_H
#define VMAGENT_CLI_EVENTS_H

#include "cli/print.h"

/* Whether an event is about that object; those of a VM's runs are the VM's too. */
bool event_concerns(const struct node *event, const struct target *target);

/* The events of the namespace in force, oldest first; target NULL: all. *ret_items is an owned
 * list, also when it fails. */
int events_get(const struct cli *cli, const struct target *target, struct node **ret_items,
	struct fault *fault);

#endif
