/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a manifest file declares, merged three-way into the objects. A file that is bad,
 * empty or unreadable changes nothing, but says where and why (design §5). What is deleted
 * is not decided here.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/folder.h"
#include "daemon/migration_objects.h"

#define CONFIGURATION_KIND "AgentConfiguration" /* of the agent itself: read by config.c */

static struct actor file_actor(const char *name)
{
	return (struct actor){ .kind = ACTOR_FILE, .file = name };
}

static bool is_declared_by(const struct origin *o, const char *file)
{
	return !o->removed && streq(o->file, file);
}

/* ---- rejection ------------------------------------------------------------------------------- */

static void set_manifest_error(struct agent *agent, const char *file, const char *error)
{
	for (size_t i = 0; i < agent->origins.n; i++) {
		struct origin *o = agent->origins.list[i];
		struct machine *m;

		if (!is_declared_by(o, file) || o->kind != KIND_VM)
			continue;
		m = machines_find(&agent->machines, o->ns, o->name);
		if (!m || !m->vm || streq(m->vm->manifest_error, error))
			continue;
		replace_str(&m->vm->manifest_error, error);
		m->vm_changed = true;
		agent_mark(agent, m);
	}
}

void note_file(struct agent *agent, const char *name, const char *reason, const char *text)
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

/* ---- parsing --------------------------------------------------------------------------------- */

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

/* ---- applying -------------------------------------------------------------------------------- */

static int apply_merged(struct file *f, const struct target *t, const struct node *merged,
	struct err *err)
{
	struct findings findings = { 0 };
	struct manifest checked;
	int ret;

	if (manifest_check(merged, &f->agent->options->policy, &checked, &findings) < 0) {
		autofree char *text = findings_text(&findings, f->name);

		ret = err_set(err, ERR_INVALID, "merged with what is stored: %s", text);
	} else {
		ret = agent_replace_object(f->agent, t, checked.root, err);
		manifest_done(&checked);
	}
	findings_done(&findings);
	return ret;
}

/* base: what the file said before; theirs: what it says now; ours: what is stored. */
static int apply_change(struct file *f, const struct target *t, const struct manifest *manifest,
	const char *base, struct err *err)
{
	struct documents docs = { 0 };
	struct node *ours = agent_object_tree(t);
	struct node *merged;
	struct place place;
	int ret;

	if (base)
		nodes_parse(base, strlen(base), &docs, &place, NULL);
	merged = merge_three(docs.n ? docs.roots[0] : NULL, manifest->root, ours);
	ret = apply_merged(f, t, merged, err);
	documents_done(&docs);
	node_free(ours);
	node_free(merged);
	return ret;
}

static struct target find(const struct file *f, const struct manifest *manifest)
{
	return target_find(f->agent, manifest->kind, manifest->ns, manifest->name);
}

static void note_applied(struct file *f, const struct manifest *manifest)
{
	struct target t = find(f, manifest);
	struct happening what = { .actor = file_actor(f->name) };
	autofree char *warnings = agent_warnings(f->agent, manifest);

	happen(&what, manifest->kind, "ManifestApplied", "manifest applied%s%.400s",
		warnings ? "; " : "", warnings ? warnings : "");
	agent_note(f->agent, t.meta, &what);
	if (manifest->kind == KIND_VM)
		replace_str(&t.m->vm->manifest_file, f->name);
}

/* A run that a VM began is not a file's to change; one that the file declared and a
 * VM adopted still is. */
static bool is_run_of_vm(const struct file *f, const struct manifest *manifest,
	const struct origin *o)
{
	struct machine *m = machines_find(&f->agent->machines, manifest->ns, manifest->name);

	return manifest->kind == KIND_VMI && m && m->vmi && m->vmi->owner[0] &&
		!(o && streq(o->uid, m->vmi->meta.uid));
}

static int apply_object(struct file *f, const struct manifest *manifest, const char *base,
	struct err *err)
{
	struct target t = find(f, manifest);

	if (t.g && migration_object_is_spent(t.g, manifest->root))
		migration_remove(f->agent, t.g);
	else if (t.meta)
		return apply_change(f, &t, manifest, base, err);
	return agent_create_object(f->agent, manifest, NULL, f->now, err);
}

static bool is_being_deleted(const struct file *f, const struct manifest *manifest)
{
	struct target t = find(f, manifest);

	return t.meta && t.meta->deleted;
}

static const char *object_uid(const struct file *f, const struct manifest *manifest)
{
	return find(f, manifest).meta->uid;
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

/* Its home is another host now: what the file says of it is to be said there. */
static int moved_away(const struct file *f, const struct manifest *manifest, struct err *err)
{
	const char *peer = migrations_moved_to(f->agent, manifest->ns, manifest->name);

	return err_set(err, ERR_CONFLICT,
		"it has moved to '%s': change it there, or remove it from the file",
		peer ? peer : "another host");
}

/* An order is carried out once for each content of its file, or refused once. */
static int apply_order(struct file *f, const struct manifest *manifest, const char *base,
	const char *text, struct err *err)
{
	int ret = apply_object(f, manifest, base, err);
	struct origin *o = origins_get(f->agent, f->name, manifest);

	if (ret == 0)
		note_applied(f, manifest);
	origin_set(f->agent, o, text, ret < 0 ? "" : object_uid(f, manifest));
	o->state = PROVENANCE_DONE;
	return ret < 0 ? err_wrap(err,
				 "refused, and not tried again until the file says "
				 "something else")
		       : 0;
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
	if (known && o->state == PROVENANCE_MOVED)
		return moved_away(f, manifest, err);
	if (object_kind_home(manifest->kind) == HOME_ORDER)
		return apply_order(f, manifest, known ? o->base : NULL, text, err);
	if (is_run_of_vm(f, manifest, known ? o : NULL))
		return err_set(err, ERR_CONFLICT,
			"it is the run of the VirtualMachine of that name; delete that first");
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

void file_apply(struct file *f)
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

void file_done(struct file *f)
{
	for (size_t i = 0; i < f->n; i++)
		manifest_done(&f->manifests[i]);
	free(f->manifests);
	buf_done(&f->errors);
}

void file_read(struct file *f, const struct folder_doc_file *in)
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

void file_apply_text(struct file *f, const char *text)
{
	struct folder_doc_file again = { .name = f->name, .content = text, .len = strlen(text) };
	struct err err;

	if (!parse_file(f, &again))
		reject_file(f->agent, f->name, f->errors.data);
	else if (apply_manifest(f, &f->manifests[0], &err) < 0)
		reject_file(f->agent, f->name, err.msg);
}
