/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checked manifests become objects of the model, and objects become trees again for merging. Shared
 * by requests and the manifest folder, so that both make exactly the same objects.
 */
#include <string.h>

#include "core/edit.h"
#include "core/instancetype.h"
#include "core/names.h"
#include "daemon/migration_objects.h"
#include "daemon/migrations.h"
#include "daemon/obstacles.h"
#include "daemon/types.h"

#define VM_UUID_PATH  "spec.template.spec.domain.firmware.uuid"
#define VMI_UUID_PATH "spec.domain.firmware.uuid"

struct object_meta *machine_meta(const struct machine *m, enum object_kind kind)
{
	if (!m)
		return NULL;
	if (kind == KIND_VM)
		return m->vm ? &m->vm->meta : NULL;
	return m->vmi ? &m->vmi->meta : NULL;
}

struct target target_find(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name)
{
	struct target t = { .kind = kind };

	if (object_kind_home(kind) == HOME_RECORD) {
		t.record = records_find(&agent->records, kind, ns, name);
		t.meta = t.record ? &t.record->meta : NULL;
	} else if (object_kind_home(kind) == HOME_ORDER) {
		t.g = migration_object_find(agent, ns, name);
		t.meta = t.g ? &t.g->meta : NULL;
	} else {
		t.m = machines_find(&agent->machines, ns, name);
		t.meta = machine_meta(t.m, kind);
	}
	return t;
}

bool target_is_changed(const struct target *t)
{
	if (t->record)
		return t->record->changed;
	if (t->g)
		return t->g->changed;
	return t->kind == KIND_VM ? t->m->vm_changed : t->m->vmi_changed;
}

static char *tree_text(const struct node *root, const char *path)
{
	const struct node *node = node_at(root, path);

	return node && node->n_children ? node_json(node) : NULL;
}

static void meta_texts(struct object_meta *meta, const struct node *root)
{
	free(meta->labels);
	free(meta->annotations);
	meta->labels = tree_text(root, "metadata.labels");
	meta->annotations = tree_text(root, "metadata.annotations");
}

static void meta_init(struct agent *agent, struct object_meta *meta,
	const struct manifest *manifest, struct now now)
{
	meta->ns = xstrdup(manifest->ns);
	meta->name = xstrdup(manifest->name);
	meta->generation = 1;
	meta->created = now.wall;
	agent_uuid(agent, meta->uid);
	meta_texts(meta, manifest->root);
}

static int check_template(const struct agent *agent, const struct machine *m,
	const struct node *root, struct err *err)
{
	const struct node *spec = node_get(root, "spec");
	struct types_subject s = { m->ns, m->name, root, m->vm ? m->vm->pins : NULL };

	return types_are_named(spec) ? types_check(agent, &s, err)
				     : types_check_template(spec, err);
}

/* Which types are to be pinned anew; true if any. */
static bool take_orders(bool ret[VM_TYPES], struct node *vm_spec)
{
	bool any = false;

	for (int which = 0; which < VM_TYPES; which++)
		any |= ret[which] = type_take_order(vm_spec, which);
	return any;
}

/* (users.md 48) */
int agent_check_uuid(const struct agent *agent, const char *uuid, const struct machine *but,
	struct err *err)
{
	char wanted[UID_SIZE];
	const struct machine *other;

	uuid_copy(wanted, uuid ? uuid : "");
	if (but && but->vm && streq(but->vm->uuid, wanted))
		return 0; /* it has it already */
	other = *wanted ? machines_find_claim(&agent->machines, wanted, but) : NULL;
	return other
		? err_set(err, ERR_INVALID,
			  "firmware.uuid: '%s' is the UUID of '%s/%s' already; leave the field "
			  "away to have one made",
			  wanted, other->ns, other->name)
		: 0;
}

static void vm_take_spec(struct vm *vm, const struct node *spec)
{
	free(vm->spec);
	vm->spec = node_json(spec);
	vm_read_spec(vm, spec);
	vm_set_strategy(vm, spec_run_strategy(spec, &vm->uses_running));
}

#define FIRMWARE_PATH "spec.template.spec.domain.firmware"
#define SERIAL_PATH   FIRMWARE_PATH ".serial"

/* The next run is to be the same machine to the guest as the one that the VM adopts. */
static void default_as_run(struct node *root, const struct vmi_spec *run)
{
	bool has_serial = node_at(root, SERIAL_PATH);

	if (!has_serial && run->serial)
		node_set_path(root, SERIAL_PATH, node_new(NODE_STRING, run->serial));
	manifest_default(KIND_VM, root, run->uuid);
	if (!has_serial && !run->serial)
		node_remove(node_at(root, FIRMWARE_PATH), "serial");
}

static void default_vm(struct agent *agent, const struct manifest *manifest, struct node *root)
{
	const struct machine *m = machines_find(&agent->machines, manifest->ns, manifest->name);
	char uuid[UID_SIZE];

	if (m && vmi_is_orphan(m->vmi)) {
		default_as_run(root, &m->vmi->typed);
		return;
	}
	agent_uuid(agent, uuid);
	manifest_default(KIND_VM, root, uuid);
}

static int create_vm(struct agent *agent, const struct manifest *manifest, struct now now,
	struct err *err)
{
	struct node *root = node_copy(manifest->root);
	struct machine named = { .ns = manifest->ns, .name = manifest->name };
	bool orders[VM_TYPES];
	int ret;

	take_orders(orders, node_get(root, "spec"));
	default_vm(agent, manifest, root);
	ret = check_template(agent, &named, root, err);
	if (ret == 0) {
		struct machine *m = machines_get(&agent->machines, manifest->ns, manifest->name);
		struct vm *vm = m->vm = xcalloc(1, sizeof(*vm));

		meta_init(agent, &vm->meta, manifest, now);
		if (!m->vmi)
			vm->contested = xstrdup(contested_by(agent, m->ns, m->name));
		vm_take_spec(vm, node_get(root, "spec"));
		agent->fills.dirty |= vm->n_volumes > 0;
		m->vm_changed = true;
		agent_mark(agent, m);
	}
	node_free(root);
	return ret;
}

static int create_vmi(struct agent *agent, const struct manifest *manifest, struct now now,
	struct err *err)
{
	struct node *root = node_copy(manifest->root), *spec = node_get(root, "spec");
	struct vmi_spec typed = { 0 };
	char uuid[UID_SIZE];
	int ret;

	agent_uuid(agent, uuid);
	manifest_default(KIND_VMI, root, uuid);
	vmi_spec_default(spec);
	ret = spec_parse(spec, &typed, err);
	if (ret == 0) {
		struct machine *m = machines_get(&agent->machines, manifest->ns, manifest->name);
		struct vmi *vmi = m->vmi = xcalloc(1, sizeof(*vmi));

		meta_init(agent, &vmi->meta, manifest, now);
		vmi->contested = xstrdup(contested_by(agent, m->ns, m->name));
		vmi->spec = node_json(spec);
		vmi->typed = typed;
		vmi_set_phase(vmi, PHASE_PENDING, now);
		vmi_begin(m);
		m->vmi_changed = true;
		agent_mark(agent, m);
	}
	node_free(root);
	return ret;
}

static int create_record(struct agent *agent, const struct manifest *manifest, struct now now,
	struct err *err)
{
	struct record *r = record_new(manifest);
	int ret = records_check_room(&agent->records, NULL, r->size, err);

	if (ret < 0) {
		record_free(r);
		return ret;
	}
	r->meta.created = now.wall;
	agent_uuid(agent, r->meta.uid);
	records_add(&agent->records, r, false);
	if (r->kind == KIND_PVC)
		claims_created(agent, r);
	return 0;
}

static void note_created(struct agent *agent, const struct manifest *manifest,
	const struct actor *actor)
{
	struct target t = target_find(agent, manifest->kind, manifest->ns, manifest->name);
	struct happening what = { 0 };

	if (actor)
		what.actor = *actor;
	happen(&what, manifest->kind, NULL, "%s created", object_kind_name(manifest->kind));
	agent_note(agent, t.meta, &what);
}

/* A run that belongs to nobody is not in a VM's way: the VM adopts it, or waits until
 * it is gone (§7.3). */
static int check_machine(const struct agent *agent, const struct manifest *manifest,
	struct err *err)
{
	const struct machine *m = machines_find(&agent->machines, manifest->ns, manifest->name);
	const char *path = manifest->kind == KIND_VM ? VM_UUID_PATH : VMI_UUID_PATH;

	if (agent_check_orders(m, err) < 0)
		return -(int)err->code;
	if (m && (m->vm || (m->vmi && m->vmi->owner[0])))
		return err_set(err, ERR_CONFLICT, "a %s named '%s' is in the way; delete it first",
			object_kind_name(m->vm ? KIND_VM : KIND_VMI), manifest->name);
	return agent_check_uuid(agent, node_text(manifest->root, path), m, err);
}

int agent_check_create(const struct agent *agent, const struct manifest *manifest, struct err *err)
{
	struct target t = target_find(agent, manifest->kind, manifest->ns, manifest->name);
	autofree char *resource = object_kind_resource(manifest->kind);
	int ret = namespace_check(agent, manifest->ns, err);

	if (ret < 0)
		return ret;
	if (t.meta)
		return err_set(err, ERR_EXISTS, "%s \"%s\" already exists", resource,
			manifest->name);
	if (object_kind_home(manifest->kind) == HOME_ORDER)
		return migration_object_check(agent, manifest, err);
	return object_kind_home(manifest->kind) == HOME_RECORD
		? 0
		: check_machine(agent, manifest, err);
}

int agent_create_object(struct agent *agent, const struct manifest *manifest,
	const struct actor *actor, struct now now, struct err *err)
{
	int ret = agent_check_create(agent, manifest, err);

	if (ret < 0)
		return ret;
	if (manifest->kind == KIND_VM)
		ret = create_vm(agent, manifest, now, err);
	else if (manifest->kind == KIND_VMI)
		ret = create_vmi(agent, manifest, now, err);
	else if (manifest->kind == KIND_MIGRATION)
		ret = migration_object_create(agent, manifest, now, err);
	else
		ret = create_record(agent, manifest, now, err);
	if (ret < 0)
		return ret;
	namespace_use(agent, manifest->ns, now);
	note_created(agent, manifest, actor);
	return 0;
}

/* ---- replacing ------------------------------------------------------------------------------- */

static struct node *machine_tree(const struct machine *m, enum object_kind kind)
{
	const struct object_meta *meta = machine_meta(m, kind);
	struct node *root, *labels, *annotations;

	if (!meta)
		return NULL;
	root = node_new(NODE_MAP, NULL);
	labels = text_tree(meta->labels);
	annotations = text_tree(meta->annotations);
	node_set(root, "apiVersion", node_new(NODE_STRING, object_kind_api_version(kind)));
	node_set(root, "kind", node_new(NODE_STRING, object_kind_name(kind)));
	node_set_path(root, "metadata.name", node_new(NODE_STRING, meta->name));
	node_set_path(root, "metadata.namespace", node_new(NODE_STRING, meta->ns));
	if (labels)
		node_set_path(root, "metadata.labels", labels);
	if (annotations)
		node_set_path(root, "metadata.annotations", annotations);
	node_set(root, "spec", text_tree(kind == KIND_VM ? m->vm->spec : m->vmi->spec));
	return root;
}

static int replace_vm(struct agent *agent, struct machine *m, struct node *root,
	const struct node *old, struct err *err)
{
	const char *uuid = node_text(old, VM_UUID_PATH);
	bool orders[VM_TYPES], anew = take_orders(orders, node_get(root, "spec"));
	int ret;

	manifest_default(KIND_VM, root, uuid ? uuid : "");
	ret = check_template(agent, m, root, err);
	if (ret == 0)
		ret = types_check_change(node_get(old, "spec"), node_get(root, "spec"), err);
	if (ret < 0)
		return ret;
	meta_texts(&m->vm->meta, root);
	for (int which = 0; which < VM_TYPES; which++)
		if (orders[which])
			pin_done(&m->vm->pins[which]);
	if (anew || !node_equal(node_get(root, "spec"), node_get(old, "spec"))) {
		vm_take_spec(m->vm, node_get(root, "spec"));
		agent->fills.dirty = true;
		m->vm->meta.generation++;
	}
	m->vm_changed = true;
	return 0;
}

/* A run's spec cannot be changed (§9.1); its labels and annotations can. */
static int replace_vmi(struct machine *m, struct node *root, const struct node *old,
	struct err *err)
{
	struct node *spec = node_get(root, "spec");

	manifest_default(KIND_VMI, root, m->vmi->typed.uuid);
	vmi_spec_default(spec);
	if (!node_equal(spec, node_get(old, "spec")))
		return err_set(err, ERR_INVALID,
			"the spec of a VirtualMachineInstance cannot be changed; delete '%s' "
			"and create it anew",
			m->name);
	meta_texts(&m->vmi->meta, root);
	m->vmi_changed = true;
	return 0;
}

static int replace_object(struct agent *agent, struct machine *m, enum object_kind kind,
	const struct node *root, struct err *err)
{
	struct node *copy = node_copy(root), *old = machine_tree(m, kind);
	int ret = kind == KIND_VM ? replace_vm(agent, m, copy, old, err)
				  : replace_vmi(m, copy, old, err);

	node_free(copy);
	node_free(old);
	return ret;
}

/* A run's spec, its UUID included, stays anyway. */
static int check_replace(const struct agent *agent, const struct machine *m, enum object_kind kind,
	const struct node *root, struct err *err)
{
	if (agent_check_orders(m, err) < 0)
		return -(int)err->code;
	return kind == KIND_VM ? agent_check_uuid(agent, node_text(root, VM_UUID_PATH), m, err) : 0;
}

struct node *agent_object_tree(const struct target *t)
{
	if (t->g)
		return migration_object_tree(t->g);
	return t->record ? record_tree(t->record) : machine_tree(t->m, t->kind);
}

char *agent_object_document(const struct agent *agent, const struct target *t)
{
	if (t->record)
		return record_document(t->record);
	if (t->g)
		return migration_document(t->g, agent->options->node_name);
	return t->kind == KIND_VM ? vm_document(t->m)
				  : vmi_document(t->m, agent->options->node_name);
}

static int replace_record(struct agent *agent, struct record *r, const struct node *root,
	struct err *err)
{
	int ret = records_check_room(&agent->records, r, record_size_of(root), err);

	if (ret == 0)
		ret = record_replace(r, root, err);
	if (ret == 0)
		records_touch(&agent->records, r);
	return ret;
}

int agent_replace_object(struct agent *agent, const struct target *t, const struct node *root,
	struct err *err)
{
	int ret;

	if (t->record)
		return replace_record(agent, t->record, root, err);
	if (t->g)
		return migration_object_replace(agent, t->g, root, err);
	ret = check_replace(agent, t->m, t->kind, root, err);
	if (ret == 0)
		ret = replace_object(agent, t->m, t->kind, root, err);
	if (ret == 0)
		agent_mark(agent, t->m);
	return ret;
}

/* Copies go the way of a restart: through document and state. */
static int copy_objects(const struct machine *m, const char *node_name, struct machine *ret,
	struct err *err)
{
	autofree char *vm = m->vm ? vm_document(m) : NULL,
		      *vm_text = m->vm ? vm_state(m->vm) : NULL;
	autofree char *vmi = m->vmi ? vmi_document(m, node_name) : NULL;
	autofree char *vmi_text = m->vmi ? vmi_state(m->vmi) : NULL;
	int rc = 0;

	*ret = (struct machine){ .ns = m->ns, .name = m->name, .dom = m->dom };
	if (vm)
		rc = vm_load(vm, vm_text, true, &ret->vm, err);
	if (vmi && rc == 0)
		rc = vmi_load(vmi, vmi_text, true, &ret->vmi, err);
	return rc;
}

static char *preview_machine(struct agent *agent, const struct target *t, const struct node *root,
	struct err *err)
{
	const char *node_name = agent->options->node_name;
	struct machine copy;
	char *document = NULL;

	if (check_replace(agent, t->m, t->kind, root, err) < 0)
		return NULL;
	if (copy_objects(t->m, node_name, &copy, err) == 0 &&
		replace_object(agent, &copy, t->kind, root, err) == 0)
		document = t->kind == KIND_VM ? vm_document(&copy) : vmi_document(&copy, node_name);
	vm_free(copy.vm);
	vmi_free(copy.vmi);
	return document;
}

static char *preview_record(const struct record *r, const struct node *root, struct err *err)
{
	struct record *copy = record_copy(r);
	char *document = record_replace(copy, root, err) == 0 ? record_document(copy) : NULL;

	record_free(copy);
	return document;
}

char *agent_preview_object(struct agent *agent, const struct target *t, const struct node *root,
	struct err *err)
{
	if (t->g)
		return migration_object_preview(agent, t->g, root, err);
	return t->record ? preview_record(t->record, root, err)
			 : preview_machine(agent, t, root, err);
}
