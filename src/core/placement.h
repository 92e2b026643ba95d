/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a run may be on this host, by the rules of Kubernetes' scheduler for a cluster of one
 * node: only what is required counts, since there is no other node to prefer. Pure.
 */
#ifndef VMAGENT_CORE_PLACEMENT_H
#define VMAGENT_CORE_PLACEMENT_H

#include <vmagent/model.h>

/* A run that is, or is to be, on this host; all borrowed. */
struct placed_run {
	const char *ns, *name;
	const char *labels;           /* JSON object text, or NULL */
	const char *namespace_labels; /* of its namespace; likewise */
	const struct placement *placement;
};

/* What of the host does not suit: words owned by the caller; NULL: all does. */
char *placement_host_words(const struct placement *placement, const struct host_place *host);

/* Whether it must look at other runs at all, or they at it. */
bool placement_has_terms(const struct placement *placement);

/* What of the n runs on the host does not suit run, which is none of them, or what it has that one
 * of them does not bear; words owned by the caller, NULL: all suits. */
char *placement_runs_words(const struct placed_run *run, const struct placed_run *others, size_t n,
	const struct host_place *host);

#endif
