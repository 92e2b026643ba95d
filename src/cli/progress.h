/* SPDX-License-Identifier: Apache-2.0 */
/* How far a migration is, as one line: for a terminal as wide as that is, or for a log. Pure. */
#ifndef VMAGENT_CLI_PROGRESS_H
#define VMAGENT_CLI_PROGRESS_H

#include <vmagent/base.h>

struct progress {             /* borrowed strings */
	const char *name;     /* of the VM */
	const char *phase;    /* "Running" */
	const char *note;     /* "post-copy", why it waits; NULL: there is nothing to add */
	int64_t total;        /* bytes; 0: not known, and neither is what follows */
	int64_t remaining;    /* bytes; grows when the guest writes faster than it is copied */
	int64_t rate;         /* bytes a second; 0: not known */
	int64_t seconds_left; /* -1: not known */
};

#define PROGRESS_NO_BAR 0 /* as the width: as long as it gets, without a bar */

/* Whole percents, 100 only when nothing remains; -1: not known. */
int progress_percent(int64_t total, int64_t remaining);

/* At most width columns: first the rate is left away, then the bytes, the bar, the estimate, the
 * percents; then the rest is cut. Owned. */
char *progress_line(const struct progress *p, size_t width);

#endif
