/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists whose elements have a name that may be there once: libvirt, or who looks for one by its
 * name, wants it so.
 *
 * Owns nothing; disks, volumes, interfaces and networks have it among their own rules
 * (rules_volumes.c, rules_networks.c).
 */
#include "core/check.h"

/* clang-format off */
static const struct { const char *list, *what; } uniques[] = {
	{ "domain.cpu.features",         "feature" },
	{ "domain.devices.gpus",         "device" },
	{ "domain.devices.hostDevices",  "device" },
	{ "domain.devices.filesystems",  "filesystem" },
};
/* clang-format on */

static bool is_before(const struct node *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (streq(node_text(list->children[i], "name"), name))
			return true;
	return false;
}

void unique_rules(struct check *c, const struct node *spec)
{
	for (size_t u = 0; u < ARRAY_SIZE(uniques); u++) {
		const struct node *list = node_at(spec, uniques[u].list);

		for (size_t i = 0; list && list->kind == NODE_LIST && i < list->n_children; i++) {
			const struct node *name = node_get(list->children[i], "name");
			size_t mark = check_enter_item(c, uniques[u].list, i);

			if (name && name->kind == NODE_STRING && is_before(list, i, name->text))
				check_add(c, name, "name", "%s '%s' is there twice",
					uniques[u].what, name->text);
			check_leave(c, mark);
		}
	}
}
