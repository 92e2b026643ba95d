/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provenance: for each object that a manifest file declares, which file and with what content it
 * was last applied. A row outlives its object and goes only when the file no longer has it (design
 * §5), so that deleted by command stays deleted.
 */
#include <string.h>

#include "daemon/agent_private.h"

static int origin_compare(const struct origin *o, enum object_kind kind, const char *ns,
	const char *name)
{
	int order = (int)o->kind - (int)kind;

	if (order == 0)
		order = strcmp(o->ns, ns);
	return order ? order : strcmp(o->name, name);
}

static size_t origins_place(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name)
{
	size_t low = 0, high = agent->origins.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (origin_compare(agent->origins.list[middle], kind, ns, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Also a removed row that is not committed yet; whoever finds it may revive it. */
struct origin *origins_find(const struct agent *agent, enum object_kind kind, const char *ns,
	const char *name)
{
	size_t at = origins_place(agent, kind, ns, name);

	if (at == agent->origins.n || origin_compare(agent->origins.list[at], kind, ns, name))
		return NULL;
	return agent->origins.list[at];
}

static struct origin *origins_add(struct agent *agent, enum object_kind kind, const char *ns,
	const char *name)
{
	struct origins *os = &agent->origins;
	size_t at = origins_place(agent, kind, ns, name);
	struct origin *o = xcalloc(1, sizeof(*o));

	if (os->n == os->cap) {
		os->cap = os->cap ? os->cap * 2 : 16;
		os->list = xrealloc_array(os->list, os->cap, sizeof(struct origin *));
	}
	memmove(&os->list[at + 1], &os->list[at], (os->n - at) * sizeof(struct origin *));
	os->n++;
	o->kind = kind;
	o->ns = xstrdup(ns);
	o->name = xstrdup(name);
	o->epoch = 1;
	return os->list[at] = o;
}

/* The file is part of the row's key, so that the old row has to go. */
static void set_file(struct agent *agent, struct origin *o, const char *file)
{
	if (streq(o->file, file))
		return;
	if (o->file_was)
		free(take(&o->file));
	else
		o->file_was = take(&o->file);
	o->file = xstrdup(file);
	o->changed = agent->origins.changed = true;
}

struct origin *origins_get(struct agent *agent, const char *file, const struct manifest *manifest)
{
	struct origin *o = origins_find(agent, manifest->kind, manifest->ns, manifest->name);

	if (!o)
		o = origins_add(agent, manifest->kind, manifest->ns, manifest->name);
	set_file(agent, o, file);
	o->gone = o->removed = false;
	return o;
}

void origin_set(struct agent *agent, struct origin *o, const char *base, const char *uid)
{
	replace_str(&o->base, base);
	copy_str(o->uid, UID_SIZE, uid);
	o->state = PROVENANCE_LIVE;
	o->changed = agent->origins.changed = true;
}

void origin_remove(struct agent *agent, struct origin *o)
{
	o->removed = agent->origins.changed = true;
}

const char *origins_deleted(struct agent *agent, enum object_kind kind, const char *ns,
	const char *name)
{
	struct origin *o = origins_find(agent, kind, ns, name);

	if (!o || o->removed || o->gone)
		return NULL;
	if (o->state != PROVENANCE_DELETED) {
		o->state = PROVENANCE_DELETED;
		o->changed = agent->origins.changed = true;
	}
	return o->file;
}

/* ---- loading and saving ---------------------------------------------------------------------- */

static int load_row(void *ctx, const struct provenance_row *row)
{
	struct agent *agent = ctx;
	struct origin *o = origins_add(agent, row->kind, row->ns, row->name);

	o->file = xstrdup(row->file);
	o->base = xstrdup(row->base);
	o->epoch = row->epoch;
	o->state = row->state;
	copy_str(o->uid, UID_SIZE, row->uid);
	return 0;
}

#define VALUE_HELD "removals_held"

int origins_load(struct agent *agent, struct err *err)
{
	autofree char *held = store_get_value(agent->store, VALUE_HELD);

	agent->origins.held = streq(held, "1");
	return store_each_provenance(agent->store, load_row, agent, err);
}

static int remove_row(struct agent *agent, const struct origin *o, const char *file,
	struct err *err)
{
	struct provenance_row row = { .file = file, .kind = o->kind, .ns = o->ns, .name = o->name };

	return store_remove_provenance(agent->store, &row, err);
}

static int origin_save(struct agent *agent, const struct origin *o, struct err *err)
{
	struct provenance_row row = {
		.file = o->file,
		.kind = o->kind,
		.ns = o->ns,
		.name = o->name,
		.uid = o->uid,
		.base = o->base ? o->base : "",
		.epoch = o->epoch,
		.state = o->state,
	};
	int ret = o->file_was ? remove_row(agent, o, o->file_was, err) : 0;

	if (ret < 0)
		return ret;
	if (o->removed)
		return remove_row(agent, o, o->file, err);
	return o->changed ? store_put_provenance(agent->store, &row, err) : 0;
}

int origins_save(struct agent *agent, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < agent->origins.n && ret == 0; i++)
		ret = origin_save(agent, agent->origins.list[i], err);
	if (ret == 0)
		ret = store_put_value(agent->store, VALUE_HELD, agent->origins.held ? "1" : "",
			err);
	return ret;
}

static void origin_free(struct origin *o)
{
	free(o->file);
	free(o->file_was);
	free(o->ns);
	free(o->name);
	free(o->base);
	free(o);
}

void origins_committed(struct agent *agent)
{
	struct origins *os = &agent->origins;
	size_t kept = 0;

	if (!os->changed)
		return;
	for (size_t i = 0; i < os->n; i++) {
		os->list[i]->changed = false;
		free(take(&os->list[i]->file_was));
		if (os->list[i]->removed)
			origin_free(os->list[i]);
		else
			os->list[kept++] = os->list[i];
	}
	os->n = kept;
	os->changed = false;
}

void origins_done(struct agent *agent)
{
	for (size_t i = 0; i < agent->origins.n; i++)
		origin_free(agent->origins.list[i]);
	free(agent->origins.list);
}
