/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of a run's domain. Only what the spec asks for, plus KubeVirt's constants (semantics
 * §9.5): no USB controller unless a USB device needs one, a virtio balloon.
 */
#include "core/domxml_write.h"

const char *xml_virtio(const struct vmi_spec *spec)
{
	return spec->transitional ? VIRTIO_TRANSITIONAL : "virtio";
}

static void controllers(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	bool usb = domain_has_bus(spec, DISK_BUS_USB) || domain_has_usb_device(spec, context);

	for (size_t i = 0; i < spec->n_inputs; i++)
		usb |= !spec->inputs[i].virtio;

	xml_empty(w, "controller", "type", "usb", "model", usb ? "qemu-xhci" : "none", NULL);
	if (domain_has_bus(spec, DISK_BUS_SCSI))
		xml_empty(w, "controller", "type", "scsi", "index", "0", "model",
			spec->transitional ? VIRTIO_TRANSITIONAL : "virtio-scsi", NULL);
	if (spec->transitional)
		xml_empty(w, "controller", "type", "virtio-serial", "index", "0", "model",
			VIRTIO_TRANSITIONAL, NULL);
}

/*
 * QEMU listens on a socket in the run's folder, whose path is the same for the whole run,
 * and writes all output to a log beside it, whether or not somebody is attached, unless the
 * spec says not to.
 */
static void serial_console(xmlTextWriterPtr w, const char *directory, bool logged)
{
	autofree char *path = xasprintf("%s/" DOMAIN_CONSOLE_FILE, directory);
	autofree char *log = xasprintf("%s/" DOMAIN_CONSOLE_LOG_FILE, directory);

	xml_open(w, "serial");
	xml_attr(w, "type", "unix");
	xml_empty(w, "source", "mode", "bind", "path", path, NULL);
	if (logged)
		xml_empty(w, "log", "file", log, "append", "on", NULL);
	xml_empty(w, "target", "type", "isa-serial", "port", "0", NULL);
	xml_close(w);
	xml_open(w, "console");
	xml_attr(w, "type", "unix");
	xml_empty(w, "target", "type", "serial", "port", "0", NULL);
	xml_close(w);
}

/*
 * Always there, so that an agent which is installed later is heard (KubeVirt does so too). Its
 * socket lies beside the console's: libvirt would make its path longer by the domain's name and id,
 * too long for an embedded libvirt's root of more than 25 characters.
 */
static void guest_agent(xmlTextWriterPtr w, const char *directory)
{
	autofree char *path = xasprintf("%s/" DOMAIN_AGENT_FILE, directory);

	xml_open(w, "channel");
	xml_attr(w, "type", "unix");
	xml_empty(w, "source", "mode", "bind", "path", path, NULL);
	xml_empty(w, "target", "type", "virtio", "name", DOMAIN_AGENT_CHANNEL, NULL);
	xml_close(w);
}

/* libvirt before 9.1 knows no PCI device for it: there the ISA one stands in, for guests are told
 * the same. */
static enum panic_model panic_model(const struct domain_context *context, enum panic_model model)
{
	return model == PANIC_MODEL_PVPANIC && !context->pvpanic ? PANIC_MODEL_ISA : model;
}

static void panic_devices(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	bool done[PANIC_MODEL_MAX] = { false }; /* libvirt takes one of each model */

	for (size_t i = 0; i < spec->n_panic_devices; i++) {
		enum panic_model model = panic_model(context, spec->panic_devices[i]);

		if (!done[model])
			xml_empty(w, "panic", "model", panic_model_name(model), NULL);
		done[model] = true;
	}
}

static const char *video_type(const struct vmi_spec *spec)
{
	if (!spec->graphics)
		return "none";
	if (spec->video)
		return spec->video;
	return spec->bootloader != BOOTLOADER_BIOS ? DOMAIN_VIDEO_EFI : DOMAIN_VIDEO_BIOS;
}

/* Only these take their memory from the host's word for it. */
static bool video_has_memory(const char *type)
{
	return streq(type, "vga") || streq(type, "bochs") || streq(type, "cirrus");
}

static void video(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	const char *type = video_type(spec);

	xml_open(w, "video");
	xml_open(w, "model");
	xml_attr(w, "type", type);
	xml_attr(w, "vram", video_has_memory(type) ? DOMAIN_VIDEO_KIB : NULL);
	xml_attr(w, "heads", spec->graphics ? "1" : NULL);
	xml_close(w);
	xml_close(w);
}

/*
 * QEMU itself makes this socket, as the user that it runs as, so it cannot lie in the run's
 * folder, which is root's: libvirt puts it beside the monitor's, in the folder that it
 * makes for the domain.
 */
static void graphics(xmlTextWriterPtr w)
{
	xml_open(w, "graphics");
	xml_attr(w, "type", "vnc");
	xml_empty(w, "listen", "type", "socket", NULL);
	xml_close(w);
}

void domain_devices(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	xml_open(w, "devices");
	controllers(w, spec, context);
	domain_disks(w, spec, context->directory);
	domain_folders(w, spec, context->directory);
	domain_interfaces(w, spec, context);
	if (spec->serial_console)
		serial_console(w, context->directory, !spec->serial_unlogged);
	guest_agent(w, context->directory);
	if (spec->graphics)
		graphics(w);
	video(w, spec);
	domain_peripherals(w, spec);
	domain_tpm(w, spec->tpm, context->kept);
	domain_host_devices(w, spec, context);
	panic_devices(w, spec, context);
	xml_close(w);
}
