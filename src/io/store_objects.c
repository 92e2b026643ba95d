/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects and their change log: every put and every removal is also a row there, which watches
 * read. It keeps the windows (old changes and old events go) and must not know what the texts mean.
 */
#include "io/store_private.h"

/* Whether the object is stored, and a copy of its labels (NULL: none). */
static int find_labels(struct store *store, const struct object_row *row, bool *ret_found,
	char **ret_labels, struct err *err)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_OBJECT_FIND, err);
	int step, rc = 0;

	if (!stmt)
		return -ERR_IO;
	statement_text(stmt, 1, object_kind_name(row->kind));
	statement_text(stmt, 2, row->ns);
	statement_text(stmt, 3, row->name);
	step = sqlite3_step(stmt);
	if (step == SQLITE_ROW)
		*ret_labels = xstrdup(statement_column(stmt, 0));
	else if (step != SQLITE_DONE)
		rc = store_error(store, err, "cannot read an object");
	*ret_found = step == SQLITE_ROW;
	statement_give(store, STATEMENT_OBJECT_FIND, stmt);
	return rc;
}

static int log_change(struct store *store, const struct object_row *row, const char *type,
	const char *labels_before, struct err *err)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_CHANGE_PUT, err);
	int rc;

	if (!stmt)
		return -ERR_IO;
	sqlite3_bind_int64(stmt, 1, row->rv);
	statement_text(stmt, 2, object_kind_name(row->kind));
	statement_text(stmt, 3, row->ns);
	statement_text(stmt, 4, row->name);
	statement_text(stmt, 5, row->uid);
	statement_text(stmt, 6, type);
	statement_text(stmt, 7, row->object);
	statement_text(stmt, 8, labels_before);
	rc = statement_write(store, STATEMENT_CHANGE_PUT, stmt, "cannot log a change", err);
	if (!rc)
		store->now.changes++;
	return rc;
}

static int put_object(struct store *store, const struct object_row *row, struct err *err)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_OBJECT_PUT, err);

	if (!stmt)
		return -ERR_IO;
	statement_text(stmt, 1, object_kind_name(row->kind));
	statement_text(stmt, 2, row->ns);
	statement_text(stmt, 3, row->name);
	statement_text(stmt, 4, row->uid);
	sqlite3_bind_int64(stmt, 5, row->rv);
	statement_text(stmt, 6, row->labels);
	statement_text(stmt, 7, row->object);
	statement_text(stmt, 8, row->state);
	return statement_write(store, STATEMENT_OBJECT_PUT, stmt, "cannot save an object", err);
}

int store_put(struct store *store, const struct object_row *row, struct err *err)
{
	autofree char *labels = NULL;
	bool found;
	int rc = find_labels(store, row, &found, &labels, err);

	if (!rc)
		rc = log_change(store, row, found ? "MODIFIED" : "ADDED", labels, err);
	if (!rc)
		rc = put_object(store, row, err);
	if (!rc && !found && row->kind == KIND_EVENT)
		store->now.events++;
	if (rc)
		err_wrap(err, "%s '%s/%s'", object_kind_name(row->kind), row->ns, row->name);
	return rc;
}

static int remove_object(struct store *store, const struct object_row *row, struct err *err)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_OBJECT_REMOVE, err);

	if (!stmt)
		return -ERR_IO;
	statement_text(stmt, 1, object_kind_name(row->kind));
	statement_text(stmt, 2, row->ns);
	statement_text(stmt, 3, row->name);
	return statement_write(store, STATEMENT_OBJECT_REMOVE, stmt, "cannot remove an object",
		err);
}

int store_remove(struct store *store, const struct object_row *row, struct err *err)
{
	autofree char *labels = NULL;
	bool found = false;
	int rc = find_labels(store, row, &found, &labels, err);

	if (!rc && !found)
		return 0;
	if (!rc)
		rc = log_change(store, row, "DELETED", labels, err);
	if (!rc)
		rc = remove_object(store, row, err);
	if (!rc && row->kind == KIND_EVENT)
		store->now.events--;
	if (rc)
		err_wrap(err, "%s '%s/%s'", object_kind_name(row->kind), row->ns, row->name);
	return rc;
}

static int each_object(const struct row_reader *reader, sqlite3_stmt *stmt)
{
	struct object_row row = {
		.kind = reader->kind,
		.ns = statement_column(stmt, 0),
		.name = statement_column(stmt, 1),
		.uid = statement_column(stmt, 2),
		.rv = sqlite3_column_int64(stmt, 3),
		.object = statement_column(stmt, 4),
		.labels = statement_column(stmt, 5),
		.state = statement_column(stmt, 6),
	};

	return reader->cb.object(reader->ctx, &row);
}

int store_each(struct store *store, const struct object_query *query, object_cb *cb, void *ctx,
	struct err *err)
{
	static const enum statement which[2][2] = {
		{ STATEMENT_OBJECT_ALL, STATEMENT_OBJECT_NAMED },
		{ STATEMENT_OBJECT_IN_NS, STATEMENT_OBJECT_ONE },
	};
	enum statement s = which[query->ns != NULL][query->name != NULL];
	sqlite3_stmt *stmt = statement_take(store, s, err);
	struct row_reader reader = { each_object, query->kind, { .object = cb }, ctx };

	if (!stmt)
		return -ERR_IO;
	statement_text(stmt, 1, object_kind_name(query->kind));
	statement_text(stmt, 2, query->ns); /* out of range where the statement has no such place */
	statement_text(stmt, 3, query->name);
	return statement_read(store, s, stmt, &reader, err);
}

/* ---- changes --------------------------------------------------------------------------------- */

static int each_change(const struct row_reader *reader, sqlite3_stmt *stmt)
{
	struct change_row row = {
		.rv = sqlite3_column_int64(stmt, 0),
		.kind = reader->kind,
		.ns = statement_column(stmt, 1),
		.name = statement_column(stmt, 2),
		.uid = statement_column(stmt, 3),
		.type = statement_column(stmt, 4),
		.object = statement_column(stmt, 5),
		.labels_before = statement_column(stmt, 6),
	};

	return reader->cb.change(reader->ctx, &row);
}

int store_changes(struct store *store, const struct change_query *query, change_cb *cb, void *ctx,
	struct err *err)
{
	enum statement s = query->ns ? STATEMENT_CHANGE_IN_NS : STATEMENT_CHANGE_ALL;
	struct row_reader reader = { each_change, query->kind, { .change = cb }, ctx };
	sqlite3_stmt *stmt;

	if (query->since < store->now.floor || query->since > store->rv)
		return err_set(err, ERR_GONE, "too old resource version: %lld (%lld)",
			(long long)query->since, (long long)store->now.floor);
	stmt = statement_take(store, s, err);
	if (!stmt)
		return -ERR_IO;
	sqlite3_bind_int64(stmt, 1, query->since);
	statement_text(stmt, 2, object_kind_name(query->kind));
	statement_text(stmt, 3, query->ns);
	sqlite3_bind_int(stmt, 4, query->limit);
	return statement_read(store, s, stmt, &reader, err);
}

static int each_changed(const struct row_reader *reader, sqlite3_stmt *stmt)
{
	struct change_row row = {
		.rv = sqlite3_column_int64(stmt, 0),
		.ns = statement_column(stmt, 2),
		.name = statement_column(stmt, 3),
	};

	if (!object_kind_parse(statement_column(stmt, 1), &row.kind))
		return 0; /* of a newer version: nobody here can watch it */
	return reader->cb.change(reader->ctx, &row);
}

int store_changed_since(struct store *store, int64_t since, change_cb *cb, void *ctx,
	struct err *err)
{
	struct row_reader reader = { each_changed, 0, { .change = cb }, ctx };
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_CHANGE_SINCE, err);

	if (!stmt)
		return -ERR_IO;
	sqlite3_bind_int64(stmt, 1, since);
	return statement_read(store, STATEMENT_CHANGE_SINCE, stmt, &reader, err);
}

static int keep_text(void *ctx, const struct change_row *row)
{
	*(char **)ctx = xstrdup(row->object);
	return 0;
}

char *store_object_before(struct store *store, const struct change_row *row)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_CHANGE_BEFORE, NULL);
	char *text = NULL;
	struct row_reader reader = { each_change, row->kind, { .change = keep_text }, &text };

	if (!stmt)
		return NULL;
	sqlite3_bind_int64(stmt, 1, row->rv);
	statement_text(stmt, 2, object_kind_name(row->kind));
	statement_text(stmt, 3, row->ns);
	statement_text(stmt, 4, row->name);
	statement_read(store, STATEMENT_CHANGE_BEFORE, stmt, &reader, NULL);
	return text;
}

/* The oldest event leaves, and watches see it go. */
static int prune_event(struct store *store, struct err *err)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_EVENT_LOG_OLDEST, err);
	int rc;

	if (!stmt)
		return -ERR_IO;
	sqlite3_bind_int64(stmt, 1, store_next_rv(store));
	rc = statement_write(store, STATEMENT_EVENT_LOG_OLDEST, stmt, "cannot log an old event",
		err);
	if (rc)
		return rc;
	store->now.changes++;
	stmt = statement_take(store, STATEMENT_EVENT_REMOVE_OLDEST, err);
	if (!stmt)
		return -ERR_IO;
	store->now.events--;
	return statement_write(store, STATEMENT_EVENT_REMOVE_OLDEST, stmt,
		"cannot remove an old event", err);
}

static int prune_changes(struct store *store, struct err *err)
{
	int64_t excess = store->now.changes - CHANGE_WINDOW, last;
	sqlite3_stmt *stmt;

	if (excess <= 0)
		return 0;
	last = statement_number(store, STATEMENT_CHANGE_NTH, excess - 1, 0);
	stmt = statement_take(store, STATEMENT_CHANGE_PRUNE, err);
	if (!stmt)
		return -ERR_IO;
	sqlite3_bind_int64(stmt, 1, last);
	store->now.floor = last;
	store->now.changes = CHANGE_WINDOW;
	return statement_write(store, STATEMENT_CHANGE_PRUNE, stmt, "cannot prune the change log",
		err);
}

int store_prune(struct store *store, struct err *err)
{
	int rc = 0;

	while (!rc && store->now.events > EVENT_WINDOW)
		rc = prune_event(store, err);
	return rc ? rc : prune_changes(store, err);
}
