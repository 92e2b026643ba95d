/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After the database was lost: the manifests bring the objects back, and a domain that still
 * carries our metadata says which run it is. Until libvirt has been asked twice nothing is begun,
 * so that no guest runs a second time, and none is stopped for a disk's sake. Machines may have
 * moved: until each peer has said which ones it has, what does not run here is not begun either.
 */
#include <string.h>

#include "core/domxml.h"
#include "core/edit.h"
#include "core/json.h"
#include "core/phase.h"
#include "daemon/migrations.h"
#include "daemon/obstacles.h"

#define VALUE_NAME "rebuilding"

void rebuild_load(struct agent *agent)
{
	autofree char *stored = store_get_value(agent->store, VALUE_NAME);

	agent->rebuilding = agent->options->rebuilt || streq(stored, "1");
	agent->rebuild_changed = agent->options->rebuilt;
}

int rebuild_save(struct agent *agent, struct err *err)
{
	int ret = store_put_value(agent->store, VALUE_NAME, agent->rebuilding ? "1" : "0", err);

	return ret < 0 ? ret : notes_save_seq(agent, err);
}

/* The run is as it was when it started; its next read tells how it is now. */
static void become_running(struct vmi *vmi, struct now now)
{
	vmi_set_phase(vmi, PHASE_SCHEDULING, now);
	vmi_set_phase(vmi, PHASE_SCHEDULED, now);
	vmi_set_phase(vmi, PHASE_RUNNING, now);
	vmi->prepared = true;
	vmi->running_at = 0; /* nobody knows since when */
}

/* An adopted domain has a name of its own until its run ends. */
static void keep_name(struct machine *m, const char *name)
{
	autofree char *ours = domain_name(m->ns, m->name);

	replace_str(&m->vmi->domain, streq(name, ours) ? NULL : name);
}

/* The run that the domain names becomes m's: made of the VM's template, or the bare VMI itself. */
static int take_over(struct agent *agent, struct machine *m, const struct domain_info *info,
	struct now now, struct err *err)
{
	struct step_env env = { .now = now };

	copy_str(env.uid, UID_SIZE, info->owner);
	if (!m->vmi && !(m->vmi = vmi_of_vm(m->vm, &env, err)))
		return -(int)err->code;
	copy_str(m->vmi->meta.uid, UID_SIZE, info->owner);
	machine_take_uuid(m, info->uuid);
	m->vmi->pause = PAUSE_AS_IS; /* a user may have changed that since it began */
	become_running(m->vmi, now);
	replace_str(&m->vmi->held, info->held);
	disks_update(agent, m);
	shares_update(agent, m);
	keep_name(m, info->name);
	memset(&m->dom, 0, sizeof(m->dom));
	m->dom.state = info->active ? DOMAIN_UNKNOWN : DOMAIN_SHUTOFF; /* to be read again */
	return 0;
}

static bool is_candidate(const struct machine *m, const struct domain_info *info)
{
	if (!m || !info->owner[0])
		return false;
	return m->vmi ? m->vmi->phase == PHASE_PENDING : m->vm != NULL;
}

/* By its UUID, where the manifest has it; else by its name. */
static struct machine *machine_of(const struct agent *agent, const struct domain_info *info)
{
	struct machine *m = machines_find_claim(&agent->machines, info->uuid, NULL);

	return m ? m : machines_find_domain(&agent->machines, info->name);
}

static void rebuild_domain(struct agent *agent, const struct domain_info *info, struct now now)
{
	struct happening what = { .warning = true, .actor.kind = ACTOR_LIBVIRT };
	struct machine *m = machine_of(agent, info);
	struct err err;

	if (!is_candidate(m, info))
		return;
	if (take_over(agent, m, info, now, &err) < 0)
		happen(&what, KIND_VM, "AdoptionFailed", "domain '%s': %s", info->name, err.msg);
	else
		happen(&what, KIND_VMI, "Adopted",
			"the database was lost: its domain was found and taken over as it is");
	agent_note(agent, machine_meta(m, what.kind), &what);
}

/* ---- the peers ------------------------------------------------------------------------------- */

static bool waits_for_peers(const struct agent *agent)
{
	return agent->options->migrations && agent->options->tuning.handover.suspicion &&
		!peers_have_answered(agent);
}

static void finish(struct agent *agent)
{
	for (size_t i = 0; i < agent->machines.n; i++)
		agent_mark(agent, agent->machines.list[i]);
	agent->rebuilding = false;
	agent->rebuild_changed = true;
	log_text(LOG_LEVEL_NOTICE, "the lost database is filled again from manifests and domains");
}

void rebuild_turn(struct agent *agent, struct now now)
{
	if (!agent->rebuilding || !agent->rebuild_listed || !waits_for_peers(agent) ||
		now.boot < agent->rebuild_ask_at)
		return;
	agent->rebuild_ask_at = now.boot + SECONDS(MIGRATION_REPEAT_S);
	peers_ask(agent);
}

void rebuild_answered(struct agent *agent, const char *peer)
{
	peers_answered(agent, peer);
	if (agent->rebuilding && agent->rebuild_listed && !waits_for_peers(agent))
		finish(agent);
}

/* Whoever says so vouches that no machine that does not run here was moved away. */
void input_accept(struct agent *agent, const struct input *input, struct now now)
{
	const struct request *request = &input->request;
	struct err err = { 0 };

	(void)now;
	if (request_is_unsaved(agent, request))
		return;
	if (!agent->rebuilding)
		err_set(&err, ERR_CONFLICT, "the database was not lost, or is whole again");
	else if (!agent->rebuild_listed)
		err_set(&err, ERR_CONFLICT,
			"libvirt and the manifests have not been looked at yet: try again in a moment");
	if (err.code == ERR_OK) {
		log_text(LOG_LEVEL_WARNING, "the rebuilt database was accepted by user %lld",
			(long long)request->actor.uid);
		finish(agent);
	}
	agent_answer(agent, request, &err, NULL);
}

static bool may_run_here(const struct machine *m)
{
	return m->vmi && m->vmi->phase == PHASE_RUNNING &&
		(m->dom.state == DOMAIN_UNKNOWN || domain_is_alive(m->dom.state));
}

/* What stands still may be all of a guest that was about to come here, and that nobody has
 * handed over: the peer goes on with it, or has done so. Its domain is left alone, as one whose
 * run is not known. */
static void let_go(struct agent *agent, struct machine *m, const char *peer, struct now now)
{
	log_text(LOG_LEVEL_WARNING,
		"%s/%s: peer '%s' has it, and what was found of it here stands still: it is left alone",
		m->ns, m->name, peer);
	m->vmi->prepared = false;
	vmi_set_phase(m->vmi, PHASE_FAILED, now);
	vmi_delete(m, now);
	m->vmi_changed = true;
	migration_settle_away(agent, m, peer, now);
}

/* What runs here is here, whatever a peer says; and so is what the peer only gets ready for.
 * What was found shut off may have gone over before it was forgotten. */
static void take_name(struct agent *agent, const char *peer, const cJSON *item, struct now now)
{
	struct machine *m = machines_find(&agent->machines, json_text(item, "namespace"),
		json_text(item, "name"));
	bool arrives = json_is_true(item, "arriving");

	if (!m || !m->vm)
		return;
	if (!may_run_here(m))
		migration_settle_away(agent, m, peer, now);
	else if (!arrives && machine_domain_state(m) == DOMAIN_PAUSED)
		let_go(agent, m, peer, now);
}

/* Whether it stands still is to be seen first. */
static bool is_unseen(const struct agent *agent, const cJSON *list)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
	{
		const char *ns = json_text(item, "namespace"), *name = json_text(item, "name");
		const struct machine *m = ns && name ? machines_find(&agent->machines, ns, name)
						     : NULL;

		if (m && m->vm && may_run_here(m) && m->dom.state == DOMAIN_UNKNOWN)
			return true;
	}
	return false;
}

/* It went on to a third host, perhaps after that one has answered: it is asked again. One that
 * nobody can ask has it. */
static void follow(struct agent *agent, const char *peer, const cJSON *item, struct now now)
{
	struct machine *m = machines_find(&agent->machines, json_text(item, "namespace"),
		json_text(item, "moved"));
	struct peer_facts *third = peers_find(agent, json_text(item, "to"));

	if (!m || !m->vm)
		return;
	if (third)
		third->answered = false;
	else if (!may_run_here(m))
		migration_settle_away(agent, m, peer, now);
}

static void hear(struct agent *agent, const char *peer, const cJSON *item, struct now now)
{
	if (!json_text(item, "namespace"))
		return;
	if (json_text(item, "name"))
		take_name(agent, peer, item, now);
	else if (json_text(item, "moved"))
		follow(agent, peer, item, now);
}

void rebuild_heard(struct agent *agent, const char *peer, const char *document, struct now now)
{
	cJSON *list = json_read(document), *item;

	if (!agent->rebuilding || !agent->rebuild_listed || !cJSON_IsArray(list) ||
		is_unseen(agent, list)) {
		cJSON_Delete(list);
		return;
	}
	cJSON_ArrayForEach(item, list)
	{
		hear(agent, peer, item, now);
	}
	cJSON_Delete(list);
	rebuild_answered(agent, peer);
}

/* ---- libvirt --------------------------------------------------------------------------------- */

void rebuild_list(struct agent *agent, const struct op_result *list, struct now now)
{
	if (!agent->folder_seen)
		return; /* the objects are not back yet */
	for (size_t i = 0; i < list->n_domains && !agent->rebuild_listed; i++)
		rebuild_domain(agent, &list->domains[i], now);
	if (waits_for_peers(agent) && !agent->rebuild_listed)
		log_text(LOG_LEVEL_NOTICE,
			"what does not run here waits until each peer has said what it has");
	agent->rebuild_listed = true;
	if (!waits_for_peers(agent))
		finish(agent);
}
