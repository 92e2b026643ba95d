/* SPDX-License-Identifier: Apache-2.0 */
/* The EFI firmware that this host has, as QEMU's packages describe it: what
 * libvirt chooses from. Workers. */
#ifndef VMAGENT_IO_VIRT_FIRMWARE_H
#define VMAGENT_IO_VIRT_FIRMWARE_H

#include <vmagent/err.h>

/* All of this host, as core/firmware.h has lists; owned by the caller. */
char *virt_firmwares(void);
/* The same from folders: a description of one hides that of the same name in a later one, also
 * if it is empty. */
char *virt_firmwares_in(const char *const *folders, size_t n);

/* Whether a domain that another host sends may have the firmware that its XML names. Errors:
 * ERR_INVALID, if it leaves the choice to libvirt, which has none for what comes (its
 * version 9.0 crashes); ERR_FORBIDDEN. */
int virt_firmware_check(const char *xml, const char *list, struct err *err);

#endif
