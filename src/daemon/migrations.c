/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The migrations that this host takes part in: kept, saved with the turn's commit, and found by
 * their UID. At most MIGRATIONS_AT_ONCE_MAX in each direction are under way, so that all that are
 * not over are looked at in each turn.
 */
#include <string.h>

#include "daemon/agent_private.h"
#include "daemon/arrivals.h"
#include "daemon/migration_objects.h"

struct migration *migrations_find(const struct agent *agent, const char *uid)
{
	for (size_t i = 0; i < agent->migrations.n; i++) {
		if (streq(agent->migrations.list[i]->meta.uid, uid))
			return agent->migrations.list[i];
	}
	return NULL;
}

void migration_touch(struct agent *agent, struct migration *g)
{
	g->changed = agent->migrations.changed = true;
}

/* One that was made anew under the name of one that moved is another, and takes orders. */
static bool is_of(const struct migration *g, const struct machine *m)
{
	const char *owner = m->vm ? m->vm->meta.uid : m->vmi ? luggage_owner(m->vmi) : "";

	return migration_holds(g) || past_is_of(g->owner, owner) ||
		(m->vmi && streq(m->vmi->meta.uid, g->vmi_uid));
}

/* The one that holds the machine, else the latest of it. */
static void link_machine(struct agent *agent, struct migration *g)
{
	struct machine *m = machines_find(&agent->machines, g->meta.ns, g->vmi);

	if (m && is_of(g, m) && (!m->migration || !migration_holds(m->migration)))
		m->migration = g;
}

void migrations_add(struct agent *agent, struct migration *g)
{
	struct migrations *gs = &agent->migrations;

	/* Also when all before it are forgotten. */
	g->number = MAX(gs->n ? gs->list[gs->n - 1]->number : 0,
			    past_number(agent, g->meta.ns, g->vmi)) +
		1;
	*LIST_ADD(gs->list, gs->n, gs->cap) = g;
	link_machine(agent, g);
}

unsigned migrations_under_way(const struct agent *agent, enum migration_role role)
{
	unsigned n = 0;

	for (size_t i = 0; i < agent->migrations.n; i++) {
		const struct migration *g = agent->migrations.list[i];

		n += g->role == role && migration_is_under_way(g);
	}
	return n;
}

struct migration *migrations_unfinished(const struct agent *agent, const char *ns, const char *vmi)
{
	for (size_t i = 0; i < agent->migrations.n; i++) {
		struct migration *g = agent->migrations.list[i];

		if (streq(g->meta.ns, ns) && streq(g->vmi, vmi) &&
			(g->state == MIGRATION_PENDING || migration_is_under_way(g)))
			return g;
	}
	return NULL;
}

const char *migrations_moved_to(const struct agent *agent, const char *ns, const char *name)
{
	const struct migration *last = NULL;

	for (size_t i = 0; i < agent->migrations.n; i++) {
		const struct migration *g = agent->migrations.list[i];

		if (g->moved && streq(g->meta.ns, ns) && streq(g->vmi, name) &&
			(!last || g->number >= last->number))
			last = g;
	}
	if (!last || past_number(agent, ns, name) > last->number)
		return past_peer(agent, ns, name);
	return last->role == MIGRATION_SOURCE || last->lost ? last->peer : NULL;
}

int agent_not_found(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name, struct err *err)
{
	bool moves = kind == KIND_VM || kind == KIND_VMI;
	bool here = moves && machines_find(&agent->machines, ns, name);
	const char *peer = moves && !here ? migrations_moved_to(agent, ns, name) : NULL;
	autofree char *resource = object_kind_resource(kind);

	return err_set(err, ERR_NOT_FOUND, "%s \"%s\" not found%s%s%s", resource, name,
		peer ? ": it has moved to '" : "", peer ? peer : "", peer ? "'" : "");
}

int agent_check_orders(const struct machine *m, struct err *err)
{
	return m && m->migration && migration_refuses(m->migration, err) ? -(int)err->code : 0;
}

/* ---- loading and saving ---------------------------------------------------------------------- */

struct loading {
	struct agent *agent;
	bool same_boot;
};

static int load_row(void *ctx, const struct object_row *row)
{
	struct loading *l = ctx;
	struct migrations *gs = &l->agent->migrations;
	struct migration *g;
	struct err err;

	if (migration_load(row->state ? row->state : "{}", l->same_boot, &g, &err) < 0) {
		log_text(LOG_LEVEL_ERROR, "%s/%s: %s; it is left alone", row->ns, row->name,
			err.msg);
		return 0;
	}
	g->meta.rv = row->rv;
	*LIST_ADD(gs->list, gs->n, gs->cap) = g;
	if (g->asks && !l->same_boot)
		migration_touch(l->agent, g);
	return 0;
}

/* As they came. Those of an older database have no numbers: of one machine each owner's epoch is a
 * later one, and clocks may be set back. */
static int by_arrival(const void *a, const void *b)
{
	const struct migration *x = *(struct migration *const *)a,
			       *y = *(struct migration *const *)b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	return (x->meta.created > y->meta.created) - (x->meta.created < y->meta.created);
}

int migrations_load(struct agent *agent, bool same_boot, struct err *err)
{
	struct object_query query = { .kind = KIND_MIGRATION };
	struct migrations *gs = &agent->migrations;
	struct loading l = { agent, same_boot };
	int ret = store_each(agent->store, &query, load_row, &l, err);

	past_load(agent);
	if (gs->n)
		qsort(gs->list, gs->n, sizeof(*gs->list), by_arrival);
	for (size_t i = 0; i < gs->n; i++)
		link_machine(agent, gs->list[i]);
	return ret;
}

static int save(struct agent *agent, struct migration *g, struct err *err)
{
	struct object_row row = { .kind = KIND_MIGRATION,
		.ns = g->meta.ns,
		.name = g->meta.name,
		.uid = g->meta.uid };
	autofree char *document = NULL, *state = NULL;

	row.rv = g->meta.rv = store_next_rv(agent->store);
	row.object = document = migration_document(g, agent->options->node_name);
	if (g->removed)
		return store_remove(agent->store, &row, err);
	row.labels = g->meta.labels;
	row.state = state = migration_text(g);
	return store_put(agent->store, &row, err);
}

void migrations_note(struct agent *agent, struct now now)
{
	for (size_t i = 0; i < agent->migrations.n; i++) {
		struct migration *g = agent->migrations.list[i];

		if (!g->changed)
			continue;
		if (migration_note_phase(g, now))
			migration_object_note(agent, g);
		migration_note_doubt(g, now);
	}
}

int migrations_save(struct agent *agent, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < agent->migrations.n && ret == 0; i++) {
		struct migration *g = agent->migrations.list[i];

		if (g->changed)
			ret = save(agent, g, err);
	}
	if (ret == 0 && agent->migrations.past_changed)
		ret = past_save(agent, err);
	return ret;
}

static void forget(struct agent *agent, struct migration *g)
{
	struct machine *m = machines_find(&agent->machines, g->meta.ns, g->vmi);

	if (m && m->migration == g)
		m->migration = NULL;
	migration_free(g);
}

bool agent_needs_relay(const struct agent *agent, const char *migration)
{
	const struct migration *g = migrations_find(agent, migration);

	/* Who is no peer any more may not come in by what was made ready before; but the rest of a
	 * guest that runs already has no other way. */
	return g && migration_needs_relay(g) && (g->post_copy || peers_name(agent, g->peer));
}

static void end_relay(const struct agent *agent, const struct migration *g)
{
	if (agent->options->relay_end && !migration_needs_relay(g))
		agent->options->relay_end(agent->options->relay_ctx, g->meta.uid);
}

void migrations_committed(struct agent *agent)
{
	struct migrations *gs = &agent->migrations;
	size_t kept = 0;

	if (!gs->changed)
		return;
	for (size_t i = 0; i < gs->n; i++) {
		if (gs->list[i]->changed)
			end_relay(agent, gs->list[i]);
		gs->list[i]->changed = false;
		if (gs->list[i]->removed)
			forget(agent, gs->list[i]);
		else
			gs->list[kept++] = gs->list[i];
	}
	gs->n = kept;
	gs->changed = gs->past_changed = false;
}

void migrations_done(struct agent *agent)
{
	for (size_t i = 0; i < agent->migrations.n; i++)
		migration_free(agent->migrations.list[i]);
	free(agent->migrations.list);
	past_done(agent);
}

/* Its machine shows the latest of those that are left. */
void migration_remove(struct agent *agent, struct migration *g)
{
	struct machine *m = machines_find(&agent->machines, g->meta.ns, g->vmi);

	g->removed = true;
	past_note(agent, g);
	migration_touch(agent, g);
	if (!m || m->migration != g)
		return;
	m->migration = NULL;
	for (size_t i = 0; i < agent->migrations.n; i++) {
		struct migration *other = agent->migrations.list[i];

		if (!other->removed && streq(other->meta.ns, m->ns) && streq(other->vmi, m->name))
			link_machine(agent, other);
	}
	m->vmi_changed |= m->vmi != NULL;
	agent_mark(agent, m);
}

/* Of all machines, also of those that are here no more: the oldest go. */
static void prune_all(struct agent *agent)
{
	struct migrations *gs = &agent->migrations;
	size_t over = 0;

	for (size_t i = 0; i < gs->n; i++)
		over += !gs->list[i]->removed && migration_is_over(gs->list[i]);
	for (size_t i = 0; i < gs->n && over > MIGRATIONS_KEPT_ALL; i++) {
		if (gs->list[i]->removed || !migration_is_over(gs->list[i]))
			continue;
		migration_remove(agent, gs->list[i]);
		over--;
	}
}

/* The oldest go: the list is in the order in which they came. */
void migrations_prune(struct agent *agent, const struct migration *newest)
{
	struct migrations *gs = &agent->migrations;
	unsigned kept = 0;

	for (size_t i = gs->n; i-- > 0;) {
		struct migration *g = gs->list[i];

		if (g->state != MIGRATION_DONE || g->removed || !streq(g->vmi, newest->vmi) ||
			!streq(g->meta.ns, newest->meta.ns))
			continue;
		if (++kept > MIGRATIONS_KEPT && migration_is_over(g))
			migration_remove(agent, g);
	}
	prune_all(agent);
}
