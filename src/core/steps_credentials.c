/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps on passwords and keys that a guest's agent is told. Events and condition are KubeVirt's.
 */
#include "core/steps_private.h"

void step_tell_credentials(struct step_call *c)
{
	c->m->dom.told.version = c->plan->credentials;
}

/* What was told is known durably, so that it is told once; a failure is said once as long as
 * it is the same. */
void step_credentials(struct step_call *c)
{
	struct domain *dom = &c->m->dom;
	struct vmi *vmi = c->m->vmi;
	const char *why = dom->told.why;

	dom->told.answered = false;
	if (*why && streq(vmi->credentials_words, why))
		return;
	vmi->credentials = *why ? 0 : dom->told.version; /* what it has of them is not known */
	replace_str(&vmi->credentials_words, *why ? why : NULL);
	c->m->vmi_changed = true;
	c->m->vm_changed = c->m->vm != NULL;
	c->ret->warning = *why;
	if (*why)
		happen(c->ret, KIND_VMI, "AccessCredentialsSyncFailed",
			"Access credentials sync failed: %s", why);
	else
		happen(c->ret, KIND_VMI, "AccessCredentialsSyncSuccess",
			"Access credentials sync successful.");
}
