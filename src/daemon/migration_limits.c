/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many migrations may leave this host at once, in which order, and what each of them may
 * take: the configuration's word, and over it that of the MigrationPolicy which suits the machine
 * best. Loop thread only.
 */
#include "core/migration_offer.h"
#include "core/migration_policy.h"
#include "daemon/agent_private.h"
#include "daemon/migration_objects.h"

#define PROGRESS_MS 1000 /* between two that are shown */

/* ---- whose turn it is ------------------------------------------------------------------------ */

/* Of those that wait: the more urgent, then whoever asked first. */
static bool comes_before(const struct migration *a, const struct migration *b)
{
	int more = migration_object_urgency(a) - migration_object_urgency(b);

	return more > 0 || (more == 0 && a->number < b->number);
}

/* One whose target is not there holds up no others. */
static bool is_ahead(const struct agent *agent, const struct migration *other,
	const struct migration *g)
{
	return other != g && other->role == MIGRATION_SOURCE && other->state == MIGRATION_PENDING &&
		!other->removed && peers_is_up(agent, other->peer) && comes_before(other, g);
}

bool migration_limits_allow(const struct agent *agent, const struct migration *g)
{
	unsigned n = migrations_under_way(agent, MIGRATION_SOURCE);

	for (size_t i = 0; i < agent->migrations.n; i++)
		n += is_ahead(agent, agent->migrations.list[i], g);
	return n < agent->options->tuning.migrations.outbound;
}

const struct migration_config *agent_migrations(const struct agent *agent)
{
	return agent->options->migrations ? &agent->options->tuning.migrations : NULL;
}

/* ---- what it may do -------------------------------------------------------------------------- */

void migration_limits_freeze(const struct agent *agent, struct migration *g, const struct vmi *vmi)
{
	const struct record *ns = records_find(&agent->records, KIND_NAMESPACE, "", g->meta.ns);
	struct policed whose = { vmi->meta.labels, ns ? ns->meta.labels : NULL };
	autofree char *copies = migration_copies(&vmi->typed);
	size_t n;
	struct record *const *policies =
		records_of_kind(&agent->records, KIND_MIGRATION_POLICY, &n);
	const struct record *policy = migration_policy_find(policies, n, &whose);

	g->limits = agent->options->tuning.migrations.limits;
	replace_str(&g->policy, policy ? policy->meta.name : NULL);
	if (policy)
		migration_policy_apply(policy, &g->limits);
	g->frozen = true;
	if (copies) /* libvirt does not go over before the disks have */
		g->limits.post_copy = false;
}

/* ---- the target's answer --------------------------------------------------------------------- */

/* Of the first attempt: that of post-copy is held by nobody. */
void migration_note_answer(struct machine *m, bool held)
{
	struct migration *g = m->migration;

	if (g && g->role == MIGRATION_SOURCE && g->performing && !g->post_copy)
		g->held = held;
}

/* ---- how far it is --------------------------------------------------------------------------- */

void migration_note_progress(struct agent *agent, struct machine *m,
	const struct migration_progress *progress)
{
	struct migration *g = m->migration;
	int64_t rate;

	if (!g || g->role != MIGRATION_SOURCE || g->state != MIGRATION_OUT || !g->performing ||
		progress->elapsed < g->progress.elapsed + PROGRESS_MS)
		return;
	rate = migration_rate(progress, &g->progress);
	g->progress = *progress;
	g->progress.rate = rate;
	g->mode = progress->mode;
	g->size = MAX(g->size, progress->total); /* of the disks, and then of the memory, too */
	migration_touch(agent, g);
}
