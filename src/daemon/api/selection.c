/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a request's path and query to what is selected, and the readers of query parameters.
 */
#include <errno.h>
#include <string.h>

#include "daemon/api/jsonspan.h"
#include "daemon/api/selection.h"
#include "daemon/api/synthetic.h"

int selection_of(const struct call *call, struct selection *ret, struct err *err)
{
	struct selection s = { .path = call->path };
	int rc = selector_parse_fields(http_query(call->request, "fieldSelector"), s.path.kind,
		&s.fields, err);

	if (!rc)
		rc = selector_parse_labels(http_query(call->request, "labelSelector"), &s.labels,
			err);
	if (rc)
		selection_done(&s);
	else
		*ret = s;
	return rc;
}

void selection_done(struct selection *s)
{
	selector_done(&s->fields);
	selector_done(&s->labels);
}

const char *selection_ns(const struct selection *s)
{
	return *s->path.ns ? s->path.ns : NULL;
}

const char *selection_name(const struct selection *s)
{
	if (*s->path.name)
		return s->path.name;
	for (size_t i = 0; i < s->fields.n; i++)
		if (s->fields.terms[i].op == SELECTOR_IN &&
			streq(s->fields.terms[i].key, "metadata.name"))
			return s->fields.terms[i].values[0];
	return NULL;
}

bool selection_has(const struct selection *s, const struct object_row *row)
{
	return selector_matches_labels(&s->labels, row->labels) &&
		selector_matches_fields(&s->fields, row->object);
}

const char *selection_view(const struct selection *s, const char *object, char **ret_owned)
{
	*ret_owned = synthetic_object(s->path.kind, object);
	return *ret_owned ? *ret_owned : object;
}

struct filter {
	const struct selection *selection;
	object_cb *cb;
	void *ctx;
};

static char *text_at(const char *object, const char *path)
{
	struct jsonspan value;

	return jsonspan_path(jsonspan_of(object), path, &value) ? xstrndup(value.at, value.len)
								: NULL;
}

/* A made object stands in a row of its own, with the labels that it has now. */
static int on_made(const struct filter *f, const struct object_row *source, const char *object)
{
	autofree char *labels = text_at(object, "metadata.labels");
	autofree char *name = text_at(object, "metadata.name");
	struct object_row row = { .kind = f->selection->path.kind,
		.ns = source ? source->ns : "",
		.name = name,
		.rv = source ? source->rv : 0,
		.object = object,
		.labels = labels };
	const char *wanted = selection_name(f->selection);

	if (wanted && !jsonspan_is(jsonspan_of(name), wanted))
		return 0;
	return selection_has(f->selection, &row) ? f->cb(f->ctx, &row) : 0;
}

static int on_row(void *ctx, const struct object_row *row)
{
	const struct filter *f = ctx;
	autofree char *made = synthetic_object(f->selection->path.kind, row->object);

	if (made)
		return on_made(f, row, made);
	return selection_has(f->selection, row) ? f->cb(f->ctx, row) : 0;
}

/* Whether a made object lies in ns; NULL: in any. */
static bool lies_in(const char *object, const char *ns)
{
	struct jsonspan value;

	return !ns ||
		(jsonspan_path(jsonspan_of(object), "metadata.namespace", &value) &&
			jsonspan_is(value, ns));
}

int selection_each(struct api *api, const struct selection *s, object_cb *cb, void *ctx,
	struct err *err)
{
	enum object_kind source = synthetic_source(s->path.kind);
	struct object_query query = { .kind = source, .ns = selection_ns(s) };
	struct filter filter = { .selection = s, .cb = cb, .ctx = ctx };
	autofree char *only = synthetic_only(api, s->path.kind);

	if (only)
		return lies_in(only, query.ns) ? on_made(&filter, NULL, only) : 0;
	if (source == s->path.kind)
		query.name = selection_name(s);
	return store_each(api->options.store, &query, on_row, &filter, err);
}

/* ---- query parameters ------------------------------------------------------------------------ */

bool query_bool(const struct call *call, const char *name)
{
	const char *value = http_query(call->request, name);

	return value && !streq(value, "false") && !streq(value, "0");
}

int query_int(const struct call *call, const char *name, int64_t *ret, struct err *err)
{
	const char *value = http_query(call->request, name);
	long long number;
	char *end;

	if (!value || !*value)
		return 0;
	errno = 0;
	number = strtoll(value, &end, 10);
	if (errno || *end || end == value)
		return err_set(err, ERR_BAD_REQUEST, "parameter %s: '%s' is not a number", name,
			value);
	*ret = number;
	return 0;
}

struct dry_run {
	bool all;
	bool other;
};

static void on_dry_run(void *ctx, const char *value)
{
	struct dry_run *d = ctx;

	d->all |= streq(value, "All");
	d->other |= *value && !streq(value, "All");
}

int query_dry_run(const struct call *call, bool *ret, struct err *err)
{
	struct dry_run d = { 0 };

	http_query_each(call->request, "dryRun", on_dry_run, &d);
	if (d.other)
		return err_set(err, ERR_BAD_REQUEST, "parameter dryRun: the only value is 'All'");
	*ret |= d.all;
	return 0;
}
