/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of migrations, by a verb or by an object: whether one may begin, that it begins,
 * and that it is called off.
 */
#include "core/migratable.h"
#include "daemon/arrivals.h"
#include "daemon/migration_objects.h"

int migrations_check_run(const struct vmi *vmi, struct err *err)
{
	struct migratable m;
	int ret = 0;

	migratable_of(vmi, &m);
	if (m.reason)
		ret = err_set(err, ERR_CONFLICT, "it cannot be moved while it runs: %s (%s)",
			m.message, m.reason);
	migratable_done(&m);
	return ret;
}

static bool has_peer(const struct agent *agent, const char *name)
{
	for (size_t i = 0; i < agent->options->n_peers; i++) {
		if (streq(agent->options->peer_list[i].name, name))
			return true;
	}
	return false;
}

/* The peer that is named, or the only one; NULL: the best of them. */
static const char *target_of(const struct agent *agent, const struct request *request)
{
	if (request->to)
		return request->to;
	return agent->options->n_peers == 1 ? agent->options->peer_list[0].name : NULL;
}

int migrations_check_begin(const struct agent *agent, const struct request *request,
	const struct machine *m, struct err *err)
{
	const char *to = target_of(agent, request);
	const struct migration *other = migrations_unfinished(agent, request->ns, request->name);

	if (agent_check_orders(m, err) < 0)
		return -(int)err->code;
	if (!m->vmi || m->vmi->phase != PHASE_RUNNING || vmi_is_stopping(m->vmi))
		return err_set(err, ERR_CONFLICT,
			"'%s' does not run: only a running guest can be moved", request->name);
	if (!request->dry_run && migrations_check_run(m->vmi, err) < 0)
		return -(int)err->code;
	if (other)
		return err_set(err, ERR_CONFLICT, "it is to move%s%s%s already: %s",
			*other->peer ? " to '" : "", other->peer, *other->peer ? "'" : "",
			other->meta.name);
	if (!agent->options->n_peers)
		return err_set(err, ERR_CONFLICT,
			"there is no other host: name its agent under 'peers' in the configuration");
	if (to && streq(to, agent->options->node_name))
		return err_set(err, ERR_CONFLICT, "it is on '%s' already", to);
	if (to && !has_peer(agent, to))
		return err_set(err, ERR_NOT_FOUND,
			"'%s' is no peer in the configuration; 'vmactl peer ls' lists them", to);
	return 0;
}

struct migration *migrations_begin(struct agent *agent, const struct request *request,
	struct now now)
{
	const struct machine *m = machines_find(&agent->machines, request->ns, request->name);
	const char *to = target_of(agent, request);
	struct migration *g = xcalloc(1, sizeof(*g));

	agent_uuid(agent, g->meta.uid);
	g->meta.ns = xstrdup(m->ns);
	g->meta.name = xasprintf("%.200s-%.8s", m->name, g->meta.uid);
	g->meta.created = now.wall;
	g->vmi = xstrdup(m->name);
	g->peer = xstrdup(to ? to : "");
	copy_str(g->vmi_uid, UID_SIZE, m->vmi->meta.uid);
	copy_str(g->owner, UID_SIZE, luggage_owner(m->vmi));
	g->began = now.boot;
	migrations_add(agent, g);
	migration_touch(agent, g);
	return g;
}

/* Too late is too late: libvirt calls nothing off once the target has all of it, and from RELEASED
 * on it is the target's. */
int migrations_check_cancel(const struct migration *g, struct err *err)
{
	if (g->role == MIGRATION_TARGET)
		return err_set(err, ERR_CONFLICT, "it comes from '%s': cancel it there", g->peer);
	if (g->state == MIGRATION_RELEASED)
		return err_set(err, ERR_CONFLICT, "it is too late: it has been handed over to '%s'",
			g->peer);
	if (g->state == MIGRATION_OUT && g->complete_at && !g->no_image)
		return err_set(err, ERR_CONFLICT,
			"it is too late: all of it is at '%s' already, and is about to go on there",
			g->peer);
	return 0;
}

static int cancel(struct agent *agent, const struct request *request, struct err *err)
{
	struct migration *g = migrations_unfinished(agent, request->ns, request->name);

	if (!g)
		return err_set(err, ERR_NOT_FOUND, "'%s' is on its way nowhere", request->name);
	if (migrations_check_cancel(g, err) < 0)
		return -(int)err->code;
	g->cancelled = true;
	migration_touch(agent, g);
	return 0;
}

int migrations_check_enabled(const struct agent *agent, struct err *err)
{
	if (agent->options->migrations)
		return 0;
	return err_set(err, ERR_FORBIDDEN,
		"live migration is not enabled: say 'migrations: {enabled: true}' in the "
		"configuration of both hosts");
}

/* A dry run asks the peers, and is answered when they have answered: then *ret_asked. */
static int migrate(struct agent *agent, const struct request *request, struct now now,
	bool *ret_asked, struct err *err)
{
	struct target t;
	int ret = migrations_check_enabled(agent, err);

	if (ret < 0)
		return ret;
	if (request->call_off)
		return cancel(agent, request, err);
	ret = request_find(agent, request, &t, err);
	if (ret == 0)
		ret = migrations_check_begin(agent, request, t.m, err);
	*ret_asked = ret == 0 && request->dry_run;
	if (*ret_asked)
		checks_ask(agent, t.m, target_of(agent, request), request, now);
	else if (ret == 0)
		migration_object_name(agent, migrations_begin(agent, request, now), request->to);
	return ret;
}

void input_migrate(struct agent *agent, const struct input *input, struct now now)
{
	const struct request *request = &input->request;
	struct err err = { 0 };
	bool asked = false;

	if (request_is_unsaved(agent, request))
		return;
	migrate(agent, request, now, &asked, &err);
	if (asked)
		return;
	request_note(agent, request, "MigrationRequested",
		request->call_off ? "end of the migration" : "migration", &err);
	agent_answer(agent, request, &err, NULL);
}
