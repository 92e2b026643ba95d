/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes from the hypervisor: the connection's ups and downs, domain events, results and lists.
 * Each becomes a fact on the machine that it concerns; a read that is older than the last fact is
 * dropped and made again.
 */
#include <stdio.h>
#include <string.h>

#include "core/domxml.h"
#include "core/fold.h"
#include "core/ioretry.h"
#include "core/phase.h"
#include "daemon/obstacles.h"
#include "daemon/arrivals.h"
#include "daemon/migrations.h"

void input_connection(struct agent *agent, const struct input *input, struct now now)
{
	bool up = input->connection.up;
	bool has_why = input->connection.why && input->connection.why[0];

	if (up || agent->connected || !agent->connection_why)
		log_text(up ? LOG_LEVEL_NOTICE : LOG_LEVEL_WARNING, "libvirt: %s%s%s",
			up ? "connected" : "not connected", has_why ? ": " : "",
			has_why ? input->connection.why : "");
	replace_str(&agent->connection_why, up ? NULL : input->connection.why);
	agent->connected = up;
	agent->lists = 0;
	if (!ops_is_unsent(agent, agent->list_id))
		agent->list_id = 0;
	agent->list_overdue = false;
	agent->list_at = now.boot;
	agent->report.asked = false;
	for (size_t i = 0; i < agent->machines.n && !up; i++)
		fold_disconnected(agent->machines.list[i]);
	for (size_t i = 0; i < agent->machines.n; i++)
		agent_mark(agent, agent->machines.list[i]);
}

static void note_panic(struct agent *agent, struct machine *m)
{
	struct happening what = { .warning = true,
		.actor.kind = ACTOR_GUEST,
		.cause = CAUSE_GUEST_PANIC };

	happen(&what, KIND_VMI, "GuestPanicked", "the guest panicked");
	agent_note(agent, &m->vmi->meta, &what);
}

/* Once for each disk and reason, for as long as the errors go on. */
static void note_io_error(struct agent *agent, struct machine *m, const struct domain_event *event)
{
	struct happening what = { .warning = true, .actor.kind = ACTOR_LIBVIRT };
	autofree char *directory = agent_run_directory(agent, m->vmi);
	autofree char *path = volume_path(&m->vmi->typed, event->disk, directory);
	bool full = streq(event->io_reason, "enospc");

	happen(&what, KIND_VMI, "IOerror", "%s disk '%s'%s%s%s%s",
		full ? "no space left for" : "I/O error on", event->disk, path ? " ('" : "",
		path ? path : "", path ? "')" : "", full ? ": make room on its file system" : "");
	if (!io_error_is_known(&m->vmi->io, event->disk, event->io_reason))
		agent_note(agent, &m->vmi->meta, &what);
}

void input_event(struct agent *agent, const struct input *input, struct now now)
{
	const struct domain_event *event = input->event;
	struct machine *m = machines_find_run(&agent->machines, event->uuid);

	(void)now;
	if (!m) {
		domains_look_soon(agent); /* not ours */
		return;
	}
	if (event->kind == DOMAIN_EVENT_PROGRESS) {
		migration_note_progress(agent, m, &event->progress);
		return;
	}
	if (event->kind == DOMAIN_EVENT_ANSWERED) {
		migration_note_answer(m, event->held);
		return;
	}
	if (event->kind == DOMAIN_EVENT_PANICKED && !m->vmi->end.panicked)
		note_panic(agent, m);
	if (event->kind == DOMAIN_EVENT_IO_ERROR && !phase_is_final(m->vmi->phase))
		note_io_error(agent, m, event);
	fold_event(m, event);
	agent_mark(agent, m);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static int compare_info(const void *a, const void *b)
{
	return strcmp((*(const struct domain_info *const *)a)->uuid,
		(*(const struct domain_info *const *)b)->uuid);
}

static const struct domain_info **list_sorted(const struct op_result *result)
{
	const struct domain_info **sorted = xcalloc(MAX(result->n_domains, 1), sizeof(*sorted));

	for (size_t i = 0; i < result->n_domains; i++)
		sorted[i] = &result->domains[i];
	qsort(sorted, result->n_domains, sizeof(*sorted), compare_info);
	return sorted;
}

static const struct domain_info *list_find(const struct domain_info *const *sorted, size_t n,
	const char *uuid)
{
	struct domain_info key = { .name = NULL };
	const struct domain_info *wanted = &key, *const * found;

	copy_str(key.uuid, UID_SIZE, uuid);
	found = bsearch(&wanted, sorted, n, sizeof(*sorted), compare_info);
	return found ? *found : NULL;
}

static bool facts_are_equal(const struct domain *a, const struct domain *b)
{
	return a->state == b->state && a->reason == b->reason && a->active == b->active &&
		a->agent == b->agent && a->migrating == b->migrating && streq(a->owner, b->owner) &&
		a->agreed >= READS_TO_AGREE && !a->look_again;
}

/* A list is a read of each domain; stale where something was folded or is under
 * way since it left. */
static void list_machine(struct agent *agent, struct machine *m,
	const struct domain_info *const *sorted, size_t n)
{
	struct domain before = m->dom;
	bool settled = agent->lists >= READS_TO_AGREE + 1;
	bool stale = m->dom.facts != m->list_facts || m->dom.reading ||
		m->ops[LANE_MAIN].kind != OP_NONE;

	if (!m->vmi)
		return;
	if (stale)
		m->dom.look_again = true;
	else
		fold_seen(m, list_find(sorted, n, m->vmi->typed.uuid), settled);
	if (stale || !facts_are_equal(&before, &m->dom))
		agent_mark(agent, m);
}

static bool is_reported(struct agent *agent, const char *uid)
{
	for (size_t i = 0; i < agent->n_strays; i++) {
		if (streq(agent->strays[i], uid))
			return true;
	}
	copy_str(*LIST_ADD(agent->strays, agent->n_strays, agent->cap_strays), UID_SIZE, uid);
	return false;
}

/* A domain of ours whose run is not known, e.g. of a start that hung until long after it was given
 * up, is never touched (design §4), but said once. */
static void report_strays(struct agent *agent, const struct op_result *list)
{
	for (size_t i = 0; i < list->n_domains; i++) {
		const struct domain_info *info = &list->domains[i];
		const struct machine *m = machines_find_run(&agent->machines, info->uuid);

		if (!info->owner[0] || (m && streq(m->vmi->meta.uid, info->owner)) ||
			is_reported(agent, info->owner))
			continue;
		log_text(LOG_LEVEL_WARNING,
			"domain '%s' belongs to a run that is not known (%s): it is left alone; remove it with "
			"'virsh destroy' and 'virsh undefine' if it is not wanted",
			info->name, info->owner);
	}
}

static bool all_agree(const struct agent *agent)
{
	for (size_t i = 0; i < agent->machines.n; i++) {
		const struct machine *m = agent->machines.list[i];

		if (m->vmi && m->vmi->prepared && !m->vmi->cleaned &&
			m->dom.agreed < READS_TO_AGREE)
			return false;
	}
	return true;
}

static msec list_pause(const struct agent *agent)
{
	if (agent->lists == 1)
		return SECONDS(LIST_SECOND_S);
	if (agent->lists == 2)
		return SECONDS(LIST_THIRD_S);
	return SECONDS(all_agree(agent) && !agent->rebuilding ? LIST_SLOW_S : LIST_AGAIN_S);
}

static void list_result(struct agent *agent, const struct op_result *result, struct now now)
{
	if (result->id != agent->list_id)
		return;
	agent->list_id = 0;
	if (result->err.code != ERR_OK) {
		agent->list_at = now.boot + SECONDS(LIST_AGAIN_S);
		return;
	}

	const struct domain_info **sorted = list_sorted(result);

	agent->lists++;
	if (agent->rebuilding && agent->lists >= READS_TO_AGREE)
		rebuild_list(agent, result, now);
	for (size_t i = 0; i < agent->machines.n; i++)
		list_machine(agent, agent->machines.list[i], sorted, result->n_domains);
	free(sorted);
	domains_take_list(agent, result, now);
	if (agent_is_settled(agent) && !agent->rebuilding)
		report_strays(agent, result);
	agent->list_at = now.boot + list_pause(agent);
	if (agent->list_wanted)
		domains_look_soon(agent);
}

/* ---- results of one machine's ops ------------------------------------------------------------ */

static void read_result(struct agent *agent, struct machine *m, const struct inflight *in,
	const struct op_result *result)
{
	m->dom.reading = false;
	if (result->err.code != ERR_OK || !m->vmi || !streq(m->vmi->meta.uid, in->vmi_uid))
		return;
	if (in->facts == m->dom.facts)
		fold_seen(m, result->n_domains ? &result->domains[0] : NULL,
			agent_is_settled(agent) || m->dom.agreed >= READS_TO_AGREE);
}

/* An image that is not there is looked for again and again; it is told twice. */
#define IMAGE_NOTES_MAX 2

static const char *failure_event(const struct vmi *vmi, const struct op_result *result)
{
	if (result->kind == OP_PROBE)
		return "Unhealthy";
	if (result->err.code != ERR_NO_IMAGE)
		return "SyncFailed";
	return obstacle_event(vmi->obstacle);
}

/* libvirt calls it an error that somebody called the move off; its end is told by
 * the migration's own step. */
static bool was_called_off(const struct machine *m, const struct op_result *result)
{
	return result->kind == OP_MIGRATE && m->migration &&
		(m->migration->cancelled || vmi_is_stopping(m->vmi));
}

/* What fails again and again is told once or twice. */
static bool is_told(const struct machine *m, const struct op_result *result)
{
	if (result->kind == OP_PROBE)
		return m->dom.probes[m->dom.probing].bad != 1;
	if (result->kind == OP_AGENT_CREDENTIALS)
		return true; /* by a step of its own */
	if (result->kind == OP_MIGRATE_READ_NVRAM || result->kind == OP_MIGRATE_WRITE_NVRAM)
		return true; /* as what they are of its migration */
	if (was_called_off(m, result))
		return true;
	return result->err.code == ERR_NO_IMAGE && m->vmi->tries > IMAGE_NOTES_MAX;
}

static void note_failure(struct agent *agent, struct machine *m, const struct op_result *result)
{
	struct happening what = { .warning = true };
	bool once = result->kind == OP_REBOOT || result->kind == OP_AGENT_REBOOT ||
		result->kind == OP_RESET; /* lost is lost */
	bool of_agent = op_kind_lane(result->kind) == LANE_AGENT && !once;

	if (!m->vmi || result->err.code == ERR_OK)
		return;
	if (result->err.code == ERR_UNAVAILABLE && !once)
		return;
	if (of_agent && m->dom.agent_tries > 1)
		return; /* said of this agent already */
	if (is_told(m, result))
		return;
	happen(&what, KIND_VMI, of_agent ? NULL : failure_event(m->vmi, result), "%s failed: %s",
		op_kind_name(result->kind), result->err.msg);
	agent_note(agent, &m->vmi->meta, &what);
}

/* A guest that runs without its limits is better than none, but not what was asked for. */
static void note_unlimited(struct agent *agent, struct machine *m, const struct op_result *result)
{
	struct happening what = { .warning = true };

	if (!m->vmi || result->err.code != ERR_OK || !result->text)
		return;
	happen(&what, KIND_VMI, "LimitsNotInForce",
		"resources.limits and requests.cpu are not in force on this host: %s",
		result->text);
	agent_note(agent, &m->vmi->meta, &what);
}

/* Its run is gone already, so it is the VM's. */
static void note_purge(struct agent *agent, struct machine *m, const struct op_result *result)
{
	struct happening what = { .warning = true };

	if (!m->vm || !m->purged || result->err.code == ERR_OK)
		return;
	happen(&what, KIND_VM, "FailedDelete", "what it kept from run to run stays: %s",
		result->err.msg);
	agent_note(agent, &m->vm->meta, &what);
}

static void note_words(struct agent *agent, struct machine *m, const struct op_result *result)
{
	struct happening what = { .warning = true, .output = result->words };

	if (!m->vmi || !result->words || !result->words[0])
		return;
	happen(&what, KIND_VMI, "QEMUOutput", "QEMU wrote:");
	agent_note(agent, &m->vmi->meta, &what);
}

static void note_fallback(struct agent *agent, struct machine *m, const struct op_result *result)
{
	struct happening what = { 0 };

	if (!m->vmi || !result->fallback)
		return;
	happen(&what, KIND_VMI, "UserModeNetwork",
		"QEMU's own network stack stands in for the pod network: %s", result->fallback);
	agent_note(agent, &m->vmi->meta, &what);
}

static void machine_result(struct agent *agent, const struct inflight *in,
	const struct op_result *result, struct now now)
{
	struct machine *m = machines_find(&agent->machines, in->ns, in->name);
	enum op_lane lane = op_kind_lane(in->kind);

	if (!m || m->ops[lane].id != in->id)
		return; /* of a run that is gone */
	if (m->vmi && !streq(m->vmi->meta.uid, in->vmi_uid)) {
		memset(&m->ops[lane], 0, sizeof(m->ops[lane])); /* of the run before */
		m->dom.reading &= in->kind != OP_READ;
		agent_mark(agent, m);
		return;
	}
	fold_result(m, result, lane, now);
	migrations_result(agent, m, result, now);
	if (in->kind == OP_READ)
		read_result(agent, m, in, result);
	if (in->kind == OP_PREPARE && result->err.code == ERR_OK && m->vmi)
		claims_made(agent, m);
	if (in->kind == OP_PURGE)
		note_purge(agent, m, result);
	if (in->kind == OP_START)
		note_fallback(agent, m, result);
	if (in->kind == OP_WORDS)
		note_words(agent, m, result);
	else
		note_failure(agent, m, result);
	if (in->kind == OP_START)
		note_unlimited(agent, m, result);
	agent_mark(agent, m);
}

void input_result(struct agent *agent, const struct input *input, struct now now)
{
	struct inflight in;

	if (!ops_take(agent, input->result->id, &in))
		return;
	if (in.kind == OP_LIST)
		list_result(agent, input->result, now);
	else if (in.kind == OP_DESCRIBE)
		adopt_result(agent, input->result, now);
	else if (in.kind == OP_COMPARE)
		arrivals_compared(agent, input->result, now);
	else if (in.kind == OP_LOOK)
		arrivals_looked(agent, input->result, now);
	else if (in.kind == OP_DROP)
		claims_dropped(agent, input->result, now);
	else if (in.kind == OP_FILL)
		data_volumes_filled(agent, input->result, now);
	else if (op_kind_lane(in.kind) == LANE_ERRAND || in.kind == OP_AGENT_LOOK)
		errands_result(agent, input->result);
	else
		machine_result(agent, &in, input->result, now);
	free(in.ns);
	free(in.name);
}
