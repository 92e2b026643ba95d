/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs start, stop and restart: preconditions and effect, by RunStrategy and VMI (semantics
 * §5.1-§5.3, §5.5; a refusal that is 500 upstream is 409 here, §14 no. 1). A refused verb changes
 * nothing at all (§14 no. 4). Pure.
 */
#ifndef VMAGENT_CORE_VERBS_H
#define VMAGENT_CORE_VERBS_H

#include <vmagent/model.h>

struct verb_options {
	bool paused;    /* start */
	bool has_grace; /* stop gracePeriod, restart gracePeriodSeconds */
	int64_t grace;  /* seconds */
	bool dry_run;
};

/* What an accepted verb does; the caller applies it, all of it, in one transaction. */
struct verb_effect {
	enum run_strategy strategy; /* UNSET: spec unchanged */
	bool set_requests;          /* replace the queue by `requests` */
	struct state_request requests[REQUESTS_MAX];
	unsigned n_requests;
	int64_t vmi_grace;        /* GRACE_UNSET: VMI's terminationGracePeriodSeconds unchanged */
	bool clear_start_failure; /* start/stop/restart through the API always do (§4.5), and the
				   * guard's count with it */
	bool record_strategy; /* it is not new any more: nothing starts but on request (§4.3) */
};

struct verb_target { /* what the store holds for ns/name; either may be NULL; borrowed */
	const struct vm *vm;
	const struct vmi *vmi;
};

/*
 * With dry_run an accepted verb's effect is empty. Returns 0 and fills *ret_effect, or -code
 * (NOT_FOUND, CONFLICT, BAD_REQUEST) with words that name the object, its strategy and what to do.
 */
int verb_check(enum verb verb, const struct verb_options *options, const struct verb_target *target,
	struct verb_effect *ret_effect, struct err *err);

#endif
