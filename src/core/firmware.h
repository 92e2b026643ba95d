/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which EFI firmware a guest runs with. libvirt chooses one for a guest that starts, by the
 * descriptions that QEMU's packages install (QEMU's docs/interop/firmware.json); one that comes
 * from another host must get the one it has. The other host names it, but no path is used because a
 * peer says it: it must be among those described here. Pure.
 */
#ifndef VMAGENT_CORE_FIRMWARE_H
#define VMAGENT_CORE_FIRMWARE_H

#include <vmagent/err.h>

#define FIRMWARE_PATH_MAX 512  /* bytes of a path */
#define FIRMWARE_TEXT_MAX 2048 /* bytes of a firmware as text */
#define FIRMWARES_MAX     64   /* that a host has */

struct firmware {
	char *loader;    /* owned; the path of its code */
	char *variables; /* owned; the path of what a guest's variables begin with */
	char *format;    /* owned; of both: raw or qcow2 */
	bool secure;     /* it is guarded by SMM, as secure boot needs it */
};

/* As one line of text, the same for equal ones; owned by the caller. */
char *firmware_write(const struct firmware *f);
/* Bounded and checked for its form; text may be NULL. Errors: ERR_INVALID. To be released with
 * firmware_done(). */
int firmware_read(const char *text, struct firmware *ret, struct err *err);
void firmware_done(struct firmware *f);

/* Of a file that describes a firmware; false: it is none, or none that keeps its variables in a
 * file of the guest's own. */
bool firmware_described(const char *json, struct firmware *ret);

/* Whether that firmware is among a host's, which are lines of text. */
bool firmwares_have(const char *list, const struct firmware *f);

#endif
