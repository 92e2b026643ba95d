/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a QEMU at once, and is certain that it was that one, and that it has ended. */
#ifndef VMAGENT_IO_QEMU_END_H
#define VMAGENT_IO_QEMU_END_H

#include <vmagent/err.h>

/* Where libvirt's system driver writes the process id of that domain's QEMU down;
 * owned by the caller. */
char *qemu_pid_file(const char *domain);

/* Kills the QEMU whose process id is in that file, if its command line says that it is that UUID's,
 * and waits at most that many milliseconds for its end; for a worker. ERR_NOT_FOUND: it is none,
 * and nothing was done; ERR_FORBIDDEN: it may not be killed; ERR_TIMEOUT: it has not ended yet. */
int qemu_end(const char *pid_file, const char *uuid, int patience_ms, struct err *err);

#endif
