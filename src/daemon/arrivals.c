/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests that are to come: what this host checks before it gets ready for one, and the run that waits for
 * what will be sent.
 */
#include <string.h>

#include "core/json.h"
#include "daemon/arrivals.h"
#include "daemon/migrations.h"
#include "daemon/obstacles.h"

struct arrival { /* a guest that is to come */
	struct agent *agent;
	const struct peer_event *event;
	const cJSON *json;
	const char *ns, *name;
	struct now now;
};

static bool is_same_host(const struct arrival *a)
{
	const char *theirs = cargo_text(a->json, "hostUUID"), *ours = a->agent->options->host_uuid;

	return ours && ours[0] && streq(ours, theirs);
}

static bool is_stale(const struct arrival *a)
{
	const struct machine *m = machines_find(&a->agent->machines, a->ns, a->name);

	for (size_t i = 0; i < a->agent->migrations.n; i++) {
		const struct migration *g = a->agent->migrations.list[i];

		if (g->moved && streq(g->meta.ns, a->ns) && streq(g->vmi, a->name) &&
			g->epoch >= a->event->handover->epoch)
			return true;
	}
	return m && m->vm && m->vm->epoch >= a->event->handover->epoch;
}

/* Why it cannot come at all, or NULL. */
static const char *objection(const struct arrival *a)
{
	const struct machine *m = machines_find(&a->agent->machines, a->ns, a->name);

	if (!a->agent->options->migrations)
		return "it takes no guests from other hosts";
	if (!a->ns || !a->name)
		return "it does not say which guest it is about";
	if (is_same_host(a))
		return "it is the same host, by its UUID: give each a 'host_uuid' of its own in "
		       "libvirtd.conf";
	if (is_stale(a))
		return "it had that guest later than the one who wants to send it";
	if (m && ((m->vm && !m->vm->meta.deleted) || (m->vmi && !m->vmi->meta.deleted)))
		return "it has a virtual machine of that name";
	return NULL;
}

static bool is_busy(const struct arrival *a)
{
	const struct agent *agent = a->agent;

	return agent->rebuilding || agent->hostdown.active ||
		machines_find(&agent->machines, a->ns, a->name) ||
		migrations_unfinished(agent, a->ns, a->name) ||
		migrations_under_way(agent, MIGRATION_TARGET) >=
		agent->options->tuning.migrations.inbound;
}

static struct migration *arrive(const struct arrival *a)
{
	const struct handover *h = a->event->handover;
	struct migration *g = xcalloc(1, sizeof(*g));

	g->role = MIGRATION_TARGET;
	g->state = MIGRATION_IN;
	copy_str(g->meta.uid, UID_SIZE, h->migration);
	g->meta.ns = xstrdup(a->ns);
	g->meta.name = xasprintf("%.200s-%.8s", a->name, h->migration);
	g->meta.created = a->now.wall;
	g->vmi = xstrdup(a->name);
	g->peer = xstrdup(a->event->name);
	g->epoch = h->epoch;
	g->document = xstrdup(h->document);
	copy_str(g->database, UID_SIZE, h->database);
	return g;
}

/* What this host does not have for it, as for a run of its own; or whose definition is not ours to make. */
static int check_here(const struct arrival *a, struct vmi *vmi, struct err *err)
{
	static enum obstacle (*const checks[])(const struct agent *agent, const struct machine *m,
		char **ret_words) = { kvm_obstacle, media_obstacle, networks_obstacle };
	autofree char *ns = xstrdup(a->ns), *name = xstrdup(a->name), *words = NULL;
	struct machine m = { .ns = ns, .name = name, .vmi = vmi };

	if (vmi->domain)
		return err_set(err, ERR_INVALID,
			"its domain was made by somebody else and adopted: restart it first");
	if (migrations_check_run(vmi, err) < 0)
		return -(int)err->code;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (checks[i](a->agent, &m, &words))
			return err_set(err, ERR_INVALID, "%s", words);
	return 0;
}

/* Its VM is checked as well, so that what comes with COMMIT is no surprise. */
static int check_vm(const struct arrival *a, struct err *err)
{
	const char *document = cargo_text(a->json, "vm");

	return document ? cargo_check(a->agent, document, true, err) : 0;
}

/* The run waits for what will be sent: nobody but the migration does anything to it. */
static int admit(const struct arrival *a, struct err *err)
{
	struct agent *agent = a->agent;
	struct machine *m;
	struct migration *g;
	struct vmi *vmi;

	if (check_vm(a, err) < 0 || cargo_run(agent, a->json, true, &vmi, err) < 0)
		return -(int)err->code;
	if (check_here(a, vmi, err) < 0) {
		vmi_free(vmi);
		return -(int)err->code;
	}
	if (!streq(vmi->meta.ns, a->ns) || !streq(vmi->meta.name, a->name) ||
		vmi->phase != PHASE_RUNNING) {
		vmi_free(vmi);
		return err_set(err, ERR_BAD_REQUEST, "it is another run");
	}
	namespace_use(agent, a->ns, a->now);
	m = machines_get(&agent->machines, a->ns, a->name);
	cargo_unpack(agent, m, NULL, vmi);
	vmi_set_phase(vmi, PHASE_WAITING_FOR_SYNC, a->now);
	memset(&m->dom, 0, sizeof(m->dom));
	g = arrive(a);
	copy_str(g->vmi_uid, UID_SIZE, vmi->meta.uid);
	migrations_add(agent, g);
	m->migration = g;
	migration_touch(agent, g);
	return 0;
}

static void refuse(const struct arrival *a, const char *why)
{
	struct handover *no = handover_answer(a->agent, a->event, HANDOVER_DECLINED);

	copy_str(no->why, sizeof(no->why), why);
}

void arrival_hear(struct agent *agent, const struct peer_event *event, struct now now)
{
	cJSON *json = cJSON_Parse(event->handover->document);
	struct arrival a = { agent, event, json, cargo_text(json, "namespace"),
		cargo_text(json, "name"), now };
	const char *why = objection(&a);
	struct err err;

	if (why)
		refuse(&a, why);
	else if (is_busy(&a))
		handover_answer(agent, event, HANDOVER_BUSY);
	else if (admit(&a, &err) < 0)
		refuse(&a, err.msg);
	cJSON_Delete(json);
}
