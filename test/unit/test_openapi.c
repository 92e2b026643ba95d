/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI documents: every field of the table is in them, and the protobuf can be read back. */
#include <check.h>
#include <string.h>

#include "core/edit.h"
#include "core/schema_json.h"
#include "daemon/api/openapi.h"

Suite *test_openapi_suite(void);

/* Follows "a.b[].c{}" through properties, items and additionalProperties. */
static const struct node *follow(const struct node *schema, const char *path)
{
	while (schema && *path) {
		size_t len = strcspn(path, ".[{");
		autofree char *name = xstrndup(path, len);

		if (len)
			schema = node_get(node_get(schema, "properties"), name);
		path += len;
		if (starts_with(path, "[]"))
			schema = node_get(schema, "items");
		if (starts_with(path, "{}"))
			schema = node_get(schema, "additionalProperties");
		path += strspn(path, "[]{}");
		path += *path == '.';
	}
	return schema;
}

static const struct {
	enum object_kind kind;
	const char *path;
} scopes[SCOPE_MAX] = {
	[SCOPE_VM] = { KIND_VM, "" },
	[SCOPE_VMI] = { KIND_VMI, "" },
	[SCOPE_META] = { KIND_VM, "metadata" },
	[SCOPE_TEMPLATE_META] = { KIND_VM, "spec.template.metadata" },
	[SCOPE_SPEC] = { KIND_VM, "spec.template.spec" },
	[SCOPE_INSTANCETYPE] = { KIND_INSTANCETYPE, "" },
	[SCOPE_PREFERENCE] = { KIND_CLUSTER_PREFERENCE, "" },
	[SCOPE_CLAIM] = { KIND_PVC, "" },
	[SCOPE_POLICY] = { KIND_MIGRATION_POLICY, "" },
	[SCOPE_MIGRATION] = { KIND_MIGRATION, "" },
	[SCOPE_CLAIM_SPEC] = { KIND_PVC, "spec" },
	[SCOPE_DATA_VOLUME] = { KIND_DATA_VOLUME, "" },
	[SCOPE_DATA_VOLUME_SPEC] = { KIND_DATA_VOLUME, "spec" },
	[SCOPE_PROBE] = { KIND_VM, "spec.template.spec.livenessProbe" },
};

START_TEST(test_every_field_of_the_table_is_there)
{
	const struct schema_field *f;
	struct node *schemas[KIND_MAX] = { NULL }, *schema;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		enum object_kind kind = scopes[f->scope].kind;
		const struct node *at;

		ck_assert_ptr_nonnull(scopes[f->scope].path);
		if (!schemas[kind])
			schemas[kind] = schema_json(kind);
		at = follow(schemas[kind], scopes[f->scope].path);
		ck_assert_msg((follow(at, f->path) != NULL) == (f->treat != TREAT_REFUSED), "%s",
			f->path);
	}
	schema = schemas[KIND_VM];
	ck_assert_str_eq(node_text(follow(schema, "spec.template.spec.domain.cpu.cores"), "type"),
		"integer");
	ck_assert_str_eq(node_text(follow(schema, "spec.template.spec.domain.cpu.cores"),
				 "maximum"),
		"1024");
	ck_assert_str_eq(node_get(follow(schema, "spec.template.spec.volumes[]"), "required")
				 ->children[0]
				 ->text,
		"name");
	ck_assert_str_eq(node_text(follow(schemas[KIND_CLUSTER_PREFERENCE],
					   "spec.features.preferredHyperv.spinlocks.spinlocks"),
				 "minimum"),
		"4096");
	for (int kind = 0; kind < KIND_MAX; kind++)
		node_free(schemas[kind]);
}
END_TEST

static char *document(const char *group, const char *version)
{
	return openapi_v3(api_group_find(group, strlen(group)), version);
}

START_TEST(test_version_3)
{
	autofree char *text = document("kubevirt.io", "v1alpha3"), *index = openapi_v3_index();

	ck_assert_ptr_nonnull(strstr(text, "\"name\":\"fieldValidation\",\"in\":\"query\""));
	ck_assert_ptr_nonnull(strstr(text,
		"\"x-kubernetes-group-version-kind\":[{\"group\":\"kubevirt.io\","
		"\"version\":\"v1alpha3\",\"kind\":\"VirtualMachineInstance\"}]"));
	ck_assert_ptr_nonnull(strstr(index, "\"/openapi/v3/apis/kubevirt.io/v1?hash="));
	ck_assert_ptr_nonnull(
		strstr(index, "\"api/v1\":{\"serverRelativeURL\":\"/openapi/v3/api/v1?"));
}
END_TEST

/* Each resource is described in its group's document: a schema of its kind, and its verbs. */
START_TEST(test_every_resource_is_there)
{
	for (const struct resource *r = api_resources; r->plural; r++) {
		autofree char *text =
			document(r->group, api_group_find(r->group, strlen(r->group))->versions[0]);
		autofree char *kind = xasprintf("\"kind\":\"%s\"}]", r->kind);
		autofree char *path = xasprintf("/%s/{name}\":{\"get\":{", r->plural);

		if (r->object == KIND_MAX)
			continue;
		ck_assert_msg(strstr(text, kind) != NULL, "no %s", r->kind);
		ck_assert_msg(strstr(text, path) != NULL, "no path of %s", r->plural);
	}
}
END_TEST

START_TEST(test_subresources_have_a_document)
{
	autofree char *text = document(SUBRESOURCES_GROUP, "v1");
	struct node *root = text_tree(text);
	const struct node *start = node_get(node_get(root, "paths"),
		"/apis/" SUBRESOURCES_GROUP
		"/v1/namespaces/{namespace}/virtualmachines/{name}/start");

	ck_assert_str_eq(node_text(start, "put.x-kubernetes-action"), "put");
	ck_assert_ptr_eq(node_get(start, "get"), NULL);
	node_free(root);
}
END_TEST

START_TEST(test_kinds_that_are_open)
{
	struct node *secret = schema_json(KIND_SECRET), *vm = schema_json(KIND_VM);
	struct node *claim = schema_json(KIND_PVC);

	ck_assert_str_eq(node_text(follow(secret, "stringData{}"), "type"), "string");
	ck_assert_ptr_eq(follow(secret, "spec"), NULL);
	ck_assert_str_eq(node_text(follow(claim, "spec.volumeMode"), "type"), "string");
	ck_assert(node_equal(follow(secret, "metadata.labels"), follow(vm, "metadata.labels")));
	node_free(secret);
	node_free(claim);
	node_free(vm);
}
END_TEST

/* ---- a reader of protobuf, as small as its writer -------------------------------------------- */

struct span {
	const unsigned char *at;
	size_t len;
};

static uint64_t read_number(struct span *s)
{
	uint64_t n = 0;

	for (unsigned shift = 0; s->len; shift += 7) {
		unsigned char byte = *s->at;

		s->at++;
		s->len--;
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return n;
	}
	ck_abort_msg("a number does not end");
	return 0;
}

/* The next field, which must be of bytes. */
static struct span next_field(struct span *message, unsigned *ret_field)
{
	uint64_t tag = read_number(message);
	struct span value;

	ck_assert_uint_eq(tag & 7, 2);
	*ret_field = (unsigned)(tag >> 3);
	value.len = read_number(message);
	value.at = message->at;
	ck_assert_uint_le(value.len, message->len);
	message->at += value.len;
	message->len -= value.len;
	return value;
}

/* The n-th field of that number. */
static struct span find(struct span message, unsigned wanted, unsigned n)
{
	struct span value = { 0 };
	unsigned field;

	while (message.len) {
		value = next_field(&message, &field);
		if (field == wanted && n-- == 0)
			return value;
	}
	ck_abort_msg("no field %u", wanted);
	return value;
}

static bool says(struct span s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.at, text, s.len) == 0;
}

/* The value of the entry of that name in a list of such. */
static struct span named(struct span list, unsigned field, const char *name)
{
	for (unsigned n = 0;; n++) {
		struct span entry = find(list, field, n);

		if (says(find(entry, 1, 0), name))
			return find(entry, 2, 0);
	}
}

static void check_v2(struct span document, const char *path, const char *schema, const char *part)
{
	struct span item = named(find(document, 8, 0), 2, path);
	struct span properties = find(named(find(document, 9, 0), 1, schema), 25, 0);

	/* PathItem.patch.parameters[0].parameter.non_body.query.name */
	ck_assert(says(find(find(find(find(find(find(item, 8, 0), 8, 0), 1, 0), 2, 0), 3, 0), 4, 0),
		"dryRun"));
	named(properties, 1, part);
}

START_TEST(test_version_2)
{
	struct buf text = { 0 };
	struct span document;

	openapi_v2(&text);
	document = (struct span){ (const unsigned char *)text.data, text.len };
	ck_assert(says(find(document, 1, 0), "2.0"));
	check_v2(document,
		"/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstances/{name}",
		"io.kubevirt.v1.VirtualMachine", "spec");
	buf_done(&text);
}
END_TEST

Suite *test_openapi_suite(void)
{
	Suite *suite = suite_create("openapi");
	TCase *tcase = tcase_create("documents");

	tcase_add_test(tcase, test_every_field_of_the_table_is_there);
	tcase_add_test(tcase, test_version_3);
	tcase_add_test(tcase, test_every_resource_is_there);
	tcase_add_test(tcase, test_subresources_have_a_document);
	tcase_add_test(tcase, test_kinds_that_are_open);
	tcase_add_test(tcase, test_version_2);
	suite_add_tcase(suite, tcase);
	return suite;
}
