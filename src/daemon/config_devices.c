/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration file gives to guests for themselves: CPUs that are set aside, and devices
 * of the host by the names that manifests use.
 */
#include <stdio.h>

#include "core/names.h"
#include "daemon/config_private.h"

int config_read_dedicated(struct config *config, const char *path, const struct node *at,
	struct err *err)
{
	bool scalar = at->kind == NODE_STRING || at->kind == NODE_NUMBER;

	if (scalar && cpu_set_parse(at->text, &config->shares.dedicated))
		return 0;
	return config_refuse(path, at, err,
		"spec.dedicatedCPUs: expected CPUs of the host such as \"2-7,10\"");
}

/* The one of its fields that says where it is. */
static const struct node *address_of(const struct node *device, enum host_device_kind *ret)
{
	const struct node *found = NULL;

	for (unsigned kind = 0; kind < HOST_DEVICE_KIND_MAX; kind++) {
		const char *name = host_device_kind_name((enum host_device_kind)kind);

		if (!node_get(device, name))
			continue;
		found = node_get(device, name);
		*ret = (enum host_device_kind)kind;
	}
	return found;
}

static bool has(const struct host_shares *shares, const char *key)
{
	for (size_t i = 0; i + 1 < shares->n_devices; i++)
		if (streq(shares->devices[i].key, key))
			return true;
	return false;
}

static int read_device(struct host_shares *shares, const char *path, const struct node *from,
	struct err *err)
{
	const char *name = node_text(from, "name");
	enum host_device_kind kind = HOST_DEVICE_KIND_MAX;
	const struct node *address = address_of(from, &kind);

	if (!name || !is_label_key(name) || !address || from->n_children != 2)
		return config_refuse(path, from, err,
			"spec.hostDevices: a device has a name, as deviceName has it, and one of pci, "
			"usb and mdev");
	if (address->kind != NODE_STRING || !host_shares_add(shares, name, kind, address->text))
		return config_refuse(path, address, err,
			"spec.hostDevices: expected pci: \"0000:65:00.0\", usb: \"1234:5678\" or mdev: "
			"UUID");
	if (has(shares, shares->devices[shares->n_devices - 1].key))
		return config_refuse(path, address, err,
			"spec.hostDevices: this device is there already");
	return 0;
}

int config_read_host_devices(struct config *config, const char *path, const struct node *list,
	struct err *err)
{
	int rc = 0;

	if (list->kind != NODE_LIST || list->n_children > HOST_DEVICES_MAX)
		return config_refuse(path, list, err,
			"spec.hostDevices: expected a list of at most 256 devices");
	for (size_t i = 0; i < list->n_children && !rc; i++)
		rc = read_device(&config->shares, path, list->children[i], err);
	return rc;
}
