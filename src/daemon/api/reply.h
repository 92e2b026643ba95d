/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers: objects as JSON text, and Kubernetes Status objects for errors. All answer by id, at
 * once or later; a client that has left is simply not there.
 */
#ifndef VMAGENT_DAEMON_API_REPLY_H
#define VMAGENT_DAEMON_API_REPLY_H

#include "core/manifest.h"
#include "daemon/api/api_private.h"

struct reply_cause { /* one of a Status' causes; constants */
	const char *reason, *field, *message;
};

struct reply_status {          /* what a Status says; all borrowed */
	const struct err *err; /* NULL or code OK: Success */
	bool has_kind;
	enum object_kind kind;
	const char *name;                /* or NULL */
	const struct findings *findings; /* or NULL: details.causes */
	bool places;                     /* causes name line and column */
	const struct reply_cause *cause; /* or NULL: the one that there is without findings */
	const char *options;             /* or NULL: the kind of meta.k8s.io that is wrong */
};

/* The Status object's JSON, owned by the caller. */
char *status_json(const struct reply_status *status);

/* Sends body (owned: taken over; may be NULL) as JSON. warning may be NULL. */
void reply_json(struct api *api, uint64_t id, unsigned status, char *body, const char *warning);
void reply_text(struct api *api, uint64_t id, unsigned status, const char *text);
void reply_status(struct api *api, uint64_t id, const struct reply_status *status,
	const char *warning);

/* The Status of an error that concerns what the call's path names. */
void reply_error(const struct call *call, const struct err *err);
void reply_refuse(const struct call *call, enum err_code code, const char *fmt, ...) PRINTF(3, 4);
void reply_findings(const struct call *call, const struct findings *findings, const char *name);
/* 422: an option is wrong. options is their kind, "ListOptions". */
void reply_options(const struct call *call, const char *options, const struct reply_cause *cause);
void reply_not_found(const struct call *call); /* virtualmachines.kubevirt.io "x" not found */

/* "kubevirt.io/v1alpha3": the kind's group in the version that was asked for. */
void api_version_text(struct buf *out, enum object_kind kind, const char *version);

/* Appends an object with the apiVersion that was asked for: stored is one, served are two. */
void object_text(struct buf *out, const char *object, enum object_kind kind, const char *version);

#endif
