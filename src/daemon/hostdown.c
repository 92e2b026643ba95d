/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host goes down: nothing begins any more, and what runs is told to stop, the highest start
 * order first; the next lower one when no guest of the higher is left. That it does is stored with
 * the boot id, so that a restart of the agent goes on with it and a boot of the host ends it. Which
 * guests are left follows from what the decider says of each machine.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "core/start_order.h"
#include "daemon/agent_private.h"

#define VALUE_NAME  "host_shutdown"
#define GROUP_LEAST SECONDS(10) /* what each order gets, if the host has that much time at all */

/* ---- stored ---------------------------------------------------------------------------------- */

void hostdown_load(struct agent *agent)
{
	autofree char *stored = store_get_value(agent->store, VALUE_NAME);
	struct hostdown *h = &agent->hostdown;
	char boot_id[UID_SIZE];

	if (!stored ||
		sscanf(stored, "%36s %" SCNd64 " %" SCNd64, boot_id, &h->begun, &h->deadline) != 3)
		return;
	h->active = streq(boot_id, agent->options->boot_id);
	if (h->active)
		log_text(LOG_LEVEL_NOTICE,
			"the host goes down: nothing is started; 'vmactl "
			"host-shutdown --cancel' calls that off");
}

int hostdown_save(struct agent *agent, struct err *err)
{
	const struct hostdown *h = &agent->hostdown;
	autofree char *value = h->active ? xasprintf("%s %" PRId64 " %" PRId64,
						   agent->options->boot_id, h->begun, h->deadline)
					 : xstrdup("");

	return store_put_value(agent->store, VALUE_NAME, value, err);
}

void hostdown_committed(struct agent *agent)
{
	struct hostdown *h = &agent->hostdown;
	char actor[32];

	if (!h->changed)
		return;
	h->changed = false;
	actor_text(&h->actor, actor, sizeof(actor));
	if (h->active)
		log_text(LOG_LEVEL_NOTICE,
			"the host goes down: its guests are stopped within %lld s (%s)",
			(long long)((h->deadline - h->begun) / 1000), actor);
	else
		log_text(LOG_LEVEL_NOTICE,
			"the host does not go down after all: guests that were told to stop do, "
			"and their strategies go on (%s)",
			actor);
}

/* ---- the guests that are left ---------------------------------------------------------------- */

/* Each order that is still to come has its time kept for it; none gets less than it needs
 * to hear of it. */
static msec group_deadline(const struct hostdown *h, struct now now)
{
	const struct machine_list *l = &h->members;
	msec later = 0;

	for (size_t i = 1; i < l->n; i++)
		later += l->list[i]->start.order != l->list[i - 1]->start.order;
	return MAX(h->deadline - later * GROUP_LEAST,
		now.boot + MIN(GROUP_LEAST, h->deadline - h->begun));
}

static void tell(struct agent *agent, struct machine *m)
{
	m->stop_by = agent->hostdown.group_deadline;
	agent_mark(agent, m);
}

static bool is_told(const struct hostdown *h, unsigned order)
{
	return h->group_deadline && order >= h->group;
}

static void join(struct agent *agent, struct machine *m)
{
	order_list_add(&agent->hostdown.members, m);
	m->in_shutdown = true;
	if (is_told(&agent->hostdown, m->start.order))
		tell(agent, m);
}

static void leave(struct hostdown *h, struct machine *m)
{
	order_list_remove(&h->members, m);
	m->in_shutdown = false;
	m->stop_by = 0;
}

void hostdown_follow(struct agent *agent, struct machine *m, bool may_live)
{
	if (!agent->hostdown.active || may_live == m->in_shutdown)
		return;
	if (may_live)
		join(agent, m);
	else
		leave(&agent->hostdown, m);
}

void hostdown_forget(struct agent *agent, struct machine *m)
{
	if (m->in_shutdown)
		leave(&agent->hostdown, m);
}

void hostdown_turn(struct agent *agent, struct now now)
{
	struct hostdown *h = &agent->hostdown;
	const struct machine_list *l = &h->members;

	if (!h->active || !l->n || is_told(h, l->list[l->n - 1]->start.order))
		return;
	h->group = l->list[l->n - 1]->start.order;
	h->group_deadline = group_deadline(h, now);
	for (size_t i = l->n; i > 0 && l->list[i - 1]->start.order == h->group; i--)
		tell(agent, l->list[i - 1]);
}

void hostdown_done(struct agent *agent)
{
	machine_list_done(&agent->hostdown.members);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void mark_all(struct agent *agent)
{
	for (size_t i = 0; i < agent->machines.n; i++)
		agent_mark(agent, agent->machines.list[i]);
}

static void begin(struct agent *agent, unsigned timeout_s, struct now now)
{
	struct hostdown *h = &agent->hostdown;

	h->active = true;
	h->begun = now.boot;
	h->deadline = now.boot + SECONDS(timeout_s ? timeout_s : agent->options->tuning.shutdown_s);
	h->group_deadline = 0;
}

static void call_off(struct agent *agent)
{
	struct hostdown *h = &agent->hostdown;

	h->active = false;
	while (h->members.n)
		leave(h, h->members.list[h->members.n - 1]);
}

void input_host_shutdown(struct agent *agent, const struct input *input, struct now now)
{
	const struct request *request = &input->request;
	struct hostdown *h = &agent->hostdown;
	struct err err = { 0 };

	if (request_is_unsaved(agent, request))
		return;
	if (h->active == request->call_off) {
		if (h->active)
			call_off(agent);
		else
			begin(agent, request->timeout_s, now);
		h->actor = request->actor;
		h->changed = true;
		mark_all(agent);
	}
	agent_answer(agent, request, &err, NULL);
	agent->replies[agent->n_replies - 1].object = agent_host_shutdown(agent, now);
}

int hostdown_check(const struct agent *agent, enum verb verb, struct err *err)
{
	if (!agent->hostdown.active || verb == VERB_STOP)
		return 0;
	return err_set(err, ERR_CONFLICT,
		"the host goes down: nothing is started until it is up again; 'vmactl host-shutdown "
		"--cancel' calls that off");
}

/* ---- how it stands --------------------------------------------------------------------------- */

static cJSON *guest_json(const struct machine *m)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "namespace", m->ns);
	cJSON_AddStringToObject(json, "name", m->name);
	if (m->start.order != START_ORDER_LAST)
		cJSON_AddNumberToObject(json, "startOrder", m->start.order);
	cJSON_AddBoolToObject(json, "told", m->stop_by != 0);
	return json;
}

char *agent_host_shutdown(const struct agent *agent, struct now now)
{
	const struct hostdown *h = &agent->hostdown;
	cJSON *json = cJSON_CreateObject(), *status, *guests;

	cJSON_AddStringToObject(json, "apiVersion", object_kind_api_version(KIND_HOST_SHUTDOWN));
	cJSON_AddStringToObject(json, "kind", object_kind_name(KIND_HOST_SHUTDOWN));
	status = cJSON_AddObjectToObject(json, "status");
	cJSON_AddBoolToObject(status, "active", h->active);
	if (h->active) {
		cJSON_AddNumberToObject(status, "secondsLeft",
			(double)(MAX(h->deadline - now.boot, 0) / 1000));
		cJSON_AddNumberToObject(status, "running", (double)h->members.n);
		guests = cJSON_AddArrayToObject(status, "guests");
		for (size_t i = 0; i < h->members.n; i++)
			cJSON_AddItemToArray(guests, guest_json(h->members.list[i]));
	}
	return json_take_text(json);
}
