/* SPDX-License-Identifier: Apache-2.0 */
/* kubectl's rule for apply, as one pure function. */
#ifndef VMAGENT_CLI_MERGE_APPLY_H
#define VMAGENT_CLI_MERGE_APPLY_H

#include "core/node.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/*
 * base: what was applied last (NULL: nothing is known); theirs: what is applied now; ours:
 * the object as it is. Every field of theirs is written over ours; what stood in base and is
 * no longer in theirs goes; all else stays. A null in theirs removes. Lists are values: they
 * are replaced whole. Owned.
 */
struct node *merge_apply(const struct node *base, const struct node *theirs,
	const struct node *ours);

#endif
