/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs pause, unpause, softreboot and reset of a run: preconditions and effect by phase,
 * pause, ACPI and guest agent (semantics §5.4). A refused verb changes nothing at all. Pure.
 */
#ifndef VMAGENT_CORE_VMI_VERBS_H
#define VMAGENT_CORE_VMI_VERBS_H

#include <vmagent/model.h>

struct vmi_verb_target {
	const struct vmi *vmi;   /* borrowed; not NULL */
	enum domain_state state; /* of its domain, as machine_domain_state() says */
	bool agent;              /* its guest agent is connected */
};

/* What an accepted verb does; the caller applies it. */
struct vmi_verb_effect {
	bool set_pause;
	enum pause pause;
	enum act act; /* NONE: unchanged */
};

/*
 * With dry_run an accepted verb's effect is empty. Returns 0 and fills *ret_effect, or -code
 * (CONFLICT, BAD_REQUEST, UNAVAILABLE) with words that name the object and say what to do.
 */
int vmi_verb_check(enum vmi_verb verb, const struct vmi_verb_target *target, bool dry_run,
	struct vmi_verb_effect *ret_effect, struct err *err);

#endif
