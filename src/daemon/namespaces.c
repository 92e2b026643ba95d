/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces. One exists from its first use on, or because it was created; deleting one deletes
 * what lies in it, gracefully, and it goes when the last of that has gone. Meanwhile nothing
 * new begins in it.
 */
#include <string.h>

#include "daemon/migration_objects.h"
#include "daemon/obstacles.h"

static struct record *find(const struct agent *agent, const char *name)
{
	return records_find(&agent->records, KIND_NAMESPACE, "", name);
}

static struct record *make(struct agent *agent, const char *name, struct now now)
{
	struct record *r = xcalloc(1, sizeof(*r));

	r->kind = KIND_NAMESPACE;
	r->meta.ns = xstrdup("");
	r->meta.name = xstrdup(name);
	r->meta.labels = xasprintf("{\"" NAMESPACE_LABEL "\":\"%s\"}", name);
	r->meta.created = now.wall;
	agent_uuid(agent, r->meta.uid);
	r->content = xstrdup("{\"spec\":" NAMESPACE_SPEC "}");
	return r;
}

void namespace_use(struct agent *agent, const char *name, struct now now)
{
	if (*name && !find(agent, name))
		records_add(&agent->records, make(agent, name, now), false);
}

/* Those of an older database, in which nobody wrote them down. */
void namespaces_load(struct agent *agent, struct now now)
{
	const struct records *rs = &agent->records;

	namespace_use(agent, NAMESPACE_DEFAULT, now);
	for (size_t i = 0; i < agent->machines.n; i++)
		namespace_use(agent, agent->machines.list[i]->ns, now);
	for (size_t i = 0; i < rs->n; i++)
		agent->records.terminating += rs->list[i]->kind == KIND_NAMESPACE &&
			rs->list[i]->meta.deleted;
}

int namespace_check(const struct agent *agent, const char *name, struct err *err)
{
	const struct record *r = find(agent, name);

	if (!r || !r->meta.deleted)
		return 0;
	return err_set(err, ERR_FORBIDDEN,
		"unable to create new content in namespace %s because it is being terminated",
		name);
}

/* ---- the end of one -------------------------------------------------------------------------- */

struct order {
	const struct actor *actor;
	struct now now;
};

static void delete_records(struct agent *agent, const char *ns, struct now now)
{
	struct records *rs = &agent->records;

	for (size_t i = rs->n; i-- > 0;) {
		struct record *r = rs->list[i];

		if (!streq(r->meta.ns, ns))
			continue;
		origins_deleted(agent, r->kind, ns, r->meta.name);
		if (r->kind == KIND_PVC) /* a DataVolume's own one, too */
			claims_delete(agent, r, false, now);
		else
			records_remove(rs, r);
	}
}

static void delete_object(struct agent *agent, struct machine *m, enum object_kind kind,
	const struct order *order)
{
	struct happening what = { .actor = *order->actor };
	const struct object_meta *meta = machine_meta(m, kind);

	if (!meta || meta->deleted)
		return;
	if (kind == KIND_VM)
		vm_delete(m, order->now);
	else
		vmi_delete(m, order->now);
	origins_deleted(agent, kind, m->ns, m->name);
	happen(&what, kind, "DeleteRequested", "its namespace is being deleted");
	agent_note(agent, meta, &what);
	agent_mark(agent, m);
}

/* A run that belongs to its VM ends with it. */
static void delete_machines(struct agent *agent, const char *ns, const struct order *order)
{
	for (size_t i = 0; i < agent->machines.n; i++) {
		struct machine *m = agent->machines.list[i];

		if (!streq(m->ns, ns))
			continue;
		delete_object(agent, m, KIND_VM, order);
		if (m->vmi && !(m->vm && streq(m->vmi->owner, m->vm->meta.uid)))
			delete_object(agent, m, KIND_VMI, order);
	}
}

int namespace_check_delete(const struct agent *agent, const struct record *r, struct err *err)
{
	if (streq(r->meta.name, NAMESPACE_DEFAULT))
		return err_set(err, ERR_FORBIDDEN,
			"namespaces \"%s\" is forbidden: this namespace may not be deleted",
			r->meta.name);
	for (size_t i = 0; i < agent->machines.n; i++) {
		const struct machine *m = agent->machines.list[i];

		if (streq(m->ns, r->meta.name) && agent_check_orders(m, err) < 0)
			return err_wrap(err, "'%s' is in it", m->name);
	}
	return 0;
}

void namespace_delete(struct agent *agent, struct record *r, const struct actor *actor,
	struct now now)
{
	struct order order = { actor, now };

	if (r->meta.deleted)
		return;
	r->meta.deleted = now.wall;
	agent->records.terminating++;
	records_touch(&agent->records, r);
	migration_objects_delete_all(agent, r->meta.name, now);
	delete_records(agent, r->meta.name, now);
	delete_machines(agent, r->meta.name, &order);
}

/* Also what is said of its last objects must have been saved, to go with it. */
static bool is_empty(const struct agent *agent, const char *ns)
{
	for (size_t i = 0; i < agent->machines.n; i++)
		if (streq(agent->machines.list[i]->ns, ns))
			return false;
	for (size_t i = 0; i < agent->records.n; i++)
		if (streq(agent->records.list[i]->meta.ns, ns))
			return false;
	if (migration_objects_are_in(agent, ns))
		return false;
	for (size_t i = 0; i < agent->n_notes; i++)
		if (streq(agent->notes[i].object.ns, ns))
			return false;
	return true;
}

static bool is_over(const struct agent *agent, const struct record *r)
{
	return r->kind == KIND_NAMESPACE && r->meta.deleted && is_empty(agent, r->meta.name);
}

bool namespaces_are_due(const struct agent *agent)
{
	const struct records *rs = &agent->records;

	for (size_t i = 0; rs->terminating && i < rs->n; i++)
		if (is_over(agent, rs->list[i]))
			return true;
	return false;
}

void namespaces_turn(struct agent *agent)
{
	struct records *rs = &agent->records;

	for (size_t i = rs->n; rs->terminating && i-- > 0;) {
		struct happening what = { 0 };
		struct record *r = rs->list[i];

		if (!is_over(agent, r))
			continue;
		happen(&what, KIND_NAMESPACE, NULL, "namespace is gone, with all that was in it");
		agent_note(agent, &r->meta, &what);
		records_remove(rs, r);
		rs->terminating--;
	}
}

/* ---- its events ------------------------------------------------------------------------------ */

struct doomed { /* events of a namespace that goes */
	struct object_row *rows;
	size_t n, cap;
};

static int collect(void *ctx, const struct object_row *row)
{
	struct doomed *d = ctx;

	*LIST_ADD(d->rows, d->n, d->cap) = (struct object_row){ .kind = KIND_EVENT,
		.ns = xstrdup(row->ns),
		.name = xstrdup(row->name),
		.uid = xstrdup(row->uid),
		.object = xstrdup(row->object) };
	return 0;
}

static void row_done(struct object_row *row)
{
	free((char *)row->ns);
	free((char *)row->name);
	free((char *)row->uid);
	free((char *)row->object);
}

int namespace_drop_events(struct agent *agent, const char *ns, struct err *err)
{
	struct object_query query = { .kind = KIND_EVENT, .ns = ns };
	struct doomed d = { 0 };
	int ret = store_each(agent->store, &query, collect, &d, err);

	for (size_t i = 0; i < d.n; i++) {
		d.rows[i].rv = store_next_rv(agent->store);
		if (ret == 0)
			ret = store_remove(agent->store, &d.rows[i], err);
		row_done(&d.rows[i]);
	}
	free(d.rows);
	return ret;
}
