/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the read-only socket is for: to look at objects, and at nothing that is secret
 * or within a guest.
 */
#ifndef VMAGENT_DAEMON_API_GATE_H
#define VMAGENT_DAEMON_API_GATE_H

#include "daemon/api/api_private.h"

/* Whether the request, whose route is found, may be served by the socket that it came in by; if
 * not, *err says why and where it may be: ERR_FORBIDDEN. */
bool gate_opens(const struct call *call, struct err *err);

#endif
