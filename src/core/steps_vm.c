/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps on a VM: its queue, its failures, its strategy, and the runs that it creates.
 */
#include "core/steps_private.h"

#include <string.h>

#include "core/backoff.h"
#include "core/crashloop.h"
#include "core/domxml.h"
#include "core/edit.h"
#include "core/instancetype.h"
#include "core/strategy.h"

/* The run was not made of this VM: it counts as older until it is found to be what the VM asks for
 * (restart.h, §11.3). */
void step_adopt_vmi(struct step_call *c)
{
	struct vm *vm = c->m->vm;
	struct vmi *vmi = c->m->vmi;

	copy_str(vmi->owner, UID_SIZE, vm->meta.uid);
	vmi->vm_generation = vm->meta.generation - 1;
	vm->ran_once |= vm->strategy == STRATEGY_ONCE;
	c->m->vm_changed = c->m->vmi_changed = true;
	happen(c->ret, KIND_VM, "Adopted", "adopted the virtual machine instance %s",
		vmi->meta.uid);
}

void step_delete_vmi(struct step_call *c)
{
	vmi_delete(c->m, c->env->now);
	c->m->vm_changed = c->m->vm != NULL;
	happen(c->ret, KIND_VM, "SuccessfulDelete",
		"Stopped the virtual machine by deleting the virtual machine instance %s",
		c->m->vmi->meta.uid);
}

void step_rerun_vmi(struct step_call *c)
{
	struct state_request start = { .action = REQUEST_START };

	requests_push(c->m->vm, &start);
	step_delete_vmi(c);
}

void step_become_always(struct step_call *c)
{
	vm_change_strategy(c->m, STRATEGY_ALWAYS);
	happen(c->ret, KIND_VM, NULL, "run strategy Halted -> Always, as start asked");
}

void step_pop_request(struct step_call *c)
{
	requests_pop(c->m->vm);
	c->m->vm_changed = true;
}

void step_count_failure(struct step_call *c)
{
	struct vm *vm = c->m->vm;

	start_failure_count(vm, c->m->vmi, c->env->now, c->env->random);
	c->m->vm_changed = true;
	c->ret->warning = true;
	happen(c->ret, KIND_VM, "StartFailed",
		"start failed %u time%s in a row; next try in %lld s", vm->failure.count,
		vm->failure.count == 1 ? "" : "s",
		(long long)((vm->failure.retry_at - c->env->now.boot) / 1000));
}

void step_clear_failure(struct step_call *c)
{
	memset(&c->m->vm->failure, 0, sizeof(c->m->vm->failure));
	c->m->vm_changed = true;
}

/* What is not held back is no event: the phase's own says it all. */
void step_count_crash(struct step_call *c)
{
	struct vm *vm = c->m->vm;
	autofree char *text = NULL;

	crash_loop_count(vm, c->m->vmi, c->env->tuning, c->env->now, c->env->random);
	c->m->vm_changed = true;
	if (!vm->crash.retry_at)
		return;
	text = crash_loop_text(&vm->crash);
	c->ret->warning = true;
	happen(c->ret, KIND_VM, "CrashLoopBackOff", "%s; next try in %lld s", text,
		(long long)((vm->crash.retry_at - c->env->now.boot) / 1000));
}

void step_clear_crash(struct step_call *c)
{
	if (crash_loop_holds(c->m->vm))
		happen(c->ret, KIND_VM, NULL, "no crash loop any more");
	crash_loop_clear(&c->m->vm->crash);
	c->m->vm_changed = true;
}

void step_record_strategy(struct step_call *c)
{
	c->m->vm->recorded = c->m->vm->strategy;
	c->m->vm_changed = true;
}

void step_purge(struct step_call *c)
{
	happen(c->ret, KIND_VM, NULL, "%s what it kept from run to run",
		c->m->vm->lost ? "putting aside" : "removing");
}

void step_forget_vm(struct step_call *c)
{
	c->m->purged = false;
	c->m->purges = 0;
	c->m->purge_at = 0;
	happen(c->ret, KIND_VM, NULL, "deleted");
	c->m->gone_vm = take(&c->m->vm);
	c->m->vm_changed = true;
}

/* ---- instancetype and preference ------------------------------------------------------------- */

static void types_trouble(struct step_call *c, const struct types_look *look)
{
	struct vm *vm = c->m->vm;

	vm->type_trouble = look->trouble;
	replace_str(&vm->type_words, look->words);
	c->ret->warning = true;
	happen(c->ret, KIND_VM, type_trouble_name(look->trouble), "%s", look->words);
}

/* From now on no edit of them changes the VM. */
void step_pin(struct step_call *c)
{
	const struct types_look *look = c->plan->types;
	struct vm *vm = c->m->vm;
	struct buf names = { 0 };

	c->m->vm_changed = true;
	if (look->trouble) {
		types_trouble(c, look);
		return;
	}
	for (int which = 0; which < VM_TYPES; which++) {
		pin_done(&vm->pins[which]);
		pin_copy(&vm->pins[which], &look->pins[which]);
		if (look->pins[which].revision)
			buf_printf(&names, "%s%s '%s' as '%s'", names.len ? ", " : "",
				type_field(which), look->pins[which].name,
				look->pins[which].revision);
	}
	vm->unpinned = false;
	vm->type_trouble = TYPE_TROUBLE_NONE;
	replace_str(&vm->type_words, NULL);
	happen(c->ret, KIND_VM, NULL, "pinned: %s", names.len ? names.data : "none is inferred");
	buf_done(&names);
}

/* ---- creating a run -------------------------------------------------------------------------- */

static char *template_text(const struct node *spec, const char *path)
{
	const struct node *node = node_at(spec, path);

	return node && node->n_children ? node_json(node) : NULL;
}

/* Of this run only: the VM's own spec stays (§5.1, §14 no. 5). */
static bool is_paused_start(const struct vm *vm)
{
	return vm->n_requests && vm->requests[0].action == REQUEST_START && vm->requests[0].paused;
}

static int vmi_fill(struct vmi *vmi, const struct vm *vm, struct err *err)
{
	struct node *vm_spec = vm_spec_expanded(vm);
	struct node *spec = vmi_spec_tree(vm_spec);
	int ret;

	if (is_paused_start(vm))
		node_set(spec, "startStrategy", node_new(NODE_STRING, "Paused"));
	ret = spec_parse(spec, &vmi->typed, err);
	if (ret == 0) {
		vmi->spec = node_json(spec);
		vmi->meta.labels = template_text(vm_spec, "template.metadata.labels");
		vmi->meta.annotations = template_text(vm_spec, "template.metadata.annotations");
	}
	node_free(spec);
	node_free(vm_spec);
	return ret;
}

struct vmi *vmi_of_vm(const struct vm *vm, const struct step_env *env, struct err *err)
{
	struct vmi *vmi = xcalloc(1, sizeof(*vmi));

	if (vmi_fill(vmi, vm, err) < 0) {
		vmi_free(vmi);
		return NULL;
	}
	vmi->meta.ns = xstrdup(vm->meta.ns);
	vmi->meta.name = xstrdup(vm->meta.name);
	copy_str(vmi->meta.uid, UID_SIZE, env->uid);
	vmi->meta.generation = 1;
	vmi->meta.created = env->now.wall;
	copy_str(vmi->owner, UID_SIZE, vm->meta.uid);
	vmi->epoch = vm->epoch;
	vmi->contested = xstrdup(vm->contested);
	vmi->vm_generation = vm->meta.generation;
	vmi_set_phase(vmi, PHASE_PENDING, env->now);
	return vmi;
}

int step_create_vmi(struct step_call *c, struct err *err)
{
	struct machine *m = c->m;
	struct vmi *vmi = vmi_of_vm(m->vm, c->env, err);

	if (!vmi)
		return -(int)err->code;
	m->vmi = vmi;
	vmi_begin(m);
	m->vm->ran_once = m->vm->strategy == STRATEGY_ONCE;
	m->vm->restore = false;
	m->vm->keeps |= domain_is_kept(&vmi->typed);
	m->vm_changed = m->vmi_changed = true;
	happen(c->ret, KIND_VM, "SuccessfulCreate",
		"Started the virtual machine by creating the new virtual machine instance %s",
		vmi->meta.uid);
	return 0;
}
