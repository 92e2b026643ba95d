/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a domain's XML to a manifest: golden files (VMAGENT_GOLDEN=write renews them; read the
 * diff), and each thing that makes an adoption impossible.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "cli/yaml.h"
#include "core/adopt.h"
#include "test/lib/files.h"

#define GOLDEN_DIR "test/unit/golden/adopt/"

static const char *const disk_roots[] = { "/disks", NULL };
static const char *const image_roots[] = { "/images", NULL };
static const struct policy policy = { .host_disk_roots = disk_roots,
	.image_roots = image_roots,
	.default_namespace = "default" };

static void add_texts(struct buf *out, const char *title, const struct texts *texts)
{
	buf_printf(out, "%s:\n", title);
	for (size_t i = 0; i < texts->n; i++)
		buf_printf(out, "- %s\n", texts->list[i]);
}

static char *text_of(const struct adoption *adoption)
{
	struct buf out = { 0 };

	yaml_print(adoption->manifest, &out);
	add_texts(&out, "losses", &adoption->losses);
	add_texts(&out, "reasons", &adoption->reasons);
	return out.data;
}

/* A domain that nothing is wrong with. */
struct subject {
	struct domain_info info;
	struct domain_detail detail;
	struct adopt_wish wish;
	struct adoption adoption;
};

static void subject_init(struct subject *s, const char *file)
{
	autofree char *path = xasprintf(GOLDEN_DIR "%s.xml", file);
	const char *uuid;

	*s = (struct subject){ .info = { .name = xstrdup("db"), .state = DOMAIN_SHUTOFF },
		.detail = { .config_xml = slurp(path), .persistent = true },
		.wish = { .ns = "default", .policy = &policy } };
	uuid = strstr(s->detail.config_xml, "<uuid>");
	ck_assert_msg(uuid != NULL, "%s", path);
	copy_str(s->info.uuid, UID_SIZE, uuid + strlen("<uuid>"));
}

static void subject_run(struct subject *s)
{
	s->info.active = true;
	s->info.state = DOMAIN_RUNNING;
	s->detail.live_xml = xstrdup(s->detail.config_xml);
}

static void subject_review(struct subject *s)
{
	adopt_review(&s->info, &s->detail, &s->wish, &s->adoption);
}

static void subject_done(struct subject *s)
{
	adoption_done(&s->adoption);
	free(s->info.name);
	free(s->detail.config_xml);
	free(s->detail.live_xml);
}

static void check_golden(const char *name, const char *text)
{
	autofree char *path = xasprintf(GOLDEN_DIR "%s.txt", name);
	autofree char *want = NULL;

	if (streq(getenv("VMAGENT_GOLDEN"), "write"))
		spill(path, text);
	want = slurp(path);
	ck_assert_msg(streq(want, text), "%s: differs; now it is\n%s", path, text);
}

static const struct {
	const char *file, *name;
	bool runs;
} goldens[] = { { "plain", NULL, true }, { "desktop", "win-10", false },
	{ "kernel", NULL, false } };

START_TEST(golden)
{
	autofree char *text = NULL;
	struct subject s;

	subject_init(&s, goldens[_i].file);
	s.wish.name = goldens[_i].name;
	if (goldens[_i].runs)
		subject_run(&s);
	subject_review(&s);
	text = text_of(&s.adoption);
	check_golden(goldens[_i].file, text);
	subject_done(&s);
}
END_TEST

/* ---- what makes it impossible ---------------------------------------------------------------- */

static bool has(const struct texts *texts, const char *part)
{
	for (size_t i = 0; i < texts->n; i++)
		if (strstr(texts->list[i], part))
			return true;
	return false;
}

/* The one reason that there is. */
static void refused(struct subject *s, const char *why)
{
	subject_review(s);
	ck_assert_msg(s->adoption.reasons.n == 1 && has(&s->adoption.reasons, why),
		"'%s' expected, there are %zu, the first: %s", why, s->adoption.reasons.n,
		s->adoption.reasons.n ? s->adoption.reasons.list[0] : "");
	subject_done(s);
}

START_TEST(impossible)
{
	struct subject s;

	subject_init(&s, "plain");
	s.detail.persistent = false;
	refused(&s, "it is transient");
	subject_init(&s, "plain");
	s.detail.saved = true;
	refused(&s, "virsh managedsave-remove db");
	subject_init(&s, "plain");
	s.detail.snapshots = 3;
	refused(&s, "it has snapshots (3)");
	subject_init(&s, "plain");
	s.detail.autostart = true;
	refused(&s, "virsh autostart --disable db");
	subject_init(&s, "plain");
	copy_str(s.info.owner, UID_SIZE, "0a0a0a0a-0000-4000-8000-000000000002");
	refused(&s, "it carries the metadata of a run");
	subject_init(&s, "plain");
	subject_run(&s);
	s.info.state = DOMAIN_CRASHED;
	refused(&s, "its state is Crashed");
	subject_init(&s, "plain");
	replace_str(&s.info.name, "My DB_2");
	refused(&s, "give one with --name, such as my-db-2");
	subject_init(&s, "plain");
	s.wish.name = "Nope!";
	refused(&s, "give another one with --name, such as nope");
	subject_init(&s, "kernel");
	replace_str(&s.detail.config_xml, "<domain");
	refused(&s, "its XML cannot be read");
}
END_TEST

START_TEST(all_reasons_at_once)
{
	struct subject s;

	subject_init(&s, "kernel");
	replace_str(&s.info.name, "_");
	s.detail.persistent = false;
	s.detail.saved = true;
	subject_review(&s);
	ck_assert(has(&s.adoption.reasons, "give one with --name"));
	ck_assert(has(&s.adoption.reasons, "transient"));
	ck_assert(has(&s.adoption.reasons, "managed save"));
	ck_assert(has(&s.adoption.reasons,
		"'/elsewhere/root.img' lies in no folder that this node allows: add /elsewhere to "
		"hostDiskRoots in vmagent.yaml"));
	ck_assert_uint_eq(s.adoption.reasons.n, 4);
	subject_done(&s);
}
END_TEST

/* ---- running and defined --------------------------------------------------------------------- */

/* The same text, but for one part of it. */
static char *changed(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	ck_assert_ptr_nonnull(at);
	return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

START_TEST(what_runs_differs)
{
	autofree char *same = NULL, *other = NULL;
	struct subject s;

	subject_init(&s, "plain");
	subject_run(&s);
	subject_review(&s);
	ck_assert(!has(&s.adoption.losses, "differs from its definition"));
	same = adoption_digest(&s.adoption);
	adoption_done(&s.adoption);
	free(s.detail.live_xml);
	s.detail.live_xml = changed(s.detail.config_xml, "/disks/db.img", "/disks/old.img");
	s.detail.autostart = true;
	subject_review(&s);
	ck_assert(has(&s.adoption.losses, "disks: the running domain differs"));
	ck_assert(!has(&s.adoption.losses, "memory: the running domain differs"));
	ck_assert(has(&s.adoption.losses, "autostart: is turned off"));
	ck_assert_uint_eq(s.adoption.reasons.n, 0);
	other = adoption_digest(&s.adoption);
	ck_assert_str_ne(same, other);
	subject_done(&s);
}
END_TEST

Suite *test_adopt_suite(void);
Suite *test_adopt_suite(void)
{
	Suite *suite = suite_create("adopt");
	TCase *tcase = tcase_create("XML to manifest");

	tcase_add_loop_test(tcase, golden, 0, ARRAY_SIZE(goldens));
	tcase_add_test(tcase, impossible);
	tcase_add_test(tcase, all_reasons_at_once);
	tcase_add_test(tcase, what_runs_differs);
	suite_add_tcase(suite, tcase);
	return suite;
}
