/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads request bodies through the same parser as manifest files.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "core/protobuf.h"
#include "daemon/api/body.h"

static bool type_is(const char *header, const char *type)
{
	size_t len = strcspn(header, "; ");

	return strlen(type) == len && strncasecmp(header, type, len) == 0;
}

/* curl says x-www-form-urlencoded when told nothing, so that is no statement. */
static bool type_is_readable(const char *header)
{
	static const char *const types[] = { "application/json", "application/yaml",
		"application/x-yaml", "text/yaml", "application/x-www-form-urlencoded" };

	if (!header)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (type_is(header, types[i]))
			return true;
	return false;
}

static int parse_one(const struct http_request *request, struct node **ret, struct err *err)
{
	struct documents docs = { 0 };
	struct place place;
	int rc;

	rc = nodes_parse(request->body, request->body_len, &docs, &place, err);
	if (rc)
		return place.line ? err_wrap(err, "line %d, column %d", place.line, place.column)
				  : rc;
	if (docs.n > 1)
		rc = err_set(err, ERR_BAD_REQUEST,
			"the body has %zu documents, send one object per request", docs.n);
	else
		*ret = docs.n ? take(&docs.roots[0]) : NULL;
	documents_done(&docs);
	return rc;
}

int body_parse(const struct call *call, struct node **ret, struct err *err)
{
	const char *type = http_header(call->request, "Content-Type");

	*ret = NULL;
	if (call->request->body_len == 0)
		return 0;
	if (type && type_is(type, PROTOBUF_TYPE))
		return protobuf_parse(call->request->body, call->request->body_len, ret, err);
	if (!type_is_readable(type))
		return err_set(err, ERR_MEDIA_TYPE,
			"the body is of type '%s', send application/json or application/yaml",
			type);
	return parse_one(call->request, ret, err);
}

static const char *const patch_types[] = {
#define X(c, type) [PATCH_##c] = type,
	PATCHES(X)
#undef X
};

/* What its sender is to do instead, of the kinds that people come upon. */
static const char *patch_advice(const char *type)
{
	if (type_is(type, "application/apply-patch+yaml") ||
		type_is(type, "application/apply-patch+cbor"))
		return "server-side apply is not served, use 'kubectl apply' without --server-side; ";
	if (type_is(type, "application/strategic-merge-patch+json"))
		return "strategic merge patches are for Kubernetes' own kinds, use 'kubectl patch "
		       "--type merge'; ";
	return "";
}

/* As with a kind that a CustomResourceDefinition makes: strategic merging is for Kubernetes'
 * own. */
static bool is_taken(const struct call *call, enum patch_kind kind)
{
	return kind != PATCH_STRATEGIC || !*call->path.group->name;
}

static int unknown_patch(const struct call *call, const char *type, struct err *err)
{
	struct buf known = { 0 };

	for (int i = 0; i < PATCH_KIND_MAX; i++)
		if (is_taken(call, i))
			buf_printf(&known, "%s%s", i ? ", " : "", patch_types[i]);
	err_set(err, ERR_MEDIA_TYPE,
		"%sthe body of the request was in an unknown format ('%.100s') - accepted media "
		"types include: %s",
		patch_advice(type), type, known.data);
	buf_done(&known);
	return -ERR_MEDIA_TYPE;
}

int body_parse_patch(const struct call *call, enum patch_kind *ret_kind, struct node **ret,
	struct err *err)
{
	const char *type = http_header(call->request, "Content-Type");
	size_t kind = 0;
	int rc;

	*ret = NULL;
	while (kind < PATCH_KIND_MAX && (!type || !type_is(type, patch_types[kind])))
		kind++;
	if (kind == PATCH_KIND_MAX || !is_taken(call, (enum patch_kind)kind))
		return unknown_patch(call, type ? type : "", err);
	*ret_kind = (enum patch_kind)kind;
	rc = parse_one(call->request, ret, err);
	if (rc == 0 && !*ret)
		rc = err_set(err, ERR_BAD_REQUEST, "the body is empty: send a patch");
	return rc;
}

int option_bool(const struct node *options, const char *key, bool *ret, struct err *err)
{
	const struct node *value = node_get(options, key);

	if (!value || value->kind == NODE_NULL)
		return 0;
	if (value->kind != NODE_BOOL)
		return err_set(err, ERR_BAD_REQUEST, "option %s must be true or false", key);
	*ret = streq(value->text, "true");
	return 0;
}

int option_int(const struct node *options, const char *key, bool *ret_has, int64_t *ret,
	struct err *err)
{
	const struct node *value = node_get(options, key);
	long long number;
	char *end;

	if (!value || value->kind == NODE_NULL)
		return 0;
	errno = 0;
	number = value->kind == NODE_NUMBER ? strtoll(value->text, &end, 10) : 0;
	if (value->kind != NODE_NUMBER || *end || errno)
		return err_set(err, ERR_BAD_REQUEST, "option %s must be a whole number", key);
	*ret_has = true;
	*ret = number;
	return 0;
}

int option_dry_run(const struct node *options, bool *ret, struct err *err)
{
	const struct node *list = node_get(options, "dryRun");

	if (!list || list->kind == NODE_NULL)
		return 0;
	if (list->kind != NODE_LIST)
		return err_set(err, ERR_BAD_REQUEST, "option dryRun must be a list");
	for (size_t i = 0; i < list->n_children; i++) {
		if (!streq(list->children[i]->text, "All"))
			return err_set(err, ERR_BAD_REQUEST,
				"option dryRun: the only value is 'All'");
		*ret = true;
	}
	return 0;
}
