/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPUs a host has, and of which NUMA nodes, as the kernel tells. */
#ifndef VMAGENT_IO_HOST_CPUS_H
#define VMAGENT_IO_HOST_CPUS_H

#include "core/holding.h"

/* Fills in online and nodes. What cannot be read stays empty. root is "", or a folder
 * that stands for '/'. */
void host_cpus_read(const char *root, struct host_shares *ret);

#endif
