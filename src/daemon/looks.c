/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for what a guest's agent knows: checked, asked by an op that is nobody's but theirs, and answered with
 * its result. Who asks for what is being asked for already gets the same answer. Nothing of it is stored.
 */
#include <string.h>

#include "core/guest_look.h"
#include "daemon/agent_private.h"

#define LOOKS_MAX 64 /* requests that wait for guests' agents, which may answer late */

/* The op that asks for the same already, or 0. */
static uint64_t find_op(const struct agent *agent, const struct vmi *vmi, enum guest_look look)
{
	for (size_t i = 0; i < agent->n_looks; i++)
		if (agent->looks[i].look == look && streq(agent->looks[i].vmi_uid, vmi->meta.uid))
			return agent->looks[i].op;
	return 0;
}

static void wait_for(struct agent *agent, const struct request *request, const struct machine *m)
{
	uint64_t op = find_op(agent, m->vmi, request->look);
	struct asked_look *asked = LIST_ADD(agent->looks, agent->n_looks, agent->cap_looks);

	asked->op = op ? op : ops_plan_look(agent, m, request->look);
	asked->look = request->look;
	asked->reply = request->reply;
	asked->ns = xstrdup(request->ns);
	asked->name = xstrdup(request->name);
	copy_str(asked->vmi_uid, UID_SIZE, m->vmi->meta.uid);
}

void input_guest_look(struct agent *agent, const struct input *input, struct now now)
{
	const struct request *request = &input->request;
	struct err err = { 0 };
	struct target t;

	(void)now;
	if (request_is_unsaved(agent, request))
		return;
	if (!request_find(agent, request, &t, &err) &&
		!guest_look_check(t.m->vmi, &t.m->dom, &err) && agent->n_looks == LOOKS_MAX)
		err_set(&err, ERR_TOO_MANY,
			"%d requests wait for guest agents already: try again later", LOOKS_MAX);
	if (err.code)
		agent_answer(agent, request, &err, NULL);
	else
		wait_for(agent, request, t.m);
}

static void answer(struct agent *agent, const struct asked_look *asked, const struct err *err,
	const char *answers)
{
	struct request request = { .kind = KIND_VMI,
		.reply = asked->reply,
		.ns = asked->ns,
		.name = asked->name };
	struct err why = *err;
	char *object = NULL;

	if (!why.code)
		guest_look_document(asked->look, answers, &object, &why);
	agent_answer(agent, &request, &why, NULL);
	agent->replies[agent->n_replies - 1].object = object;
}

static void asked_done(struct asked_look *asked)
{
	free(asked->ns);
	free(asked->name);
}

void look_result(struct agent *agent, const struct op_result *result)
{
	size_t kept = 0;

	for (size_t i = 0; i < agent->n_looks; i++) {
		struct asked_look *asked = &agent->looks[i];

		if (asked->op != result->id) {
			agent->looks[kept++] = *asked;
			continue;
		}
		answer(agent, asked, &result->err, result->text);
		asked_done(asked);
	}
	agent->n_looks = kept;
}

void looks_done(struct agent *agent)
{
	struct err err = { .code = ERR_UNAVAILABLE, .msg = "the agent is ending" };

	for (size_t i = 0; i < agent->n_looks; i++) {
		answer(agent, &agent->looks[i], &err, NULL);
		asked_done(&agent->looks[i]);
	}
	free(agent->looks);
}
