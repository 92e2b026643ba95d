/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole agent in a few lines: the real agent and store, a clock that is set by hand, one VM and
 * one domain that does at once whatever is asked of it. For tests of what an agent writes down;
 * what happens in which order when things go wrong is the simulation's.
 */
#ifndef VMAGENT_TEST_LIB_RIG_H
#define VMAGENT_TEST_LIB_RIG_H

#include "daemon/agent.h"

#define RIG_OPS_MAX 16

struct rig {
	struct hypervisor hv;
	struct store *store; /* owned */
	struct agent *agent; /* owned */
	struct agent_options options;
	struct now now;
	char boot_id[2];
	unsigned char seed;
	struct op ops[RIG_OPS_MAX]; /* owned: not yet answered */
	size_t n_ops;
	struct domain_info dom; /* the one domain; state NONE: there is none */
	struct err refusal;     /* START: code OK is done */
	const char *words;      /* WORDS */
	bool deaf;              /* it heeds no signal */
	bool hung;              /* errands are never answered … */
	uint64_t hung_op;       /* … the last one */
};

void rig_begin(struct rig *r);
void rig_end(struct rig *r);
void rig_restart(struct rig *r); /* the agent's next life */
void rig_lose_database(struct rig *r);

void rig_create(struct rig *r, const char *strategy); /* VM default/web, by user 1000 */
void rig_verb(struct rig *r, enum verb verb, const struct verb_options *options);
void rig_vmi_verb(struct rig *r, enum vmi_verb verb);
void rig_delete(struct rig *r, enum object_kind kind);
void rig_event(struct rig *r, enum domain_event_kind kind); /* of the domain */
void rig_domain(struct rig *r, enum domain_state state, enum domain_reason reason); /* is so now */

void rig_run(struct rig *r, unsigned seconds); /* turns, answers, and that much time passes */

#endif
