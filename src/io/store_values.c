/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent keeps beside the objects: the provenance of manifest files (design §5) and small
 * values by name. It knows the rows' shape; what follows from them is the fold's business.
 */
#include "core/enum.h"
#include "io/store_private.h"

ENUM_DEFINE(provenance, PROVENANCE, PROVENANCES)

static void bind_provenance_key(sqlite3_stmt *stmt, const struct provenance_row *row)
{
	statement_text(stmt, 1, row->file);
	statement_text(stmt, 2, object_kind_name(row->kind));
	statement_text(stmt, 3, row->ns);
	statement_text(stmt, 4, row->name);
}

int store_put_provenance(struct store *store, const struct provenance_row *row, struct err *err)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_PROVENANCE_PUT, err);

	if (!stmt)
		return -ERR_IO;
	bind_provenance_key(stmt, row);
	statement_text(stmt, 5, row->uid);
	statement_text(stmt, 6, row->base);
	sqlite3_bind_int64(stmt, 7, row->epoch);
	statement_text(stmt, 8, provenance_name(row->state));
	return statement_write(store, STATEMENT_PROVENANCE_PUT, stmt, "cannot save a provenance",
		err);
}

int store_remove_provenance(struct store *store, const struct provenance_row *row, struct err *err)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_PROVENANCE_REMOVE, err);

	if (!stmt)
		return -ERR_IO;
	bind_provenance_key(stmt, row);
	return statement_write(store, STATEMENT_PROVENANCE_REMOVE, stmt,
		"cannot remove a provenance", err);
}

static int each_provenance(const struct row_reader *reader, sqlite3_stmt *stmt)
{
	struct provenance_row row = {
		.file = statement_column(stmt, 0),
		.ns = statement_column(stmt, 2),
		.name = statement_column(stmt, 3),
		.uid = statement_column(stmt, 4),
		.base = statement_column(stmt, 5),
		.epoch = sqlite3_column_int64(stmt, 6),
	};

	if (!object_kind_parse(statement_column(stmt, 1), &row.kind) ||
		!provenance_parse(statement_column(stmt, 7), &row.state))
		return 0; /* of a kind that this program does not have */
	return reader->cb.provenance(reader->ctx, &row);
}

int store_each_provenance(struct store *store, provenance_cb *cb, void *ctx, struct err *err)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_PROVENANCE_ALL, err);
	struct row_reader reader = { .each = each_provenance, .cb.provenance = cb, .ctx = ctx };

	return stmt ? statement_read(store, STATEMENT_PROVENANCE_ALL, stmt, &reader, err) : -ERR_IO;
}

/* ---- values ---------------------------------------------------------------------------------- */

int store_put_value(struct store *store, const char *key, const char *value, struct err *err)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_VALUE_PUT, err);

	if (!stmt)
		return -ERR_IO;
	statement_text(stmt, 1, key);
	statement_text(stmt, 2, value);
	return statement_write(store, STATEMENT_VALUE_PUT, stmt, "cannot save a value", err);
}

char *store_get_value(struct store *store, const char *key)
{
	sqlite3_stmt *stmt = statement_take(store, STATEMENT_VALUE_GET, NULL);
	char *value = NULL;

	if (!stmt)
		return NULL;
	statement_text(stmt, 1, key);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		value = xstrdup(statement_column(stmt, 0));
	statement_give(store, STATEMENT_VALUE_GET, stmt);
	return value;
}
