/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new database in the place of one that is damaged or gone. The old file is moved aside, never
 * removed. The change counter of a file made here starts at the wall time in milliseconds, or
 * above what the damaged file still tells: fewer than a thousand changes a second are made, so
 * no value comes twice.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "io/store_private.h"

#define RV_REBUILD_STEP  1000000 /* above a counter read from a damaged file */
#define BROKEN_NAMES_MAX 100

static bool exists(const char *path, const char *suffix)
{
	autofree char *name = xasprintf("%s%s", path, suffix);
	struct stat st;

	return lstat(name, &st) == 0;
}

/* The counter in a damaged file, if it can still be read; else 0. */
static int64_t salvage_counter(const char *path)
{
	sqlite3 *db = NULL;
	int64_t rv = 0;

	if (!sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		rv = store_ask_number(db, "SELECT rv FROM counter");
	sqlite3_close(db);
	return rv > 0 && rv < RV_MAX - RV_REBUILD_STEP ? rv + RV_REBUILD_STEP : 0;
}

static int move_aside(const char *path, int64_t seconds, struct err *err)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	autofree char *broken = NULL;

	for (int i = 0; i < BROKEN_NAMES_MAX; i++) {
		free(broken);
		broken = xasprintf("%s.broken-%lld", path, (long long)seconds + i);
		if (!exists(broken, ""))
			break;
	}
	/* The file first: beside a new, empty one SQLite drops a log that was left. */
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		autofree char *from = xasprintf("%s%s", path, suffixes[i]);
		autofree char *to = xasprintf("%s%s", broken, suffixes[i]);

		if (rename(from, to) && errno != ENOENT)
			return err_set(err, ERR_IO, "cannot move '%s' aside: %s", from,
				strerror(errno));
	}
	return 0;
}

/* Watches from before are too old, and no value that a former file gave out comes again. That the
 * database was lost is kept until a first commit. */
static int start_counter(struct store *store, int64_t rv, const struct err *why, struct err *err)
{
	char *sql = sqlite3_mprintf("BEGIN IMMEDIATE; UPDATE counter SET rv = %lld, floor = %lld;"
				    "INSERT INTO value (key, value) VALUES (%Q, %Q); COMMIT",
		(long long)rv, (long long)rv, STORE_VALUE_LOST,
		why->code == ERR_OK ? "" : why->msg);
	int failed = sqlite3_exec(store->db, sql, NULL, NULL, NULL);

	sqlite3_free(sql);
	if (failed)
		return store_error(store, err, "cannot start the change counter");
	store->rv = store->committed = rv;
	store->now.floor = store->before.floor = rv;
	return 0;
}

static void tell_lost(struct store *store, struct err *why)
{
	autofree char *words = store_get_value(store, STORE_VALUE_LOST);

	store->lost = words && *words;
	if (store->lost)
		err_set(why, ERR_IO, "%s", words);
}

/* Opens; moves a damaged file aside and opens a new one. *ret_rv: above what the
 * old one gave out. */
static int open_sound(const char *path, struct now now, struct store **ret_store, struct err *why,
	int64_t *ret_rv)
{
	struct store_source source = { path, schema_sql };
	struct err aside = { .code = ERR_OK };
	int64_t salvaged;
	bool unusable;
	int rc = store_open_schema(&source, ret_store, &unusable, why);

	*ret_rv = now.wall;
	if (!rc || !unusable)
		return rc;
	salvaged = salvage_counter(path);
	*ret_rv = MAX(now.wall, salvaged);
	rc = move_aside(path, now.wall / 1000, &aside);
	if (!rc)
		rc = store_open(path, ret_store, &aside);
	if (rc)
		*why = aside;
	return rc;
}

int store_open_or_rebuild(const char *path, struct now now, struct store **ret_store,
	struct err *why, struct err *err)
{
	bool before = exists(path, ".ballast");
	struct store *store = NULL;
	int64_t rv;
	int rc;

	*why = (struct err){ .code = ERR_OK };
	rc = open_sound(path, now, &store, why, &rv);
	if (rc) {
		err_set(err, why->code, "%s", why->msg);
		return rc;
	}
	if (store->rv == 0) { /* made just now, or by a process that came no further */
		if (before && why->code == ERR_OK)
			err_set(why, ERR_IO, "database '%s' is missing, though there was one",
				path);
		rc = start_counter(store, rv, why, err);
	}
	tell_lost(store, why);
	if (rc)
		store_close(store);
	else
		*ret_store = store;
	return rc;
}
