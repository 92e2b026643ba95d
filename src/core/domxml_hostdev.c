/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the host one domain has to itself: its CPUs, its devices, its CID. What is not allocated
 * is not written, so that libvirt chooses nothing by itself.
 */
#include "core/domxml_write.h"

#include <stdio.h>
#include <string.h>

#include "core/holding.h"

/* ---- CPUs ------------------------------------------------------------------------------------ */

static bool has_cpus(const struct vmi_spec *spec, const struct domain_context *context)
{
	return spec->dedicated && context->holding && context->holding->n_cpus;
}

char *domain_cpus(const struct vmi_spec *spec, const struct domain_context *context)
{
	struct cpu_set set = { { 0 } };

	if (!has_cpus(spec, context))
		return spec->dedicated ? NULL : xstrdup(context->shared_cpus);
	for (size_t i = 0; i < context->holding->n_cpus; i++)
		cpu_set_add(&set, context->holding->cpus[i]);
	return cpu_set_text(&set);
}

/* Without KVM libvirt does not tell one vCPU's thread from another: there <vcpu cpuset> is all
 * that it can do. */
bool domain_has_pins(const struct vmi_spec *spec, const struct domain_context *context)
{
	return context->kvm && has_cpus(spec, context);
}

static void pin(xmlTextWriterPtr w, const char *element, const char *which, int64_t number,
	unsigned cpu)
{
	xml_open(w, element);
	if (which)
		xml_attr_int(w, which, number);
	xml_attr_int(w, "cpuset", cpu);
	xml_close(w);
}

static void realtime(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	struct cpu_set set = { { 0 } };
	autofree char *text = NULL;

	if (!spec->realtime_mask || !cpu_set_parse(spec->realtime_mask, &set))
		for (unsigned i = 0; i < spec->sockets * spec->cores * spec->threads; i++)
			cpu_set_add(&set, MIN(i, CPU_SET_MAX - 1U));
	text = cpu_set_text(&set);
	xml_empty(w, "vcpusched", "vcpus", text, "scheduler", "fifo", "priority", "1", NULL);
}

/* The threads of disks go where the emulator's are, if those have a CPU of their own. */
void domain_pins(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	const struct holding *has = context->holding;
	size_t vcpus = MIN(has->n_cpus, spec->sockets * spec->cores * spec->threads);
	unsigned last = has->cpus[has->n_cpus - 1];

	for (size_t i = 0; i < vcpus; i++)
		pin(w, "vcpupin", "vcpu", (int64_t)i, has->cpus[i]);
	if (spec->isolate_emulator) {
		pin(w, "emulatorpin", NULL, 0, last);
		for (unsigned i = 1; i <= domain_io_threads(spec); i++)
			pin(w, "iothreadpin", "iothread", i, last);
	}
	if (spec->realtime)
		realtime(w, spec);
}

void domain_numatune(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	autofree char *node = NULL;

	if (!spec->numa_passthrough || !context->holding || context->holding->node < 0)
		return;
	node = xasprintf("%d", context->holding->node);
	xml_open(w, "numatune");
	xml_empty(w, "memory", "mode", "strict", "nodeset", node, NULL);
	xml_close(w);
}

/* ---- devices --------------------------------------------------------------------------------- */

static void usb_id(xmlTextWriterPtr w, const char *element, const char *digits)
{
	autofree char *id = xasprintf("0x%.4s", digits);

	xml_empty(w, element, "id", id, NULL);
}

static void source(xmlTextWriterPtr w, enum host_device_kind kind, const char *address)
{
	xml_open(w, "source");
	switch (kind) {
	case HOST_DEVICE_PCI:
		xml_pci_source(w, address);
		break;
	case HOST_DEVICE_USB:
		usb_id(w, "vendor", address);
		usb_id(w, "product", address + 5);
		break;
	case HOST_DEVICE_MDEV:
		xml_empty(w, "address", "uuid", address, NULL);
		break;
	case HOST_DEVICE_KIND_MAX:
		break;
	}
	xml_close(w);
}

/* A mediated GPU shows its picture where the guest has a display, unless told not to; the
 * firmware's comes from the first one. */
static void mediated(xmlTextWriterPtr w, const struct vmi_spec *spec, const struct device_ask *ask,
	bool first)
{
	bool shows = ask->gpu && spec->graphics && ask->display != TOGGLE_OFF &&
		(first || ask->display == TOGGLE_ON);

	xml_attr(w, "model", "vfio-pci");
	xml_attr(w, "display", shows ? "on" : NULL);
	xml_attr(w, "ramfb", shows && first && ask->ramfb != TOGGLE_OFF ? "on" : NULL);
}

static void host_device(xmlTextWriterPtr w, const struct vmi_spec *spec, size_t i, const char *key)
{
	const struct device_ask *ask = &spec->devices[i];
	autofree char *alias =
		xasprintf("%s%s", ask->gpu ? GPU_ALIAS : HOST_DEVICE_ALIAS, ask->name);
	enum host_device_kind kind;
	const char *address = device_address(key, &kind);

	if (!address)
		return;
	xml_open(w, "hostdev");
	xml_attr(w, "mode", "subsystem");
	xml_attr(w, "type", host_device_kind_name(kind));
	if (kind == HOST_DEVICE_PCI)
		xml_attr(w, "managed", "yes");
	if (kind == HOST_DEVICE_MDEV)
		mediated(w, spec, ask, i == 0);
	source(w, kind, address);
	xml_alias(w, alias);
	xml_close(w);
}

static size_t count_devices(const struct vmi_spec *spec, const struct domain_context *context)
{
	return context->holding ? MIN(context->holding->n_devices, spec->n_devices) : 0;
}

bool domain_has_usb_device(const struct vmi_spec *spec, const struct domain_context *context)
{
	enum host_device_kind kind;

	for (size_t i = 0; i < count_devices(spec, context); i++)
		if (device_address(context->holding->devices[i], &kind) && kind == HOST_DEVICE_USB)
			return true;
	return false;
}

static void vsock(xmlTextWriterPtr w, const struct vmi_spec *spec, unsigned cid)
{
	xml_open(w, "vsock");
	xml_attr(w, "model", xml_virtio(spec));
	xml_open(w, "cid");
	xml_attr(w, "auto", "no");
	xml_attr_int(w, "address", cid);
	xml_close(w);
	xml_close(w);
}

void domain_host_devices(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	for (size_t i = 0; i < count_devices(spec, context); i++)
		host_device(w, spec, i, context->holding->devices[i]);
	if (spec->vsock && context->holding && context->holding->cid)
		vsock(w, spec, context->holding->cid);
}
