/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: a function returns 0 or -code, and its last parameter, on the caller's stack, holds the
 * words: lower case, no full stop, what failed first, names in single quotes, what to do about it.
 * Each code knows the HTTP status and the reason that a Kubernetes Status gives for it.
 */
#ifndef VMAGENT_ERR_H
#define VMAGENT_ERR_H

#include <vmagent/base.h>

/* X(code, HTTP status, Kubernetes StatusReason) */
#define ERR_CODES(X)                               \
	X(OK, 200, "")                             \
	X(BAD_REQUEST, 400, "BadRequest")          \
	X(FORBIDDEN, 403, "Forbidden")             \
	X(NOT_FOUND, 404, "NotFound")              \
	X(METHOD, 405, "MethodNotAllowed")         \
	X(NOT_ACCEPTABLE, 406, "NotAcceptable")    \
	X(CONFLICT, 409, "Conflict")               \
	X(EXISTS, 409, "AlreadyExists")            \
	X(GONE, 410, "Expired")                    \
	X(TOO_LARGE, 413, "RequestEntityTooLarge") \
	X(MEDIA_TYPE, 415, "UnsupportedMediaType") \
	X(INVALID, 422, "Invalid")                 \
	X(TOO_MANY, 429, "TooManyRequests")        \
	X(INTERNAL, 500, "InternalError")          \
	X(UNAVAILABLE, 503, "ServiceUnavailable")  \
	X(TIMEOUT, 504, "Timeout")                 \
	X(IO, 500, "InternalError")                \
	X(NO_SPACE, 507, "InternalError")          \
	X(HYPERVISOR, 500, "InternalError")        \
	X(DOMAIN_GONE, 404, "NotFound")            \
	X(NOT_BUILT, 501, "NotImplemented")        \
	X(UNSAVED, 503, "ServiceUnavailable")      \
	X(NO_IMAGE, 404, "NotFound")

enum err_code {
#define X(code, status, reason) ERR_##code,
	ERR_CODES(X)
#undef X
		ERR_MAX
};

#define ERR_MSG_SIZE 512

struct err {
	enum err_code code;
	char msg[ERR_MSG_SIZE];
};

/* Sets the words and returns -code. err may be NULL when only the code matters. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) PRINTF(3, 4);

/* Puts outer context and ": " in front (fmt "apply '%s'" gives "apply 'vm1': …") and returns -code
 * of the error there. */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF(2, 3);

int err_status(enum err_code code);         /* the HTTP status */
const char *err_reason(enum err_code code); /* the Kubernetes StatusReason */

/* Seconds after which the same request may well succeed, since nothing was done for this one; 0:
 * none. Clients of Kubernetes try again by themselves. */
int err_retry_s(enum err_code code);

#endif
