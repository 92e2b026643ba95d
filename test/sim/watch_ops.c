/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of what leaves: an op is justified by what is stored, and by what there is. */
#include <string.h>

#include "core/phase.h"
#include "daemon/agent_private.h"
#include "watch.h"

static int keep_stored(void *ctx, const struct object_row *row)
{
	*(struct stored *)ctx = watch_stored(row);
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
	vmi.discard = watch_migration(w, op->vmi_uid, MIGRATION_TARGET, IN(OWNER)).discard ||
		watch_migration(w, op->vmi_uid, MIGRATION_SOURCE, IN(ABORTED)).discard;
	why = op->kind >= OP_MIGRATE_PREPARE && op->kind <= OP_MIGRATE_RESUME
		? watch_migration_objection(w, op)
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
