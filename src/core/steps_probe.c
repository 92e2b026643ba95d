/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps on what a guest's probes found.
 */
#include "core/steps_private.h"

/* That one was asked is no news. */
void step_probe(struct step_call *c)
{
	c->m->dom.probing = c->plan->probe;
}

/* From here on it ends as if it had been asked to (semantics §8.4); what follows is the
 * RunStrategy's. */
void step_unhealthy(struct step_call *c)
{
	const struct probe_state *state = &c->m->dom.probes[PROBE_OF_LIVENESS];

	c->m->vmi->unhealthy = true;
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL;
	c->ret->warning = true;
	happen(c->ret, KIND_VMI, "Unhealthy",
		"the liveness probe failed %u times in a row, the guest is stopped: %s", state->bad,
		state->why);
}

void step_readiness(struct step_call *c)
{
	const struct probe_state *state = &c->m->dom.probes[PROBE_OF_READINESS];
	struct vmi *vmi = c->m->vmi;

	vmi->ready = state->good > 0;
	replace_str(&vmi->probe_words, vmi->ready ? NULL : state->why);
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL;
	if (vmi->ready) {
		happen(c->ret, KIND_VMI, NULL, "the readiness probe passes: the guest is ready");
		return;
	}
	c->ret->warning = true;
	happen(c->ret, KIND_VMI, "Unhealthy",
		"the readiness probe failed %u times in a row, the guest is not ready: %s",
		state->bad, state->why);
}
