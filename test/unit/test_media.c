/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies on the media that are made for a guest, byte by byte (golden/media: one file for
 * each volume of manifests/good/media.yaml; VMAGENT_GOLDEN=write renews them), and what is said
 * of what is missing.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/defaults.h"
#include "core/manifest.h"
#include "core/media.h"
#include "test/lib/files.h"

Suite *test_media_suite(void);

#define MANIFEST "test/unit/manifests/good/media.yaml"
#define GOLDEN   "test/unit/golden/media/"

static const struct {
	enum object_kind kind;
	const char *name, *content;
} objects[] = {
	{ KIND_SECRET, "keys",
		"{\"data\":{\"b\":\"c3NoLWVkMjU1MTkgQUFBQSB1c2VyCg==\",\"a\":\"c3NoLXJzYSBCQkJC\","
		"\"none\":\"IAo=\"},\"type\":\"Opaque\"}" },
	{ KIND_SECRET, "more-keys", "{\"data\":{\"key\":\"c3NoLXJzYSBDQ0ND\"}}" },
	{ KIND_SECRET, "seed",
		"{\"data\":{\"userData\":\"I2Nsb3VkLWNvbmZpZwpzZWNyZXQ6IDEK\",\"networkdata\":\"bmV0\"}}" },
	{ KIND_CONFIG_MAP, "settings",
		"{\"data\":{\"z.conf\":\"a=1\\n\",\"a.conf\":\"\"},\"binaryData\":{\"m.bin\":\"AAEC\"}}" },
	{ KIND_CONFIG_MAP, "answers", "{\"data\":{\"AutoUnattend.XML\":\"<unattend/>\"}}" },
	{ KIND_CONFIG_MAP, "no-answers", "{\"data\":{\"unattend\":\"\"}}" },
	{ KIND_SECRET, "no-seed", "{\"data\":{\"user-data\":\"\"}}" },
	{ KIND_SECRET, "bare", "{\"type\":\"Opaque\"}" },
};

static const char *find(void *ctx, enum object_kind kind, const char *name)
{
	(void)ctx;
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		if (objects[i].kind == kind && streq(objects[i].name, name))
			return objects[i].content;
	return NULL;
}

static struct vmi vmi;
static struct media_world world;

static void set_up(void)
{
	autofree char *text = slurp(MANIFEST);
	struct findings findings = { 0 };
	struct policy policy = { 0 };
	struct documents docs;
	struct manifest m;
	struct err err;

	ck_assert_int_eq(nodes_parse(text, strlen(text), &docs, &(struct place){ 0 }, &err), 0);
	ck_assert_int_eq(manifest_check(docs.roots[0], &policy, &m, &findings), 0);
	manifest_default(m.kind, m.root, NULL);
	ck_assert_msg(!spec_parse(node_get(m.root, "spec"), &vmi.typed, &err), "%s", err.msg);
	vmi.spec = node_json(node_get(m.root, "spec"));
	vmi.meta.labels = node_json(node_at(m.root, "metadata.labels"));
	vmi.meta.annotations = node_json(node_at(m.root, "metadata.annotations"));
	strcpy(vmi.meta.uid, "9f3c9a3e-0000-4000-8000-000000000001");
	manifest_done(&m);
	documents_done(&docs);
	world = (struct media_world){ .ns = "prod",
		.name = "web.example",
		.vmi = &vmi,
		.find = find };
}

static void tear_down(void)
{
	vmi_spec_done(&vmi.typed);
	free(vmi.spec);
	free(vmi.meta.labels);
	free(vmi.meta.annotations);
	memset(&vmi, 0, sizeof(vmi));
}

/* "== PATH (LENGTH)", its bytes and a line's end, for each; what cannot be read is shown as
 * \xNN. */
static char *shown(const struct volume *volume, const struct media_files *files)
{
	struct buf out = { 0 };

	buf_printf(&out, "label %s\n", volume->media->label);
	for (size_t i = 0; i < files->n; i++) {
		buf_printf(&out, "== %s (%zu)\n", files->list[i].path, files->list[i].len);
		for (size_t j = 0; j < files->list[i].len; j++) {
			unsigned char c = (unsigned char)files->list[i].data[j];

			buf_printf(&out, c >= ' ' || c == '\n' ? "%c" : "\\x%02x", c);
		}
		buf_puts(&out, "\n");
	}
	return out.data;
}

static void check_golden(const char *name, const char *text)
{
	autofree char *path = xasprintf(GOLDEN "%s", name), *want = NULL;

	if (getenv("VMAGENT_GOLDEN")) {
		FILE *file = fopen(path, "we");

		ck_assert_ptr_nonnull(file);
		fputs(text, file);
		fclose(file);
	}
	want = slurp(path);
	ck_assert_msg(want != NULL, "%s is missing", path);
	ck_assert_str_eq(text, want);
}

START_TEST(every_volume)
{
	ck_assert_uint_eq(vmi.typed.n_volumes, 10);
	for (size_t i = 0; i < vmi.typed.n_volumes; i++) {
		const struct volume *volume = &vmi.typed.volumes[i];
		struct media_files files;
		struct err err;
		autofree char *text = NULL;

		ck_assert_msg(media_files_of(volume, &world, &files, &err) == 0, "%s", err.msg);
		text = shown(volume, &files);
		check_golden(volume->name, text);
		media_files_done(&files);
	}
}
END_TEST

static const struct {
	struct media_source media;
	enum volume_kind kind;
	const char *words;
} missing[] = {
	{ { .object = (char *)"none" }, VOLUME_CONFIG_MAP,
		"volume 'v': there is no ConfigMap 'none' in namespace 'prod': apply it" },
	{ { .object = (char *)"settings", .secret = true }, VOLUME_SECRET,
		"there is no Secret 'settings'" },
	{ { .object = (char *)"none" }, VOLUME_SYSPREP, "there is no ConfigMap 'none'" },
	{ { .object = (char *)"no-answers" }, VOLUME_SYSPREP,
		"ConfigMap 'no-answers' has neither autounattend.xml nor unattend.xml: add one" },
	{ { .user.secret = (char *)"none" }, VOLUME_NO_CLOUD, "there is no Secret 'none'" },
	{ { .user.secret = (char *)"no-seed" }, VOLUME_NO_CLOUD,
		"volume 'v': Secret 'no-seed' has no key 'userdata': add it" },
	{ { .network.secret = (char *)"bare" }, VOLUME_CONFIG_DRIVE,
		"Secret 'bare' has no key 'networkdata'" },
};

START_TEST(what_is_missing)
{
	struct media_source media = missing[_i].media;
	struct volume volume = { .name = (char *)"v", .kind = missing[_i].kind, .media = &media };
	struct media_files files;
	struct err err;

	ck_assert_int_eq(media_files_of(&volume, &world, &files, &err), -ERR_NOT_FOUND);
	ck_assert_msg(strstr(err.msg, missing[_i].words) != NULL, "%s", err.msg);
	ck_assert_uint_eq(files.n, 0);
}
END_TEST

/* Whether or not the Secret may be absent for other uses. */
START_TEST(missing_table)
{
	struct media_source media = { .object = (char *)"bare", .secret = true };
	struct volume volume = { .name = (char *)"v",
		.kind = VOLUME_SECRET,
		.media = &media,
		.slic = true };
	struct media_files files;
	struct err err;

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(media_files_of(&volume, &world, &files, &err), -ERR_NOT_FOUND);
		ck_assert_msg(strstr(err.msg,
				      "has no key 'slic.bin', the table that slicNameRef wants") !=
				NULL,
			"%s", err.msg);
		media.object = (char *)"none";
		media.optional = true;
	}
	volume.slic = false;
	ck_assert_int_eq(media_files_of(&volume, &world, &files, &err), 0);
	media_files_done(&files);
}
END_TEST

START_TEST(missing_keys)
{
	struct media_files files;
	struct err err;

	replace_str(&vmi.typed.credentials[0].secret, "gone");
	ck_assert_int_eq(media_files_of(&vmi.typed.volumes[0], &world, &files, &err),
		-ERR_NOT_FOUND);
	ck_assert_msg(strstr(err.msg, "there is no Secret 'gone'") != NULL, "%s", err.msg);
}
END_TEST

static const struct {
	const char *hostname, *name, *is;
} hosts[] = {
	{ NULL, "web", "web" },
	{ NULL, "web.example.org", "web" },
	{ "given", "web", "given" },
	{ NULL, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbb",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
};

START_TEST(host_names)
{
	struct vmi_spec spec = { .hostname = (char *)hosts[_i].hostname };
	autofree char *is = guest_hostname(&spec, hosts[_i].name);

	ck_assert_str_eq(is, hosts[_i].is);
}
END_TEST

Suite *test_media_suite(void)
{
	Suite *suite = suite_create("media");
	TCase *tcase = tcase_create("files");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, every_volume);
	tcase_add_loop_test(tcase, what_is_missing, 0, ARRAY_SIZE(missing));
	tcase_add_test(tcase, missing_keys);
	tcase_add_test(tcase, missing_table);
	tcase_add_loop_test(tcase, host_names, 0, ARRAY_SIZE(hosts));
	suite_add_tcase(suite, tcase);
	return suite;
}
