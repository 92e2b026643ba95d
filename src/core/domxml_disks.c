/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disks of a run's domain: their targets, how they are served, and the chain
 * of files behind each.
 *
 * The host's own knowledge is left out and filled in by the adapter when it starts the domain:
 * which format a backing image has, whether a disk is a block device, who owns the file.
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

bool domain_has_bus(const struct vmi_spec *spec, enum disk_bus bus)
{
	for (size_t i = 0; i < spec->n_disks; i++)
		if (spec->disks[i].bus == bus)
			return true;
	return false;
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

static bool is_raw(const struct volume *volume)
{
	return volume->kind == VOLUME_HOST_DISK || volume->kind == VOLUME_CLAIM || volume->media;
}

static void driver(xmlTextWriterPtr w, const struct vmi_spec *spec, const struct disk *disk,
	const struct volume *volume)
{
	unsigned thread = disk_io_thread(spec, disk);

	xml_open(w, "driver");
	xml_attr(w, "name", "qemu");
	xml_attr(w, "type", is_raw(volume) ? "raw" : "qcow2");
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
 * The whole chain, so that nothing is probed in a file that a guest may have written to, and an
 * image that names a backing file of its own does not get it opened.
 */
static void backing(xmlTextWriterPtr w, const struct volume *volume, const char *directory)
{
	autofree char *base = volume_base(volume, directory);

	if (is_raw(volume))
		return;
	xml_open(w, "backingStore");
	if (base) {
		xml_attr(w, "type", "file");
		if (volume->kind == VOLUME_EPHEMERAL) /* guests write to it: never probed */
			xml_empty(w, "format", "type", "raw", NULL);
		xml_empty(w, "source", "file", base, NULL);
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
	xml_open(w, "source");
	xml_attr(w, disk->device == DISK_DEVICE_LUN ? "dev" : "file", path);
	if (disk->reservation)
		xml_empty(w, "reservations", "managed", "yes", NULL);
	xml_close(w);
	backing(w, volume, directory);
}

/* Without sizes they are the file's, which the adapter fills in. */
static void block_size(xmlTextWriterPtr w, const struct disk *disk)
{
	if (!disk->logical_block && !disk->match_block)
		return;
	xml_open(w, "blockio");
	if (disk->logical_block) {
		xml_attr_int(w, "logical_block_size", disk->logical_block);
		xml_attr_int(w, "physical_block_size", disk->physical_block);
	}
	xml_close(w);
}

static void device(xmlTextWriterPtr w, const struct vmi_spec *spec, const struct disk *disk,
	const char *directory)
{
	xml_open(w, "disk");
	xml_attr(w, "type", disk->device == DISK_DEVICE_LUN ? "block" : "file");
	xml_attr(w, "device", disk_device_name(disk->device));
	if (spec->transitional && disk->bus == DISK_BUS_VIRTIO)
		xml_attr(w, "model", VIRTIO_TRANSITIONAL);
	medium(w, spec, disk, directory);
	target(w, spec, disk);
	if (disk->readonly || disk->device == DISK_DEVICE_CDROM)
		xml_empty(w, "readonly", NULL);
	if (disk->shareable)
		xml_empty(w, "shareable", NULL);
	xml_leaf(w, "serial", disk->serial);
	xml_boot_order(w, disk->boot_order);
	block_size(w, disk);
	xml_pci_address(w, disk->pci_address);
	xml_alias(w, disk->name);
	xml_close(w);
}

void domain_disks(xmlTextWriterPtr w, const struct vmi_spec *spec, const char *directory)
{
	for (size_t i = 0; i < spec->n_disks; i++)
		device(w, spec, &spec->disks[i], directory);
}
