/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passwords and keys of the users in guests, which their agents are told: made of Secrets as they
 * are now, and told again when those change.
 */
#include "core/credentials.h"

#include "daemon/obstacles.h"

int64_t credentials_wanted(const struct agent *agent, const struct machine *m)
{
	autofree char *commands = NULL;
	struct media_finder finder;
	struct media_world world;

	if (!m->vmi || !has_agent_credentials(&m->vmi->typed))
		return 0;
	world = media_world_of(agent, m, &finder);
	commands = credentials_commands(&m->vmi->typed, &world);
	return credentials_version(commands);
}

enum obstacle credentials_obstacle(const struct agent *agent, const struct machine *m,
	char **ret_words)
{
	struct media_finder finder;
	struct media_world world = media_world_of(agent, m, &finder);
	const char *missing = credentials_missing(&m->vmi->typed, &world);

	if (!missing)
		return OBSTACLE_NONE;
	*ret_words = xasprintf("accessCredentials: there is no Secret '%s' in namespace '%s': "
			       "apply it",
		missing, m->ns);
	return OBSTACLE_MISSING;
}

void credentials_fill(const struct agent *agent, const struct machine *m, struct op *op)
{
	struct media_finder finder;
	struct media_world world = media_world_of(agent, m, &finder);

	op->question = credentials_commands(&m->vmi->typed, &world);
}

bool credentials_may_change(const struct machine *m)
{
	return m->vmi && m->vmi->phase == PHASE_RUNNING && has_agent_credentials(&m->vmi->typed);
}
