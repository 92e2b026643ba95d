/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a machine is as it is, told from its objects and events alone. Pure: whoever has fetched them
 * calls this, and gets a tree that reads well as text and as JSON.
 */
#ifndef VMAGENT_CLI_EXPLAIN_H
#define VMAGENT_CLI_EXPLAIN_H

#include "core/node.h"

struct story { /* borrowed */
	const char *ns, *name;
	const struct node *vm, *vmi; /* NULL: there is none */
	const struct node *events;   /* of both, oldest first */
	const char *trouble;         /* why the agent is not healthy, or NULL */
	msec now;                    /* wall time */
};

#define EXPLAIN_HISTORY_MAX 8
#define EXPLAIN_OUTPUT_MAX  5 /* lines of QEMU's */

/*
 * A map: namespace, name, status, why; wanted, now, next, todo (each may be absent); but, history,
 * output (lists that may be empty). Owned by the caller.
 */
struct node *explain(const struct story *story);

/* That as lines for people, each harmless to a terminal. */
void explain_print(const struct node *explanation, struct buf *out);

/* Whether a condition says what is wrong. */
bool condition_is_trouble(const struct node *condition);

#endif
