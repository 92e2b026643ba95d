/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What travels (cargo.c, luggage.c, variables.c), how a guest that is to come is received
 * (inquiries.c, arrivals.c), and who is asked before it is sent (checks.c). Loop thread only.
 */
#ifndef VMAGENT_DAEMON_ARRIVALS_H
#define VMAGENT_DAEMON_ARRIVALS_H

#include <cjson/cJSON.h>

#include "daemon/agent_private.h"

/* ---- cargo.c --------------------------------------------------------------------------------- */

/* All that the other host has to know of m, and of its migration g, or NULL, as JSON; owned by the
 * caller. */
char *cargo_of(const struct agent *agent, const struct machine *m, const struct migration *g,
	struct now now);
/* Text of a cargo, or NULL; borrowed of it. */
const char *cargo_text(const cJSON *json, const char *key);
/* The run of a cargo, and its VM, or NULL if it brings none; owned by the caller. Only what this
 * node would take from a file, of the names that the cargo says, and with no UID of others here;
 * is_new: and has no other of its name. */
int cargo_vm(const struct agent *agent, const cJSON *json, bool is_new, struct vm **ret,
	struct err *err);
int cargo_run(const struct agent *agent, const cJSON *json, bool is_new, struct vmi **ret,
	struct err *err);
/* By how much this host's clock is ahead of the other's, as far as that is told. */
msec cargo_ahead(const cJSON *json, struct now now);
/* m has these from now on (vm may be NULL), and owns them. */
void cargo_unpack(struct agent *agent, struct machine *m, struct vm *vm, struct vmi *vmi);
/* What came of m with PREPARE or COMMIT becomes its VM and run. */
int cargo_take(struct agent *agent, struct machine *m, const char *document, struct now now,
	struct err *err);

/* ---- luggage.c ------------------------------------------------------------------------------- */

/* The objects that m names, into its cargo. */
void luggage_add(cJSON *json, const struct agent *agent, const struct machine *m);
/* Those of a cargo, which are all of namespace ns; to be released with records_done(),
 * also after an error. */
int luggage_read(const struct agent *agent, const cJSON *json, const char *ns, struct records *ret,
	struct err *err);
/* Which of them cannot be had here beside what is here, in words; owned by the caller, NULL: all
 * can. owner: the UID of the VM, or of the run that has none. */
char *luggage_conflicts(const struct agent *agent, const struct records *came, const char *owner);
/* They are here from now on. */
void luggage_keep(struct agent *agent, const struct records *came, const char *owner,
	struct now now);
/* m goes: what came with it does so too; if it has moved, so do its claims, whose files stay.
 * What others name stays. */
void luggage_leave(struct agent *agent, const struct machine *m, bool moved, struct now now);
/* Of which what comes along says that it came with it: the UID of its VM, or its own. */
const char *luggage_owner(const struct vmi *vmi);

/* ---- variables.c ----------------------------------------------------------------------------- */

/* At the source: what came of MIGRATE_READ_NVRAM … */
void variables_read(struct migration *g, const struct op_result *result);
/* … goes into the cargo; g may be NULL. */
void variables_add(cJSON *json, const struct migration *g);
/* At the target: what came of it for m with g->commit is to be written first. */
void variables_await(struct migration *g, const struct machine *m);
/* What came of MIGRATE_WRITE_NVRAM. */
void variables_written(struct migration *g, const struct op_result *result);

/* ---- inquiries.c ----------------------------------------------------------------------------- */

/* A PREPARE of a migration that is not known yet, or a CHECK: libvirt is asked about this host
 * first, and for a CHECK files are looked for. */
void arrival_hear(struct agent *agent, const struct peer_event *event, struct now now);
/* What libvirt said of this host. */
void arrivals_compared(struct agent *agent, const struct op_result *result, struct now now);
/* What of the files is missing. */
void arrivals_looked(struct agent *agent, const struct op_result *result, struct now now);
void arrivals_turn(struct agent *agent, struct now now); /* one of both took too long */
msec arrivals_wake_at(const struct agent *agent);
void arrivals_done(struct agent *agent);

/* ---- checks.c -------------------------------------------------------------------------------- */

/* A CHECKED came. */
void checks_hear(struct agent *agent, const struct peer_event *event, struct now now);
/* Asks the peers which of them would take m; `to` alone, unless it is NULL. The request is answered
 * with what they say. */
void checks_ask(struct agent *agent, const struct machine *m, const char *to,
	const struct request *request, struct now now);
/* The same for a migration that has no target yet: it gets one, or words why it has none. */
void checks_choose(struct agent *agent, struct migration *g, struct now now);
void checks_turn(struct agent *agent, struct now now); /* who has not answered will not */
msec checks_wake_at(const struct agent *agent);
void checks_done(struct agent *agent);

/* ---- handovers.c ----------------------------------------------------------------------------- */

/* What is said to whoever said `to` once the turn is committed; borrowed, until the next one. */
struct handover *handover_answer(struct agent *agent, const char *peer, const struct handover *to,
	enum handover_kind kind);
/* Says that to a peer of the configuration; takes document, which may be NULL. Borrowed
 * likewise. */
struct handover *handover_letter(struct agent *agent, const char *peer, enum handover_kind kind,
	char *document);

#endif
