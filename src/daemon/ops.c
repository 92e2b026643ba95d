/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations in flight: built from the model as self-contained strings, kept back until the commit
 * of the turn that decided them, and found again by their id when the result comes.
 */
#include <stdio.h>
#include <string.h>

#include "core/domxml.h"
#include "core/host_ports.h"
#include "core/migration_offer.h"
#include "core/nvram.h"
#include "core/phase.h"
#include "daemon/obstacles.h"

void *list_grow(void *list, size_t *n, size_t *cap, size_t size)
{
	if (*n == *cap) {
		*cap = *cap ? *cap * 2 : 8;
		list = xrealloc_array(list, *cap, size);
	}
	memset((char *)list + *n * size, 0, size);
	(*n)++;
	return list;
}

char *agent_run_directory(const struct agent *agent, const struct vmi *vmi)
{
	return xasprintf("%s/vmi/%s", agent->options->state_dir, vmi->meta.uid);
}

char *agent_aside_directory(const struct agent *agent, const struct object_meta *meta)
{
	return xasprintf("%s/lost/%s_%s.%s", agent->options->state_dir, meta->ns, meta->name,
		meta->uid);
}

bool agent_keeps_disks(const struct vmi *vmi)
{
	autofree char *copies = migration_copies(&vmi->typed);

	return copies != NULL;
}

char *agent_kept_directory(const struct agent *agent, const char *vm_uid)
{
	return *vm_uid ? xasprintf("%s/vm/%s", agent->options->state_dir, vm_uid) : NULL;
}

static struct domain_context context_of(const struct agent *agent, const struct machine *m,
	const struct op *op)
{
	return (struct domain_context){
		.ns = m->ns,
		.name = m->name,
		.vmi_uid = m->vmi->meta.uid,
		.vm_uid = m->vmi->owner,
		.epoch = MAX(m->vmi->epoch, 1),
		.held = m->vmi->held,
		.directory = op->directory,
		.kept = op->kept,
		.kvm = agent->options->kvm,
		.pvpanic = agent->options->pvpanic,
	};
}

static void fill_start(const struct agent *agent, const struct machine *m, struct op *op)
{
	struct domain_context context = context_of(agent, m, op);
	struct attachment *attachments = networks_attach(agent, m);
	autofree char *shared = shares_left(agent);
	struct host_ports ports;
	struct holding holding;
	struct firmware firmware = { 0 };
	struct err none;

	if (op->kind == OP_MIGRATE_PREPARE &&
		firmware_read(m->vmi->firmware, &firmware, &none) == 0)
		context.firmware = &firmware;
	holding_parse(m->vmi->held, &holding);
	context.holding = &holding;
	context.shared_cpus = shared;
	context.attachments = attachments;
	op->xml = domain_xml(&m->vmi->typed, &context);
	firmware_done(&firmware);
	holding_done(&holding);
	host_ports_of(m->vmi, &ports);
	op->forwards = host_ports_rules(&ports);
	networks_fill_start(agent, op, attachments, m->vmi->typed.n_interfaces);
	networks_free(attachments, m->vmi->typed.n_interfaces);
	op->paused = m->vmi->pause == PAUSE_HELD;
	op->replaces = m->vm ? xstrdup(m->vm->adopts) : NULL;
}

static void fill_claim(const struct agent *agent, const struct machine *m, struct op *op)
{
	struct domain_context context = context_of(agent, m, op);

	op->xml = domain_metadata_xml(&context);
}

/* Its VM has no run any more: whoever removes it is the VM itself. What is lost to another host is
 * put aside, but for its TPM, which libvirt goes on keeping. */
static void fill_purge(const struct agent *agent, const struct machine *m, struct op *op)
{
	const char *uid = m->vm->meta.uid;
	struct domain_context context = { .ns = m->ns,
		.name = m->name,
		.vmi_uid = uid,
		.vm_uid = uid,
		.epoch = 1 };

	op->domain = domain_name(m->ns, m->name);
	op->kept = agent_kept_directory(agent, uid);
	context.kept = op->kept;
	op->xml = domain_purge_xml(m->vm->uuid, &context);
	copy_str(op->vmi_uid, UID_SIZE, uid);
	copy_str(op->uuid, UID_SIZE, m->vm->uuid);
	if (!m->vm->lost)
		return;
	op->directory = xstrdup(op->kept);
	op->aside = agent_aside_directory(agent, &m->vm->meta);
}

static void fill_prepare(const struct agent *agent, const struct machine *m, struct op *op)
{
	volume_works(&m->vmi->typed, op->directory, &op->work, &op->n_work);
	media_fill(agent, m, op);
	networks_fill_prepare(agent, m, op);
	shares_fill_prepare(m, op);
	host_ports_fill_prepare(m, op);
}

static void fill_probe(const struct machine *m, struct op *op)
{
	const struct probe *probe = &m->vmi->typed.probes[m->dom.probing];

	op->probe = probe->kind;
	op->port = probe->port;
	op->timeout_s = probe->timeout_s;
	op->question = xstrdup(probe->question);
	op->host = xstrdup(probe->host);
}

/* What is done for a migration, as the run's part of it is known to both hosts. */
static void fill_migrate(const struct agent *agent, const struct machine *m, struct op *op)
{
	op->peer = xstrdup(m->migration->peer);
	op->offer = xstrdup(m->migration->offer);
	op->copies = migration_copies(&m->vmi->typed);
	op->paused = agent->options->tuning.handover.paused && !m->migration->post_copy;
}

/* What both hosts reach is there already: what would be made in its place is another disk. */
void ops_expect_shared(const struct vmi_spec *spec, struct op *op)
{
	for (size_t i = 0; i < op->n_work; i++) {
		struct volume_work *work = &op->work[i];
		const struct volume *volume = volume_of(spec, work->volume);
		bool makes = work->kind == VOLUME_WORK_CREATE_RAW ||
			work->kind == VOLUME_WORK_CLAIM;

		if (!makes || !volume || !volume->shared)
			continue;
		work->claimed = work->kind == VOLUME_WORK_CLAIM;
		work->kind = VOLUME_WORK_CHECK;
	}
}

/* All that a start needs is made ready, but for the start. */
static void fill_migrate_prepare(const struct agent *agent, const struct machine *m, struct op *op)
{
	fill_prepare(agent, m, op);
	ops_expect_shared(&m->vmi->typed, op);
	fill_start(agent, m, op);
	op->peer = xstrdup(m->migration->peer);
	op->copies = migration_copies(&m->vmi->typed);
}

static void fill_seal(const struct agent *agent, const struct machine *m, struct op *op)
{
	const struct domain *dom = &m->dom;

	op->vouched = agent->options->tuning.handover.vouching;
	op->ended = dom->state != DOMAIN_UNKNOWN && dom->agreed >= READS_TO_AGREE &&
		!dom->look_again && !dom->reading && !domain_is_alive(machine_domain_state(m));
}

static bool is_part_of_migration(enum op_kind kind)
{
	return kind >= OP_MIGRATE_PREPARE && kind <= OP_MIGRATE_RESUME;
}

/* libvirt may be copying it, for this life of the agent or for one before. */
static bool may_be_copied(const struct migration *g)
{
	return g->role == MIGRATION_SOURCE && g->performing &&
		(g->state == MIGRATION_OUT || (g->state == MIGRATION_RELEASED && g->post_copy));
}

/* UUIDs of such domains, of that machine or of all; owned by the caller, NULL: none. */
static char *jobs_of(const struct agent *agent, const struct machine *only)
{
	struct buf list = { 0 };

	for (size_t i = 0; i < agent->migrations.n; i++) {
		const struct migration *g = agent->migrations.list[i];
		const struct machine *m = machines_find(&agent->machines, g->meta.ns, g->vmi);

		if (may_be_copied(g) && m && m->vmi && (!only || m == only))
			buf_printf(&list, "%s%s", list.len ? "," : "", m->vmi->typed.uuid);
	}
	return list.data;
}

static void fill_op(const struct agent *agent, const struct machine *m, struct op *op)
{
	op->ns = xstrdup(m->ns);
	op->name = xstrdup(m->name);
	if (op->kind == OP_PURGE) {
		fill_purge(agent, m, op);
		return;
	}
	op->domain = m->vmi->domain ? xstrdup(m->vmi->domain) : domain_name(m->ns, m->name);
	op->keep_nvram = m->vmi->domain || nvram_is_kept(m->vmi);
	op->directory = agent_run_directory(agent, m->vmi);
	if (domain_is_kept(&m->vmi->typed))
		op->kept = agent_kept_directory(agent, m->vmi->owner);
	op->facts = m->dom.facts;
	op->since = m->vmi->phase_wall[PHASE_SCHEDULED];
	copy_str(op->vmi_uid, UID_SIZE, m->vmi->meta.uid);
	copy_str(op->uuid, UID_SIZE, m->vmi->typed.uuid);
	if (op->kind == OP_START)
		fill_start(agent, m, op);
	if (op->kind == OP_CLAIM)
		fill_claim(agent, m, op);
	if (is_part_of_migration(op->kind) && m->migration)
		op->migration = xstrdup(m->migration->meta.uid);
	if (op->kind == OP_MIGRATE || op->kind == OP_MIGRATE_RELAY)
		fill_migrate(agent, m, op);
	if (op_kind_lane(op->kind) == LANE_MIGRATE)
		op->limits = m->migration->limits;
	if (is_part_of_migration(op->kind) && m->migration)
		op->post_copy = m->migration->post_copy;
	if (is_part_of_migration(op->kind) && m->migration)
		op->recovery = m->migration->recovery;
	if (op->kind == OP_MIGRATE_SEAL)
		fill_seal(agent, m, op);
	if (op->kind == OP_MIGRATE_PREPARE)
		fill_migrate_prepare(agent, m, op);
	if (op->kind == OP_MIGRATE_WRITE_NVRAM)
		op->nvram = xstrdup(m->migration->nvram);
	if (op->kind == OP_READ)
		op->jobs = jobs_of(agent, m);
	if (op->kind == OP_PROBE)
		fill_probe(m, op);
	if (op->kind == OP_AGENT_CREDENTIALS)
		credentials_fill(agent, m, op);
	if (op->kind == OP_PREPARE)
		fill_prepare(agent, m, op);
	if (op->kind == OP_CLEAN && m->vmi->lost && agent_keeps_disks(m->vmi))
		op->aside = agent_aside_directory(agent, &m->vmi->meta);
}

static struct op *op_new(struct agent *agent, enum op_kind kind)
{
	struct op *op = LIST_ADD(agent->outbox, agent->n_outbox, agent->cap_outbox);

	op->id = ++agent->next_op;
	op->kind = kind;
	return op;
}

static void book(struct agent *agent, const struct op *op)
{
	struct inflight *in = LIST_ADD(agent->inflight, agent->n_inflight, agent->cap_inflight);

	in->id = op->id;
	in->kind = op->kind;
	in->ns = xstrdup(op->ns);
	in->name = xstrdup(op->name);
	in->facts = op->facts;
	copy_str(in->vmi_uid, UID_SIZE, op->vmi_uid);
}

/* What they are made of now, to be told when another host is to make them again. */
static void note_media(struct agent *agent, struct machine *m)
{
	autofree char *digest = media_digest(agent, m);

	if (streq(digest, m->vmi->media))
		return;
	replace_str(&m->vmi->media, digest);
	m->vmi_changed = true;
}

void ops_plan(struct agent *agent, struct machine *m, enum op_kind kind, struct now now)
{
	struct op *op = op_new(agent, kind);
	struct running_op *lane = &m->ops[op_kind_lane(kind)];

	if (kind == OP_PREPARE)
		note_media(agent, m);
	fill_op(agent, m, op);
	book(agent, op);
	lane->id = op->id;
	lane->kind = kind;
	lane->deadline = now.boot + op_kind_deadline(kind);
	m->dom.reading |= kind == OP_READ;
}

void ops_plan_list(struct agent *agent, struct now now)
{
	struct op *op = op_new(agent, OP_LIST);

	op->jobs = jobs_of(agent, NULL);
	book(agent, op);
	agent->list_id = op->id;
	agent->list_deadline = now.boot + op_kind_deadline(OP_LIST);
	agent->list_overdue = agent->list_wanted = false;
	agent->list_sent = now.boot;
	for (size_t i = 0; i < agent->machines.n; i++)
		agent->machines.list[i]->list_facts = agent->machines.list[i]->dom.facts;
}

uint64_t ops_plan_errand(struct agent *agent, struct machine *m, const struct errand *errand)
{
	struct op *op = op_new(agent, errand->kind);

	fill_op(agent, m, op);
	op->port = errand->port;
	op->wake = errand->wake;
	op->look = errand->look;
	book(agent, op);
	return op->id;
}

uint64_t ops_plan_describe(struct agent *agent, const char *domain)
{
	struct op *op = op_new(agent, OP_DESCRIBE);

	op->domain = xstrdup(domain);
	book(agent, op);
	return op->id;
}

uint64_t ops_plan_compare(struct agent *agent, char *cpu)
{
	struct op *op = op_new(agent, OP_COMPARE);

	op->xml = cpu;
	op->question = xstrdup(agent->options->kvm ? "kvm" : "qemu");
	op->directory = xstrdup(agent->options->state_dir);
	book(agent, op);
	return op->id;
}

uint64_t ops_plan_look(struct agent *agent, struct op *needs)
{
	struct op *op = op_new(agent, OP_LOOK);

	op->ns = take(&needs->ns);
	op->name = take(&needs->name);
	op->work = take(&needs->work);
	op->n_work = needs->n_work;
	needs->n_work = 0;
	book(agent, op);
	return op->id;
}

uint64_t ops_plan_drop(struct agent *agent, char *folder)
{
	struct op *op = op_new(agent, OP_DROP);

	op->directory = folder;
	book(agent, op);
	return op->id;
}

uint64_t ops_plan_fill(struct agent *agent, const struct record *claim, struct volume_work *work)
{
	struct op *op = op_new(agent, OP_FILL);

	op->ns = xstrdup(claim->meta.ns);
	op->name = xstrdup(claim->meta.name);
	op->directory = xstrndup(work->target, (size_t)(strrchr(work->target, '/') - work->target));
	op->work = work;
	op->n_work = 1;
	book(agent, op);
	return op->id;
}

/* Deadlines count from here: what could not be saved for a while has waited for
 * us, not for libvirt. */
static void set_deadline(struct agent *agent, const struct op *op, struct now now)
{
	msec deadline = now.boot + op_kind_deadline(op->kind);
	enum op_lane lane = op_kind_lane(op->kind);
	struct machine *m;

	if (op->kind == OP_LIST) {
		agent->list_deadline = deadline;
		return;
	}
	if (op->kind == OP_DESCRIBE || op->kind == OP_DROP || op->kind == OP_FILL ||
		op->kind == OP_COMPARE || op->kind == OP_LOOK)
		return; /* no machine's */
	m = machines_find(&agent->machines, op->ns, op->name);
	if (m && m->ops[lane].id == op->id)
		m->ops[lane].deadline = deadline;
}

void ops_send(struct agent *agent, struct now now)
{
	struct op *outbox = agent->outbox;
	size_t n = agent->n_outbox;

	agent->outbox = NULL;
	agent->n_outbox = agent->cap_outbox = 0;
	for (size_t i = 0; i < n; i++) {
		set_deadline(agent, &outbox[i], now);
		hv_submit(agent->hv, &outbox[i]);
		op_done(&outbox[i]);
	}
	free(outbox);
}

bool ops_is_unsent(const struct agent *agent, uint64_t id)
{
	for (size_t i = 0; i < agent->n_outbox; i++) {
		if (agent->outbox[i].id == id)
			return true;
	}
	return false;
}

static size_t inflight_place(const struct agent *agent, uint64_t id)
{
	size_t low = 0, high = agent->n_inflight;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (agent->inflight[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool ops_take(struct agent *agent, uint64_t id, struct inflight *ret)
{
	size_t at = inflight_place(agent, id);

	if (at == agent->n_inflight || agent->inflight[at].id != id)
		return false;
	*ret = agent->inflight[at];
	agent->n_inflight--;
	memmove(&agent->inflight[at], &agent->inflight[at + 1],
		(agent->n_inflight - at) * sizeof(*agent->inflight));
	return true;
}

void ops_done(struct agent *agent)
{
	for (size_t i = 0; i < agent->n_inflight; i++) {
		free(agent->inflight[i].ns);
		free(agent->inflight[i].name);
	}
	for (size_t i = 0; i < agent->n_outbox; i++)
		op_done(&agent->outbox[i]);
	free(agent->inflight);
	free(agent->outbox);
}
