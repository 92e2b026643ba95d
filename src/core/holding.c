/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of what a run has, and what a host has for all. Who gets what is in holding_choose.c.
 */
#include "core/holding.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/enum.h"
#include "core/names.h"

ENUM_DEFINE(host_device_kind, HOST_DEVICE, HOST_DEVICE_KINDS)

void host_shares_done(struct host_shares *shares)
{
	for (size_t i = 0; i < shares->n_devices; i++) {
		free(shares->devices[i].name);
		free(shares->devices[i].key);
	}
	shares->n_devices = 0;
}

/* As lsusb has it: "1234:5678" */
static bool is_usb_id(const char *s)
{
	return strlen(s) == 9 && s[4] == ':' && strspn(s, "0123456789abcdefABCDEF") == 4 &&
		strspn(s + 5, "0123456789abcdefABCDEF") == 4;
}

bool host_shares_add(struct host_shares *shares, const char *name, enum host_device_kind kind,
	const char *address)
{
	static bool (*const is_address[])(const char *s) = {
		[HOST_DEVICE_PCI] = is_pci_address,
		[HOST_DEVICE_USB] = is_usb_id,
		[HOST_DEVICE_MDEV] = is_uuid,
	};

	struct host_device *device;

	if (shares->n_devices == HOST_DEVICES_MAX || !is_address[kind](address))
		return false;
	device = &shares->devices[shares->n_devices++];
	device->name = xstrdup(name);
	device->key = xasprintf("%s:%s", host_device_kind_name(kind), address);
	/* One device has one key: the kernel's way to write it. */
	for (char *c = device->key; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return true;
}

char *shared_cpus(const struct host_shares *shares)
{
	struct cpu_set left = shares->online;

	cpu_set_remove(&left, &shares->dedicated);
	if (!cpu_set_count(&shares->dedicated) || !cpu_set_count(&left))
		return NULL;
	return cpu_set_text(&left);
}

const char *device_address(const char *key, enum host_device_kind *ret)
{
	for (unsigned kind = 0; kind < HOST_DEVICE_KIND_MAX; kind++) {
		const char *name = host_device_kind_name((enum host_device_kind)kind);
		size_t len = strlen(name);

		if (strncmp(key, name, len) || key[len] != ':')
			continue;
		*ret = (enum host_device_kind)kind;
		return key + len + 1;
	}
	return NULL;
}

char *holding_word(const char **at)
{
	const char *begin = *at ? *at + strspn(*at, " ") : "";
	size_t len = strcspn(begin, " ");

	*at = begin + len;
	return len ? xstrndup(begin, len) : NULL;
}

static void take_word(const char *word, struct holding *ret)
{
	enum host_device_kind kind;
	unsigned number = 0;

	if (sscanf(word, "cpu:%u", &number) == 1) {
		ret->cpus = xrealloc_array(ret->cpus, ret->n_cpus + 1, sizeof(*ret->cpus));
		ret->cpus[ret->n_cpus++] = MIN(number, CPU_SET_MAX - 1U);
	} else if (sscanf(word, "node:%u", &number) == 1) {
		ret->node = (int)MIN(number, HOST_NODES_MAX - 1U);
	} else if (sscanf(word, "cid:%u", &number) == 1) {
		ret->cid = number;
	} else if (device_address(word, &kind)) {
		ret->devices =
			xrealloc_array(ret->devices, ret->n_devices + 1, sizeof(*ret->devices));
		ret->devices[ret->n_devices++] = xstrdup(word);
	}
}

void holding_parse(const char *text, struct holding *ret)
{
	*ret = (struct holding){ .node = -1 };
	for (char *word; (word = holding_word(&text)); free(word))
		take_word(word, ret);
}

void holding_done(struct holding *holding)
{
	for (size_t i = 0; i < holding->n_devices; i++)
		free(holding->devices[i]);
	free(holding->devices);
	free(holding->cpus);
	*holding = (struct holding){ .node = -1 };
}

bool spec_shares(const struct vmi_spec *spec)
{
	return spec->dedicated || spec->n_devices || spec->vsock;
}
