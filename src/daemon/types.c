/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types are found among the records, revisions among the pins of the namespace's VMs: a revision
 * lives as long as a VM that has it.
 */
#include "daemon/types.h"

#include <string.h>

#include "core/edit.h"
#include "core/instancetype.h"

void types_look_done(struct types_look *look)
{
	for (int which = 0; which < VM_TYPES; which++)
		pin_done(&look->pins[which]);
	free(look->words);
	*look = (struct types_look){ 0 };
}

/* ---- finding --------------------------------------------------------------------------------- */

/* A record's document as a tree, owned by the caller; NULL: there is none. */
static struct node *find_object(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name)
{
	const struct record *r = records_find(&agent->records, kind,
		object_kind_is_namespaced(kind) ? ns : "", name);
	autofree char *document = r ? record_document(r) : NULL;

	return document ? text_tree(document) : NULL;
}

static struct node *find_revision(const struct agent *agent, enum vm_type which, const char *ns,
	const char *revision)
{
	for (size_t i = 0; i < agent->machines.n; i++) {
		const struct machine *m = agent->machines.list[i];

		if (m->vm && streq(m->ns, ns) && m->vm->pins[which].object &&
			streq(m->vm->pins[which].revision, revision))
			return text_tree(m->vm->pins[which].object);
	}
	return NULL;
}

static const struct node *find_named(const struct node *list, const char *path, const char *name)
{
	for (size_t i = 0; list && i < list->n_children; i++)
		if (streq(node_text(list->children[i], path), name))
			return list->children[i];
	return NULL;
}

static struct node *labels_of_record(const struct agent *agent, enum object_kind kind,
	const char *ns, const char *name)
{
	const struct record *r = name ? records_find(&agent->records, kind, ns, name) : NULL;

	return r && r->meta.labels ? text_tree(r->meta.labels) : NULL;
}

/* The labels of what a volume is made of, owned by the caller; NULL: there are none. */
static struct node *labels_of_volume(const struct agent *agent, const struct types_subject *s,
	const char *volume)
{
	const struct node *v =
		find_named(node_at(s->root, "spec.template.spec.volumes"), "name", volume);
	const char *claim = node_text(v, "persistentVolumeClaim.claimName");
	const char *data = node_text(v, "dataVolume.name");
	const struct node *template = data
		? find_named(node_at(s->root, "spec.dataVolumeTemplates"), "metadata.name", data)
		: NULL;
	const struct node *given = node_at(template, "metadata.labels");
	struct node *labels = given ? node_copy(given) : NULL;

	if (!labels)
		labels = labels_of_record(agent, KIND_DATA_VOLUME, s->ns, data);
	return labels ? labels : labels_of_record(agent, KIND_PVC, s->ns, claim ? claim : data);
}

static const char *label(const struct node *labels, enum vm_type which, const char *end)
{
	autofree char *key = xasprintf(INSTANCETYPE_GROUP "/default-%s%s", type_field(which), end);
	const struct node *value = node_get(labels, key);

	return value && value->kind == NODE_STRING ? value->text : NULL;
}

/* ---- one of the two -------------------------------------------------------------------------- */

static void trouble(struct types_look *look, enum vm_type which, char *words)
{
	look->trouble = which == VM_INSTANCETYPE ? TYPE_TROUBLE_NO_INSTANCETYPE
						 : TYPE_TROUBLE_NO_PREFERENCE;
	free(look->words);
	look->words = words;
}

static void look_by_revision(const struct agent *agent, const struct types_subject *s,
	enum vm_type which, const struct type_ref *ref, struct types_look *ret)
{
	struct node *object = find_revision(agent, which, s->ns, ref->revision);

	if (object && ref->name && !streq(node_text(object, "metadata.name"), ref->name))
		trouble(ret, which,
			xasprintf("controllerrevisions.apps \"%s\" is one of '%s', not of '%s'",
				ref->revision, node_text(object, "metadata.name"), ref->name));
	else if (object)
		pin_take(&ret->pins[which], ref, s->name, object);
	else
		trouble(ret, which,
			xasprintf("controllerrevisions.apps \"%s\" not found; leave revisionName "
				  "away to take the %s as it is",
				ref->revision, type_field(which)));
	node_free(object);
}

static void look_by_name(const struct agent *agent, const struct types_subject *s,
	enum vm_type which, const struct type_ref *ref, struct types_look *ret)
{
	autofree char *resource = object_kind_resource(ref->kind);
	struct node *object = find_object(agent, ref->kind, s->ns, ref->name);

	if (object)
		pin_take(&ret->pins[which], ref, s->name, object);
	else
		trouble(ret, which,
			xasprintf("%s \"%s\" not found; the VM goes on when it is there", resource,
				ref->name));
	node_free(object);
}

/* That there is no label is not an error to everybody: then there is nothing to be had. */
static void look_by_volume(const struct agent *agent, const struct types_subject *s,
	enum vm_type which, const struct type_ref *ref, struct types_look *ret)
{
	struct node *labels = labels_of_volume(agent, s, ref->from_volume);
	const char *kind = label(labels, which, "-kind");
	struct type_ref named = *ref;

	named.name = label(labels, which, "");
	named.kind = type_kind_parse(kind ? kind : "", which);
	if (named.name && named.kind != KIND_MAX) {
		look_by_name(agent, s, which, &named, ret);
	} else if (ref->optional) {
		struct node *nothing = node_new(NODE_MAP, NULL);

		pin_take(&ret->pins[which], ref, s->name, nothing);
		node_free(nothing);
	} else {
		trouble(ret, which,
			xasprintf("what volume '%s' is made of has no label " INSTANCETYPE_GROUP
				  "/default-%s to infer it from",
				ref->from_volume, type_field(which)));
	}
	node_free(labels);
}

static void look_one(const struct agent *agent, const struct types_subject *s, enum vm_type which,
	struct types_look *ret)
{
	const struct node *spec = node_get(s->root, "spec");
	struct type_ref ref;

	if (!type_ref_read(spec, which, &ref))
		return;
	if (s->pins && pin_holds(&s->pins[which], &ref))
		pin_copy(&ret->pins[which], &s->pins[which]);
	else if (ref.revision)
		look_by_revision(agent, s, which, &ref, ret);
	else if (ref.from_volume)
		look_by_volume(agent, s, which, &ref, ret);
	else if (ref.name && ref.kind != KIND_MAX)
		look_by_name(agent, s, which, &ref, ret);
}

/* ---- judging --------------------------------------------------------------------------------- */

int types_check_template(const struct node *vm_spec, struct err *err)
{
	struct node *spec = vmi_spec_tree(vm_spec);
	struct vmi_spec typed = { 0 };
	int ret = spec_parse(spec, &typed, err);

	vmi_spec_done(&typed);
	node_free(spec);
	return ret;
}

/* What the whole comes to is held to the same rules as what is written out. */
static void judge_expanded(const struct agent *agent, struct node *root, struct findings *f)
{
	struct node *spec = node_get(root, "spec");
	struct manifest manifest = { 0 };
	struct err err;

	for (int which = 0; which < VM_TYPES; which++)
		node_remove(spec, type_field(which));
	if (manifest_check(root, &agent->options->policy, &manifest, f) == 0 &&
		types_check_template(node_get(manifest.root, "spec"), &err) < 0)
		findings_add(f, NULL, "spec.template.spec", "%s", err.msg);
	manifest_done(&manifest);
}

static void judge(const struct agent *agent, const struct types_subject *s, struct types_look *look)
{
	struct node *root = node_copy(s->root);
	struct findings findings = { 0 };

	types_apply(look->pins, node_get(root, "spec"), &findings);
	if (!findings.n)
		judge_expanded(agent, root, &findings);
	if (findings.n) {
		look->trouble = TYPE_TROUBLE_UNFIT;
		look->words = findings_words(&findings);
	}
	findings_done(&findings);
	node_free(root);
}

static void find(const struct agent *agent, const struct types_subject *s, struct types_look *ret)
{
	*ret = (struct types_look){ 0 };
	look_one(agent, s, VM_INSTANCETYPE, ret);
	if (!ret->trouble)
		look_one(agent, s, VM_PREFERENCE, ret);
}

void types_look(const struct agent *agent, const struct types_subject *s, struct types_look *ret)
{
	find(agent, s, ret);
	if (!ret->trouble)
		judge(agent, s, ret);
}

int types_check(const struct agent *agent, const struct types_subject *s, struct err *err)
{
	struct types_look look;
	int ret = 0;

	types_look(agent, s, &look);
	if (look.trouble == TYPE_TROUBLE_UNFIT)
		ret = err_set(err, ERR_INVALID, "%s", look.words);
	types_look_done(&look);
	return ret;
}

bool types_look_for(const struct agent *agent, const struct machine *m, struct types_look *ret)
{
	struct target t = { .kind = KIND_VM, .m = (struct machine *)m };
	struct types_subject s = { m->ns, m->name, NULL, m->vm ? m->vm->pins : NULL };
	struct node *root;

	if (!m->vm || !m->vm->unpinned || m->vm->meta.deleted)
		return false;
	s.root = root = agent_object_tree(&t);
	types_look(agent, &s, ret);
	node_free(root);
	return true;
}

/* ---- written out ----------------------------------------------------------------------------- */

/* As KubeVirt does it: with a run's defaults, and without the names of what is worked in. */
static int write_out(const struct types_look *look, struct node *root, struct err *err)
{
	static const char *const refs[VM_TYPES] = { "instancetypeRef", "preferenceRef" };
	struct node *spec = node_get(root, "spec"), *template = node_at(spec, "template.spec");
	struct findings findings = { 0 };
	int ret = 0;

	types_apply(look->pins, spec, &findings);
	if (findings.n) {
		autofree char *words = findings_words(&findings);

		ret = err_set(err, ERR_INVALID, "%s", words);
	}
	findings_done(&findings);
	for (int which = 0; which < VM_TYPES; which++) {
		node_remove(spec, type_field(which));
		if (node_get(root, "status"))
			node_remove(node_get(root, "status"), refs[which]);
	}
	if (template && template->kind == NODE_MAP)
		vmi_spec_default(template);
	return ret;
}

/* A stored VM has its pins; one that is sent takes what is there. */
static const struct pin *pins_of(const struct agent *agent, const struct node *vm, const char *ns)
{
	const char *name = node_text(vm, "metadata.name"), *uid = node_text(vm, "metadata.uid");
	const struct machine *m = name ? machines_find(&agent->machines, ns, name) : NULL;

	return m && m->vm && uid && streq(m->vm->meta.uid, uid) ? m->vm->pins : NULL;
}

int agent_expand(const struct agent *agent, const char *ns, struct node *vm, struct err *err)
{
	const char *name = node_text(vm, "metadata.name");
	struct types_subject s = { ns, name ? name : "", vm, pins_of(agent, vm, ns) };
	struct types_look look;
	int ret = 0;

	if (!types_are_named(node_get(vm, "spec")))
		return 0;
	find(agent, &s, &look);
	if (look.trouble)
		ret = err_set(err, ERR_NOT_FOUND, "%s", look.words);
	else
		ret = write_out(&look, vm, err);
	types_look_done(&look);
	return ret;
}
