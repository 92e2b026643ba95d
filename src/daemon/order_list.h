/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines sorted by their start order, then by name. What a machine's annotations say is read when it
 * enters its first list and stays until it has left all, so that each finds it again. Loop thread only.
 */
#ifndef VMAGENT_DAEMON_ORDER_LIST_H
#define VMAGENT_DAEMON_ORDER_LIST_H

#include "core/machine.h"

struct order_list {
	struct machine *
		*list; /* owned list of borrowed machines: first come those that start first */
	size_t n, cap;
};

void order_list_add(struct order_list *l, struct machine *m);    /* which is not in it */
void order_list_remove(struct order_list *l, struct machine *m); /* which is in it */
void order_list_done(struct order_list *l);

#endif
