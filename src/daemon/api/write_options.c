/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of writing requests, with Kubernetes' rules and words.
 */
#include "daemon/api/write_options.h"

#include <ctype.h>
#include <string.h>

#define FIELD_MANAGER_MAX 128 /* bytes; Kubernetes' own bound */

struct reading {
	bool dry_run, unknown; /* of dryRun */
};

static void on_dry_run(void *ctx, const char *value)
{
	struct reading *r = ctx;

	r->dry_run |= streq(value, "All");
	r->unknown |= *value && !streq(value, "All");
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return false;
	return true;
}

static bool is_validation(const char *text)
{
	return !*text || streq(text, "Ignore") || streq(text, "Warn") || streq(text, "Strict");
}

static const char *parameter(const struct call *call, const char *name)
{
	const char *value = http_query(call->request, name);

	return value ? value : "";
}

/* NULL: nothing is wrong. */
static const struct reply_cause *objection(const struct call *call, const char *options,
	const struct reading *r)
{
	/* clang-format off */
	static const struct reply_cause
		dry_run = { "FieldValueNotSupported", "dryRun",
			"Unsupported value: supported values: \"All\"" },
		too_long = { "FieldValueTooLong", "fieldManager",
			"Too long: may not be more than 128 bytes" },
		not_printable = { "FieldValueInvalid", "fieldManager",
			"Invalid value: should not contain non-printable characters" },
		validation = { "FieldValueNotSupported", "fieldValidation",
			"Unsupported value: supported values: \"Ignore\", \"Strict\", \"Warn\"" },
		force = { "FieldValueForbidden", "force",
			"Forbidden: may not be specified for non-apply patch" };
	/* clang-format on */
	const char *manager = parameter(call, "fieldManager");

	if (r->unknown)
		return &dry_run;
	if (strlen(manager) > FIELD_MANAGER_MAX)
		return &too_long;
	if (!is_printable(manager))
		return &not_printable;
	if (!is_validation(parameter(call, "fieldValidation")))
		return &validation;
	return streq(options, "PatchOptions") && http_query(call->request, "force") ? &force : NULL;
}

bool write_options_of(const struct call *call, const char *options, bool *ret_dry_run)
{
	struct reading r = { 0 };
	const struct reply_cause *cause;

	http_query_each(call->request, "dryRun", on_dry_run, &r);
	cause = objection(call, options, &r);
	if (cause)
		reply_options(call, options, cause);
	else
		*ret_dry_run = r.dry_run;
	return !cause;
}
