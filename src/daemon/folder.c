/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fold of the manifest folder: what files declare is merged three-way into the objects. A file that
 * is bad, empty or unreadable changes nothing but says where and why; what vanishes is deleted
 * gracefully, unless so much vanishes at once that it must be a mistake (design §5).
 */
#include <stdio.h>
#include <string.h>

#include "daemon/agent_private.h"

#define MASS_REMOVAL_MIN   3                    /* fewer removals at once are always believed */
#define CONFIGURATION_KIND "AgentConfiguration" /* of the agent itself: read by config.c */

struct file { /* one manifest file in the fold */
	struct agent *agent;
	const char *name;
	struct now now;
	bool good;                  /* its manifests are to be applied */
	struct manifest *manifests; /* owned */
	size_t n, cap;
	struct buf errors;
};

static struct actor file_actor(const char *name)
{
	return (struct actor){ .kind = ACTOR_FILE, .file = name };
}

static bool is_declared_by(const struct origin *o, const char *file)
{
	return !o->removed && streq(o->file, file);
}

/* ---- rejection --------------------------------------------------------------------------------- */

static void set_manifest_error(struct agent *agent, const char *file, const char *error)
{
	for (size_t i = 0; i < agent->origins.n; i++) {
		struct origin *o = agent->origins.list[i];
		struct machine *m = machines_find(&agent->machines, o->ns, o->name);

		if (!is_declared_by(o, file) || o->kind != KIND_VM || !m || !m->vm)
			continue;
		if (streq(m->vm->manifest_error, error))
			continue;
		replace_str(&m->vm->manifest_error, error);
		m->vm_changed = true;
		agent_mark(agent, m);
	}
}

static void note_file(struct agent *agent, const char *name, const char *reason, const char *text)
{
	struct happening what = { .warning = true };
	struct object_meta object = { .ns = (char *)agent->options->policy.default_namespace,
		.name = (char *)name };

	happen(&what, KIND_FILE, reason, "%s", text);
	agent_note(agent, &object, &what);
}

static void reject_file(struct agent *agent, const char *name, const char *text)
{
	size_t len = strlen(text);
	autofree char *error = xstrndup(text, len && text[len - 1] == '\n' ? len - 1 : len);

	set_manifest_error(agent, name, error);
	note_file(agent, name, "ManifestRejected", error);
}

/* ---- parsing ------------------------------------------------------------------------------------ */

static bool is_configuration(const struct node *root)
{
	return streq(node_text(root, "kind"), CONFIGURATION_KIND);
}

static bool is_declared_twice(const struct file *f, const struct manifest *manifest)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->manifests[i].kind == manifest->kind &&
			streq(f->manifests[i].ns, manifest->ns) &&
			streq(f->manifests[i].name, manifest->name))
			return true;
	}
	return false;
}

static void parse_document(struct file *f, const struct node *root)
{
	struct findings findings = { 0 };
	struct manifest manifest;

	if (manifest_check(root, &f->agent->options->policy, &manifest, &findings) < 0) {
		autofree char *text = findings_text(&findings, f->name);

		buf_puts(&f->errors, text);
	} else {
		if (is_declared_twice(f, &manifest))
			buf_printf(&f->errors, "%s: %s '%s/%s' is declared twice\n", f->name,
				object_kind_name(manifest.kind), manifest.ns, manifest.name);
		*LIST_ADD(f->manifests, f->n, f->cap) = manifest;
	}
	findings_done(&findings);
}

/* True if there is a manifest to apply or nothing to say; otherwise f->errors says why not. */
static bool parse_file(struct file *f, const struct folder_doc_file *in)
{
	struct documents docs = { 0 };
	struct err err;
	struct place place;
	bool other = false;

	if (nodes_parse(in->content, in->len, &docs, &place, &err) < 0)
		buf_printf(&f->errors, "%s:%d:%d: %s\n", f->name, place.line, place.column,
			err.msg);
	for (size_t i = 0; i < docs.n; i++) {
		if (is_configuration(docs.roots[i]))
			other = true;
		else
			parse_document(f, docs.roots[i]);
	}
	documents_done(&docs);
	if (f->n == 0 && !f->errors.len && !other)
		buf_printf(&f->errors,
			"%s: holds no object; remove the file to delete what it declared", f->name);
	return !f->errors.len;
}

/* ---- applying ------------------------------------------------------------------------------------ */

static int apply_merged(struct file *f, struct machine *m, const struct manifest *theirs,
	const struct node *merged, struct err *err)
{
	struct findings findings = { 0 };
	struct manifest checked;
	int ret;

	if (manifest_check(merged, &f->agent->options->policy, &checked, &findings) < 0) {
		autofree char *text = findings_text(&findings, f->name);

		ret = err_set(err, ERR_INVALID, "merged with what is stored: %s", text);
	} else {
		ret = agent_replace_object(f->agent, m, theirs->kind, checked.root, err);
		manifest_done(&checked);
	}
	findings_done(&findings);
	return ret;
}

/* base: what the file said before; theirs: what it says now; ours: what is stored. */
static int apply_change(struct file *f, struct machine *m, const struct manifest *manifest,
	const char *base, struct err *err)
{
	struct documents docs = { 0 };
	struct node *ours = agent_object_tree(m, manifest->kind);
	struct node *merged;
	struct place place;
	int ret;

	if (base)
		nodes_parse(base, strlen(base), &docs, &place, NULL);
	merged = merge_three(docs.n ? docs.roots[0] : NULL, manifest->root, ours);
	ret = apply_merged(f, m, manifest, merged, err);
	documents_done(&docs);
	node_free(ours);
	node_free(merged);
	return ret;
}

static void note_applied(struct file *f, const struct manifest *manifest)
{
	struct machine *m = machines_find(&f->agent->machines, manifest->ns, manifest->name);
	struct happening what = { .actor = file_actor(f->name) };

	happen(&what, manifest->kind, "ManifestApplied", "manifest applied");
	agent_note(f->agent, machine_meta(m, manifest->kind), &what);
	if (manifest->kind == KIND_VM)
		replace_str(&m->vm->manifest_file, f->name);
}

static int apply_object(struct file *f, const struct manifest *manifest, const char *base,
	struct err *err)
{
	struct machine *m = machines_find(&f->agent->machines, manifest->ns, manifest->name);

	if (machine_meta(m, manifest->kind))
		return apply_change(f, m, manifest, base, err);
	return agent_create_object(f->agent, manifest, f->now, err);
}

static bool is_being_deleted(const struct file *f, const struct manifest *manifest)
{
	struct machine *m = machines_find(&f->agent->machines, manifest->ns, manifest->name);
	const struct object_meta *meta = machine_meta(m, manifest->kind);

	return meta && meta->deleted;
}

static const char *object_uid(const struct file *f, const struct manifest *manifest)
{
	struct machine *m = machines_find(&f->agent->machines, manifest->ns, manifest->name);

	return machine_meta(m, manifest->kind)->uid;
}

/* The content is that of before; the file may have another name now. */
static int keep_manifest(struct file *f, const struct manifest *manifest, const char *file_was)
{
	struct machine *m = machines_find(&f->agent->machines, manifest->ns, manifest->name);

	origins_get(f->agent, f->name, manifest);
	if (streq(file_was, f->name) || manifest->kind != KIND_VM || !m || !m->vm)
		return 0;
	replace_str(&m->vm->manifest_file, f->name);
	m->vm_changed = true;
	agent_mark(f->agent, m);
	return 0;
}

/* What a file declares of an object that is still going is created when it is gone. */
static int apply_manifest(struct file *f, const struct manifest *manifest, struct err *err)
{
	struct origin *o = origins_find(f->agent, manifest->kind, manifest->ns, manifest->name);
	bool known = o && !o->removed;
	autofree char *text = node_json(manifest->root);
	int ret;

	if (known && !o->gone && !streq(o->file, f->name))
		return err_set(err, ERR_CONFLICT, "file '%s' declares it already", o->file);
	if (known && streq(o->base, text)) {
		autofree char *file_was = xstrdup(o->file);

		return keep_manifest(f, manifest, file_was);
	}
	if (is_being_deleted(f, manifest)) {
		origin_set(f->agent, origins_get(f->agent, f->name, manifest), text, "");
		return 0;
	}
	ret = apply_object(f, manifest, known ? o->base : NULL, err);
	if (ret < 0)
		return ret;
	note_applied(f, manifest);
	origin_set(f->agent, origins_get(f->agent, f->name, manifest), text,
		object_uid(f, manifest));
	return 0;
}

static bool file_declares(const struct file *f, const struct origin *o)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->manifests[i].kind == o->kind && streq(f->manifests[i].ns, o->ns) &&
			streq(f->manifests[i].name, o->name))
			return true;
	}
	return false;
}

static void mark_gone(struct agent *agent, const struct file *f, const char *file)
{
	for (size_t i = 0; i < agent->origins.n; i++) {
		struct origin *o = agent->origins.list[i];

		if (is_declared_by(o, file) && (!f || !file_declares(f, o)))
			o->gone = true;
	}
}

static void apply_file(struct file *f)
{
	bool applied = true;
	struct err err;

	for (size_t i = 0; i < f->n; i++) {
		if (apply_manifest(f, &f->manifests[i], &err) == 0)
			continue;
		autofree char *text = xasprintf("%s: %s '%s': %s", f->name,
			object_kind_name(f->manifests[i].kind), f->manifests[i].name, err.msg);

		reject_file(f->agent, f->name, text);
		applied = false;
	}
	if (applied)
		set_manifest_error(f->agent, f->name, NULL);
}

static void file_done(struct file *f)
{
	for (size_t i = 0; i < f->n; i++)
		manifest_done(&f->manifests[i]);
	free(f->manifests);
	buf_done(&f->errors);
}

static void read_file(struct file *f, const struct folder_doc_file *in)
{
	if (in->err) {
		autofree char *text = xasprintf("%s: %s", in->name, in->err->msg);

		reject_file(f->agent, in->name, text);
	} else if (!in->content) {
		mark_gone(f->agent, NULL, in->name);
	} else if (parse_file(f, in)) {
		mark_gone(f->agent, f, in->name);
		f->good = true;
	} else {
		reject_file(f->agent, in->name, f->errors.data);
	}
}

/* First what files hold no more, then what they hold: an object may move from one to another. */
static void fold_files(struct agent *agent, const struct folder_input *in, struct now now)
{
	struct file *files = xcalloc(MAX(in->n_files, 1), sizeof(*files));

	for (size_t i = 0; i < in->n_files; i++) {
		files[i] = (struct file){ .agent = agent, .name = in->files[i].name, .now = now };
		read_file(&files[i], &in->files[i]);
	}
	for (size_t i = 0; i < in->n_files; i++) {
		if (files[i].good)
			apply_file(&files[i]);
		file_done(&files[i]);
	}
	free(files);
}

/* ---- removals ------------------------------------------------------------------------------------ */

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
	struct machine *m = machines_find(&agent->machines, o->ns, o->name);
	const struct object_meta *meta = machine_meta(m, o->kind);
	struct happening what = { .actor = file_actor(o->file) };

	origin_remove(agent, o);
	if (o->kind == KIND_VM)
		vm_delete(m, now);
	else
		vmi_delete(m, now);
	happen(&what, o->kind, "DeleteRequested", "its manifest is gone: deleting");
	agent_note(agent, meta, &what);
	agent_mark(agent, m);
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
	struct machine *m = machines_find(&agent->machines, o->ns, o->name);
	const struct object_meta *meta = machine_meta(m, o->kind);

	return meta && !meta->deleted && streq(meta->uid, o->uid);
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

/* ---- objects that are gone ------------------------------------------------------------------------ */

void folder_forgotten(struct agent *agent, enum object_kind kind, const struct object_meta *meta,
	struct now now)
{
	struct origin *o = origins_find(agent, kind, meta->ns, meta->name);

	if (!o || o->removed || o->gone || o->state != PROVENANCE_LIVE || streq(o->uid, meta->uid))
		return;

	autofree char *base = take(&o->base), *name = xstrdup(o->file);
	struct file f = { .agent = agent, .name = name, .now = now };
	struct folder_doc_file again = { .name = name, .content = base, .len = strlen(base) };
	struct err err;

	if (!parse_file(&f, &again))
		reject_file(agent, name, f.errors.data);
	else if (apply_manifest(&f, &f.manifests[0], &err) < 0)
		reject_file(agent, name, err.msg);
	file_done(&f);
}
