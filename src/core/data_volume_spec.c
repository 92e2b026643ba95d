/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a DataVolume says: its rules, its source, the claim that it asks for; and those that
 * a VM's templates make.
 */
#include "core/data_volume.h"

#include <string.h>

#include "core/claim.h"
#include "core/edit.h"
#include "core/names.h"
#include "core/quantity.h"
#include "core/rules_private.h"

#define SIZE "resources.requests.storage"

static const char *const sources[] = {
#define X(c, t) t,
	FILL_SOURCES(X)
#undef X
		NULL
};

/* ---- checking -------------------------------------------------------------------------------- */

static void source_rules(struct check *c, const struct node *spec)
{
	const struct node *source = node_get(spec, "source"), *last = NULL;
	size_t n;

	if (!source || source->kind != NODE_MAP)
		return;
	n = element_count_keys(source, sources, &last);
	if (n > 1)
		check_add_key(c, last, "source", "a DataVolume has one source, not %zu", n);
	else if (!n && !source->n_children)
		check_add(c, source, "source", "give one source: blank, pvc or registry");
}

static void storage_rules(struct check *c, const struct node *spec)
{
	const struct node *storage = node_get(spec, "storage");
	bool clones = node_at(spec, "source.pvc") != NULL;

	if (storage && node_get(spec, "pvc"))
		check_add_key(c, storage, "storage", "give pvc or storage, not both");
	else if (!storage && !node_get(spec, "pvc"))
		check_add_key(c, spec, "pvc", "field 'pvc' is required, or storage in its place");
	else if (storage && storage->kind == NODE_MAP && !clones && !node_at(storage, SIZE))
		check_add_key(c, storage, "storage." SIZE,
			"field 'storage' is required: how big is the disk to be?");
}

static void access_rules(struct check *c, const struct node *spec, const char *which)
{
	const struct node *claim = node_get(spec, which);
	autofree char *field = xasprintf("%s.accessModes", which);
	const struct node *modes = node_get(claim, "accessModes");

	if (modes && modes->kind == NODE_LIST && !modes->n_children)
		check_add_key(c, modes, field, "at least 1 access mode is required");
}

void data_volume_rules(struct check *c, const struct node *spec)
{
	if (!spec || spec->kind != NODE_MAP)
		return;
	source_rules(c, spec);
	storage_rules(c, spec);
	access_rules(c, spec, "pvc");
	access_rules(c, spec, "storage");
	claim_limit_rules(c, node_get(spec, "pvc"), "pvc");
	claim_limit_rules(c, node_get(spec, "storage"), "storage");
}

static bool is_named_by_volume(const struct node *vm_spec, const char *name)
{
	const struct node *volumes = node_at(vm_spec, "template.spec.volumes");

	for (size_t i = 0; i < list_count(volumes); i++) {
		const struct node *one = volumes->children[i];

		if (streq(node_text(one, "dataVolume.name"), name) ||
			streq(node_text(one, "persistentVolumeClaim.claimName"), name))
			return true;
	}
	return false;
}

static void check_template(struct check *c, const struct node *vm_spec, const struct node *list,
	size_t i)
{
	const struct node *one = list->children[i];
	const char *name = node_text(one, "metadata.name");
	size_t mark = check_enter_item(c, "dataVolumeTemplates", i);

	for (size_t k = 0; name && k < i; k++)
		if (streq(node_text(list->children[k], "metadata.name"), name))
			check_add(c, node_at(one, "metadata.name"), "metadata.name",
				"'%s' is there twice", name);
	if (name && !is_named_by_volume(vm_spec, name))
		check_add(c, node_at(one, "metadata.name"), "metadata.name",
			"no volume of the template has the dataVolume '%s'", name);
	if (node_get(one, "spec")) {
		size_t inner = check_enter(c, "spec");

		data_volume_rules(c, node_get(one, "spec"));
		check_leave(c, inner);
	}
	check_leave(c, mark);
}

void data_volume_template_rules(struct check *c, const struct node *vm_spec)
{
	const struct node *list = node_get(vm_spec, "dataVolumeTemplates");

	for (size_t i = 0; i < list_count(list); i++)
		check_template(c, vm_spec, list, i);
}

/* ---- reading --------------------------------------------------------------------------------- */

void fill_read(const char *content, struct fill *ret)
{
	struct node *tree = text_tree(content);
	const struct node *spec = node_get(tree, "spec");
	const struct node *flag = node_get(spec, "preallocation");
	const char *url = node_text(spec, "source.registry.url");

	*ret = (struct fill){ .preallocate = flag && streq(flag->text, "true") };
	if (node_at(spec, "source.pvc")) {
		ret->source = FILL_CLAIM;
		ret->ns = xstrdup(node_text(spec, "source.pvc.namespace"));
		ret->claim = xstrdup(node_text(spec, "source.pvc.name"));
	} else if (url) {
		ret->source = FILL_REGISTRY;
		ret->image = xstrdup(url + strlen(REGISTRY_SCHEME));
	}
	node_free(tree);
}

void fill_done(struct fill *fill)
{
	free(take(&fill->ns));
	free(take(&fill->claim));
	free(take(&fill->image));
}

/* A disk of that size fits into it, as CDI has it. */
static void size_claim(struct node *spec, int64_t size)
{
	const char *asked = node_text(spec, SIZE);
	bool block = streq(node_text(spec, "volumeMode"), "Block");
	autofree char *text = NULL;

	if (asked && quantity_parse(asked, &size, NULL))
		return;
	text = xasprintf("%lld", (long long)(block ? size : size + CLAIM_RESERVE));
	node_set_path(spec, SIZE, node_new(NODE_STRING, text));
	/* Of what was asked for, and nothing was. */
	node_remove(node_get(spec, "resources"), "limits");
}

static struct node *claim_spec(const struct node *dv_spec, int64_t size)
{
	const struct node *full = node_get(dv_spec, "pvc");
	struct node *spec = node_copy(full ? full : node_get(dv_spec, "storage"));

	if (full)
		return spec;
	if (!node_get(spec, "accessModes")) {
		node_set(spec, "accessModes", node_new(NODE_LIST, NULL));
		node_append(node_get(spec, "accessModes"), node_new(NODE_STRING, "ReadWriteOnce"));
	}
	size_claim(spec, size);
	return spec;
}

struct node *data_volume_claim(const char *ns, const char *name, const char *content, int64_t size)
{
	struct node *tree = text_tree(content), *root = node_new(NODE_MAP, NULL);

	node_set_path(root, "metadata.name", node_new(NODE_STRING, name));
	node_set_path(root, "metadata.namespace", node_new(NODE_STRING, ns));
	node_set(root, "spec", claim_spec(node_get(tree, "spec"), size));
	node_free(tree);
	return root;
}

static struct node *template_object(const struct node *from, const char *ns)
{
	struct node *root = node_new(NODE_MAP, NULL);

	node_set(root, "metadata", node_copy(node_get(from, "metadata")));
	node_set_path(root, "metadata.namespace", node_new(NODE_STRING, ns));
	node_set(root, "spec", node_copy(node_get(from, "spec")));
	return root;
}

size_t data_volume_templates(const struct node *vm_spec, const char *ns, struct node ***ret)
{
	const struct node *list = node_get(vm_spec, "dataVolumeTemplates");
	size_t n = list ? list->n_children : 0;

	*ret = n ? xcalloc(n, sizeof(**ret)) : NULL;
	for (size_t i = 0; i < n; i++)
		(*ret)[i] = template_object(list->children[i], ns);
	return n;
}

static void add_volume(struct vm *vm, const char *name, bool template)
{
	for (size_t i = 0; name && i < vm->n_volumes; i++)
		if (streq(vm->volumes[i].name, name))
			return;
	if (name)
		vm->volumes[vm->n_volumes++] = (struct vm_volume){ xstrdup(name), template };
}

void vm_take_volumes(struct vm *vm, const struct node *vm_spec)
{
	const struct node *templates = node_get(vm_spec, "dataVolumeTemplates");
	const struct node *volumes = node_at(vm_spec, "template.spec.volumes");

	while (vm->n_volumes)
		free(vm->volumes[--vm->n_volumes].name);
	vm->volumes = xrealloc_array(vm->volumes, list_count(templates) + list_count(volumes) + 1,
		sizeof(*vm->volumes));
	for (size_t i = 0; i < list_count(templates); i++)
		add_volume(vm, node_text(templates->children[i], "metadata.name"), true);
	for (size_t i = 0; i < list_count(volumes); i++)
		add_volume(vm, node_text(volumes->children[i], "dataVolume.name"), false);
}
