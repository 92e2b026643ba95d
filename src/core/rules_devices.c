/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.3 and §9.4 between fields of a VMI's spec: disks with volumes, interfaces
 * with networks, the boot order over both.
 *
 * Owns nothing; single values were judged by schema_check.c, so what is of a wrong
 * kind is passed over.
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

static void video_rules(struct check *c, const struct node *spec)
{
	const struct node *graphics = node_at(spec, "domain.devices.autoattachGraphicsDevice");
	const struct node *video = node_at(spec, "domain.devices.video");

	if (video && graphics && streq(graphics->text, "false"))
		check_add_key(c, video, "domain.devices.video",
			"it has no video: autoattachGraphicsDevice is false");
}

static void io_thread_rules(struct check *c, const struct node *spec)
{
	const char *field = "domain.ioThreads.supplementalPoolThreadCount";
	const struct node *policy = node_at(spec, "domain.ioThreadsPolicy");
	const struct node *count = node_at(spec, field);
	bool pool = policy && streq(policy->text, "supplementalPool");

	if (pool && !count)
		check_add(c, policy, "domain.ioThreadsPolicy", "it needs %s", field);
	if (count && !pool)
		check_add_key(c, count, field, "it is for ioThreadsPolicy: supplementalPool");
}

void device_rules(struct check *c, const struct node *spec)
{
	struct boot_orders orders = { .n = 0 };

	disk_rules(c, spec);
	volume_rules(c, spec);
	folder_rules(c, spec);
	network_rules(c, spec);
	video_rules(c, spec);
	io_thread_rules(c, spec);
	probe_rules(c, spec);
	boot_order_rules(c, spec, DISKS, &orders);
	boot_order_rules(c, spec, INTERFACES, &orders);
}
