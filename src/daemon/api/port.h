/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's end of a stream: a pty or a unix socket, whichever the path turns out to be, or any
 * connected socket. Everything is non-blocking.
 */
#ifndef VMAGENT_DAEMON_API_PORT_H
#define VMAGENT_DAEMON_API_PORT_H

#include <vmagent/err.h>
#include <sys/types.h>

/* A descriptor, or -code: ERR_UNAVAILABLE, with what ("serial console") in the words. A
 * pty is set raw. */
int port_open(const char *path, const char *what, struct err *err);
void port_close(int port);

/* Bytes moved, 0 when it would block, -1 when the guest's end is gone. */
ssize_t port_read(int port, void *to, size_t len);
ssize_t port_write(int port, const void *data, size_t len);

#endif
