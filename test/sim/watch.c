/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants of design §6, asserted from outside: against what is stored, not against what the
 * agent thinks. Called at each commit, each op that leaves, each QEMU that starts, and whenever the
 * agent says that it is done.
 */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

#include "core/migration.h"
#include "core/phase.h"
#include "daemon/obstacles.h"
#include "daemon/migrations.h"
#include "sim.h"

/* ---- the VMIs that ever were ---------------------------------------------------------------------- */

static struct tracked *track(struct world *w, const char *uid)
{
	struct watch *watch = &w->watch;

	for (size_t i = 0; i < watch->n_vmis; i++) {
		if (streq(watch->vmis[i].uid, uid))
			return &watch->vmis[i];
	}
	if (watch->n_vmis == TRACKED_MAX) {
		world_fail(w, "the simulation has no room for another VMI");
		return &watch->vmis[0];
	}

	struct tracked *new = &watch->vmis[watch->n_vmis++];

	*new = (struct tracked){ .phase = PHASE_UNSET };
	copy_str(new->uid, UID_SIZE, uid);
	return new;
}

/* The few fields that matter of a VMI's private state; the whole is loaded only where it counts. */
struct stored {
	bool there;
	char uid[UID_SIZE];
	enum phase phase;
	enum pause pause;
	bool stopping; /* it was deleted, goes down with its host, or is not well */
	bool signalled, killed, act, tried, ended, claim, words;
	bool discard; /* its image is not to be used */
};

static bool has(const cJSON *json, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(json, key) != NULL;
}

static struct stored stored_of(const struct object_row *row)
{
	cJSON *json = cJSON_Parse(row->state ? row->state : "");
	const cJSON *phase = cJSON_GetObjectItemCaseSensitive(json, "phase");
	const cJSON *pause = cJSON_GetObjectItemCaseSensitive(json, "pause");
	struct stored stored = { .there = json != NULL,
		.phase = phase ? (enum phase)phase->valueint : PHASE_UNSET,
		.stopping = has(json, "deleted") || has(json, "hostShutdown") ||
			has(json, "unhealthy"),
		.signalled = has(json, "signalFirst"),
		.killed = has(json, "killed"),
		.pause = pause ? (enum pause)pause->valueint : PAUSE_AS_IS,
		.act = has(json, "act"),
		.tried = has(json, "ioLast"),
		.ended = has(json, "stopped") || has(json, "guestShutdown"),
		.claim = has(json, "claim"),
		.words = has(json, "words") };

	copy_str(stored.uid, UID_SIZE, row->uid);
	cJSON_Delete(json);
	return stored;
}

static int follow_phase(void *ctx, const struct object_row *row)
{
	struct world *w = ctx;
	struct tracked *seen = track(w, row->uid);
	struct stored stored = stored_of(row);
	enum phase phase = stored.phase;

	if (phase == PHASE_WAITING_FOR_SYNC && phase_is_final(seen->phase))
		*seen = (struct tracked){ .phase = PHASE_UNSET }; /* it was here before */
	copy_str(seen->uid, UID_SIZE, row->uid);
	if (phase != seen->phase && !phase_may_become(seen->phase, phase))
		world_fail(w, "%s: phase %s became %s", row->name, phase_name(seen->phase),
			phase_name(phase));
	seen->phase = phase;
	seen->ended = stored.ended;
	return 0;
}

/* The name's number is the annotation's, and it is the next one. After a lost database it only rises. */
static void number_event(struct world *w, const struct change_row *row)
{
	struct watch *watch = &w->watch;
	cJSON *root = cJSON_Parse(row->object);
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(root, "metadata");
	const cJSON *notes = cJSON_GetObjectItemCaseSensitive(metadata, "annotations");
	const char *text =
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(notes, "vmagent.io/seq"));
	const char *dot = strrchr(row->name, '.');
	int64_t seq = text ? strtoll(text, NULL, 10) : 0;

	if (!dot || strtoll(dot + 1, NULL, 16) != seq)
		world_fail(w, "event %s says that its number is %" PRId64, row->name, seq);
	if (watch->recount ? seq <= watch->seq : seq != watch->seq + 1)
		world_fail(w, "event %" PRId64 " follows on %" PRId64, seq, watch->seq);
	watch->seq = seq;
	watch->recount = false;
	cJSON_Delete(root);
}

/* Old ones go, and those of a namespace with it. */
static int follow_event(void *ctx, const struct change_row *row)
{
	if (!streq(row->type, "DELETED"))
		number_event(ctx, row);
	return 0;
}

static void follow_events(struct world *w, int64_t rv)
{
	struct change_query query = { .kind = KIND_EVENT, .since = w->watch.rv, .limit = -1 };
	struct err err;

	if (store_changes(w->store, &query, follow_event, w, &err) < 0)
		world_fail(w, "%s", err.msg);
	w->watch.rv = rv;
}

void watch_commit(struct world *w, int64_t rv)
{
	struct object_query query = { .kind = KIND_VMI };

	store_each(w->store, &query, follow_phase, w, NULL);
	follow_events(w, rv);
}

void watch_database_lost(struct world *w, int64_t rv)
{
	w->watch.rv = rv;
	w->watch.recount = true;
}

/* ---- what an admin stopped ------------------------------------------------------------------------ */

static void stop_at_host(struct world *w, const char *name, bool stopped)
{
	struct watch *watch = &w->watch;
	size_t kept = 0;

	for (size_t i = 0; i < watch->n_stopped; i++) {
		if (!streq(watch->stopped[i], name))
			memmove(watch->stopped[kept++], watch->stopped[i],
				sizeof(watch->stopped[0]));
	}
	watch->n_stopped = kept;
	if (stopped && kept < MARKS_MAX)
		copy_str(watch->stopped[watch->n_stopped++], sizeof(watch->stopped[0]), name);
}

/* A machine may move meanwhile. */
void watch_stop(struct world *w, const char *name, bool stopped)
{
	struct world *host;

	for (unsigned i = 0; (host = world_host(w, i)); i++)
		stop_at_host(host, name, stopped);
}

bool watch_is_stopped(const struct world *w, const char *name)
{
	for (size_t i = 0; i < w->watch.n_stopped; i++) {
		if (streq(w->watch.stopped[i], name))
			return true;
	}
	return false;
}

/* ---- migrations --------------------------------------------------------------------------------- */

struct row_query { /* a migration of that run, in one of these states (bits) */
	const char *vmi_uid;
	enum migration_role role;
	unsigned states;
	bool found, moved, discard;
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

static struct row_query find_row(struct world *w, const char *vmi_uid, enum migration_role role,
	unsigned states)
{
	struct object_query query = { .kind = KIND_MIGRATION };
	struct row_query q = { .vmi_uid = vmi_uid, .role = role, .states = states };

	store_each(w->store, &query, match_row, &q, NULL);
	return q;
}

#define IN(state) (1U << MIGRATION_##state)

/* What has arrived may be the only copy: somebody must have aborted, for good, before it is destroyed. */
void watch_discard(struct world *w, const struct fake_domain *dom)
{
	struct row_query q;
	struct world *host;

	if (!dom->arrived || find_row(w, dom->owner, MIGRATION_TARGET, IN(OWNER)).discard)
		return;
	if (!find_row(w, dom->owner, MIGRATION_TARGET, IN(IN) | IN(COMPLETE) | IN(OWNER)).found &&
		find_row(w, dom->owner, MIGRATION_TARGET, IN(DONE)).moved)
		return; /* it is this host's, only paused by its user */
	for (unsigned i = 0; (host = world_host(w, i)); i++) {
		q = find_row(host, dom->owner, MIGRATION_SOURCE, IN(ABORTED) | IN(DONE));
		if (q.found && !q.moved)
			return;
	}
	world_fail(w, "the only copy of %s is destroyed, and nobody has aborted", dom->name);
}

/* Before its memory: if the source had not released it, it could boot there as well. */
void watch_goes_over(struct world *w, const struct fake_domain *dom)
{
	if (!find_row(w, dom->owner, MIGRATION_TARGET, IN(OWNER)).found)
		world_fail(w, "%s goes on before it is this host's", dom->name);
}

static const char *migration_objection(struct world *w, const struct op *op)
{
	const char *uid = op->vmi_uid;

	if (op->kind == OP_MIGRATE_PREPARE)
		return find_row(w, uid, MIGRATION_TARGET, IN(IN)).found ? NULL
									: "it is not awaited";
	if (op->kind == OP_MIGRATE && op->recovery)
		return find_row(w, uid, MIGRATION_SOURCE, IN(RELEASED)).found
			? NULL
			: "it has not gone over";
	if (op->kind == OP_MIGRATE || op->kind == OP_MIGRATE_WATCH || op->kind == OP_MIGRATE_ABORT)
		return find_row(w, uid, MIGRATION_SOURCE, IN(OUT)).found ? NULL
									 : "it is not on its way";
	if (op->kind == OP_MIGRATE_SEAL)
		return find_row(w, uid, MIGRATION_SOURCE, IN(OUT)).found ? NULL
									 : "it is not on its way";
	if (op->kind == OP_MIGRATE_PASS && find_row(w, uid, MIGRATION_SOURCE, IN(RELEASED)).found)
		return NULL; /* libvirt's answer */
	if (op->kind == OP_MIGRATE_PASS || op->kind == OP_MIGRATE_RELAY)
		return find_row(w, uid, MIGRATION_TARGET, IN(OWNER)).found
			? NULL
			: "it is not this host's guest yet";
	if (find_row(w, uid, MIGRATION_SOURCE, IN(ABORTED)).found ||
		find_row(w, uid, MIGRATION_TARGET, IN(OWNER)).found)
		return NULL;
	return "it is not stored that it is this host's";
}

/* ---- ops that leave ------------------------------------------------------------------------------- */

static int keep_stored(void *ctx, const struct object_row *row)
{
	*(struct stored *)ctx = stored_of(row);
	return 1;
}

static struct stored stored_vmi(struct world *w, const struct op *op)
{
	struct object_query query = { .kind = KIND_VMI, .ns = op->ns, .name = op->name };
	struct stored stored = { .there = false };

	store_each(w->store, &query, keep_stored, &stored, NULL);
	return stored;
}

/* Of what a user may do to a run that lives. */
static const char *guest_objection(const struct stored *vmi, enum op_kind kind)
{
	if (vmi->stopping || phase_is_final(vmi->phase))
		return "it is to end";
	if (kind == OP_SUSPEND)
		return vmi->pause == PAUSE_HELD ? NULL : "nobody wants it paused";
	if (kind == OP_RESUME && vmi->pause == PAUSE_AS_IS)
		return vmi->tried ? NULL : "no I/O error is stored that it could be after";
	if (kind == OP_RESUME)
		return vmi->pause == PAUSE_RELEASED ? NULL : "nobody wants it resumed";
	return vmi->act && kind != OP_AGENT_TIME ? "it would be done twice" : NULL;
}

/* Of the op that makes a guest run. */
static const char *start_objection(const struct stored *vmi, const struct op *op)
{
	if (vmi->stopping)
		return "it is to end";
	if (vmi->claim)
		return "its domain is there already";
	if (op->paused != (vmi->pause == PAUSE_HELD))
		return "it is not to be started so";
	return vmi->phase == PHASE_SCHEDULED ? NULL : "it is not scheduled";
}

/* NULL when what is stored justifies the op. */
static const char *objection(const struct stored *vmi, const struct op *op)
{
	bool final = phase_is_final(vmi->phase);

	switch (op->kind) {
	case OP_PREPARE:
		return vmi->phase == PHASE_SCHEDULING ? NULL : "it is not being scheduled";
	case OP_START:
		return start_objection(vmi, op);
	case OP_CLAIM:
		return vmi->claim && !final ? NULL : "no claim is stored";
	case OP_SHUTDOWN:
	case OP_AGENT_SHUTDOWN:
		if (!vmi->stopping)
			return "nobody wants it stopped";
		return vmi->signalled ? NULL : "the signal is not stored";
	case OP_DESTROY:
		if (vmi->discard)
			return NULL;
		if (!final && !vmi->stopping)
			return "nobody wants it stopped";
		return final || vmi->killed ? NULL : "the kill is not stored";
	case OP_SUSPEND:
	case OP_RESUME:
	case OP_REBOOT:
	case OP_AGENT_REBOOT:
	case OP_AGENT_TIME:
	case OP_RESET:
		return guest_objection(vmi, op->kind);
	case OP_WORDS:
		return vmi->words ? NULL : "nobody asked why it ended";
	case OP_PROBE:
		return final || vmi->stopping ? "it is to end" : NULL;
	case OP_UNDEFINE:
	case OP_CLEAN:
		return final ? NULL : "it is not final";
	case OP_NONE:
	case OP_LIST:
	case OP_PURGE:
	case OP_DROP:
	case OP_FILL:
	case OP_READ:
	case OP_DESCRIBE:
	case OP_AGENT_INFO:
	case OP_AGENT_CREDENTIALS:
	case OP_AGENT_LOOK:
	case OP_SCREENSHOT:
	case OP_FORWARD:
	case OP_COMPARE:
	case OP_MIGRATE_PREPARE:
	case OP_MIGRATE:
	case OP_MIGRATE_WATCH:
	case OP_MIGRATE_PASS:
	case OP_MIGRATE_RELAY:
	case OP_MIGRATE_SEAL:
	case OP_MIGRATE_ABORT:
	case OP_MIGRATE_ANNOUNCE:
	case OP_MIGRATE_RESUME:
	case OP_KIND_MAX:
		break;
	}
	return NULL;
}

/* No other QEMU of ours under that name. */
static void check_alone(struct world *w, const struct op *op)
{
	const struct fake_domain *dom = fake_find(w, op->domain);

	if (dom && dom->active && !dom->foreign && !streq(dom->owner, op->vmi_uid))
		world_fail(w, "start of %s while a QEMU of another run of it lives", op->name);
	if (watch_is_stopped(w, op->name))
		world_fail(w, "start of %s, which was stopped", op->name);
}

static bool is_start(const struct op *op)
{
	return op->kind == OP_START || op->kind == OP_PREPARE;
}

/* Not counting what was told to stop, nor what hangs: it was reported, and others take its place. */
static void check_slots(struct world *w, const struct op *op)
{
	const struct fake *f = &w->fake;
	unsigned under_way = 1;

	for (size_t i = 0; i < f->n_lanes; i++) {
		under_way += is_start(&f->lanes[i]) &&
			w->t - f->since[i] < op_kind_deadline(f->lanes[i].kind) &&
			!stored_vmi(w, &f->lanes[i]).stopping;
	}
	if (w->going_down)
		world_fail(w, "%s of %s although the host goes down", op_kind_name(op->kind),
			op->name);
	if (under_way > w->options.tuning.start_slots)
		world_fail(w, "%s of %s: %u starts are under way", op_kind_name(op->kind), op->name,
			under_way);
}

/* Its VM is to go, is still stored, and nothing runs that may use what is removed. */
static void watch_purge(struct world *w, const struct op *op)
{
	const struct fake_domain *dom = fake_find_uuid(w, op->uuid);
	const struct machine *m = machines_find(&w->agent->machines, op->ns, op->name);

	if (!m || !m->vm || !m->vm->meta.deleted || !streq(m->vm->meta.uid, op->vmi_uid))
		world_fail(w, "purge of %s, which is not to go", op->name);
	if (dom && dom->active)
		world_fail(w, "purge of %s while its QEMU lives", op->name);
}

static int take_document(void *ctx, const struct object_row *row)
{
	buf_puts(ctx, row->object);
	return 0;
}

/* The claim of that folder, <storage>/<namespace>/<claim>, is stored as one that is to go with its data. */
static bool is_to_drop(struct world *w, const char *folder)
{
	const char *name = strrchr(folder, '/');
	autofree char *above = xstrndup(folder, (size_t)(name - folder));
	struct object_query query = { .kind = KIND_PVC,
		.ns = strrchr(above, '/') + 1,
		.name = name + 1 };
	struct buf stored = { 0 };
	bool is;

	store_each(w->store, &query, take_document, &stored, NULL);
	is = stored.data && strstr(stored.data, "deletionTimestamp") &&
		strstr(stored.data, CLAIM_DATA);
	buf_done(&stored);
	return is;
}

static void watch_drop(struct world *w, const struct op *op)
{
	autofree char *file = xasprintf("%s/" CLAIM_FILE, op->directory);

	if (!is_to_drop(w, op->directory))
		world_fail(w, "drop of %s, which is not stored as to go", op->directory);
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		const struct fake_domain *dom = &w->fake.domains[i];

		if (dom->exists && dom->active && streq(dom->disk, file))
			world_fail(w, "drop of %s while a QEMU has it open", op->directory);
	}
}

static bool is_stored(struct world *w, enum object_kind kind, const char *ns, const char *name,
	const char *with)
{
	struct object_query query = { .kind = kind, .ns = ns, .name = name };
	struct buf stored = { 0 };
	bool is;

	store_each(w->store, &query, take_document, &stored, NULL);
	is = stored.data && strstr(stored.data, with);
	buf_done(&stored);
	return is;
}

/* Nobody writes to a file that is being copied. */
static void watch_source(struct world *w, const struct volume_work *work)
{
	for (size_t i = 0; i < DOMAINS_MAX; i++) {
		const struct fake_domain *dom = &w->fake.domains[i];

		if (dom->exists && dom->active && streq(dom->disk, work->base))
			world_fail(w, "copy of %s while a QEMU has it open", work->base);
	}
}

/* The DataVolume of that name is stored as one that is being filled, with its claim. */
static void watch_fill(struct world *w, const struct op *op)
{
	if (!is_stored(w, KIND_DATA_VOLUME, op->ns, op->name, "InProgress") ||
		!is_stored(w, KIND_PVC, op->ns, op->name, "\"phase\":\"Pending\""))
		world_fail(w, "fill of %s/%s, which is not stored as to be filled", op->ns,
			op->name);
	watch_source(w, &op->work[0]);
}

/* No run begins with a claim that is not filled. */
static void watch_claims(struct world *w, const struct op *op)
{
	for (size_t i = 0; i < op->n_work; i++) {
		const struct volume_work *work = &op->work[i];
		autofree char *folder = NULL;
		const char *name;

		if (work->kind != VOLUME_WORK_CLAIM)
			continue;
		folder =
			xstrndup(work->target, (size_t)(strrchr(work->target, '/') - work->target));
		name = strrchr(folder, '/') + 1;
		if (is_stored(w, KIND_DATA_VOLUME, op->ns, name, "phase") &&
			!is_stored(w, KIND_DATA_VOLUME, op->ns, name, "Succeeded"))
			world_fail(w, "prepare with the claim %s, which is not filled", name);
	}
}

void watch_submit(struct world *w, const struct op *op)
{
	struct stored vmi;
	const char *why;

	if (op->kind == OP_LIST || op->kind == OP_DESCRIBE || op->kind == OP_COMPARE)
		return;
	if (op->kind == OP_FILL) {
		watch_fill(w, op);
		return;
	}
	if (op->kind == OP_PREPARE)
		watch_claims(w, op);
	if (op->kind == OP_PURGE || op->kind == OP_DROP) {
		(op->kind == OP_PURGE ? watch_purge : watch_drop)(w, op);
		return;
	}
	vmi = stored_vmi(w, op);
	if (!vmi.there || !streq(vmi.uid, op->vmi_uid)) {
		world_fail(w, "op %s left for a VMI of %s that is not stored",
			op_kind_name(op->kind), op->name);
		return;
	}
	vmi.discard = find_row(w, op->vmi_uid, MIGRATION_TARGET, IN(OWNER)).discard ||
		find_row(w, op->vmi_uid, MIGRATION_SOURCE, IN(ABORTED)).discard;
	why = op->kind >= OP_MIGRATE_PREPARE && op->kind <= OP_MIGRATE_RESUME
		? migration_objection(w, op)
		: objection(&vmi, op);
	if (why)
		world_fail(w, "op %s left for %s although %s", op_kind_name(op->kind), op->name,
			why);
	if (op->kind == OP_MIGRATE_ANNOUNCE && fake_find_uuid(w, op->uuid))
		fake_find_uuid(w, op->uuid)->unheard = false; /* as far as it can */
	if (op->kind == OP_START)
		check_alone(w, op);
	if (is_start(op))
		check_slots(w, op);
}

static void check_disk(struct world *w, const struct fake_domain *dom)
{
	for (size_t i = 0; i < DOMAINS_MAX && dom->disk[0]; i++) {
		const struct fake_domain *other = &w->fake.domains[i];

		if (other != dom && other->exists && other->active &&
			streq(other->disk, dom->disk) && !(other->shares && dom->shares))
			world_fail(w, "%s and %s write to the same disk", dom->name, other->name);
	}
}

void watch_boot(struct world *w, const struct fake_domain *dom, const char *vmi_uid)
{
	struct tracked *seen = track(w, vmi_uid);

	if (phase_is_final(seen->phase))
		world_fail(w, "the final VMI of %s runs again", dom->name);
	/* That a start came about, and its guest is gone, nobody knows who was not told. */
	if (seen->started && (seen->phase != PHASE_SCHEDULED || seen->ended))
		world_fail(w, "a second QEMU for the same VMI of %s", dom->name);
	seen->started = true;
	check_disk(w, dom);
}

/* ---- rest ------------------------------------------------------------------------------------------ */

/* A guest that goes on here, and is not to end, has been announced, if another host's QEMU ever was. */
static void quiet_guest(struct world *w, const struct migration *g)
{
	const struct machine *m = machines_find(&w->agent->machines, g->meta.ns, g->vmi);
	const struct fake_domain *dom = m && m->vmi ? fake_find_uuid(w, m->vmi->typed.uuid) : NULL;

	if (!dom || m->migration != g || !migration_is_over(g) || g->role != MIGRATION_SOURCE)
		return;
	if (!g->moved && !vmi_is_stopping(m->vmi) && dom->active && dom->state == DOMAIN_RUNNING &&
		dom->unheard)
		world_fail(w, "%s goes on here, and the network believes it elsewhere", g->vmi);
}

static void quiet_migrations(struct world *w)
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

/* Nothing is dirty: then no machine may have a step to make. */
void watch_quiet(struct world *w)
{
	const struct agent *agent = w->agent;
	struct host_facts host = { .now = world_now(w),
		.tuning = &w->options.tuning,
		.connected = agent->connected,
		.hold = agent->rebuilding || agent->hostdown.active,
		.going_down = agent->hostdown.active,
		.settled = agent_is_settled(agent) };

	for (size_t i = 0; i < agent->machines.n && !agent->uncommitted; i++) {
		const struct machine *m = agent->machines.list[i];
		autofree char *words = NULL;
		struct plan plan;

		host.obstacle = obstacles_find(agent, m, &words);
		host.obstacle_words = words;
		plan = machine_decide(m, &host);

		if (plan.step != STEP_NONE)
			world_fail(w, "%s: nothing new, and still it plans to %s", m->name,
				step_name(plan.step));
		if (plan.wants_slot != (m->slot != SLOT_NONE))
			world_fail(w, "%s: the books of starts do not say what it wants", m->name);
		if (agent->hostdown.active && plan.may_live != m->in_shutdown)
			world_fail(w, "%s: the host's books do not say whether it runs", m->name);
	}
	quiet_migrations(w);
}

void watch_end(struct world *w)
{
	autofree char *stored = store_get_value(w->store, "event_seq");
	int64_t seq = stored ? strtoll(stored, NULL, 10) : 0;

	follow_events(w, store_current_rv(w->store));
	if (seq != w->watch.seq && !w->watch.recount)
		world_fail(w, "the last event is %" PRId64 ", but stored is %" PRId64, w->watch.seq,
			seq);
	if (w->agent && !agent_is_healthy(w->agent, &(struct err){ 0 }))
		world_fail(w, "the agent ends unhealthy");
}
