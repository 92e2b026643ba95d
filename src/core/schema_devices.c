/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A domain's devices but disks and interfaces.
 */
#include "core/schema_rows.h"

#define NO_TAG      "cloud-init is not told of the host's devices in this version"
#define NO_CLAIMS   "there is no dynamic resource allocation; give deviceName"
#define VIDEO_TYPES "vga|cirrus|virtio|ramfb|bochs"

/* clang-format off */
static const struct schema_field rows[] = {
	F(SPEC, "domain.devices",                            MAP),
	F(SPEC, "domain.devices.autoattachGraphicsDevice",   BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.autoattachInputDevice",      BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.autoattachMemBalloon",       BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.autoattachPodInterface",     BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.autoattachSerialConsole",    BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.autoattachVSOCK",            BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.blockMultiQueue",            BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.clientPassthrough",          MAP,
		REFUSED("a client's USB devices cannot be given to a guest")),
	F(SPEC, "domain.devices.disableHotplug",             BOOL,
		IGNORED("nothing is plugged into a running guest in this version")),
	F(SPEC, "domain.devices.downwardMetrics",            MAP,
		REFUSED("read the guest's figures on the host")),
	F(SPEC, "domain.devices.filesystems",                LIST, REFUSED("give data on a disk")),
	F(SPEC, "domain.devices.gpus",                       LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "domain.devices.gpus[]",                     MAP),
	F(SPEC, "domain.devices.gpus[].name",                STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "domain.devices.gpus[].deviceName",          STRING, REQUIRED, RULE(RESOURCE)),
	F(SPEC, "domain.devices.gpus[].tag",                 STRING, IGNORED(NO_TAG)),
	F(SPEC, "domain.devices.gpus[].virtualGPUOptions",   MAP),
	F(SPEC, "domain.devices.gpus[].virtualGPUOptions.display", MAP),
	F(SPEC, "domain.devices.gpus[].virtualGPUOptions.display.enabled", BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.gpus[].virtualGPUOptions.display.ramFB", MAP),
	F(SPEC, "domain.devices.gpus[].virtualGPUOptions.display.ramFB.enabled", BOOL,
		DEFAULT("true")),
	F(SPEC, "domain.devices.gpus[].claimName",           STRING, REFUSED(NO_CLAIMS)),
	F(SPEC, "domain.devices.gpus[].requestName",         STRING, REFUSED(NO_CLAIMS)),
	F(SPEC, "domain.devices.hostDevices",                LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "domain.devices.hostDevices[]",              MAP),
	F(SPEC, "domain.devices.hostDevices[].name",         STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "domain.devices.hostDevices[].deviceName",   STRING, REQUIRED, RULE(RESOURCE)),
	F(SPEC, "domain.devices.hostDevices[].tag",          STRING, IGNORED(NO_TAG)),
	F(SPEC, "domain.devices.hostDevices[].claimName",    STRING, REFUSED(NO_CLAIMS)),
	F(SPEC, "domain.devices.hostDevices[].requestName",  STRING, REFUSED(NO_CLAIMS)),
	F(SPEC, "domain.devices.inputs",                     LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "domain.devices.inputs[]",                   MAP),
	F(SPEC, "domain.devices.inputs[].name",              STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "domain.devices.inputs[].bus",               ENUM, ONE("usb|virtio"),
		DEFAULT("usb")),
	F(SPEC, "domain.devices.inputs[].type",              ENUM, ONE("tablet"),
		DEFAULT("tablet")),
	F(SPEC, "domain.devices.logSerialConsole",           BOOL,
		IGNORED("what a serial console says is always logged")),
	F(SPEC, "domain.devices.networkInterfaceMultiqueue", BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.panicDevices",               LIST, RANGE(0, PANIC_DEVICES_MAX)),
	F(SPEC, "domain.devices.panicDevices[]",             MAP),
	F(SPEC, "domain.devices.panicDevices[].model",       ENUM, ONE(PANIC_MODELS(ONE_OF)),
		DEFAULT("isa")),
	F(SPEC, "domain.devices.rng",                        MAP),
	F(SPEC, "domain.devices.sound",                      MAP),
	F(SPEC, "domain.devices.sound.name",                 STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "domain.devices.sound.model",                ENUM, ONE("ich9|ac97"),
		DEFAULT("ich9")),
	F(SPEC, "domain.devices.tpm",                        MAP),
	F(SPEC, "domain.devices.tpm.enabled",                BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.tpm.persistent",             BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.useVirtioTransitional",      BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.video",                      MAP),
	F(SPEC, "domain.devices.video.type",                 ENUM, ONE(VIDEO_TYPES)),
	F(SPEC, "domain.devices.watchdog",                   MAP),
	F(SPEC, "domain.devices.watchdog.name",              STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "domain.devices.watchdog.i6300esb",          MAP),
	F(SPEC, "domain.devices.watchdog.i6300esb.action",   ENUM, ONE("poweroff|reset|shutdown"),
		DEFAULT("reset")),
	F(SPEC, "domain.devices.watchdog.diag288",           MAP,
		REFUSED("it is of another architecture; use i6300esb")),
};
/* clang-format on */

const struct schema_table schema_devices = { rows, ARRAY_SIZE(rows) };
