/* SPDX-License-Identifier: Apache-2.0 */
/* What inquiries.c, which finds out, and arrivals.c, which judges, share. */
#ifndef VMAGENT_DAEMON_ARRIVALS_PRIVATE_H
#define VMAGENT_DAEMON_ARRIVALS_PRIVATE_H

#include "daemon/arrivals.h"

struct inquiry {     /* a CHECK, or a PREPARE of a migration that is not known yet */
	uint64_t op; /* that is waited for; 0: it waits for its turn to look for files */
	msec until;
	const char *peer; /* borrowed from the configuration */
	struct handover handover;
	char *document; /* owned: the handover's */
	bool compared;  /* libvirt was asked, and had its time */
	char *report;   /* owned or NULL: core/host_report.h */
};

/* Says whether the guest can come, or gets ready for it. Without a report nothing is known of this
 * host, and nothing is compared; missing: what LOOK found, as text, or NULL. */
void arrival_judge(struct agent *agent, const struct inquiry *inquiry, const char *missing,
	struct now now);
/* What PREPARE would have to do for it, as the work of an op; none for one that this host would not
 * take from a file, either: it may name what it likes. */
void arrival_needs(struct agent *agent, const struct inquiry *inquiry, struct op *ret,
	struct now now);

#endif
