/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One turn: decide one step for each dirty machine, save all that changed in one transaction
 * (commit.c), and only then let things leave: ops, answers, log lines.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/arrivals.h"
#include "daemon/migrations.h"
#include "daemon/obstacles.h"
#include "daemon/types.h"

void agent_mark(struct agent *agent, struct machine *m)
{
	m->passes = 0;
	namesakes_update(agent, m);
	data_volumes_follow(agent, m);
	machines_mark(&agent->machines, m);
}

/* ---- decide ---------------------------------------------------------------------------------- */

static void report_overdue(struct agent *agent, struct machine *m, struct now now)
{
	for (int lane = 0; lane < LANE_MAX; lane++) {
		struct running_op *op = &m->ops[lane];
		struct happening what = { .warning = true };

		if (op->kind == OP_NONE || op->overdue || now.boot < op->deadline)
			continue;
		op->overdue = true;
		if (!m->vmi || lane == LANE_WORDS)
			continue; /* it outlived its run, or is done without */
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

/* The other half of what the step says of the VM. */
static void note_adopted(struct agent *agent, struct machine *m)
{
	struct happening what = { 0 };

	happen(&what, KIND_VMI, "Adopted", "adopted by the virtual machine %s", m->vm->meta.uid);
	agent_note(agent, &m->vmi->meta, &what);
}

static void after_step(struct agent *agent, struct machine *m, enum step step, struct now now)
{
	if (step == STEP_START && m->vmi->emulated == agent->options->kvm) {
		m->vmi->emulated = !agent->options->kvm; /* its domain is made now */
		m->vmi_changed = true;
	}
	if (step == STEP_PREPARE)
		shares_take(agent, m);
	if (step_op(step) != OP_NONE)
		ops_plan(agent, m, step_op(step), now);
	if (step == STEP_ADOPT_VMI)
		note_adopted(agent, m);
	if (step == STEP_FORGET_VM)
		folder_forgotten(agent, KIND_VM, &m->gone_vm->meta, now);
	if (step == STEP_FORGET_VMI)
		folder_forgotten(agent, KIND_VMI, &m->gone_vmi->meta, now);
	agent->migrations.dirty |= step == STEP_FORGET_VMI; /* one may wait for that */
	obstacles_update(agent, m);
	peers_count(agent, m);
	m->passes++;
	assert(m->passes <= PASSES_MAX);
	machines_mark(&agent->machines, m);
}

static void carry_out(struct agent *agent, struct machine *m, const struct plan *plan,
	struct step_env *env)
{
	struct happening what;
	struct err err;

	if (plan->step == STEP_CREATE_VMI)
		agent_uuid(agent, env->uid);
	if (step_apply(m, plan, env, &what, &err) < 0) {
		step_failed(agent, m, env->now, &err);
		return;
	}
	if (what.text[0])
		agent_note(agent, note_object(m, what.kind), &what);
	after_step(agent, m, plan->step, env->now);
}

static void decide_machine(struct agent *agent, struct machine *m, struct now now)
{
	autofree char *words = NULL;
	struct types_look types = { 0 };
	struct host_facts host = { .now = now,
		.types = types_look_for(agent, m, &types) ? &types : NULL,
		.tuning = &agent->options->tuning,
		.connected = agent->connected,
		.hold = agent->rebuilding || agent->hostdown.active,
		.going_down = agent->hostdown.active,
		.settled = agent_is_settled(agent) };
	struct step_env env = { .now = now, .tuning = host.tuning, .random = agent_random(agent) };
	struct plan plan;
	msec again;

	report_overdue(agent, m, now);
	obstacles_update(agent, m);
	peers_count(agent, m);
	host.obstacle = obstacles_find(agent, m, &words);
	host.obstacle_words = words;
	host.credentials = credentials_wanted(agent, m);
	plan = machine_decide(m, &host);
	hostdown_follow(agent, m, plan.may_live);
	again = slots_follow(&agent->slots, m, &plan, now);
	machines_wake_at(&agent->machines, m, MIN(plan.wake_at, again));
	if (plan.step != STEP_NONE)
		carry_out(agent, m, &plan, &env);
	types_look_done(&types);
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

/* ---- act ------------------------------------------------------------------------------------- */

static void forget_empty(struct agent *agent, const struct turn *turn)
{
	for (size_t i = 0; i < turn->n; i++) {
		if (turn->touched[i]->vm || turn->touched[i]->vmi)
			continue;
		hostdown_forget(agent, turn->touched[i]);
		slots_forget(&agent->slots, turn->touched[i]);
		machines_remove(&agent->machines, turn->touched[i]);
	}
}

static void act(struct agent *agent, struct turn *turn, struct now now)
{
	notes_publish(agent);
	ops_send(agent, now);
	replies_send(agent);
	peers_tell(agent);
	handovers_send(agent);
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

bool agent_turn(struct agent *agent, struct now now)
{
	struct turn turn;

	errands_turn(agent, now);
	if (agent->uncommitted && now.boot < agent->commit_retry_at)
		return false;
	machines_wake_due(&agent->machines, now.boot);
	report_list(agent, now);
	if (!agent->uncommitted) {
		data_volumes_turn(agent, now);
		obstacles_turn(agent);
		rebuild_turn(agent, now);
		contested_turn(agent, now);
		arrivals_turn(agent, now);
		checks_turn(agent, now);
		migrations_turn(agent, now);
	}
	turn = turn_begin(agent);
	if (!agent->uncommitted) {
		decide_list(agent, now);
		claims_turn(agent, now);
		namespaces_turn(agent);
		for (size_t i = 0; i < turn.n; i++)
			decide_machine(agent, turn.touched[i], now);
		starts_grant(agent, &turn, now);
		hostdown_turn(agent, now);
	}
	agent->fills.dirty |= agent->records.changed;
	if (turn_commit(agent, &turn, now) == 0)
		act(agent, &turn, now);
	free(turn.touched);
	return (agent->machines.n_queue > 0 || agent->migrations.dirty ||
		       namespaces_are_due(agent) || agent->freed || agent->fills.dirty) &&
		!agent->uncommitted;
}

/* Peers are to be asked again what they have. */
static msec ask_at(const struct agent *agent)
{
	msec rebuild = agent->rebuilding && agent->rebuild_listed ? agent->rebuild_ask_at : NEVER;

	return agent->contested.n ? MIN(rebuild, agent->peers.ask_at) : rebuild;
}

msec agent_wake_at(const struct agent *agent)
{
	if (agent->uncommitted)
		return agent->commit_retry_at;

	msec list = agent->list_id ? agent->list_deadline : agent->list_at;

	if (agent->list_id && agent->list_overdue)
		list = NEVER; /* nothing but its answer or a new connection helps */
	return MIN(MIN(machines_next_wake(&agent->machines),
			   MIN(errands_wake_at(agent),
				   MIN(agent->claims.wake_at, agent->fills.wake_at))),
		MIN(MIN(arrivals_wake_at(agent), checks_wake_at(agent)),
			MIN(MIN(agent->migrations.wake_at, ask_at(agent)),
				agent->connected ? list : NEVER)));
}
