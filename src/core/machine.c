/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of the model's objects and their two guarded setters. Nothing here decides anything.
 */
#include "core/machine.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/crashloop.h"
#include "core/instancetype.h"
#include "core/migration.h"
#include "core/phase.h"
#include "core/strategy.h"

bool machine_is_held(const struct machine *m)
{
	return m->migration && migration_holds(m->migration);
}

struct machine *machine_new(const char *ns, const char *name)
{
	struct machine *m = xcalloc(1, sizeof(*m));

	m->ns = xstrdup(ns);
	m->name = xstrdup(name);
	m->wake_at = NEVER;
	return m;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	vm_free(m->vm);
	vmi_free(m->vmi);
	vm_free(m->gone_vm);
	vmi_free(m->gone_vmi);
	free(m->ns);
	free(m->name);
	free(m);
}

void object_meta_done(struct object_meta *meta)
{
	free(meta->ns);
	free(meta->name);
	free(meta->labels);
	free(meta->annotations);
}

void vm_free(struct vm *vm)
{
	if (!vm)
		return;
	object_meta_done(&vm->meta);
	free(vm->spec);
	free(vm->adopts);
	free(vm->contested);
	free(vm->manifest_file);
	free(vm->manifest_error);
	free(vm->crash.cause);
	free(vm->restart);
	free(vm->type_words);
	for (size_t i = 0; i < vm->n_volumes; i++)
		free(vm->volumes[i].name);
	free(vm->volumes);
	for (int which = 0; which < VM_TYPES; which++)
		pin_done(&vm->pins[which]);
	free(vm);
}

void vmi_free(struct vmi *vmi)
{
	if (!vmi)
		return;
	object_meta_done(&vmi->meta);
	vmi_spec_done(&vmi->typed);
	free(vmi->spec);
	free(vmi->contested);
	free(vmi->reason);
	free(vmi->sync_error);
	free(vmi->end_why);
	free(vmi->domain);
	free(vmi->console);
	free(vmi->nics);
	free(vmi->fallback);
	free(vmi->graphics);
	free(vmi->firmware);
	free(vmi->held);
	free(vmi->media);
	free(vmi->io.errors);
	free(vmi->probe_words);
	free(vmi->agent_problem);
	free(vmi->credentials_words);
	free(vmi);
}

int machine_compare(const struct machine *m, const char *ns, const char *name)
{
	int order = strcmp(m->ns, ns);

	return order ? order : strcmp(m->name, name);
}

bool domain_name_split(const char *domain, char ret_ns[LABEL_MAX_LEN + 1],
	char ret_name[NAME_MAX_LEN + 1])
{
	const char *bar = strchr(domain, '_');

	if (!bar || bar == domain || bar - domain > LABEL_MAX_LEN)
		return false;
	if (!bar[1] || strlen(bar + 1) > NAME_MAX_LEN || strchr(bar + 1, '_'))
		return false;
	copy_str(ret_ns, (size_t)(bar - domain) + 1, domain);
	copy_str(ret_name, NAME_MAX_LEN + 1, bar + 1);
	return true;
}

bool machine_owns_domain(const struct machine *m)
{
	return m->vmi && streq(m->dom.owner, m->vmi->meta.uid);
}

enum domain_state machine_domain_state(const struct machine *m)
{
	if (m->dom.state == DOMAIN_UNKNOWN || m->dom.state == DOMAIN_NONE)
		return m->dom.state;
	return machine_owns_domain(m) ? m->dom.state : DOMAIN_NONE;
}

bool vmi_is_orphan(const struct vmi *vmi)
{
	return vmi && !vmi->owner[0] && !vmi->meta.deleted;
}

bool vmi_is_stopping(const struct vmi *vmi)
{
	return vmi->meta.deleted || vmi->host_shutdown || vmi->unhealthy;
}

bool vmi_ends_with_host(const struct vmi *vmi)
{
	return vmi->host_shutdown && !vmi->meta.deleted;
}

void vmi_begin(struct machine *m)
{
	m->vmi->pause = m->vmi->typed.start_paused ? PAUSE_HELD : PAUSE_AS_IS;
	memset(&m->dom, 0, sizeof(m->dom));
	m->dom.state = DOMAIN_NONE;
	m->dom.agreed = READS_TO_AGREE;
}

void vmi_set_phase(struct vmi *vmi, enum phase phase, struct now now)
{
	assert(phase_may_become(vmi->phase, phase));
	vmi->phase = phase;
	vmi->phase_wall[phase] = now.wall;
	if (phase == PHASE_SCHEDULED)
		vmi->scheduled_at = now.boot;
	else if (phase == PHASE_RUNNING)
		vmi->running_at = now.boot;
	else if (phase_is_final(phase))
		vmi->ended_at = now.boot;
}

void vmi_set_error(struct vmi *vmi, enum obstacle obstacle, const char *words)
{
	replace_str(&vmi->sync_error, words);
	vmi->obstacle = words ? obstacle : OBSTACLE_NONE;
}

/* What waits under a strategy that tries again was queued by that strategy: whoever starts it by
 * hand ends the wait. */
static bool forgets_requests(const struct vm *vm, enum run_strategy strategy)
{
	if (strategy == vm->strategy)
		return false;
	return strategy == STRATEGY_HALTED ||
		(strategy == STRATEGY_MANUAL && (vm->failure.count || crash_loop_holds(vm)));
}

void vm_set_strategy(struct vm *vm, enum run_strategy strategy)
{
	while (vm->n_requests && forgets_requests(vm, strategy))
		requests_pop(vm);
	vm->strategy = strategy;
	if (strategy != STRATEGY_ONCE)
		vm->ran_once = false;
	if (strategy == STRATEGY_HALTED)
		vm->restore = false;
}
