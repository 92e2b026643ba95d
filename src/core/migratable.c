/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KubeVirt's checks in KubeVirt's order, and that of what is allocated on this host only; the CPU
 * check asks whether the node knows its own host-model, which a host with libvirt always does.
 */
#include "core/migratable.h"

#include <string.h>

#define BRIDGE_ALLOWED "kubevirt.io/allow-pod-bridge-network-live-migration"

static bool is_readonly(const struct vmi_spec *spec, const struct volume *volume)
{
	for (size_t i = 0; i < spec->n_disks; i++) {
		const struct disk *disk = &spec->disks[i];

		if (streq(disk->name, volume->name))
			return disk->readonly || disk->device == DISK_DEVICE_CDROM;
	}
	return false;
}

/* What is on this host only is copied, unless nobody writes to it. */
static bool is_copied(const struct vmi_spec *spec, const struct volume *volume)
{
	if (volume->as_folder)
		return false;
	if (volume->kind == VOLUME_HOST_DISK)
		return !volume->shared;
	return !is_readonly(spec, volume);
}

/* Words why not, or NULL; owned by the caller. */
static char *check_interfaces(const struct vmi *vmi)
{
	const char *annotations = vmi->meta.annotations ? vmi->meta.annotations : "";

	if (strstr(annotations, "\"" BRIDGE_ALLOWED "\""))
		return NULL;
	for (size_t i = 0; i < vmi->typed.n_interfaces; i++) {
		const struct interface *nic = &vmi->typed.interfaces[i];

		if (nic->binding == BINDING_BRIDGE && !nic->network)
			return xasprintf("interface '%s' is bridged to the pod network: use masquerade, or "
					 "annotate it with " BRIDGE_ALLOWED,
				nic->name);
	}
	return NULL;
}

/* Words why not, or NULL; owned by the caller. */
static char *check_devices(const struct vmi *vmi)
{
	for (size_t i = 0; i < vmi->typed.n_interfaces; i++) {
		if (vmi->typed.interfaces[i].binding == BINDING_SRIOV)
			return xasprintf("interface '%s' is a device of this host (sriov)",
				vmi->typed.interfaces[i].name);
	}
	if (vmi->typed.n_devices)
		return xasprintf("%s '%s' is a device of this host",
			vmi->typed.devices[0].gpu ? "gpu" : "hostDevice",
			vmi->typed.devices[0].name);
	if (vmi->typed.vsock)
		return xstrdup("autoattachVSOCK: its CID is this host's");
	return NULL;
}

/* Words why not, or NULL; owned by the caller. */
static char *check_cpus(const struct vmi *vmi)
{
	if (!vmi->typed.dedicated)
		return NULL;
	return xstrdup("dedicatedCpuPlacement: its CPUs are this host's");
}

static bool has_hyperv(const struct vmi *vmi, enum hyperv_feature feature)
{
	return vmi->typed.features.hyperv.features[feature] == TOGGLE_ON;
}

static char *check_tsc(const struct vmi *vmi)
{
	if (!has_hyperv(vmi, HYPERV_REENLIGHTENMENT))
		return NULL;
	return xstrdup(
		"hyperv.reenlightenment needs the same TSC frequency everywhere, and what this "
		"host's is is not known");
}

static char *check_hyperv(const struct vmi *vmi)
{
	if (!vmi->typed.features.hyperv.passthrough)
		return NULL;
	return xstrdup("hypervPassthrough shows the guest what only this host has");
}

static char *check_launch(const struct vmi *vmi)
{
	if (vmi->typed.launch.kind == LAUNCH_NONE)
		return NULL;
	return xstrdup("launchSecurity binds the guest's memory to this host");
}

static char *check_disks(const struct vmi *vmi)
{
	for (size_t i = 0; i < vmi->typed.n_volumes; i++) {
		const struct volume *volume = &vmi->typed.volumes[i];

		if (volume->kind == VOLUME_HOST_DISK && !volume->shared)
			return xasprintf("hostDisk '%s' is not on shared storage (shared: true)",
				volume->name);
		if (volume->kind == VOLUME_CLAIM && !volume->shared)
			return xasprintf("PersistentVolumeClaim '%s' is not shared (accessModes: "
					 "ReadWriteMany)",
				volume->claim);
	}
	return NULL;
}

/* QEMU cannot hand over what virtiofsd knows of open files (before its version 8). */
static char *check_folders(const struct vmi *vmi)
{
	for (size_t i = 0; i < vmi->typed.n_volumes; i++)
		if (vmi->typed.volumes[i].as_folder)
			return xasprintf("filesystem '%s' is served by this host (virtiofs)",
				vmi->typed.volumes[i].name);
	return NULL;
}

/* libvirt chooses firmware for a guest that boots, not for one that arrives (the daemon of its
 * version 9.0 crashes): the target has to be told which one it is. */
static char *check_firmware(const struct vmi *vmi)
{
	if (vmi->typed.bootloader == BOOTLOADER_BIOS || vmi->firmware ||
		vmi->phase != PHASE_RUNNING)
		return NULL;
	return xstrdup(
		"firmware.bootloader.efi: a target cannot be told which firmware it is: libvirt "
		"shows none that keeps its variables in a file");
}

/* clang-format off */
static const struct {
	const char *reason;
	char *(*check)(const struct vmi *vmi);
	bool storage; /* counts for a migration of the storage, too */
} checks[] = { /* the first failure is the reason */
	{ "InterfaceNotLiveMigratable",         check_interfaces, true },
	{ "HostDeviceNotLiveMigratable",        check_devices,    true },
	{ "DedicatedCPUNotLiveMigratable",      check_cpus,       true },
	{ "NoTSCFrequencyNotLiveMigratable",    check_tsc,        true },
	{ "HypervPassthroughNotLiveMigratable", check_hyperv,     true },
	{ "SEVNotLiveMigratable",               check_launch,     true },
	{ "FirmwareNotLiveMigratable",          check_firmware,   true },
	{ "DisksNotLiveMigratable",             check_folders,    true },
	{ "DisksNotLiveMigratable",             check_disks,      false },
};
/* clang-format on */

void migratable_of(const struct vmi *vmi, struct migratable *ret)
{
	*ret = (struct migratable){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		autofree char *why = checks[i].check(vmi);

		if (why && checks[i].storage && !ret->storage)
			ret->storage = xstrdup(why);
		if (!why || ret->reason)
			continue;
		ret->reason = checks[i].reason;
		ret->message = take(&why);
	}
	for (size_t i = 0; i < vmi->typed.n_volumes; i++)
		ret->block |= is_copied(&vmi->typed, &vmi->typed.volumes[i]);
}

void migratable_findings(const struct vmi *vmi, struct findings *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		autofree char *why = checks[i].check(vmi);

		if (why)
			findings_add(ret, NULL, checks[i].reason, "%s", why);
	}
}

void migratable_done(struct migratable *m)
{
	free(m->message);
	free(m->storage);
	*m = (struct migratable){ 0 };
}
