/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's birth and its one door. Loading is the same road as a restart: all objects from the
 * store, everything dirty, facts unknown until libvirt has been asked. There is no recovery code.
 */
#include "daemon/arrivals.h"
#include "daemon/agent.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/fold.h"
#include "core/phase.h"
#include "daemon/obstacles.h"
#include "daemon/migrations.h"

void agent_uuid(struct agent *agent, char ret[UID_SIZE])
{
	unsigned char b[16];

	agent->options->entropy(agent->options->entropy_ctx, b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* RFC 4122: version 4 */
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	snprintf(ret, UID_SIZE,
		"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
		b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
		b[15]);
}

uint32_t agent_random(struct agent *agent)
{
	uint32_t value;

	agent->options->entropy(agent->options->entropy_ctx, &value, sizeof(value));
	return value;
}

/* ---- loading --------------------------------------------------------------------------------- */

struct loading {
	struct agent *agent;
	/* Else all is saved again with the new boot id: stored deadlines are void. */
	bool same_boot;
	struct err err;
};

static int load_vm(void *ctx, const struct object_row *row)
{
	struct loading *l = ctx;
	struct vm *vm;
	struct machine *m;

	if (vm_load(row->object, row->state ? row->state : "{}", l->same_boot, &vm, &l->err) < 0) {
		log_text(LOG_LEVEL_ERROR, "%s/%s: %s; it is left alone", row->ns, row->name,
			l->err.msg);
		return 0;
	}
	vm->meta.rv = row->rv;
	m = machines_get(&l->agent->machines, row->ns, row->name);
	m->vm = vm;
	m->vm_changed = !l->same_boot;
	if (l->agent->options->tuning.boot_policy != BOOT_RESTORE_RUNNING)
		vm->restore = false;
	agent_mark(l->agent, m);
	return 0;
}

static int load_vmi(void *ctx, const struct object_row *row)
{
	struct loading *l = ctx;
	struct vmi *vmi;
	struct machine *m;

	if (vmi_load(row->object, row->state ? row->state : "{}", l->same_boot, &vmi, &l->err) <
		0) {
		log_text(LOG_LEVEL_ERROR, "%s/%s: %s; it is left alone", row->ns, row->name,
			l->err.msg);
		return 0;
	}
	vmi->meta.rv = row->rv;
	m = machines_get(&l->agent->machines, row->ns, row->name);
	m->vmi = vmi;
	vmi->rebooted |= !l->same_boot && !phase_is_final(vmi->phase);
	m->vmi_changed = !l->same_boot;
	fold_disconnected(m);
	obstacles_update(l->agent, m);
	agent_mark(l->agent, m);
	return 0;
}

/* Each event takes a change number as well, and none of those comes twice even when the database
 * was lost: so event numbers go on above the former ones, too. */
static int64_t first_seq(const struct agent *agent)
{
	return agent->options->rebuilt ? store_current_rv(agent->store) : 0;
}

/* Only peers ever hear of it: whoever has none needs none. */
static void load_database_id(struct agent *agent)
{
	autofree char *id = store_get_value(agent->store, "database_id");

	agent->has_database_id = id || !agent->options->n_peers;
	if (id)
		copy_str(agent->database_id, UID_SIZE, id);
	else if (agent->options->n_peers)
		agent_uuid(agent, agent->database_id);
}

static int load_all(struct agent *agent, struct err *err)
{
	autofree char *boot = store_get_value(agent->store, "boot_id");
	autofree char *seq = store_get_value(agent->store, "event_seq");
	struct loading l = { .agent = agent, .same_boot = streq(boot, agent->options->boot_id) };
	struct object_query vms = { .kind = KIND_VM }, vmis = { .kind = KIND_VMI };
	int ret;

	agent->has_boot_id = l.same_boot;
	starts_load(agent, boot);
	hostdown_load(agent);
	agent->event_seq = seq ? strtoll(seq, NULL, 10) : first_seq(agent);
	ret = records_load(agent, err); /* before those that wait by their classes */
	if (ret == 0)
		ret = store_each(agent->store, &vms, load_vm, &l, err);
	if (ret == 0)
		ret = store_each(agent->store, &vmis, load_vmi, &l, err);
	if (ret == 0)
		ret = migrations_load(agent, l.same_boot, err);
	if (ret == 0)
		ret = origins_load(agent, err);
	rebuild_load(agent);
	dead_load(agent);
	load_database_id(agent);
	return ret;
}

int agent_new(const struct agent_options *options, struct now now, struct agent **ret_agent,
	struct err *err)
{
	struct agent *agent = xcalloc(1, sizeof(*agent));
	int ret;

	agent->options = options;
	agent->store = options->store;
	agent->hv = options->hv;
	agent->list_at = now.boot;
	peers_init(agent);
	ret = load_all(agent, err);
	if (ret < 0) {
		agent_free(agent);
		return ret;
	}
	namespaces_load(agent, now);
	claims_load(agent);
	agent->fills.dirty = true;
	agent->fills.wake_at = NEVER;
	*ret_agent = agent;
	return 0;
}

void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	hostdown_done(agent);
	slots_done(&agent->slots);
	machines_done(&agent->machines);
	records_done(&agent->records);
	origins_done(agent);
	obstacles_done(agent);
	namesakes_done(&agent->namesakes);
	ops_done(agent);
	notes_done(agent);
	adoptions_done(agent);
	checks_done(agent);
	arrivals_done(agent);
	free(agent->report.text);
	agent_drop_errands(agent);
	free(agent->errands);
	replies_done(agent);
	domains_done(agent);
	peers_done(agent);
	handovers_done(agent);
	migrations_done(agent);
	free(agent->strays);
	free(agent->connection_why);
	free(agent->folder_hold);
	free(agent);
}

/* ---- the door -------------------------------------------------------------------------------- */

/* clang-format off */
static input_fn *const handlers[INPUT_MAX] = {
	[INPUT_CREATE]     = input_create,
	[INPUT_REPLACE]    = input_replace,
	[INPUT_PATCH]      = input_patch,
	[INPUT_DELETE]     = input_delete,
	[INPUT_VERB]       = input_verb,
	[INPUT_VMI_VERB]   = input_vmi_verb,
	[INPUT_ADOPT]      = input_adopt,
	[INPUT_HOST_SHUTDOWN] = input_host_shutdown,
	[INPUT_ERRAND]     = input_errand,
	[INPUT_MIGRATE]    = input_migrate,
	[INPUT_DECLARE_DEAD] = input_declare_dead,
	[INPUT_ACCEPT]     = input_accept,
	[INPUT_FOLDER]     = input_folder,
	[INPUT_CONNECTION] = input_connection,
	[INPUT_EVENT]      = input_event,
	[INPUT_RESULT]     = input_result,
	[INPUT_PEER]       = input_peer,
};
/* clang-format on */

void agent_input(struct agent *agent, const struct input *input, struct now now)
{
	assert(handlers[input->kind]);
	handlers[input->kind](agent, input, now);
}

void agent_on_commit(struct agent *agent, void (*hook)(void *ctx, int64_t rv), void *ctx)
{
	agent->commit_hook = hook;
	agent->commit_ctx = ctx;
}

const char *agent_database_id(const struct agent *agent)
{
	return agent->database_id;
}

/* ---- questions ------------------------------------------------------------------------------- */

bool agent_is_healthy(const struct agent *agent, struct err *ret_why)
{
	if (agent->uncommitted) {
		err_set(ret_why, ERR_UNAVAILABLE, "cannot save: %.400s", agent->commit_err.msg);
		return false;
	}
	if (!agent->connected) {
		err_set(ret_why, ERR_UNAVAILABLE, "libvirt is not connected: %.400s",
			agent->connection_why ? agent->connection_why : "not yet");
		return false;
	}
	return true;
}
