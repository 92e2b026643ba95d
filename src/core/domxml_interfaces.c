/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network interfaces of a run's domain, and their addresses.
 */
#include "core/domxml_write.h"

#include <string.h>

#define QUEUES_MAX 256U /* QEMU: of one interface */

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

/* ---- where it leads -------------------------------------------------------------------------- */

static void address_range(xmlTextWriterPtr w, const char *family, const char *cidr)
{
	const char *slash = cidr ? strchr(cidr, '/') : NULL;
	autofree char *address = slash ? xstrndup(cidr, (size_t)(slash - cidr)) : NULL;

	if (address)
		xml_empty(w, "ip", "family", family, "address", address, "prefix", slash + 1, NULL);
}

static void vlan(xmlTextWriterPtr w, unsigned tag)
{
	if (!tag)
		return;
	xml_open(w, "vlan");
	xml_open(w, "tag");
	xml_attr_int(w, "id", tag);
	xml_close(w);
	xml_close(w);
}

static const char *const types[ATTACH_KIND_MAX] = {
	[ATTACH_USER] = "user",
	[ATTACH_PASST] = "user",
	[ATTACH_NETWORK] = "network",
	[ATTACH_BRIDGE] = "bridge",
	[ATTACH_OVS] = "bridge",
	[ATTACH_MACVTAP] = "direct",
	[ATTACH_SRIOV] = "network",
};

static void source(xmlTextWriterPtr w, const struct interface *nic, const struct attachment *to)
{
	autofree char *pool = NULL;

	switch (to->kind) {
	case ATTACH_USER:
		address_range(w, "ipv4", nic->cidr);
		address_range(w, "ipv6", nic->cidr6);
		break;
	case ATTACH_PASST:
		xml_empty(w, "backend", "type", "passt", NULL);
		break;
	case ATTACH_NETWORK:
		xml_empty(w, "source", "network", to->source, NULL);
		break;
	case ATTACH_BRIDGE:
	case ATTACH_OVS:
		xml_empty(w, "source", "bridge", to->source, NULL);
		break;
	case ATTACH_MACVTAP:
		xml_empty(w, "source", "dev", to->source, "mode", to->mode, NULL);
		break;
	case ATTACH_SRIOV:
		pool = pool_network_name(to->source);
		xml_empty(w, "source", "network", pool, NULL);
		break;
	case ATTACH_KIND_MAX:
		break;
	}
	vlan(w, to->vlan);
	if (to->kind == ATTACH_OVS)
		xml_empty(w, "virtualport", "type", "openvswitch", NULL);
}

static bool has_queues(enum attach_kind kind)
{
	return kind == ATTACH_NETWORK || kind == ATTACH_BRIDGE || kind == ATTACH_OVS ||
		kind == ATTACH_MACVTAP;
}

unsigned interface_queues(const struct vmi_spec *spec, const struct interface *nic,
	enum attach_kind kind)
{
	unsigned vcpus = spec->sockets * spec->cores * spec->threads;

	if (!spec->nic_queues || !has_queues(kind) || !streq(nic->model, "virtio"))
		return 1;
	return MIN(vcpus, QUEUES_MAX);
}

static void queues(xmlTextWriterPtr w, unsigned n)
{
	if (n < 2)
		return;
	xml_open(w, "driver");
	xml_attr_int(w, "queues", n);
	xml_close(w);
}

/* An option ROM is only of use to boot from the network; without it the firmware is done sooner. */
static void interface(xmlTextWriterPtr w, const struct vmi_spec *spec, const struct interface *nic,
	const struct domain_context *context)
{
	static const struct attachment user = { .kind = ATTACH_USER };
	const struct attachment *to =
		context->attachments ? &context->attachments[nic - spec->interfaces] : &user;
	autofree char *mac = interface_mac(nic, context->vm_uid, context->vmi_uid);
	autofree char *alias = xasprintf(INTERFACE_ALIAS "%s", nic->name);
	bool passed = to->kind == ATTACH_SRIOV; /* the host's device itself */

	xml_open(w, "interface");
	xml_attr(w, "type", types[to->kind]);
	xml_empty(w, "mac", "address", mac, NULL);
	source(w, nic, to);
	if (!passed)
		xml_empty(w, "model", "type", model_of(spec, nic), NULL);
	queues(w, interface_queues(spec, nic, to->kind));
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
		if (!spec->interfaces[i].absent)
			interface(w, spec, &spec->interfaces[i], context);
}
