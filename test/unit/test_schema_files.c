/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON Schemas in schema/ are those of the table; VMAGENT_GOLDEN=write renews them. Every key
 * of the examples is in them.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "cli/json.h"
#include "core/schema_json.h"
#include "test/lib/files.h"

Suite *test_schema_files_suite(void);

static const enum object_kind kinds[] = { KIND_VM, KIND_VMI, KIND_INSTANCETYPE,
	KIND_CLUSTER_INSTANCETYPE, KIND_PREFERENCE, KIND_CLUSTER_PREFERENCE, KIND_PVC,
	KIND_MIGRATION_POLICY, KIND_MIGRATION };

static char *document(enum object_kind kind)
{
	struct node *schema = schema_json_document(kind);
	autofree char *plain = node_json(schema);
	struct buf text = { 0 };

	json_indent(plain, &text);
	buf_puts(&text, "\n");
	node_free(schema);
	return text.data;
}

START_TEST(the_files_are_those_of_the_table)
{
	autofree char *path = xasprintf("schema/%s.json", object_kind_plural(kinds[_i]));
	autofree char *text = document(kinds[_i]), *is = NULL;

	if (streq(getenv("VMAGENT_GOLDEN"), "write")) {
		FILE *file = fopen(path, "we");

		ck_assert_ptr_nonnull(file);
		fputs(text, file);
		fclose(file);
	}
	is = slurp(path);
	ck_assert_msg(streq(is, text), "%s is not what the table says: renew it", path);
}
END_TEST

/* ---- what an editor would say of the examples ------------------------------------------------ */

static void check_value(const struct node *schema, const struct node *value, const char *where);

static void check_map(const struct node *schema, const struct node *map, const char *where)
{
	const struct node *properties = node_get(schema, "properties");
	const struct node *any = node_get(schema, "additionalProperties");
	const struct node *required = node_get(schema, "required");

	for (size_t i = 0; i < map->n_children; i++) {
		const struct node *child = map->children[i],
				  *known = node_get(properties, child->key);
		autofree char *path = xasprintf("%s.%s", where, child->key);

		ck_assert_msg(known || !any || any->kind == NODE_MAP, "%s is not in the schema",
			path);
		if (known || any)
			check_value(known ? known : any, child, path);
	}
	for (size_t i = 0; required && i < required->n_children; i++)
		ck_assert_msg(node_get(map, required->children[i]->text), "%s has no %s", where,
			required->children[i]->text);
}

static void check_value(const struct node *schema, const struct node *value, const char *where)
{
	static const char *const types[] = {
		[NODE_NULL] = "null",
		[NODE_BOOL] = "boolean",
		[NODE_NUMBER] = "integer",
		[NODE_STRING] = "string",
		[NODE_MAP] = "object",
		[NODE_LIST] = "array",
	};
	const char *type = node_text(schema, "type");

	ck_assert_msg(!type || streq(type, types[value->kind]), "%s is no %s", where, type);
	if (value->kind == NODE_MAP)
		check_map(schema, value, where);
	for (size_t i = 0; value->kind == NODE_LIST && i < value->n_children; i++)
		check_value(node_get(schema, "items"), value->children[i], where);
}

/* How many of the file's objects there is a schema for. */
static unsigned check_file(const char *path)
{
	autofree char *text = slurp(path);
	struct documents docs = { 0 };
	struct place place;
	struct err err;
	unsigned n = 0;

	ck_assert_msg(text && !nodes_parse(text, strlen(text), &docs, &place, &err), "%s", path);
	for (size_t i = 0; i < docs.n; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			struct node *schema;

			if (!streq(node_text(docs.roots[i], "kind"), object_kind_name(kinds[k])))
				continue;
			schema = schema_json_document(kinds[k]);
			check_value(schema, docs.roots[i], path);
			node_free(schema);
			n++;
		}
	}
	documents_done(&docs);
	return n;
}

START_TEST(the_examples_keep_them)
{
	DIR *dir = opendir("examples");
	struct dirent *entry;
	unsigned n = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		autofree char *path = xasprintf("examples/%s", entry->d_name);

		if (strstr(entry->d_name, ".yaml"))
			n += check_file(path);
	}
	closedir(dir);
	ck_assert_uint_gt(n, 5);
}
END_TEST

Suite *test_schema_files_suite(void)
{
	Suite *suite = suite_create("schema files");
	TCase *tc = tcase_create("schema files");

	tcase_add_loop_test(tc, the_files_are_those_of_the_table, 0, ARRAY_SIZE(kinds));
	tcase_add_test(tc, the_examples_keep_them);
	suite_add_tcase(suite, tc);
	return suite;
}
