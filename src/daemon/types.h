/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instancetypes and preferences between records and VMs: what a VM would have of those that it
 * names, and whether it goes with them. What follows is core/instancetype.h's. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_TYPES_H
#define VMAGENT_DAEMON_TYPES_H

#include "core/decide.h"
#include "daemon/agent_private.h"

struct types_subject { /* borrowed */
	const char *ns, *name;
	const struct node *root; /* the VM as a whole, without status */
	const struct pin *pins;  /* that it has, VM_TYPES of them; NULL: none */
};

/* What it would have: what holds of its pins, else what is there now; or what is in the way. */
void types_look(const struct agent *agent, const struct types_subject *s, struct types_look *ret);
void types_look_done(struct types_look *look);

/* Whether such a VM is accepted: what it names may still come, what is there must
 * go with it. ERR_INVALID. */
int types_check(const struct agent *agent, const struct types_subject *s, struct err *err);

/* A look for a machine whose VM is not pinned; false: none is needed. */
bool types_look_for(const struct agent *agent, const struct machine *m, struct types_look *ret);

/* A template that cannot become a run is refused now, not when it is started (§14 no. 17). */
int types_check_template(const struct node *vm_spec, struct err *err);

#endif
