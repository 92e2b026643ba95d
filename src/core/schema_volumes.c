/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VMI's volumes: where the content of its disks comes from.
 */
#include "core/schema_rows.h"

#define NO_MEDIA   "give it as a medium of your own: a hostDisk with a cdrom"
#define NO_STORAGE "use a hostDisk"

/* clang-format off */
static const struct schema_field rows[] = {
	F(SPEC, "volumes",                                 LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "volumes[]",                               MAP),
	F(SPEC, "volumes[].name",                          STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "volumes[].containerDisk",                 MAP),
	F(SPEC, "volumes[].containerDisk.image",           STRING, REQUIRED, RULE(IMAGE)),
	F(SPEC, "volumes[].containerDisk.imagePullPolicy", ENUM, ONE(PULL_POLICIES),
		IGNORED(PULL_NOTE)),
	F(SPEC, "volumes[].containerDisk.imagePullSecret", STRING, IGNORED(PULL_NOTE)),
	F(SPEC, "volumes[].containerDisk.path",            STRING, RULE(INNER_PATH)),
	F(SPEC, "volumes[].emptyDisk",                     MAP),
	F(SPEC, "volumes[].emptyDisk.capacity",            QUANTITY, REQUIRED, RANGE(1, 0)),
	F(SPEC, "volumes[].hostDisk",                      MAP),
	F(SPEC, "volumes[].hostDisk.path",                 STRING, REQUIRED, RULE(PATH)),
	F(SPEC, "volumes[].hostDisk.type",                 ENUM, REQUIRED,
		ONE("Disk|DiskOrCreate")),
	F(SPEC, "volumes[].hostDisk.capacity",             QUANTITY, RANGE(1, 0)),
	F(SPEC, "volumes[].hostDisk.shared",               BOOL, DEFAULT("false")),
	F(SPEC, "volumes[].cloudInitConfigDrive",          MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "volumes[].cloudInitNoCloud",              MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "volumes[].configMap",                     MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "volumes[].containerPath",                 MAP,
		REFUSED("there is no container to take it from; use a hostDisk")),
	F(SPEC, "volumes[].dataVolume",                    MAP, REFUSED(NO_STORAGE)),
	F(SPEC, "volumes[].downwardAPI",                   MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "volumes[].downwardMetrics",               MAP,
		REFUSED("read the guest's figures on the host")),
	F(SPEC, "volumes[].ephemeral",                     MAP,
		REFUSED("use a containerDisk, whose image is a local file")),
	F(SPEC, "volumes[].memoryDump",                    MAP,
		REFUSED("a guest's memory is not dumped in this version")),
	F(SPEC, "volumes[].persistentVolumeClaim",         MAP, REFUSED(NO_STORAGE)),
	F(SPEC, "volumes[].secret",                        MAP, REFUSED(NO_MEDIA)),
	F(SPEC, "volumes[].serviceAccount",                MAP,
		REFUSED("there is no cluster that a guest could have an account of")),
	F(SPEC, "volumes[].sysprep",                       MAP, REFUSED(NO_MEDIA)),
};
/* clang-format on */

const struct schema_table schema_volumes = { rows, ARRAY_SIZE(rows) };
