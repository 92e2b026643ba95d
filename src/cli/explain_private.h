/* SPDX-License-Identifier: Apache-2.0 */
/* What explain.c, explain_why.c and explain_history.c share: looking things up in a story. */
#ifndef VMAGENT_CLI_EXPLAIN_PRIVATE_H
#define VMAGENT_CLI_EXPLAIN_PRIVATE_H

#include "cli/explain.h"

/* explain_history.c. Reasons are separated by spaces; NULL: no such event. */
const struct node *event_newest(const struct story *s, const char *reasons);
bool event_is_newer(const struct node *event, const struct node *than); /* than NULL: it is */
const char *event_actor(const struct node *event);
char *event_ago(const struct story *s, const struct node *event); /* "5m ago"; owned */
/* What a message says of an end: without the phases before it and libvirt's state behind. Owned. */
char *event_cause(const struct node *event);
void explain_history(const struct story *s, struct node *to);
void explain_output(const struct story *s, struct node *to);

/* explain_why.c: in one sentence. Owned. */
char *explain_why(const struct story *s);
/* explain_move.c: the same of one that is between two hosts; NULL: it is not. Owned. */
char *explain_move(const struct story *s);
/* Printable status or phase; a constant or borrowed. */
const char *story_status(const struct story *s);
const char *story_strategy(const struct story *s);
/* With its status as not wished. */
const struct node *story_condition(const struct story *s, const char *type);
char *time_ago(const struct story *s, const char *text); /* owned */

#define REASONS_ENDED "Stopped NodeUnresponsive"

#endif
