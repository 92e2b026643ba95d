/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phase calculator: what a run's phase is, given what its domain does (semantics §2.1, §3,
 * with the launcher-less rules that §2.1 "Trap" and §3 [P] ask for). Pure and total.
 */
#ifndef VMAGENT_CORE_PHASE_H
#define VMAGENT_CORE_PHASE_H

#include <vmagent/model.h>

struct phase_facts {
	enum domain_state state;
	enum domain_reason reason; /* of an end: after domain_end_reason() */
	enum phase prior;
	int64_t grace;     /* terminationGracePeriodSeconds; GRACE_UNSET when nil */
	bool acpi_feature; /* the domain has the ACPI feature */
};

/*
 * Where the table says "unchanged" the answer is facts->prior; a final prior always stays. A domain
 * that is gone after Running ends by its reason as a shut-off one does (design §4), else Failed.
 */
enum phase phase_of(const struct phase_facts *facts);

/*
 * The cause of an end, first match (design §4): a committed kill of ours → Destroyed; libvirt's own
 * reason where it is decisive; what the STOPPED event said; a committed SHUTDOWN event of the
 * guest's → Shutdown; a seen panic → Panicked; else UNKNOWN, which phase_of() turns into Failed
 * once the run was Running. Decisive are §2.1's reasons for Shutoff and Crashed; of a domain that
 * does not exist libvirt gives none. In a state that is no end, reason comes back as it is.
 */
enum domain_reason domain_end_reason(const struct end_evidence *end, enum domain_state state,
	enum domain_reason reason);

/* alive := the domain exists and state is not Shutoff, Crashed or none (§2.3 rule 1). */
bool domain_is_alive(enum domain_state state);

bool phase_is_final(enum phase phase);       /* Succeeded, Failed */
bool phase_is_unprocessed(enum phase phase); /* "", Pending */

/* The table of allowed transitions; from == to is not a transition and refused. */
bool phase_may_become(enum phase from, enum phase to);

#endif
