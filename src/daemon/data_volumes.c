/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DataVolumes: each makes a claim of its own name and has it filled, once. What is filled is
 * durable before it is begun, and a claim is bound only when its image is whole; so a crash
 * begins anew what was not done. A DataVolume takes its claim along when it goes, and a VM those
 * that its templates made.
 */
#include "core/claim.h"
#include "core/edit.h"
#include "daemon/obstacles.h"

static struct record *find(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name)
{
	return records_find(&agent->records, kind, ns, name);
}

static struct record *claim_of(const struct agent *agent, const struct record *dv)
{
	struct record *claim = find(agent, KIND_PVC, dv->meta.ns, dv->meta.name);

	return claim && record_is_of(claim, KIND_DATA_VOLUME, &dv->meta) ? claim : NULL;
}

struct record *data_volume_of(const struct agent *agent, const struct record *claim)
{
	struct record *dv = claim->owner_name && claim->owner_kind == KIND_DATA_VOLUME
		? find(agent, KIND_DATA_VOLUME, claim->meta.ns, claim->owner_name)
		: NULL;

	return dv && record_is_of(claim, KIND_DATA_VOLUME, &dv->meta) ? dv : NULL;
}

char *data_volume_words(const struct record *dv)
{
	return xasprintf("DataVolume '%s' is not ready, its phase is '%s'%s%s", dv->meta.name,
		data_volume_phase_name(dv->dv.phase), dv->dv.words ? ": " : "",
		dv->dv.words ? dv->dv.words : "");
}

static void note(struct agent *agent, const struct record *r, const char *reason, const char *text)
{
	struct happening what = { .warning = r->dv.failing || r->dv.phase == DATA_VOLUME_FAILED };

	happen(&what, r->kind, reason, "%s", text);
	agent_note(agent, &r->meta, &what);
}

/* ---- what it is filled from ------------------------------------------------------------------ */

static const struct record *source_of(const struct agent *agent, const struct record *dv,
	const struct fill *fill)
{
	return find(agent, KIND_PVC, fill->ns ? fill->ns : dv->meta.ns, fill->claim);
}

static int64_t size_of(const struct record *claim)
{
	struct claim read;
	int64_t size;

	claim_read(claim->content, &read);
	size = read.size;
	claim_done(&read);
	return size;
}

static char *source_words(const struct agent *agent, const struct record *source,
	const struct record *claim)
{
	const struct record *dv = data_volume_of(agent, source);
	autofree char *file = claims_file(agent, source);
	const struct machine *writer = disks_writer(&agent->disks, file);

	if (dv && dv->dv.phase != DATA_VOLUME_SUCCEEDED)
		return xstrdup("the claim that it is to be a copy of is still being filled");
	if (!source->capacity)
		return xstrdup(
			"the claim that it is to be a copy of has no content: nothing has used it yet");
	if (claim && size_of(claim) < size_of(source))
		return xstrdup("it is smaller than the claim that it is to be a copy of");
	if (!writer)
		return NULL;
	return xasprintf(
		"the claim that it is to be a copy of is in use by '%s/%s', which must stop first",
		writer->ns, writer->name);
}

/* Why it cannot be filled now, owned; NULL: it can. */
static char *wait_words(const struct agent *agent, const struct record *dv, const struct fill *fill,
	const struct record *claim)
{
	const struct record *source;
	char *words = claim ? claims_class_words(agent, claim) : NULL;

	if (words || fill->source != FILL_CLAIM)
		return words;
	source = source_of(agent, dv, fill);
	if (source && !source->meta.deleted)
		return source_words(agent, source, claim);
	return xasprintf(
		"there is no PersistentVolumeClaim '%s' in namespace '%s', of which it is to be a copy",
		fill->claim, fill->ns ? fill->ns : dv->meta.ns);
}

/* ---- its steps ------------------------------------------------------------------------------- */

/* Makes the object of that tree, which it takes; NULL if there is no room for it. */
static struct record *make(struct agent *agent, enum object_kind kind, struct node *root,
	struct now now)
{
	const char *ns = node_text(root, "metadata.namespace");
	const char *name = node_text(root, "metadata.name");
	struct manifest manifest = { kind, xstrdup(ns), xstrdup(name), root, NULL };
	struct err err;
	struct record *r = NULL;

	if (agent_create_object(agent, &manifest, NULL, now, &err) == 0)
		r = find(agent, kind, ns, name);
	else
		log_text(LOG_LEVEL_WARNING, "%s %s/%s cannot be made: %s", object_kind_name(kind),
			ns, name, err.msg);
	manifest_done(&manifest);
	return r;
}

static void make_claim(struct agent *agent, struct record *dv, const struct fill *fill,
	struct now now)
{
	const struct record *source = fill->source == FILL_CLAIM ? source_of(agent, dv, fill)
								 : NULL;
	struct record *claim = make(agent, KIND_PVC,
		data_volume_claim(dv->meta.ns, dv->meta.name, dv->content,
			source ? size_of(source) : 0),
		now);

	if (!claim)
		return;
	record_set_owner(claim, KIND_DATA_VOLUME, &dv->meta);
	data_volume_set(&dv->dv,
		fill->source == FILL_CLAIM ? DATA_VOLUME_CLONE_SCHEDULED
					   : DATA_VOLUME_IMPORT_SCHEDULED,
		NULL, now.wall);
	records_touch(&agent->records, dv);
	note(agent, dv, "Pending", "its claim was made");
}

static struct volume_work *work_of(const struct agent *agent, const struct record *dv,
	const struct fill *fill, const struct record *claim)
{
	const struct record *source = fill->source == FILL_CLAIM ? source_of(agent, dv, fill)
								 : NULL;
	struct volume_work *work = xcalloc(1, sizeof(*work));

	*work = (struct volume_work){ .kind = VOLUME_WORK_FILL,
		.volume = xstrdup(dv->meta.name),
		.target = claims_file(agent, claim),
		.base = source ? claims_file(agent, source) : xstrdup(fill->image),
		.claimed = source != NULL,
		.preallocate = fill->preallocate,
		.capacity = size_of(claim) };
	return work;
}

static void begin(struct agent *agent, struct record *dv, const struct fill *fill, struct now now)
{
	struct record *claim = claim_of(agent, dv);
	struct volume_work *work = work_of(agent, dv, fill, claim);
	bool clone = fill->source == FILL_CLAIM;

	replace_str(&claim->fill_from, clone ? work->base : NULL);
	claim->fill = ops_plan_fill(agent, claim, work);
	if (!data_volume_set(&dv->dv, clone ? DATA_VOLUME_CLONING : DATA_VOLUME_IMPORTING, NULL,
		    now.wall))
		return;
	records_touch(&agent->records, dv);
	note(agent, dv, data_volume_phase_name(dv->dv.phase),
		clone ? "its claim is being filled from another one" : "its claim is being filled");
}

static void wait_for(struct agent *agent, struct record *dv, const char *words, struct now now)
{
	enum data_volume_phase phase = dv->dv.phase;

	if (phase == DATA_VOLUME_IMPORTING)
		phase = DATA_VOLUME_IMPORT_SCHEDULED;
	if (phase == DATA_VOLUME_CLONING)
		phase = DATA_VOLUME_CLONE_SCHEDULED;
	if (!data_volume_set(&dv->dv, phase, words, now.wall))
		return;
	records_touch(&agent->records, dv);
	note(agent, dv, "Waiting", words);
}

static void lose(struct agent *agent, struct record *dv, struct now now)
{
	data_volume_set(&dv->dv, DATA_VOLUME_FAILED,
		"its claim was deleted; to have it filled again, delete the DataVolume and create it anew",
		now.wall);
	records_touch(&agent->records, dv);
	note(agent, dv, "ClaimLost", dv->dv.words);
}

static enum claim_stand stand_of(const struct agent *agent, const struct record *dv)
{
	const struct record *there = find(agent, KIND_PVC, dv->meta.ns, dv->meta.name);

	if (!there)
		return CLAIM_ABSENT;
	if (there->meta.deleted)
		return CLAIM_GOING;
	return record_is_of(there, KIND_DATA_VOLUME, &dv->meta) ? CLAIM_OURS : CLAIM_FOREIGN;
}

static void decide(struct agent *agent, struct record *dv, struct now now)
{
	const struct record *claim = claim_of(agent, dv);
	struct data_volume_view view = { .now = &dv->dv,
		.claim = stand_of(agent, dv),
		.filling = claim && claim->fill,
		.early = dv->retry_at > now.boot };
	autofree char *wait = NULL;
	const char *words = NULL;
	struct fill fill;

	fill_read(dv->content, &fill);
	view.wait = wait = wait_words(agent, dv, &fill, claim);
	switch (data_volume_decide(&view, &words)) {
	case FILL_MAKE_CLAIM:
		make_claim(agent, dv, &fill, now);
		break;
	case FILL_WAIT:
		wait_for(agent, dv, words, now);
		break;
	case FILL_BEGIN:
		begin(agent, dv, &fill, now);
		break;
	case FILL_LOST:
		lose(agent, dv, now);
		break;
	case FILL_NOTHING:
		break;
	}
	if (view.early)
		agent->fills.wake_at = MIN(agent->fills.wake_at, dv->retry_at);
	fill_done(&fill);
}

/* ---- the result ------------------------------------------------------------------------------ */

static struct record *find_fill(const struct agent *agent, uint64_t op)
{
	size_t n;
	struct record *const *list = records_of_kind(&agent->records, KIND_PVC, &n);

	for (size_t i = 0; i < n; i++)
		if (list[i]->fill == op)
			return list[i];
	return NULL;
}

static void succeed(struct agent *agent, struct record *dv, struct record *claim, bool kept,
	struct now now)
{
	data_volume_set(&dv->dv, DATA_VOLUME_SUCCEEDED, NULL, now.wall);
	claims_bound(agent, claim);
	note(agent, dv, "Succeeded",
		kept ? "the file of its claim was there already, and is kept as it is"
		     : "its claim is filled");
}

static void fail(struct agent *agent, struct record *dv, const char *words, struct now now)
{
	data_volume_fail(&dv->dv, words, now.wall);
	dv->retry_at = now.boot + data_volume_pause(&dv->dv);
	note(agent, dv, "Error", words);
}

void data_volumes_filled(struct agent *agent, const struct op_result *result, struct now now)
{
	struct record *claim = find_fill(agent, result->id);
	struct record *dv = claim ? data_volume_of(agent, claim) : NULL;

	agent->fills.dirty = agent->freed = true; /* its source is free again, or it can go */
	if (!claim)
		return;
	claim->fill = 0;
	free(take(&claim->fill_from));
	if (!dv)
		return;
	if (result->err.code == ERR_OK)
		succeed(agent, dv, claim, result->text != NULL, now);
	else
		fail(agent, dv, result->err.msg, now);
	records_touch(&agent->records, dv);
}

bool data_volumes_copy(const struct agent *agent, const char *file)
{
	size_t n;
	struct record *const *list = records_of_kind(&agent->records, KIND_PVC, &n);

	for (size_t i = 0; i < n; i++)
		if (list[i]->fill && streq(list[i]->fill_from, file))
			return true;
	return false;
}

/* ---- of a VM --------------------------------------------------------------------------------- */

static void make_templates(struct agent *agent, const struct machine *m, struct now now)
{
	struct node *spec = text_tree(m->vm->spec), **objects;
	size_t n = data_volume_templates(spec, m->ns, &objects);

	for (size_t i = 0; i < n; i++) {
		const char *name = node_text(objects[i], "metadata.name");
		struct record *dv = find(agent, KIND_DATA_VOLUME, m->ns, name);

		if (dv)
			node_free(objects[i]);
		else if ((dv = make(agent, KIND_DATA_VOLUME, objects[i], now)))
			record_set_owner(dv, KIND_VM, &m->vm->meta);
	}
	free(objects);
	node_free(spec);
}

static enum volumes_state state_of(const struct record *dv)
{
	if (!dv || dv->dv.phase == DATA_VOLUME_SUCCEEDED)
		return VOLUMES_READY; /* of one that is not there the run tells */
	if (dv->dv.failing || dv->dv.phase == DATA_VOLUME_FAILED)
		return VOLUMES_FAILED;
	return dv->dv.phase == DATA_VOLUME_IMPORTING || dv->dv.phase == DATA_VOLUME_CLONING
		? VOLUMES_FILLING
		: VOLUMES_UNBOUND;
}

static void look_at(struct agent *agent, struct machine *m, struct now now)
{
	enum volumes_state worst = VOLUMES_READY;
	bool missing = false;

	for (size_t i = 0; i < m->vm->n_volumes; i++)
		missing |= m->vm->volumes[i].template &&
			!find(agent, KIND_DATA_VOLUME, m->ns, m->vm->volumes[i].name);
	if (missing && !m->vm->meta.deleted)
		make_templates(agent, m, now);
	for (size_t i = 0; i < m->vm->n_volumes; i++) {
		enum volumes_state state =
			state_of(find(agent, KIND_DATA_VOLUME, m->ns, m->vm->volumes[i].name));

		worst = MAX(worst, state);
	}
	if (worst == m->volumes)
		return;
	m->volumes = worst;
	m->vm_changed = true;
	agent_mark(agent, m);
}

void data_volumes_leave(struct agent *agent, const struct machine *m, bool orphan, bool by_file,
	struct now now)
{
	size_t n;

	(void)records_of_kind(&agent->records, KIND_DATA_VOLUME, &n);
	while (n-- > 0) { /* the list moves when one goes */
		struct record *dv =
			records_of_kind(&agent->records, KIND_DATA_VOLUME, &(size_t){ 0 })[n];

		if (!record_is_of(dv, KIND_VM, &m->vm->meta))
			continue;
		if (orphan) {
			free(take(&dv->owner_name));
			records_touch(&agent->records, dv);
		} else {
			note(agent, dv, "DeleteRequested", "its virtual machine is being deleted");
			data_volumes_delete(agent, dv, by_file, now);
		}
	}
}

/* ---- all of them ----------------------------------------------------------------------------- */

void data_volumes_delete(struct agent *agent, struct record *dv, bool by_file, struct now now)
{
	struct record *claim = claim_of(agent, dv);

	if (claim)
		claims_delete(agent, claim, by_file, now);
	records_remove(&agent->records, dv);
}

void data_volumes_follow(struct agent *agent, struct machine *m)
{
	bool has = m->vm && (m->vm->n_volumes || m->volumes != VOLUMES_READY);

	machine_list_keep(&agent->fills.vms, m, &m->has_volumes, has);
}

void data_volumes_done(struct fills *fills)
{
	machine_list_done(&fills->vms);
}

void data_volumes_turn(struct agent *agent, struct now now)
{
	struct machine_list *vms = &agent->fills.vms;
	struct record *const *list;
	size_t n;

	agent->fills.dirty |= agent->records.changed || agent->freed;
	if (!agent->fills.dirty && now.boot < agent->fills.wake_at)
		return;
	agent->fills.dirty = false;
	agent->fills.wake_at = NEVER;
	for (size_t i = 0; i < vms->n;) { /* one that has none any more leaves the list */
		struct machine *m = vms->list[i];

		look_at(agent, m, now);
		i += i < vms->n && vms->list[i] == m;
	}
	(void)records_of_kind(&agent->records, KIND_DATA_VOLUME, &n);
	for (size_t i = 0; i < n; i++) { /* the list moves when a claim is made */
		list = records_of_kind(&agent->records, KIND_DATA_VOLUME, &(size_t){ 0 });
		decide(agent, list[i], now);
	}
}
