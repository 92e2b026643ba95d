/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about disks: what a guest sees of its volumes, and
 * how it is served.
 *
 * Owns how texts become values. It must not judge: which values are possible has been checked.
 */
#include "core/schema.h"
#include "core/spec_private.h"

static int parse_options(const struct node *from, struct disk *disk, struct err *err)
{
	const struct node *size = node_at(from, "blockSize.custom");
	const struct node *match = node_at(from, "blockSize.matchVolume");

	disk->io = spec_copy(from, "io");
	disk->error_policy = spec_copy(from, "errorPolicy");
	disk->pci_address = spec_copy(from, "disk.pciAddress");
	disk->dedicated_io_thread = spec_bool(from, "dedicatedIOThread", false);
	disk->shareable = spec_bool(from, "shareable", false);
	disk->reservation = spec_bool(from, "lun.reservation", false);
	disk->match_block = match && spec_bool(match, "enabled", true);
	if (spec_unsigned(size, "logical", &disk->logical_block, err) ||
		spec_unsigned(size, "discardGranularity", &disk->discard_granularity, err))
		return -ERR_INVALID;
	return spec_unsigned(size, "physical", &disk->physical_block, err);
}

static enum disk_device device_of(const struct node *from)
{
	if (node_get(from, "cdrom"))
		return DISK_DEVICE_CDROM;
	return node_get(from, "lun") ? DISK_DEVICE_LUN : DISK_DEVICE_DISK;
}

/* Without it each would see a stale cache of its own. */
static void share(struct disk *disk)
{
	if (disk->shareable && disk->cache == DISK_CACHE_UNSET)
		disk->cache = DISK_CACHE_NONE;
}

static int parse_disk(const struct node *from, struct disk *disk, struct err *err)
{
	enum disk_device device = device_of(from);
	const struct node *target = node_get(from, disk_device_name(device));
	const char *bus = node_text(target, "bus");
	const char *cache = node_text(from, "cache");

	disk->name = spec_copy(from, "name");
	if (!disk->name)
		return err_set(err, ERR_INVALID, "a disk has no name");
	disk->device = device;
	if (!bus)
		bus = device == DISK_DEVICE_LUN ? DEFAULT_LUN_BUS : DEFAULT_DISK_BUS;
	if (!disk_bus_parse(bus, &disk->bus))
		return err_set(err, ERR_INVALID, "disk '%s': unknown bus '%.64s'", disk->name, bus);
	if (cache && !disk_cache_parse(cache, &disk->cache))
		return err_set(err, ERR_INVALID, "disk '%s': unknown cache '%.64s'", disk->name,
			cache);
	disk->readonly = spec_bool(target, "readonly", false);
	disk->serial = spec_copy(from, "serial");
	disk->tag = spec_copy(from, "tag");
	if (parse_options(from, disk, err))
		return -ERR_INVALID;
	share(disk);
	return spec_unsigned(from, "bootOrder", &disk->boot_order, err);
}

int spec_parse_disks(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	const struct node *list;
	size_t n;
	int rc = spec_list(spec, "domain.devices.disks", &list, &n, err);

	s->disks = rc || !n ? NULL : xcalloc(n, sizeof(*s->disks));
	for (size_t i = 0; !rc && i < n; i++)
		rc = parse_disk(list->children[i], &s->disks[s->n_disks++], err);
	return rc;
}
