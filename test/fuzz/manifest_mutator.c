/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/manifest_mutator.h"

#include <string.h>

#include "core/schema.h"

#define CHANGES_MAX 4 /* at a time */
#define DEPTH_MAX   16
#define ITEMS_MAX   6 /* of a list that is made longer */

struct dice {
	uint64_t state;
};

static unsigned roll(struct dice *dice, unsigned sides)
{
	dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(dice->state >> 33) % sides;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* What some rule takes, and what none should. */
static const char *const strings[] = { "a", "d1", "net-0", "default", "x.y",
	"/var/lib/vmagent/disks/a.img", "/var/lib/vmagent/images/b.img",
	"file:///var/lib/vmagent/images/c", "vmlinuz", "boot/initrd", "02:00:00:12:34:56",
	"0000:81:01.0", "0000:00:00.0", "Europe/Paris", "q35", "pc-q35-7.2", "host-model",
	"host-passthrough", "Haswell-noTSX", "vmx", "quiet console=ttyS0",
	"5d307ca9-b3ef-428c-8861-06e72d69f223", "KubeVirt", "aGVsbG8=", "#cloud-config",
	"192.0.2.1", "br0", "Always", "", "..", "/", "/etc/shadow",
	"/var/lib/vmagent/disks/../../../etc/shadow", "/proc/self/fd/3", "a'/><b c='", "]]>",
	"<!--", "&lt;", "%s", "a,b=c", "$(id)", "-a", "a b", "a\nb", "a\tb", "\xC3\xA9",
	"\xE2\x80\xAE", "\xF0\x9F\x98\x80", "../../x", "quay.io/a/b:latest" };

static const char *const quantities[] = { "0", "1", "512", "4096", "1M", "1Mi", "2Mi", "64Mi",
	"100M", "128Mi", "1Gi", "1G", "1.5Gi", "1500m", "2", "4", "1Ti", "7Ei",
	"9223372036854775807", "16Ei", "-1", "1e3", "1n" };

static struct node *random_integer(struct dice *dice, const struct schema_field *f)
{
	switch (roll(dice, 5)) {
	case 0:
		return node_new_int(f ? f->min : 0);
	case 1:
		return node_new_int(f ? f->max : 65535);
	case 2:
		return node_new_int((f ? f->min : 0) - 1);
	default:
		return node_new_int((f ? f->min : 0) + roll(dice, 9));
	}
}

/* One of "|a|b|". */
static struct node *random_value(struct dice *dice, const char *values)
{
	size_t n = 0, chosen;
	autofree char *text = NULL;

	for (const char *c = values; *c; c++)
		n += *c == '|';
	chosen = roll(dice, (unsigned)n + 1);
	while (chosen-- && strchr(values, '|'))
		values = strchr(values, '|') + 1;
	text = xstrndup(values, strcspn(values, "|"));
	return node_new(NODE_STRING, text);
}

static struct node *random_string(struct dice *dice)
{
	return node_new(NODE_STRING, strings[roll(dice, ARRAY_SIZE(strings))]);
}

static struct node *random_quantity(struct dice *dice)
{
	return node_new(NODE_STRING, quantities[roll(dice, ARRAY_SIZE(quantities))]);
}

static struct node *value_of(struct dice *dice, const struct schema_field *f)
{
	switch (f->type) {
	case TYPE_MAP:
	case TYPE_SCOPE:
	case TYPE_AS:
		return node_new(NODE_MAP, NULL);
	case TYPE_LIST:
		return node_new(NODE_LIST, NULL);
	case TYPE_BOOL:
		return node_new(NODE_BOOL, roll(dice, 2) ? "true" : "false");
	case TYPE_INTEGER:
		return random_integer(dice, f);
	case TYPE_QUANTITY:
		return random_quantity(dice);
	case TYPE_ENUM:
		return random_value(dice, f->values ? f->values : "");
	case TYPE_STRING:
	case TYPE_ANY:
		return random_string(dice);
	}
	return node_new(NODE_NULL, NULL);
}

/* A string that the field's rule takes, if one of some tries is. */
static struct node *fitting(struct dice *dice, const struct schema_field *f)
{
	struct node *value = value_of(dice, f);

	for (int i = 0;
		i < 40 && f->type == TYPE_STRING && !schema_rule_holds(f->rule, value->text); i++) {
		node_free(value);
		value = value_of(dice, f);
	}
	return value;
}

/* ---- a field of the table -------------------------------------------------------------------- */

/* What a map of the table must have, if it has not. */
static void complete(struct dice *dice, struct node *map, enum schema_scope scope, const char *path)
{
	const struct schema_field *f;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		const char *dot = strrchr(f->path, '.');
		const char *key = dot ? dot + 1 : f->path;

		if (f->required && schema_is_child(f, scope, path) && !node_get(map, key))
			node_set(map, key, fitting(dice, f));
	}
}

static struct node *item_of(struct dice *dice, struct node *list,
	const struct schema_field *element)
{
	size_t n = list->n_children;

	if (n && (n >= ITEMS_MAX || roll(dice, 3)))
		return list->children[roll(dice, (unsigned)n)];
	node_append(list, fitting(dice, element));
	return list->children[n];
}

static struct node *entry_of(struct dice *dice, struct node *map, const char *key,
	const struct schema_field *field)
{
	if (!node_get(map, key))
		node_set(map, key, fitting(dice, field));
	return node_get(map, key);
}

/* The next step of a path down from at: a key, then its elements. NULL: what is there
 * is of another kind. */
static struct node *step(struct dice *dice, struct node *at, enum schema_scope scope,
	const char *path, size_t *used)
{
	size_t end = *used + strcspn(path + *used, ".");
	size_t from = *used;
	autofree char *key = xstrndup(path + from, strcspn(path + from, ".[{"));
	autofree char *parent = xstrndup(path, from ? from - 1 : 0);
	const struct schema_field *field = schema_find(scope, parent, key);

	if (at->kind != NODE_MAP || !field)
		return NULL;
	complete(dice, at, scope, parent);
	at = entry_of(dice, at, *key ? key : "k", field);
	while (at && field && field->type == TYPE_LIST && strstr(path + from, "[]")) {
		field = schema_element(field);
		at = at->kind == NODE_LIST && field ? item_of(dice, at, field) : NULL;
	}
	*used = path[end] ? end + 1 : end;
	return at;
}

/* Makes the field of a row, below root, with all that is above it. */
static void set_field(struct dice *dice, struct node *root, const struct schema_field *f)
{
	size_t used = 0;
	struct node *at = root;

	for (int depth = 0; at && f->path[used] && depth < DEPTH_MAX; depth++)
		at = step(dice, at, f->scope, f->path, &used);
	if (!at)
		return;
	if (f->type == TYPE_MAP)
		complete(dice, at, f->scope, f->path);
	else if (at->n_children == 0 && roll(dice, 4)) {
		struct node *value = roll(dice, 5) ? fitting(dice, f) : value_of(dice, f);

		at->kind = value->kind;
		replace_str(&at->text, value->text);
		node_free(value);
	}
}

static const struct schema_field *random_field(struct dice *dice, enum schema_scope scope)
{
	const struct schema_field *f;
	const struct schema_field *chosen = NULL;
	unsigned n = 0;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));)
		if (f->scope == scope && f->treat == TREAT_USED && roll(dice, ++n) == 0)
			chosen = f;
	return chosen;
}

/* ---- changes of what is there ---------------------------------------------------------------- */

/* The n-th node below root that is not a list's or map's own; *ret_index is where
 * its parent has it. */
static struct node *parent_of(struct node *root, size_t *n, size_t *ret_index)
{
	for (size_t i = 0; i < root->n_children; i++) {
		struct node *found;

		if ((*n)-- == 0) {
			*ret_index = i;
			return root;
		}
		found = parent_of(root->children[i], n, ret_index);
		if (found)
			return found;
	}
	return NULL;
}

static struct node *random_parent(struct dice *dice, struct node *root, size_t *ret_index)
{
	size_t count = node_count(root) - 1, n = count ? roll(dice, (unsigned)count) : 0;

	return parent_of(root, &n, ret_index);
}

static void remove_one(struct dice *dice, struct node *spec)
{
	size_t i;
	struct node *parent = random_parent(dice, spec, &i);

	if (parent)
		node_free(node_take(parent, i));
}

static void double_one(struct dice *dice, struct node *spec)
{
	size_t i;
	struct node *parent = random_parent(dice, spec, &i);

	if (parent && parent->kind == NODE_LIST && parent->n_children < ITEMS_MAX)
		node_append(parent, node_copy(parent->children[i]));
}

static void change_one(struct dice *dice, struct node *spec)
{
	size_t i;
	struct node *parent = random_parent(dice, spec, &i), *one, *value;

	if (!parent)
		return;
	one = parent->children[i];
	if (one->n_children || one->kind == NODE_MAP || one->kind == NODE_LIST)
		return;
	value = one->kind == NODE_NUMBER ? random_integer(dice, NULL)
		: one->kind == NODE_BOOL ? node_new(NODE_BOOL, roll(dice, 2) ? "true" : "false")
		: roll(dice, 3)          ? random_string(dice)
					 : random_quantity(dice);
	one->kind = value->kind;
	replace_str(&one->text, value->text);
	node_free(value);
}

/* Names that belong together: one string of the spec becomes another one of it. */
static void repeat_one(struct dice *dice, struct node *spec)
{
	size_t i, j;
	struct node *from = random_parent(dice, spec, &i), *to = random_parent(dice, spec, &j);

	if (!from || !to || from->children[i]->kind != NODE_STRING ||
		to->children[j]->kind != NODE_STRING)
		return;
	replace_str(&to->children[j]->text, from->children[i]->text);
}

/* Each disk has a volume of its name, each interface a network, and back: else
 * hardly anything were accepted. */
static void pair(struct dice *dice, struct node *spec, const char *path, const char *other,
	const char *source)
{
	struct node *list = node_at(spec, path);

	for (size_t i = 0; list && list->kind == NODE_LIST && i < list->n_children; i++) {
		const char *name = node_text(list->children[i], "name");
		struct node *others = node_at(spec, other), *made;
		bool found = !name;

		for (size_t j = 0; others && j < others->n_children && !found; j++)
			found = streq(node_text(others->children[j], "name"), name);
		if (found)
			continue;
		if (!others || others->kind != NODE_LIST)
			node_set_path(spec, other, node_new(NODE_LIST, NULL));
		made = node_new(NODE_MAP, NULL);
		node_set(made, "name", node_new(NODE_STRING, name));
		if (source)
			node_set(made, source, node_new(NODE_MAP, NULL));
		if (streq(source, "emptyDisk"))
			node_set_path(made, "emptyDisk.capacity", random_quantity(dice));
		node_append(node_at(spec, other), made);
	}
}

static void pair_all(struct dice *dice, struct node *spec)
{
	pair(dice, spec, "domain.devices.disks", "volumes", "emptyDisk");
	pair(dice, spec, "domain.devices.interfaces", "networks", "pod");
	pair(dice, spec, "networks", "domain.devices.interfaces", "masquerade");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static struct node *fresh(void)
{
	struct node *root = node_new(NODE_MAP, NULL);

	node_set(root, "apiVersion", node_new(NODE_STRING, "kubevirt.io/v1"));
	node_set(root, "kind", node_new(NODE_STRING, "VirtualMachineInstance"));
	node_set_path(root, "metadata.name", node_new(NODE_STRING, "a"));
	node_set_path(root, "spec.domain.memory.guest", node_new(NODE_STRING, "64Mi"));
	return root;
}

static struct node *first_document(const uint8_t *data, size_t size)
{
	struct documents docs = { 0 };
	struct node *root = NULL;
	struct place place;

	if (nodes_parse((const char *)data, size, &docs, &place, NULL) == 0 && docs.n &&
		docs.roots[0]->kind == NODE_MAP)
		root = take(&docs.roots[0]);
	if (docs.roots && !docs.roots[0])
		docs.roots[0] = node_new(NODE_NULL, NULL);
	documents_done(&docs);
	return root;
}

/* Where a VMI's spec is in it; made where it is not. */
static struct node *spec_of(struct node *root)
{
	const char *path = streq(node_text(root, "kind"), "VirtualMachine") ? "spec.template.spec"
									    : "spec";
	struct node *spec = node_at(root, path);

	if (spec && spec->kind == NODE_MAP)
		return spec;
	node_set_path(root, path, node_new(NODE_MAP, NULL));
	return node_at(root, path);
}

static void change(struct dice *dice, struct node *root, struct node *spec)
{
	switch (roll(dice, 10)) {
	case 0:
		remove_one(dice, spec);
		break;
	case 1:
		double_one(dice, spec);
		break;
	case 2:
		change_one(dice, spec);
		break;
	case 3:
		repeat_one(dice, spec);
		break;
	case 4:
		pair_all(dice, spec);
		break;
	case 5:
		change_one(dice, root);
		break;
	default:
		set_field(dice, spec, random_field(dice, SCOPE_SPEC));
	}
}

size_t manifest_mutate(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct dice dice = { seed };
	struct node *root = first_document(data, size);
	autofree char *json = NULL;
	size_t len;

	if (!root)
		root = fresh();
	roll(&dice, 2);
	for (unsigned i = 0, n = 1 + roll(&dice, CHANGES_MAX); i < n; i++)
		change(&dice, root, spec_of(root));
	if (roll(&dice, 4))
		pair_all(&dice, spec_of(root));
	json = node_json(root);
	node_free(root);
	len = strlen(json);
	if (len > max)
		return size;
	memcpy(data, json, len);
	return len;
}
