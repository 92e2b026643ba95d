/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ListOptions. The combinations that Kubernetes refuses stand in one table; their words are the
 * ones that its users know.
 */
#include "daemon/api/list_options.h"

#include "daemon/api/selection.h"
#include "daemon/api/synthetic.h"

/* ---- what goes together ---------------------------------------------------------------------- */

static bool list_without_rv(const struct list_options *o)
{
	return !o->watch && o->match && !o->has_rv;
}

static bool match_while_continuing(const struct list_options *o)
{
	return o->match && o->has_continue;
}

static bool match_unknown(const struct list_options *o)
{
	return o->match == RV_MATCH_UNKNOWN;
}

static bool exactly_any(const struct list_options *o)
{
	return !o->watch && o->match == RV_MATCH_EXACT && o->has_rv && o->rv == 0;
}

static bool list_with_initial(const struct list_options *o)
{
	return !o->watch && o->has_initial;
}

static bool initial_without_match(const struct list_options *o)
{
	return o->watch && o->has_initial && o->match != RV_MATCH_NOT_OLDER_THAN;
}

static bool watch_without_initial(const struct list_options *o)
{
	return o->watch && o->match && !o->has_initial;
}

#define FORBIDDEN "FieldValueForbidden"
#define MATCH     "resourceVersionMatch"

/* clang-format off */
static const struct {
	bool (*broken)(const struct list_options *o);
	struct reply_cause cause;
} rules[] = {
	{ match_unknown, { "FieldValueNotSupported", MATCH,
	  "Unsupported value: supported values: \"Exact\", \"NotOlderThan\"" } },
	{ list_without_rv, { FORBIDDEN, MATCH,
	  "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided" } },
	{ match_while_continuing, { FORBIDDEN, MATCH,
	  "Forbidden: resourceVersionMatch is forbidden when continue is provided" } },
	{ exactly_any, { FORBIDDEN, MATCH,
	  "Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"" } },
	{ list_with_initial, { FORBIDDEN, "sendInitialEvents",
	  "Forbidden: sendInitialEvents is forbidden for list" } },
	{ initial_without_match, { FORBIDDEN, MATCH,
	  "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan" } },
	{ watch_without_initial, { FORBIDDEN, MATCH,
	  "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided" } },
};
/* clang-format on */

/* ---- reading --------------------------------------------------------------------------------- */

static enum rv_match read_match(const struct call *call)
{
	const char *text = http_query(call->request, MATCH);

	if (!text || !*text)
		return RV_MATCH_UNSET;
	if (streq(text, "Exact"))
		return RV_MATCH_EXACT;
	return streq(text, "NotOlderThan") ? RV_MATCH_NOT_OLDER_THAN : RV_MATCH_UNKNOWN;
}

static bool is_given(const struct call *call, const char *name)
{
	const char *value = http_query(call->request, name);

	return value && *value;
}

static int read_numbers(const struct call *call, struct list_options *o, struct err *err)
{
	int64_t limit = 0;
	int rc;

	if ((rc = query_int(call, "resourceVersion", &o->rv, err)) ||
		(rc = query_int(call, "timeoutSeconds", &o->timeout_s, err)) ||
		(rc = query_int(call, "limit", &limit, err)))
		return rc;
	return o->rv < 0 ? err_set(err, ERR_BAD_REQUEST,
				   "parameter resourceVersion: it must not be negative")
			 : 0;
}

static int read_options(const struct call *call, struct list_options *o, struct err *err)
{
	o->bookmarks = query_bool(call, "allowWatchBookmarks");
	o->has_rv = is_given(call, "resourceVersion");
	o->has_continue = is_given(call, "continue");
	o->has_initial = http_query(call->request, "sendInitialEvents") != NULL;
	o->initial = query_bool(call, "sendInitialEvents");
	o->match = read_match(call);
	return read_numbers(call, o, err);
}

bool list_options_of(const struct call *call, bool watch, struct list_options *ret)
{
	struct list_options o = { .watch = watch };
	struct err err = { 0 };

	if (read_options(call, &o, &err)) {
		reply_error(call, &err);
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (!rules[i].broken(&o))
			continue;
		reply_options(call, "ListOptions", &rules[i].cause);
		return false;
	}
	if (o.has_continue && !o.watch) {
		reply_refuse(call, ERR_BAD_REQUEST,
			"continue key is not valid: lists are given whole, and none was handed out");
		return false;
	}
	*ret = o;
	return true;
}

/* ---- what can be served ---------------------------------------------------------------------- */

static bool refuse_future(const struct call *call, int64_t rv, int64_t current)
{
	static const struct reply_cause cause = { "ResourceVersionTooLarge", NULL,
		"Too large resource version" };
	struct err err;
	struct reply_status status = { .err = &err, .cause = &cause };

	err_set(&err, ERR_TIMEOUT, "Timeout: Too large resource version: %lld, current: %lld",
		(long long)rv, (long long)current);
	reply_status(call->api, call->id, &status, NULL);
	return false;
}

static int see_change(void *ctx, const struct change_row *row)
{
	(void)row;
	*(bool *)ctx = true;
	return 0;
}

/* Exactly that version can be served as long as nothing of the kind has changed since. */
static bool is_unchanged(const struct call *call, int64_t rv, struct err *err)
{
	struct change_query query = { .kind = synthetic_source(call->path.kind),
		.ns = *call->path.ns ? call->path.ns : NULL,
		.since = rv,
		.limit = 1 };
	bool changed = false;

	if (store_changes(call->api->options.store, &query, see_change, &changed, err))
		return false;
	if (changed)
		err_set(err, ERR_GONE, "The resourceVersion for the provided list is too old.");
	return !changed;
}

bool list_options_served(const struct call *call, const struct list_options *o)
{
	int64_t current = store_current_rv(call->api->options.store);
	struct err err;

	if (o->rv > current)
		return refuse_future(call, o->rv, current);
	if (o->match != RV_MATCH_EXACT || is_unchanged(call, o->rv, &err))
		return true;
	reply_error(call, &err);
	return false;
}
