/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts, so many at a time, and after a boot of the host in order. Whether a machine is to
 * start is the decider's to say; this says when. Nothing is stored of who has a slot: it
 * follows from what the decider says of each machine, so that none can leak and a restart needs
 * no more. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_SLOTS_H
#define VMAGENT_DAEMON_SLOTS_H

#include "core/decide.h"
#include "daemon/machines.h"
#include "daemon/order_list.h"

/* The starts after a boot. AHEAD: which machines they are is not known yet, and none begins. */
enum boot_round { ROUND_NONE, ROUND_AHEAD, ROUND_OPEN };

struct slots {
	unsigned held;
	struct machine_list waiting;
	struct machine_list members; /* of the round: not running yet, or not long enough */
	enum boot_round round;
};

/* Takes note of what was decided about m. Boot time at which to decide about it again; NEVER:
 * none. */
msec slots_follow(struct slots *slots, struct machine *m, const struct plan *plan, struct now now);
void slots_forget(struct slots *slots, struct machine *m);
void slots_done(struct slots *slots);

/* All machines are known: the round begins with them, and each is to be decided about. */
void slots_open_round(struct slots *slots, struct machines *machines);

/* Whether the round is over: then there is none any more. */
bool slots_close_round(struct slots *slots);

/* The next machine that has a slot now and had none, or NULL. */
struct machine *slots_next(struct slots *slots, unsigned max);

#endif
