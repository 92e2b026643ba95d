/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists and single objects, as they stand in the store: nothing is parsed on the way.
 */
#include "daemon/api/list_options.h"
#include "daemon/api/selection.h"
#include "daemon/api/table.h"

struct list {
	struct buf text;
	struct rendering rendering;
	const struct selection *selection;
	unsigned n;
};

static int add_item(void *ctx, const struct object_row *row)
{
	struct list *l = ctx;

	const char *version = l->selection->path.version;

	if (l->n++)
		buf_puts(&l->text, ",");
	if (l->rendering.table)
		table_row(&l->text, &l->rendering, row->kind, row->object, version);
	else
		object_text(&l->text, row->object, row->kind, version);
	return 0;
}

static void list_head(struct list *l, int64_t rv)
{
	const struct route_path *path = &l->selection->path;

	if (l->rendering.table) {
		table_head(&l->text, path->kind, rv);
		return;
	}
	buf_puts(&l->text, "{\"apiVersion\":\"");
	api_version_text(&l->text, path->kind, path->version);
	buf_printf(&l->text, "\",\"kind\":\"%sList\",\"metadata\":{\"resourceVersion\":\"%lld\"},",
		object_kind_name(path->kind), (long long)rv);
	buf_puts(&l->text, "\"items\":[");
}

static int list_text(struct api *api, struct list *l, const struct list_options *o, struct err *err)
{
	int64_t current = store_current_rv(api->options.store);
	int rc;

	list_head(l, o->match == RV_MATCH_EXACT ? o->rv : current);
	rc = selection_each(api, l->selection, add_item, l, err);
	if (l->rendering.table)
		table_tail(&l->text);
	else
		buf_puts(&l->text, "]}");
	return rc;
}

static void answer_list(const struct call *call, const struct list_options *options)
{
	struct selection selection;
	struct list list = { .selection = &selection };
	struct err err;

	if (rendering_of(call, &list.rendering, &err) || selection_of(call, &selection, &err)) {
		reply_error(call, &err);
		return;
	}
	if (list_text(call->api, &list, options, &err))
		reply_error(call, &err);
	else
		reply_json(call->api, call->id, 200, take(&list.text.data), NULL);
	buf_done(&list.text);
	selection_done(&selection);
}

void object_list(const struct call *call)
{
	struct list_options options;

	if (query_bool(call, "watch"))
		watch_open(call);
	else if (list_options_of(call, false, &options) && list_options_served(call, &options))
		answer_list(call, &options);
}

struct one {
	struct buf text;
	struct rendering rendering;
	const struct route_path *path;
};

static int copy_row(void *ctx, const struct object_row *row)
{
	struct one *one = ctx;

	if (!one->rendering.table) {
		object_text(&one->text, row->object, row->kind, one->path->version);
		return 0;
	}
	table_head(&one->text, row->kind, row->rv);
	table_row(&one->text, &one->rendering, row->kind, row->object, one->path->version);
	table_tail(&one->text);
	return 0;
}

static void answer_object(const struct call *call)
{
	struct selection selection = { .path = call->path };
	struct one one = { .path = &call->path };
	struct err err;

	if (rendering_of(call, &one.rendering, &err) ||
		selection_each(call->api, &selection, copy_row, &one, &err))
		reply_error(call, &err);
	else if (!one.text.data)
		reply_not_found(call);
	else
		reply_json(call->api, call->id, 200, take(&one.text.data), NULL);
	buf_done(&one.text);
}

void object_get(const struct call *call)
{
	struct list_options options;

	if (query_bool(call, "watch"))
		watch_open(call);
	else if (list_options_of(call, false, &options) && list_options_served(call, &options))
		answer_object(call);
}

/* ---- the status, as a part of an object that has an address of its own ----------------------- */

static bool has_status(const struct call *call)
{
	if (api_subresource_of(call->path.resource, "status"))
		return true;
	reply_refuse(call, ERR_NOT_FOUND, "%s have no subresource 'status'",
		call->path.resource->plural);
	return false;
}

void status_get(const struct call *call)
{
	if (has_status(call))
		object_get(call);
}

void status_refuse(const struct call *call)
{
	if (has_status(call))
		reply_refuse(call, ERR_METHOD,
			"the status of %s is written by the agent alone: change the spec, or use a "
			"verb",
			call->path.resource->plural);
}
