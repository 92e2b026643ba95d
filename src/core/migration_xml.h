/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The domain that a guest becomes at its target: what its target has made ready (paths, networks,
 * sockets), but all that the guest itself sees as it is now. libvirt fills in addresses, machine
 * types and CPUs where a definition leaves them open, and two hosts need not do it alike. Pure.
 */
#ifndef VMAGENT_CORE_MIGRATION_XML_H
#define VMAGENT_CORE_MIGRATION_XML_H

#include <vmagent/err.h>

/* here: the domain as it runs; there: as the target has prepared it. *ret is owned by the caller.
 * ERR_INVALID: one of them is no domain, they do not have the same devices, or another emulator,
 * which libvirt would execute here. */
int migration_xml(const char *here, const char *there, char **ret, struct err *err);

#endif
