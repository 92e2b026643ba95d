/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a feature or a timer that is only named comes to, and what a Hyper-V feature brings with it
 * (semantics §9.5, rows "present-but-empty" and 10).
 */
#include "core/defaults.h"

#define HYPERV "domain.features.hyperv"

/* In this order one pass is enough: what is enabled may itself need something. */
const struct hyperv_need hyperv_needs[] = {
	{ "synictimer", "synic" },
	{ "synic", "vpindex" },
	{ "tlbflush", "vpindex" },
	{ "ipi", "vpindex" },
	{ "evmcs", "vapic" },
};
const size_t hyperv_n_needs = ARRAY_SIZE(hyperv_needs);

static void default_true(struct node *map, const char *key)
{
	if (map && map->kind == NODE_MAP && !node_get(map, key))
		node_set(map, key, node_new(NODE_BOOL, "true"));
}

/* Each entry of the map at path, unless it says otherwise. */
static void default_entries(struct node *spec, const char *path, const char *key)
{
	struct node *map = node_at(spec, path);

	for (size_t i = 0; map && map->kind == NODE_MAP && i < map->n_children; i++)
		default_true(map->children[i], key);
}

static void default_needs(struct node *hyperv)
{
	for (size_t i = 0; i < hyperv_n_needs; i++) {
		if (!feature_is_on(hyperv, hyperv_needs[i].feature) ||
			node_get(hyperv, hyperv_needs[i].needs))
			continue;
		node_set(hyperv, hyperv_needs[i].needs, node_new(NODE_MAP, NULL));
		default_true(node_get(hyperv, hyperv_needs[i].needs), "enabled");
	}
}

/* evmcs is of use to a guest only that sees VMX. */
static void default_vmx(struct node *spec)
{
	struct node *list = node_at(spec, "domain.cpu.features"), *feature;

	if (!feature_is_on(spec, HYPERV ".evmcs"))
		return;
	for (size_t i = 0; list && i < list->n_children; i++) {
		if (streq(node_text(list->children[i], "name"), "vmx"))
			return;
	}
	if (!list || list->kind != NODE_LIST) {
		list = node_new(NODE_LIST, NULL);
		node_set_path(spec, "domain.cpu.features", list);
	}
	feature = node_new(NODE_MAP, NULL);
	node_set(feature, "name", node_new(NODE_STRING, "vmx"));
	node_set(feature, "policy", node_new(NODE_STRING, "require"));
	node_append(list, feature);
}

void default_features(struct node *spec)
{
	static const char *const features[] = { "acpi", "apic", "smm", "pvspinlock",
		"hypervPassthrough" };
	struct node *hyperv;

	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		default_true(node_get(node_at(spec, "domain.features"), features[i]), "enabled");
	default_entries(spec, HYPERV, "enabled");
	default_entries(spec, "domain.clock.timer", "present");
	hyperv = node_at(spec, HYPERV);
	if (hyperv && hyperv->kind == NODE_MAP)
		default_needs(hyperv);
	default_vmx(spec);
}
