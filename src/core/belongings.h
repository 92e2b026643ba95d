/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects a VM or a run names, so that they belong to it wherever it goes. Pure. */
#ifndef VMAGENT_CORE_BELONGINGS_H
#define VMAGENT_CORE_BELONGINGS_H

#include <vmagent/model.h>

#include "core/node.h"

#define BELONGINGS_MAX 256 /* of one machine */

/* The objects that came with a VM from another host say so, and with which: its UID. They
 * go on with it. */
#define CAME_WITH "vmagent.io/came-with"

struct belongings {
	struct {
		enum object_kind kind; /* KIND_SECRET, KIND_CONFIG_MAP, KIND_PVC */
		char *name;            /* owned; in the namespace of who names it */
	} list[BELONGINGS_MAX];
	size_t n;
};

/* Adds those that spec, a VM's or a run's, names; each once. */
void belongings_add(struct belongings *b, const struct node *spec);
bool belongings_have(const struct belongings *b, enum object_kind kind, const char *name);
void belongings_done(struct belongings *b);

#endif
