/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fold of the manifest folder: which files there are now, and what is to go because its file
 * went: gracefully, unless so much vanishes at once that it must be a mistake (design §5).
 */
#include "daemon/folder.h"

#define MASS_REMOVAL_MIN 3 /* fewer removals at once are always believed */

/* First what files hold no more, then what they hold: an object may move from one to another. */
static void fold_files(struct agent *agent, const struct folder_input *in, struct now now)
{
	struct file *files = xcalloc(MAX(in->n_files, 1), sizeof(*files));

	for (size_t i = 0; i < in->n_files; i++) {
		files[i] = (struct file){ .agent = agent, .name = in->files[i].name, .now = now };
		file_read(&files[i], &in->files[i]);
	}
	for (size_t i = 0; i < in->n_files; i++) {
		if (files[i].good)
			file_apply(&files[i]);
		file_done(&files[i]);
	}
	free(files);
}

/* ---- removals -------------------------------------------------------------------------------- */

static void mark_absent(struct agent *agent, const struct folder_input *in)
{
	for (size_t i = 0; i < agent->origins.n; i++) {
		struct origin *o = agent->origins.list[i];
		bool found = false;

		for (size_t k = 0; k < in->n_files && !found; k++)
			found = streq(in->files[k].name, o->file);
		o->gone |= !found;
	}
}

static void remove_object(struct agent *agent, struct origin *o, struct now now)
{
	struct target t = target_find(agent, o->kind, o->ns, o->name);
	struct happening what = { .actor = { .kind = ACTOR_FILE, .file = o->file } };
	struct err err = { 0 };

	origin_remove(agent, o);
	if (agent_check_delete(agent, &t, &err) < 0)
		return;
	happen(&what, o->kind, "DeleteRequested", "its manifest is gone: deleting");
	agent_note(agent, t.meta, &what);
	agent_delete_object(agent, &t, &what.actor, now);
}

static void hold(struct agent *agent, const char *why)
{
	if (streq(agent->folder_hold, why))
		return;
	replace_str(&agent->folder_hold, why);
	note_file(agent, "manifests", "RemovalHeld", why);
}

static void release(struct agent *agent)
{
	if (agent->folder_hold)
		log_text(LOG_LEVEL_NOTICE, "manifest folder: nothing is held any more");
	free(take(&agent->folder_hold));
}

static bool object_lives(const struct agent *agent, const struct origin *o)
{
	struct target t = target_find(agent, o->kind, o->ns, o->name);

	return t.meta && !t.meta->deleted && streq(t.meta->uid, o->uid);
}

/* Rows of files that are gone go too when there is nothing left that they had declared. */
static void drop_spent(struct agent *agent)
{
	for (size_t i = 0; i < agent->origins.n; i++) {
		struct origin *o = agent->origins.list[i];

		if (o->gone && !o->removed && !object_lives(agent, o))
			origin_remove(agent, o);
	}
}

/*
 * Few removals are believed; most of the folder, or all of it at a first look, is held: until every
 * file is back or its object deleted by command, for files come back one by one. Durable.
 */
static bool removals_are_held(struct agent *agent, const struct folder_input *in)
{
	size_t live = 0, gone = 0;
	bool held;

	for (size_t i = 0; i < agent->origins.n; i++) {
		const struct origin *o = agent->origins.list[i];

		live += o->state == PROVENANCE_LIVE && !o->removed;
		gone += o->state == PROVENANCE_LIVE && !o->removed && o->gone;
	}
	held = gone &&
		(agent->origins.held || (gone >= MASS_REMOVAL_MIN && gone * 2 > live) ||
			(in->complete && in->n_files == 0));
	agent->origins.changed |= held != agent->origins.held;
	agent->origins.held = held;
	if (held) {
		autofree char *why =
			xasprintf("%zu of %zu manifests are gone at once; nothing is deleted for it: bring "
				  "the files back, or delete the machines with vmactl",
				gone, live);

		hold(agent, why);
	}
	return held;
}

static void settle_removals(struct agent *agent, const struct folder_input *in, struct now now)
{
	drop_spent(agent);
	if (removals_are_held(agent, in))
		return;
	release(agent);
	for (size_t i = 0; i < agent->origins.n; i++) {
		if (agent->origins.list[i]->gone && !agent->origins.list[i]->removed)
			remove_object(agent, agent->origins.list[i], now);
	}
}

void input_folder(struct agent *agent, const struct input *input, struct now now)
{
	const struct folder_input *in = &input->folder;

	if (in->missing) {
		autofree char *why =
			xasprintf("the manifest folder cannot be read (%s); nothing is deleted for it",
				in->why ? in->why : "unknown reason");

		hold(agent, why);
		return;
	}
	agent->folder_seen |= in->complete;
	if (in->complete)
		mark_absent(agent, in);
	fold_files(agent, in, now);
	settle_removals(agent, in, now);
}

/* ---- objects that are gone ------------------------------------------------------------------- */

void folder_forgotten(struct agent *agent, enum object_kind kind, const struct object_meta *meta,
	struct now now)
{
	struct origin *o = origins_find(agent, kind, meta->ns, meta->name);

	if (!o || o->removed || o->gone || o->state != PROVENANCE_LIVE || streq(o->uid, meta->uid))
		return;

	autofree char *base = take(&o->base), *name = xstrdup(o->file);
	struct file f = { .agent = agent, .name = name, .now = now };

	file_apply_text(&f, base);
	file_done(&f);
}
