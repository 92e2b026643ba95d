/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One turn: decide one step for each dirty machine, save all that changed in one transaction, and only
 * then let things leave: ops, answers, log lines. A failed commit keeps everything back and is tried
 * again; nothing new is decided meanwhile.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/agent_private.h"

void agent_mark(struct agent *agent, struct machine *m)
{
	m->passes = 0;
	machines_mark(&agent->machines, m);
}

/* ---- decide -------------------------------------------------------------------------------- */

static void report_overdue(struct agent *agent, struct machine *m, struct now now)
{
	for (int lane = 0; lane < LANE_MAX; lane++) {
		struct running_op *op = &m->ops[lane];
		struct happening what = { .warning = true };

		if (op->kind == OP_NONE || op->overdue || now.boot < op->deadline || !m->vmi)
			continue;
		op->overdue = true;
		happen(&what, KIND_VMI, "LibvirtHangs", "libvirt has not answered '%s' for %lld s",
			op_kind_name(op->kind), (long long)(op_kind_deadline(op->kind) / 1000));
		agent_note(agent, &m->vmi->meta, &what);
	}
}

/* The meta of the object that it happened to, also when the step was to forget it. */
static const struct object_meta *note_object(const struct machine *m, enum object_kind kind)
{
	if (kind == KIND_VM)
		return m->vm ? &m->vm->meta : &m->gone_vm->meta;
	return m->vmi ? &m->vmi->meta : &m->gone_vmi->meta;
}

static void step_failed(struct agent *agent, struct machine *m, struct now now,
	const struct err *err)
{
	struct happening what = { .warning = true };

	happen(&what, KIND_VM, "FailedCreate", "%s", err->msg);
	agent_note(agent, &m->vm->meta, &what);
	machines_wake_at(&agent->machines, m, now.boot + SECONDS(RETRY_MAX_S));
}

static void after_step(struct agent *agent, struct machine *m, enum step step, struct now now)
{
	if (step_op(step) != OP_NONE)
		ops_plan(agent, m, step_op(step), now);
	if (step == STEP_FORGET_VM)
		folder_forgotten(agent, KIND_VM, &m->gone_vm->meta, now);
	if (step == STEP_FORGET_VMI)
		folder_forgotten(agent, KIND_VMI, &m->gone_vmi->meta, now);
	m->passes++;
	assert(m->passes <= PASSES_MAX);
	machines_mark(&agent->machines, m);
}

static void decide_machine(struct agent *agent, struct machine *m, struct now now)
{
	struct host_facts host = { .now = now,
		.connected = agent->connected,
		.hold = agent->rebuilding,
		.settled = agent_is_settled(agent) };
	struct step_env env = { .now = now, .random = agent_random(agent) };
	struct happening what;
	struct err err;
	struct plan plan;

	report_overdue(agent, m, now);
	plan = machine_decide(m, &host);
	machines_wake_at(&agent->machines, m, plan.wake_at);
	if (plan.step == STEP_NONE)
		return;
	if (plan.step == STEP_CREATE_VMI)
		agent_uuid(agent, env.uid);
	if (step_apply(m, &plan, &env, &what, &err) < 0) {
		step_failed(agent, m, now, &err);
		return;
	}
	if (what.text[0])
		agent_note(agent, note_object(m, what.kind), &what);
	after_step(agent, m, plan.step, now);
}

bool agent_is_settled(const struct agent *agent)
{
	return agent->lists > READS_TO_AGREE || agent->list_overdue;
}

/* A list that hangs must not hold up everything: from then on each domain is read by itself. */
static void report_list(struct agent *agent, struct now now)
{
	if (!agent->list_id || agent->list_overdue || now.boot < agent->list_deadline)
		return;
	agent->list_overdue = true;
	log_text(LOG_LEVEL_WARNING, "libvirt has not answered '%s' for %lld s",
		op_kind_name(OP_LIST), (long long)(op_kind_deadline(OP_LIST) / 1000));
	for (size_t i = 0; i < agent->machines.n; i++)
		agent_mark(agent, agent->machines.list[i]);
}

static void decide_list(struct agent *agent, struct now now)
{
	if (!agent->connected || agent->list_id || now.boot < agent->list_at)
		return;
	ops_plan_list(agent, now);
}

/* ---- commit -------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *text) /* FNV-1a */
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return hash;
}

static struct object_row row_of(enum object_kind kind, const struct object_meta *meta)
{
	return (struct object_row){
		.kind = kind,
		.ns = meta->ns,
		.name = meta->name,
		.uid = meta->uid,
		.rv = meta->rv,
		.labels = meta->labels,
	};
}

static int save_gone(struct agent *agent, struct machine *m, struct err *err)
{
	struct machine ghost = { .ns = m->ns,
		.name = m->name,
		.vm = m->gone_vm,
		.vmi = m->gone_vmi };
	autofree char *vm = NULL, *vmi = NULL;
	struct object_row row;
	int ret = 0;

	if (m->gone_vmi) {
		m->gone_vmi->meta.rv = store_next_rv(agent->store);
		row = row_of(KIND_VMI, &m->gone_vmi->meta);
		row.object = vmi = vmi_document(&ghost, agent->options->node_name);
		ret = store_remove(agent->store, &row, err);
	}
	if (m->gone_vm && ret == 0) {
		ghost.vmi = NULL;
		m->gone_vm->meta.rv = store_next_rv(agent->store);
		row = row_of(KIND_VM, &m->gone_vm->meta);
		row.object = vm = vm_document(&ghost);
		ret = store_remove(agent->store, &row, err);
	}
	return ret;
}

static int save_vmi(struct agent *agent, struct machine *m, struct err *err)
{
	autofree char *document = NULL, *state = NULL;
	struct object_row row;

	m->vmi->meta.rv = store_next_rv(agent->store);
	document = vmi_document(m, agent->options->node_name);
	state = vmi_state(m->vmi);
	row = row_of(KIND_VMI, &m->vmi->meta);
	row.object = document;
	row.state = state;
	return store_put(agent->store, &row, err);
}

/* A VM whose status would read the same is not written again (its VMI changes more often). */
static int save_vm(struct agent *agent, struct machine *m, struct err *err)
{
	autofree char *before = vm_document(m), *document = NULL, *state = NULL;
	struct object_row row;

	if (!m->vm_changed && hash_of(before) == m->vm_hash)
		return 0;
	m->vm->meta.rv = store_next_rv(agent->store);
	document = vm_document(m);
	state = vm_state(m->vm);
	row = row_of(KIND_VM, &m->vm->meta);
	row.object = document;
	row.state = state;
	m->vm_hash = hash_of(document);
	return store_put(agent->store, &row, err);
}

static int save_machine(struct agent *agent, struct machine *m, struct err *err)
{
	int ret = save_gone(agent, m, err);

	if (ret == 0 && m->vmi && m->vmi_changed)
		ret = save_vmi(agent, m, err);
	if (ret == 0 && m->vm && (m->vm_changed || m->vmi_changed))
		ret = save_vm(agent, m, err);
	return ret;
}

static bool is_changed(const struct machine *m)
{
	return m->vm_changed || m->vmi_changed || m->gone_vm || m->gone_vmi;
}

static bool has_events(const struct agent *agent)
{
	for (size_t i = 0; i < agent->n_notes; i++) {
		if (agent->notes[i].what.reason)
			return true;
	}
	return false;
}

struct turn {                     /* the machines that this turn looked at */
	struct machine **touched; /* owned list of borrowed machines */
	size_t n;
	bool changed;
};

static int save_all(struct agent *agent, const struct turn *turn, struct now now, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < turn->n && ret == 0; i++)
		ret = save_machine(agent, turn->touched[i], err);
	if (ret == 0 && agent->origins.changed)
		ret = origins_save(agent, err);
	if (ret == 0)
		ret = notes_save(agent, now, err);
	if (ret == 0 && agent->rebuild_changed)
		ret = rebuild_save(agent, err);
	if (ret == 0 && !agent->has_boot_id)
		ret = store_put_value(agent->store, "boot_id", agent->options->boot_id, err);
	return ret;
}

static int commit(struct agent *agent, const struct turn *turn, struct now now, struct err *err)
{
	int64_t seq = agent->event_seq;
	int ret;

	if (!turn->changed)
		return 0;
	ret = store_begin(agent->store, err);
	if (ret < 0)
		return ret;
	ret = save_all(agent, turn, now, err);
	if (ret < 0)
		store_rollback(agent->store);
	else
		ret = store_commit(agent->store, err);
	if (ret < 0)
		agent->event_seq = seq;
	return ret;
}

static void commit_failed(struct agent *agent, struct turn *turn, struct now now)
{
	msec delay = SECONDS(COMMIT_RETRY_FIRST_S) << MIN(agent->commit_failures, 5);

	if (!agent->uncommitted)
		log_text(LOG_LEVEL_ERROR,
			"cannot save (%s); nothing leaves until it succeeds, trying again",
			agent->commit_err.msg);
	agent->uncommitted = true;
	agent->commit_failures++;
	agent->commit_retry_at = now.boot + MIN(delay, SECONDS(COMMIT_RETRY_MAX_S));
	for (size_t i = 0; i < turn->n; i++) {
		turn->touched[i]->vm_hash = 0;
		machines_mark(&agent->machines, turn->touched[i]);
	}
	replies_refuse(agent);
}

/* After a commit that was tried again the machines are still to be decided about: only saving was. */
static void committed(struct agent *agent, struct turn *turn)
{
	bool undecided = agent->uncommitted;

	if (undecided)
		log_text(LOG_LEVEL_NOTICE, "saving works again");
	agent->uncommitted = false;
	agent->commit_failures = 0;
	agent->has_boot_id |= turn->changed;
	agent->rebuild_changed = false;
	if (turn->changed)
		origins_committed(agent);
	for (size_t i = 0; i < turn->n; i++) {
		struct machine *m = turn->touched[i];

		m->vm_changed = m->vmi_changed = false;
		vm_free(take(&m->gone_vm));
		vmi_free(take(&m->gone_vmi));
		if (undecided)
			machines_mark(&agent->machines, m);
	}
}

/* ---- act ------------------------------------------------------------------------------------ */

static void forget_empty(struct agent *agent, const struct turn *turn)
{
	for (size_t i = 0; i < turn->n; i++) {
		if (!turn->touched[i]->vm && !turn->touched[i]->vmi)
			machines_remove(&agent->machines, turn->touched[i]);
	}
}

static void act(struct agent *agent, struct turn *turn, struct now now)
{
	notes_publish(agent);
	ops_send(agent, now);
	replies_send(agent);
	if (turn->changed && agent->commit_hook)
		agent->commit_hook(agent->commit_ctx, store_current_rv(agent->store));
	forget_empty(agent, turn);
}

static struct turn turn_begin(struct agent *agent)
{
	struct machines *ms = &agent->machines;
	struct turn turn = { .touched = ms->queue, .n = ms->n_queue };

	ms->queue = NULL;
	ms->n_queue = ms->cap_queue = 0;
	for (size_t i = 0; i < turn.n; i++)
		turn.touched[i]->dirty = false;
	return turn;
}

static bool turn_changes(const struct agent *agent, const struct turn *turn)
{
	for (size_t i = 0; i < turn->n; i++) {
		if (is_changed(turn->touched[i]))
			return true;
	}
	return agent->origins.changed || agent->rebuild_changed || has_events(agent);
}

bool agent_turn(struct agent *agent, struct now now)
{
	struct turn turn;

	if (agent->uncommitted && now.boot < agent->commit_retry_at)
		return false;
	machines_wake_due(&agent->machines, now.boot);
	report_list(agent, now);
	turn = turn_begin(agent);
	if (!agent->uncommitted) {
		decide_list(agent, now);
		for (size_t i = 0; i < turn.n; i++)
			decide_machine(agent, turn.touched[i], now);
	}
	turn.changed = turn_changes(agent, &turn);
	if (commit(agent, &turn, now, &agent->commit_err) < 0) {
		commit_failed(agent, &turn, now);
	} else {
		committed(agent, &turn);
		act(agent, &turn, now);
	}
	free(turn.touched);
	return agent->machines.n_queue > 0 && !agent->uncommitted;
}

msec agent_wake_at(const struct agent *agent)
{
	if (agent->uncommitted)
		return agent->commit_retry_at;

	msec list = agent->list_id ? agent->list_deadline : agent->list_at;

	if (agent->list_id && agent->list_overdue)
		list = NEVER; /* nothing but its answer or a new connection helps */
	return MIN(machines_next_wake(&agent->machines), agent->connected ? list : NEVER);
}
