/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's statements and transactions. It owns the connection, the prepared statements, the
 * change counter and the ballast file, and must not know the rows.
 *
 * The counter only rises while the process lives, also over a rollback, and every commit saves
 * it. A value that was given out and never committed left the program nowhere, so it may come
 * again after a crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "io/store_private.h"

#define BALLAST_RETRY 256 /* commits after which a released ballast is set aside again */

static const char *const statement_sql[] = {
#define X(c, sql) sql,
	STATEMENTS(X)
#undef X
};

int store_error(struct store *store, struct err *err, const char *what)
{
	int code = sqlite3_extended_errcode(store->db);
	bool full = (code & 0xff) == SQLITE_FULL;

	if ((code & 0xff) == SQLITE_IOERR)
		full = sqlite3_system_errno(store->db) == ENOSPC;
	return err_set(err, full ? ERR_NO_SPACE : ERR_IO, "%s in '%s': %s", what, store->path,
		sqlite3_errmsg(store->db));
}

sqlite3_stmt *statement_take(struct store *store, enum statement which, struct err *err)
{
	sqlite3_stmt **cached = &store->statements[which], *fresh = NULL;

	if (*cached && !sqlite3_stmt_busy(*cached))
		return *cached;
	if (sqlite3_prepare_v3(store->db, statement_sql[which], -1,
		    *cached ? 0 : SQLITE_PREPARE_PERSISTENT, &fresh, NULL)) {
		store_error(store, err, "cannot prepare a statement");
		return NULL;
	}
	if (!*cached)
		*cached = fresh;
	return fresh;
}

void statement_give(struct store *store, enum statement which, sqlite3_stmt *stmt)
{
	if (stmt != store->statements[which]) {
		sqlite3_finalize(stmt);
		return;
	}
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
}

/* True when this is the write that the test wants to fail. */
static bool fault(struct store *store, struct err *err, const char *what)
{
	if (!store->fail_after || --store->fail_after)
		return false;
	err_set(err, ERR_IO, "%s in '%s': fault asked for by the test", what, store->path);
	return true;
}

/* Keeps the write's text while a ballast could still make room for it. */
static void remember(struct store *store, sqlite3_stmt *stmt)
{
	char *sql = store->ballast ? sqlite3_expanded_sql(stmt) : NULL;

	if (sql) {
		buf_puts(&store->replay, sql);
		buf_puts(&store->replay, ";\n");
	}
	sqlite3_free(sql);
}

static int replay_without_ballast(struct store *store, struct err *err);

int statement_write(struct store *store, enum statement which, sqlite3_stmt *stmt, const char *what,
	struct err *err)
{
	int rc = 0;

	if (sqlite3_get_autocommit(store->db)) {
		rc = err_set(err, ERR_IO, "%s in '%s': no transaction is open", what, store->path);
	} else if (fault(store, err, what)) {
		rc = -ERR_IO;
	} else {
		remember(store, stmt);
		if (sqlite3_step(stmt) != SQLITE_DONE)
			rc = store_error(store, err, what);
	}
	statement_give(store, which, stmt);
	if (rc == -ERR_NO_SPACE)
		rc = replay_without_ballast(store, err);
	return rc;
}

int64_t statement_number(struct store *store, enum statement which, int64_t arg, int64_t fallback)
{
	sqlite3_stmt *stmt = statement_take(store, which, NULL);

	if (!stmt)
		return fallback;
	if (sqlite3_bind_parameter_count(stmt))
		sqlite3_bind_int64(stmt, 1, arg);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		fallback = sqlite3_column_int64(stmt, 0);
	statement_give(store, which, stmt);
	return fallback;
}

void statement_text(sqlite3_stmt *stmt, int place, const char *text)
{
	sqlite3_bind_text(stmt, place, text, -1, SQLITE_STATIC);
}

const char *statement_column(sqlite3_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt, column);
}

int statement_read(struct store *store, enum statement which, sqlite3_stmt *stmt,
	const struct row_reader *reader, struct err *err)
{
	int rc = 0, step = SQLITE_DONE;

	while (!rc && (step = sqlite3_step(stmt)) == SQLITE_ROW)
		rc = reader->each(reader, stmt);
	if (!rc && step != SQLITE_DONE)
		rc = store_error(store, err, "cannot read");
	statement_give(store, which, stmt);
	return rc;
}

/* ---- the ballast ----------------------------------------------------------------------------- */

void store_ballast_set_aside(struct store *store)
{
	autofree char *path = xasprintf("%s.ballast", store->path);
	int fd;

	if (streq(store->path, ":memory:"))
		return;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	store->ballast = posix_fallocate(fd, 0, BALLAST_SIZE) == 0;
	close(fd);
	if (!store->ballast)
		unlink(path);
}

static void release_ballast(struct store *store)
{
	autofree char *path = xasprintf("%s.ballast", store->path);

	unlink(path);
	store->ballast = false;
	store->commits_without = 0;
}

/* SQLite has rolled the transaction back by itself; with the ballast's room it is written once
 * more. */
static int replay_without_ballast(struct store *store, struct err *err)
{
	if (!store->ballast)
		return -ERR_NO_SPACE;
	release_ballast(store);
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	if (sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) ||
		(store->replay.data &&
			sqlite3_exec(store->db, store->replay.data, NULL, NULL, NULL)))
		return store_error(store, err,
			"cannot write once more after releasing the ballast");
	return 0;
}

/* ---- transactions ---------------------------------------------------------------------------- */

static int step(struct store *store, enum statement which, const char *what, struct err *err)
{
	sqlite3_stmt *stmt = statement_take(store, which, err);
	int rc = 0;

	if (!stmt)
		return -ERR_IO;
	if (sqlite3_step(stmt) != SQLITE_DONE)
		rc = store_error(store, err, what);
	statement_give(store, which, stmt);
	return rc;
}

int store_begin(struct store *store, struct err *err)
{
	buf_done(&store->replay);
	return step(store, STATEMENT_BEGIN, "cannot begin a transaction", err);
}

static int save_counter(struct store *store, struct err *err)
{
	sqlite3_stmt *stmt;

	if (store->rv == store->committed && store->now.floor == store->before.floor)
		return 0;
	stmt = statement_take(store, STATEMENT_COUNTER_PUT, err);
	if (!stmt)
		return -ERR_IO;
	sqlite3_bind_int64(stmt, 1, store->rv);
	sqlite3_bind_int64(stmt, 2, store->now.floor);
	return statement_write(store, STATEMENT_COUNTER_PUT, stmt, "cannot save the change counter",
		err);
}

static int commit(struct store *store, struct err *err)
{
	int rc;

	if (sqlite3_get_autocommit(store->db))
		return err_set(err, ERR_IO, "cannot commit to '%s': no transaction is open",
			store->path);
	rc = store_prune(store, err);
	if (!rc)
		rc = save_counter(store, err);
	if (!rc && store->lost)
		rc = store_put_value(store, STORE_VALUE_LOST, "", err);
	if (!rc && fault(store, err, "cannot commit"))
		rc = -ERR_IO;
	if (!rc)
		rc = step(store, STATEMENT_COMMIT, "cannot commit", err);
	if (rc == -ERR_NO_SPACE && store->ballast) {
		rc = replay_without_ballast(store, err);
		if (!rc)
			rc = step(store, STATEMENT_COMMIT, "cannot commit", err);
	}
	return rc;
}

int store_commit(struct store *store, struct err *err)
{
	int rc = commit(store, err);

	if (rc) {
		store_rollback(store);
		return rc;
	}
	buf_done(&store->replay);
	store->lost = false;
	store->committed = store->rv;
	store->before = store->now;
	if (!store->ballast && ++store->commits_without >= BALLAST_RETRY) {
		store->commits_without = 0;
		store_ballast_set_aside(store);
	}
	return 0;
}

void store_rollback(struct store *store)
{
	if (!sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	buf_done(&store->replay);
	store->now = store->before;
}

int64_t store_next_rv(struct store *store)
{
	return ++store->rv;
}

int64_t store_current_rv(struct store *store)
{
	return store->committed;
}

void store_fail_after(struct store *store, unsigned n)
{
	store->fail_after = n;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	for (int i = 0; i < STATEMENT_MAX; i++)
		sqlite3_finalize(store->statements[i]);
	sqlite3_close(store->db);
	buf_done(&store->replay);
	free(store->path);
	free(store);
}
