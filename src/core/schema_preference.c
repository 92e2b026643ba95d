/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A preference: what the machines that name it have where they do not say. A field that becomes one
 * of their template is as that one is, whatever this version makes of it.
 */
#include "core/schema_rows.h"

#define ARCHITECTURES "amd64|arm64|s390x"
#define TOPOLOGIES                                                                               \
	"sockets|cores|threads|spread|any|preferSockets|preferCores|preferThreads|preferSpread|" \
	"preferAny"
#define ACROSS    "SocketsCoresThreads|SocketsCores|CoresThreads"
#define DEVICES   "domain.devices."
#define EACH_DISK DEVICES "disks[]."
#define FEATURES  "domain.features."

/* clang-format off */
static const struct schema_field rows[] = {
	F(PREFERENCE, "apiVersion",       STRING, REQUIRED),
	F(PREFERENCE, "kind",             STRING, REQUIRED),
	F(PREFERENCE, "metadata",         SCOPE, REQUIRED, BELOW(META)),
	F(PREFERENCE, "spec",             MAP,
		NOTE("what the machines that name it have where they do not say")),
	F(PREFERENCE, "status",           ANY, DROPPED),
	F(PREFERENCE, "spec.annotations",   MAP, NOTE("of each run")),
	F(PREFERENCE, "spec.annotations{}", STRING, KEY(LABEL_KEY)),

	F(PREFERENCE, "spec.clock",                               MAP),
	F(PREFERENCE, "spec.clock.preferredClockOffset",          MAP),
	F(PREFERENCE, "spec.clock.preferredClockOffset.timezone", AS,
		LIKE(SPEC, "domain.clock.timezone")),
	F(PREFERENCE, "spec.clock.preferredClockOffset.utc",      AS,
		LIKE(SPEC, "domain.clock.utc")),
	F(PREFERENCE, "spec.clock.preferredTimer",                AS,
		LIKE(SPEC, "domain.clock.timer")),

	F(PREFERENCE, "spec.cpu",                       MAP),
	F(PREFERENCE, "spec.cpu.preferredCPUFeatures",  AS, LIKE(SPEC, "domain.cpu.features")),
	F(PREFERENCE, "spec.cpu.preferredCPUTopology",  ENUM, ONE(TOPOLOGIES), DEFAULT("sockets"),
		NOTE("what the instancetype's vCPUs become")),
	F(PREFERENCE, "spec.cpu.spreadOptions",         MAP),
	F(PREFERENCE, "spec.cpu.spreadOptions.across",  ENUM, ONE(ACROSS),
		DEFAULT("SocketsCores")),
	F(PREFERENCE, "spec.cpu.spreadOptions.ratio",   INTEGER, RANGE(1, CPU_COUNT_MAX),
		DEFAULT("2")),
	F(PREFERENCE, "spec.preferSpreadSocketToCoreRatio", INTEGER, RANGE(0, CPU_COUNT_MAX),
		NOTE("the old form of cpu.spreadOptions.ratio")),

	F(PREFERENCE, "spec.devices",                                     MAP),
	F(PREFERENCE, "spec.devices.preferredAutoattachGraphicsDevice",   AS,
		LIKE(SPEC, DEVICES "autoattachGraphicsDevice")),
	F(PREFERENCE, "spec.devices.preferredAutoattachInputDevice",      AS,
		LIKE(SPEC, DEVICES "autoattachInputDevice")),
	F(PREFERENCE, "spec.devices.preferredAutoattachMemBalloon",       AS,
		LIKE(SPEC, DEVICES "autoattachMemBalloon")),
	F(PREFERENCE, "spec.devices.preferredAutoattachPodInterface",     AS,
		LIKE(SPEC, DEVICES "autoattachPodInterface")),
	F(PREFERENCE, "spec.devices.preferredAutoattachSerialConsole",    AS,
		LIKE(SPEC, DEVICES "autoattachSerialConsole")),
	F(PREFERENCE, "spec.devices.preferredBlockMultiQueue",            AS,
		LIKE(SPEC, DEVICES "blockMultiQueue")),
	F(PREFERENCE, "spec.devices.preferredCdromBus",                   AS,
		LIKE(SPEC, EACH_DISK "cdrom.bus")),
	F(PREFERENCE, "spec.devices.preferredDisableHotplug",             AS,
		LIKE(SPEC, DEVICES "disableHotplug")),
	F(PREFERENCE, "spec.devices.preferredDiskBlockSize",              AS,
		LIKE(SPEC, EACH_DISK "blockSize")),
	F(PREFERENCE, "spec.devices.preferredDiskBus",                    AS,
		LIKE(SPEC, EACH_DISK "disk.bus")),
	F(PREFERENCE, "spec.devices.preferredDiskCache",                  AS,
		LIKE(SPEC, EACH_DISK "cache")),
	F(PREFERENCE, "spec.devices.preferredDiskDedicatedIoThread",      AS,
		LIKE(SPEC, EACH_DISK "dedicatedIOThread")),
	F(PREFERENCE, "spec.devices.preferredDiskIO",                     AS,
		LIKE(SPEC, EACH_DISK "io")),
	F(PREFERENCE, "spec.devices.preferredInputBus",                   AS,
		LIKE(SPEC, DEVICES "inputs[].bus")),
	F(PREFERENCE, "spec.devices.preferredInputType",                  AS,
		LIKE(SPEC, DEVICES "inputs[].type")),
	F(PREFERENCE, "spec.devices.preferredInterfaceMasquerade",        AS,
		LIKE(SPEC, DEVICES "interfaces[].masquerade")),
	F(PREFERENCE, "spec.devices.preferredInterfaceModel",             AS,
		LIKE(SPEC, DEVICES "interfaces[].model")),
	F(PREFERENCE, "spec.devices.preferredLunBus",                     AS,
		LIKE(SPEC, EACH_DISK "lun.bus")),
	F(PREFERENCE, "spec.devices.preferredNetworkInterfaceMultiQueue", AS,
		LIKE(SPEC, DEVICES "networkInterfaceMultiqueue")),
	F(PREFERENCE, "spec.devices.preferredPanicDeviceModel",           AS,
		LIKE(SPEC, DEVICES "panicDevices[].model")),
	F(PREFERENCE, "spec.devices.preferredRng",                        AS,
		LIKE(SPEC, DEVICES "rng")),
	F(PREFERENCE, "spec.devices.preferredSoundModel",                 AS,
		LIKE(SPEC, DEVICES "sound.model")),
	F(PREFERENCE, "spec.devices.preferredTPM",                        AS,
		LIKE(SPEC, DEVICES "tpm")),
	F(PREFERENCE, "spec.devices.preferredUseVirtioTransitional",      AS,
		LIKE(SPEC, DEVICES "useVirtioTransitional")),
	F(PREFERENCE, "spec.devices.preferredVideoType",                  AS,
		LIKE(SPEC, DEVICES "video.type")),
	F(PREFERENCE, "spec.devices.preferredVirtualGPUOptions",          AS,
		LIKE(SPEC, DEVICES "gpus[].virtualGPUOptions")),

	F(PREFERENCE, "spec.features",                     MAP),
	F(PREFERENCE, "spec.features.preferredAcpi",       AS, LIKE(SPEC, FEATURES "acpi")),
	F(PREFERENCE, "spec.features.preferredApic",       AS, LIKE(SPEC, FEATURES "apic")),
	F(PREFERENCE, "spec.features.preferredHyperv",     AS, LIKE(SPEC, FEATURES "hyperv")),
	F(PREFERENCE, "spec.features.preferredKvm",        AS, LIKE(SPEC, FEATURES "kvm")),
	F(PREFERENCE, "spec.features.preferredPvspinlock", AS, LIKE(SPEC, FEATURES "pvspinlock")),
	F(PREFERENCE, "spec.features.preferredSmm",        AS, LIKE(SPEC, FEATURES "smm")),

	F(PREFERENCE, "spec.firmware",                        MAP),
	F(PREFERENCE, "spec.firmware.preferredEfi",           AS,
		LIKE(SPEC, "domain.firmware.bootloader.efi")),
	F(PREFERENCE, "spec.firmware.preferredUseBios",       BOOL),
	F(PREFERENCE, "spec.firmware.preferredUseBiosSerial", BOOL),
	F(PREFERENCE, "spec.firmware.preferredUseEfi",        BOOL,
		NOTE("the old form of preferredEfi")),
	F(PREFERENCE, "spec.firmware.preferredUseSecureBoot", BOOL,
		NOTE("the old form of preferredEfi.secureBoot")),

	F(PREFERENCE, "spec.machine",                                 MAP),
	F(PREFERENCE, "spec.machine.preferredMachineType",            STRING),
	F(PREFERENCE, "spec.preferredArchitecture",                   ENUM, ONE(ARCHITECTURES)),
	F(PREFERENCE, "spec.preferredLaunchSecurity",                 AS,
		LIKE(SPEC, "domain.launchSecurity")),
	F(PREFERENCE, "spec.preferredSubdomain",                      AS, LIKE(SPEC, "subdomain")),
	F(PREFERENCE, "spec.preferredTerminationGracePeriodSeconds",  AS,
		LIKE(SPEC, "terminationGracePeriodSeconds")),

	F(PREFERENCE, "spec.requirements",              MAP,
		NOTE("a machine that has less is refused")),
	F(PREFERENCE, "spec.requirements.architecture", ENUM, ONE(ARCHITECTURES)),
	F(PREFERENCE, "spec.requirements.cpu",          MAP),
	F(PREFERENCE, "spec.requirements.cpu.guest",    INTEGER, REQUIRED, RANGE(0, VCPUS_MAX)),
	F(PREFERENCE, "spec.requirements.memory",       MAP),
	F(PREFERENCE, "spec.requirements.memory.guest", QUANTITY, REQUIRED),

	F(PREFERENCE, "spec.volumes",                            MAP),
	F(PREFERENCE, "spec.volumes.preferredStorageClassName",  STRING,
		IGNORED("a host has no storage classes")),
};
/* clang-format on */

const struct schema_table schema_preference = { rows, ARRAY_SIZE(rows) };
