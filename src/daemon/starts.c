/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may start now: the slots are given at the end of a turn, when all that it decided about have
 * said what they want. After a boot of the host there is a round, in which starts keep an order; it
 * begins when libvirt has been asked about all, and is stored, so that a restart in the middle of
 * it goes on with it.
 */
#include "core/phase.h"
#include "daemon/agent_private.h"

#define VALUE_NAME "boot_round"

void starts_load(struct agent *agent, const char *stored_boot_id)
{
	autofree char *round = store_get_value(agent->store, VALUE_NAME);
	const char *boot_id = agent->options->boot_id;

	if (!stored_boot_id || (streq(stored_boot_id, boot_id) && !streq(round, boot_id)))
		return;
	agent->slots.round = ROUND_AHEAD;
	agent->round_changed = !streq(round, boot_id);
}

int starts_save(struct agent *agent, struct err *err)
{
	return store_put_value(agent->store, VALUE_NAME,
		agent->slots.round == ROUND_NONE ? "" : agent->options->boot_id, err);
}

static void follow_round(struct agent *agent)
{
	if (agent->slots.round == ROUND_AHEAD && agent->connected && agent_is_settled(agent))
		slots_open_round(&agent->slots, &agent->machines);
	else if (slots_close_round(&agent->slots))
		agent->round_changed = true;
}

/* The start timeout of a run that was Scheduled before the boot begins only now. */
static void grant(struct agent *agent, struct machine *m, struct now now)
{
	if (m->vmi->phase == PHASE_SCHEDULED && !m->vmi->scheduled_at) {
		m->vmi->scheduled_at = now.boot;
		m->vmi_changed = true;
	}
	agent_mark(agent, m);
}

/* A condition of the run, which needs no event: queueing is nothing unusual. */
static void show_waiting(struct machine *m)
{
	bool queued = m->slot == SLOT_WAITING;

	if (!m->vmi || m->vmi->queued == queued)
		return;
	m->vmi->queued = queued;
	m->vmi_changed = true;
}

void starts_grant(struct agent *agent, const struct turn *turn, struct now now)
{
	struct machine *m;

	follow_round(agent);
	while ((m = slots_next(&agent->slots, agent->options->tuning.start_slots)))
		grant(agent, m, now);
	for (size_t i = 0; i < turn->n; i++)
		show_waiting(turn->touched[i]);
}
