/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A domain's devices into a manifest. A disk becomes a hostDisk where it is a raw file or a block
 * device below a folder that the node allows; the first interface becomes the pod network's.
 */
#include "core/adopt_private.h"

#include <string.h>

#include "core/domxml.h"
#include "core/names.h"

#define DISKS      "domain.devices.disks"
#define INTERFACES "domain.devices.interfaces"

/* ---- disks ----------------------------------------------------------------------------------- */

/* Attributes of <driver> that the next start has as well, or that need no saying. */
static bool is_kept(const char *name, const char *value)
{
	/* clang-format off */
	static const struct { const char *name, *value; } kept[] = {
		{ "name", "qemu" }, { "type", "raw" }, { "error_policy", "stop" }, { "discard", "unmap" },
		{ "cache", "none" }, { "cache", "writethrough" }, { "cache", "writeback" },
		{ "cache", "default" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (streq(name, kept[i].name) && streq(value, kept[i].value))
			return true;
	return false;
}

static void disk_driver(struct adopting *a, struct node *disk, xmlNodePtr driver)
{
	autofree char *cache = xml_get(driver, "cache");

	if (streq(cache, "none") || streq(cache, "writethrough") || streq(cache, "writeback"))
		set_text(disk, "cache", cache);
	for (xmlAttrPtr at = driver ? driver->properties : NULL; at; at = at->next) {
		autofree char *value = xml_get(driver, (const char *)at->name);

		if (!is_kept((const char *)at->name, value))
			texts_add(&a->out->losses, "disk %s: driver %s='%s': " LOST_UNKNOWN,
				node_text(disk, "name"), (const char *)at->name, value);
	}
}

/* The file or device behind it, if a hostDisk can be that; else it is lost, and said so. */
static char *disk_path(struct adopting *a, xmlNodePtr element, const char *name)
{
	xmlNodePtr driver = xml_child(element, "driver"), source = xml_child(element, "source");
	autofree char *kind = xml_get(element, "type"), *format = xml_get(driver, "type");
	char *path = xml_get(source, streq(kind, "block") ? "dev" : "file");

	if (!source && xml_is(element, "device", "cdrom"))
		texts_add(&a->out->losses,
			"disk %s: an empty drive: a manifest has none without a medium", name);
	else if (!path || (!streq(kind, "file") && !streq(kind, "block")))
		texts_add(&a->out->losses,
			"disk %s: its source is of type '%s': only local files and block "
			"devices can be hostDisks; it is left out",
			name, kind ? kind : "");
	else if (format && !streq(format, "raw"))
		texts_add(&a->out->losses,
			"disk %s: '%s' is a %s image, and a hostDisk is raw in this "
			"version; it is left out (stop the guest and convert it with 'qemu-img convert -O raw')",
			name, path, format);
	else
		return path;
	free(path);
	return NULL;
}

static void take_target(struct adopting *a, struct node *disk, xmlNodePtr element, bool cdrom)
{
	xmlNodePtr target = xml_child(element, "target");
	autofree char *bus = xml_get(target, "bus");
	const char *kept = streq(bus, "virtio") || streq(bus, "scsi") || streq(bus, "usb") ? bus
											   : "sata";
	bool readonly = xml_child(element, "readonly") && !cdrom;

	if (bus && !streq(bus, kept))
		texts_add(&a->out->losses, "disk %s: bus '%s' becomes sata",
			node_text(disk, "name"), bus);
	set_text(disk, cdrom ? "cdrom.bus" : "disk.bus", kept);
	if (readonly && !streq(kept, "sata"))
		set_bool(disk, "disk.readonly", true);
	else if (readonly)
		texts_add(&a->out->losses, "disk %s: it is read-only, and a disk on sata cannot be",
			node_text(disk, "name"));
}

/* What of it needs no saying, or was said; all else within a disk is a loss. */
static const struct element disk_elements[] = {
	{ "driver", NULL },
	{ "source", NULL },
	{ "backingStore", NULL },
	{ "target", NULL },
	{ "readonly", NULL },
	{ "serial", NULL },
	{ "boot", NULL },
	{ "alias", NULL },
	{ "address", NULL },
};

static struct node *named_in(struct adopting *a, const char *list, const char *name)
{
	struct node *map = node_new(NODE_MAP, NULL);

	set_text(map, "name", name);
	node_append(list_of(a->spec, list), map);
	return map;
}

static void set_disk(struct adopting *a, xmlNodePtr element, const char *name, const char *path)
{
	struct node *disk = named_in(a, DISKS, name), *volume = named_in(a, "volumes", name);
	autofree char *serial = xml_text(xml_child(element, "serial"));
	int64_t order = xml_number(xml_child(element, "boot"), "order", 0);

	take_target(a, disk, element, xml_is(element, "device", "cdrom"));
	disk_driver(a, disk, xml_child(element, "driver"));
	if (serial && is_disk_serial(serial))
		set_text(disk, "serial", serial);
	if (order)
		set_int(disk, "bootOrder", order);
	set_text(volume, "hostDisk.path", path);
	set_text(volume, "hostDisk.type", "Disk");
	XML_EACH(a, element, disk_elements);
	adopt_check_root(a, path, a->wish->policy->host_disk_roots, "hostDiskRoots");
}

static void take_disk(struct adopting *a, xmlNodePtr element)
{
	autofree char *device = xml_get(element, "device");
	autofree char *name = xml_get(xml_child(element, "target"), "dev"), *path = NULL;

	if (!name || !is_dns_label(name) ||
		(device && !streq(device, "disk") && !streq(device, "cdrom"))) {
		lose(a, element, LOST_UNKNOWN);
		return;
	}
	path = disk_path(a, element, name);
	if (path)
		set_disk(a, element, name, path);
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static const struct element interface_elements[] = {
	{ "mac", NULL },
	{ "model", NULL },
	{ "source", NULL },
	{ "target", NULL },
	{ "boot", NULL },
	{ "rom", NULL },
	{ "alias", NULL },
	{ "address", NULL },
};

static const char *nic_model(const char *model)
{
	static const char *const known[] = { "virtio", "e1000", "e1000e", "igb", "ne2k_pci",
		"pcnet", "rtl8139" };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (streq(model, known[i]))
			return known[i];
	return NULL;
}

/* Its address stays, but the network becomes the user-mode one: that is what there is. */
static void take_interface(struct adopting *a, xmlNodePtr element)
{
	autofree char *mac = xml_get(xml_child(element, "mac"), "address");
	autofree char *model = xml_get(xml_child(element, "model"), "type");
	int64_t order = xml_number(xml_child(element, "boot"), "order", 0);
	struct node *interface;

	if (node_at(a->spec, INTERFACES)) {
		lose(a, element, "a manifest has one network in this version");
		return;
	}
	interface = named_in(a, INTERFACES, "default");
	set_map(interface, "masquerade");
	set_map(named_in(a, "networks", "default"), "pod");
	set_text(interface, "macAddress", mac);
	set_text(interface, "model", nic_model(model));
	if (order)
		set_int(interface, "bootOrder", order);
	if (!xml_is(element, "type", "user"))
		lose(a, element, "it becomes user-mode networking, with the same MAC address");
	if (!model || !nic_model(model))
		texts_add(&a->out->losses, "interface %s: model '%s' becomes virtio",
			mac ? mac : "", model ? model : "");
	XML_EACH(a, element, interface_elements);
}

/* ---- the order in which they boot ------------------------------------------------------------ */

/* The first of its kind that has no place in the order yet. */
static struct node *bootable(struct adopting *a, const char *kind)
{
	bool network = streq(kind, "network");
	struct node *list = node_at(a->spec, network ? INTERFACES : DISKS);

	for (size_t i = 0; list && i < list->n_children; i++) {
		struct node *one = list->children[i];

		if (!node_get(one, "bootOrder") &&
			(network || node_get(one, streq(kind, "cdrom") ? "cdrom" : "disk")))
			return one;
	}
	return NULL;
}

void adopt_boot_order(struct adopting *a)
{
	int64_t order = 0;

	for (size_t i = 0; i < a->n_boot; i++) {
		struct node *device = bootable(a, a->boot[i] ? a->boot[i] : "");

		if (device)
			set_int(device, "bootOrder", ++order);
	}
}

/* ---- the others ------------------------------------------------------------------------------ */

static void take_controller(struct adopting *a, xmlNodePtr element)
{
	autofree char *model = xml_get(element, "model");

	if (xml_child(element, "driver") ||
		(xml_is(element, "type", "scsi") && model && !streq(model, "virtio-scsi") &&
			!streq(model, "auto")))
		lose(a, element, "controllers are as libvirt chooses them");
}

static void take_serial(struct adopting *a, xmlNodePtr element)
{
	bool first = xml_number(xml_child(element, "target"), "port", 0) == 0;

	a->serial |= first;
	if (!first)
		lose(a, element, "there is one serial port in this version");
	else if (!xml_is(element, "type", "pty") && !xml_is(element, "type", "unix"))
		lose(a, element, "it becomes a unix socket of the agent's");
}

static void take_console(struct adopting *a, xmlNodePtr element)
{
	autofree char *type = xml_get(xml_child(element, "target"), "type");

	if (type && !streq(type, "serial"))
		lose(a, element, LOST_UNKNOWN);
}

/* The agent's own domains have the guest agent's, too. */
static void take_channel(struct adopting *a, xmlNodePtr element)
{
	if (!xml_is(xml_child(element, "target"), "name", "org.qemu.guest_agent.0"))
		lose(a, element, LOST_UNKNOWN);
}

static void take_input(struct adopting *a, xmlNodePtr element)
{
	if (!xml_is(element, "bus", "ps2"))
		lose(a, element, LOST_UNKNOWN);
}

static void take_video(struct adopting *a, xmlNodePtr element)
{
	const char *ours = a->efi ? DOMAIN_VIDEO_EFI : DOMAIN_VIDEO_BIOS;
	xmlNodePtr model = xml_child(element, "model");

	if (xml_is(model, "type", "none"))
		return;
	a->display = true;
	if (!xml_is(model, "type", ours))
		texts_add(&a->out->losses, "<video>: it becomes %s with 16 MiB", ours);
	else if (!xml_is(model, "vram", DOMAIN_VIDEO_KIB) || xml_child(model, "acceleration") ||
		xml_number(model, "heads", 1) != 1)
		lose(a, model, "it gets one head and 16 MiB");
}

static void take_graphics(struct adopting *a, xmlNodePtr element)
{
	a->display = true;
	if (!xml_is(element, "type", "vnc") ||
		!xml_is(xml_child(element, "listen"), "type", "socket"))
		lose(a, element, "it becomes a VNC server on a unix socket, for 'vmactl vnc'");
}

static void take_audio(struct adopting *a, xmlNodePtr element)
{
	if (!xml_is(element, "type", "none"))
		lose(a, element, LOST_UNKNOWN);
}

static void take_balloon(struct adopting *a, xmlNodePtr element)
{
	if (!xml_is(element, "model", "virtio"))
		lose(a, element, "it gets a virtio balloon");
}

static void take_rng(struct adopting *a, xmlNodePtr element)
{
	autofree char *source = xml_text(xml_child(element, "backend"));

	set_map(a->spec, "domain.devices.rng");
	if (!streq(source, "/dev/urandom") || xml_child(element, "rate"))
		lose(a, element, "its source becomes /dev/urandom, without a limit");
}

static void take_panic(struct adopting *a, xmlNodePtr element)
{
	autofree char *model = xml_get(element, "model");
	enum panic_model known;
	struct node *device;

	if (model && !panic_model_parse(model, &known)) {
		lose(a, element, LOST_UNKNOWN);
		return;
	}
	device = node_new(NODE_MAP, NULL);
	set_text(device, "model", model ? model : panic_model_name(PANIC_MODEL_ISA));
	node_append(list_of(a->spec, "domain.devices.panicDevices"), device);
}

/* A q35 machine has it by itself. */
static void take_watchdog(struct adopting *a, xmlNodePtr element)
{
	if (!xml_is(element, "model", "itco"))
		lose(a, element, LOST_UNKNOWN);
}

static const struct element device_elements[] = {
	{ "emulator", NULL },
	{ "disk", take_disk },
	{ "controller", take_controller },
	{ "interface", take_interface },
	{ "serial", take_serial },
	{ "console", take_console },
	{ "channel", take_channel },
	{ "input", take_input },
	{ "graphics", take_graphics },
	{ "video", take_video },
	{ "audio", take_audio },
	{ "memballoon", take_balloon },
	{ "rng", take_rng },
	{ "panic", take_panic },
	{ "watchdog", take_watchdog },
};

void adopt_devices(struct adopting *a, xmlNodePtr devices)
{
	XML_EACH(a, devices, device_elements);
}
