/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The defaults of semantics §9.5, in its order. Those of a VM are written into the object when it
 * is created; those of a VMI when a VMI is made of it.
 *
 * Owns the rules of what an absent field comes to. It must not judge: the tree was checked before,
 * and what is of the wrong kind is left alone.
 */
#include "core/defaults.h"

#include <string.h>

#include "core/manifest.h"
#include "core/quantity.h"
#include "core/schema.h"

#define REQUESTS "domain.resources.requests."
#define LIMITS   "domain.resources.limits."

static void default_text(struct node *map, const char *path, const char *text)
{
	if (!node_at(map, path))
		node_set_path(map, path, node_new(NODE_STRING, text));
}

static void default_true(struct node *map, const char *path)
{
	if (!node_at(map, path))
		node_set_path(map, path, node_new(NODE_BOOL, "true"));
}

/* Writes the value of another field of the same spec. */
static void default_copy(struct node *map, const char *path, const struct node *from)
{
	if (from && !node_at(map, path))
		node_set_path(map, path, node_new(from->kind, from->text));
}

static bool is_quantity(const struct node *node)
{
	return node && (node->kind == NODE_STRING || node->kind == NODE_NUMBER);
}

const struct node *guest_memory_of(const struct node *spec)
{
	static const char *const paths[] = { "domain.memory.guest", REQUESTS "memory",
		LIMITS "memory", "domain.memory.hugepages.pageSize" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct node *node = node_at(spec, paths[i]);

		if (is_quantity(node))
			return node;
	}
	return NULL;
}

/* A count as it stands in the spec; 0 when absent. */
static int64_t count_at(const struct node *spec, const char *path)
{
	const struct node *node = node_at(spec, path);

	return node && node->kind == NODE_NUMBER ? strtoll(node->text, NULL, 10) : 0;
}

static int64_t cpu_quantity(const struct node *spec)
{
	const char *text = node_text(spec, LIMITS "cpu");
	int64_t value = 0;

	if (!text)
		text = node_text(spec, REQUESTS "cpu");
	if (text)
		quantity_parse(text, &value, NULL);
	return value;
}

struct topology topology_of(const struct node *spec)
{
	struct topology t = {
		.sockets = count_at(spec, "domain.cpu.sockets"),
		.cores = count_at(spec, "domain.cpu.cores"),
		.threads = count_at(spec, "domain.cpu.threads"),
	};

	t.given = t.sockets || t.cores || t.threads;
	if (!t.given)
		t.sockets = cpu_quantity(spec);
	t.sockets = MAX(t.sockets, 1);
	t.cores = MAX(t.cores, 1);
	t.threads = MAX(t.threads, 1);
	return t;
}

bool feature_is_on(const struct node *spec, const char *path)
{
	const struct node *feature = node_at(spec, path);
	const struct node *enabled = node_get(feature, "enabled");

	return feature && (!enabled || streq(enabled->text, "true"));
}

/* Only when none of the three is given; else the others stay absent and act as 1. */
static void default_topology(struct node *spec)
{
	struct topology t = topology_of(spec);

	if (t.given)
		return;
	node_set_path(spec, "domain.cpu.sockets", node_new_int(t.sockets));
	node_set_path(spec, "domain.cpu.cores", node_new_int(t.cores));
	node_set_path(spec, "domain.cpu.threads", node_new_int(t.threads));
}

static struct node *list_at(struct node *spec, const char *path)
{
	struct node *list = node_at(spec, path);

	if (list && list->kind == NODE_LIST)
		return list;
	list = node_new(NODE_LIST, NULL);
	node_set_path(spec, path, list);
	return list;
}

static bool is_empty_list(const struct node *spec, const char *path)
{
	const struct node *list = node_at(spec, path);

	return !list || !list->n_children;
}

static struct node *named(const char *name)
{
	struct node *map = node_new(NODE_MAP, NULL);

	node_set(map, "name", node_new(NODE_STRING, name));
	return map;
}

static void default_network(struct node *spec)
{
	const struct node *attach = node_at(spec, "domain.devices.autoattachPodInterface");
	struct node *interface, *network;

	if (!is_empty_list(spec, "networks") || !is_empty_list(spec, "domain.devices.interfaces") ||
		(attach && streq(attach->text, "false")))
		return;
	interface = named(DEFAULT_NETWORK);
	node_set(interface, "masquerade", node_new(NODE_MAP, NULL));
	node_append(list_at(spec, "domain.devices.interfaces"), interface);
	network = named(DEFAULT_NETWORK);
	node_set(network, "pod", node_new(NODE_MAP, NULL));
	node_append(list_at(spec, "networks"), network);
}

static bool list_names(const struct node *list, const char *name)
{
	for (size_t i = 0; list && i < list->n_children; i++) {
		if (streq(node_text(list->children[i], "name"), name))
			return true;
	}
	return false;
}

/* A disk for each volume that is neither that nor a folder. */
static void default_disks(struct node *spec)
{
	const struct node *volumes = node_get(spec, "volumes");

	for (size_t i = 0; volumes && i < volumes->n_children; i++) {
		const char *name = node_text(volumes->children[i], "name");

		if (name && !list_names(node_at(spec, "domain.devices.disks"), name) &&
			!list_names(node_at(spec, "domain.devices.filesystems"), name))
			node_append(list_at(spec, "domain.devices.disks"), named(name));
	}
}

static void default_disk(struct node *disk)
{
	if (disk->kind != NODE_MAP)
		return;
	if (node_get(disk, "cdrom")) {
		default_text(disk, "cdrom.bus", DEFAULT_DISK_BUS);
		default_true(disk, "cdrom.readonly");
		default_text(disk, "cdrom.tray", "closed");
		return;
	}
	if (node_get(disk, "lun"))
		default_text(disk, "lun.bus", DEFAULT_LUN_BUS);
	else
		default_text(disk, "disk.bus", DEFAULT_DISK_BUS);
}

/* One to point with, if it is wanted and none is named. */
static void default_input(struct node *spec)
{
	const struct node *attach = node_at(spec, "domain.devices.autoattachInputDevice");

	if (attach && streq(attach->text, "true") && is_empty_list(spec, "domain.devices.inputs"))
		node_append(list_at(spec, "domain.devices.inputs"), named("default-0"));
}

static void default_inputs(struct node *spec)
{
	struct node *inputs = node_at(spec, "domain.devices.inputs");

	for (size_t i = 0; inputs && i < inputs->n_children; i++) {
		if (inputs->children[i]->kind != NODE_MAP)
			continue;
		default_text(inputs->children[i], "bus", "usb");
		default_text(inputs->children[i], "type", "tablet");
	}
}

static void default_watchdog(struct node *spec)
{
	struct node *watchdog = node_at(spec, "domain.devices.watchdog");

	if (watchdog && watchdog->kind == NODE_MAP)
		default_text(watchdog, "i6300esb.action", "reset");
}

static void default_devices(struct node *spec)
{
	struct node *disks = node_at(spec, "domain.devices.disks");

	for (size_t i = 0; disks && i < disks->n_children; i++)
		default_disk(disks->children[i]);
	default_inputs(spec);
	default_watchdog(spec);
}

void vmi_spec_default_lists(struct node *vmi_spec)
{
	default_network(vmi_spec);
	default_disks(vmi_spec);
	default_input(vmi_spec);
}

void vmi_spec_default(struct node *vmi_spec)
{
	if (vmi_spec->kind != NODE_MAP)
		return;
	default_text(vmi_spec, "domain.machine.type", DEFAULT_MACHINE);
	default_copy(vmi_spec, REQUESTS "cpu", node_at(vmi_spec, LIMITS "cpu"));
	default_copy(vmi_spec, "domain.memory.guest", guest_memory_of(vmi_spec));
	default_topology(vmi_spec);
	vmi_spec_default_lists(vmi_spec);
	default_devices(vmi_spec);
	default_features(vmi_spec);
	default_text(vmi_spec, "domain.cpu.model", DEFAULT_CPU_MODEL);
}

struct node *vmi_spec_tree(const struct node *vm_spec)
{
	struct node *spec = node_copy(node_at(vm_spec, "template.spec"));

	if (!spec)
		spec = node_new(NODE_MAP, NULL);
	replace_str(&spec->key, NULL);
	vmi_spec_default(spec);
	return spec;
}

void manifest_default(enum object_kind kind, struct node *root, const char *uuid)
{
	const char *path = kind == KIND_VM ? "spec.template.spec" : "spec";
	struct node *spec = node_at(root, path);

	if (!spec || spec->kind != NODE_MAP)
		return;
	if (kind != KIND_VM || !node_at(root, "spec.preference"))
		default_text(spec, "domain.machine.type", DEFAULT_MACHINE);
	default_text(spec, "domain.firmware.uuid", uuid);
	if (kind == KIND_VM)
		default_text(spec, "domain.firmware.serial", uuid);
	else
		vmi_spec_default(spec);
}
