/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: the words, and what a Kubernetes Status says of each code.
 *
 * Owns nothing: a struct err lies on its user's stack. It must not log; whoever decides to stop
 * returning an error upwards does.
 */
#include <vmagent/err.h>

static const struct {
	int status;
	const char *reason;
} codes[] = {
#define X(code, status, reason) [ERR_##code] = { status, reason },
	ERR_CODES(X)
#undef X
};
_Static_assert(ARRAY_SIZE(codes) == ERR_MAX, "a row for each code");

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		autofree char *msg = NULL; /* apart: an argument may lie within err->msg */

		va_start(ap, fmt);
		msg = xvasprintf(fmt, ap);
		va_end(ap);
		err->code = code;
		copy_str(err->msg, sizeof(err->msg), msg);
	}
	return -(int)code;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	autofree char *context = NULL;
	autofree char *msg = NULL;
	va_list ap;

	if (!err)
		return -ERR_INTERNAL;
	va_start(ap, fmt);
	context = xvasprintf(fmt, ap);
	va_end(ap);
	msg = xasprintf("%s: %s", context, err->msg);
	copy_str(err->msg, sizeof(err->msg), msg);
	return -(int)err->code;
}

int err_status(enum err_code code)
{
	return (size_t)code < ERR_MAX ? codes[code].status : codes[ERR_INTERNAL].status;
}

const char *err_reason(enum err_code code)
{
	return (size_t)code < ERR_MAX ? codes[code].reason : codes[ERR_INTERNAL].reason;
}

int err_retry_s(enum err_code code)
{
	return code == ERR_TOO_MANY || code == ERR_UNAVAILABLE || code == ERR_TIMEOUT;
}
