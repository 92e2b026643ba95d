/* SPDX-License-Identifier: Apache-2.0 */
/* What was seen of a run's interfaces: how they are attached in truth, and their addresses.
 * Pure. */
#ifndef VMAGENT_CORE_NICS_H
#define VMAGENT_CORE_NICS_H

#include <vmagent/hypervisor.h>

/* As a JSON list, which is how a run keeps them; owned by the caller. */
char *nics_text(const struct nic_info *nics, size_t n);

/* The one of that name in such a text; false if there is none. text may be NULL. */
bool nics_find(const char *text, const char *name, struct nic_info *ret);

#endif
