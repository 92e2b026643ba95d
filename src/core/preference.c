/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A preference's wishes, by KubeVirt's own list (semantics §10.4): each fills a field of
 * the template that says nothing. Two that KubeVirt overwrites, acpi and disableHotplug,
 * are filled only, too.
 */
#include <string.h>

#include "core/instancetype.h"

bool is_said(const struct node *node)
{
	if (!node)
		return false;
	switch (node->kind) {
	case NODE_NULL:
		return false;
	case NODE_BOOL:
		return streq(node->text, "true");
	case NODE_NUMBER:
		return !streq(node->text, "0");
	case NODE_STRING:
		return *node->text;
	case NODE_LIST:
		return node->n_children;
	case NODE_MAP:
		return true;
	}
	return false;
}

void fill_from(struct node *map, const char *path, const struct node *value)
{
	const struct node *is = node_at(map, path);

	if (!is || is->kind == NODE_NULL || (is->kind == NODE_STRING && !*is->text))
		node_set_path(map, path, value ? node_copy(value) : node_new(NODE_MAP, NULL));
}

const struct node *map_at(const struct node *root, const char *path)
{
	const struct node *node = node_at(root, path);

	return node && node->kind == NODE_MAP ? node : NULL;
}

struct node *template_annotations(struct node *vm_spec)
{
	if (!map_at(vm_spec, "template.metadata.annotations"))
		node_set_path(vm_spec, "template.metadata.annotations", node_new(NODE_MAP, NULL));
	return node_at(vm_spec, "template.metadata.annotations");
}

struct wish {
	/* In the preference's spec, in the template's or in an element of a list there. */
	const char *from, *to;
};

static void fill_all(struct node *map, const struct node *preference, const struct wish *wishes,
	size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct node *value = node_at(preference, wishes[i].from);

		if (value)
			fill_from(map, wishes[i].to, value);
	}
}

/* ---- of the whole ---------------------------------------------------------------------------- */

/* clang-format off */
static const struct wish attach[] = {
	{ "devices.preferredAutoattachGraphicsDevice", "domain.devices.autoattachGraphicsDevice" },
	{ "devices.preferredAutoattachMemBalloon",     "domain.devices.autoattachMemBalloon" },
	{ "devices.preferredAutoattachPodInterface",   "domain.devices.autoattachPodInterface" },
	{ "devices.preferredAutoattachSerialConsole",  "domain.devices.autoattachSerialConsole" },
	{ "devices.preferredAutoattachInputDevice",    "domain.devices.autoattachInputDevice" },
};
static const struct wish wishes[] = {
	{ "devices.preferredUseVirtioTransitional",      "domain.devices.useVirtioTransitional" },
	{ "devices.preferredBlockMultiQueue",            "domain.devices.blockMultiQueue" },
	{ "devices.preferredNetworkInterfaceMultiQueue", "domain.devices.networkInterfaceMultiqueue" },
	{ "devices.preferredDisableHotplug",             "domain.devices.disableHotplug" },
	{ "devices.preferredRng",                        "domain.devices.rng" },
	{ "devices.preferredTPM",                        "domain.devices.tpm" },
	{ "devices.preferredVideoType",                  "domain.devices.video.type" },
	{ "features.preferredAcpi",                      "domain.features.acpi" },
	{ "features.preferredApic",                      "domain.features.apic" },
	{ "features.preferredKvm",                       "domain.features.kvm" },
	{ "features.preferredPvspinlock",                "domain.features.pvspinlock" },
	{ "features.preferredSmm",                       "domain.features.smm" },
	{ "machine.preferredMachineType",                "domain.machine.type" },
	{ "clock.preferredTimer",                        "domain.clock.timer" },
	{ "preferredSubdomain",                          "subdomain" },
	{ "preferredTerminationGracePeriodSeconds",      "terminationGracePeriodSeconds" },
	{ "preferredArchitecture",                       "architecture" },
	{ "preferredLaunchSecurity",                     "domain.launchSecurity" },
};
/* clang-format on */

void preference_attach(struct expansion *e)
{
	if (e->preference)
		fill_all(e->spec, e->preference, attach, ARRAY_SIZE(attach));
}

/* Each child of the preference's map is filled by itself. */
static void fill_children(struct expansion *e, const char *from, const char *to)
{
	const struct node *map = map_at(e->preference, from);

	for (size_t i = 0; map && i < map->n_children; i++) {
		autofree char *path = xasprintf("%s.%s", to, map->children[i]->key);

		fill_from(e->spec, path, map->children[i]);
	}
}

/* Not half of it: an offset of one and a time zone of the other would be neither's. */
static void fill_clock(struct expansion *e)
{
	if (!node_at(e->spec, "domain.clock.utc") && !node_at(e->spec, "domain.clock.timezone"))
		fill_children(e, "clock.preferredClockOffset", "domain.clock");
}

static bool has_named(const struct node *list, const char *name)
{
	for (size_t i = 0; list && i < list->n_children; i++)
		if (streq(node_text(list->children[i], "name"), name))
			return true;
	return false;
}

static struct node *list_at(struct node *spec, const char *path)
{
	const struct node *list = node_at(spec, path);

	if (!list || list->kind != NODE_LIST)
		node_set_path(spec, path, node_new(NODE_LIST, NULL));
	return node_at(spec, path);
}

static void fill_cpu_features(struct expansion *e)
{
	const struct node *wanted = node_at(e->preference, "cpu.preferredCPUFeatures");

	for (size_t i = 0; wanted && i < wanted->n_children; i++) {
		const struct node *one = wanted->children[i];
		struct node *list = list_at(e->spec, "domain.cpu.features");

		if (!has_named(list, node_text(one, "name")))
			node_append(list, node_copy(one));
	}
}

static bool is_true(const struct node *node)
{
	return node && streq(node->text, "true");
}

/* The old forms count only without the new one. */
static void fill_firmware(struct expansion *e)
{
	const struct node *wanted = node_get(e->preference, "firmware");
	const struct node *loader = node_at(e->spec, "domain.firmware.bootloader");
	const struct node *efi = node_get(wanted, "preferredEfi");
	bool none = !node_get(loader, "bios") && !node_get(loader, "efi");

	if (none && is_true(node_get(wanted, "preferredUseBios")))
		fill_from(e->spec, "domain.firmware.bootloader.bios", NULL);
	else if (none && (efi || is_true(node_get(wanted, "preferredUseEfi"))))
		fill_from(e->spec, "domain.firmware.bootloader.efi", efi);
	loader = node_at(e->spec, "domain.firmware.bootloader");
	if (node_get(loader, "bios") && node_get(wanted, "preferredUseBiosSerial"))
		fill_from(e->spec, "domain.firmware.bootloader.bios.useSerial",
			node_get(wanted, "preferredUseBiosSerial"));
	if (node_get(loader, "efi") && !(none && efi) && node_get(wanted, "preferredUseSecureBoot"))
		fill_from(e->spec, "domain.firmware.bootloader.efi.secureBoot",
			node_get(wanted, "preferredUseSecureBoot"));
}

/* ---- of lists' elements ---------------------------------------------------------------------- */

/* clang-format off */
static const struct wish disk_wishes[] = {
	{ "devices.preferredDiskBus",       "disk.bus" },
	{ "devices.preferredDiskBlockSize", "blockSize" },
	{ "devices.preferredDiskCache",     "cache" },
	{ "devices.preferredDiskIO",        "io" },
};
static const struct wish cdrom_wishes[] = { { "devices.preferredCdromBus", "cdrom.bus" } };
static const struct wish lun_wishes[] = { { "devices.preferredLunBus", "lun.bus" } };
static const struct wish input_wishes[] = {
	{ "devices.preferredInputBus",  "bus" },
	{ "devices.preferredInputType", "type" },
};
static const struct wish interface_wishes[] = { { "devices.preferredInterfaceModel", "model" } };
static const struct wish panic_wishes[] = { { "devices.preferredPanicDeviceModel", "model" } };
static const struct wish gpu_wishes[] = { { "devices.preferredVirtualGPUOptions", "virtualGPUOptions" } };
/* clang-format on */

static void fill_disk(struct expansion *e, struct node *disk)
{
	if (node_get(disk, "cdrom")) {
		fill_all(disk, e->preference, cdrom_wishes, ARRAY_SIZE(cdrom_wishes));
	} else if (node_get(disk, "lun")) {
		fill_all(disk, e->preference, lun_wishes, ARRAY_SIZE(lun_wishes));
	} else {
		const struct node *thread =
			node_at(e->preference, "devices.preferredDiskDedicatedIoThread");

		fill_all(disk, e->preference, disk_wishes, ARRAY_SIZE(disk_wishes));
		if (thread && streq(node_text(disk, "disk.bus"), "virtio"))
			fill_from(disk, "dedicatedIOThread", thread);
	}
}

static void fill_input(struct expansion *e, struct node *input)
{
	fill_all(input, e->preference, input_wishes, ARRAY_SIZE(input_wishes));
}

static bool is_on_pod_network(const struct expansion *e, const char *name)
{
	const struct node *list = node_get(e->spec, "networks");

	for (size_t i = 0; list && i < list->n_children; i++)
		if (streq(node_text(list->children[i], "name"), name))
			return node_get(list->children[i], "pod");
	return false;
}

static void fill_interface(struct expansion *e, struct node *interface)
{
	static const char *const bindings[] = { "bridge", "masquerade", "sriov", "passtBinding",
		"binding", "slirp", "macvtap", "passt" };
	const struct node *masquerade =
		node_at(e->preference, "devices.preferredInterfaceMasquerade");
	bool bound = !masquerade || !is_on_pod_network(e, node_text(interface, "name"));

	fill_all(interface, e->preference, interface_wishes, ARRAY_SIZE(interface_wishes));
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++)
		bound |= node_get(interface, bindings[i]) != NULL;
	if (!bound)
		node_set(interface, "masquerade", node_copy(masquerade));
}

static void fill_panic_device(struct expansion *e, struct node *device)
{
	fill_all(device, e->preference, panic_wishes, ARRAY_SIZE(panic_wishes));
}

static void fill_gpu(struct expansion *e, struct node *gpu)
{
	fill_all(gpu, e->preference, gpu_wishes, ARRAY_SIZE(gpu_wishes));
}

static void fill_lists(struct expansion *e)
{
	static const struct {
		const char *list;
		void (*fill)(struct expansion *e, struct node *element);
	} lists[] = {
		{ "domain.devices.disks", fill_disk },
		{ "domain.devices.inputs", fill_input },
		{ "domain.devices.interfaces", fill_interface },
		{ "domain.devices.panicDevices", fill_panic_device },
		{ "domain.devices.gpus", fill_gpu },
	};

	if (node_at(e->preference, "devices.preferredPanicDeviceModel") &&
		!list_at(e->spec, "domain.devices.panicDevices")->n_children)
		node_append(list_at(e->spec, "domain.devices.panicDevices"),
			node_new(NODE_MAP, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct node *list = node_at(e->spec, lists[i].list);

		for (size_t j = 0; list && j < list->n_children; j++)
			if (list->children[j]->kind == NODE_MAP)
				lists[i].fill(e, list->children[j]);
	}
}

/* Only where there is one. */
static void fill_sound(struct expansion *e)
{
	const struct node *model = node_at(e->preference, "devices.preferredSoundModel");

	if (model && node_at(e->spec, "domain.devices.sound"))
		fill_from(e->spec, "domain.devices.sound.model", model);
}

static void fill_annotations(struct expansion *e)
{
	const struct node *wanted = map_at(e->preference, "annotations");

	for (size_t i = 0; wanted && i < wanted->n_children; i++) {
		struct node *map = template_annotations(e->vm_spec);

		if (!node_get(map, wanted->children[i]->key))
			node_set(map, wanted->children[i]->key, node_copy(wanted->children[i]));
	}
}

void preference_apply(struct expansion *e)
{
	if (!e->preference)
		return;
	fill_cpu_features(e);
	fill_all(e->spec, e->preference, wishes, ARRAY_SIZE(wishes));
	fill_children(e, "features.preferredHyperv", "domain.features.hyperv");
	fill_clock(e);
	fill_firmware(e);
	fill_sound(e);
	fill_lists(e);
	fill_annotations(e);
}
