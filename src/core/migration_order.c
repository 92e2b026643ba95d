/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an order to move a guest may say. Which peers there are, and whether the guest can go, is
 * known to whoever carries it out.
 */
#include "core/migration_order.h"

#include "core/names.h"

#define OPTION   "addedNodeSelector"
#define SELECTOR "spec." OPTION

/* What holds of every host that runs vmagent, so that it selects none of them. */
static const struct {
	const char *key, *value;
} common[] = {
	{ "kubernetes.io/arch", HOST_ARCHITECTURE },
	{ "kubernetes.io/os", "linux" },
	{ "kubevirt.io/schedulable", "true" },
};

static const struct node *entry(const struct node *root, const char *map, const char *key)
{
	const struct node *found = node_get(node_at(root, map), key);

	return found && found->kind == NODE_STRING && *found->text ? found : NULL;
}

const char *migration_order_peer(const struct node *root)
{
	const struct node *name = entry(root, SELECTOR, HOSTNAME_LABEL);

	if (!name)
		name = entry(root, "metadata.annotations", PEER_ANNOTATION);
	return name ? name->text : NULL;
}

/* Upstream's order: system-critical, user-triggered, system-maintenance. */
int migration_order_urgency(const struct node *root)
{
	const char *priority = node_text(root, "spec.priority");

	if (streq(priority, "system-critical"))
		return 2;
	return streq(priority, "system-maintenance") ? 0 : 1;
}

static void check_label(struct check *c, const struct node *label)
{
	for (size_t i = 0; i < ARRAY_SIZE(common); i++) {
		if (!streq(label->key, common[i].key))
			continue;
		if (!streq(label->text, common[i].value))
			check_add(c, label, label->key, "every host has '%s' here",
				common[i].value);
		return;
	}
	if (!streq(label->key, HOSTNAME_LABEL))
		check_add_key(c, label, label->key,
			"peers do not tell each other their labels: name one by " HOSTNAME_LABEL);
	else if (!is_dns_subdomain(label->text))
		check_add(c, label, label->key, "expected the name of a peer");
}

static void check_selector(struct check *c, const struct node *selector, const char *field)
{
	size_t mark;

	if (!selector || selector->kind != NODE_MAP)
		return;
	mark = check_enter(c, field);
	for (size_t i = 0; i < selector->n_children; i++)
		if (selector->children[i]->kind == NODE_STRING)
			check_label(c, selector->children[i]);
	check_leave(c, mark);
}

/* Both ways to name a peer name the same. */
static void check_annotation(struct check *c, const struct node *root)
{
	const struct node *label = entry(root, SELECTOR, HOSTNAME_LABEL);
	const struct node *other = entry(root, "metadata.annotations", PEER_ANNOTATION);
	size_t mark;

	if (!other ||
		(is_dns_subdomain(other->text) && (!label || streq(label->text, other->text))))
		return;
	mark = check_enter(c, "metadata.annotations");
	if (label)
		check_add(c, other, PEER_ANNOTATION, "addedNodeSelector names '%s'", label->text);
	else
		check_add(c, other, PEER_ANNOTATION, "expected the name of a peer");
	check_leave(c, mark);
}

void migration_order_rules(struct check *c, const struct node *root)
{
	check_selector(c, node_at(root, SELECTOR), SELECTOR);
	check_annotation(c, root);
}

static bool is_map_of_strings(const struct node *map)
{
	bool ok = map->kind == NODE_MAP;

	for (size_t i = 0; ok && i < map->n_children; i++)
		ok = map->children[i]->kind == NODE_STRING;
	return ok;
}

int migration_order_of_options(const struct node *options, const char **ret_peer, struct err *err)
{
	const struct node *selector = node_get(options, OPTION);
	const struct node *name = entry(options, OPTION, HOSTNAME_LABEL);
	struct findings findings = { 0 };
	struct check c = { .findings = &findings };
	int ret = 0;

	check_selector(&c, selector, OPTION);
	if (selector && !is_map_of_strings(selector))
		ret = err_set(err, ERR_BAD_REQUEST, OPTION ": expected labels with their values");
	else if (findings.n)
		ret = err_set(err, ERR_BAD_REQUEST, "%s: %s", findings.list[0].field,
			findings.list[0].message);
	else
		*ret_peer = name ? name->text : NULL;
	findings_done(&findings);
	buf_done(&c.path);
	return ret;
}

void migration_order_fill(struct node *root)
{
	const char *vmi = node_text(root, "spec.vmiName");

	if (!is_label_value(vmi))
		return; /* too long for one */
	if (!node_at(root, "metadata.labels"))
		node_set_path(root, "metadata.labels", node_new(NODE_MAP, NULL));
	node_set(node_at(root, "metadata.labels"), MIGRATION_VMI_LABEL, node_new(NODE_STRING, vmi));
}
