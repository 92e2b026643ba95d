/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that were created under a name that has moved to another host: what both write to would be destroyed if
 * both ran, so that a run of the new one waits until that host has said that it has nothing of that name. Which host
 * that is, is stored with the object; that it is settled, in the commit with which the run begins at the earliest.
 */
#include "core/edit.h"
#include "core/json.h"
#include "core/phase.h"
#include "daemon/migrations.h"
#include "daemon/obstacles.h"

#define CONTESTED_ASK_S 5 /* between two questions to one peer */

/* One that can answer some time: nobody vouched for its end, and this host takes part. */
static const struct peer_facts *judge(const struct agent *agent, const char *peer)
{
	for (size_t i = 0; peer && agent->options->migrations && i < agent->options->n_peers; i++) {
		const struct peer_facts *p = &agent->peers.list[i];

		if (streq(p->config->name, peer))
			return p->dead.wall ? NULL : p;
	}
	return NULL;
}

const char *contested_by(const struct agent *agent, const char *ns, const char *name)
{
	const char *peer = migrations_moved_to(agent, ns, name);

	return judge(agent, peer) ? peer : NULL;
}

/* A VM's run has it as well: it may lose its VM. */
static const char *holder_of(const struct machine *m)
{
	if (m->vmi && m->vmi->contested)
		return m->vmi->contested;
	return m->vm ? m->vm->contested : NULL;
}

static void set_holder(struct agent *agent, struct machine *m, const char *peer)
{
	if (m->vm && m->vm->contested) {
		replace_str(&m->vm->contested, peer);
		m->vm_changed = true;
	}
	if (m->vmi && m->vmi->contested) {
		replace_str(&m->vmi->contested, peer);
		m->vmi->retry_at = 0;
		m->vmi_changed = true;
	}
	agent_mark(agent, m);
}

/* Whatever became of the other one: this one runs, or has. */
static bool has_run(const struct vmi *vmi)
{
	return vmi &&
		(vmi->prepared || vmi->phase == PHASE_SCHEDULED || vmi->phase == PHASE_RUNNING);
}

void contested_update(struct agent *agent, struct machine *m)
{
	if (holder_of(m) && has_run(m->vmi))
		set_holder(agent, m, NULL);
	machine_list_keep(&agent->contested, m, &m->contested, holder_of(m) != NULL);
}

enum obstacle contested_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words)
{
	const struct peer_facts *peer = judge(agent, holder_of(m));

	if (!peer)
		return OBSTACLE_NONE;
	*ret_words = peer->up
		? xasprintf("'%s' has moved to '%s', and this is another one of that name, which waits "
			    "until it is gone there: delete it there, or delete this one and move it back",
			  m->name, peer->config->name)
		: xasprintf("'%s' has moved to '%s', which cannot be reached: whether it is there still "
			    "is not known",
			  m->name, peer->config->name);
	return OBSTACLE_CONTESTED;
}

/* ---- asking -------------------------------------------------------------------------------------------- */

static bool waits(const struct machine *m)
{
	return m->vmi && m->vmi->phase == PHASE_SCHEDULING &&
		m->vmi->obstacle == OBSTACLE_CONTESTED;
}

void contested_turn(struct agent *agent, struct now now)
{
	agent->peers.ask_at = NEVER;
	for (size_t i = 0; i < agent->contested.n; i++) {
		const struct machine *m = agent->contested.list[i];
		struct peer_facts *peer = peers_find(agent, holder_of(m));

		if (!waits(m) || !peer || !peer->up)
			continue;
		if (now.boot >= peer->ask_at) {
			handover_ask(agent, peer->config->name);
			peer->ask_at = now.boot + SECONDS(CONTESTED_ASK_S);
		}
		agent->peers.ask_at = MIN(agent->peers.ask_at, peer->ask_at);
	}
}

/* ---- hearing ------------------------------------------------------------------------------------------- */

static const char *text_at(const cJSON *item, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, key));
}

/* Who has it by that list: the peer itself, one to which it went on and that can be asked, or nobody. */
static const char *named_by(const struct agent *agent, const char *peer, const cJSON *list,
	const struct machine *m)
{
	const char *ret = NULL, *next;
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "partial")))
			return peer;
		if (!streq(text_at(item, "namespace"), m->ns))
			continue;
		if (streq(text_at(item, "name"), m->name))
			return peer;
		if (!streq(text_at(item, "moved"), m->name))
			continue;
		next = peers_name(agent, text_at(item, "to"));
		ret = next ? next : peer;
	}
	return ret;
}

static void hear(struct agent *agent, const char *peer, const cJSON *list, struct machine *m)
{
	const char *holder = named_by(agent, peer, list, m);

	if (holder && streq(holder, peer))
		return;
	if (!holder)
		log_text(LOG_LEVEL_NOTICE, "%s/%s: peer '%s' has nothing of that name any more",
			m->ns, m->name, peer);
	set_holder(agent, m, holder);
}

void contested_heard(struct agent *agent, const char *peer, const char *document)
{
	cJSON *list = json_read(document);

	for (size_t i = 0; cJSON_IsArray(list) && i < agent->contested.n; i++) {
		struct machine *m = agent->contested.list[i];

		if (streq(holder_of(m), peer))
			hear(agent, peer, list, m);
	}
	cJSON_Delete(list);
}

/* ---- saying -------------------------------------------------------------------------------------------- */

static void tell(const struct agent *agent, const char *ns, const char *name, const char *to,
	cJSON *list)
{
	cJSON *item;

	if (machines_find(&agent->machines, ns, name) ||
		!streq(migrations_moved_to(agent, ns, name), to))
		return;
	item = cJSON_CreateObject();
	cJSON_AddStringToObject(item, "namespace", ns);
	cJSON_AddStringToObject(item, "moved", name);
	cJSON_AddStringToObject(item, "to", to);
	cJSON_AddItemToArray(list, item);
}

void contested_tell(const struct agent *agent, const char *asker, cJSON *list)
{
	const struct migrations *gs = &agent->migrations;

	for (size_t i = 0; i < gs->n; i++)
		if (gs->list[i]->moved && !streq(gs->list[i]->peer, asker))
			tell(agent, gs->list[i]->meta.ns, gs->list[i]->vmi, gs->list[i]->peer,
				list);
	for (size_t i = 0; i < gs->n_past; i++)
		if (gs->past[i].away && !streq(gs->past[i].peer, asker))
			tell(agent, gs->past[i].ns, gs->past[i].name, gs->past[i].peer, list);
}

/* ---- the operator's word --------------------------------------------------------------------------------- */

void contested_forfeit(struct agent *agent, const char *peer)
{
	for (size_t i = 0; i < agent->contested.n; i++) {
		struct machine *m = agent->contested.list[i];

		if (streq(holder_of(m), peer))
			set_holder(agent, m, NULL);
	}
}
