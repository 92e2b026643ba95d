/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sorted list of machines; it knows nothing of what it is for.
 */
#include "daemon/order_list.h"

#include <string.h>

#include "core/start_order.h"

static int compare(const struct machine *a, const struct machine *b)
{
	if (a->start.order != b->start.order)
		return a->start.order < b->start.order ? -1 : 1;
	return machine_compare(a, b->ns, b->name);
}

static size_t place_of(const struct order_list *l, const struct machine *m)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(l->list[middle], m) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void order_list_add(struct order_list *l, struct machine *m)
{
	size_t at;

	if (m->n_lists++ == 0)
		m->start = start_order_of(m);
	at = place_of(l, m);
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 16;
		l->list = xrealloc_array(l->list, l->cap, sizeof(struct machine *));
	}
	memmove(&l->list[at + 1], &l->list[at], (l->n - at) * sizeof(struct machine *));
	l->list[at] = m;
	l->n++;
}

void order_list_remove(struct order_list *l, struct machine *m)
{
	size_t at = place_of(l, m);

	m->n_lists--;
	l->n--;
	memmove(&l->list[at], &l->list[at + 1], (l->n - at) * sizeof(struct machine *));
}

void order_list_done(struct order_list *l)
{
	free(l->list);
	*l = (struct order_list){ 0 };
}
