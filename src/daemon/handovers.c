/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said about migrations: what a peer says is folded, and what it is told leaves with the commit of
 * the turn that decided it. Nothing of it is sure to arrive.
 */
#include "daemon/agent_private.h"

/* event->name, of the configuration: it outlives the event. */
static const char *peer_of(const struct agent *agent, const char *name)
{
	for (size_t i = 0; i < agent->options->n_peers; i++) {
		if (streq(agent->options->peer_list[i].name, name))
			return agent->options->peer_list[i].name;
	}
	return NULL;
}

/* Says that to whoever said `to`. */
static struct handover *answer(struct agent *agent, const struct peer_event *to,
	enum handover_kind kind)
{
	struct letter *letter = LIST_ADD(agent->letters, agent->n_letters, agent->cap_letters);

	letter->peer = peer_of(agent, to->name);
	letter->handover = *to->handover;
	letter->handover.kind = kind;
	letter->handover.document = NULL;
	letter->handover.why[0] = '\0';
	return &letter->handover;
}

void input_handover(struct agent *agent, const struct peer_event *event, struct now now)
{
	struct handover *no;

	(void)now;
	if (event->handover->kind != HANDOVER_PREPARE)
		return; /* of a migration that is not known here */
	no = answer(agent, event, HANDOVER_DECLINED);
	copy_str(no->why, sizeof(no->why), "it takes no guests from other hosts");
}

void handovers_send(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_letters && agent->options->peers; i++)
		peer_send(agent->options->peers, agent->letters[i].peer,
			&agent->letters[i].handover);
	agent->n_letters = 0;
}

void handovers_done(struct agent *agent)
{
	free(agent->letters);
}
