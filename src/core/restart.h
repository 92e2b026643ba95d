/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which field of a VM's template differs from what its run was made of, so that it takes effect
 * only with the next one (condition RestartRequired, semantics §11.1). Pure.
 */
#ifndef VMAGENT_CORE_RESTART_H
#define VMAGENT_CORE_RESTART_H

#include "core/machine.h"

/* Compares m's VM with its run as they are now. While only other fields than the template's have
 * changed, the run counts as being of the VM's generation (§11.3). */
void restart_compare(struct machine *m);

#endif
