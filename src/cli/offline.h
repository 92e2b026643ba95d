/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's own validator, run here: what it finds has line and column, which the agent cannot
 * know of an object that came over its API. */
#ifndef VMAGENT_CLI_OFFLINE_H
#define VMAGENT_CLI_OFFLINE_H

#include "core/node.h"

/* Prints what is wrong on standard error, a line each: source:line:column: field: message. */
bool offline_check(const char *source, const struct node *root);

#endif
