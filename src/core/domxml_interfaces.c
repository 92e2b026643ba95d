/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network interfaces of a run's domain, and their addresses.
 */
#include "core/domxml_write.h"

static void acpi_index(xmlTextWriterPtr w, unsigned index)
{
	if (!index)
		return;
	xml_open(w, "acpi");
	xml_attr_int(w, "index", index);
	xml_close(w);
}

/*
 * An address that stays the same over stops and starts although the manifest names none (users.md
 * 63): FNV-1a over the VM's UID and the interface's name, marked as locally administered.
 */
static char *stable_mac(const char *uid, const char *name)
{
	autofree char *key = xasprintf("%s/%s", uid, name);
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (const char *p = key; *p; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	return xasprintf("02:%02x:%02x:%02x:%02x:%02x", (unsigned)(h >> 32 & 0xff),
		(unsigned)(h >> 24 & 0xff), (unsigned)(h >> 16 & 0xff), (unsigned)(h >> 8 & 0xff),
		(unsigned)(h & 0xff));
}

char *interface_mac(const struct interface *nic, const char *vm_uid, const char *vmi_uid)
{
	return nic->mac ? xstrdup(nic->mac) : stable_mac(*vm_uid ? vm_uid : vmi_uid, nic->name);
}

static const char *model_of(const struct vmi_spec *spec, const struct interface *nic)
{
	return !nic->model || streq(nic->model, "virtio") ? xml_virtio(spec) : nic->model;
}

/* An option ROM is only of use to boot from the network; without it the firmware is done sooner. */
static void interface(xmlTextWriterPtr w, const struct vmi_spec *spec, const struct interface *nic,
	const struct domain_context *context)
{
	autofree char *mac = interface_mac(nic, context->vm_uid, context->vmi_uid);
	autofree char *alias = xasprintf(INTERFACE_ALIAS "%s", nic->name);

	xml_open(w, "interface");
	xml_attr(w, "type", "user");
	xml_empty(w, "mac", "address", mac, NULL);
	xml_empty(w, "model", "type", model_of(spec, nic), NULL);
	xml_boot_order(w, nic->boot_order);
	if (!nic->boot_order)
		xml_empty(w, "rom", "enabled", "no", NULL);
	if (nic->down)
		xml_empty(w, "link", "state", "down", NULL);
	acpi_index(w, nic->acpi_index);
	xml_pci_address(w, nic->pci_address);
	xml_alias(w, alias);
	xml_close(w);
}

void domain_interfaces(xmlTextWriterPtr w, const struct vmi_spec *spec,
	const struct domain_context *context)
{
	for (size_t i = 0; i < spec->n_interfaces; i++)
		interface(w, spec, &spec->interfaces[i], context);
}
