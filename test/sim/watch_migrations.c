/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of migrations: what leaves for them is justified by what is stored, and the only
 * copy is not destroyed. */
#include <string.h>

#include "daemon/migrations.h"
#include "watch.h"

struct vm_query {
	const char *vm; /* its UID */
	bool found;
};

static int match_row(void *ctx, const struct object_row *row)
{
	struct row_query *q = ctx;
	struct migration *g;
	struct err err;

	if (migration_load(row->state, true, &g, &err) < 0)
		return 0;
	if (streq(g->vmi_uid, q->vmi_uid) && g->role == q->role && (q->states & 1U << g->state)) {
		q->found = true;
		q->moved |= g->moved;
		q->discard |= g->discard;
	}
	migration_free(g);
	return 0;
}

struct row_query watch_migration(struct world *w, const char *vmi_uid, enum migration_role role,
	unsigned states)
{
	struct object_query query = { .kind = KIND_MIGRATION };
	struct row_query q = { .vmi_uid = vmi_uid, .role = role, .states = states };

	store_each(w->store, &query, match_row, &q, NULL);
	return q;
}

static int match_taken(void *ctx, const struct object_row *row)
{
	struct vm_query *q = ctx;
	struct migration *g;
	struct err err;

	if (migration_load(row->state, true, &g, &err) < 0)
		return 0;
	q->found |= streq(g->owner, q->vm) && g->taken && g->discard;
	migration_free(g);
	return 0;
}

bool watch_took_without_image(struct world *w, const char *vm)
{
	struct object_query query = { .kind = KIND_MIGRATION };
	struct vm_query q = { .vm = vm };

	store_each(w->store, &query, match_taken, &q, NULL);
	return q.found;
}

static int note_aborted(void *ctx, const struct object_row *row)
{
	struct lab *lab = ctx;
	struct migration *g;
	struct err err;

	if (migration_load(row->state, true, &g, &err) < 0)
		return 0;
	if (g->role == MIGRATION_SOURCE && !g->moved && lab->n_aborted < MARKS_MAX &&
		((IN(ABORTED) | IN(DONE)) & 1U << g->state))
		copy_str(lab->aborted[lab->n_aborted++], UID_SIZE, g->vmi_uid);
	migration_free(g);
	return 0;
}

void watch_database_goes(struct world *w)
{
	struct object_query query = { .kind = KIND_MIGRATION };

	if (!w->lab)
		return;
	w->lab->lost = true;
	store_each(w->store, &query, note_aborted, w->lab, NULL);
}

/* What has arrived may be the only copy: somebody must have aborted, for good,
 * before it is destroyed. */
void watch_discard(struct world *w, const struct fake_domain *dom)
{
	struct row_query q;
	struct world *host;

	if (!dom->arrived || watch_migration(w, dom->owner, MIGRATION_TARGET, IN(OWNER)).discard)
		return;
	if (!watch_migration(w, dom->owner, MIGRATION_TARGET, IN(IN) | IN(COMPLETE) | IN(OWNER))
			.found &&
		watch_migration(w, dom->owner, MIGRATION_TARGET, IN(DONE)).moved)
		return; /* it is this host's, only paused by its user */
	for (unsigned i = 0; (host = world_host(w, i)); i++) {
		q = watch_migration(host, dom->owner, MIGRATION_SOURCE, IN(ABORTED) | IN(DONE));
		if (q.found && !q.moved)
			return;
	}
	for (size_t i = 0; i < w->lab->n_aborted; i++)
		if (streq(w->lab->aborted[i], dom->owner))
			return;
	world_fail(w, "the only copy of %s is destroyed, and nobody has aborted", dom->name);
}

/* Before its memory: if the source had not released it, it could boot there as well. */
void watch_goes_over(struct world *w, const struct fake_domain *dom)
{
	if (!watch_migration(w, dom->owner, MIGRATION_TARGET, IN(OWNER)).found)
		world_fail(w, "%s goes on before it is this host's", dom->name);
}

/* What must be stored of its migration, at either end, for an op to leave. What is passed on is
 * libvirt's answer at the source, and the guest at the target. */
static const struct need {
	unsigned source, target; /* states, bits */
	const char *otherwise;
} needs[OP_KIND_MAX] = {
	/* clang-format off */
	[OP_MIGRATE_PREPARE]  = { 0,            IN(IN),    "it is not awaited" },
	[OP_MIGRATE]          = { IN(OUT),      0,         "it is not on its way" },
	[OP_MIGRATE_WATCH]    = { IN(OUT),      0,         "it is not on its way" },
	[OP_MIGRATE_SEAL]     = { IN(OUT),      0,         "it is not on its way" },
	[OP_MIGRATE_ABORT]    = { IN(OUT),      0,         "it is not on its way" },
	[OP_MIGRATE_PASS]     = { IN(RELEASED), IN(OWNER), "it is not this host's guest yet" },
	[OP_MIGRATE_RELAY]    = { 0,            IN(OWNER), "it is not this host's guest yet" },
	[OP_MIGRATE_ANNOUNCE] = { IN(ABORTED),  IN(OWNER), "it is not stored that it is this host's" },
	[OP_MIGRATE_RESUME]   = { IN(ABORTED),  IN(OWNER), "it is not stored that it is this host's" },
	[OP_MIGRATE_READ_NVRAM]  = { IN(RELEASED), 0, "it may write yet" },
	[OP_MIGRATE_WRITE_NVRAM] = { 0, IN(IN) | IN(COMPLETE), "it may have written already" },
	/* clang-format on */
};
static const struct need recovery_needs = { IN(RELEASED), 0, "it has not gone over" };

const char *watch_migration_objection(struct world *w, const struct op *op)
{
	bool recovers = op->kind == OP_MIGRATE && op->recovery;
	const struct need *need = recovers ? &recovery_needs : &needs[op->kind];

	if (watch_migration(w, op->vmi_uid, MIGRATION_SOURCE, need->source).found ||
		watch_migration(w, op->vmi_uid, MIGRATION_TARGET, need->target).found)
		return NULL;
	return need->otherwise;
}

/* A guest that goes on here, and is not to end, has been announced, if another
 * host's QEMU ever was. */
static void quiet_guest(struct world *w, const struct migration *g)
{
	const struct machine *m = machines_find(&w->agent->machines, g->meta.ns, g->vmi);
	const struct fake_domain *dom = m && m->vmi ? fake_find_uuid(w, m->vmi->typed.uuid) : NULL;

	if (!dom || w->lab->lost || m->migration != g || !migration_is_over(g) ||
		g->role != MIGRATION_SOURCE)
		return;
	if (!g->moved && !vmi_is_stopping(m->vmi) && dom->active && dom->state == DOMAIN_RUNNING &&
		dom->unheard)
		world_fail(w, "%s goes on here, and the network believes it elsewhere", g->vmi);
}

void watch_quiet_migrations(struct world *w)
{
	const struct agent *agent = w->agent;

	for (size_t i = 0; i < agent->migrations.n && !agent->uncommitted; i++) {
		const struct migration *g = agent->migrations.list[i];
		struct migration_view view = migration_view_of(agent, g, world_now(w));
		struct migration_plan plan = migration_decide(&view);

		if (!migration_is_over(g) && plan.step != MIGRATION_STEP_NONE)
			world_fail(w, "%s: nothing new, and still its migration plans to %s",
				g->vmi, migration_step_name(plan.step));
		if (g->state == MIGRATION_DONE && (g->offer || g->document))
			world_fail(w, "%s: its migration is done, and keeps what it came with",
				g->vmi);
		quiet_guest(w, g);
	}
}
