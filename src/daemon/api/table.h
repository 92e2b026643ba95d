/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects as rows of a Table (meta.k8s.io/v1), which is how kubectl asks for what it prints. The
 * columns are KubeVirt's printer columns, and Kubernetes' for events.
 */
#ifndef VMAGENT_DAEMON_API_TABLE_H
#define VMAGENT_DAEMON_API_TABLE_H

#include "daemon/api/api_private.h"

enum include_object { INCLUDE_METADATA, INCLUDE_NONE, INCLUDE_OBJECT };

struct rendering { /* how a client wants objects */
	bool table;
	enum include_object include; /* … what of the object goes with its row */
	msec now;                    /* wall time that ages are counted to */
};

/*
 * By the headers Accept and the parameter includeObject. Types are tried in the client's order; the
 * first that is served is taken. Errors: ERR_NOT_ACCEPTABLE when none is, ERR_BAD_REQUEST.
 */
int rendering_of(const struct call *call, struct rendering *ret, struct err *err);

/* A Table's parts, in order: head, rows separated by ",", tail. */
void table_head(struct buf *out, enum object_kind kind, int64_t rv);
void table_row(struct buf *out, const struct rendering *rendering, enum object_kind kind,
	const char *object, const char *version);
void table_tail(struct buf *out);

#endif
