/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that people and clients look for and nobody stores: this host as a Node, KubeVirt itself,
 * for each VMI the Pod that KubeVirt would run it in, and for each Event the same in the newer
 * form. Read-only; made anew at each look.
 */
#ifndef VMAGENT_DAEMON_API_SYNTHETIC_H
#define VMAGENT_DAEMON_API_SYNTHETIC_H

#include "daemon/api/api_private.h"

/* The stored kind that a kind is made of, change by change; of the others: the kind itself. */
enum object_kind synthetic_source(enum object_kind kind);

/* An object of kind made of a stored one of its source, owned by the caller; NULL
 * when kind is stored. */
char *synthetic_object(enum object_kind kind, const char *source);

/* The name of the host's system (PRETTY_NAME of os-release(5)). Reads a file: for the start. */
void synthetic_read_os(char *ret, size_t size);

/* The one object of its kind there is, owned by the caller; NULL for the other kinds. */
char *synthetic_only(const struct api *api, enum object_kind kind);

/* An Event of events.k8s.io/v1, of the stored one of the core group; owned by the caller. */
char *synthetic_event(const char *event);

#endif
