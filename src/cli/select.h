/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors: "a=b,c!=d,e in (f,g),h notin (i),j,!k". Pure. */
#ifndef VMAGENT_CLI_SELECT_H
#define VMAGENT_CLI_SELECT_H

#include "core/node.h"

struct selector;

/* Errors: ERR_BAD_REQUEST, naming the term. */
int selector_parse(const char *text, struct selector **ret, struct err *err);
void selector_free(struct selector *selector); /* NULL is fine */
bool selector_matches(const struct selector *selector, const struct node *object); /* NULL: all */

#endif
