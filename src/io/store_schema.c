/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the store's file: settings, check, migrations with a copy before each. It tells damage (the
 * file's own fault, store_rebuild.c starts anew) from trouble (a full disk, another agent, a newer
 * schema: an error, and the file stays), and knows no rows.
 *
 * The file is locked for as long as it is open: two agents on one state folder would be two owners
 * of the same machines. It also spares the shared-memory index and its mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io/store_private.h"

#define BUSY_TIMEOUT_MS 1000

static const char settings[] = "PRAGMA locking_mode = EXCLUSIVE;" /* before WAL: no shared memory */
			       "PRAGMA journal_mode = WAL;"
			       "PRAGMA synchronous = FULL;"
			       "PRAGMA foreign_keys = ON;"
			       "PRAGMA trusted_schema = OFF;"
			       "PRAGMA cache_size = -512;" /* KiB */
			       "PRAGMA journal_size_limit = 4194304;"
			       "PRAGMA temp_store = MEMORY;";

static bool in_memory(const char *path)
{
	return streq(path, ":memory:");
}

static int open_error(sqlite3 *db, const char *path, bool *ret_unusable, struct err *err)
{
	int code = sqlite3_errcode(db);
	bool full = code == SQLITE_FULL ||
		(code == SQLITE_IOERR && sqlite3_system_errno(db) == ENOSPC);

	*ret_unusable = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ||
		(code == SQLITE_IOERR && !full);
	if (code == SQLITE_BUSY)
		return err_set(err, ERR_IO, "database '%s' is in use: does another vmagent run?",
			path);
	return err_set(err, full ? ERR_NO_SPACE : ERR_IO, "cannot open database '%s': %s", path,
		sqlite3_errmsg(db));
}

/* The first column of the first row; owned by the caller, NULL on failure. */
static char *ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	char *answer = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_step(stmt) == SQLITE_ROW)
		answer = xstrdup((const char *)sqlite3_column_text(stmt, 0));
	if (sqlite3_finalize(stmt)) /* keeps the error for sqlite3_errmsg() */
		free(take(&answer));
	return answer;
}

int64_t store_ask_number(sqlite3 *db, const char *sql)
{
	autofree char *answer = ask(db, sql);

	return answer ? strtoll(answer, NULL, 10) : -1;
}

/* SQLite would make it readable for everybody. */
static int make_private(const char *path, struct err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	else if (errno != EEXIST)
		return err_set(err, errno == ENOSPC ? ERR_NO_SPACE : ERR_IO,
			"cannot create '%s': %s", path, strerror(errno));
	return 0;
}

static int check(sqlite3 *db, const char *path, bool *ret_unusable, struct err *err)
{
	autofree char *mode = NULL, *verdict = NULL;

	if (sqlite3_exec(db, settings, NULL, NULL, NULL))
		return open_error(db, path, ret_unusable, err);
	mode = ask(db, "PRAGMA journal_mode");
	if (!in_memory(path) && !streq(mode, "wal"))
		return err_set(err, ERR_IO,
			"database '%s' has no write-ahead log: its file system cannot "
			"do that, choose another state folder",
			path);
	verdict = ask(db, "PRAGMA quick_check(1)");
	if (!verdict)
		return open_error(db, path, ret_unusable, err);
	if (streq(verdict, "ok"))
		return 0;
	*ret_unusable = true;
	return err_set(err, ERR_IO, "database '%s' is damaged: %s", path, verdict);
}

/* ---- migrations ------------------------------------------------------------------------------ */

static int sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -1;
	rc = fsync(fd);
	close(fd);
	return rc;
}

/* <path>.before-<version>: the database as it was before the migration to that version. */
static int keep_copy(sqlite3 *db, const char *path, int64_t version, struct err *err)
{
	autofree char *copy = xasprintf("%s.before-%lld", path, (long long)version);
	autofree char *temporary = xasprintf("%s.tmp", copy);
	sqlite3_stmt *stmt = NULL;
	int rc;

	unlink(temporary);
	rc = make_private(temporary, err);
	if (rc)
		return rc;
	rc = sqlite3_prepare_v2(db, "VACUUM INTO ?1", -1, &stmt, NULL);
	if (!rc) {
		sqlite3_bind_text(stmt, 1, temporary, -1, SQLITE_STATIC);
		sqlite3_step(stmt);
		rc = sqlite3_finalize(stmt);
	}
	if (!rc && !sync_file(temporary) && !rename(temporary, copy))
		return 0;
	rc = err_set(err, (rc & 0xff) == SQLITE_FULL ? ERR_NO_SPACE : ERR_IO,
		"cannot keep a copy of the database as '%s': %s", copy,
		rc ? sqlite3_errmsg(db) : strerror(errno));
	unlink(temporary);
	return rc;
}

static int migrate_step(sqlite3 *db, const char *sql, int64_t version)
{
	autofree char *all = xasprintf("BEGIN IMMEDIATE;\n%s\nPRAGMA user_version = %lld;\nCOMMIT;",
		sql, (long long)version);

	return sqlite3_exec(db, all, NULL, NULL, NULL);
}

static int migrate(sqlite3 *db, const struct store_source *source, bool *ret_unusable,
	struct err *err)
{
	int64_t version = store_ask_number(db, "PRAGMA user_version"), newest = 0;
	int rc;

	while (source->schema[newest])
		newest++;
	if (version > newest)
		return err_set(err, ERR_IO,
			"database '%s' has schema %lld, this vmagent knows up to %lld: "
			"install the newer version again, or put back '%s.before-%lld'",
			source->path, (long long)version, (long long)newest, source->path,
			(long long)newest + 1);
	for (; version < newest; version++) {
		if (version > 0 && !in_memory(source->path)) {
			rc = keep_copy(db, source->path, version + 1, err);
			if (rc)
				return rc;
		}
		if (!migrate_step(db, source->schema[version], version + 1))
			continue;
		rc = open_error(db, source->path, ret_unusable, err);
		*ret_unusable |= sqlite3_errcode(db) == SQLITE_ERROR ||
			sqlite3_errcode(db) == SQLITE_CONSTRAINT;
		err_wrap(err, "migration to schema %lld", (long long)version + 1);
		return rc;
	}
	return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int load_counters(struct store *store, bool *ret_unusable, struct err *err)
{
	store->rv = store_ask_number(store->db, "SELECT rv FROM counter");
	store->now.floor = store_ask_number(store->db, "SELECT floor FROM counter");
	store->now.changes = store_ask_number(store->db, "SELECT count(*) FROM change");
	store->now.events =
		store_ask_number(store->db, "SELECT count(*) FROM object WHERE kind = 'Event'");
	store->committed = store->rv;
	store->before = store->now;
	*ret_unusable = store->rv < 0 || store->rv >= RV_MAX || store->now.floor < 0 ||
		store->now.changes < 0 || store->now.events < 0;
	if (*ret_unusable)
		return err_set(err, ERR_IO, "database '%s' is damaged: no counter", store->path);
	return 0;
}

int store_open_schema(const struct store_source *source, struct store **ret_store,
	bool *ret_unusable, struct err *err)
{
	struct store *store;
	int rc = in_memory(source->path) ? 0 : make_private(source->path, err);

	*ret_unusable = false;
	if (rc)
		return rc;
	store = xcalloc(1, sizeof(*store));
	store->path = xstrdup(source->path);
	if (sqlite3_open_v2(source->path, &store->db,
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
		rc = open_error(store->db, source->path, ret_unusable, err);
	sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
	if (!rc)
		rc = check(store->db, source->path, ret_unusable, err);
	if (!rc)
		rc = migrate(store->db, source, ret_unusable, err);
	if (!rc)
		rc = load_counters(store, ret_unusable, err);
	if (rc) {
		store_close(store);
		return rc;
	}
	store_ballast_set_aside(store);
	*ret_store = store;
	return 0;
}

int store_open(const char *path, struct store **ret_store, struct err *err)
{
	struct store_source source = { path, schema_sql };
	bool unusable;

	return store_open_schema(&source, ret_store, &unusable, err);
}
