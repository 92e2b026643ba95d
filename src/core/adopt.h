/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption: from the XML of a libvirt domain that somebody else made to the manifest of a VM that
 * has the same machine, as far as a manifest can say it; what it cannot say is named, one by one,
 * and so is all that makes an adoption impossible. Pure.
 */
#ifndef VMAGENT_CORE_ADOPT_H
#define VMAGENT_CORE_ADOPT_H

#include <vmagent/hypervisor.h>

#include "core/manifest.h"

struct texts {       /* zero-initialised is empty */
	char **list; /* owned, each too */
	size_t n, cap;
};
void texts_add(struct texts *texts, const char *fmt, ...) PRINTF(2, 3);
void texts_done(struct texts *texts);

struct adopt_wish { /* borrowed */
	const char *ns;
	const char *name; /* of the VM; NULL or "": as the domain is called */
	const struct policy *policy;
};

struct adoption {
	struct node *manifest; /* owned: a VirtualMachine; NULL when the XML cannot be read */
	struct texts losses;   /* what the next start would be without */
	struct texts reasons;  /* why it cannot be adopted */
};

/* The domain as OP_DESCRIBE showed it. The manifest is of what its next start would be, and passes
 * manifest_check() unless there are reasons. */
void adopt_review(const struct domain_info *info, const struct domain_detail *detail,
	const struct adopt_wish *wish, struct adoption *ret);
void adoption_done(struct adoption *adoption);

/* Tells whether it is still the same that was shown; owned by the caller. */
char *adoption_digest(const struct adoption *adoption);

#endif
