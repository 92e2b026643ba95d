/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the API: checked against the facts and applied in the order in which they arrive; the
 * answer leaves after the commit. A refused request changes nothing but an event that says so.
 */
#include <stdio.h>
#include <string.h>

#include "core/crashloop.h"
#include "core/edit.h"
#include "core/status.h"
#include "core/vmi_verbs.h"
#include "daemon/agent_private.h"
#include "daemon/migrations.h"
#include "daemon/obstacles.h"

/* ---- answers --------------------------------------------------------------------------------- */

void agent_answer(struct agent *agent, const struct request *request, const struct err *err,
	const char *note)
{
	struct pending_reply *r = LIST_ADD(agent->replies, agent->n_replies, agent->cap_replies);

	r->reply = request->reply;
	r->err = *err;
	r->note = xstrdup(note);
	r->kind = request->kind;
	r->ns = xstrdup(request->ns);
	r->name = xstrdup(request->name);
}

static int keep_object(void *ctx, const struct object_row *row)
{
	*(char **)ctx = xstrdup(row->object);
	return 1;
}

static void reply_send(struct agent *agent, struct pending_reply *r)
{
	struct object_query query = { .kind = r->kind, .ns = r->ns, .name = r->name };
	struct answer answer = { .err = &r->err,
		.note = r->note,
		.findings = r->findings,
		.kind = r->kind,
		.name = r->name };

	if (!r->reply.answer)
		return;
	if (r->err.code == ERR_OK && !r->object)
		store_each(agent->store, &query, keep_object, &r->object, NULL);
	answer.object = r->object;
	r->reply.answer(r->reply.ctx, &answer);
}

static void reply_done(struct pending_reply *r)
{
	free(r->note);
	free(r->object);
	if (r->findings)
		findings_done(r->findings);
	free(r->findings);
	free(r->ns);
	free(r->name);
}

/* An answer may bring in the next request, so the list is taken first. */
void replies_send(struct agent *agent)
{
	struct pending_reply *replies = take(&agent->replies);
	size_t n = agent->n_replies;

	agent->n_replies = agent->cap_replies = 0;
	for (size_t i = 0; i < n; i++) {
		reply_send(agent, &replies[i]);
		reply_done(&replies[i]);
	}
	free(replies);
}

void replies_refuse(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_replies; i++) {
		free(take(&agent->replies[i].object));
		err_set(&agent->replies[i].err, ERR_UNSAVED,
			"not saved yet (%.200s); it is tried again until it is",
			agent->commit_err.msg);
	}
	replies_send(agent);
}

/* The agent ends: whoever still waits is told so. */
void replies_done(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_replies; i++)
		err_set(&agent->replies[i].err, ERR_UNAVAILABLE, "the agent is ending");
	replies_send(agent);
}

/* ---- checks that all requests share ---------------------------------------------------------- */

bool request_is_unsaved(struct agent *agent, const struct request *request)
{
	struct err err;

	if (!agent->uncommitted)
		return false;
	err_set(&err, ERR_UNAVAILABLE, "nothing can be saved at the moment: %.300s",
		agent->commit_err.msg);
	agent_answer(agent, request, &err, NULL);
	replies_send(agent);
	return true;
}

int request_find(struct agent *agent, const struct request *request, struct target *ret,
	struct err *err)
{
	*ret = target_find(agent, request->kind, request->ns, request->name);
	if (ret->meta)
		return 0;
	return agent_not_found(agent, request->kind, request->ns, request->name, err);
}

/* What changed in this turn is not committed, and has the old resourceVersion still. */
int request_check(const struct request *request, const struct target *t, struct err *err)
{
	if (request->if_uid && !streq(request->if_uid, t->meta->uid))
		return err_set(err, ERR_CONFLICT,
			"the UID in the precondition is not that of '%s', which is %s",
			request->name, t->meta->uid);
	if (request->if_rv && (target_is_changed(t) || request->if_rv != t->meta->rv))
		return err_set(err, ERR_CONFLICT,
			"'%s' has been modified meanwhile; read it again and repeat the change",
			request->name);
	return 0;
}

void request_note(struct agent *agent, const struct request *request, const char *reason,
	const char *done, const struct err *err)
{
	struct target t = target_find(agent, request->kind, request->ns, request->name);
	struct happening what = { .actor = request->actor };

	if (!t.meta || request->dry_run)
		return;
	what.warning = err->code != ERR_OK;
	if (what.warning)
		happen(&what, request->kind, "Refused", "%s refused: %.400s", done, err->msg);
	else
		happen(&what, request->kind, reason, "%s accepted", done);
	agent_note(agent, t.meta, &what);
}

/* ---- create ---------------------------------------------------------------------------------- */

void input_create(struct agent *agent, const struct input *input, struct now now)
{
	const struct request *request = &input->request;
	autofree char *warnings = agent_warnings(agent, request->manifest);
	struct err err = { 0 };

	if (request_is_unsaved(agent, request))
		return;
	if (request->dry_run)
		agent_check_create(agent, request->manifest, &err);
	else
		agent_create_object(agent, request->manifest, &request->actor, now, &err);
	agent_answer(agent, request, &err, err.code == ERR_OK ? warnings : NULL);
	if (request->dry_run && err.code == ERR_OK)
		agent->replies[agent->n_replies - 1].object = node_json(request->manifest->root);
}

/* ---- delete ---------------------------------------------------------------------------------- */

static bool has_run(const struct machine *m, const struct request *request)
{
	if (!m->vmi || request->kind == KIND_VMI)
		return m->vmi;
	return streq(m->vmi->owner, m->vm->meta.uid);
}

/* A deletion that is under way can be hurried, but not slowed down. */
static void take_grace(struct machine *m, const struct request *request)
{
	int64_t grace = m->vmi->typed.grace;
	int64_t now = grace == GRACE_UNSET ? GRACE_DEFAULT_S : grace;

	if (request->grace != GRACE_UNSET && (!m->vmi->meta.deleted || request->grace < now))
		vmi_change_grace(m, request->grace);
}

static void orphan(struct agent *agent, struct machine *m, const struct request *request,
	struct now now)
{
	struct happening what = { .actor = request->actor };
	bool had_run = has_run(m, request);

	data_volumes_leave(agent, m, true, false, now);
	vm_orphan(m, now);
	if (!had_run)
		return;
	happen(&what, KIND_VMI, "Orphaned", "its virtual machine was deleted without it; it %s",
		m->vmi->meta.deleted ? "still is to end" : "goes on");
	agent_note(agent, &m->vmi->meta, &what);
}

static void delete_machine(struct agent *agent, const struct target *t,
	const struct request *request, struct now now)
{
	if (request->kind == KIND_VM && request->propagation == PROPAGATION_ORPHAN) {
		orphan(agent, t->m, request, now);
		agent_mark(agent, t->m);
		return;
	}
	if (has_run(t->m, request))
		take_grace(t->m, request);
	agent_delete_object(agent, t, &request->actor, now);
}

/* Most records are gone at once, and with it what request_note() would say it of. */
static void note_gone(struct agent *agent, const struct request *request, const struct target *t)
{
	struct happening what = { .actor = request->actor };

	if (!t->record || t->kind == KIND_NAMESPACE || t->kind == KIND_PVC)
		return;
	happen(&what, t->kind, "DeleteRequested", "deleted");
	agent_note(agent, t->meta, &what);
}

static int delete (struct agent *agent, const struct request *request, struct now now,
	const char **ret_file, struct err *err)
{
	struct target t;
	int ret = request_find(agent, request, &t, err);

	if (ret == 0)
		ret = request_check(request, &t, err);
	if (ret == 0)
		ret = agent_check_delete(agent, &t, err);
	if (ret < 0 || request->dry_run)
		return ret;
	*ret_file = origins_deleted(agent, request->kind, request->ns, request->name);
	note_gone(agent, request, &t);
	if (t.m)
		delete_machine(agent, &t, request, now);
	else
		agent_delete_object(agent, &t, &request->actor, now);
	return 0;
}

void input_delete(struct agent *agent, const struct input *input, struct now now)
{
	const struct request *request = &input->request;
	const char *file = NULL;
	struct err err = { 0 };
	char note[512];

	if (request_is_unsaved(agent, request))
		return;
	delete (agent, request, now, &file, &err);
	request_note(agent, request, "DeleteRequested", "delete", &err);
	if (file)
		snprintf(note, sizeof(note),
			"file %.300s still declares it: it stays deleted until the file's content "
			"changes",
			file);
	agent_answer(agent, request, &err, file ? note : NULL);
}

/* ---- start, stop, restart -------------------------------------------------------------------- */

static void apply_effect(struct agent *agent, struct machine *m, const struct verb_effect *effect)
{
	struct vm *vm = m->vm;

	vm->restore = false; /* whoever gives an order decides anew */
	if (effect->strategy != STRATEGY_UNSET)
		vm_change_strategy(m, effect->strategy);
	if (effect->set_requests) {
		memcpy(vm->requests, effect->requests, sizeof(vm->requests));
		vm->n_requests = effect->n_requests;
	}
	if (effect->record_strategy)
		vm->recorded = vm->strategy;
	if (effect->clear_start_failure) {
		memset(&vm->failure, 0, sizeof(vm->failure));
		crash_loop_clear(&vm->crash);
	}
	if (effect->vmi_grace != GRACE_UNSET && m->vmi)
		vmi_change_grace(m, effect->vmi_grace);
	m->vm_changed = true;
	agent_mark(agent, m);
}

/* An orphan that is ending, which it does not adopt, is none of the VM's: an order must not
 * be lost with it. */
static const struct vmi *own_run(const struct machine *m)
{
	bool own = m && m->vm && m->vmi && streq(m->vmi->owner, m->vm->meta.uid);

	return own ? m->vmi : NULL;
}

static int verb(struct agent *agent, const struct request *request, struct err *err)
{
	struct verb_effect effect = { .vmi_grace = GRACE_UNSET };
	struct machine *m = machines_find(&agent->machines, request->ns, request->name);
	struct verb_target target = { .vm = m ? m->vm : NULL, .vmi = own_run(m) };
	/* First: what is at another host is to be asked there. */
	int ret = agent_check_orders(m, err);

	if (ret == 0)
		ret = verb_check(request->verb, &request->options, &target, &effect, err);
	if (ret == -ERR_NOT_FOUND && !m)
		/* In the API's words. */
		return request_find(agent, request, &(struct target){ 0 }, err);
	if (ret == 0)
		ret = hostdown_check(agent, request->verb, err);
	if (ret == 0 && !request->options.dry_run && !request->dry_run)
		apply_effect(agent, m, &effect);
	return ret;
}

void input_verb(struct agent *agent, const struct input *input, struct now now)
{
	/* clang-format off */
	static const char *const reasons[VERB_MAX] = {
		[VERB_START]   = "StartRequested",
		[VERB_STOP]    = "StopRequested",
		[VERB_RESTART] = "RestartRequested",
	};
	/* clang-format on */
	const struct request *request = &input->request;
	struct err err = { 0 };

	(void)now;
	if (request_is_unsaved(agent, request))
		return;
	verb(agent, request, &err);
	request_note(agent, request, reasons[request->verb], verb_name(request->verb), &err);
	agent_answer(agent, request, &err, NULL);
}

/* ---- pause, unpause, softreboot, reset ------------------------------------------------------- */

/* One that stands still only because it moves runs, to whoever wants it paused or rebooted
 * there. */
static enum domain_state state_to_users(const struct machine *m, enum vmi_verb verb)
{
	enum domain_state state = machine_domain_state(m);
	bool moves = state == DOMAIN_PAUSED && machine_is_held(m) &&
		(m->dom.reason == REASON_MIGRATION || m->dom.reason == REASON_POSTCOPY);

	return moves && verb != VMI_VERB_UNPAUSE ? DOMAIN_RUNNING : state;
}

static int vmi_verb(struct agent *agent, const struct request *request, struct err *err)
{
	struct vmi_verb_effect effect = { .act = ACT_NONE };
	struct target t;
	int ret = request_find(agent, request, &t, err);
	struct machine *m = t.m;

	if (ret < 0)
		return ret;
	struct vmi_verb_target target = { .vmi = m->vmi,
		.state = state_to_users(m, request->vmi_verb),
		.agent = vmi_has_agent(m->vmi, &m->dom) };

	ret = agent_check_orders(m, err);
	if (ret < 0)
		return ret;
	ret = vmi_verb_check(request->vmi_verb, &target, request->dry_run, &effect, err);
	if (ret < 0 || request->dry_run)
		return ret;
	if (effect.set_pause)
		m->vmi->pause = effect.pause;
	if (effect.act)
		m->vmi->act = effect.act;
	m->vmi->retry_at = 0; /* a new order does not wait for what failed before */
	m->vmi->tries = 0;
	m->vmi_changed = true;
	agent_mark(agent, m);
	return 0;
}

void input_vmi_verb(struct agent *agent, const struct input *input, struct now now)
{
	/* clang-format off */
	static const char *const reasons[VMI_VERB_MAX] = { /* KubeVirt's, §1.5 */
		[VMI_VERB_PAUSE]      = "Paused",
		[VMI_VERB_UNPAUSE]    = "Unpaused",
		[VMI_VERB_SOFTREBOOT] = "SoftRebooted",
		[VMI_VERB_RESET]      = "Reset",
	};
	/* clang-format on */
	const struct request *request = &input->request;
	struct err err = { 0 };

	(void)now;
	if (request_is_unsaved(agent, request))
		return;
	vmi_verb(agent, request, &err);
	request_note(agent, request, reasons[request->vmi_verb], vmi_verb_name(request->vmi_verb),
		&err);
	agent_answer(agent, request, &err, NULL);
}
