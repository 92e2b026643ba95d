/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of columns per kind. Cells are copied out of the stored text; an absent one is null,
 * which kubectl prints as nothing.
 */
#include <ctype.h>
#include <string.h>

#include "core/age.h"
#include "core/claim.h"
#include "core/edit.h"
#include "daemon/api/accept.h"
#include "daemon/api/columns.h"
#include "daemon/api/jsonspan.h"
#include "daemon/api/reply.h"
#include "daemon/api/table.h"

/* ---- what the client wants ------------------------------------------------------------------- */

/* Whether it is served: JSON, as it is or as a Table of v1. */
static bool take_media(struct media m, struct rendering *ret)
{
	ret->table = media_is_as(m, "Table", "meta.k8s.io", "v1");
	if (media_is(m, "application/json"))
		return ret->table || !media_has_form(m);
	return media_is(m, "application/*") || media_is(m, "*/*");
}

static int take_include(const struct call *call, struct rendering *ret, struct err *err)
{
	/* clang-format off */
	static const char *const names[] = {
		[INCLUDE_METADATA] = "Metadata",
		[INCLUDE_NONE]     = "None",
		[INCLUDE_OBJECT]   = "Object",
	};
	/* clang-format on */
	const char *value = http_query(call->request, "includeObject");

	for (size_t i = 0; value && *value && i < ARRAY_SIZE(names); i++) {
		if (!streq(value, names[i]))
			continue;
		ret->include = (enum include_object)i;
		return 0;
	}
	if (value && *value)
		return err_set(err, ERR_BAD_REQUEST,
			"parameter includeObject: '%.40s' is none of Metadata, None and Object",
			value);
	return 0;
}

int rendering_of(const struct call *call, struct rendering *ret, struct err *err)
{
	const char *accept = http_header(call->request, "Accept"), *rest = accept;
	struct rendering rendering = { .now = call->api->options.clock().wall };
	struct media media;
	bool found = !accept || !*accept;

	while (!found && media_next(&rest, &media))
		found = take_media(media, &rendering);
	if (!found)
		return err_set(err, ERR_NOT_ACCEPTABLE,
			"none of '%.200s' is served, but application/json is", accept);
	if (take_include(call, &rendering, err) < 0)
		return -(int)err->code;
	*ret = rendering;
	return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_span(struct buf *out, struct jsonspan s)
{
	buf_add(out, s.at, s.len);
}

static void add_age(struct buf *out, struct jsonspan time, msec now)
{
	autofree char *text = time.len > 2 ? xstrndup(time.at + 1, time.len - 2) : NULL;
	char age[AGE_SIZE];
	msec then;

	if (!time_parse(text, &then)) {
		buf_puts(out, "\"<unknown>\"");
		return;
	}
	age_format(now - then, age);
	buf_printf(out, "\"%s\"", age);
}

/* "virtualmachine/web" */
static bool add_involved(struct buf *out, struct jsonspan involved)
{
	struct jsonspan kind, name;

	if (!jsonspan_member(involved, "kind", &kind) || kind.len < 2 ||
		!jsonspan_member(involved, "name", &name) || name.len < 2)
		return false;
	buf_puts(out, "\"");
	for (size_t i = 1; i + 1 < kind.len; i++)
		buf_printf(out, "%c", tolower((unsigned char)kind.at[i]));
	buf_puts(out, "/");
	add_span(out, (struct jsonspan){ name.at + 1, name.len - 1 });
	return true;
}

/* Ready or NotReady, as a condition says. */
static void add_well(struct buf *out, struct jsonspan status)
{
	buf_puts(out, jsonspan_is(status, "True") ? "\"Ready\"" : "\"NotReady\"");
}

/* "1/1", of containers. */
static void add_ready(struct buf *out, struct jsonspan containers)
{
	struct jsonspan item, value;
	unsigned n = 0, ready = 0;

	while (jsonspan_next(&containers, &item)) {
		n++;
		ready += jsonspan_member(item, "ready", &value) && value.len == strlen("true");
	}
	buf_printf(out, "\"%u/%u\"", ready, n);
}

static void add_modes(struct buf *out, struct jsonspan modes)
{
	autofree char *json = xstrndup(modes.at, modes.len);
	struct node *list = text_tree(json);
	autofree char *text = claim_modes_text(list);

	buf_printf(out, "\"%s\"", text ? text : "");
	node_free(list);
}

/* How many members a map has. */
static void add_count(struct buf *out, struct jsonspan map)
{
	struct jsonspan key, value;
	unsigned n = 0;

	while (jsonspan_next_member(&map, &key, &value))
		n++;
	buf_printf(out, "%u", n);
}

#define DELETED "metadata.deletionTimestamp"

static bool find_cell(const struct column *c, struct jsonspan object, struct jsonspan *ret)
{
	if (c->cell == CELL_CONDITION || c->cell == CELL_WELL)
		return jsonspan_condition(object, c->path, ret);
	return jsonspan_path(object, c->path, ret);
}

static void add_cell(struct buf *out, const struct column *c, struct jsonspan object, msec now)
{
	struct jsonspan value = { 0 };
	bool there = find_cell(c, object, &value);

	if (there && c->cell == CELL_AGE)
		add_age(out, value, now);
	else if (there && c->cell == CELL_WELL)
		add_well(out, value);
	else if (there && c->cell == CELL_READY)
		add_ready(out, value);
	else if (c->cell == CELL_COUNT)
		add_count(out, value);
	else if (c->cell == CELL_PHASE && jsonspan_path(object, DELETED, &(struct jsonspan){ 0 }))
		buf_puts(out, "\"Terminating\"");
	else if (there && c->cell == CELL_MODES)
		add_modes(out, value);
	else if (there && c->cell == CELL_INVOLVED)
		there = add_involved(out, value);
	else if (there)
		add_span(out, value);
	if (!there && c->cell != CELL_COUNT)
		buf_puts(out, "null");
}

static void add_object(struct buf *out, const struct rendering *rendering, enum object_kind kind,
	const char *object, const char *version)
{
	struct jsonspan metadata;

	switch (rendering->include) {
	case INCLUDE_NONE:
		buf_puts(out, "null");
		return;
	case INCLUDE_OBJECT:
		object_text(out, object, kind, version);
		return;
	case INCLUDE_METADATA:
		break;
	}
	buf_puts(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",");
	buf_puts(out, "\"metadata\":");
	if (jsonspan_member(jsonspan_of(object), "metadata", &metadata))
		add_span(out, metadata);
	else
		buf_puts(out, "{}");
	buf_puts(out, "}");
}

void table_row(struct buf *out, const struct rendering *rendering, enum object_kind kind,
	const char *object, const char *version)
{
	const struct column *columns = columns_of(kind);

	buf_puts(out, "{\"cells\":[");
	for (const struct column *c = columns; c->title; c++) {
		buf_puts(out, c == columns ? "" : ",");
		add_cell(out, c, jsonspan_of(object), rendering->now);
	}
	buf_puts(out, "],\"object\":");
	add_object(out, rendering, kind, object, version);
	buf_puts(out, "}");
}

void table_head(struct buf *out, enum object_kind kind, int64_t rv)
{
	const struct column *columns = columns_of(kind);

	buf_printf(out,
		"{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\","
		"\"metadata\":{\"resourceVersion\":\"%lld\"},\"columnDefinitions\":[",
		(long long)rv);
	for (const struct column *c = columns; c->title; c++)
		buf_printf(out,
			"%s{\"name\":\"%s\",\"type\":\"%s\",\"format\":\"%s\","
			"\"description\":\"\",\"priority\":%d}",
			c == columns ? "" : ",", c->title, c->type, c->format, c->priority);
	buf_puts(out, "],\"rows\":[");
}

void table_tail(struct buf *out)
{
	buf_puts(out, "]}");
}
