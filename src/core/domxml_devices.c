/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of a run's domain. Only what the spec asks for, plus KubeVirt's constants (semantics
 * §9.5): no USB controller unless a USB disk needs one, a virtio balloon, no display in this version.
 *
 * The host's own knowledge is left out and filled in by the adapter when it starts the domain: which
 * format a backing image has, whether a disk is a block device, who owns the file.
 */
#include "core/domxml_write.h"

#include <stdio.h>
#include <string.h>

struct bus {
	const char *name;
	const char *prefix; /* of the target device: vda, sda */
};

/* clang-format off */
static const struct bus buses[DISK_BUS_MAX] = {
	[DISK_BUS_UNSET]  = { "sata",   "sd" },
	[DISK_BUS_VIRTIO] = { "virtio", "vd" },
	[DISK_BUS_SATA]   = { "sata",   "sd" },
	[DISK_BUS_SCSI]   = { "scsi",   "sd" },
	[DISK_BUS_USB]    = { "usb",    "sd" },
};
/* clang-format on */

static bool has_bus(const struct vmi_spec *spec, enum disk_bus bus)
{
	for (size_t i = 0; i < spec->n_disks; i++)
		if (spec->disks[i].bus == bus)
			return true;
	return false;
}

static void controllers(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	bool usb = has_bus(spec, DISK_BUS_USB);

	for (size_t i = 0; i < spec->n_inputs; i++)
		usb |= !spec->inputs[i].virtio;

	xml_empty(w, "controller", "type", "usb", "model", usb ? "qemu-xhci" : "none", NULL);
	if (has_bus(spec, DISK_BUS_SCSI))
		xml_empty(w, "controller", "type", "scsi", "index", "0", "model", "virtio-scsi",
			NULL);
}

/* vda, vdb, … vdz, vdaa: the n-th disk of that prefix, as the kernel counts. */
static void target_name(char *ret, size_t size, const char *prefix, unsigned n)
{
	char letters[8] = "";
	size_t at = sizeof(letters) - 1;

	for (n++; n; n = (n - 1) / 26)
		letters[--at] = (char)('a' + (n - 1) % 26);
	snprintf(ret, size, "%s%s", prefix, letters + at);
}

static unsigned disks_before(const struct vmi_spec *spec, const struct disk *disk)
{
	unsigned n = 0;

	for (const struct disk *d = spec->disks; d < disk; d++)
		n += streq(buses[d->bus].prefix, buses[disk->bus].prefix);
	return n;
}

void disk_target(const struct vmi_spec *spec, const struct disk *disk, char ret[TARGET_SIZE])
{
	target_name(ret, TARGET_SIZE, buses[disk->bus].prefix, disks_before(spec, disk));
}

static void target(xmlTextWriterPtr w, const struct vmi_spec *spec, const struct disk *disk)
{
	char name[TARGET_SIZE];

	disk_target(spec, disk, name);
	xml_empty(w, "target", "dev", name, "bus", buses[disk->bus].name, NULL);
}

static void driver(xmlTextWriterPtr w, const struct vmi_spec *spec, const struct disk *disk,
	const struct volume *volume)
{
	unsigned thread = disk_io_thread(spec, disk);

	xml_open(w, "driver");
	xml_attr(w, "name", "qemu");
	xml_attr(w, "type", volume->kind == VOLUME_HOST_DISK ? "raw" : "qcow2");
	xml_attr(w, "error_policy", disk->error_policy ? disk->error_policy : "stop");
	xml_attr(w, "discard", "unmap");
	xml_attr(w, "cache", disk->cache == DISK_CACHE_UNSET ? NULL : disk_cache_name(disk->cache));
	xml_attr(w, "io", disk->io);
	if (thread)
		xml_attr_int(w, "iothread", thread);
	if (spec->multi_queue && disk->bus == DISK_BUS_VIRTIO)
		xml_attr_int(w, "queues", spec->sockets * spec->cores * spec->threads);
	xml_close(w);
}

/*
 * The whole chain, so that nothing is probed in a file that a guest may have written to, and an image
 * that names a backing file of its own does not get it opened.
 */
static void backing(xmlTextWriterPtr w, const struct volume *volume)
{
	if (volume->kind == VOLUME_HOST_DISK)
		return;
	xml_open(w, "backingStore");
	if (volume->kind == VOLUME_CONTAINER_DISK) {
		xml_attr(w, "type", "file");
		xml_empty(w, "source", "file", volume->path, NULL);
		xml_empty(w, "backingStore", NULL);
	}
	xml_close(w);
}

static void medium(xmlTextWriterPtr w, const struct vmi_spec *spec, const struct disk *disk,
	const char *directory)
{
	const struct volume *volume = volume_of(spec, disk->name);
	autofree char *path = NULL;

	if (!volume)
		return;
	path = volume_target(volume, directory);
	driver(w, spec, disk, volume);
	xml_empty(w, "source", "file", path, NULL);
	backing(w, volume);
}

static void boot_order(xmlTextWriterPtr w, unsigned order)
{
	if (!order)
		return;
	xml_open(w, "boot");
	xml_attr_int(w, "order", order);
	xml_close(w);
}

/* libvirt keeps an alias of ours through the domain's life, and events about the device name it. */
static void alias(xmlTextWriterPtr w, const char *name)
{
	autofree char *text = xasprintf(ALIAS_PREFIX "%s", name);

	xml_empty(w, "alias", "name", text, NULL);
}

static void block_size(xmlTextWriterPtr w, const struct disk *disk)
{
	if (!disk->logical_block)
		return;
	xml_open(w, "blockio");
	xml_attr_int(w, "logical_block_size", disk->logical_block);
	xml_attr_int(w, "physical_block_size", disk->physical_block);
	xml_close(w);
}

/* dddd:bb:ss.f, as the manifest's grammar has it */
static void pci_address(xmlTextWriterPtr w, const char *text)
{
	unsigned domain, bus, slot, function;
	autofree char *domain_text = NULL, *bus_text = NULL, *slot_text = NULL;
	char function_text[4];

	if (!text || sscanf(text, "%4x:%2x:%2x.%1u", &domain, &bus, &slot, &function) != 4)
		return;
	domain_text = xasprintf("0x%04x", domain);
	bus_text = xasprintf("0x%02x", bus);
	slot_text = xasprintf("0x%02x", slot);
	snprintf(function_text, sizeof(function_text), "0x%u", function & 7);
	xml_empty(w, "address", "type", "pci", "domain", domain_text, "bus", bus_text, "slot",
		slot_text, "function", function_text, NULL);
}

static void acpi_index(xmlTextWriterPtr w, unsigned index)
{
	if (!index)
		return;
	xml_open(w, "acpi");
	xml_attr_int(w, "index", index);
	xml_close(w);
}

static void disk_device(xmlTextWriterPtr w, const struct vmi_spec *spec, const struct disk *disk,
	const char *directory)
{
	xml_open(w, "disk");
	xml_attr(w, "type", "file");
	xml_attr(w, "device", disk_device_name(disk->device));
	medium(w, spec, disk, directory);
	target(w, spec, disk);
	if (disk->readonly || disk->device == DISK_DEVICE_CDROM)
		xml_empty(w, "readonly", NULL);
	xml_leaf(w, "serial", disk->serial);
	boot_order(w, disk->boot_order);
	block_size(w, disk);
	pci_address(w, disk->pci_address);
	alias(w, disk->name);
	xml_close(w);
}

/*
 * An address that stays the same over stops and starts although the manifest names none (users.md
 * 63): FNV-1a over the VM's UID and the interface's name, marked as locally administered.
 */
static char *stable_mac(const char *uid, const char *name)
{
	autofree char *key = xasprintf("%s/%s", uid, name);
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (const char *p = key; *p; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	return xasprintf("02:%02x:%02x:%02x:%02x:%02x", (unsigned)(h >> 32 & 0xff),
		(unsigned)(h >> 24 & 0xff), (unsigned)(h >> 16 & 0xff), (unsigned)(h >> 8 & 0xff),
		(unsigned)(h & 0xff));
}

char *interface_mac(const struct interface *nic, const char *vm_uid, const char *vmi_uid)
{
	return nic->mac ? xstrdup(nic->mac) : stable_mac(*vm_uid ? vm_uid : vmi_uid, nic->name);
}

/* An option ROM is only of use to boot from the network; without it the firmware is done sooner. */
static void interface(xmlTextWriterPtr w, const struct interface *nic,
	const struct domain_context *context)
{
	autofree char *mac = interface_mac(nic, context->vm_uid, context->vmi_uid);

	xml_open(w, "interface");
	xml_attr(w, "type", "user");
	xml_empty(w, "mac", "address", mac, NULL);
	xml_empty(w, "model", "type", nic->model ? nic->model : "virtio", NULL);
	boot_order(w, nic->boot_order);
	if (!nic->boot_order)
		xml_empty(w, "rom", "enabled", "no", NULL);
	if (nic->down)
		xml_empty(w, "link", "state", "down", NULL);
	acpi_index(w, nic->acpi_index);
	pci_address(w, nic->pci_address);
	alias(w, nic->name);
	xml_close(w);
}

/*
 * QEMU listens on a socket in the run's folder, whose path is the same for the whole run, and writes
 * all output to a log beside it, whether or not somebody is attached.
 */
static void serial_console(xmlTextWriterPtr w, const char *directory)
{
	autofree char *path = xasprintf("%s/" DOMAIN_CONSOLE_FILE, directory);
	autofree char *log = xasprintf("%s/" DOMAIN_CONSOLE_LOG_FILE, directory);

	xml_open(w, "serial");
	xml_attr(w, "type", "unix");
	xml_empty(w, "source", "mode", "bind", "path", path, NULL);
	xml_empty(w, "log", "file", log, "append", "on", NULL);
	xml_empty(w, "target", "type", "isa-serial", "port", "0", NULL);
	xml_close(w);
	xml_open(w, "console");
	xml_attr(w, "type", "unix");
	xml_empty(w, "target", "type", "serial", "port", "0", NULL);
	xml_close(w);
}

/*
 * Always there, so that an agent which is installed later is heard (KubeVirt does so too). Its socket lies
 * beside the console's: libvirt would make its path longer by the domain's name and id, too long for an
 * embedded libvirt's root of more than 25 characters.
 */
static void guest_agent(xmlTextWriterPtr w, const char *directory)
{
	autofree char *path = xasprintf("%s/" DOMAIN_AGENT_FILE, directory);

	xml_open(w, "channel");
	xml_attr(w, "type", "unix");
	xml_empty(w, "source", "mode", "bind", "path", path, NULL);
	xml_empty(w, "target", "type", "virtio", "name", DOMAIN_AGENT_CHANNEL, NULL);
	xml_close(w);
}

/* libvirt before 9.1 knows no PCI device for it: there the ISA one stands in, for guests are told
 * the same. */
static enum panic_model panic_model(const struct domain_context *context, enum panic_model model)
{
	return model == PANIC_MODEL_PVPANIC && !context->pvpanic ? PANIC_MODEL_ISA : model;
}

static void panic_devices(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	bool done[PANIC_MODEL_MAX] = { false }; /* libvirt takes one of each model */

	for (size_t i = 0; i < spec->n_panic_devices; i++) {
		enum panic_model model = panic_model(context, spec->panic_devices[i]);

		if (!done[model])
			xml_empty(w, "panic", "model", panic_model_name(model), NULL);
		done[model] = true;
	}
}

static void video(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	bool efi = spec->bootloader != BOOTLOADER_BIOS;

	xml_open(w, "video");
	if (spec->graphics)
		xml_empty(w, "model", "type", efi ? DOMAIN_VIDEO_EFI : DOMAIN_VIDEO_BIOS, "vram",
			DOMAIN_VIDEO_KIB, "heads", "1", NULL);
	else
		xml_empty(w, "model", "type", "none", NULL);
	xml_close(w);
}

/*
 * QEMU itself makes this socket, as the user that it runs as, so it cannot lie in the run's folder, which is root's:
 * libvirt puts it beside the monitor's, in the folder that it makes for the domain.
 */
static void graphics(xmlTextWriterPtr w)
{
	xml_open(w, "graphics");
	xml_attr(w, "type", "vnc");
	xml_empty(w, "listen", "type", "socket", NULL);
	xml_close(w);
}

void domain_devices(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	xml_open(w, "devices");
	controllers(w, spec);
	for (size_t i = 0; i < spec->n_disks; i++)
		disk_device(w, spec, &spec->disks[i], context->directory);
	for (size_t i = 0; i < spec->n_interfaces; i++)
		interface(w, &spec->interfaces[i], context);
	if (spec->serial_console)
		serial_console(w, context->directory);
	guest_agent(w, context->directory);
	if (spec->graphics)
		graphics(w);
	video(w, spec);
	domain_peripherals(w, spec);
	panic_devices(w, spec, context);
	xml_close(w);
}
