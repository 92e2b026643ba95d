/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of an object's spec, in its text and in what was typed from it, always both. Pure. */
#ifndef VMAGENT_CORE_EDIT_H
#define VMAGENT_CORE_EDIT_H

#include "core/machine.h"
#include "core/node.h"

/* The tree of a JSON text of ours, or NULL; owned by the caller. */
struct node *text_tree(const char *text);

/* Takes firmware.uuid of a VM's spec over into vm->uuid. */
void vm_take_uuid(struct vm *vm, const struct node *vm_spec);
/* All that is kept of a VM's spec beside its text. */
void vm_read_spec(struct vm *vm, const struct node *vm_spec);

/* start and stop write the strategy into the spec (§5.1, §5.2): generation rises. */
void vm_change_strategy(struct machine *m, enum run_strategy strategy);

/* terminationGracePeriodSeconds of this run only; seconds. */
void vmi_change_grace(struct machine *m, int64_t grace);

/* The VM's and the run's firmware.uuid: a domain that is taken over keeps its own. */
void machine_take_uuid(struct machine *m, const char *uuid);

#endif
