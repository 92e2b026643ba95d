/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records between table and store: objects that are kept as given.
 */
#include "daemon/records.h"

#include <string.h>

#include "daemon/agent_private.h"

/* ---- the table ------------------------------------------------------------------------------- */

static int compare(const struct record *r, enum object_kind kind, const char *ns, const char *name)
{
	int order = (int)r->kind - (int)kind;

	if (order == 0)
		order = strcmp(r->meta.ns, ns);
	return order ? order : strcmp(r->meta.name, name);
}

static size_t place_of(const struct records *rs, enum object_kind kind, const char *ns,
	const char *name)
{
	size_t low = 0, high = rs->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(rs->list[middle], kind, ns, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct record *records_find(const struct records *rs, enum object_kind kind, const char *ns,
	const char *name)
{
	size_t at = place_of(rs, kind, ns, name);

	return at < rs->n && compare(rs->list[at], kind, ns, name) == 0 ? rs->list[at] : NULL;
}

struct record *const *records_of_kind(const struct records *rs, enum object_kind kind,
	size_t *ret_n)
{
	size_t from = place_of(rs, kind, "", ""), to = from;

	while (to < rs->n && rs->list[to]->kind == kind)
		to++;
	*ret_n = to - from;
	return rs->list + from;
}

int records_check_room(const struct records *rs, const struct record *but, size_t size,
	struct err *err)
{
	for (size_t i = 0; i < rs->n; i++)
		size += rs->list[i] == but ? 0 : rs->list[i]->size;
	if (rs->n + !but <= RECORDS_MAX && size <= RECORDS_SIZE_MAX)
		return 0;
	return err_set(err, ERR_FORBIDDEN,
		"exceeded quota: at most %d objects of %d bytes together are kept here; delete some",
		RECORDS_MAX, RECORDS_SIZE_MAX);
}

void records_add(struct records *rs, struct record *record, bool loaded)
{
	size_t at = place_of(rs, record->kind, record->meta.ns, record->meta.name);

	(void)LIST_ADD(rs->list, rs->n, rs->cap);
	memmove(&rs->list[at + 1], &rs->list[at], (rs->n - 1 - at) * sizeof(*rs->list));
	rs->list[at] = record;
	if (!loaded)
		records_touch(rs, record);
}

void records_remove(struct records *rs, struct record *record)
{
	size_t at = place_of(rs, record->kind, record->meta.ns, record->meta.name);

	memmove(&rs->list[at], &rs->list[at + 1], (rs->n - 1 - at) * sizeof(*rs->list));
	rs->n--;
	*LIST_ADD(rs->gone, rs->n_gone, rs->cap_gone) = record;
	rs->changed = true;
}

void records_touch(struct records *rs, struct record *record)
{
	record->changed = rs->changed = true;
}

static void forget_gone(struct records *rs)
{
	for (size_t i = 0; i < rs->n_gone; i++)
		record_free(rs->gone[i]);
	rs->n_gone = 0;
}

void records_done(struct records *rs)
{
	for (size_t i = 0; i < rs->n; i++)
		record_free(rs->list[i]);
	forget_gone(rs);
	free(rs->list);
	free(rs->gone);
}

/* ---- the store ------------------------------------------------------------------------------- */

static int load_row(void *ctx, const struct object_row *row)
{
	struct agent *agent = ctx;
	struct record *record;
	struct err err;

	if (record_load(row->kind, row->object, &record, &err) == 0)
		records_add(&agent->records, record, true);
	else
		log_text(LOG_LEVEL_ERROR, "%s %s/%s: %s; it is left alone",
			object_kind_name(row->kind), row->ns, row->name, err.msg);
	return 0;
}

struct record *records_look(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name)
{
	struct record *r = records_find(&agent->records, kind, ns, name);

	return r || !agent->beside ? r : records_find(agent->beside, kind, ns, name);
}

int records_load(struct agent *agent, struct err *err)
{
	int ret = 0;

	for (int kind = 0; kind < KIND_MAX && ret == 0; kind++) {
		struct object_query query = { .kind = kind };

		if (object_kind_home(kind) == HOME_RECORD)
			ret = store_each(agent->store, &query, load_row, agent, err);
	}
	return ret;
}

static struct object_row row_of(const struct record *r, const char *document)
{
	return (struct object_row){ .kind = r->kind,
		.ns = r->meta.ns,
		.name = r->meta.name,
		.uid = r->meta.uid,
		.rv = r->meta.rv,
		.labels = r->meta.labels,
		.object = document };
}

static int save_gone(struct agent *agent, struct record *r, struct err *err)
{
	autofree char *document = NULL;
	struct object_row row;
	int ret = r->kind == KIND_NAMESPACE ? namespace_drop_events(agent, r->meta.name, err) : 0;

	if (ret < 0)
		return ret;
	r->meta.rv = store_next_rv(agent->store);
	document = record_document(r);
	row = row_of(r, document);
	return store_remove(agent->store, &row, err);
}

static int save(struct agent *agent, struct record *r, struct err *err)
{
	autofree char *document = NULL;
	struct object_row row;

	r->meta.rv = store_next_rv(agent->store);
	document = record_document(r);
	row = row_of(r, document);
	return store_put(agent->store, &row, err);
}

int records_save(struct agent *agent, struct err *err)
{
	struct records *rs = &agent->records;
	int ret = 0;

	for (size_t i = 0; i < rs->n_gone && ret == 0; i++)
		ret = save_gone(agent, rs->gone[i], err);
	for (size_t i = 0; i < rs->n && ret == 0; i++)
		if (rs->list[i]->changed)
			ret = save(agent, rs->list[i], err);
	return ret;
}

void records_committed(struct agent *agent)
{
	struct records *rs = &agent->records;

	if (!rs->changed)
		return;
	forget_gone(rs);
	for (size_t i = 0; i < rs->n; i++)
		rs->list[i]->changed = false;
	rs->changed = false;
}
