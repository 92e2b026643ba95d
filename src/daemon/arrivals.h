/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What travels (cargo.c), and how a guest that is to come is received (arrivals.c). Loop thread only.
 */
#ifndef VMAGENT_DAEMON_ARRIVALS_H
#define VMAGENT_DAEMON_ARRIVALS_H

#include <cjson/cJSON.h>

#include "daemon/agent_private.h"

/* ---- cargo.c ------------------------------------------------------------------------------------ */

/* All that the other host has to know of m, as JSON; owned by the caller. whole: its VM as well. */
char *cargo_of(const struct agent *agent, const struct machine *m, bool whole);
/* Text of a cargo, or NULL; borrowed of it. */
const char *cargo_text(const cJSON *json, const char *key);
/* Whether this node would take that object from a file; is_new: and has no other of its name. */
int cargo_check(const struct agent *agent, const char *text, bool is_new, struct err *err);
/* The run of a cargo; owned by the caller. */
int cargo_run(const struct agent *agent, const cJSON *json, bool is_new, struct vmi **ret,
	struct err *err);
/* m has these from now on (vm may be NULL), and owns them. */
void cargo_unpack(struct agent *agent, struct machine *m, struct vm *vm, struct vmi *vmi);
/* What came of m with PREPARE or COMMIT becomes its VM and run. */
int cargo_take(struct agent *agent, struct machine *m, const char *document, struct err *err);

/* ---- arrivals.c --------------------------------------------------------------------------------- */

/* A PREPARE of a migration that is not known yet. */
void arrival_hear(struct agent *agent, const struct peer_event *event, struct now now);

/* ---- handovers.c -------------------------------------------------------------------------------- */

/* What is said to whoever said `to` once the turn is committed; borrowed, until the next one. */
struct handover *handover_answer(struct agent *agent, const struct peer_event *to,
	enum handover_kind kind);

#endif
