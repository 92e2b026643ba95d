/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules between fields of what a scheduler reads: an operator and its values, a toleration and its
 * key. As the API server of Kubernetes has them.
 */
#include "core/check.h"

#define REQUIRED_TERMS "requiredDuringSchedulingIgnoredDuringExecution"
#define NODE_TERMS     "affinity.nodeAffinity." REQUIRED_TERMS ".nodeSelectorTerms"

static size_t count(const struct node *list)
{
	return list && list->kind == NODE_LIST ? list->n_children : 0;
}

static bool is_whole_number(const struct node *value)
{
	char *end;

	if (!value->text || !*value->text)
		return false;
	strtoll(value->text, &end, 10);
	return !*end;
}

static void expression_rule(struct check *c, const struct node *one)
{
	const struct node *op = node_get(one, "operator"), *values = node_get(one, "values");
	const char *name = op && op->text ? op->text : "";
	size_t n = count(values);

	if ((streq(name, "In") || streq(name, "NotIn")) && !n)
		check_add(c, op, "values", "operator %s needs at least one of values", name);
	if ((streq(name, "Exists") || streq(name, "DoesNotExist")) && n)
		check_add_key(c, values, "values", "operator %s takes no values", name);
	if ((streq(name, "Gt") || streq(name, "Lt")) &&
		(n != 1 || !is_whole_number(values->children[0])))
		check_add(c, op, "values", "operator %s needs one value, a whole number", name);
}

static void expressions_rules(struct check *c, const struct node *from, const char *list_path)
{
	const struct node *list = node_at(from, list_path);

	for (size_t i = 0; i < count(list); i++) {
		size_t mark = check_enter_item(c, list_path, i);

		expression_rule(c, list->children[i]);
		check_leave(c, mark);
	}
}

static void node_rules(struct check *c, const struct node *spec)
{
	const struct node *terms = node_at(spec, NODE_TERMS);

	if (terms && terms->kind == NODE_LIST && !terms->n_children)
		check_add(c, terms, NODE_TERMS, "give at least one term");
	for (size_t i = 0; i < count(terms); i++) {
		size_t mark = check_enter_item(c, NODE_TERMS, i);

		expressions_rules(c, terms->children[i], "matchExpressions");
		expressions_rules(c, terms->children[i], "matchFields");
		check_leave(c, mark);
	}
}

static void pod_rules(struct check *c, const struct node *spec, const char *path)
{
	const struct node *terms = node_at(spec, path);

	for (size_t i = 0; i < count(terms); i++) {
		size_t mark = check_enter_item(c, path, i);

		expressions_rules(c, terms->children[i], "labelSelector.matchExpressions");
		expressions_rules(c, terms->children[i], "namespaceSelector.matchExpressions");
		check_leave(c, mark);
	}
}

static void toleration_rules(struct check *c, const struct node *spec)
{
	const struct node *list = node_get(spec, "tolerations");

	for (size_t i = 0; i < count(list); i++) {
		const struct node *one = list->children[i], *value = node_get(one, "value");
		bool exists = streq(node_text(one, "operator"), "Exists");
		size_t mark = check_enter_item(c, "tolerations", i);

		if (!node_text(one, "key") && !exists)
			check_add(c, one, "key", "give a key, or operator Exists for any");
		if (exists && value && value->text && *value->text)
			check_add_key(c, value, "value", "operator Exists takes no value");
		check_leave(c, mark);
	}
}

void placement_rules(struct check *c, const struct node *spec)
{
	node_rules(c, spec);
	pod_rules(c, spec, "affinity.podAffinity." REQUIRED_TERMS);
	pod_rules(c, spec, "affinity.podAntiAffinity." REQUIRED_TERMS);
	toleration_rules(c, spec);
}
