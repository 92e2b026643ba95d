/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests that mean no good: each in test/fixtures/hostile is refused, in just the words of the
 * table test/fixtures/hostile.expected (VMAGENT_GOLDEN=write renews it; read the diff). Whatever
 * stands in one, the words can go to a terminal. And texts that XML has a meaning for come back
 * from a domain's XML as they were.
 */
#include <check.h>
#include <dirent.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <stdio.h>
#include <string.h>

#include "core/domxml.h"
#include "core/manifest.h"
#include "core/utf8.h"
#include "test/lib/files.h"

Suite *test_hostile_manifests_suite(void);

#define FOLDER       "test/fixtures/hostile/"
#define TABLE        "test/fixtures/hostile.expected"
#define FILES_MAX    500
#define LINE_MAX_LEN 1500 /* of the words of one finding */
#define UUID         "5d307ca9-b3ef-428c-8861-06e72d69f223"

static const char *const host_disk_roots[] = { "/var/lib/vmagent/disks", NULL };
static const char *const image_roots[] = { "/var/lib/vmagent/images", NULL };
static const struct policy policy = {
	.host_disk_roots = host_disk_roots,
	.image_roots = image_roots,
	.default_namespace = "default",
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names, owned, in order. */
static size_t list(char *ret[FILES_MAX])
{
	DIR *dir = opendir(FOLDER);
	struct dirent *entry;
	size_t n = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		ck_assert_uint_lt(n, FILES_MAX);
		ret[n++] = xstrdup(entry->d_name);
	}
	closedir(dir);
	qsort(ret, n, sizeof(*ret), by_name);
	return n;
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* Adds what is said of the documents of a text; all must be refused. */
static void judge_documents(const char *name, const struct documents *docs, struct buf *out)
{
	for (size_t i = 0; i < docs->n; i++) {
		struct findings findings = { 0 };
		struct manifest m = { 0 };
		autofree char *words = NULL;

		ck_assert_msg(manifest_check(docs->roots[i], &policy, &m, &findings) ==
				-ERR_INVALID,
			"%s is accepted", name);
		words = findings_text(&findings, name);
		ck_assert_str_ne(words, "");
		buf_puts(out, words);
		findings_done(&findings);
	}
	ck_assert_msg(docs->n > 0, "%s has no document", name);
}

static void judge(const char *name, struct buf *out)
{
	autofree char *path = xasprintf(FOLDER "%s", name);
	struct buf text = slurp_buf(path);
	struct documents docs = { 0 };
	struct place place;
	struct err err;

	if (nodes_parse(text.data, text.len, &docs, &place, &err))
		buf_printf(out, "%s:%d:%d: %s\n", name, place.line, place.column, err.msg);
	else
		judge_documents(name, &docs, out);
	documents_done(&docs);
	buf_done(&text);
}

static void expect_printable(const char *words)
{
	for (const char *line = words; *line;) {
		size_t len = strcspn(line, "\n");

		ck_assert_msg(utf8_is_clean(line, len) && !memchr(line, '\r', len) &&
				!memchr(line, '\t', len),
			"not to be shown: %.200s", line);
		ck_assert_msg(len < LINE_MAX_LEN, "%zu bytes: %.200s", len, line);
		line += len + (line[len] == '\n');
	}
}

/* The line from which on two texts differ. */
static const char *first_difference(const char *a, const char *b)
{
	const char *line = a;

	for (; *a && *a == *b; a++, b++) {
		if (*a == '\n')
			line = a + 1;
	}
	return line;
}

START_TEST(each_is_refused_in_the_words_of_the_table)
{
	struct buf words = { 0 }, expected;
	char *names[FILES_MAX];
	size_t n = list(names);

	ck_assert_uint_gt(n, 50);
	for (size_t i = 0; i < n; i++) {
		judge(names[i], &words);
		free(names[i]);
	}
	expect_printable(words.data);
	if (streq(getenv("VMAGENT_GOLDEN"), "write"))
		spill(TABLE, words.data);
	expected = slurp_buf(TABLE);
	ck_assert_msg(streq(words.data, expected.data), TABLE ": expected %.400s\nsaid %.400s",
		first_difference(expected.data, words.data),
		first_difference(words.data, expected.data));
	buf_done(&expected);
	buf_done(&words);
}
END_TEST

/* ---- texts that are allowed ------------------------------------------------------------------ */

/* Where a free text may stand, and where libvirt reads it. */
static const struct {
	const char *field, *xpath;
} places[] = {
	{ "chassis: {manufacturer: %s}", "/domain/sysinfo/chassis/entry[@name='manufacturer']" },
	{ "firmware: {kernelBoot: {kernelArgs: %s, container: {image: /var/lib/vmagent/images/a, "
	  "kernelPath: k}}}",
		"/domain/os/cmdline" },
};

static const char *const hostile_texts[] = {
	"]]>",
	"</entry></chassis>",
	"<![CDATA[x]]>",
	"&lt;&amp;&x;&#0;",
	"<!-- --><?xml version='1.0'?>",
	"' onload=\" a='",
	"%s%n$(reboot)`id`\\\\",
};

/* The spec of a VMI with that text at that place; it must be accepted. */
static struct vmi_spec spec_with(size_t place, const char *text)
{
	struct node *string = node_new(NODE_STRING, text);
	autofree char *quoted = node_json(string), *yaml = NULL, *field = NULL;
	const char *gap = strstr(places[place].field, "%s");
	struct findings findings = { 0 };
	struct documents docs = { 0 };
	struct vmi_spec spec = { 0 };
	struct manifest m = { 0 };
	struct place at;

	field = xasprintf("%.*s%s%s", (int)(gap - places[place].field), places[place].field, quoted,
		gap + 2);
	yaml = xasprintf("apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: "
			 "x}\nspec:\n  domain:\n    memory: {guest: 64Mi}\n    %s\n",
		field);
	ck_assert_int_eq(nodes_parse(yaml, strlen(yaml), &docs, &at, NULL), 0);
	ck_assert_int_eq(manifest_check(docs.roots[0], &policy, &m, &findings), 0);
	manifest_default(m.kind, m.root, UUID);
	ck_assert_int_eq(spec_parse(node_get(m.root, "spec"), &spec, NULL), 0);
	manifest_done(&m);
	documents_done(&docs);
	node_free(string);
	return spec;
}

static void expect_at(const char *xml, const char *xpath, const char *text)
{
	xmlDocPtr doc = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET);
	xmlXPathContextPtr at = xmlXPathNewContext(doc);
	xmlXPathObjectPtr found = xmlXPathEvalExpression(BAD_CAST xpath, at);
	xmlChar *content;

	ck_assert_msg(found && found->nodesetval && found->nodesetval->nodeNr == 1, "%s in %s",
		xpath, xml);
	content = xmlNodeGetContent(found->nodesetval->nodeTab[0]);
	ck_assert_str_eq((const char *)content, text);
	ck_assert_ptr_null(found->nodesetval->nodeTab[0]->children->next);
	xmlFree(content);
	xmlXPathFreeObject(found);
	xmlXPathFreeContext(at);
	xmlFreeDoc(doc);
}

START_TEST(texts_stay_texts_in_xml)
{
	static const struct domain_context context = { .ns = "default",
		.name = "x",
		.vmi_uid = UUID,
		.vm_uid = "",
		.epoch = 1,
		.directory = "/run/a" };

	for (size_t i = 0; i < ARRAY_SIZE(hostile_texts); i++) {
		struct vmi_spec spec = spec_with((size_t)_i, hostile_texts[i]);
		autofree char *xml = domain_xml(&spec, &context);

		expect_at(xml, places[_i].xpath, hostile_texts[i]);
		vmi_spec_done(&spec);
	}
}
END_TEST

Suite *test_hostile_manifests_suite(void)
{
	Suite *suite = suite_create("hostile manifests");
	TCase *tcase = tcase_create("hostile manifests");

	tcase_add_test(tcase, each_is_refused_in_the_words_of_the_table);
	tcase_add_loop_test(tcase, texts_stay_texts_in_xml, 0, ARRAY_SIZE(places));
	suite_add_tcase(suite, tcase);
	return suite;
}
