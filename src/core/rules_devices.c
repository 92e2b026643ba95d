/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.3 and §9.4 between fields of a VMI's spec: disks with volumes, interfaces
 * with networks, the boot order over both, and where the node allows files.
 *
 * Owns nothing; single values were judged by schema_check.c, so what is of a wrong kind is passed
 * over here. Paths are judged by their text; a symlink that leads out is found when the file is used.
 */
#include <string.h>

#include "core/check.h"
#include "core/names.h"

#define DISKS      "domain.devices.disks"
#define INTERFACES "domain.devices.interfaces"
#define ZERO_MAC   "02:00:00:00:00:00" /* KubeVirt refuses it for masquerade */

static size_t count(const struct node *list)
{
	return list && list->kind == NODE_LIST ? list->n_children : 0;
}

static const struct node *find_named(const struct node *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (streq(node_text(list->children[i], "name"), name))
			return list->children[i];
	}
	return NULL;
}

/* How many of the keys an element has; *ret_last is the last one's value. */
static size_t count_keys(const struct node *element, const char *const *keys,
	const struct node **ret_last)
{
	size_t n = 0;

	for (; *keys; keys++) {
		const struct node *value = node_get(element, *keys);

		if (!value)
			continue;
		*ret_last = value;
		n++;
	}
	return n;
}

/* Whether every field of an element is one that this version has: else the schema spoke already. */
static bool all_known(const struct node *element, const char *path)
{
	if (element->kind != NODE_MAP)
		return false;
	for (size_t i = 0; i < element->n_children; i++) {
		const struct schema_field *field =
			schema_find(SCOPE_SPEC, path, element->children[i]->key);

		if (!field || field->treat == TREAT_REFUSED)
			return false;
	}
	return true;
}

/* The name of an element, unless it is no string or was there before, which is reported. */
static const struct node *unique_name(struct check *c, const struct node *list, size_t i)
{
	const struct node *name = node_get(list->children[i], "name");

	if (!name || name->kind != NODE_STRING)
		return NULL;
	if (!find_named(list, i, name->text))
		return name;
	check_add(c, name, "name", "name '%s' is there twice", name->text);
	return NULL;
}

static bool has_named(const struct node *list, const char *name)
{
	return find_named(list, count(list), name);
}

/* ---- disks -------------------------------------------------------------------------------- */

static void bus_rules(struct check *c, const struct node *disk)
{
	const struct node *target = node_get(disk, "disk");
	const struct node *readonly = node_get(target, "readonly");
	const struct node *cdrom_bus = node_at(disk, "cdrom.bus");
	const char *bus = node_text(target, "bus");

	if (cdrom_bus && streq(cdrom_bus->text, "virtio"))
		check_add(c, cdrom_bus, "cdrom.bus",
			"a cdrom cannot be on virtio, use sata or scsi");
	if (readonly && streq(readonly->text, "true") && (!bus || streq(bus, DEFAULT_DISK_BUS)))
		check_add(c, readonly, "disk.readonly",
			"a disk on sata, which is the default, cannot be read-only; use another bus");
}

static void disk_rules(struct check *c, const struct node *spec)
{
	static const char *const targets[] = { "disk", "cdrom", "lun", NULL };
	const struct node *disks = node_at(spec, DISKS);
	const struct node *last;

	for (size_t i = 0; i < count(disks); i++) {
		size_t mark = check_enter_item(c, DISKS, i);
		const struct node *name = unique_name(c, disks, i);

		if (name && !has_named(node_get(spec, "volumes"), name->text))
			check_add(c, name, "name", "no volume is named '%s'", name->text);
		if (count_keys(disks->children[i], targets, &last) > 1)
			check_add_key(c, last, last->key, "give disk or cdrom, not both");
		bus_rules(c, disks->children[i]);
		disk_option_rules(c, disks->children[i]);
		check_leave(c, mark);
	}
}

/* ---- volumes ------------------------------------------------------------------------------ */

static void root_rule(struct check *c, const struct node *path, const char *field,
	const char *const *roots)
{
	struct buf allowed = { 0 };

	if (path_is_below(image_path(path->text), roots))
		return;
	for (size_t i = 0; roots && roots[i]; i++)
		buf_printf(&allowed, "%s%s", i ? ", " : "", roots[i]);
	check_add(c, path, field, "'%.100s' is not below a folder that this node allows (%s)",
		path->text, allowed.data ? allowed.data : "it allows none");
	buf_done(&allowed);
}

static void host_disk_rules(struct check *c, const struct node *volume)
{
	const struct node *host = node_get(volume, "hostDisk");
	const struct node *path = node_get(host, "path");
	const struct node *capacity = node_get(host, "capacity");

	if (path && path->kind == NODE_STRING && is_clean_path(path->text))
		root_rule(c, path, "hostDisk.path", c->policy->host_disk_roots);
	if (capacity && !streq(node_text(host, "type"), "DiskOrCreate"))
		check_add_key(c, capacity, "hostDisk.capacity",
			"capacity is only for type DiskOrCreate");
}

void image_rules(struct check *c, const struct node *image, const char *field)
{
	if (image && image->kind == NODE_STRING && is_image(image->text) && c->policy->image_roots)
		root_rule(c, image, field, c->policy->image_roots);
}

static void source_rules(struct check *c, const struct node *volume)
{
	static const char *const sources[] = { "hostDisk", "containerDisk", "emptyDisk", NULL };
	const struct node *last;
	size_t n = count_keys(volume, sources, &last);

	if (n > 1)
		check_add_key(c, last, last->key, "a volume has one source, not %zu", n);
	else if (!n && all_known(volume, "volumes[]"))
		check_add(c, volume, "", "give a source: hostDisk, containerDisk or emptyDisk");
}

static void volume_rules(struct check *c, const struct node *spec)
{
	const struct node *volumes = node_get(spec, "volumes");

	for (size_t i = 0; i < count(volumes); i++) {
		const struct node *volume = volumes->children[i];
		size_t mark = check_enter_item(c, "volumes", i);

		unique_name(c, volumes, i);
		source_rules(c, volume);
		host_disk_rules(c, volume);
		image_rules(c, node_at(volume, "containerDisk.image"), "containerDisk.image");
		check_leave(c, mark);
	}
}

/* ---- interfaces and networks -------------------------------------------------------------- */

static void binding_rules(struct check *c, const struct node *interface)
{
	static const char *const bindings[] = { "masquerade", "bridge", NULL };
	const struct node *mac = node_get(interface, "macAddress");
	const struct node *last;
	size_t n = count_keys(interface, bindings, &last);

	if (n > 1)
		check_add_key(c, last, last->key, "give masquerade or bridge, not both");
	else if (!n && all_known(interface, INTERFACES "[]"))
		check_add(c, interface, "", "give a binding: masquerade: {} or bridge: {}");
	if (mac && streq(mac->text, ZERO_MAC) && node_get(interface, "masquerade"))
		check_add(c, mac, "macAddress", "'%s' cannot be used with masquerade", ZERO_MAC);
}

static void interface_rules(struct check *c, const struct node *spec)
{
	const struct node *interfaces = node_at(spec, INTERFACES);

	for (size_t i = 0; i < count(interfaces); i++) {
		size_t mark = check_enter_item(c, INTERFACES, i);
		const struct node *name = unique_name(c, interfaces, i);

		if (name && !has_named(node_get(spec, "networks"), name->text))
			check_add(c, name, "name", "no network is named '%s'", name->text);
		binding_rules(c, interfaces->children[i]);
		check_leave(c, mark);
	}
}

static void network_rules(struct check *c, const struct node *spec)
{
	const struct node *networks = node_get(spec, "networks");
	size_t pods = 0;

	for (size_t i = 0; i < count(networks); i++) {
		const struct node *network = networks->children[i];
		size_t mark = check_enter_item(c, "networks", i);
		const struct node *name = unique_name(c, networks, i);
		const struct node *pod = node_get(network, "pod");

		if (name && !has_named(node_at(spec, INTERFACES), name->text))
			check_add(c, name, "name",
				"network '%s' is not used; add an interface of that name, or remove it",
				name->text);
		if (pod && pods++)
			check_add_key(c, pod, "pod", "only one pod network is possible");
		else if (!pod && all_known(network, "networks[]"))
			check_add(c, network, "", "give a source: pod: {}");
		check_leave(c, mark);
	}
}

/* ---- boot order, over disks and interfaces ------------------------------------------------ */

struct boot_orders {
	const char *seen[2 * SPEC_LIST_MAX]; /* borrowed texts */
	size_t n;
};

static void boot_order_rules(struct check *c, const struct node *spec, const char *path,
	struct boot_orders *orders)
{
	const struct node *list = node_at(spec, path);

	for (size_t i = 0; i < MIN(count(list), (size_t)SPEC_LIST_MAX); i++) {
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
	interface_rules(c, spec);
	network_rules(c, spec);
	boot_order_rules(c, spec, DISKS, &orders);
	boot_order_rules(c, spec, INTERFACES, &orders);
}
