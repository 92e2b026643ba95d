/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of records, by kind, namespace and name. It is all in memory, because deciders will
 * look things up in it. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_RECORDS_H
#define VMAGENT_DAEMON_RECORDS_H

#include "core/record.h"

#define RECORDS_MAX      10000              /* of all kinds together */
#define RECORDS_SIZE_MAX (64 * 1024 * 1024) /* bytes of all their contents */

struct records {
	struct record **list; /* owned, sorted */
	size_t n, cap;
	struct record **gone; /* owned: their rows go with the next commit */
	size_t n_gone, cap_gone;
	bool changed;         /* something is to be saved */
	unsigned terminating; /* namespaces that are on their way out */
};

struct record *records_find(const struct records *rs, enum object_kind kind, const char *ns,
	const char *name);
/* All of a kind, in order; borrowed until one is added or removed. */
struct record *const *records_of_kind(const struct records *rs, enum object_kind kind,
	size_t *ret_n);
/* Whether there is room for one of that size, new or instead of `but`: ERR_FORBIDDEN,
 * as by a quota. */
int records_check_room(const struct records *rs, const struct record *but, size_t size,
	struct err *err);
/* Takes it over; none of its identity is there. It is marked as changed unless it was loaded. */
void records_add(struct records *rs, struct record *record, bool loaded);
/* It is no longer found; its row goes with the commit. */
void records_remove(struct records *rs, struct record *record);
/* Its content was changed. */
void records_touch(struct records *rs, struct record *record);
void records_done(struct records *rs);

#endif
