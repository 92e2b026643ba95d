/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.3 and §9.4 between fields of a VMI's spec: disks with volumes, interfaces with
 * networks, the boot order over both.
 *
 * Owns nothing; single values were judged by schema_check.c, so what is of a wrong kind is passed over.
 */
#include "core/rules_private.h"

struct boot_orders {
	const char *seen[2 * SPEC_LIST_MAX]; /* borrowed texts */
	size_t n;
};

static void boot_order_rules(struct check *c, const struct node *spec, const char *path,
	struct boot_orders *orders)
{
	const struct node *list = node_at(spec, path);

	for (size_t i = 0; i < MIN(list_count(list), (size_t)SPEC_LIST_MAX); i++) {
		const struct node *order = node_get(list->children[i], "bootOrder");
		size_t mark = check_enter_item(c, path, i);
		size_t j = 0;

		while (order && j < orders->n && !streq(orders->seen[j], order->text))
			j++;
		if (order && j < orders->n)
			check_add(c, order, "bootOrder", "bootOrder %s is there twice",
				order->text);
		else if (order && order->text)
			orders->seen[orders->n++] = order->text;
		check_leave(c, mark);
	}
}

void device_rules(struct check *c, const struct node *spec)
{
	struct boot_orders orders = { .n = 0 };

	disk_rules(c, spec);
	volume_rules(c, spec);
	network_rules(c, spec);
	boot_order_rules(c, spec, DISKS, &orders);
	boot_order_rules(c, spec, INTERFACES, &orders);
}
