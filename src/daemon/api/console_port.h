/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's end of a serial console: a pty or a unix socket, whichever the path turns out to be.
 * Everything is non-blocking.
 */
#ifndef VMAGENT_DAEMON_API_CONSOLE_PORT_H
#define VMAGENT_DAEMON_API_CONSOLE_PORT_H

#include <vmagent/err.h>
#include <sys/types.h>

#define CONSOLE_REPLAY (16 * 1024) /* bytes of earlier output that a newcomer sees */

/* A descriptor, or -code: ERR_UNAVAILABLE. A pty is set raw. */
int port_open(const char *path, struct err *err);
void port_close(int port);

/* Bytes moved, 0 when it would block, -1 when the guest's end is gone. */
ssize_t port_read(int port, void *to, size_t len);
ssize_t port_write(int port, const void *data, size_t len);

/* Appends the last whole lines of the log that QEMU keeps beside a socket; nothing when there is none. */
void port_history(const char *path, struct buf *out);

#endif
