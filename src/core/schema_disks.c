/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a domain sees of its volumes.
 */
#include "core/schema_rows.h"

/* clang-format off */
static const struct schema_field rows[] = {
	F(SPEC, "domain.devices.disks",                         LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "domain.devices.disks[]",                       MAP),
	F(SPEC, "domain.devices.disks[].name",                  STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "domain.devices.disks[].bootOrder",             INTEGER, RANGE(1, BOOT_ORDER_MAX)),
	F(SPEC, "domain.devices.disks[].serial",                STRING, RULE(DISK_SERIAL)),
	F(SPEC, "domain.devices.disks[].cache",                 ENUM, ONE(DISK_CACHES(ONE_OF))),
	F(SPEC, "domain.devices.disks[].io",                    ENUM, ONE("native|threads")),
	F(SPEC, "domain.devices.disks[].errorPolicy",           ENUM,
		ONE("stop|ignore|report|enospace"), DEFAULT("stop")),
	F(SPEC, "domain.devices.disks[].shareable",             BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.disks[].blockSize",             MAP),
	F(SPEC, "domain.devices.disks[].blockSize.custom",      MAP),
	F(SPEC, "domain.devices.disks[].blockSize.custom.logical", INTEGER, REQUIRED,
		RANGE(512, BLOCK_SIZE_MAX)),
	F(SPEC, "domain.devices.disks[].blockSize.custom.physical", INTEGER, REQUIRED,
		RANGE(512, BLOCK_SIZE_MAX)),
	F(SPEC, "domain.devices.disks[].blockSize.custom.discardGranularity", INTEGER,
		RANGE(0, BLOCK_SIZE_MAX)),
	F(SPEC, "domain.devices.disks[].blockSize.matchVolume", MAP),
	F(SPEC, "domain.devices.disks[].blockSize.matchVolume.enabled", BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.disks[].dedicatedIOThread",     BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.disks[].tag",                   STRING, RULE(WORD),
		NOTE("told by cloudInitConfigDrive, with the serial")),
	F(SPEC, "domain.devices.disks[].changedBlockTracking",  BOOL,
		IGNORED("there are no backups in this version")),
	F(SPEC, "domain.devices.disks[].disk",                  MAP),
	F(SPEC, "domain.devices.disks[].disk.bus",              ENUM, ONE(DISK_BUSES(ONE_OF)),
		DEFAULT(DEFAULT_DISK_BUS)),
	F(SPEC, "domain.devices.disks[].disk.readonly",         BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.disks[].disk.pciAddress",       STRING, RULE(PCI_ADDRESS)),
	F(SPEC, "domain.devices.disks[].cdrom",                 MAP),
	F(SPEC, "domain.devices.disks[].cdrom.bus",             ENUM, ONE(DISK_BUSES(ONE_OF)),
		DEFAULT(DEFAULT_DISK_BUS)),
	F(SPEC, "domain.devices.disks[].cdrom.readonly",        BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.disks[].cdrom.tray",            ENUM, ONE("closed"),
		DEFAULT("closed")),
	F(SPEC, "domain.devices.disks[].lun",                   MAP),
	F(SPEC, "domain.devices.disks[].lun.bus",               ENUM, ONE("scsi|virtio"),
		DEFAULT(DEFAULT_LUN_BUS)),
	F(SPEC, "domain.devices.disks[].lun.readonly",          BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.disks[].lun.reservation",       BOOL, DEFAULT("false")),
};
/* clang-format on */

const struct schema_table schema_disks = { rows, ARRAY_SIZE(rows) };
