/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of machines, by namespace and name and by UUID, with the queue of dirty ones and the
 * heap of their wake-ups: an event costs a binary search, never a walk over all. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_MACHINES_H
#define VMAGENT_DAEMON_MACHINES_H

#include "core/machine.h"

struct uuid_entry { /* a UUID that a machine's run or VM claims */
	char uuid[UID_SIZE];
	struct machine *m; /* borrowed */
};

struct machines {
	struct machine **list; /* owned, sorted */
	size_t n, cap;
	struct uuid_entry *index; /* owned, sorted by UUID */
	size_t n_index, cap_index;
	struct machine **queue; /* borrowed: the dirty ones */
	size_t n_queue, cap_queue;
	struct machine **heap; /* borrowed, by wake_at */
	size_t n_heap, cap_heap;
};

struct machine *machines_find(const struct machines *ms, const char *ns, const char *name);
/* The one whose run has, or will have, the domain of that UUID, whatever its name is; or NULL. */
struct machine *machines_find_run(const struct machines *ms, const char *uuid);
/* Another one than `but` whose run or VM claims that UUID; or NULL. */
struct machine *machines_find_claim(const struct machines *ms, const char *uuid,
	const struct machine *but);
/* By the name <namespace>_<name> of a domain, or NULL. */
struct machine *machines_find_domain(const struct machines *ms, const char *domain);
struct machine *machines_get(struct machines *ms, const char *ns, const char *name); /* or adds */
void machines_remove(struct machines *ms, struct machine *m);                        /* and frees */
void machines_done(struct machines *ms);

/* Puts it into the queue, once. Whoever changed a machine calls this: its UUIDs
 * are looked at again. */
void machines_mark(struct machines *ms, struct machine *m);

void machines_wake_at(struct machines *ms, struct machine *m, msec at); /* NEVER takes it out */
msec machines_next_wake(const struct machines *ms);
/* Marks all whose time has come. */
void machines_wake_due(struct machines *ms, msec now);

#endif
