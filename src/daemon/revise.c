/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that change an object's content: replace and patch. A patch is applied to the object
 * as it is in the model at that moment, so that two that arrive together both hold. A dry run
 * shows what would be.
 */
#include "core/codec.h"
#include "core/edit.h"
#include "daemon/agent_private.h"

struct revision {
	struct agent *agent;
	const struct request *request;
	struct target target;
	char *preview;             /* owned: what a dry run answers */
	struct findings *findings; /* owned or NULL: what is wrong with the patched object */
	char *warnings;            /* owned or NULL: what of the new object has no effect */
};

static int revise(struct revision *r, const struct manifest *manifest, struct err *err)
{
	r->warnings = agent_warnings(r->agent, manifest);
	if (!r->request->dry_run)
		return agent_replace_object(r->agent, &r->target, manifest->root, err);
	r->preview = agent_preview_object(r->agent, &r->target, manifest->root, err);
	return r->preview ? 0 : -(int)err->code;
}

static int replace(struct revision *r, struct err *err)
{
	int ret = request_check(r->request, &r->target, err);

	return ret < 0 ? ret : revise(r, r->request->manifest, err);
}

/* ---- patch ----------------------------------------------------------------------------------- */

/* The whole document as a client sees it, so that a patch may test and name every part of it. */
static struct node *document_tree(const struct revision *r)
{
	autofree char *text = agent_object_document(r->agent, &r->target);

	return text_tree(text);
}

static int check_same(const struct node *before, const struct node *after, const char *field,
	struct err *err)
{
	const char *old = node_text(before, field), *new = node_text(after, field);

	if (streq(old, new))
		return 0;
	return err_set(err, ERR_INVALID, "%s cannot be changed: it is '%s'", field, old);
}

/* What a patch says of identity must be true; its resourceVersion is a precondition. */
static int check_identity(const struct node *before, const struct node *after, struct err *err)
{
	static const char *const fields[] = { "kind", "metadata.name", "metadata.namespace",
		"metadata.uid" };
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields) && rc == 0; i++)
		rc = check_same(before, after, fields[i], err);
	if (rc == 0 && node_at(after, "metadata.resourceVersion") &&
		check_same(before, after, "metadata.resourceVersion", err) < 0)
		rc = err_set(err, ERR_CONFLICT,
			"'%s' has been modified meanwhile; read it again and repeat the change",
			node_text(before, "metadata.name"));
	return rc;
}

static int check_patched(struct revision *r, const struct node *tree, struct manifest *ret,
	struct err *err)
{
	int rc;

	r->findings = xcalloc(1, sizeof(*r->findings));
	rc = manifest_check(tree, &r->agent->options->policy, ret, r->findings);
	if (rc < 0)
		err_set(err, ERR_INVALID, "%s: %s", r->findings->list[0].field,
			r->findings->list[0].message);
	return rc;
}

static int apply(struct revision *r, struct manifest *ret, struct err *err)
{
	const struct request *request = r->request;
	struct node *before = document_tree(r);
	struct node *after = node_copy(before);
	int rc = patch_apply(request->patch_kind, request->patch, &after, err);

	if (rc == 0)
		rc = check_identity(before, after, err);
	if (r->target.kind == KIND_VMI)
		vmi_labels_strip(after, before);
	if (rc == 0)
		rc = check_patched(r, after, ret, err);
	node_free(before);
	node_free(after);
	return rc;
}

static int patch(struct revision *r, struct err *err)
{
	struct manifest manifest = { 0 };
	int ret = apply(r, &manifest, err);

	if (ret == 0)
		ret = revise(r, &manifest, err);
	manifest_done(&manifest);
	return ret;
}

/* ---- both ------------------------------------------------------------------------------------ */

static void input_revision(struct agent *agent, const struct request *request,
	int (*change)(struct revision *r, struct err *err))
{
	struct revision r = { .agent = agent, .request = request };
	struct err err = { 0 };

	if (request_is_unsaved(agent, request))
		return;
	if (request_find(agent, request, &r.target, &err) == 0)
		change(&r, &err);
	request_note(agent, request, NULL, "change", &err);
	agent_answer(agent, request, &err, err.code == ERR_OK ? r.warnings : NULL);
	free(r.warnings);
	agent->replies[agent->n_replies - 1].object = r.preview;
	agent->replies[agent->n_replies - 1].findings = r.findings;
}

void input_replace(struct agent *agent, const struct input *input, struct now now)
{
	(void)now;
	input_revision(agent, &input->request, replace);
}

void input_patch(struct agent *agent, const struct input *input, struct now now)
{
	(void)now;
	input_revision(agent, &input->request, patch);
}
