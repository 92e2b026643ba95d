/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the decider share: the view that rules look at, and what they fill a plan with.
 * A rule returns true when it applies, and its plan then is the machine's; when it does not, it may
 * still have asked to be woken.
 */
#ifndef VMAGENT_CORE_DECIDE_PRIVATE_H
#define VMAGENT_CORE_DECIDE_PRIVATE_H

#include "core/decide.h"

struct view { /* what the rules look at */
	const struct machine *m;
	const struct host_facts *host;
	const struct vm *vm;     /* or NULL */
	const struct vmi *vmi;   /* or NULL */
	enum domain_state state; /* as this run's own */
	bool settled;            /* state is fresh and agreed upon */
};

bool plan_step(struct plan *plan, enum step step);
bool plan_phase(struct plan *plan, enum phase phase, enum domain_reason cause, const char *reason);
/* Asks to be woken, unless something earlier is planned already. Returns false. */
bool wake_at(struct plan *plan, msec at);
bool lane_is_free(const struct view *v, enum op_lane lane);
/* An op that failed is not tried again at once. */
bool may_retry(const struct view *v, struct plan *plan);
bool vmi_is_live(const struct view *v);
/* An adopted run whose domain is there and does not carry our metadata yet: its state says nothing
 * of the run, and nothing but the claim is done to it. */
bool vmi_is_unclaimed(const struct view *v);

typedef bool rule_fn(const struct view *v, struct plan *plan);

/* decide_phase.c */
bool rule_phase(const struct view *v, struct plan *plan);
bool rule_never_ran(const struct view *v, struct plan *plan);

/* decide_vm.c */
bool rule_adopt(const struct view *v, struct plan *plan);
bool rule_count_failure(const struct view *v, struct plan *plan);
bool rule_clear_failure(const struct view *v, struct plan *plan);
bool rule_count_crash(const struct view *v, struct plan *plan);
bool rule_clear_crash(const struct view *v, struct plan *plan);
bool rule_delete_vm(const struct view *v, struct plan *plan);
bool rule_types(const struct view *v, struct plan *plan);
bool rule_strategy(const struct view *v, struct plan *plan);
bool rule_pop_request(const struct view *v, struct plan *plan);
bool rule_record_strategy(const struct view *v, struct plan *plan);

/* decide_run.c */
bool rule_host_stop(const struct view *v, struct plan *plan);
bool rule_stop(const struct view *v, struct plan *plan);
bool rule_read(const struct view *v, struct plan *plan);
bool rule_schedule(const struct view *v, struct plan *plan);
bool rule_claim(const struct view *v, struct plan *plan);
bool rule_start(const struct view *v, struct plan *plan);
/* From Pending until it runs; not while it hangs or waits for another try, so that others go on. */
bool wants_slot(const struct view *v, struct plan *plan);
bool may_live(const struct view *v);
/* The run ends with the host, nobody had asked it to, and hostBoot.policy wants it back. */
bool is_to_be_restored(const struct view *v, const struct plan *plan);
bool is_coming(const struct view *v, const struct plan *plan);
bool rule_words(const struct view *v, struct plan *plan);
bool rule_clean(const struct view *v, struct plan *plan);

/* decide_guest.c */
bool rule_act(const struct view *v, struct plan *plan);
bool rule_pause(const struct view *v, struct plan *plan);
bool rule_io_error(const struct view *v, struct plan *plan);
bool rule_io_over(const struct view *v, struct plan *plan);
bool rule_synchronized(const struct view *v, struct plan *plan);

/* decide_probe.c */
bool rule_probe_verdict(const struct view *v, struct plan *plan);
bool rule_probe(const struct view *v, struct plan *plan);

/* decide_agent.c */
bool rule_set_time(const struct view *v, struct plan *plan);
bool rule_agent_info(const struct view *v, struct plan *plan);
bool rule_credentials_told(const struct view *v, struct plan *plan);
bool rule_credentials(const struct view *v, struct plan *plan);

#endif
