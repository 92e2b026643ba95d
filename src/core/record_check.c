/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Kubernetes' API server checks of the kinds that are kept as given, as far as it
 * matters to those who read them. The spec of the kinds that KubeVirt and its neighbours
 * define goes through unread.
 */
#include <string.h>

#include "core/base64.h"
#include "core/claim.h"
#include "core/edit.h"
#include "core/migration_order.h"
#include "core/names.h"
#include "core/record.h"

#define DATA_KEY_MAX   253 /* characters of a key; Kubernetes */
#define OLDER_VERSION  "kubevirt.io/v1alpha3"
#define DATA_BYTES_MAX (1024 * 1024) /* of all values of a Secret or ConfigMap; Kubernetes */

enum member {
	MEMBER_ANY,
	MEMBER_MAP,
	MEMBER_BOOL,
	MEMBER_TEXT,
	MEMBER_TEXTS,
	MEMBER_BASE64S,
	MEMBER_NUMBER
};

static const struct {
	enum object_kind kind;
	const char *name;
	enum member is;
	bool required;
} members[] = {
	/* clang-format off */
	{ KIND_NAMESPACE,            "spec",       MEMBER_MAP,     false },
	{ KIND_SECRET,               "data",       MEMBER_BASE64S, false },
	{ KIND_SECRET,               "stringData", MEMBER_TEXTS,   false },
	{ KIND_SECRET,               "type",       MEMBER_TEXT,    false },
	{ KIND_SECRET,               "immutable",  MEMBER_BOOL,    false },
	{ KIND_CONFIG_MAP,           "data",       MEMBER_TEXTS,   false },
	{ KIND_CONFIG_MAP,           "binaryData", MEMBER_BASE64S, false },
	{ KIND_CONFIG_MAP,           "immutable",  MEMBER_BOOL,    false },
	{ KIND_NETWORK,              "spec",       MEMBER_MAP,     false },
	{ KIND_PRIORITY_CLASS,       "value",            MEMBER_NUMBER, true },
	{ KIND_PRIORITY_CLASS,       "globalDefault",    MEMBER_BOOL,   false },
	{ KIND_PRIORITY_CLASS,       "preemptionPolicy", MEMBER_TEXT,   false },
	{ KIND_PRIORITY_CLASS,       "description",      MEMBER_TEXT,   false },
	/* clang-format on */
};

static bool is_general(const char *key)
{
	return streq(key, "apiVersion") || streq(key, "kind") || streq(key, "metadata") ||
		streq(key, "status");
}

static size_t find_member(enum object_kind kind, const char *key)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(members) && !(members[i].kind == kind && streq(members[i].name, key)))
		i++;
	return i;
}

static bool is_data_key(const char *key)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
	size_t len = strlen(key);

	return len && len <= DATA_KEY_MAX && strspn(key, allowed) == len && !streq(key, ".") &&
		strncmp(key, "..", 2) != 0;
}

static void check_texts(struct check *c, const struct node *map, bool base64)
{
	size_t mark = check_enter(c, map->key), total = 0;

	for (size_t i = 0; i < map->n_children; i++) {
		const struct node *one = map->children[i];

		if (!is_data_key(one->key))
			check_add_key(c, one, one->key,
				"a key has letters, digits, '-', '_' and '.', at most %d of them",
				DATA_KEY_MAX);
		else if (one->kind != NODE_STRING)
			check_add(c, one, one->key, "expected a text: put it in quotes");
		else if (base64 && !is_base64(one->text))
			check_add(c, one, one->key,
				"expected base64; give plain text under stringData");
		total += one->text ? strlen(one->text) : 0;
	}
	check_leave(c, mark);
	if (total > DATA_BYTES_MAX)
		check_add_key(c, map, map->key, "%zu bytes, at most %d are possible", total,
			DATA_BYTES_MAX);
}

static void check_member(struct check *c, const struct node *value, enum member is)
{
	static const char *const words[] = { "", "a map", "true or false", "a text",
		"a map of texts", "a map of texts in base64", "a whole number" };
	static const enum node_kind kinds[] = { NODE_NULL, NODE_MAP, NODE_BOOL, NODE_STRING,
		NODE_MAP, NODE_MAP, NODE_NUMBER };

	if (value->kind != kinds[is])
		check_add(c, value, value->key, "expected %s", words[is]);
	else if (is == MEMBER_TEXTS || is == MEMBER_BASE64S)
		check_texts(c, value, is == MEMBER_BASE64S);
}

static void check_members(struct check *c, const struct node *root, enum object_kind kind)
{
	for (size_t i = 0; i < root->n_children; i++) {
		const struct node *one = root->children[i];
		size_t m = find_member(kind, one->key);

		if (m < ARRAY_SIZE(members))
			check_member(c, one, members[m].is);
		else if (!is_general(one->key))
			check_add_key(c, one, one->key, "unknown field '%.64s' of a %s", one->key,
				object_kind_name(kind));
	}
	for (size_t m = 0; m < ARRAY_SIZE(members); m++)
		if (members[m].kind == kind && members[m].required &&
			!node_get(root, members[m].name))
			check_add_key(c, root, members[m].name, "field '%s' is required",
				members[m].name);
}

#define PRIORITY_MAX 1000000000 /* of a user's class; Kubernetes */

/* The default, PreemptLowerPriority, is as good as said. */
static void check_priority_class(struct check *c, const struct node *root)
{
	const struct node *value = node_get(root, "value");
	const struct node *policy = node_get(root, "preemptionPolicy");
	const char *name = node_text(root, "metadata.name");
	long long number = 0;
	char *end = NULL;

	if (value && value->kind == NODE_NUMBER)
		number = strtoll(value->text, &end, 10);
	if (end && (*end || number < INT32_MIN || number > PRIORITY_MAX))
		check_add(c, value, "value", "expected a whole number up to %d, not %.64s",
			PRIORITY_MAX, value->text);
	if (policy && policy->text && !streq(policy->text, "Never") &&
		!streq(policy->text, "PreemptLowerPriority"))
		check_add(c, policy, "preemptionPolicy",
			"expected Never or PreemptLowerPriority, not '%.64s'", policy->text);
	if (name && starts_with(name, "system-"))
		check_add(c, node_at(root, "metadata.name"), "metadata.name",
			"names that begin with 'system-' are Kubernetes' own");
	if (!policy || !streq(policy->text, "Never"))
		check_warn_key(c, policy ? policy : root,
			"no guest is ever stopped for another on one host: the class orders those "
			"that wait for room");
}

static void check_version(struct check *c, const struct node *root, enum object_kind kind)
{
	struct node *version = node_get(root, "apiVersion");

	if (kind == KIND_MIGRATION && version && streq(version->text, OLDER_VERSION))
		/* The fields are the same. */
		replace_str(&version->text, object_kind_api_version(kind));
	if (!version || version->kind != NODE_STRING ||
		!streq(version->text, object_kind_api_version(kind)))
		check_add(c, version ? version : root, "apiVersion", "expected %s",
			object_kind_api_version(kind));
}

static void check_place(struct check *c, const struct node *meta, enum object_kind kind)
{
	const struct node *ns = node_get(meta, "namespace"), *name = node_get(meta, "name");
	size_t mark = check_enter(c, "metadata");

	if (ns && !object_kind_is_namespaced(kind))
		check_add_key(c, ns, "namespace", "a %s lies in no namespace: leave it away",
			object_kind_name(kind));
	if (kind == KIND_NAMESPACE && name && name->kind == NODE_STRING &&
		!is_dns_label(name->text))
		check_add(c, name, "name", "expected %s", schema_rule_words(RULE_LABEL));
	check_leave(c, mark);
}

/* stringData is for writing only: it becomes data, over what stands there. */
static void fold_string_data(struct node *root)
{
	const struct node *texts = node_get(root, "stringData");

	for (size_t i = 0; texts && i < texts->n_children; i++) {
		const struct node *one = texts->children[i];
		autofree char *encoded = base64_encode(one->text, strlen(one->text));
		struct node *data = node_get(root, "data");

		if (!data) {
			node_set(root, "data", node_new(NODE_MAP, NULL));
			data = node_get(root, "data");
		}
		node_set(data, one->key, node_new(NODE_STRING, encoded));
	}
	node_remove(root, "stringData");
}

static void fill_namespace(struct node *root)
{
	struct node *labels = node_at(root, "metadata.labels");
	struct node *name = node_new(NODE_STRING, node_text(root, "metadata.name"));

	if (!labels)
		node_set_path(root, "metadata.labels", labels = node_new(NODE_MAP, NULL));
	node_set(labels, NAMESPACE_LABEL, name);
	if (!node_get(root, "spec"))
		node_set(root, "spec", text_tree(NAMESPACE_SPEC));
}

static void fill(struct node *root, enum object_kind kind)
{
	if (kind == KIND_NAMESPACE)
		fill_namespace(root);
	if (kind == KIND_MIGRATION)
		migration_order_fill(root);
	if (kind == KIND_SECRET) {
		fold_string_data(root);
		if (!node_get(root, "type"))
			node_set(root, "type", node_new(NODE_STRING, "Opaque"));
	}
	node_remove(root, "status");
}

/* Of a kind whose content goes through unread, or has rules of its own here. */
static void check_plain(struct check *c, struct node *root, enum object_kind kind)
{
	struct node *meta = node_get(root, "metadata");

	if (!meta || meta->kind != NODE_MAP) {
		check_add(c, meta ? meta : root, "metadata", "expected a map with a name");
	} else {
		size_t mark = check_enter(c, "metadata");

		schema_prune(meta, SCOPE_META, "");
		schema_check(c, meta, SCOPE_META);
		check_leave(c, mark);
	}
	check_members(c, root, kind);
	if (kind == KIND_PRIORITY_CLASS)
		check_priority_class(c, root);
}

void record_check(struct check *c, struct node *root, enum object_kind kind)
{
	enum schema_scope scope = schema_kind(object_kind_name(kind))->scope;
	size_t before = c->findings->n;

	check_version(c, root, kind);
	if (scope == SCOPE_MAX) {
		check_plain(c, root, kind);
	} else {
		schema_prune(root, scope, "");
		schema_check(c, root, scope);
	}
	if (kind == KIND_PVC)
		claim_rules(c, root);
	if (kind == KIND_MIGRATION)
		migration_order_rules(c, root);
	if (kind == KIND_DATA_VOLUME) {
		size_t mark = check_enter(c, "spec");

		data_volume_rules(c, node_get(root, "spec"));
		check_leave(c, mark);
	}
	if (node_get(root, "metadata"))
		check_place(c, node_get(root, "metadata"), kind);
	if (c->findings->n == before)
		fill(root, kind);
}
