/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches. Each remembers how far in the change log it has told its client, and reads on whenever
 * the client can take more: there is no queue per watch. One that falls out of the log's window is
 * told so (410 Expired) and ended; one that sleeps costs nothing.
 */
#include <string.h>

#include "daemon/api/jsonspan.h"
#include "daemon/api/list_options.h"
#include "daemon/api/selection.h"
#include "daemon/api/synthetic.h"
#include "daemon/api/table.h"

#define WATCH_BATCH_ROWS 64 /* changes read at a time */

struct watch {
	struct session session; /* first */
	struct api *api;        /* borrowed */
	uint64_t id;
	struct selection selection; /* owned */
	struct rendering rendering;
	int64_t rv;       /* told up to here */
	bool initial;     /* the objects there are come first, as ADDED */
	bool initial_end; /* … and a bookmark says where they end */
	bool bookmarks;
	bool bookmark_due;
	bool told;   /* the present fill has written something */
	bool asleep; /* nothing is left to tell: the next change that concerns it wakes it */
	uint64_t bookmark_at, end_at; /* loop's time; UINT64_MAX: never */
	struct watch *next;
	struct watch **self;
};

/* ---- what is written ------------------------------------------------------------------------- */

/* A Table of one row; a bookmark's has none, only its resourceVersion. */
static void add_table(struct buf *line, struct watch *w, const char *object)
{
	const struct route_path *path = &w->selection.path;

	w->rendering.now = w->api->options.clock().wall;
	table_head(line, path->kind, w->rv);
	if (object)
		table_row(line, &w->rendering, path->kind, object, path->version);
	table_tail(line);
}

static void write_line(struct watch *w, const char *type, const char *object)
{
	struct buf line = { 0 };

	w->told = true;
	buf_printf(&line, "{\"type\":\"%s\",\"object\":", type);
	if (streq(type, "ERROR"))
		buf_puts(&line, object);
	else if (w->rendering.table)
		add_table(&line, w, streq(type, "BOOKMARK") ? NULL : object);
	else
		object_text(&line, object, w->selection.path.kind, w->selection.path.version);
	buf_puts(&line, "}\n");
	http_stream_write(w->api->http, w->id, line.data, line.len);
	buf_done(&line);
}

static void write_bookmark(struct watch *w, const char *annotations)
{
	autofree char *object = xasprintf("{\"kind\":\"%s\",\"apiVersion\":\"\",\"metadata\":"
					  "{\"resourceVersion\":\"%lld\"%s}}",
		object_kind_name(w->selection.path.kind), (long long)w->rv, annotations);

	write_line(w, "BOOKMARK", object);
	w->bookmark_due = false;
}

/* The last thing that this watch says. */
static void write_error(struct watch *w, const struct err *err)
{
	struct reply_status status = { .err = err };
	autofree char *object = status_json(&status);

	write_line(w, "ERROR", object);
	http_stream_end(w->api->http, w->id);
}

static int write_row(void *ctx, const struct object_row *row)
{
	write_line(ctx, "ADDED", row->object);
	return 0;
}

static bool is_in(const struct selection *s, const char *object)
{
	return selector_matches_object_labels(&s->labels, object) &&
		selector_matches_fields(&s->fields, object);
}

/* By the object as it was. What the log does not say any more is taken to have been there: to be
 * told of an end that one did not see begin does no harm. */
static bool was_in(const struct watch *w, const struct change_row *row)
{
	const struct selection *s = &w->selection;
	autofree char *before = store_object_before(w->api->options.store, row), *made = NULL;

	return !before || is_in(s, selection_view(s, before, &made));
}

/* Whether the object was in the selection before. Its labels stand beside the change; of an object
 * that is made of another, and of fields that change, only the change before knows. */
static bool was_there(const struct watch *w, const struct change_row *row, const char *object)
{
	const struct selection *s = &w->selection;

	if (streq(row->type, "ADDED"))
		return false;
	if ((object != row->object && s->labels.n) || selector_fields_change(&s->fields))
		return was_in(w, row);
	return selector_matches_fields(&s->fields, object) &&
		(object != row->object || selector_matches_labels(&s->labels, row->labels_before));
}

static bool is_named(const struct selection *s, const char *object)
{
	const char *name = selection_name(s);
	struct jsonspan own;

	return !name ||
		(jsonspan_path(jsonspan_of(object), "metadata.name", &own) &&
			jsonspan_is(own, name));
}

/* What a change is to this watch: the selection may have gained or lost the object
 * by it. NULL: nothing. */
static const char *type_of(const struct watch *w, const struct change_row *row, const char *object)
{
	bool now;

	if (!is_named(&w->selection, object))
		return NULL;
	now = !streq(row->type, "DELETED") && is_in(&w->selection, object);
	if (was_there(w, row, object))
		return now ? "MODIFIED" : "DELETED";
	return now ? "ADDED" : NULL;
}

struct batch {
	struct watch *watch;
	int rows;
	bool wrote;
};

static int write_change(void *ctx, const struct change_row *row)
{
	struct batch *b = ctx;
	const struct selection *selection = &b->watch->selection;
	autofree char *made = NULL;
	const char *object = selection_view(selection, row->object, &made);
	const char *type = type_of(b->watch, row, object);

	if (type)
		write_line(b->watch, type, object);
	b->wrote |= type != NULL;
	b->watch->rv = row->rv;
	b->rows++;
	return 0;
}

/* One batch of the log. Returns whether there may be more of it to read now. */
static bool read_log(struct watch *w, bool *ret_wrote, struct err *err)
{
	struct store *store = w->api->options.store;
	struct change_query query = { .kind = synthetic_source(w->selection.path.kind),
		.ns = selection_ns(&w->selection),
		.since = w->rv,
		.limit = WATCH_BATCH_ROWS };
	struct batch batch = { .watch = w };
	int64_t newest = store_current_rv(store);

	err->code = ERR_OK;
	if (store_changes(store, &query, write_change, &batch, err))
		return false;
	*ret_wrote = batch.wrote;
	if (batch.rows == WATCH_BATCH_ROWS)
		return true;
	w->rv = newest; /* so that the changes of other kinds do not leave this watch behind */
	return false;
}

static void write_initial(struct watch *w)
{
	struct err err;

	w->initial = false;
	w->rv = store_current_rv(w->api->options.store);
	if (selection_each(w->api, &w->selection, write_row, w, &err))
		write_error(w, &err);
	else if (w->initial_end && w->bookmarks)
		write_bookmark(w, ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}");
}

static void tell(struct watch *w)
{
	struct err err = { .code = ERR_OK };
	bool wrote = false;

	if (w->initial) {
		write_initial(w);
		return;
	}
	while (read_log(w, &wrote, &err) && !wrote)
		;
	if (err.code != ERR_OK)
		write_error(w, &err);
	else if (w->bookmark_due && !wrote)
		write_bookmark(w, "");
}

static void fill(struct session *session)
{
	struct watch *w = (struct watch *)session;

	w->told = false;
	tell(w);
	w->asleep = !w->told;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void arm(struct api *api)
{
	uint64_t now = uv_now(api->options.loop), at = UINT64_MAX;

	for (const struct watch *w = api->watches; w; w = w->next)
		at = MIN(at, MIN(w->bookmark_at, w->end_at));
	if (at == UINT64_MAX)
		uv_timer_stop(&api->timer);
	else
		uv_timer_start(&api->timer, watches_tick, at > now ? at - now : 0, 0);
}

static void tick(struct watch *w, uint64_t now)
{
	if (now >= w->end_at) {
		w->end_at = UINT64_MAX;
		http_stream_end(w->api->http, w->id);
	}
	if (now >= w->bookmark_at) {
		w->bookmark_at = now + w->api->options.bookmark_ms;
		w->bookmark_due = true;
		http_stream_wake(w->api->http, w->id);
	}
}

void watches_tick(uv_timer_t *timer)
{
	struct api *api = timer->data;

	for (struct watch *w = api->watches; w; w = w->next)
		tick(w, uv_now(api->options.loop));
	arm(api);
}

/* ---- waking ---------------------------------------------------------------------------------- */

/* It may, for all that can be seen without reading the object. */
static bool may_concern(const struct watch *w, const struct change_row *row)
{
	const struct selection *s = &w->selection;
	const char *ns = selection_ns(s), *name = selection_name(s);
	enum object_kind source = synthetic_source(s->path.kind);

	if (source != row->kind || (ns && !streq(ns, row->ns)))
		return false;
	return !name || source != s->path.kind || streq(name, row->name);
}

static void wake(struct watch *w)
{
	w->asleep = false;
	http_stream_wake(w->api->http, w->id);
}

static int wake_concerned(void *ctx, const struct change_row *row)
{
	struct api *api = ctx;

	for (struct watch *w = api->watches; w; w = w->next)
		if (w->asleep && may_concern(w, row))
			wake(w);
	return 0;
}

/* Who sleeps on has seen all of it: so changes of others never push it out of the log's window. */
void watches_wake(struct api *api)
{
	int64_t since = api->watched;
	bool unread = false;

	api->watched = store_current_rv(api->options.store);
	if (api->watches)
		unread = store_changed_since(api->options.store, since, wake_concerned, api, NULL);
	for (struct watch *w = api->watches; w; w = w->next) {
		if (unread)
			wake(w);
		else if (w->asleep)
			w->rv = api->watched;
	}
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void gone(struct session *session)
{
	struct watch *w = (struct watch *)session;

	*w->self = w->next;
	if (w->next)
		w->next->self = w->self;
	if (!w->api->closing)
		arm(w->api);
	selection_done(&w->selection);
	free(w);
}

/* Where it starts. What the log has no more is said by the watch itself, as its one event: so
 * Kubernetes does, and there are clients that list again only then. */
static void read_start(struct watch *w, const struct list_options *o)
{
	bool anywhere = o->rv == 0;

	w->initial = o->has_initial ? o->initial : anywhere;
	w->initial_end = o->has_initial && o->initial;
	w->rv = anywhere ? store_current_rv(w->api->options.store) : o->rv;
}

static int read_options(const struct call *call, struct watch *w, const struct list_options *o,
	struct err *err)
{
	uint64_t now = uv_now(call->api->options.loop);
	int rc;

	if ((rc = rendering_of(call, &w->rendering, err)) ||
		(rc = selection_of(call, &w->selection, err)))
		return rc;
	read_start(w, o);
	w->bookmarks = o->bookmarks;
	w->bookmark_at = w->bookmarks ? now + w->api->options.bookmark_ms : UINT64_MAX;
	w->end_at = o->timeout_s > 0 ? now + 1000 * (uint64_t)MIN(o->timeout_s, INT32_MAX)
				     : UINT64_MAX;
	return 0;
}

static void start(struct watch *w)
{
	static const struct http_head head = { .status = 200,
		.fields = { { "Content-Type", "application/json" } } };
	struct api *api = w->api;

	w->next = api->watches;
	w->self = &api->watches;
	if (w->next)
		w->next->self = &w->next;
	api->watches = w;
	http_attach(api->http, w->id, w);
	http_stream(api->http, w->id, &head);
	arm(api);
}

void watch_open(const struct call *call)
{
	struct list_options options;
	struct watch *w;
	struct err err;

	if (!list_options_of(call, true, &options) ||
		(options.initial && !list_options_served(call, &options)))
		return;
	w = xcalloc(1, sizeof(*w));
	w->session = (struct session){ .fill = fill, .gone = gone };
	w->api = call->api;
	w->id = call->id;
	if (!read_options(call, w, &options, &err)) {
		start(w);
		return;
	}
	reply_error(call, &err);
	selection_done(&w->selection);
	free(w);
}
