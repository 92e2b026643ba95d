/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: SQLite in WAL mode, synchronous=FULL, STRICT tables, migrations from schema/. It keeps
 * objects as text and knows nothing of their meaning. Loop thread only.
 *
 * An object row has the public JSON document (what the API serves, resourceVersion inside) and a
 * private state text of the agent's. Every put and delete also appends to the change log, which
 * watches read; the log keeps a bounded window.
 */
#ifndef VMAGENT_IO_STORE_H
#define VMAGENT_IO_STORE_H

#include <vmagent/model.h>

#define CHANGE_WINDOW 10000 /* change log rows kept */
#define EVENT_WINDOW  10000 /* Event objects kept; the oldest go first, with a change row each */
#define BALLAST_SIZE  (1 << 20) /* bytes set aside beside the database for the first ENOSPC */

struct store;

/* path ":memory:" is the test double. Runs quick_check and the migrations (a copy of the file is
 * kept before each). Errors: ERR_IO with the path; a newer schema than ours is refused in words. */
int store_open(const char *path, struct store **ret_store, struct err *err);
void store_close(struct store *store);

/*
 * Opens, or when the file is unusable (damaged, unreadable, a failing migration) moves it aside as
 * <path>.broken-<wall seconds> and starts an empty one. *why holds the words whenever the database
 * was lost, else its code is ERR_OK; it is told at every opening until a first commit has gone
 * through, so whoever has to remember it does so in that one. A newer schema, a full disk or
 * another agent that has it open are errors, not damage. In a file made here the change counter
 * starts at the wall time in ms, so that no rv comes twice.
 */
int store_open_or_rebuild(const char *path, struct now now, struct store **ret_store,
	struct err *why, struct err *err);

/* Everything that writes stands between these. commit failing rolls back; ENOSPC releases the
 * ballast and tries once more; errors ERR_NO_SPACE or ERR_IO. */
int store_begin(struct store *store, struct err *err);
int store_commit(struct store *store, struct err *err);
void store_rollback(struct store *store);

/* The next value of the one global change counter: never reused, also not after a rollback or
 * rebuild. */
int64_t store_next_rv(struct store *store);
int64_t store_current_rv(struct store *store); /* of the last committed change */

struct object_row { /* all borrowed for the call */
	enum object_kind kind;
	const char *ns, *name, *uid;
	int64_t rv;
	const char *object; /* public JSON */
	const char *labels; /* JSON object of its labels, or NULL */
	const char *state;  /* private JSON, or NULL */
};

/* Inserts or replaces, and logs ADDED or MODIFIED. */
int store_put(struct store *store, const struct object_row *row, struct err *err);
/* Removes, and logs DELETED with row->object as the last state. No such row: 0, nothing logged. */
int store_remove(struct store *store, const struct object_row *row, struct err *err);

struct object_query {
	enum object_kind kind;
	const char *ns, *name; /* NULL: all */
};

/* Calls back for each row by (ns, name). A callback returning nonzero ends it, and that is
 * returned; it may read the store, but not write. */
typedef int object_cb(void *ctx, const struct object_row *row);
int store_each(struct store *store, const struct object_query *query, object_cb *cb, void *ctx,
	struct err *err);

struct change_query {
	enum object_kind kind;
	const char *ns; /* NULL: all */
	int64_t since;
	int limit; /* rows at most */
};

/* The change log from just after `since`, in order. ERR_GONE when `since` is older
 * than the window, or newer than the newest change (it is of another database).
 * type: "ADDED", "MODIFIED", "DELETED". */
struct change_row {
	int64_t rv;
	enum object_kind kind;
	const char *ns, *name, *uid, *type, *object;
	const char *labels_before; /* or NULL */
};
typedef int change_cb(void *ctx, const struct change_row *row);
int store_changes(struct store *store, const struct change_query *query, change_cb *cb, void *ctx,
	struct err *err);

/* Of every kind, what has changed after `since`: kind, ns, name and rv of each row, nothing else.
 * Errors: as above, but a `since` that is too old gets what there is. */
int store_changed_since(struct store *store, int64_t since, change_cb *cb, void *ctx,
	struct err *err);

/* The object as the change before that one left it, owned by the caller; NULL when the
 * log does not say. */
char *store_object_before(struct store *store, const struct change_row *row);

/* Provenance: what each manifest file last gave, document by document (design §5). X(constant,
 * text) */
#define PROVENANCES(X) X(LIVE, "live") X(DELETED, "deleted") X(MOVED, "moved") X(DONE, "done")
enum provenance {
#define X(c, t) PROVENANCE_##c,
	PROVENANCES(X)
#undef X
		PROVENANCE_MAX
};
ENUM_DECLARE(provenance, PROVENANCE, PROVENANCES)

struct provenance_row { /* borrowed for the call */
	const char *file;
	enum object_kind kind;
	const char *ns, *name, *uid;
	const char *base; /* the document as last applied: JSON */
	int64_t epoch;
	enum provenance state;
};
typedef int provenance_cb(void *ctx, const struct provenance_row *row);
int store_put_provenance(struct store *store, const struct provenance_row *row, struct err *err);
/* The row of that file, kind, ns and name; its other fields are not looked at. */
int store_remove_provenance(struct store *store, const struct provenance_row *row, struct err *err);
int store_each_provenance(struct store *store, provenance_cb *cb, void *ctx, struct err *err);

/* Small durable values ("boot_id", "event_seq"); get returns NULL when absent,
 * owned by the caller. */
int store_put_value(struct store *store, const char *key, const char *value, struct err *err);
char *store_get_value(struct store *store, const char *key);

/* Test hook of the fault walk: the n-th write from now on fails (0: never); the commit counts
 * too. */
void store_fail_after(struct store *store, unsigned n);

#endif
