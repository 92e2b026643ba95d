/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.3 about disks: each has a volume, one way to the guest, and what goes with
 * its bus, its cache and its blocks.
 *
 * Owns nothing; single values were judged by schema_check.c, so what is of a wrong
 * kind is passed over.
 */
#include "core/defaults.h"
#include "core/rules_private.h"

static const char *bus_of(const struct node *disk)
{
	bool lun = node_get(disk, "lun");
	const char *bus = node_text(disk,
		node_get(disk, "cdrom") ? "cdrom.bus"
			: lun           ? "lun.bus"
					: "disk.bus");

	return bus ? bus : lun ? DEFAULT_LUN_BUS : DEFAULT_DISK_BUS;
}

/* What only a virtio disk can have. */
static void virtio_rules(struct check *c, const struct node *disk)
{
	static const char *const fields[] = { "dedicatedIOThread", "disk.pciAddress" };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct node *field = node_at(disk, fields[i]);

		if (field && field->text && !streq(field->text, "false") &&
			!streq(bus_of(disk), "virtio"))
			check_add_key(c, field, fields[i], "only a disk on virtio can have it");
	}
}

static void io_rules(struct check *c, const struct node *disk)
{
	const struct node *io = node_get(disk, "io");

	if (io && streq(io->text, "native") && !streq(node_text(disk, "cache"), "none"))
		check_add(c, io, "io", "native needs cache: none");
}

static int64_t number(const struct node *node)
{
	return node && node->kind == NODE_NUMBER ? strtoll(node->text, NULL, 10) : 0;
}

static void block_rules(struct check *c, const struct node *disk)
{
	const struct node *custom = node_at(disk, "blockSize.custom");
	const struct node *logical = node_get(custom, "logical");
	const struct node *discard = node_get(custom, "discardGranularity");
	int64_t least = number(logical), physical = number(node_get(custom, "physical"));

	if (custom && node_at(disk, "blockSize.matchVolume"))
		check_add_key(c, custom, "blockSize.custom",
			"give custom or matchVolume, not both");
	if (least > 0 && number(discard) % least)
		check_add(c, discard, "blockSize.custom.discardGranularity",
			"expected a multiple of logical");
	if (least <= 0 || physical <= 0)
		return;
	if (least & (least - 1) || physical & (physical - 1))
		check_add(c, custom, "blockSize.custom", "expected powers of two");
	else if (least > physical)
		check_add(c, logical, "blockSize.custom.logical", "expected at most physical");
	else if (least != 512 && streq(bus_of(disk), "sata"))
		check_add(c, logical, "blockSize.custom.logical",
			"a disk on sata has blocks of 512 bytes; use another bus");
}

static bool is_on_node(const struct node *volume)
{
	return node_get(volume, "hostDisk") || node_get(volume, "persistentVolumeClaim") ||
		node_get(volume, "dataVolume");
}

static bool reads_claim(const struct node *volume)
{
	const struct node *readonly = node_at(volume, "persistentVolumeClaim.readOnly");

	return readonly && streq(readonly->text, "true");
}

/* What the guest shares with others, or talks to itself, is a raw file or device
 * that outlives the run. */
static void host_rules(struct check *c, const struct node *disk, const struct node *volume)
{
	const struct node *shareable = node_get(disk, "shareable");
	const struct node *lun = node_get(disk, "lun");
	const char *cache = node_text(disk, "cache");
	bool shared = shareable && streq(shareable->text, "true");

	if (shared && cache && !streq(cache, "none"))
		check_add_key(c, shareable, "shareable", "it needs cache: none");
	if (shared && volume && !is_on_node(volume))
		check_add_key(c, shareable, "shareable",
			"the volume is this run's own; share a hostDisk or a persistentVolumeClaim");
	if (reads_claim(volume) && node_get(disk, "disk") && streq(bus_of(disk), DEFAULT_DISK_BUS))
		check_add_key(c, disk, "disk.bus",
			"a disk on sata, which is the default, cannot be read-only, and its claim is: "
			"use another bus");
	if (lun && volume && !node_get(volume, "hostDisk"))
		check_add_key(c, lun, "lun",
			"it needs a block device, such as a hostDisk can be; claims are files here");
}

/* A tag is of use to who can tell the disk. */
static void tag_rules(struct check *c, const struct node *disk)
{
	const struct node *tag = node_get(disk, "tag");

	if (tag && !node_get(disk, "serial") && !node_at(disk, "disk.pciAddress"))
		check_add_key(c, tag, "tag",
			"the guest could not tell which disk it is of: give it a serial");
}

static void option_rules(struct check *c, const struct node *disk)
{
	tag_rules(c, disk);
	virtio_rules(c, disk);
	io_rules(c, disk);
	block_rules(c, disk);
}

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

void disk_rules(struct check *c, const struct node *spec)
{
	static const char *const targets[] = { "disk", "cdrom", "lun", NULL };
	const struct node *disks = node_at(spec, DISKS), *volumes = node_get(spec, "volumes");
	const struct node *last;

	for (size_t i = 0; i < list_count(disks); i++) {
		size_t mark = check_enter_item(c, DISKS, i);
		const struct node *name = element_name(c, disks, i);

		if (name && !list_has(volumes, name->text))
			check_add(c, name, "name", "no volume is named '%s'", name->text);
		if (element_count_keys(disks->children[i], targets, &last) > 1)
			check_add_key(c, last, last->key, "give one of disk, cdrom and lun");
		bus_rules(c, disks->children[i]);
		option_rules(c, disks->children[i]);
		if (name)
			host_rules(c, disks->children[i],
				list_find(volumes, list_count(volumes), name->text));
		check_leave(c, mark);
	}
}
