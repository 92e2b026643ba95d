/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run's libvirt domain: identity, our metadata, firmware. Constants are KubeVirt's (semantics
 * §9.5 "Domain constants"); what is not written stays at libvirt's default, which for on_crash,
 * on_poweroff and on_reboot is KubeVirt's too. CPUs and memory are in domxml_cpu.c, devices in
 * domxml_devices.c.
 */
#include "core/domxml_write.h"

#include <string.h>

char *domain_name(const char *ns, const char *name)
{
	return xasprintf("%s_%s", ns, name);
}

static void owner(xmlTextWriterPtr w, const struct domain_context *context)
{
	xml_attr(w, "vmi", context->vmi_uid);
	xml_attr(w, "vm", context->vm_uid);
	xml_attr_int(w, "epoch", context->epoch);
	xml_attr(w, "held", context->held);
}

/* The VMI's UID in here is the only proof that the domain belongs to that run (semantics §3.0). */
void domain_metadata(xmlTextWriterPtr w, const struct domain_context *context)
{
	xml_open(w, "metadata");
	xml_open(w, DOMAIN_METADATA_KEY ":domain");
	xml_attr(w, "xmlns:" DOMAIN_METADATA_KEY, DOMAIN_METADATA_URI);
	owner(w, context);
	xml_close(w);
	xml_close(w);
}

static void identity(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	autofree char *name = domain_name(context->ns, context->name);

	xml_attr(w, "type", context->kvm ? "kvm" : "qemu");
	if (domain_has_qemu(spec, context->kvm))
		xml_attr(w, "xmlns:qemu", DOMAIN_QEMU_URI);
	xml_leaf(w, "name", name);
	xml_leaf(w, "uuid", spec->uuid);
	domain_metadata(w, context);
}

static void smbios_entry(xmlTextWriterPtr w, const char *name, const char *value)
{
	if (!value)
		return;
	xml_open(w, "entry");
	xml_attr(w, "name", name);
	xmlTextWriterWriteString(w, BAD_CAST value);
	xml_close(w);
}

static void chassis(xmlTextWriterPtr w, const struct chassis *chassis)
{
	if (!chassis->manufacturer && !chassis->version && !chassis->serial && !chassis->asset &&
		!chassis->sku)
		return;
	xml_open(w, "chassis");
	smbios_entry(w, "manufacturer", chassis->manufacturer);
	smbios_entry(w, "version", chassis->version);
	smbios_entry(w, "serial", chassis->serial);
	smbios_entry(w, "asset", chassis->asset);
	smbios_entry(w, "sku", chassis->sku);
	xml_close(w);
}

static void smbios(xmlTextWriterPtr w, const struct vmi_spec *spec)
{
	xml_open(w, "sysinfo");
	xml_attr(w, "type", "smbios");
	xml_open(w, "system");
	smbios_entry(w, "manufacturer", "KubeVirt");
	smbios_entry(w, "product", "None");
	smbios_entry(w, "serial", spec->serial);
	smbios_entry(w, "uuid", spec->uuid);
	smbios_entry(w, "family", "KubeVirt");
	xml_close(w);
	chassis(w, &spec->chassis);
	xml_close(w);
}

#define SEV_ENCRYPTED_STATE 0x4
#define BOOT_MENU_MS        "10000"

static void kernel_boot(xmlTextWriterPtr w, const struct kernel_boot *boot, const char *directory)
{
	autofree char *kernel = boot->kernel ? kernel_path(directory) : NULL;
	autofree char *initrd = boot->initrd ? initrd_path(directory) : NULL;

	xml_leaf(w, "kernel", kernel);
	xml_leaf(w, "initrd", initrd);
	if (kernel)
		xml_leaf(w, "cmdline", boot->args);
}

static void slic(xmlTextWriterPtr w, const struct vmi_spec *spec, const char *directory)
{
	autofree char *path = slic_path(directory);

	if (!spec_slic(spec))
		return;
	xml_open(w, "acpi");
	xml_open(w, "table");
	xml_attr(w, "type", "slic");
	xmlTextWriterWriteString(w, BAD_CAST path);
	xml_close(w);
	xml_close(w);
}

static bool is_raw(const struct firmware *firmware)
{
	return !firmware || streq(firmware->format, "raw");
}

/* libvirt chooses the firmware image itself, by these (its <loader> may not be
 * given along with them). */
static void efi(xmlTextWriterPtr w, bool secure)
{
	xml_open(w, "firmware");
	xml_empty(w, "feature", "enabled", secure ? "yes" : "no", "name", "secure-boot", NULL);
	if (secure)
		xml_empty(w, "feature", "enabled", "yes", "name", "enrolled-keys", NULL);
	xml_close(w);
}

/* The code of one that is told. A format that is not given is raw, and older versions of
 * libvirt know no other. */
static void loader(xmlTextWriterPtr w, const struct firmware *firmware)
{
	xml_open(w, "loader");
	xml_attr(w, "readonly", "yes");
	xml_attr(w, "secure", firmware->secure ? "yes" : "no");
	xml_attr(w, "type", "pflash");
	xml_attr(w, "format", is_raw(firmware) ? NULL : firmware->format);
	xmlTextWriterWriteString(w, BAD_CAST firmware->loader);
	xml_close(w);
}

/* Without a path libvirt keeps them beside its own files, and they go with the run's definition. */
static void nvram(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	const struct firmware *firmware = context->firmware;
	autofree char *path = domain_nvram(spec, context);

	if (!path)
		return;
	xml_open(w, "nvram");
	xml_attr(w, "template", firmware ? firmware->variables : NULL);
	xml_attr(w, "templateFormat", is_raw(firmware) ? NULL : firmware->format);
	xml_attr(w, "format", is_raw(firmware) ? NULL : firmware->format);
	xmlTextWriterWriteString(w, BAD_CAST path);
	xml_close(w);
}

static void firmware(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	bool is_efi = spec->bootloader != BOOTLOADER_BIOS;
	bool is_told = is_efi && context->firmware;

	xml_open(w, "os");
	xml_attr(w, "firmware", is_efi && !is_told ? "efi" : NULL);
	xml_open(w, "type");
	xml_attr(w, "machine", spec->machine_type);
	xmlTextWriterWriteString(w, BAD_CAST "hvm");
	xml_close(w);
	if (is_told)
		loader(w, context->firmware);
	else if (is_efi)
		efi(w, spec->bootloader == BOOTLOADER_EFI_SECURE);
	nvram(w, spec, context);
	kernel_boot(w, &spec->kernel_boot, context->directory);
	slic(w, spec, context->directory);
	if (spec->bios_serial)
		xml_empty(w, "bios", "useserial", "yes", NULL);
	if (spec->start_paused) /* time to choose, once it is resumed (§8.3) */
		xml_empty(w, "bootmenu", "enable", "yes", "timeout", BOOT_MENU_MS, NULL);
	xml_empty(w, "smbios", "mode", "sysinfo", NULL);
	xml_close(w);
}

static void launch_security(xmlTextWriterPtr w, const struct launch_security *launch)
{
	static const struct {
		const char *type;
		unsigned policy;
	} kinds[LAUNCH_MAX] = {
#define X(c, t, l, p) [LAUNCH_##c] = { l, p },
		LAUNCH_SECURITIES(X)
#undef X
	};
	autofree char *policy = xasprintf("0x%04x",
		kinds[launch->kind].policy | (launch->encrypted_state ? SEV_ENCRYPTED_STATE : 0));

	if (launch->kind == LAUNCH_NONE)
		return;
	xml_open(w, "launchSecurity");
	xml_attr(w, "type", kinds[launch->kind].type);
	xml_leaf(w, "policy", policy);
	xml_leaf(w, "dhCert", launch->dh_cert);
	xml_leaf(w, "session", launch->session);
	xml_close(w);
}

static void domain(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	xml_open(w, "domain");
	identity(w, spec, context);
	domain_size(w, spec, context);
	domain_limits(w, spec, context);
	smbios(w, spec);
	firmware(w, spec, context);
	domain_features(w, spec, context->kvm);
	domain_cpu(w, spec, context->kvm);
	domain_clock(w, &spec->clock, context->kvm);
	xml_leaf(w, "on_reboot", spec->ends_at_reboot ? "destroy" : NULL);
	domain_devices(w, spec, context);
	launch_security(w, &spec->launch);
	domain_qemu(w, spec, context->kvm);
	xml_close(w);
}

char *domain_xml(const struct vmi_spec *spec, const struct domain_context *context)
{
	struct xml_text text = xml_begin();

	domain(text.w, spec, context);
	return xml_end(&text);
}

char *domain_metadata_xml(const struct domain_context *context)
{
	struct xml_text text = xml_begin();

	xml_open(text.w, "domain");
	owner(text.w, context);
	xml_close(text.w);
	return xml_end(&text);
}
