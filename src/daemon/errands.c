/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errands: a picture of a guest's display, a connection to one of its ports, what its agent knows.
 * The op leaves with the next commit as every op does, but nothing is decided from what it brings:
 * the client gets it at once, or hears that it took too long.
 */
#include <string.h>

#include "core/guest_look.h"
#include "daemon/agent_private.h"

#define ERRANDS_MAX 32 /* at a time: they stand in one queue */

static void refuse(const struct errand *errand, const struct err *err)
{
	struct op_result result = { .kind = errand->kind, .err = *err };

	errand->done(errand, &result);
}

/* §5.4: of a VM that has no run, and of a VMI that is not there. */
static int find_run(const struct agent *agent, const struct errand *errand, struct machine **ret,
	struct err *err)
{
	struct machine *m = machines_find(&agent->machines, errand->ns, errand->name);
	bool of_vm = errand->named == KIND_VM;

	if (m && m->vmi && (!of_vm || m->vm)) {
		*ret = m;
		return 0;
	}
	if (of_vm && m && m->vm)
		return err_set(err, ERR_CONFLICT, "VMI is not started: start the VM '%s' first",
			errand->name);
	return agent_not_found(agent, errand->named, errand->ns, errand->name, err);
}

static int reach(const struct agent *agent, const struct errand *errand, const struct machine *m,
	struct err *err)
{
	const char *path;

	if (errand->kind == OP_SCREENSHOT)
		return reach_display(agent, errand->ns, errand->name, &path, err);
	if (errand->kind == OP_AGENT_LOOK)
		return guest_look_check(m->vmi, &m->dom, err);
	return reach_network(m, errand->port, err);
}

static int check(const struct agent *agent, const struct errand *errand, struct machine **ret,
	struct err *err)
{
	if (find_run(agent, errand, ret, err) || reach(agent, errand, *ret, err))
		return -(int)err->code;
	if (!agent->connected)
		return err_set(err, ERR_UNAVAILABLE, "libvirt is not connected");
	if (agent->n_errands == ERRANDS_MAX)
		return err_set(err, ERR_TOO_MANY, "too many ask at a time; try again");
	return 0;
}

void input_errand(struct agent *agent, const struct input *input, struct now now)
{
	const struct errand *errand = &input->errand;
	struct errand_under_way *e;
	struct machine *m = NULL;
	struct err err;

	if (check(agent, errand, &m, &err)) {
		refuse(errand, &err);
		return;
	}
	e = LIST_ADD(agent->errands, agent->n_errands, agent->cap_errands);
	e->op = ops_plan_errand(agent, m, errand);
	e->until = now.boot + op_kind_deadline(errand->kind);
	e->errand = *errand;
	e->errand.ns = xstrdup(errand->ns);
	e->errand.name = xstrdup(errand->name);
}

static void forget(struct errand_under_way *e)
{
	free((char *)e->errand.ns);
	free((char *)e->errand.name);
}

/* It is off the list when its client hears of it: who is called may ask for the next. */
static void finish(struct agent *agent, size_t i, const struct op_result *result)
{
	struct errand_under_way e = agent->errands[i];

	agent->errands[i] = agent->errands[--agent->n_errands];
	e.errand.done(&e.errand, result);
	forget(&e);
}

void errands_result(struct agent *agent, const struct op_result *result)
{
	for (size_t i = 0; i < agent->n_errands; i++) {
		if (agent->errands[i].op != result->id)
			continue;
		finish(agent, i, result);
		return;
	}
}

void errands_turn(struct agent *agent, struct now now)
{
	for (size_t i = 0; i < agent->n_errands;) {
		struct op_result result = { .kind = agent->errands[i].errand.kind };

		if (now.boot < agent->errands[i].until) {
			i++;
			continue;
		}
		err_set(&result.err, ERR_TIMEOUT, "libvirt has not answered '%s' for %lld s",
			op_kind_name(result.kind),
			(long long)(op_kind_deadline(result.kind) / 1000));
		finish(agent, i, &result);
	}
}

msec errands_wake_at(const struct agent *agent)
{
	msec at = NEVER;

	for (size_t i = 0; i < agent->n_errands; i++)
		at = MIN(at, agent->errands[i].until);
	return at;
}

void agent_drop_errands(struct agent *agent)
{
	while (agent->n_errands)
		forget(&agent->errands[--agent->n_errands]);
}
