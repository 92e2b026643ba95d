/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorted lists of machines. What a list is sorted by must not change of a machine that is in
 * it. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_ORDER_LIST_H
#define VMAGENT_DAEMON_ORDER_LIST_H

#include "core/machine.h"

struct machine_list {
	struct machine **list; /* owned list of borrowed machines */
	size_t n, cap;
};

/* Which of two comes first: below zero, a. */
typedef int machine_order_fn(const struct machine *a, const struct machine *b);
int machine_by_name(const struct machine *a, const struct machine *b);

/* Of a list that is sorted by that order: adds m, which is not in it; removes m, which is. */
void machine_list_add(struct machine_list *l, struct machine *m, machine_order_fn *order);
void machine_list_remove(struct machine_list *l, struct machine *m, machine_order_fn *order);
void machine_list_done(struct machine_list *l);

/* Of a list by name: m is in it from now on, or is not. *in says whether it was, and
 * then whether it is. */
void machine_list_keep(struct machine_list *l, struct machine *m, bool *in, bool wanted);

/* Of one that is sorted by start order, then by name: first come those that start first. What a
 * machine's annotations say of that is read when it enters its first such list and stays until it
 * has left all, so that each finds it again. */
void order_list_add(struct machine_list *l, struct machine *m);
void order_list_remove(struct machine_list *l, struct machine *m);

#endif
