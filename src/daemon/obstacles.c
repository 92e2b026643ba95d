/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What keeps a run from being prepared, in the order of a table: the first one found is what is
 * told. A run that waits looks again by itself now and then, and at once when something of what it
 * may wait for changes.
 */
#include "daemon/obstacles.h"

/* With an obstacle go words, owned by the caller: what it is, and what would end it. */
typedef enum obstacle obstacle_fn(const struct agent *agent, const struct machine *m,
	char **ret_words);

/* Room is asked for last: who has it must need nothing else. */
static obstacle_fn *const checks[] = {
	contested_obstacle,
	kvm_obstacle,
	placing_obstacle,
	claims_obstacle,
	disks_obstacle,
	media_obstacle,
	credentials_obstacle,
	macs_obstacle,
	networks_obstacle,
	host_ports_obstacle,
	shares_obstacle,
	capacity_obstacle,
};

/* More than those who wait: what they wait for may change when nothing else of them does. And those
 * who run, whose guest agents are told what Secrets hold. */
static void list_unprepared(struct agent *agent, struct machine *m)
{
	bool unprepared = (m->vmi && m->vmi->phase == PHASE_SCHEDULING) ||
		(m->vm && m->vm->type_trouble) || credentials_may_change(m);

	machine_list_keep(&agent->unprepared, m, &m->unprepared, unprepared);
}

void obstacles_update(struct agent *agent, struct machine *m)
{
	list_unprepared(agent, m);
	namesakes_update(agent, m);
	contested_update(agent, m);
	data_volumes_follow(agent, m);
	claims_bind(agent, m);
	disks_update(agent, m);
	shares_update(agent, m);
	capacity_update(agent, m);
}

/* Only what is to be prepared is looked at: what it holds then is its own. */
static bool is_to_be_prepared(const struct machine *m)
{
	return m->vmi && m->vmi->phase == PHASE_SCHEDULING && m->slot == SLOT_HELD &&
		!m->holds_disks;
}

enum obstacle obstacles_find(const struct agent *agent, const struct machine *m, char **ret_words)
{
	enum obstacle found = OBSTACLE_NONE;

	for (size_t i = 0; is_to_be_prepared(m) && !found && i < ARRAY_SIZE(checks); i++)
		found = checks[i](agent, m, ret_words);
	return found;
}

/* An op that failed waits for its time, whatever else changes; who waits for room is called. */
static bool run_is_waiting(const struct vmi *vmi)
{
	return vmi && vmi->phase == PHASE_SCHEDULING && vmi->obstacle > OBSTACLE_SYNC &&
		vmi->obstacle != OBSTACLE_IMAGE && vmi->obstacle != OBSTACLE_IMAGE_BACK_OFF &&
		vmi->obstacle != OBSTACLE_NO_ROOM;
}

void obstacles_turn(struct agent *agent)
{
	if (!agent->freed && !agent->records.changed)
		return;
	if (agent->records.changed)
		capacity_reorder(agent);
	agent->freed = false;
	for (size_t i = 0; i < agent->unprepared.n; i++) {
		struct machine *m = agent->unprepared.list[i];

		if (run_is_waiting(m->vmi))
			m->vmi->retry_at = 0;
		else if ((!m->vm || !m->vm->type_trouble) && !credentials_may_change(m))
			continue;
		agent_mark(agent, m);
	}
	capacity_call(agent);
}

void obstacles_done(struct agent *agent)
{
	machine_list_done(&agent->unprepared);
	machine_list_done(&agent->contested);
	data_volumes_done(&agent->fills);
	disks_done(&agent->disks);
	capacity_done(&agent->capacity);
	macs_done(&agent->macs);
	host_ports_done(&agent->host_ports);
	shares_done(&agent->shares);
}
