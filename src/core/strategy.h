/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RunStrategy decision (semantics §4.2-§4.4): strategy × state of the VMI → intent. Pure,
 * total.
 */
#ifndef VMAGENT_CORE_STRATEGY_H
#define VMAGENT_CORE_STRATEGY_H

#include <vmagent/model.h>

/* The columns of §4.3. */
enum vmi_stage {
	STAGE_NONE,
	STAGE_ACTIVE,
	STAGE_SUCCEEDED,
	STAGE_FAILED,
	STAGE_DELETING,
	STAGE_MAX
};

/* X(constant, name) */
#define INTENTS(X)                                                                               \
	X(NONE, "none")                                                                          \
	X(CREATE, "create")               /* create the VMI */                                   \
	X(WAIT, "wait")                   /* would create; the start back-off is not over */     \
	X(DELETE, "delete")               /* delete the VMI */                                   \
	X(DELETE_AND_START, "rerun")      /* delete it and append a Start request */             \
	X(BECOME_ALWAYS, "become-always") /* Halted with a Start request: spec becomes Always */ \
	X(ERROR, "error")                 /* no row: an unsupported state, shown as condition */

enum intent {
#define X(c, t) INTENT_##c,
	INTENTS(X)
#undef X
		INTENT_MAX
};
ENUM_DECLARE(intent, INTENT, INTENTS)

struct strategy_facts {
	enum run_strategy strategy;
	enum run_strategy recorded; /* status.runStrategy */
	enum vmi_stage stage;
	struct state_request head; /* stateChangeRequests[0]; action NONE when empty */
	char vmi_uid[UID_SIZE];    /* "" without a VMI */
	bool backoff_left;         /* now < startFailure.retryAfter */
	bool ran_once;             /* strategy Once had its run (§14 no. 8) */
	bool restore;              /* it ran when the host went down, and is to run again */
};

/* Whether a machine of this strategy may be restored after a boot of the host. */
bool strategy_restores(enum run_strategy strategy);

enum intent strategy_decide(const struct strategy_facts *facts);

/* Which column of §4.3 a VMI is in; vmi NULL is STAGE_NONE. */
enum vmi_stage vmi_stage_of(const struct vmi *vmi);

/* The start that §4.3 would make without a VMI, whether it is held back or not. */
bool vm_would_start(const struct vm *vm);

/* Whether requests[0] is a Stop of this run; vmi may be NULL. */
bool stop_is_requested(const struct vm *vm, const struct vmi *vmi);

/* Whether requests[0] is to be removed now (§4.4); vmi may be NULL. */
bool request_is_spent(const struct state_request *head, const struct vmi *vmi);

/* Queue operations; they keep the rest in order. push returns false when the queue is full. */
void requests_pop(struct vm *vm);
bool requests_push(struct vm *vm, const struct state_request *request);

#endif
