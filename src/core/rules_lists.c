/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules about lists of named elements share.
 *
 * Owns nothing; what is of a wrong kind was reported by schema_check.c and is passed over.
 */
#include "core/rules_private.h"

size_t list_count(const struct node *list)
{
	return list && list->kind == NODE_LIST ? list->n_children : 0;
}

const struct node *list_find(const struct node *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (streq(node_text(list->children[i], "name"), name))
			return list->children[i];
	}
	return NULL;
}

size_t element_count_keys(const struct node *element, const char *const *keys,
	const struct node **ret_last)
{
	size_t n = 0;

	for (; *keys; keys++) {
		const struct node *value = node_get(element, *keys);

		if (!value)
			continue;
		*ret_last = value;
		n++;
	}
	return n;
}

bool element_is_known(const struct node *element, const char *path)
{
	if (element->kind != NODE_MAP)
		return false;
	for (size_t i = 0; i < element->n_children; i++) {
		const struct schema_field *field =
			schema_find(SCOPE_SPEC, path, element->children[i]->key);

		if (!field || field->treat == TREAT_REFUSED)
			return false;
	}
	return true;
}

const struct node *element_name(struct check *c, const struct node *list, size_t i)
{
	const struct node *name = node_get(list->children[i], "name");

	if (!name || name->kind != NODE_STRING)
		return NULL;
	if (!list_find(list, i, name->text))
		return name;
	check_add(c, name, "name", "name '%s' is there twice", name->text);
	return NULL;
}

bool list_has(const struct node *list, const char *name)
{
	return list_find(list, list_count(list), name);
}
