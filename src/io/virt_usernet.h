/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What QEMU's monitor says of user-mode networking ("info usernet"): a line for each socket of
 * the host's side. Pure.
 */
#ifndef VMAGENT_IO_VIRT_USERNET_H
#define VMAGENT_IO_VIRT_USERNET_H

#include <vmagent/base.h>

struct usernet_line {
	char state[24];   /* "HOST_FORWARD", "ESTABLISHED", "SYN_SENT", … */
	char address[48]; /* of the host's side, for what comes in */
	unsigned port;
	unsigned guest_port;
};

/* The next line about TCP; false at the end. *text is moved on. */
bool usernet_next(const char **text, struct usernet_line *ret);

#endif
