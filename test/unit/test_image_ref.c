/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References to images: which texts are some, which local file stands for one, and what is
 * said where none does.
 */
#include <check.h>
#include <string.h>

#include "core/image_ref.h"

Suite *test_image_ref_suite(void);

#define HEX32  "0123456789abcdef0123456789ABCDEF"
#define LONG64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
	const char *text;
	bool is;
} refs[] = {
	{ "a", true },
	{ "cirros:latest", true },
	{ "registry:5000/kubevirt/cirros-container-disk-demo:devel", true },
	{ "quay.io/containerdisks/debian:12", true },
	{ "a/b/c/d", true },
	{ "Host.example.org/a", true },
	{ "[::1]:5000/a:1", true },
	{ "a__b/c--d/e.f_g:1_2.3-4", true },
	{ "a@sha256:" HEX32, true },
	{ "a:1@sha256:" HEX32 HEX32, true },
	{ LONG64 LONG64 LONG64 ":" LONG64 LONG64, true },
	{ "", false },
	{ "A", false },
	{ "a/B", false },
	{ "a/", false },
	{ "/a", false },
	{ "a//b", false },
	{ "a/../b", false },
	{ "../a", false },
	{ "a/.b", false },
	{ "a/b.", false },
	{ "a..b", false },
	{ "a___b", false },
	{ "a:", false },
	{ "a:.", false },
	{ "a:-1", false },
	{ "a:1:2", false },
	{ "a:b/../c", false },
	{ "a@", false },
	{ "a@sha256", false },
	{ "a@sha256:0123", false },
	{ "a@sha256:" HEX32 "x", false },
	{ "host:port/a", false },
	{ "host:/a", false },
	{ "host:123456/a", false },
	{ "[::1/a", false },
	{ "[]/a", false },
	{ "-h.org/a", false },
	{ "h-.org/a", false },
	{ "h..org/a", false },
	{ "a b", false },
	{ "a\n", false },
	{ "docker://a", false },
	{ "http://a/b", false },
	{ LONG64 LONG64 LONG64 LONG64, false },
	{ "a:" LONG64 LONG64 "a", false },
};

START_TEST(grammar)
{
	ck_assert_msg(is_image_ref(refs[_i].text) == refs[_i].is, "'%s'", refs[_i].text);
}
END_TEST

static struct image_map map = {
	.rules = { { (char *)"quay.io/a/exact:1", (char *)"/exact" },
		{ (char *)"quay.io/a/*", (char *)"/pattern" }, { (char *)"*:1", (char *)"/late" } },
	.n_rules = 3,
	.directory = (char *)"/images",
};

static const struct {
	const char *ref, *path;
} rules[] = {
	{ "quay.io/a/exact:1", "/exact" }, /* the first that matches */
	{ "quay.io/a/exact:2", "/pattern" },
	{ "quay.io/a/b/c:2", "/pattern" },
	{ "quay.io/b:1", "/late" },
	{ "quay.io/b:11", NULL },
	{ "quay.io/a", NULL },
};

START_TEST(first_rule)
{
	const struct image_rule *rule = image_rule_of(&map, rules[_i].ref);

	ck_assert(streq(rule ? rule->path : NULL, rules[_i].path));
}
END_TEST

static const struct {
	const char *ref, *names;
} names[] = {
	{ "registry:5000/k/cirros:devel",
		"cirros:devel cirros:devel.qcow2 cirros:devel.img cirros:devel.raw "
		"cirros cirros.qcow2 cirros.img cirros.raw " },
	{ "host:5000/cirros", "cirros cirros.qcow2 cirros.img cirros.raw " },
	{ "cirros@sha256:" HEX32, "cirros cirros.qcow2 cirros.img cirros.raw " },
	{ "c:1@sha256:" HEX32, "c:1 c:1.qcow2 c:1.img c:1.raw c c.qcow2 c.img c.raw " },
};

START_TEST(files)
{
	char *list[IMAGE_FILES_MAX];
	size_t n = image_files_of(names[_i].ref, list);
	struct buf all = { 0 };

	for (size_t i = 0; i < n; i++) {
		buf_printf(&all, "%s ", list[i]);
		free(list[i]);
	}
	ck_assert_str_eq(all.data, names[_i].names);
	buf_done(&all);
}
END_TEST

START_TEST(words)
{
	autofree char *ruled = image_missing_text(&map, "quay.io/a/x");
	autofree char *tagged = image_missing_text(&map, "b:2"),
		      *bare = image_missing_text(&map, "b");

	ck_assert_ptr_nonnull(
		strstr(ruled, "(match: 'quay.io/a/*') it is '/pattern', which is not there"));
	ck_assert_ptr_nonnull(strstr(tagged, "'/images' has no file 'b:2' or 'b' (or with .qcow2"));
	ck_assert_ptr_nonnull(strstr(bare, "'/images' has no file 'b' (or with"));
}
END_TEST

Suite *test_image_ref_suite(void)
{
	Suite *suite = suite_create("image_ref");
	TCase *tcase = tcase_create("references");

	tcase_add_loop_test(tcase, grammar, 0, ARRAY_SIZE(refs));
	tcase_add_loop_test(tcase, first_rule, 0, ARRAY_SIZE(rules));
	tcase_add_loop_test(tcase, files, 0, ARRAY_SIZE(names));
	tcase_add_test(tcase, words);
	suite_add_tcase(suite, tcase);
	return suite;
}
