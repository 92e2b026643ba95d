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

/* ---- what is stored of the run that an op is for: NULL, or why it does not justify the op ---- */

typedef const char *objection_fn(const struct stored *vmi, const struct op *op);

static const char *to_prepare(const struct stored *vmi, const struct op *op)
{
	(void)op;
	return vmi->phase == PHASE_SCHEDULING ? NULL : "it is not being scheduled";
}

static const char *to_start(const struct stored *vmi, const struct op *op)
{
	if (vmi->stopping)
		return "it is to end";
	if (vmi->claim)
		return "its domain is there already";
	if (op->paused != (vmi->pause == PAUSE_HELD))
		return "it is not to be started so";
	return vmi->phase == PHASE_SCHEDULED ? NULL : "it is not scheduled";
}

static const char *to_claim(const struct stored *vmi, const struct op *op)
{
	(void)op;
	return vmi->claim && !phase_is_final(vmi->phase) ? NULL : "no claim is stored";
}

static const char *to_shut_down(const struct stored *vmi, const struct op *op)
{
	(void)op;
	if (!vmi->stopping)
		return "nobody wants it stopped";
	return vmi->signalled ? NULL : "the signal is not stored";
}

static const char *to_destroy(const struct stored *vmi, const struct op *op)
{
	(void)op;
	if (vmi->discard || phase_is_final(vmi->phase))
		return NULL;
	if (!vmi->stopping)
		return "nobody wants it stopped";
	return vmi->killed ? NULL : "the kill is not stored";
}

/* What a user may do to a run that lives. */
static const char *to_act(const struct stored *vmi, const struct op *op)
{
	if (vmi->stopping || phase_is_final(vmi->phase))
		return "it is to end";
	if (op->kind == OP_SUSPEND)
		return vmi->pause == PAUSE_HELD ? NULL : "nobody wants it paused";
	if (op->kind == OP_RESUME && vmi->pause == PAUSE_AS_IS)
		return vmi->tried ? NULL : "no I/O error is stored that it could be after";
	if (op->kind == OP_RESUME)
		return vmi->pause == PAUSE_RELEASED ? NULL : "nobody wants it resumed";
	return vmi->act && op->kind != OP_AGENT_TIME ? "it would be done twice" : NULL;
}

static const char *to_ask_why(const struct stored *vmi, const struct op *op)
{
	(void)op;
	return vmi->words ? NULL : "nobody asked why it ended";
}

static const char *to_probe(const struct stored *vmi, const struct op *op)
{
	(void)op;
	return phase_is_final(vmi->phase) || vmi->stopping ? "it is to end" : NULL;
}

static const char *to_clean(const struct stored *vmi, const struct op *op)
{
	(void)op;
	return phase_is_final(vmi->phase) ? NULL : "it is not final";
}

/* The others change nothing that is the run's; those of migrations are judged elsewhere. */
static objection_fn *const objections[OP_KIND_MAX] = {
	/* clang-format off */
	[OP_PREPARE]        = to_prepare,
	[OP_START]          = to_start,
	[OP_CLAIM]          = to_claim,
	[OP_SHUTDOWN]       = to_shut_down,
	[OP_AGENT_SHUTDOWN] = to_shut_down,
	[OP_DESTROY]        = to_destroy,
	[OP_SUSPEND]        = to_act,
	[OP_RESUME]         = to_act,
	[OP_REBOOT]         = to_act,
	[OP_AGENT_REBOOT]   = to_act,
	[OP_AGENT_TIME]     = to_act,
	[OP_RESET]          = to_act,
	[OP_WORDS]          = to_ask_why,
	[OP_PROBE]          = to_probe,
	[OP_UNDEFINE]       = to_clean,
	[OP_CLEAN]          = to_clean,
	/* clang-format on */
};

static const char *objection(const struct stored *vmi, const struct op *op)
{
	return objections[op->kind] ? objections[op->kind](vmi, op) : NULL;
}

/* ---- what there is --------------------------------------------------------------------------- */

/* No other QEMU of ours under that name. */
static void check_alone(struct world *w, const struct op *op)
{
	const struct fake_domain *dom = fake_find(w, op->domain);

	if (dom && dom->active && !dom->foreign && !streq(dom->owner, op->vmi_uid))
		world_fail(w, "start of %s while a QEMU of another run of it lives", op->name);
	if (watch_is_stopped(w, op->name) && !(w->lab && w->lab->remade))
		world_fail(w, "start of %s, which was stopped", op->name);
}

static bool is_start(const struct op *op)
{
	return op->kind == OP_START || op->kind == OP_PREPARE;
}

/* Not counting what was told to stop, nor what hangs: it was reported, and others take its
 * place. */
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

/* The claim of that folder, <storage>/<namespace>/<claim>, is stored as one that is to
 * go with its data. */
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

/* For others, so that there is a bound; and only if there is something to look for. */
static void watch_look(struct world *w, const struct op *op)
{
	size_t looks = 0, expected = 0;

	for (size_t i = 0; i < w->fake.n_lanes; i++)
		looks += w->fake.lanes[i].kind == OP_LOOK;
	for (size_t i = 0; i < op->n_work; i++)
		expected += volume_work_is_expected(&op->work[i]);
	if (looks >= LOOKS_MAX || !expected)
		world_fail(w, "looking for %zu things beside %zu others who do", expected, looks);
}

void watch_submit(struct world *w, const struct op *op)
{
	struct stored vmi;
	const char *why;

	if (op->kind == OP_LIST || op->kind == OP_DESCRIBE || op->kind == OP_COMPARE)
		return;
	if (op->kind == OP_LOOK) {
		watch_look(w, op);
		return;
	}
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
