/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of spec_parse() that is about a guest's network interfaces.
 *
 * Owns how texts become values. It must not judge: which values are possible has been checked.
 */
#include <ctype.h>

#include "core/schema.h"
#include "core/spec_private.h"

/* As libvirt writes it: lower case, colons. */
static char *mac_of(const char *text)
{
	char *mac = xstrdup(text);

	for (char *c = mac; c && *c; c++)
		*c = *c == '-' ? ':' : (char)tolower((unsigned char)*c);
	return mac;
}

static int parse_interface(const struct node *from, struct interface *interface, struct err *err)
{
	interface->name = spec_copy(from, "name");
	interface->model = spec_copy(from, "model");
	interface->bridge = node_get(from, "bridge");
	interface->pci_address = spec_copy(from, "pciAddress");
	interface->down = streq(node_text(from, "state"), "down");
	interface->mac = mac_of(node_text(from, "macAddress"));
	if (!interface->name)
		return err_set(err, ERR_INVALID, "an interface has no name");
	if (!interface->model)
		interface->model = xstrdup(DEFAULT_NIC_MODEL);
	if (spec_unsigned(from, "acpiIndex", &interface->acpi_index, err))
		return -ERR_INVALID;
	return spec_unsigned(from, "bootOrder", &interface->boot_order, err);
}

int spec_parse_interfaces(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	const struct node *list;
	size_t n;
	int rc = spec_list(spec, "domain.devices.interfaces", &list, &n, err);

	s->interfaces = rc || !n ? NULL : xcalloc(n, sizeof(*s->interfaces));
	for (size_t i = 0; !rc && i < n; i++)
		rc = parse_interface(list->children[i], &s->interfaces[s->n_interfaces++], err);
	return rc;
}
