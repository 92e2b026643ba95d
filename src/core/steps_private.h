/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the steps share: a call of one step. A step changes the machine as the plan
 * says and fills *ret with what happened.
 */
#ifndef VMAGENT_CORE_STEPS_PRIVATE_H
#define VMAGENT_CORE_STEPS_PRIVATE_H

#include "core/steps.h"

struct step_call {
	struct machine *m;
	const struct plan *plan;
	const struct step_env *env;
	struct happening *ret;
};

typedef void step_fn(struct step_call *c);

/* steps_run.c */
void step_set_phase(struct step_call *c);
void step_host_stop(struct step_call *c);
void step_signal(struct step_call *c);
void step_ask_agent(struct step_call *c);
void step_kill(struct step_call *c);
void step_op_line(struct step_call *c);
void step_claim(struct step_call *c);
void step_suspend(struct step_call *c);
void step_resume(struct step_call *c);
void step_act(struct step_call *c);
void step_set_time(struct step_call *c);
void step_unpaused(struct step_call *c);
void step_clear_error(struct step_call *c);
void step_io_failed(struct step_call *c);
void step_io_over(struct step_call *c);
void step_io_resume(struct step_call *c);
void step_wait_for(struct step_call *c);
void step_forget_vmi(struct step_call *c);

/* steps_probe.c */
void step_probe(struct step_call *c);
void step_unhealthy(struct step_call *c);
void step_readiness(struct step_call *c);

/* steps_credentials.c */
void step_tell_credentials(struct step_call *c);
void step_credentials(struct step_call *c);

/* steps_vm.c */
void step_adopt_vmi(struct step_call *c);
void step_delete_vmi(struct step_call *c);
void step_rerun_vmi(struct step_call *c);
void step_pin(struct step_call *c);
void step_become_always(struct step_call *c);
void step_pop_request(struct step_call *c);
void step_count_failure(struct step_call *c);
void step_clear_failure(struct step_call *c);
void step_count_crash(struct step_call *c);
void step_clear_crash(struct step_call *c);
void step_record_strategy(struct step_call *c);
void step_forget_vm(struct step_call *c);
void step_purge(struct step_call *c);
/* Fails when the spec is not understood. */
int step_create_vmi(struct step_call *c, struct err *err);

#endif
