/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Create, replace and delete: a request is checked as far as it can be without the model, then
 * handed to the agent, which answers after its commit.
 */
#include <string.h>
#include <sys/random.h>

#include "core/codec.h"
#include "daemon/api/body.h"
#include "daemon/api/reply.h"
#include "daemon/api/selection.h"
#include "daemon/api/write_options.h"

/* ---- create and replace ---------------------------------------------------------------------- */

static int check_kind(const struct call *call, const struct node *doc, struct err *err)
{
	const char *want = object_kind_name(call->path.kind), *kind = node_text(doc, "kind");

	if (!doc || doc->kind != NODE_MAP)
		return err_set(err, ERR_BAD_REQUEST, "the body is no object: send a %s", want);
	if (!kind || !streq(kind, want))
		return err_set(err, ERR_BAD_REQUEST,
			"the body is of kind '%s', the path is for kind '%s'", kind ? kind : "",
			want);
	return 0;
}

/* What body and path both say must agree; what only the path says is filled in. */
static int agree(struct node *doc, const char *field, const char *path, struct err *err)
{
	const struct node *value = node_at(doc, field);
	const char *text = node_text(doc, field);

	if (!value || value->kind == NODE_NULL || streq(text, ""))
		node_set_path(doc, field, node_new(NODE_STRING, path));
	else if (!streq(text, path))
		return err_set(err, ERR_BAD_REQUEST,
			"the object's %s '%s' does not match '%s' in the path", field,
			text ? text : "", path);
	return 0;
}

static int check_names(const struct call *call, struct node *doc, struct err *err)
{
	const struct node *metadata = node_get(doc, "metadata");
	int rc;

	if (metadata && metadata->kind != NODE_MAP)
		return err_set(err, ERR_BAD_REQUEST, "metadata must be a map");
	rc = *call->path.ns ? agree(doc, "metadata.namespace", call->path.ns, err) : 0;
	if (!rc && *call->path.name)
		rc = agree(doc, "metadata.name", call->path.name, err);
	return rc;
}

/* A resourceVersion at path; *ret stays when there is none. */
static int read_rv(const struct node *doc, const char *path, int64_t *ret, struct err *err)
{
	const char *text = node_text(doc, path);
	char *end;

	if (!text || !*text)
		return 0;
	*ret = strtoll(text, &end, 10);
	if (*end || *ret <= 0)
		return err_set(err, ERR_BAD_REQUEST, "%s '%s' is not one", path, text);
	return 0;
}

#define SUFFIX_LEN 5

/* As Kubernetes makes a name: the letters and digits are those that spell no words. */
static void generate_name(struct node *doc)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	const char *base = node_text(doc, "metadata.generateName");
	const char *name = node_text(doc, "metadata.name");
	unsigned char random[SUFFIX_LEN];
	autofree char *made = NULL;

	if (!base || !*base || (name && *name))
		return;
	made = xasprintf("%.*s%*s", NAME_MAX_LEN - SUFFIX_LEN, base, SUFFIX_LEN, "");
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		abort();
	for (size_t i = 0; i < SUFFIX_LEN; i++)
		made[strlen(made) - SUFFIX_LEN + i] = letters[random[i] % (sizeof(letters) - 1)];
	node_set_path(doc, "metadata.name", node_new(NODE_STRING, made));
	node_remove(node_get(doc, "metadata"), "generateName");
}

static void submit_manifest(const struct call *call, const struct node *doc,
	struct request *request, enum input_kind kind)
{
	struct findings findings = { 0 };
	struct manifest manifest = { 0 };

	if (manifest_check(doc, call->api->options.policy, &manifest, &findings)) {
		reply_findings(call, &findings, node_text(doc, "metadata.name"));
	} else {
		request->manifest = &manifest;
		request->name = manifest.name;
		request_submit(call, kind, request, kind == INPUT_CREATE ? 201 : 200);
		manifest_done(&manifest);
	}
	findings_done(&findings);
}

static void write_object(const struct call *call, enum input_kind kind)
{
	const char *options = kind == INPUT_CREATE ? "CreateOptions" : "UpdateOptions";
	struct request request = request_of(call);
	struct node *doc = NULL;
	struct err err;

	if (!write_options_of(call, options, &request.dry_run))
		return;
	if (body_parse(call, &doc, &err) || check_kind(call, doc, &err) ||
		check_names(call, doc, &err) ||
		(kind == INPUT_REPLACE &&
			read_rv(doc, "metadata.resourceVersion", &request.if_rv, &err))) {
		reply_error(call, &err);
		node_free(doc);
		return;
	}
	if (kind == INPUT_CREATE)
		generate_name(doc);
	else if (call->path.kind == KIND_VMI)
		vmi_labels_strip(doc, NULL); /* it was read with them */
	submit_manifest(call, doc, &request, kind);
	node_free(doc);
}

void object_create(const struct call *call)
{
	write_object(call, INPUT_CREATE);
}

void object_replace(const struct call *call)
{
	write_object(call, INPUT_REPLACE);
}

/* ---- patch ----------------------------------------------------------------------------------- */

void object_patch(const struct call *call)
{
	struct request request = request_of(call);
	struct node *patch = NULL;
	struct err err;

	if (body_parse_patch(call, &request.patch_kind, &patch, &err)) {
		reply_error(call, &err);
	} else if (write_options_of(call, "PatchOptions", &request.dry_run)) {
		request.patch = patch;
		request_submit(call, INPUT_PATCH, &request, 200);
	}
	node_free(patch);
}

/* ---- delete ---------------------------------------------------------------------------------- */

static bool is_given(const struct node *node)
{
	return node && node->kind != NODE_NULL;
}

/* The old spelling, orphanDependents; *ret_has: it is there. */
static int read_orphan(const struct call *call, const struct node *options, bool *ret_has,
	bool *ret, struct err *err)
{
	*ret = false;
	*ret_has = is_given(node_get(options, "orphanDependents"));
	if (*ret_has)
		return option_bool(options, "orphanDependents", ret, err);
	*ret_has = http_query(call->request, "orphanDependents") != NULL;
	*ret = query_bool(call, "orphanDependents");
	return 0;
}

/* Clients say it in the body or in the query; the body's word holds. */
static int read_propagation(const struct call *call, const struct node *options,
	enum propagation *ret, struct err *err)
{
	bool in_body = is_given(node_get(options, "propagationPolicy")), has_old, orphan;
	const char *policy = in_body ? node_text(options, "propagationPolicy")
				     : http_query(call->request, "propagationPolicy");
	bool has = in_body || (policy && *policy);

	if (read_orphan(call, options, &has_old, &orphan, err))
		return -(int)err->code;
	if (has && has_old)
		return err_set(err, ERR_BAD_REQUEST,
			"propagationPolicy and orphanDependents cannot both be given");
	*ret = orphan ? PROPAGATION_ORPHAN : PROPAGATION_BACKGROUND;
	if (!has || (policy && propagation_parse(policy, ret)))
		return 0;
	return err_set(err, ERR_BAD_REQUEST,
		"propagationPolicy '%.100s' is unknown: it is Background, Foreground or Orphan",
		policy ? policy : "");
}

int delete_options_read(const struct call *call, const struct node *options,
	struct request *request, struct err *err)
{
	bool has = false;
	int rc;

	if (options && options->kind != NODE_MAP)
		return err_set(err, ERR_BAD_REQUEST, "the body is no DeleteOptions object");
	if ((rc = query_int(call, "gracePeriodSeconds", &request->grace, err)) ||
		(rc = option_int(options, "gracePeriodSeconds", &has, &request->grace, err)) ||
		(rc = query_dry_run(call, &request->dry_run, err)) ||
		(rc = option_dry_run(options, &request->dry_run, err)))
		return rc;
	if (request->grace < GRACE_UNSET || (has && request->grace < 0))
		return err_set(err, ERR_BAD_REQUEST, "gracePeriodSeconds must not be negative");
	if (request->grace > GRACE_FOREVER_S)
		return err_set(err, ERR_BAD_REQUEST,
			"gracePeriodSeconds must not be over %d, which is for ever",
			GRACE_FOREVER_S);
	if ((rc = read_rv(options, "preconditions.resourceVersion", &request->if_rv, err)))
		return rc;
	request->if_uid = node_text(options, "preconditions.uid");
	return read_propagation(call, options, &request->propagation, err);
}

void object_delete(const struct call *call)
{
	struct request request = request_of(call);
	struct node *options = NULL;
	struct err err;

	if (body_parse(call, &options, &err) || delete_options_read(call, options, &request, &err))
		reply_error(call, &err);
	else
		request_submit(call, INPUT_DELETE, &request, 200);
	node_free(options);
}
