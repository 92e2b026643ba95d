/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit of a turn: all that changed, in one transaction. One that fails keeps everything back
 * and is tried again, with a growing pause; nothing new is decided meanwhile.
 */
#include "core/restart.h"
#include "core/status.h"
#include "daemon/agent_private.h"
#include "daemon/migrations.h"

static uint64_t hash_of(const char *text) /* FNV-1a */
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return hash;
}

static struct object_row row_of(enum object_kind kind, const struct object_meta *meta)
{
	return (struct object_row){
		.kind = kind,
		.ns = meta->ns,
		.name = meta->name,
		.uid = meta->uid,
		.rv = meta->rv,
		.labels = meta->labels,
	};
}

static int save_gone(struct agent *agent, struct machine *m, struct err *err)
{
	struct machine ghost = { .ns = m->ns,
		.name = m->name,
		.vm = m->gone_vm,
		.vmi = m->gone_vmi };
	autofree char *vm = NULL, *vmi = NULL;
	struct object_row row;
	int ret = 0;

	if (m->gone_vmi) {
		m->gone_vmi->meta.rv = store_next_rv(agent->store);
		row = row_of(KIND_VMI, &m->gone_vmi->meta);
		row.object = vmi = vmi_document(&ghost, agent->options->node_name);
		ret = store_remove(agent->store, &row, err);
	}
	if (m->gone_vm && ret == 0) {
		ghost.vmi = NULL;
		m->gone_vm->meta.rv = store_next_rv(agent->store);
		row = row_of(KIND_VM, &m->gone_vm->meta);
		row.object = vm = vm_document(&ghost);
		ret = store_remove(agent->store, &row, err);
	}
	return ret;
}

static int save_vmi(struct agent *agent, struct machine *m, struct err *err)
{
	autofree char *document = NULL, *state = NULL, *labels = NULL;
	struct object_row row;

	m->vmi->meta.rv = store_next_rv(agent->store);
	document = vmi_document(m, agent->options->node_name);
	state = vmi_state(m->vmi);
	labels = vmi_labels(m, agent->options->node_name);
	row = row_of(KIND_VMI, &m->vmi->meta);
	row.labels = labels;
	row.object = document;
	row.state = state;
	return store_put(agent->store, &row, err);
}

/* A VM whose status would read the same is not written again (its VMI changes more often). */
static int save_vm(struct agent *agent, struct machine *m, struct err *err)
{
	autofree char *before = vm_document(m), *document = NULL, *state = NULL;
	struct object_row row;

	if (!m->vm_changed && hash_of(before) == m->vm_hash)
		return 0;
	m->vm->meta.rv = store_next_rv(agent->store);
	document = vm_document(m);
	state = vm_state(m->vm);
	row = row_of(KIND_VM, &m->vm->meta);
	row.object = document;
	row.state = state;
	m->vm_hash = hash_of(document);
	return store_put(agent->store, &row, err);
}

static int save_machine(struct agent *agent, struct machine *m, struct now now, struct err *err)
{
	int ret = save_gone(agent, m, err);

	if (m->vm_changed || m->vmi_changed) {
		restart_compare(m);
		conditions_note(m, now);
	}
	if (ret == 0 && m->vmi && m->vmi_changed)
		ret = save_vmi(agent, m, err);
	if (ret == 0 && m->vm && (m->vm_changed || m->vmi_changed))
		ret = save_vm(agent, m, err);
	return ret;
}

static int save_all(struct agent *agent, const struct turn *turn, struct now now, struct err *err)
{
	int ret = 0;

	if (agent->migrations.changed)
		migrations_note(agent, now);
	for (size_t i = 0; i < turn->n && ret == 0; i++)
		ret = save_machine(agent, turn->touched[i], now, err);
	if (ret == 0 && agent->migrations.changed)
		ret = migrations_save(agent, err);
	if (ret == 0 && agent->records.changed)
		ret = records_save(agent, err);
	if (ret == 0 && agent->origins.changed)
		ret = origins_save(agent, err);
	if (ret == 0)
		ret = notes_save(agent, now, err);
	if (ret == 0 && agent->rebuild_changed)
		ret = rebuild_save(agent, err);
	if (ret == 0 && agent->peers.dead_changed)
		ret = dead_save(agent, err);
	if (ret == 0 && agent->hostdown.changed)
		ret = hostdown_save(agent, err);
	if (ret == 0 && agent->round_changed)
		ret = starts_save(agent, err);
	if (ret == 0 && !agent->has_boot_id)
		ret = store_put_value(agent->store, "boot_id", agent->options->boot_id, err);
	if (ret == 0 && !agent->has_database_id)
		ret = store_put_value(agent->store, "database_id", agent->database_id, err);
	return ret;
}

static bool is_changed(const struct machine *m)
{
	return m->vm_changed || m->vmi_changed || m->gone_vm || m->gone_vmi;
}

static bool has_events(const struct agent *agent)
{
	for (size_t i = 0; i < agent->n_notes; i++) {
		if (agent->notes[i].what.reason)
			return true;
	}
	return false;
}

static bool turn_changes(const struct agent *agent, const struct turn *turn)
{
	for (size_t i = 0; i < turn->n; i++) {
		if (is_changed(turn->touched[i]))
			return true;
	}
	return agent->migrations.changed || agent->records.changed || agent->origins.changed ||
		agent->rebuild_changed || agent->peers.dead_changed || agent->round_changed ||
		agent->hostdown.changed || has_events(agent);
}

static int commit(struct agent *agent, const struct turn *turn, struct now now, struct err *err)
{
	int64_t seq = agent->event_seq;
	int ret;

	if (!turn->changed)
		return 0;
	ret = store_begin(agent->store, err);
	if (ret < 0)
		return ret;
	ret = save_all(agent, turn, now, err);
	if (ret < 0)
		store_rollback(agent->store);
	else
		ret = store_commit(agent->store, err);
	if (ret < 0)
		agent->event_seq = seq;
	return ret;
}

static void commit_failed(struct agent *agent, struct turn *turn, struct now now)
{
	msec delay = SECONDS(COMMIT_RETRY_FIRST_S) << MIN(agent->commit_failures, 5);

	if (!agent->uncommitted)
		log_text(LOG_LEVEL_ERROR,
			"cannot save (%s); nothing leaves until it succeeds, trying again",
			agent->commit_err.msg);
	agent->uncommitted = true;
	agent->commit_failures++;
	agent->commit_retry_at = now.boot + MIN(delay, SECONDS(COMMIT_RETRY_MAX_S));
	for (size_t i = 0; i < turn->n; i++) {
		turn->touched[i]->vm_hash = 0;
		machines_mark(&agent->machines, turn->touched[i]);
	}
	replies_refuse(agent);
}

/* After a commit that was tried again the machines are still to be decided about: only saving
 * was. */
static void committed(struct agent *agent, struct turn *turn)
{
	bool undecided = agent->uncommitted;

	if (undecided)
		log_text(LOG_LEVEL_NOTICE, "saving works again");
	agent->uncommitted = false;
	agent->commit_failures = 0;
	agent->has_boot_id |= turn->changed;
	agent->has_database_id |= turn->changed;
	agent->rebuild_changed = agent->round_changed = false;
	agent->peers.dead_changed = false;
	hostdown_committed(agent);
	records_committed(agent);
	migrations_committed(agent);
	agent->migrations.dirty |= undecided;
	if (turn->changed)
		origins_committed(agent);
	for (size_t i = 0; i < turn->n; i++) {
		struct machine *m = turn->touched[i];

		m->vm_changed = m->vmi_changed = false;
		vm_free(take(&m->gone_vm));
		vmi_free(take(&m->gone_vmi));
		if (undecided)
			machines_mark(&agent->machines, m);
	}
}

int turn_commit(struct agent *agent, struct turn *turn, struct now now)
{
	turn->changed = turn_changes(agent, turn);
	if (commit(agent, turn, now, &agent->commit_err) < 0) {
		commit_failed(agent, turn, now);
		return -1;
	}
	committed(agent, turn);
	return 0;
}
