/* SPDX-License-Identifier: Apache-2.0 */
/* What a domain needs of its host beside QEMU itself. */
#ifndef VMAGENT_IO_VIRT_NEEDS_H
#define VMAGENT_IO_VIRT_NEEDS_H

#include <vmagent/err.h>

/* Whether the host has what the domain's XML asks for, by its <domainCapabilities> (NULL: they are
 * not known) and its files. ERR_INVALID, with words that say what to install or do. Any thread. */
int virt_needs_check(const char *xml, const char *capabilities, struct err *err);

#endif
