/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorted lists of machines; they know nothing of what they are for.
 */
#include "daemon/order_list.h"

#include <string.h>

#include "core/start_order.h"

int machine_by_name(const struct machine *a, const struct machine *b)
{
	return machine_compare(a, b->ns, b->name);
}

static size_t place_of(const struct machine_list *l, const struct machine *m,
	machine_order_fn *order)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (order(l->list[middle], m) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void machine_list_add(struct machine_list *l, struct machine *m, machine_order_fn *order)
{
	size_t at = place_of(l, m, order);

	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 16;
		l->list = xrealloc_array(l->list, l->cap, sizeof(struct machine *));
	}
	memmove(&l->list[at + 1], &l->list[at], (l->n - at) * sizeof(struct machine *));
	l->list[at] = m;
	l->n++;
}

void machine_list_remove(struct machine_list *l, struct machine *m, machine_order_fn *order)
{
	size_t at = place_of(l, m, order);

	l->n--;
	memmove(&l->list[at], &l->list[at + 1], (l->n - at) * sizeof(struct machine *));
}

void machine_list_keep(struct machine_list *l, struct machine *m, bool *in, bool wanted)
{
	if (wanted == *in)
		return;
	*in = wanted;
	(wanted ? machine_list_add : machine_list_remove)(l, m, machine_by_name);
}

void machine_list_done(struct machine_list *l)
{
	free(l->list);
	*l = (struct machine_list){ 0 };
}

static int by_start_order(const struct machine *a, const struct machine *b)
{
	if (a->start.order != b->start.order)
		return a->start.order < b->start.order ? -1 : 1;
	return machine_by_name(a, b);
}

void order_list_add(struct machine_list *l, struct machine *m)
{
	if (m->n_lists++ == 0)
		m->start = start_order_of(m);
	machine_list_add(l, m, by_start_order);
}

void order_list_remove(struct machine_list *l, struct machine *m)
{
	machine_list_remove(l, m, by_start_order);
	m->n_lists--;
}
