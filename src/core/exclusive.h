/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine's template names that only one guest at a time may have: a disk that it writes to,
 * a MAC address. Pure.
 */
#ifndef VMAGENT_CORE_EXCLUSIVE_H
#define VMAGENT_CORE_EXCLUSIVE_H

#include "core/node.h"

struct exclusive {
	char *field; /* owned; where, relative to the spec of an instance */
	char *what;  /* owned; the same text for the same thing, and for people to read */
};

struct exclusives {
	struct exclusive *list; /* owned, in the order of the spec */
	size_t n, cap;
};

/* Of the spec of an instance, in that namespace; to be released with exclusives_done(). */
void exclusives_of(const struct node *spec, const char *ns, struct exclusives *ret);
void exclusives_done(struct exclusives *e);

#endif
