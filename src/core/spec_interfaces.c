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

/* Plugins that are built in here, under the names by which people register them. */
static const struct {
	const char *name;
	enum binding binding;
} plugins[] = {
	{ "macvtap", BINDING_MACVTAP },
	{ "passt", BINDING_PASST },
	{ "slirp", BINDING_SLIRP },
	{ "l2bridge", BINDING_BRIDGE },
};

bool binding_of_plugin(const char *name, enum binding *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(plugins); i++) {
		if (!streq(plugins[i].name, name))
			continue;
		*ret = plugins[i].binding;
		return true;
	}
	return false;
}

/* clang-format off */
static const struct { const char *key; enum binding binding; } bindings[] = {
	{ "masquerade",   BINDING_MASQUERADE },
	{ "bridge",       BINDING_BRIDGE },
	{ "passtBinding", BINDING_PASST },
	{ "passt",        BINDING_PASST },
	{ "sriov",        BINDING_SRIOV },
	{ "macvtap",      BINDING_MACVTAP },
	{ "slirp",        BINDING_SLIRP },
};
/* clang-format on */

static int parse_binding(const struct node *from, struct interface *interface, struct err *err)
{
	const char *plugin = node_text(from, "binding.name");

	if (plugin && !binding_of_plugin(plugin, &interface->binding))
		return err_set(err, ERR_INVALID, "unknown network binding '%.64s'", plugin);
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++)
		if (node_get(from, bindings[i].key))
			interface->binding = bindings[i].binding;
	return 0;
}

static int parse_port(const struct node *from, struct port_range *port, struct err *err)
{
	const char *protocol = node_text(from, "protocol");

	port->udp = streq(protocol, "UDP");
	if (node_get(from, "port")) {
		if (spec_unsigned(from, "port", &port->first, err))
			return -ERR_INVALID;
		port->last = port->first;
		return 0;
	}
	return spec_unsigned(from, "start", &port->first, err) ||
			spec_unsigned(from, "end", &port->last, err)
		? -ERR_INVALID
		: 0;
}

static int parse_ports(const struct node *from, struct interface *interface, struct err *err)
{
	const char *path = node_get(from, "portRanges") ? "portRanges" : "ports";
	const struct node *list;
	size_t n;

	if (spec_list(from, path, &list, &n, err))
		return -ERR_INVALID;
	interface->ports = n ? xcalloc(n, sizeof(*interface->ports)) : NULL;
	for (size_t i = 0; i < n; i++)
		if (parse_port(list->children[i], &interface->ports[interface->n_ports++], err))
			return -ERR_INVALID;
	return 0;
}

/* Its network, by their common name. */
static void parse_network(const struct node *networks, struct interface *interface)
{
	for (size_t i = 0; networks && i < networks->n_children; i++) {
		const struct node *network = networks->children[i];

		if (!streq(node_text(network, "name"), interface->name))
			continue;
		interface->network = spec_copy(network, "multus.networkName");
		interface->cidr = spec_copy(network, "pod.vmNetworkCIDR");
		interface->cidr6 = spec_copy(network, "pod.vmIPv6NetworkCIDR");
	}
}

static int parse_interface(const struct node *from, struct interface *interface, struct err *err)
{
	const char *state = node_text(from, "state");

	interface->name = spec_copy(from, "name");
	interface->model = spec_copy(from, "model");
	interface->pci_address = spec_copy(from, "pciAddress");
	interface->tag = spec_copy(from, "tag");
	interface->down = streq(state, "down");
	interface->absent = streq(state, "absent");
	interface->mac = mac_of(node_text(from, "macAddress"));
	if (!interface->name)
		return err_set(err, ERR_INVALID, "an interface has no name");
	if (!interface->model)
		interface->model = xstrdup(DEFAULT_NIC_MODEL);
	if (parse_binding(from, interface, err) || parse_ports(from, interface, err) ||
		spec_unsigned(from, "acpiIndex", &interface->acpi_index, err))
		return -ERR_INVALID;
	return spec_unsigned(from, "bootOrder", &interface->boot_order, err);
}

int spec_parse_interfaces(const struct node *spec, struct vmi_spec *s, struct err *err)
{
	const struct node *networks, *list;
	size_t n;
	int rc = spec_list(spec, "networks", &networks, &n, err);

	if (!rc)
		rc = spec_list(spec, "domain.devices.interfaces", &list, &n, err);
	s->interfaces = rc || !n ? NULL : xcalloc(n, sizeof(*s->interfaces));
	for (size_t i = 0; !rc && i < n; i++) {
		rc = parse_interface(list->children[i], &s->interfaces[s->n_interfaces++], err);
		if (!rc)
			parse_network(networks, &s->interfaces[i]);
	}
	s->nic_queues = spec_bool(spec, "domain.devices.networkInterfaceMultiqueue", false);
	return rc;
}
