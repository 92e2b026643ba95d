/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few fields of a spec that the agent itself writes. The text is parsed, changed and printed
 * again; that is rare, and keeps the text the one truth.
 */
#include "core/edit.h"

#include <string.h>

#include "core/data_volume.h"
#include "core/instancetype.h"
#include "core/manifest.h"
#include "core/names.h"

struct node *text_tree(const char *text)
{
	struct documents docs = { 0 };
	struct node *root = NULL;
	struct place place;

	if (text && nodes_parse(text, strlen(text), &docs, &place, NULL) == 0 && docs.n)
		root = take(&docs.roots[0]);
	documents_done(&docs);
	return root;
}

void vm_take_uuid(struct vm *vm, const struct node *vm_spec)
{
	const char *uuid = node_text(vm_spec, "template.spec.domain.firmware.uuid");

	uuid_copy(vm->uuid, uuid ? uuid : "");
}

void vm_read_spec(struct vm *vm, const struct node *vm_spec)
{
	vm_take_uuid(vm, vm_spec);
	vm_take_types(vm, vm_spec);
	vm_take_volumes(vm, vm_spec);
}

static void replace_tree(char **text, struct node *tree)
{
	free(*text);
	*text = node_json(tree);
	node_free(tree);
}

void vm_change_strategy(struct machine *m, enum run_strategy strategy)
{
	struct node *spec = text_tree(m->vm->spec);

	if (spec) {
		spec_set_run_strategy(spec, strategy);
		replace_tree(&m->vm->spec, spec);
	}
	vm_set_strategy(m->vm, strategy);
	m->vm->meta.generation++;
	m->vm_changed = true;
}

void vmi_change_grace(struct machine *m, int64_t grace)
{
	struct node *spec = text_tree(m->vmi->spec);

	if (spec) {
		node_set(spec, "terminationGracePeriodSeconds", node_new_int(grace));
		replace_tree(&m->vmi->spec, spec);
	}
	m->vmi->typed.grace = grace;
	m->vmi_changed = true;
}

static void set_uuid(char **text, const char *path, const char *uuid)
{
	struct node *spec = text_tree(*text);

	if (!spec)
		return;
	node_set_path(spec, path, node_new(NODE_STRING, uuid));
	replace_tree(text, spec);
}

void machine_take_uuid(struct machine *m, const char *uuid)
{
	if (m->vm) {
		set_uuid(&m->vm->spec, "template.spec.domain.firmware.uuid", uuid);
		uuid_copy(m->vm->uuid, uuid);
		m->vm_changed = true;
	}
	if (m->vmi) {
		set_uuid(&m->vmi->spec, "domain.firmware.uuid", uuid);
		copy_str(m->vmi->typed.uuid, UID_SIZE, uuid);
		m->vmi_changed = true;
	}
}
