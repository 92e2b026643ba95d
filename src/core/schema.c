/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of the fields that this version knows. A field that is not in it is refused by its
 * name; a later issue that brings a field adds its row here.
 *
 * Owns constants only. Rules that concern more than one field lie in rules.c and rules_devices.c.
 */
#include "core/schema.h"

#include <vmagent/model.h>

#include "core/names.h"

#define ONE_OF(c, text)     text "|"
#define NIC_MODELS          "virtio|e1000|e1000e|igb|ne2k_pci|pcnet|rtl8139"
#define PULL_POLICIES       "Always|IfNotPresent|Never"
#define PULL_NOTE           "images are local files in this version"
/* WaitAsReceiver is set by a migration, never by a manifest. */
#define MANIFEST_STRATEGIES "Always|RerunOnFailure|Manual|Halted|Once"

#define F(where, at, what, ...)                                                      \
	{                                                                            \
		.scope = SCOPE_##where, .path = at, .type = TYPE_##what, __VA_ARGS__ \
	}
#define REQUIRED        .required = true
#define RULE(name)      .rule = RULE_##name
#define BELOW(scope)    .below = SCOPE_##scope
#define RANGE(from, to) .min = from, .max = to
#define ONE(list)       .values = list
#define TREAT(how)      .treat = TREAT_##how
#define DEFAULT(text)   .fallback = text
#define NOTE(text)      .note = text

/* clang-format off */
const struct schema_field schema_fields[] = {
	F(VM, "apiVersion", STRING, REQUIRED),
	F(VM, "kind", STRING, REQUIRED),
	F(VM, "metadata", SCOPE, REQUIRED, BELOW(META)),
	F(VM, "spec", MAP, REQUIRED),
	F(VM, "spec.runStrategy", ENUM, ONE(MANIFEST_STRATEGIES)),
	F(VM, "spec.running", BOOL, NOTE("the old form of runStrategy: true is Always, false Halted")),
	F(VM, "spec.template", MAP, REQUIRED),
	F(VM, "spec.template.metadata", SCOPE, BELOW(TEMPLATE_META)),
	F(VM, "spec.template.spec", SCOPE, REQUIRED, BELOW(SPEC)),
	F(VM, "status", ANY, TREAT(DROPPED)),

	F(VMI, "apiVersion", STRING, REQUIRED),
	F(VMI, "kind", STRING, REQUIRED),
	F(VMI, "metadata", SCOPE, REQUIRED, BELOW(META)),
	F(VMI, "spec", SCOPE, REQUIRED, BELOW(SPEC)),
	F(VMI, "status", ANY, TREAT(DROPPED)),

	F(META, "name", STRING, REQUIRED, RULE(NAME)),
	F(META, "namespace", STRING, RULE(LABEL), DEFAULT("default")),
	F(META, "labels", MAP),
	F(META, "labels{}", STRING, RULE(LABEL_VALUE), .key_rule = RULE_LABEL_KEY),
	F(META, "annotations", MAP),
	F(META, "annotations{}", STRING, .key_rule = RULE_LABEL_KEY),
	F(META, "generateName", STRING, TREAT(REFUSED), NOTE("give a name")),
	F(META, "uid", ANY, TREAT(DROPPED)),
	F(META, "resourceVersion", ANY, TREAT(DROPPED)),
	F(META, "generation", ANY, TREAT(DROPPED)),
	F(META, "creationTimestamp", ANY, TREAT(DROPPED)),
	F(META, "deletionTimestamp", ANY, TREAT(DROPPED)),
	F(META, "deletionGracePeriodSeconds", ANY, TREAT(DROPPED)),
	F(META, "finalizers", ANY, TREAT(DROPPED)),
	F(META, "managedFields", ANY, TREAT(DROPPED)),
	F(META, "ownerReferences", ANY, TREAT(DROPPED)),
	F(META, "selfLink", ANY, TREAT(DROPPED)),

	F(TEMPLATE_META, "name", STRING, TREAT(IGNORED), RULE(NAME)),
	F(TEMPLATE_META, "namespace", STRING, TREAT(IGNORED), RULE(LABEL)),
	F(TEMPLATE_META, "labels", MAP),
	F(TEMPLATE_META, "labels{}", STRING, RULE(LABEL_VALUE), .key_rule = RULE_LABEL_KEY),
	F(TEMPLATE_META, "annotations", MAP),
	F(TEMPLATE_META, "annotations{}", STRING, .key_rule = RULE_LABEL_KEY),
	F(TEMPLATE_META, "creationTimestamp", ANY, TREAT(DROPPED)),

	F(SPEC, "architecture", ENUM, ONE("amd64")),
	F(SPEC, "startStrategy", ENUM, ONE("Paused")),
	F(SPEC, "terminationGracePeriodSeconds", INTEGER, RANGE(0, GRACE_MAX_S), DEFAULT("30")),
	F(SPEC, "domain", MAP, REQUIRED),
	F(SPEC, "domain.cpu", MAP),
	F(SPEC, "domain.cpu.cores", INTEGER, RANGE(0, CPU_COUNT_MAX), DEFAULT("1")),
	F(SPEC, "domain.cpu.sockets", INTEGER, RANGE(0, CPU_COUNT_MAX), DEFAULT("1")),
	F(SPEC, "domain.cpu.threads", INTEGER, RANGE(0, CPU_COUNT_MAX), DEFAULT("1")),
	F(SPEC, "domain.cpu.model", STRING, RULE(CPU_MODEL), DEFAULT(DEFAULT_CPU_MODEL)),
	F(SPEC, "domain.memory", MAP),
	F(SPEC, "domain.memory.guest", QUANTITY),
	F(SPEC, "domain.resources", MAP),
	F(SPEC, "domain.resources.requests", MAP),
	F(SPEC, "domain.resources.requests.memory", QUANTITY),
	F(SPEC, "domain.resources.requests.cpu", QUANTITY, RANGE(0, VCPUS_MAX)),
	F(SPEC, "domain.resources.limits", MAP),
	F(SPEC, "domain.resources.limits.memory", QUANTITY),
	F(SPEC, "domain.resources.limits.cpu", QUANTITY, RANGE(0, VCPUS_MAX)),
	F(SPEC, "domain.machine", MAP),
	F(SPEC, "domain.machine.type", STRING, RULE(MACHINE), DEFAULT(DEFAULT_MACHINE)),
	F(SPEC, "domain.firmware", MAP),
	F(SPEC, "domain.firmware.uuid", STRING, RULE(UUID), DEFAULT("made once and kept")),
	F(SPEC, "domain.firmware.serial", STRING, RULE(FIRMWARE_SERIAL)),
	F(SPEC, "domain.firmware.bootloader", MAP),
	F(SPEC, "domain.firmware.bootloader.bios", MAP),
	F(SPEC, "domain.firmware.bootloader.efi", MAP),
	F(SPEC, "domain.firmware.bootloader.efi.secureBoot", BOOL, DEFAULT("true")),
	F(SPEC, "domain.firmware.kernelBoot", MAP),
	F(SPEC, "domain.firmware.kernelBoot.kernelArgs", STRING, RULE(KERNEL_ARGS)),
	F(SPEC, "domain.firmware.kernelBoot.container", MAP),
	F(SPEC, "domain.firmware.kernelBoot.container.image", STRING, REQUIRED, RULE(IMAGE)),
	F(SPEC, "domain.firmware.kernelBoot.container.kernelPath", STRING, RULE(INNER_PATH)),
	F(SPEC, "domain.firmware.kernelBoot.container.initrdPath", STRING, RULE(INNER_PATH)),
	F(SPEC, "domain.firmware.kernelBoot.container.imagePullPolicy", ENUM, ONE(PULL_POLICIES),
		TREAT(IGNORED), NOTE(PULL_NOTE)),
	F(SPEC, "domain.features", MAP),
	F(SPEC, "domain.features.acpi", MAP),
	F(SPEC, "domain.features.acpi.enabled", BOOL, DEFAULT("true")),
	F(SPEC, "domain.features.smm", MAP),
	F(SPEC, "domain.features.smm.enabled", BOOL, DEFAULT("true")),

	F(SPEC, "domain.devices", MAP),
	F(SPEC, "domain.devices.autoattachGraphicsDevice", BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.autoattachPodInterface", BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.autoattachSerialConsole", BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.rng", MAP),
	F(SPEC, "domain.devices.panicDevices", LIST, RANGE(0, PANIC_DEVICES_MAX)),
	F(SPEC, "domain.devices.panicDevices[]", MAP),
	F(SPEC, "domain.devices.panicDevices[].model", ENUM, ONE(PANIC_MODELS(ONE_OF)), DEFAULT("isa")),
	F(SPEC, "domain.devices.disks", LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "domain.devices.disks[]", MAP),
	F(SPEC, "domain.devices.disks[].name", STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "domain.devices.disks[].bootOrder", INTEGER, RANGE(1, BOOT_ORDER_MAX)),
	F(SPEC, "domain.devices.disks[].serial", STRING, RULE(DISK_SERIAL)),
	F(SPEC, "domain.devices.disks[].cache", ENUM, ONE(DISK_CACHES(ONE_OF))),
	F(SPEC, "domain.devices.disks[].disk", MAP),
	F(SPEC, "domain.devices.disks[].disk.bus", ENUM, ONE(DISK_BUSES(ONE_OF)), DEFAULT(DEFAULT_DISK_BUS)),
	F(SPEC, "domain.devices.disks[].disk.readonly", BOOL, DEFAULT("false")),
	F(SPEC, "domain.devices.disks[].cdrom", MAP),
	F(SPEC, "domain.devices.disks[].cdrom.bus", ENUM, ONE(DISK_BUSES(ONE_OF)), DEFAULT(DEFAULT_DISK_BUS)),
	F(SPEC, "domain.devices.disks[].cdrom.readonly", BOOL, DEFAULT("true")),
	F(SPEC, "domain.devices.disks[].cdrom.tray", ENUM, ONE("closed"), DEFAULT("closed")),
	F(SPEC, "domain.devices.disks[].lun", MAP, TREAT(REFUSED), NOTE("use disk or cdrom")),
	F(SPEC, "domain.devices.interfaces", LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "domain.devices.interfaces[]", MAP),
	F(SPEC, "domain.devices.interfaces[].name", STRING, REQUIRED, RULE(INTERFACE)),
	F(SPEC, "domain.devices.interfaces[].model", ENUM, ONE(NIC_MODELS), DEFAULT(DEFAULT_NIC_MODEL)),
	F(SPEC, "domain.devices.interfaces[].macAddress", STRING, RULE(MAC)),
	F(SPEC, "domain.devices.interfaces[].bootOrder", INTEGER, RANGE(1, BOOT_ORDER_MAX)),
	F(SPEC, "domain.devices.interfaces[].masquerade", MAP),
	F(SPEC, "domain.devices.interfaces[].bridge", MAP),

	F(SPEC, "networks", LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "networks[]", MAP),
	F(SPEC, "networks[].name", STRING, REQUIRED, RULE(INTERFACE)),
	F(SPEC, "networks[].pod", MAP),

	F(SPEC, "volumes", LIST, RANGE(0, SPEC_LIST_MAX)),
	F(SPEC, "volumes[]", MAP),
	F(SPEC, "volumes[].name", STRING, REQUIRED, RULE(LABEL)),
	F(SPEC, "volumes[].containerDisk", MAP),
	F(SPEC, "volumes[].containerDisk.image", STRING, REQUIRED, RULE(IMAGE)),
	F(SPEC, "volumes[].containerDisk.imagePullPolicy", ENUM, ONE(PULL_POLICIES), TREAT(IGNORED),
		NOTE(PULL_NOTE)),
	F(SPEC, "volumes[].emptyDisk", MAP),
	F(SPEC, "volumes[].emptyDisk.capacity", QUANTITY, REQUIRED, RANGE(1, 0)),
	F(SPEC, "volumes[].hostDisk", MAP),
	F(SPEC, "volumes[].hostDisk.path", STRING, REQUIRED, RULE(PATH)),
	F(SPEC, "volumes[].hostDisk.type", ENUM, REQUIRED, ONE("Disk|DiskOrCreate")),
	F(SPEC, "volumes[].hostDisk.capacity", QUANTITY, RANGE(1, 0)),
	F(SPEC, "volumes[].hostDisk.shared", BOOL, DEFAULT("false")),
};
/* clang-format on */
const size_t schema_n_fields = ARRAY_SIZE(schema_fields);

static const struct {
	bool (*holds)(const char *text);
	const char *words;
} rules[] = {
#define X(c, holds, words) [RULE_##c] = { holds, words },
	SCHEMA_RULES(X)
#undef X
};

bool schema_rule_holds(enum schema_rule rule, const char *text)
{
	return !rules[rule].holds || rules[rule].holds(text);
}

const char *schema_rule_words(enum schema_rule rule)
{
	return rules[rule].words ? rules[rule].words : "a string";
}
