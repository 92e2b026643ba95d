/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hypervisor port in virtual time: each op takes its time, does its work, and answers a little
 * later, so that events and answers can overtake each other. An op may hang, fail, be lost with
 * libvirtd, or outlive the agent that sent it.
 */
#include <string.h>

#include "sim.h"

#define RESULT_DELAY 1
#define LOST_DELAY   2
#define CONNECT_TIME 10
#define AGENT_TIME   4000 /* until an agent that does not answer is given up */

/* clang-format off */
static const msec durations[OP_KIND_MAX] = {
	[OP_LIST]     = 2,
	[OP_READ]     = 1,
	[OP_PREPARE]  = 20,
	[OP_DESCRIBE] = 1,
	[OP_COMPARE]  = 1,
	[OP_LOOK]     = 1,
	[OP_CLAIM]    = 5,
	[OP_START]    = 200,
	[OP_SHUTDOWN] = 5,
	[OP_AGENT_SHUTDOWN] = 10,
	[OP_AGENT_REBOOT] = 10,
	[OP_AGENT_TIME] = 10,
	[OP_AGENT_INFO] = 10,
	[OP_AGENT_CREDENTIALS] = 10,
	[OP_AGENT_LOOK] = 10,
	[OP_PROBE]    = 15,
	[OP_SUSPEND]  = 5,
	[OP_RESUME]   = 5,
	[OP_REBOOT]   = 5,
	[OP_RESET]    = 5,
	[OP_DESTROY]  = 200,
	[OP_UNDEFINE] = 5,
	[OP_CLEAN]    = 20,
	[OP_PURGE]    = 10,
	[OP_DROP]     = 20,
	[OP_FILL]     = 2000,
	[OP_WORDS]    = 3,
	[OP_MIGRATE_PREPARE] = 18, /* and 2 before it, for COMPARE */
	[OP_MIGRATE]  = 5,
	[OP_MIGRATE_WATCH] = 5,
	[OP_MIGRATE_PASS] = 5,
	[OP_MIGRATE_RELAY] = 5,
	[OP_MIGRATE_SEAL] = 20,
	[OP_MIGRATE_ABORT] = 5,
	[OP_MIGRATE_ANNOUNCE] = 5,
	[OP_MIGRATE_READ_NVRAM] = 1,
	[OP_MIGRATE_WRITE_NVRAM] = 10,
	[OP_MIGRATE_RESUME] = 5,
};
/* clang-format on */

/* ---- events ---------------------------------------------------------------------------------- */

static void deliver_event(struct world *w, struct pending *p)
{
	if (w->agent && p->life == w->life && w->fake.linked && p->link == w->fake.link)
		w->hv.sink.event(w->hv.sink.ctx, &p->event);
}

void fake_emit(struct world *w, const struct fake_domain *dom, const struct domain_event *event)
{
	struct pending *p;

	if (!w->fake.linked || w->fake.silent)
		return; /* lost */
	p = world_later(w, 1 + w->fake.late, deliver_event);
	p->life = w->life;
	p->link = w->fake.link;
	p->event = *event;
	copy_str(p->event.uuid, UID_SIZE, dom->uuid);
	copy_str(p->event.name, sizeof(p->event.name), dom->name);
}

static void deliver_held(struct world *w, struct pending *p)
{
	if (w->agent && p->life == w->life)
		w->hv.sink.event(w->hv.sink.ctx, &p->event);
}

/* By its relay, which is no part of libvirt. */
void fake_tell_held(struct world *w, const struct fake_job *job, bool held)
{
	struct pending *p;

	if (!w->agent || job->life != w->life)
		return;
	p = world_later(w, 1, deliver_held);
	p->life = w->life;
	p->event = (struct domain_event){ .kind = DOMAIN_EVENT_ANSWERED, .held = held };
	copy_str(p->event.uuid, UID_SIZE, job->uuid);
}

/* ---- lanes: one op each ---------------------------------------------------------------------- */

static bool same_lane(const struct op *a, const struct op *b)
{
	return a->kind != OP_COMPARE && a->kind != OP_LOOK &&
		op_kind_lane(a->kind) == op_kind_lane(b->kind) && streq(a->ns, b->ns) &&
		streq(a->name, b->name);
}

static void lane_take(struct world *w, const struct op *op)
{
	struct fake *f = &w->fake;

	for (size_t i = 0; i < f->n_lanes; i++) {
		if (same_lane(&f->lanes[i], op))
			world_fail(w, "op %s of '%s' left while %s is under way",
				op_kind_name(op->kind), op->domain ? op->domain : "",
				op_kind_name(f->lanes[i].kind));
	}
	if (f->n_lanes == ARRAY_SIZE(f->lanes))
		return;
	f->since[f->n_lanes] = w->t;
	op_copy(&f->lanes[f->n_lanes++], op);
}

static void lane_give(struct world *w, uint64_t id)
{
	struct fake *f = &w->fake;

	for (size_t i = 0; i < f->n_lanes; i++) {
		if (f->lanes[i].id != id)
			continue;
		op_done(&f->lanes[i]);
		f->lanes[i] = f->lanes[--f->n_lanes];
		f->since[i] = f->since[f->n_lanes];
		return;
	}
}

void fake_forget_lanes(struct world *w)
{
	for (size_t i = 0; i < w->fake.n_lanes; i++)
		op_done(&w->fake.lanes[i]);
	w->fake.n_lanes = 0;
}

/* ---- an op's way ----------------------------------------------------------------------------- */

static void deliver_result(struct world *w, struct pending *p)
{
	if (!w->agent || p->life != w->life)
		return;
	lane_give(w, p->result.id);
	w->hv.sink.result(w->hv.sink.ctx, &p->result);
}

static void answer(struct world *w, struct pending *p, msec delay)
{
	struct pending *later;
	struct op_result result = p->result;

	memset(&p->result, 0, sizeof(p->result));
	result.id = p->op.id;
	result.kind = p->op.kind;
	later = world_later(w, delay, deliver_result);
	later->life = p->life;
	later->result = result;
}

/* An agent that has ended meanwhile does not hear of it. */
void fake_answer_job(struct world *w, const struct fake_job *job, const struct err *err)
{
	struct pending *later = world_later(w, RESULT_DELAY, deliver_result);

	later->life = job->life;
	later->result = (struct op_result){ .id = job->op, .kind = job->kind, .err = *err };
	later->result.post_copy = job->again;
}

static bool is_job(enum op_kind kind)
{
	return op_kind_lane(kind) == LANE_MIGRATE;
}

/* Its answer comes when the job has ended, one way or the other; that of FAULT_ANSWER before. */
static bool begins_job(struct world *w, struct pending *p)
{
	uint64_t life = p->works_unanswered ? 0 : p->life;
	struct err err = { 0 };

	if (!is_job(p->op.kind) || (p->result.err.code && !p->works_unanswered))
		return false;
	if (p->op.kind == OP_MIGRATE_WATCH)
		return !p->works_unanswered && fake_migrate_watch(w, &p->op, life);
	if (!fake_migrate(w, &p->op, life, &err))
		p->result.err = p->works_unanswered ? p->result.err : err;
	return !p->works_unanswered && !err.code;
}

static struct op_script *script_of(struct world *w, const struct op *op)
{
	struct op_script *script = &w->fake.scripts[op->kind];

	return !script->only[0] || streq(script->only, op->name) ? script : NULL;
}

static bool fails_by_script(struct world *w, const struct op *op, struct err *err)
{
	struct op_script *script = script_of(w, op);

	if (!script || !script->fails)
		return false;
	script->fails--;
	err_set(err, script->code, "%s", script->text);
	if (op->kind == OP_START && script->code == ERR_HYPERVISOR) /* it got as far as a QEMU */
		fake_guest(w, op->domain)->words = "qemu-system-x86_64: cannot do that\n"
						   "qemu-system-x86_64: giving up";
	return true;
}

/* For FAULT_ANSWER: the work is done, but the answer says otherwise. */
static void work_unanswered(struct world *w, const struct op *op)
{
	struct op_result result = { 0 };

	if (!fails_by_script(w, op, &result.err))
		fake_effect(w, op, &result);
	op_result_done(&result);
}

static void take_effect(struct world *w, struct pending *p)
{
	const struct op_script *script = script_of(w, &p->op);

	if (script && script->hangs) {
		struct pending *again = world_later(w, NEVER - w->t, take_effect);

		again->life = p->life;
		op_copy(&again->op, &p->op);
		return;
	}
	if (op_kind_lane(p->op.kind) == LANE_AGENT && fake_agent_hangs(w, &p->op)) {
		err_set(&p->result.err, ERR_TIMEOUT, "the guest agent does not answer");
		answer(w, p, AGENT_TIME);
		return;
	}
	if (begins_job(w, p))
		return;
	if (p->works_unanswered && !is_job(p->op.kind))
		work_unanswered(w, &p->op);
	else if (!p->result.err.code && !is_job(p->op.kind) &&
		!fails_by_script(w, &p->op, &p->result.err))
		fake_effect(w, &p->op, &p->result);
	if (p->op.kind == OP_MIGRATE_SEAL && p->result.err.code)
		fake_pass(w, &p->op); /* whoever is not certain lets libvirt have its answer */
	answer(w, p, RESULT_DELAY);
}

static bool is_op(const struct pending *p)
{
	return p->fire == take_effect;
}

/* Volumes are made by children that die with the agent; a log is a file that it reads itself. */
static bool is_local(const struct op *op)
{
	return (op->kind == OP_PURGE && op->aside) || op->kind == OP_PREPARE ||
		op->kind == OP_CLEAN || op->kind == OP_DROP || op->kind == OP_FILL ||
		op->kind == OP_WORDS || op->kind == OP_LOOK || op->kind == OP_MIGRATE_PREPARE ||
		op->kind == OP_MIGRATE_SEAL || op->kind == OP_MIGRATE_READ_NVRAM ||
		op->kind == OP_MIGRATE_WRITE_NVRAM;
}

/* After an agent's kill only libvirtd knows of them. */
void fake_drop_ops(struct world *w, enum fate fate)
{
	for (size_t i = 0; i < w->n_queue; i++) {
		struct pending *p = &w->queue[i];

		if (!is_op(p))
			continue;
		if (is_local(&p->op) && (fate == FATE_FINISH || p->at == NEVER))
			p->fire = NULL;
		if (fate == FATE_VANISH)
			p->fire = NULL;
		else if (fate == FATE_FINISHED && p->at != NEVER)
			p->at = w->t;
	}
	fake_forget_lanes(w);
}

/* What waits for the end of a job, too. */
static void lose_job_answers(struct world *w)
{
	struct err err;

	err_set(&err, ERR_UNAVAILABLE, "the connection to libvirt was lost");
	for (size_t i = 0; i < ARRAY_SIZE(w->fake.jobs); i++) {
		if (w->fake.jobs[i].active)
			fake_answer_job(w, &w->fake.jobs[i], &err);
	}
}

void fake_lose_ops(struct world *w)
{
	lose_job_answers(w);
	fake_lose_jobs(w);
	for (size_t i = 0; i < w->n_queue; i++) {
		struct pending *p = &w->queue[i];

		if (!is_op(p) || is_local(&p->op))
			continue;
		p->fire = deliver_result;
		p->at = w->t + LOST_DELAY;
		p->result = (struct op_result){ .id = p->op.id, .kind = p->op.kind };
		err_set(&p->result.err, ERR_UNAVAILABLE, "the connection to libvirt was lost");
	}
}

void fake_release_ops(struct world *w)
{
	memset(w->fake.scripts, 0, sizeof(w->fake.scripts));
	for (size_t i = 0; i < w->n_queue; i++) {
		if (is_op(&w->queue[i]) && w->queue[i].at == NEVER)
			w->queue[i].at = w->t + durations[w->queue[i].op.kind];
	}
}

static void fault(struct world *w, struct pending *p)
{
	enum trouble trouble = w->mishap.trouble;

	if ((trouble != FAULT_OP && trouble != FAULT_ANSWER) || w->ops != w->mishap.n)
		return;
	w->happened = true;
	p->works_unanswered = trouble == FAULT_ANSWER;
	err_set(&p->result.err, ERR_HYPERVISOR, "%s: fault asked for by the test",
		op_kind_name(p->op.kind));
}

static void submit(struct hypervisor *hv, const struct op *op)
{
	struct world *w = hv->sink.ctx;
	struct pending *p;

	if (!world_action(w))
		return;
	watch_submit(w, op);
	lane_take(w, op);
	w->fake.lists += op->kind == OP_LIST;
	w->ops++;
	p = world_later(w, durations[op->kind], take_effect);
	p->life = w->life;
	op_copy(&p->op, op);
	if (!is_local(op) && !w->fake.linked) {
		p->fire = deliver_result;
		p->at = w->t + LOST_DELAY;
		p->result = (struct op_result){ .id = op->id, .kind = op->kind };
		err_set(&p->result.err, ERR_UNAVAILABLE, "libvirt is not connected");
	}
	fault(w, p);
}

/* ---- the connection -------------------------------------------------------------------------- */

static void first_connect(struct world *w, struct pending *p)
{
	if (!w->agent || p->life != w->life || w->fake.linked)
		return;
	w->fake.linked = !w->fake.down;
	w->fake.link++;
	w->hv.sink.connection(w->hv.sink.ctx, w->fake.linked,
		w->fake.linked ? NULL : "libvirt does not answer");
}

static void start(struct hypervisor *hv)
{
	struct world *w = hv->sink.ctx;
	struct pending *p = world_later(w, CONNECT_TIME, first_connect);

	p->life = w->life;
}

void fake_start(struct world *w)
{
	static const struct hypervisor_ops ops = { .start = start, .submit = submit };

	w->hv.ops = &ops;
	w->fake.linked = false;
}
