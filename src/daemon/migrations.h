/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations within the agent: what is said to peers about them, their rows, and their part of a
 * turn. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_MIGRATIONS_H
#define VMAGENT_DAEMON_MIGRATIONS_H

#include <cjson/cJSON.h>

#include "daemon/agent_private.h"

/* handovers.c: what is said about migrations. */
void input_handover(struct agent *agent, const struct peer_event *event, struct now now);
void handover_say(struct agent *agent, struct migration *g, enum handover_kind kind,
	struct now now);
/* WHOSE: of these names, JSON which is taken over, or NULL: of all. */
struct handover *handover_ask(struct agent *agent, const char *peer, char *names);
void handovers_send(struct agent *agent); /* after the commit */
void handovers_done(struct agent *agent);

/* migrations.c */
struct migration *migrations_find(const struct agent *agent, const char *uid);
void migrations_add(struct agent *agent, struct migration *g);
void migration_touch(struct agent *agent, struct migration *g); /* it is to be saved */
unsigned migrations_under_way(const struct agent *agent, enum migration_role role);
struct migration *migrations_unfinished(const struct agent *agent, const char *ns, const char *vmi);
/* The peer that has ns/name now, or NULL. */
const char *migrations_moved_to(const struct agent *agent, const char *ns, const char *name);
void migration_remove(struct agent *agent, struct migration *g); /* it is to be forgotten */
void migrations_prune(struct agent *agent, const struct migration *newest);
/* Whether orders are taken for m now, which may be NULL: ERR_CONFLICT. */
int agent_check_orders(const struct machine *m, struct err *err);
int migrations_load(struct agent *agent, bool same_boot, struct err *err); /* after machines */
/* Before anything of the turn is saved. */
void migrations_note(struct agent *agent, struct now now);
int migrations_save(struct agent *agent, struct err *err);
void migrations_committed(struct agent *agent);
void migrations_done(struct agent *agent);

/* migration_requests.c: what a verb and an object ask alike. */
/* Whether this host takes part: ERR_FORBIDDEN. */
int migrations_check_enabled(const struct agent *agent, struct err *err);
/* Whether m, of request's name, may go where that says: ERR_CONFLICT, ERR_NOT_FOUND. */
int migrations_check_begin(const struct agent *agent, const struct request *request,
	const struct machine *m, struct err *err);
/* … and it goes; borrowed from the agent. */
struct migration *migrations_begin(struct agent *agent, const struct request *request,
	struct now now);
/* Whether it can still be called off: ERR_CONFLICT. */
int migrations_check_cancel(const struct migration *g, struct err *err);
/* Whether a run is one that can go to another host at all: ERR_CONFLICT with KubeVirt's reason. */
int migrations_check_run(const struct vmi *vmi, struct err *err);

/* migration_limits.c */
/* Whether it is its turn: of those that wait, the ones of more weight and then the
 * older ones come first. */
bool migration_limits_allow(const struct agent *agent, const struct migration *g);
/* From now on neither the configuration nor a MigrationPolicy changes what it may do. */
void migration_limits_freeze(const struct agent *agent, struct migration *g, const struct vmi *vmi);
/* What libvirt has done of it is shown, but not more often than once a second. */
void migration_note_progress(struct agent *agent, struct machine *m,
	const struct migration_progress *progress);
/* Whether m's relay keeps the target's answer from libvirt, or has nothing to keep any more. */
void migration_note_answer(struct machine *m, bool held);

/* contested.c: whoever takes a name that has moved away waits for that peer's word. */
/* The peer that a machine of that name, made anew, is to wait for, or NULL. */
const char *contested_by(const struct agent *agent, const char *ns, const char *name);
void contested_turn(struct agent *agent, struct now now);                              /* asks */
void contested_heard(struct agent *agent, const char *peer, const struct handover *h); /* MINE */
void contested_forfeit(struct agent *agent, const char *peer); /* it will not say any more */

/* mine.c: WHOSE is answered. */
void mine_answer(struct agent *agent, const struct peer_event *event);

/* migration_past.c: what is known of machines that moved, of migrations that are forgotten. */
void past_load(struct agent *agent);
int past_save(struct agent *agent, struct err *err);
void past_done(struct agent *agent);
void past_note(struct agent *agent, const struct migration *g);
/* Whether owner is, or may be, the one whose epochs an old row tells of: one of that name is
 * another guest if not. */
bool past_is_of(const char *row, const char *owner);
/* The latest epoch of that one's ownership; 0: none is known. */
int64_t past_epoch(const struct agent *agent, const char *ns, const char *name, const char *owner);
/* When the latest of that name moved, among the others of migrations; 0: none is known. */
int64_t past_number(const struct agent *agent, const char *ns, const char *name);
/* Answers a peer that was declared dead, and asks of one that was settled without it. Whether
 * it was that. */
bool past_hear(struct agent *agent, const char *peer, const struct handover *h);
/* Whether as many more that a declared death is to settle can be kept until their other host has
 * heard of it; those of hosts that are no peers any more make room. */
bool past_has_room(struct agent *agent, size_t more);
/* The peer that it went to then, or NULL. */
const char *past_peer(const struct agent *agent, const char *ns, const char *name);

/* migration_results.c */
void migrations_result(struct agent *agent, struct machine *m, const struct op_result *result,
	struct now now);

/* migrations_turn.c */
void migrations_turn(struct agent *agent, struct now now); /* before the machines' part */
struct migration_view migration_view_of(const struct agent *agent, const struct migration *g,
	struct now now);
/* That machine is known to be at that peer. */
void migration_settle_away(struct agent *agent, struct machine *m, const char *peer,
	struct now now);
void migration_own(struct agent *agent, struct migration *g, const char *document, struct now now);
void migration_lose(struct agent *agent, struct migration *g, struct now now);
void migration_reclaim(struct agent *agent, struct migration *g, struct now now);

#endif
