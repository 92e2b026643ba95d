/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of semantics §9.4: interfaces with networks.
 *
 * Owns nothing; single values were judged by schema_check.c.
 */
#include "core/rules_private.h"

#include "core/spec_private.h"

#define NETWORKS "networks"
#define ZERO_MAC "02:00:00:00:00:00" /* KubeVirt refuses it for masquerade */

static const char *const binding_keys[] = { "masquerade", "bridge", "sriov", "passtBinding",
	"binding", "macvtap", "passt", "slirp", NULL };

/* The network of an interface, by their common name, or NULL. */
static const struct node *network_of(const struct node *spec, const struct node *interface)
{
	const struct node *networks = node_get(spec, NETWORKS);
	const char *name = node_text(interface, "name");

	return name ? list_find(networks, list_count(networks), name) : NULL;
}

/* clang-format off */
static const struct { const char *source, *words; } fits[BINDING_MAX] = {
	[BINDING_MASQUERADE] = { "pod",    "masquerade is for the pod network; use bridge: {}" },
	[BINDING_PASST]      = { "pod",    "passt is for the pod network; use bridge: {}" },
	[BINDING_SLIRP]      = { "pod",    "slirp is for the pod network; use bridge: {}" },
	[BINDING_SRIOV]      = { "multus", "sriov needs a multus network, which names its devices" },
	[BINDING_MACVTAP]    = { "multus", "macvtap needs a multus network, which names its device" },
};
/* clang-format on */

/* The binding under that key; false if it is a plugin that nobody knows. */
static bool binding_of(const struct node *value, enum binding *ret)
{
	if (streq(value->key, "binding"))
		return binding_of_plugin(node_text(value, "name"), ret);
	if (streq(value->key, "passtBinding"))
		return binding_of_plugin("passt", ret);
	return binding_parse(value->key, ret);
}

static void fit_rules(struct check *c, const struct node *spec, const struct node *interface,
	const struct node *value)
{
	const struct node *network = network_of(spec, interface);
	enum binding binding;

	if (!binding_of(value, &binding)) {
		if (node_text(value, "name"))
			check_add(c, node_get(value, "name"), "binding.name",
				"there is no network binding '%.64s' here; known: macvtap, passt, slirp, "
				"l2bridge",
				node_text(value, "name"));
		return;
	}
	if (network && fits[binding].source && !node_get(network, fits[binding].source))
		check_add_key(c, value, value->key, "%s", fits[binding].words);
	else if (binding == BINDING_BRIDGE && node_get(network, "pod"))
		check_warn_key(c, value,
			"on the pod network it is the same as masquerade, unless the node's "
			"podNetwork is a bridge");
}

static void binding_rules(struct check *c, const struct node *spec, const struct node *interface)
{
	const struct node *mac = node_get(interface, "macAddress");
	const struct node *last;
	size_t n = element_count_keys(interface, binding_keys, &last);

	if (n > 1)
		check_add_key(c, last, last->key, "give one binding, not %zu", n);
	else if (n)
		fit_rules(c, spec, interface, last);
	else if (element_is_known(interface, INTERFACES "[]"))
		check_add(c, interface, "", "give a binding: masquerade: {} or bridge: {}");
	if (mac && streq(mac->text, ZERO_MAC) && node_get(interface, "masquerade"))
		check_add(c, mac, "macAddress", "'%s' cannot be used with masquerade", ZERO_MAC);
}

/* ---- state and ports ------------------------------------------------------------------------- */

static void state_rules(struct check *c, const struct node *spec, const struct node *interface)
{
	const struct node *state = node_get(interface, "state");
	const struct node *network = network_of(spec, interface);
	bool is_default = node_get(network, "pod") ||
		spec_bool(node_get(network, "multus"), "default", false);

	if (!state || state->kind != NODE_STRING || !*state->text)
		return;
	if (!streq(state->text, "absent")) {
		if (node_get(interface, "sriov"))
			check_add(c, state, "state", "sriov has no link that could be '%.8s'",
				state->text);
		return;
	}
	if (!node_get(interface, "bridge"))
		check_add(c, state, "state", "only a bridge binding can be absent");
	else if (is_default)
		check_add(c, state, "state", "the default network cannot be absent");
}

static const char *protocol_of(const struct node *port)
{
	const char *protocol = node_text(port, "protocol");

	return protocol && *protocol ? protocol : "TCP";
}

static void port_name_rules(struct check *c, const struct node *list, size_t i)
{
	const struct node *name = node_get(list->children[i], "name");

	if (name && name->kind == NODE_STRING && list_find(list, i, name->text))
		check_add(c, name, "name", "name '%s' is there twice", name->text);
}

/* Both ends of a range that are numbers. */
static bool range_of(const struct node *range, long *ret_start, long *ret_end)
{
	const char *start = node_text(range, "start"), *end = node_text(range, "end");

	*ret_start = start ? strtol(start, NULL, 10) : 0;
	*ret_end = end ? strtol(end, NULL, 10) : 0;
	return *ret_start > 0 && *ret_end > 0;
}

static void range_rules(struct check *c, const struct node *list, size_t i)
{
	const struct node *range = list->children[i];
	long start, end, other_start, other_end;

	if (!range_of(range, &start, &end))
		return;
	if (start > end)
		check_add(c, range, "", "it starts at %ld, after its end %ld", start, end);
	for (size_t j = 0; j < i; j++) {
		const struct node *other = list->children[j];

		if (range_of(other, &other_start, &other_end) && start <= other_end &&
			other_start <= end && streq(protocol_of(range), protocol_of(other)))
			check_add(c, range, "", "it overlaps with portRanges[%zu]", j);
	}
}

static void port_rules(struct check *c, const struct node *interface)
{
	static const struct {
		const char *key;
		void (*rules)(struct check *c, const struct node *list, size_t i);
	} lists[] = { { "ports", port_name_rules }, { "portRanges", range_rules } };
	const struct node *ranges = node_get(interface, "portRanges");

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		const struct node *list = node_get(interface, lists[l].key);

		for (size_t i = 0; i < MIN(list_count(list), (size_t)PORTS_MAX); i++) {
			size_t mark = check_enter_item(c, lists[l].key, i);

			lists[l].rules(c, list, i);
			check_leave(c, mark);
		}
	}
	if (ranges && node_get(interface, "ports"))
		check_add_key(c, ranges, "portRanges", "give ports or portRanges, not both");
	if (ranges && !node_get(interface, "masquerade"))
		check_add_key(c, ranges, "portRanges", "portRanges are for masquerade");
}

static void interface_rules(struct check *c, const struct node *spec)
{
	const struct node *interfaces = node_at(spec, INTERFACES);

	for (size_t i = 0; i < list_count(interfaces); i++) {
		size_t mark = check_enter_item(c, INTERFACES, i);
		const struct node *name = element_name(c, interfaces, i);

		if (name && !list_has(node_get(spec, NETWORKS), name->text))
			check_add(c, name, "name", "no network is named '%s'", name->text);
		binding_rules(c, spec, interfaces->children[i]);
		state_rules(c, spec, interfaces->children[i]);
		port_rules(c, interfaces->children[i]);
		check_leave(c, mark);
	}
}

/* ---- networks -------------------------------------------------------------------------------- */

struct defaults_seen {
	size_t pods, defaults;
};

static void source_rules(struct check *c, const struct node *network, struct defaults_seen *seen)
{
	static const char *const sources[] = { "pod", "multus", NULL };
	const struct node *is_default = node_at(network, "multus.default");
	const struct node *last;
	size_t n = element_count_keys(network, sources, &last);

	if (n > 1)
		check_add_key(c, last, last->key, "give pod or multus, not both");
	else if (!n && element_is_known(network, NETWORKS "[]"))
		check_add(c, network, "", "give a source: pod: {} or multus with a networkName");
	if (node_get(network, "pod") && seen->pods++)
		check_add_key(c, last, "pod", "only one pod network is possible");
	if (!spec_bool(node_get(network, "multus"), "default", false))
		return;
	if (seen->defaults++)
		check_add_key(c, is_default, "multus.default", "only one network is the default");
	else if (seen->pods)
		check_add_key(c, is_default, "multus.default",
			"the pod network is the default already");
}

void network_rules(struct check *c, const struct node *spec)
{
	const struct node *networks = node_get(spec, NETWORKS);
	struct defaults_seen seen = { 0 };

	interface_rules(c, spec);
	for (size_t i = 0; i < list_count(networks); i++) {
		size_t mark = check_enter_item(c, NETWORKS, i);
		const struct node *name = element_name(c, networks, i);

		if (name && !list_has(node_at(spec, INTERFACES), name->text))
			check_add(c, name, "name",
				"network '%s' is not used; add an interface of that name, or remove it",
				name->text);
		source_rules(c, networks->children[i], &seen);
		check_leave(c, mark);
	}
}
