/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI documents: every field of the table is in them, and the protobuf can be read back. */
#include <check.h>
#include <string.h>

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

static const char *const scopes[SCOPE_MAX] = {
	[SCOPE_VM] = "",
	[SCOPE_META] = "metadata",
	[SCOPE_TEMPLATE_META] = "spec.template.metadata",
	[SCOPE_SPEC] = "spec.template.spec",
};

START_TEST(test_every_field_of_the_table_is_there)
{
	struct node *schema = schema_json(KIND_VM);

	for (const struct schema_field *f = schema_next(NULL); f; f = schema_next(f)) {
		const struct node *at = scopes[f->scope] ? follow(schema, scopes[f->scope]) : NULL;

		if (!scopes[f->scope])
			continue;
		ck_assert_msg((follow(at, f->path) != NULL) == (f->treat != TREAT_REFUSED), "%s",
			f->path);
	}
	ck_assert_str_eq(node_text(follow(schema, "spec.template.spec.domain.cpu.cores"), "type"),
		"integer");
	ck_assert_str_eq(node_text(follow(schema, "spec.template.spec.domain.cpu.cores"),
				 "maximum"),
		"1024");
	ck_assert_str_eq(node_get(follow(schema, "spec.template.spec.volumes[]"), "required")
				 ->children[0]
				 ->text,
		"name");
	node_free(schema);
}
END_TEST

START_TEST(test_version_3)
{
	autofree char *text = openapi_v3("v1alpha3"), *index = openapi_v3_index();

	ck_assert_ptr_nonnull(strstr(text, "\"name\":\"fieldValidation\",\"in\":\"query\""));
	ck_assert_ptr_nonnull(strstr(text,
		"\"x-kubernetes-group-version-kind\":[{\"group\":\"kubevirt.io\","
		"\"version\":\"v1alpha3\",\"kind\":\"VirtualMachineInstance\"}]"));
	ck_assert_ptr_nonnull(strstr(index, "\"/openapi/v3/apis/kubevirt.io/v1?hash="));
}
END_TEST

/* ---- a reader of protobuf, as small as its writer ------------------------------------------------ */

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

START_TEST(test_version_2)
{
	struct buf text = { 0 };
	struct span document, definition, properties, path;

	openapi_v2(&text);
	document = (struct span){ (const unsigned char *)text.data, text.len };
	ck_assert(says(find(document, 1, 0), "2.0"));
	path = find(find(document, 8, 0), 2, 1);
	ck_assert(says(find(path, 1, 0),
		"/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachineinstances/{name}"));
	/* PathItem.patch.parameters[0].parameter.non_body.query.name */
	ck_assert(says(find(find(find(find(find(find(find(path, 2, 0), 8, 0), 8, 0), 1, 0), 2, 0),
				    3, 0),
			       4, 0),
		"dryRun"));
	definition = find(find(document, 9, 0), 1, 0);
	ck_assert(says(find(definition, 1, 0), "io.kubevirt.v1.VirtualMachine"));
	properties = find(find(definition, 2, 0), 25, 0);
	ck_assert(says(find(find(properties, 1, 3), 1, 0), "spec"));
	buf_done(&text);
}
END_TEST

Suite *test_openapi_suite(void)
{
	Suite *suite = suite_create("openapi");
	TCase *tcase = tcase_create("documents");

	tcase_add_test(tcase, test_every_field_of_the_table_is_there);
	tcase_add_test(tcase, test_version_3);
	tcase_add_test(tcase, test_version_2);
	suite_add_tcase(suite, tcase);
	return suite;
}
