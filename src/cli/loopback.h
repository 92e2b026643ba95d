/* SPDX-License-Identifier: Apache-2.0 */
/* A port of the loopback address that only this user and root can connect to. */
#ifndef VMAGENT_CLI_LOOPBACK_H
#define VMAGENT_CLI_LOOPBACK_H

#include "cli/cli.h"

/* Listens; port 0: any that is free. *ret_listener and *ret_port are set on success. hint is what
 * to do when the port is taken: "choose another with --port". */
int loopback_listen(int64_t port, const char *hint, int *ret_listener, uint16_t *ret_port,
	struct fault *fault);

/* The next connection, or -1: there is none, or its owner is somebody else and it was closed. */
int loopback_accept(int listener);

#endif
