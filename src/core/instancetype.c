/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which types a VM names and what of them is pinned. A pin keeps the whole object as it was, so
 * that no later edit of it, nor its deletion, changes the VM.
 */
#include "core/instancetype.h"

#include <string.h>
#include <strings.h>

#include "core/defaults.h"
#include "core/edit.h"

const char *type_field(enum vm_type which)
{
	return which == VM_INSTANCETYPE ? "instancetype" : "preference";
}

/* ---- what is named --------------------------------------------------------------------------- */

static const enum object_kind kinds[VM_TYPES][2] = {
	[VM_INSTANCETYPE] = { KIND_CLUSTER_INSTANCETYPE, KIND_INSTANCETYPE },
	[VM_PREFERENCE] = { KIND_CLUSTER_PREFERENCE, KIND_PREFERENCE },
};

enum object_kind type_kind_parse(const char *text, enum vm_type which)
{
	if (!*text)
		return kinds[which][0];
	for (size_t i = 0; i < ARRAY_SIZE(kinds[which]); i++) {
		if (strcasecmp(text, object_kind_name(kinds[which][i])) == 0 ||
			strcasecmp(text, object_kind_plural(kinds[which][i])) == 0)
			return kinds[which][i];
	}
	return KIND_MAX;
}

static const char *text_at(const struct node *map, const char *key)
{
	const struct node *node = node_get(map, key);

	return node && node->kind == NODE_STRING && *node->text ? node->text : NULL;
}

bool type_ref_read(const struct node *vm_spec, enum vm_type which, struct type_ref *ret)
{
	const struct node *field = node_get(vm_spec, type_field(which));
	const char *kind;

	if (!field || field->kind != NODE_MAP)
		return false;
	kind = text_at(field, "kind");
	ret->kind = type_kind_parse(kind ? kind : "", which);
	ret->kind_text = kind ? kind : object_kind_name(ret->kind);
	ret->name = text_at(field, "name");
	ret->revision = text_at(field, "revisionName");
	ret->from_volume = text_at(field, "inferFromVolume");
	ret->optional = streq(text_at(field, "inferFromVolumeFailurePolicy"), "Ignore");
	return true;
}

bool types_are_named(const struct node *vm_spec)
{
	struct type_ref ref;

	return type_ref_read(vm_spec, VM_INSTANCETYPE, &ref) ||
		type_ref_read(vm_spec, VM_PREFERENCE, &ref);
}

/* ---- what is pinned -------------------------------------------------------------------------- */

bool pin_holds(const struct pin *pin, const struct type_ref *ref)
{
	if (!pin->object || !streq(pin->from_volume, ref->from_volume))
		return false;
	if (pin->given != (ref->revision != NULL) ||
		(ref->revision && !streq(pin->revision, ref->revision)))
		return false;
	return ref->from_volume ||
		(streq(pin->name, ref->name) && streq(pin->kind, ref->kind_text));
}

void pin_done(struct pin *pin)
{
	free(pin->kind);
	free(pin->name);
	free(pin->from_volume);
	free(pin->revision);
	free(pin->object);
	*pin = (struct pin){ 0 };
}

void pin_copy(struct pin *ret, const struct pin *pin)
{
	*ret = (struct pin){
		.kind = xstrdup(pin->kind),
		.name = xstrdup(pin->name),
		.from_volume = xstrdup(pin->from_volume),
		.revision = xstrdup(pin->revision),
		.object = xstrdup(pin->object),
		.given = pin->given,
		.optional = pin->optional,
	};
}

/* As KubeVirt: what others keep of it in its metadata is left away. */
static char *revision_data(const struct node *object)
{
	static const char *const others[] = { "labels", "annotations", "finalizers",
		"ownerReferences", "managedFields" };
	struct node *data = node_copy(object);
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		node_remove(node_get(data, "metadata"), others[i]);
	text = node_json(data);
	node_free(data);
	return text;
}

void pin_take(struct pin *ret, const struct type_ref *ref, const char *vm,
	const struct node *object)
{
	const char *name = node_text(object, "metadata.name");
	const char *generation = node_text(object, "metadata.generation");
	const char *version = strchr(object_kind_api_version(KIND_INSTANCETYPE), '/') + 1;

	*ret = (struct pin){
		.kind = xstrdup(ref->from_volume ? node_text(object, "kind") : ref->kind_text),
		.name = xstrdup(name),
		.from_volume = xstrdup(ref->from_volume),
		.object = revision_data(object),
		.given = ref->revision != NULL,
		.optional = ref->optional,
	};
	if (ref->revision)
		ret->revision = xstrdup(ref->revision);
	else if (name)
		ret->revision = xasprintf("%s-%s-%s-%s-%s", vm, name, version,
			node_text(object, "metadata.uid"), generation ? generation : "1");
}

bool type_take_order(struct node *vm_spec, enum vm_type which)
{
	struct node *field = node_get(vm_spec, type_field(which));
	const struct node *revision = node_get(field, "revisionName");

	if (!revision || revision->kind != NODE_STRING || *revision->text)
		return false;
	node_remove(field, "revisionName");
	return true;
}

int types_check_change(const struct node *old_spec, const struct node *new_spec, struct err *err)
{
	for (int which = 0; which < VM_TYPES; which++) {
		struct type_ref old, new;

		if (!type_ref_read(old_spec, which, &old) || !type_ref_read(new_spec, which, &new))
			continue;
		if (old.revision && streq(old.revision, new.revision) && !streq(old.name, new.name))
			return err_set(err, ERR_INVALID,
				"spec.%s.revisionName: the matcher's name has been updated without "
				"updating the revisionName; leave it away",
				type_field(which));
	}
	return 0;
}

void vm_take_types(struct vm *vm, const struct node *vm_spec)
{
	vm->unpinned = false;
	for (int which = 0; which < VM_TYPES; which++) {
		struct type_ref ref;

		if (!type_ref_read(vm_spec, which, &ref))
			pin_done(&vm->pins[which]);
		else if (!pin_holds(&vm->pins[which], &ref))
			vm->unpinned = true;
	}
	if (vm->unpinned)
		return;
	vm->type_trouble = TYPE_TROUBLE_NONE;
	replace_str(&vm->type_words, NULL);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* They did not stand where the rest did. */
static void forget_places(struct node *node)
{
	node->line = node->column = node->key_line = node->key_column = 0;
	for (size_t i = 0; i < node->n_children; i++)
		forget_places(node->children[i]);
}

static struct node *object_of(const struct pin *pin)
{
	struct node *object = pin->object ? text_tree(pin->object) : NULL;

	if (object)
		forget_places(object);
	return object;
}

void types_apply(const struct pin pins[VM_TYPES], struct node *vm_spec, struct findings *f)
{
	struct node *type = object_of(&pins[VM_INSTANCETYPE]);
	struct node *preference = object_of(&pins[VM_PREFERENCE]);
	struct expansion e = {
		.vm_spec = vm_spec,
		.spec = node_at(vm_spec, "template.spec"),
		.instancetype = node_get(type, "spec"),
		.preference = node_get(preference, "spec"),
		.optional_memory = pins[VM_INSTANCETYPE].optional,
		.findings = f,
	};

	if (e.spec && e.spec->kind == NODE_MAP && (e.instancetype || e.preference)) {
		preference_attach(&e);
		vmi_spec_default_lists(e.spec);
		if (instancetype_apply(&e)) {
			preference_apply(&e);
			preference_require(&e);
		}
	}
	node_free(type);
	node_free(preference);
}

/* As KubeVirt notes them on the run. */
static void note_types(const struct vm *vm, struct node *spec)
{
	static const char *const annotations[VM_TYPES][2] = {
		[VM_INSTANCETYPE] = { "kubevirt.io/cluster-instancetype-name",
			"kubevirt.io/instancetype-name" },
		[VM_PREFERENCE] = { "kubevirt.io/cluster-preference-name",
			"kubevirt.io/preference-name" },
	};

	for (int which = 0; which < VM_TYPES; which++) {
		const struct pin *pin = &vm->pins[which];
		bool own = pin->kind && type_kind_parse(pin->kind, which) == kinds[which][1];

		if (pin->name)
			node_set(template_annotations(spec), annotations[which][own],
				node_new(NODE_STRING, pin->name));
	}
}

struct node *vm_spec_expanded(const struct vm *vm)
{
	struct node *spec = text_tree(vm->spec);
	struct findings findings = { 0 };

	if (!spec)
		return NULL;
	types_apply(vm->pins, spec, &findings); /* it was judged when it was pinned */
	note_types(vm, spec);
	findings_done(&findings);
	return spec;
}
