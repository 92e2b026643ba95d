/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names stand where KubeVirt's API has them: in a map under a key that tells the kind. The tree
 * is walked for such maps, so that a field which is new here is not forgotten there.
 */
#include "core/belongings.h"

#define DEPTH_MAX 32

/* clang-format off */
static const struct {
	const char *key, *field; /* of the map, and of the name in it */
	enum object_kind kind;
} rules[] = {
	{ "secret",                "secretName", KIND_SECRET },
	{ "secret",                "name",       KIND_SECRET }, /* sysprep's */
	{ "secretRef",             "name",       KIND_SECRET },
	{ "networkDataSecretRef",  "name",       KIND_SECRET },
	{ "configMap",             "name",       KIND_CONFIG_MAP },
	{ "persistentVolumeClaim", "claimName",  KIND_PVC },
	{ "dataVolume",            "name",       KIND_PVC }, /* of the same name */
};
/* clang-format on */

bool belongings_have(const struct belongings *b, enum object_kind kind, const char *name)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->list[i].kind == kind && streq(b->list[i].name, name))
			return true;
	}
	return false;
}

static void add(struct belongings *b, enum object_kind kind, const char *name)
{
	if (!name || b->n == BELONGINGS_MAX || belongings_have(b, kind, name))
		return;
	b->list[b->n].kind = kind;
	b->list[b->n++].name = xstrdup(name);
}

static void walk(struct belongings *b, const struct node *node, unsigned depth)
{
	for (size_t i = 0; depth < DEPTH_MAX && i < node->n_children; i++) {
		const struct node *child = node->children[i];

		for (size_t r = 0; r < ARRAY_SIZE(rules); r++)
			if (child->kind == NODE_MAP && streq(child->key, rules[r].key))
				add(b, rules[r].kind, node_text(child, rules[r].field));
		walk(b, child, depth + 1);
	}
}

void belongings_add(struct belongings *b, const struct node *spec)
{
	if (spec)
		walk(b, spec, 0);
}

void belongings_done(struct belongings *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->list[i].name);
	b->n = 0;
}
