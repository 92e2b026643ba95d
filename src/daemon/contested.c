/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that were created under a name that has moved to another host: what both write to would
 * be destroyed if both ran, so that a run of the new one waits until that host has said that it has
 * nothing of that name. Which host that is, is stored with the object; that it is settled, in the
 * commit with which the run begins at the earliest.
 */
#include <string.h>

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

/* ---- asking ---------------------------------------------------------------------------------- */

static bool waits(const struct machine *m)
{
	return m->vmi && m->vmi->phase == PHASE_SCHEDULING &&
		m->vmi->obstacle == OBSTACLE_CONTESTED;
}

/* {"namespace": …, "name": …}: what it takes of a question, where each quote is one more byte. */
#define NAME_BYTES (sizeof("{'namespace':'','name':''},") - 1 + 8)

static size_t size_of(const struct machine *m)
{
	return strlen(m->ns) + strlen(m->name) + NAME_BYTES;
}

static void add_name(cJSON *names, const struct machine *m)
{
	cJSON *item = cJSON_CreateObject();

	cJSON_AddStringToObject(item, "namespace", m->ns);
	cJSON_AddStringToObject(item, "name", m->name);
	cJSON_AddItemToArray(names, item);
}

/* Of those that wait for that peer's word as many as one question holds; the next one goes on
 * after them. */
static char *names_for(const struct agent *agent, struct peer_facts *peer)
{
	const struct machine_list *l = &agent->contested;
	cJSON *names = cJSON_CreateArray();
	size_t from = peer->ask_from, left = HANDOVER_NAMES_MAX - sizeof("[]");

	for (size_t i = 0; i < l->n; i++) {
		const struct machine *m = l->list[(from + i) % l->n];

		if (!waits(m) || !streq(holder_of(m), peer->config->name))
			continue;
		if (size_of(m) > left)
			break;
		left -= size_of(m);
		add_name(names, m);
		peer->ask_from = (from + i + 1) % l->n;
	}
	return json_take_text(names);
}

/* An answer to an earlier question may be older than what has come to that peer since. */
static void ask(struct agent *agent, struct peer_facts *peer, struct now now)
{
	struct handover *h = handover_ask(agent, peer->config->name, names_for(agent, peer));

	agent_uuid(agent, peer->question);
	copy_str(h->migration, UID_SIZE, peer->question);
	peer->ask_at = now.boot + SECONDS(CONTESTED_ASK_S);
}

void contested_turn(struct agent *agent, struct now now)
{
	agent->peers.ask_at = NEVER;
	for (size_t i = 0; i < agent->contested.n; i++) {
		const struct machine *m = agent->contested.list[i];
		struct peer_facts *peer = peers_find(agent, holder_of(m));

		if (!waits(m) || !peer || !peer->up)
			continue;
		if (now.boot >= peer->ask_at)
			ask(agent, peer, now);
		agent->peers.ask_at = MIN(agent->peers.ask_at, peer->ask_at);
	}
}

/* ---- hearing --------------------------------------------------------------------------------- */

/* Who has it by what is said of it: the peer itself, one to which it went on and that can be
 * asked, or nobody. */
static const char *named_by(const struct agent *agent, const char *peer, const cJSON *item)
{
	const char *next = peers_name(agent, json_text(item, "to"));

	if (json_text(item, "gone"))
		return NULL;
	return json_text(item, "moved") && next ? next : peer;
}

static struct machine *machine_of(const struct agent *agent, const cJSON *item)
{
	const char *ns = json_text(item, "namespace"), *name = json_text(item, "moved");

	if (!name)
		name = json_text(item, "gone");
	return ns && name ? machines_find(&agent->machines, ns, name) : NULL;
}

static void hear(struct agent *agent, const char *peer, const cJSON *item)
{
	const char *holder = named_by(agent, peer, item);
	struct machine *m = machine_of(agent, item);

	if (!m || !streq(holder_of(m), peer) || streq(holder, peer))
		return;
	if (!holder)
		log_text(LOG_LEVEL_NOTICE, "%s/%s: peer '%s' has nothing of that name any more",
			m->ns, m->name, peer);
	set_holder(agent, m, holder);
}

/* What is not said of a name is not known. */
void contested_heard(struct agent *agent, const char *peer, const struct handover *h)
{
	struct peer_facts *facts = peers_find(agent, peer);
	cJSON *list, *item;

	if (!facts || !streq(h->migration, facts->question))
		return;
	list = json_read(h->document);
	cJSON_ArrayForEach(item, list)
	{
		hear(agent, facts->config->name, item);
	}
	cJSON_Delete(list);
}

/* ---- the operator's word --------------------------------------------------------------------- */

void contested_forfeit(struct agent *agent, const char *peer)
{
	for (size_t i = 0; i < agent->contested.n; i++) {
		struct machine *m = agent->contested.list[i];

		if (streq(holder_of(m), peer))
			set_holder(agent, m, NULL);
	}
}
