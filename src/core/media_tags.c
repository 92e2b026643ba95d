/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tags of devices, as a config drive has them (OpenStack's device role tagging): with what the
 * guest knows the device by. Its address in the guest is told where the spec says it; else libvirt
 * chooses one after the medium is made.
 */
#include "core/domxml.h"
#include "core/media_private.h"

static void set(struct node *map, const char *key, const char *text)
{
	if (text)
		node_set(map, key, node_new(NODE_STRING, text));
}

/* An entry of the list, which is made for the first. */
static struct node *add(struct node **list, const char *type, const char *bus, const char *tag)
{
	struct node *entry = node_new(NODE_MAP, NULL), *tags = node_new(NODE_LIST, NULL);

	if (!*list)
		*list = node_new(NODE_LIST, NULL);
	node_append(*list, entry);
	set(entry, "type", type);
	set(entry, "bus", bus);
	node_append(tags, node_new(NODE_STRING, tag));
	node_set(entry, "tags", tags);
	return entry;
}

void media_add_devices(struct node *about, const struct vmi *vmi)
{
	const struct vmi_spec *spec = &vmi->typed;
	struct node *list = NULL;

	for (size_t i = 0; i < spec->n_interfaces; i++) {
		const struct interface *nic = &spec->interfaces[i];
		autofree char *mac = interface_mac(nic, vmi->owner, vmi->meta.uid);
		struct node *entry = nic->tag && !nic->absent ? add(&list, "nic", "pci", nic->tag)
							      : NULL;

		if (entry) {
			set(entry, "address", nic->pci_address);
			set(entry, "mac", mac);
		}
	}
	for (size_t i = 0; i < spec->n_disks; i++) {
		const struct disk *disk = &spec->disks[i];
		struct node *entry =
			disk->tag ? add(&list, "disk", disk_bus_name(disk->bus), disk->tag) : NULL;

		if (entry) {
			set(entry, "address", disk->pci_address);
			set(entry, "serial", disk->serial);
		}
	}
	if (list)
		node_set(about, "devices", list);
}
