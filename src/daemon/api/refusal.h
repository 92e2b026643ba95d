/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What KubeVirt serves and this agent does not, with the reason for whoever asks for it. Pure.
 */
#ifndef VMAGENT_DAEMON_API_REFUSAL_H
#define VMAGENT_DAEMON_API_REFUSAL_H

#include <vmagent/err.h>

#include "daemon/api/route.h"

/* Whether it is known why this path is not served: ERR_NOT_FOUND for what is not there at all,
 * ERR_NOT_BUILT for what a machine that is there cannot do, which *ret_path then names. */
bool refusal_of(const char *path, struct route_path *ret_path, struct err *ret);

/* Why objects of a kind are only read, and what to change in their place; NULL
 * where they are written. */
const char *refusal_of_writes(enum object_kind kind);

#endif
