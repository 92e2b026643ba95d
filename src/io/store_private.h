/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the store share. store.c: statements and transactions; store_schema.c: opening,
 * checking and migrating a file; store_rebuild.c: a new file for a lost one; store_objects.c:
 * objects and changes; store_values.c: provenance and values.
 */
#ifndef VMAGENT_IO_STORE_PRIVATE_H
#define VMAGENT_IO_STORE_PRIVATE_H

#include <sqlite3.h>
#include "io/store.h"

/* schema/NNN_*.sql in order, ended by NULL; number n brings user_version n - 1 to n.
 * Made by the build. */
extern const char *const schema_sql[];

/* Every statement of the store, X(constant, SQL). Each is prepared once, when first used. */
// clang-format off
#define STATEMENTS(X) \
	X(BEGIN, "BEGIN IMMEDIATE") \
	X(COMMIT, "COMMIT") \
	X(OBJECT_FIND, "SELECT labels FROM object WHERE kind = ?1 AND ns = ?2 AND name = ?3") \
	X(OBJECT_PUT, "INSERT INTO object (kind, ns, name, uid, rv, labels, object, state)" \
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (kind, ns, name) DO UPDATE SET uid = ?4," \
		" rv = ?5, labels = ?6, object = ?7, state = ?8") \
	X(OBJECT_REMOVE, "DELETE FROM object WHERE kind = ?1 AND ns = ?2 AND name = ?3") \
	X(OBJECT_ONE, "SELECT ns, name, uid, rv, object, labels, state FROM object" \
		" WHERE kind = ?1 AND ns = ?2 AND name = ?3") \
	X(OBJECT_IN_NS, "SELECT ns, name, uid, rv, object, labels, state FROM object" \
		" WHERE kind = ?1 AND ns = ?2 ORDER BY ns, name") \
	X(OBJECT_NAMED, "SELECT ns, name, uid, rv, object, labels, state FROM object" \
		" WHERE kind = ?1 AND name = ?3 ORDER BY ns, name") \
	X(OBJECT_ALL, "SELECT ns, name, uid, rv, object, labels, state FROM object" \
		" WHERE kind = ?1 ORDER BY ns, name") \
	X(EVENT_LOG_OLDEST, "INSERT INTO change (rv, kind, ns, name, uid, type, object, labels_before)" \
		" SELECT ?1, kind, ns, name, uid, 'DELETED', CASE WHEN json_valid(object) THEN" \
		" json_set(object, '$.metadata.resourceVersion', CAST(?1 AS TEXT)) ELSE object END, labels" \
		" FROM object INDEXED BY event_age WHERE kind = 'Event' ORDER BY rv LIMIT 1") \
	X(EVENT_REMOVE_OLDEST, "DELETE FROM object WHERE id =" \
		" (SELECT id FROM object INDEXED BY event_age WHERE kind = 'Event' ORDER BY rv LIMIT 1)") \
	X(CHANGE_PUT, "INSERT INTO change (rv, kind, ns, name, uid, type, object, labels_before)" \
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)") \
	X(CHANGE_IN_NS, "SELECT rv, ns, name, uid, type, object, labels_before FROM change" \
		" WHERE rv > ?1 AND kind = ?2 AND ns = ?3 ORDER BY rv LIMIT ?4") \
	X(CHANGE_ALL, "SELECT rv, ns, name, uid, type, object, labels_before FROM change" \
		" WHERE rv > ?1 AND kind = ?2 ORDER BY rv LIMIT ?4") \
	X(CHANGE_SINCE, "SELECT rv, kind, ns, name FROM change WHERE rv > ?1 ORDER BY rv") \
	X(CHANGE_BEFORE, "SELECT rv, ns, name, uid, type, object, labels_before FROM change" \
		" WHERE rv < ?1 AND kind = ?2 AND ns = ?3 AND name = ?4 ORDER BY rv DESC LIMIT 1") \
	X(CHANGE_NTH, "SELECT rv FROM change ORDER BY rv LIMIT 1 OFFSET ?1") \
	X(CHANGE_PRUNE, "DELETE FROM change WHERE rv <= ?1") \
	X(PROVENANCE_PUT, "INSERT INTO provenance (file, kind, ns, name, uid, base, epoch, state)" \
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (file, kind, ns, name) DO UPDATE SET" \
		" uid = ?5, base = ?6, epoch = ?7, state = ?8") \
	X(PROVENANCE_REMOVE, "DELETE FROM provenance WHERE file = ?1 AND kind = ?2 AND ns = ?3 AND name = ?4") \
	X(PROVENANCE_ALL, "SELECT file, kind, ns, name, uid, base, epoch, state FROM provenance" \
		" ORDER BY file, kind, ns, name") \
	X(VALUE_PUT, "INSERT INTO value (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2") \
	X(VALUE_GET, "SELECT value FROM value WHERE key = ?1") \
	X(COUNTER_PUT, "UPDATE counter SET rv = ?1, floor = ?2")
// clang-format on

#define RV_MAX (1LL << 53) /* a counter beyond what JSON numbers hold is damage */

enum statement {
#define X(c, sql) STATEMENT_##c,
	STATEMENTS(X)
#undef X
		STATEMENT_MAX
};

#define STORE_VALUE_LOST "lost" /* why the database was lost; "" once that has been dealt with */

struct tally {           /* goes back at a rollback, unlike the counter */
	int64_t floor;   /* the newest change that has left the log */
	int64_t changes; /* rows in the change log */
	int64_t events;  /* Event objects */
};

struct store {
	sqlite3 *db;                             /* owned */
	char *path;                              /* owned */
	sqlite3_stmt *statements[STATEMENT_MAX]; /* owned; NULL until first used */
	int64_t rv;                              /* the last value given out */
	int64_t committed;                       /* rv as of the last commit */
	struct tally now, before;                /* before: as of the last commit */
	/* The open transaction's writes as SQL, for a second try without the ballast. */
	struct buf replay;
	bool ballast;             /* the file is there */
	bool lost;                /* STORE_VALUE_LOST is set: the next commit clears it */
	unsigned commits_without; /* since it went */
	unsigned fail_after;      /* 0: never */
};

/* store.c */
int store_error(struct store *store, struct err *err, const char *what);
/* A statement ready to bind; one that is in use (a callback reads) is prepared
 * anew. Give it back. */
sqlite3_stmt *statement_take(struct store *store, enum statement which, struct err *err);
void statement_give(struct store *store, enum statement which, sqlite3_stmt *stmt);
/* Steps a bound write and gives it back; 0 or an error that names `what`. */
int statement_write(struct store *store, enum statement which, sqlite3_stmt *stmt, const char *what,
	struct err *err);
/* A number out of one row; `fallback` when there is none. Binds arg as ?1 where
 * the statement has one. */
int64_t statement_number(struct store *store, enum statement which, int64_t arg, int64_t fallback);
/* NULL binds NULL; the text must live until the statement is given back. */
void statement_text(sqlite3_stmt *stmt, int place, const char *text);
const char *statement_column(sqlite3_stmt *stmt, int column);
/* Calls each() for every row of a bound statement and gives it back; nonzero ends it. */
struct row_reader {
	int (*each)(const struct row_reader *reader, sqlite3_stmt *stmt);
	enum object_kind kind;
	union {
		object_cb *object;
		change_cb *change;
		provenance_cb *provenance;
	} cb;
	void *ctx; /* the callback's */
};
int statement_read(struct store *store, enum statement which, sqlite3_stmt *stmt,
	const struct row_reader *reader, struct err *err);
void store_ballast_set_aside(struct store *store);

/* store_objects.c: events and changes beyond their windows go; called by the commit. */
int store_prune(struct store *store, struct err *err);

/* store_schema.c: the first column of the first row, or -1. */
int64_t store_ask_number(sqlite3 *db, const char *sql);

/* As store_open() and store_open_or_rebuild(), with a list of migrations; *ret_unusable: the file
 * itself is at fault. */
struct store_source {
	const char *path;
	const char *const *schema; /* ended by NULL */
};
int store_open_schema(const struct store_source *source, struct store **ret_store,
	bool *ret_unusable, struct err *err);

#endif
