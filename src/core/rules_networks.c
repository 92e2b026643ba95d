/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.4: interfaces with networks.
 *
 * Owns nothing; single values were judged by schema_check.c.
 */
#include "core/rules_private.h"

#define ZERO_MAC "02:00:00:00:00:00" /* KubeVirt refuses it for masquerade */

static void binding_rules(struct check *c, const struct node *interface)
{
	static const char *const bindings[] = { "masquerade", "bridge", NULL };
	const struct node *mac = node_get(interface, "macAddress");
	const struct node *last;
	size_t n = element_count_keys(interface, bindings, &last);

	if (n > 1)
		check_add_key(c, last, last->key, "give masquerade or bridge, not both");
	else if (!n && element_is_known(interface, INTERFACES "[]"))
		check_add(c, interface, "", "give a binding: masquerade: {} or bridge: {}");
	if (mac && streq(mac->text, ZERO_MAC) && node_get(interface, "masquerade"))
		check_add(c, mac, "macAddress", "'%s' cannot be used with masquerade", ZERO_MAC);
}

static void interface_rules(struct check *c, const struct node *spec)
{
	const struct node *interfaces = node_at(spec, INTERFACES);

	for (size_t i = 0; i < list_count(interfaces); i++) {
		size_t mark = check_enter_item(c, INTERFACES, i);
		const struct node *name = element_name(c, interfaces, i);

		if (name && !list_has(node_get(spec, "networks"), name->text))
			check_add(c, name, "name", "no network is named '%s'", name->text);
		binding_rules(c, interfaces->children[i]);
		check_leave(c, mark);
	}
}

static void source_rules(struct check *c, const struct node *spec)
{
	const struct node *networks = node_get(spec, "networks");
	size_t pods = 0;

	for (size_t i = 0; i < list_count(networks); i++) {
		const struct node *network = networks->children[i];
		size_t mark = check_enter_item(c, "networks", i);
		const struct node *name = element_name(c, networks, i);
		const struct node *pod = node_get(network, "pod");

		if (name && !list_has(node_at(spec, INTERFACES), name->text))
			check_add(c, name, "name",
				"network '%s' is not used; add an interface of that name, or remove it",
				name->text);
		if (pod && pods++)
			check_add_key(c, pod, "pod", "only one pod network is possible");
		else if (!pod && element_is_known(network, "networks[]"))
			check_add(c, network, "", "give a source: pod: {}");
		check_leave(c, mark);
	}
}

void network_rules(struct check *c, const struct node *spec)
{
	interface_rules(c, spec);
	source_rules(c, spec);
}
