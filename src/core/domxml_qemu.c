/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the libvirt of Debian 12 has no words for, said to QEMU itself through libvirt's own
 * namespace for it. Libvirt marks such a domain as tainted, in its log only; so nothing
 * else goes this way.
 */
#include "core/domxml_write.h"

/* Of any CPU model, and only KVM can do it. */
#define FLUSH_DIRECT   "x86_64-cpu.hv-tlbflush-direct=on"
#define FLUSH_EXTENDED "x86_64-cpu.hv-tlbflush-ext=on"

static bool flushes(const struct vmi_spec *spec, bool kvm)
{
	return kvm && spec->features.hyperv.features[HYPERV_TLBFLUSH] == TOGGLE_ON;
}

static bool has_arguments(const struct vmi_spec *spec, bool kvm)
{
	const struct hyperv *hyperv = &spec->features.hyperv;

	return flushes(spec, kvm) &&
		(hyperv->flush_direct == TOGGLE_ON || hyperv->flush_extended == TOGGLE_ON);
}

static bool has_properties(const struct vmi_spec *spec)
{
	for (size_t i = 0; i < spec->n_disks; i++)
		if (spec->disks[i].discard_granularity)
			return true;
	return false;
}

bool domain_has_qemu(const struct vmi_spec *spec, bool kvm)
{
	return has_arguments(spec, kvm) || has_properties(spec);
}

static void global(xmlTextWriterPtr w, const char *value)
{
	xml_empty(w, "qemu:arg", "value", "-global", NULL);
	xml_empty(w, "qemu:arg", "value", value, NULL);
}

static void arguments(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	xml_open(w, "qemu:commandline");
	if (spec->features.hyperv.flush_direct == TOGGLE_ON)
		global(w, FLUSH_DIRECT);
	if (spec->features.hyperv.flush_extended == TOGGLE_ON)
		global(w, FLUSH_EXTENDED);
	xml_close(w);
}

static void granularity(xmlTextWriterPtr w, const struct disk *disk)
{
	autofree char *alias = xasprintf(ALIAS_PREFIX "%s", disk->name);
	autofree char *size = xasprintf("%u", disk->discard_granularity);

	xml_open(w, "qemu:device");
	xml_attr(w, "alias", alias);
	xml_open(w, "qemu:frontend");
	xml_empty(w, "qemu:property", "name", "discard_granularity", "type", "unsigned", "value",
		size, NULL);
	xml_close(w);
	xml_close(w);
}

static void properties(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	xml_open(w, "qemu:override");
	for (size_t i = 0; i < spec->n_disks; i++)
		if (spec->disks[i].discard_granularity)
			granularity(w, &spec->disks[i]);
	xml_close(w);
}

void domain_qemu(xmlTextWriterPtr w, const struct vmi_spec *spec, bool kvm)
{
	if (has_arguments(spec, kvm))
		arguments(w, spec);
	if (has_properties(spec))
		properties(w, spec);
}
