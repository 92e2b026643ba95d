/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests as data: each in manifests/good is accepted and typed, each in manifests/bad gives just
 * the findings in the file NAME.expected beside it (VMAGENT_GOLDEN=write renews those; read the
 * diff). And the schema's table against itself.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "core/manifest.h"
#include "core/names.h"
#include "core/schema.h"
#include "test/lib/files.h"

Suite *test_manifest_suite(void);

#define FOLDER    "test/unit/manifests/"
#define FILES_MAX 100
#define UUID      "5d307ca9-b3ef-428c-8861-06e72d69f223"

static const char *const host_disk_roots[] = { "/srv/disks/", "/var/lib/vmagent/disks", NULL };
static const char *const image_roots[] = { "/srv", "/var/lib/vmagent/images", NULL };
static const struct policy policy = {
	.host_disk_roots = host_disk_roots,
	.image_roots = image_roots,
	.default_namespace = "home",
};

/* The manifests of a folder, owned; the list ends with NULL. */
static void list_files(const char *folder, char *ret[FILES_MAX])
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t n = 0;

	ck_assert_msg(dir, "cannot open %s", folder);
	while ((entry = readdir(dir))) {
		const char *end = strrchr(entry->d_name, '.');

		if (!streq(end, ".yaml") && !streq(end, ".json"))
			continue;
		ck_assert_uint_lt(n, FILES_MAX - 1);
		ret[n++] = xasprintf("%s/%s", folder, entry->d_name);
	}
	closedir(dir);
	ck_assert_uint_gt(n, 0);
	ret[n] = NULL;
}

static struct documents parsed(const char *text)
{
	struct documents docs = { 0 };
	struct place place;
	struct err err;

	ck_assert_msg(!nodes_parse(text, strlen(text), &docs, &place, &err), "%d:%d: %s",
		place.line, place.column, err.msg);
	return docs;
}

static void accept(const struct node *doc, struct manifest *ret)
{
	struct findings findings = { 0 };
	autofree char *text = NULL;
	int rc = manifest_check(doc, &policy, ret, &findings);

	text = findings_text(&findings, "good");
	ck_assert_msg(!rc, "%s", text);
	ck_assert_uint_eq(findings.n, 0);
	findings_done(&findings);
}

/* Default and type it as the agent does; owned by the caller. */
static struct vmi_spec typed(struct manifest *m)
{
	struct node *spec;
	struct vmi_spec s;
	struct err err;

	manifest_default(m->kind, m->root, UUID);
	spec = m->kind == KIND_VM ? vmi_spec_tree(node_get(m->root, "spec"))
				  : node_copy(node_get(m->root, "spec"));
	ck_assert_msg(!spec_parse(spec, &s, &err), "%s", err.msg);
	node_free(spec);
	return s;
}

START_TEST(good_ones_are_accepted)
{
	char *files[FILES_MAX];

	list_files(FOLDER "good", files);
	for (int i = 0; files[i]; i++) {
		autofree char *text = slurp(files[i]);
		struct documents docs = parsed(text);

		ck_assert_uint_gt(docs.n, 0);
		for (size_t j = 0; j < docs.n; j++) {
			struct manifest m;
			struct vmi_spec s;

			accept(docs.roots[j], &m);
			s = typed(&m);
			vmi_spec_done(&s);
			manifest_done(&m);
		}
		documents_done(&docs);
		free(files[i]);
	}
}
END_TEST

START_TEST(examples_are_accepted)
{
	char *files[FILES_MAX];

	list_files("examples", files);
	for (int i = 0; files[i]; i++) {
		autofree char *text = slurp(files[i]);
		struct documents docs = parsed(text);

		for (size_t j = 0; j < docs.n; j++) {
			struct manifest m;

			accept(docs.roots[j], &m);
			manifest_done(&m);
		}
		documents_done(&docs);
		free(files[i]);
	}
}
END_TEST

/* All that is said about a text, as lines; owned. */
static char *complaints(const char *text)
{
	struct findings findings = { 0 };
	struct documents docs = { 0 };
	struct buf out = { 0 };
	struct place place;
	struct manifest m;
	struct err err;

	buf_puts(&out, "");
	if (nodes_parse(text, strlen(text), &docs, &place, &err))
		buf_printf(&out, "%d:%d: %s\n", place.line, place.column, err.msg);
	for (size_t i = 0; i < docs.n; i++) {
		if (!manifest_check(docs.roots[i], &policy, &m, &findings))
			manifest_done(&m);
	}
	for (size_t i = 0; i < findings.n; i++)
		buf_printf(&out, "%d:%d: %s%s%s\n", findings.list[i].line, findings.list[i].column,
			findings.list[i].field, *findings.list[i].field ? ": " : "",
			findings.list[i].message);
	findings_done(&findings);
	documents_done(&docs);
	return out.data;
}

static void expect_complaints(const char *path)
{
	autofree char *text = slurp(path);
	autofree char *said = complaints(text);
	autofree char *expected_path =
		xasprintf("%.*s.expected", (int)(strrchr(path, '.') - path), path);
	autofree char *expected = NULL;

	if (streq(getenv("VMAGENT_GOLDEN"), "write")) {
		FILE *file = fopen(expected_path, "w");

		ck_assert(file && fputs(said, file) >= 0 && fclose(file) == 0);
		return;
	}
	expected = slurp(expected_path);
	ck_assert_msg(streq(said, expected), "%s\nexpected:\n%s\nsaid:\n%s", path, expected, said);
	ck_assert_str_ne(said, "");
}

START_TEST(bad_ones_are_refused_in_full)
{
	char *files[FILES_MAX];

	list_files(FOLDER "bad", files);
	for (int i = 0; files[i]; i++) {
		expect_complaints(files[i]);
		free(files[i]);
	}
}
END_TEST

static struct vmi_spec everything(struct manifest *ret)
{
	autofree char *text = slurp(FOLDER "good/everything.yaml");
	struct documents docs = parsed(text);

	accept(docs.roots[0], ret);
	documents_done(&docs);
	return typed(ret);
}

START_TEST(every_field_arrives)
{
	struct manifest m;
	struct vmi_spec s = everything(&m);

	ck_assert_str_eq(m.ns, "lab");
	ck_assert_str_eq(m.name, "everything.example");
	ck_assert_uint_eq(s.cores, 2);
	ck_assert_uint_eq(s.sockets, 2);
	ck_assert_uint_eq(s.threads, 1);
	ck_assert_str_eq(s.cpu_model, "Haswell-noTSX-IBRS");
	ck_assert_int_eq(s.memory, 1 << 30);
	ck_assert_str_eq(s.machine_type, "pc-q35-7.2");
	ck_assert_str_eq(s.uuid, UUID);
	ck_assert_str_eq(s.serial, "Rack 7/3");
	ck_assert_int_eq(s.bootloader, BOOTLOADER_EFI_SECURE);
	ck_assert_str_eq(s.kernel_boot.image, "/srv/boot");
	ck_assert_str_eq(s.kernel_boot.kernel, "/vmlinuz");
	ck_assert_str_eq(s.kernel_boot.initrd, "initrd.img");
	ck_assert_str_eq(s.kernel_boot.args, "console=ttyS0 quiet");
	ck_assert_uint_eq(s.n_panic_devices, 2);
	ck_assert(s.serial_console && !s.graphics && s.acpi && s.rng && s.start_paused);
	ck_assert_int_eq(s.grace, 0);
	vmi_spec_done(&s);
	manifest_done(&m);
}
END_TEST

START_TEST(every_device_arrives)
{
	struct manifest m;
	struct vmi_spec s = everything(&m);

	ck_assert_uint_eq(s.n_disks, 4);
	ck_assert_int_eq(s.disks[0].bus, DISK_BUS_VIRTIO);
	ck_assert_int_eq(s.disks[0].cache, DISK_CACHE_NONE);
	ck_assert(s.disks[0].readonly && s.disks[0].boot_order == 1);
	ck_assert_str_eq(s.disks[0].serial, "A.b-c_d+1");
	ck_assert_int_eq(s.disks[1].device, DISK_DEVICE_CDROM);
	ck_assert(s.disks[1].readonly && !s.disks[3].readonly);
	ck_assert_int_eq(s.disks[2].bus, DISK_BUS_SATA);
	ck_assert_uint_eq(s.n_volumes, 4);
	ck_assert_int_eq(s.volumes[1].kind, VOLUME_CONTAINER_DISK);
	ck_assert_str_eq(s.volumes[1].path, "/srv/images/tools.iso");
	ck_assert_int_eq(s.volumes[2].kind, VOLUME_EMPTY_DISK);
	ck_assert_int_eq(s.volumes[2].capacity, 3 << 29);
	ck_assert_int_eq(s.volumes[3].kind, VOLUME_HOST_DISK);
	ck_assert(s.volumes[3].create && !s.volumes[3].shared);
	ck_assert_int_eq(s.volumes[3].capacity, (int64_t)2 << 30);
	ck_assert_uint_eq(s.n_interfaces, 1);
	ck_assert_str_eq(s.interfaces[0].model, "e1000e");
	ck_assert_str_eq(s.interfaces[0].mac, "02:00:00:ab:cd:01");
	ck_assert_uint_eq(s.interfaces[0].boot_order, 2);
	vmi_spec_done(&s);
	manifest_done(&m);
}
END_TEST

START_TEST(what_the_server_sets_is_dropped)
{
	static const char *const gone[] = { "status", "metadata.uid", "metadata.resourceVersion",
		"metadata.generation", "metadata.creationTimestamp", "metadata.managedFields",
		"metadata.finalizers", "metadata.selfLink",
		"spec.template.metadata.creationTimestamp" };
	struct manifest m;
	struct vmi_spec s = everything(&m);

	for (size_t i = 0; i < ARRAY_SIZE(gone); i++)
		ck_assert_msg(!node_at(m.root, gone[i]), "%s is still there", gone[i]);
	ck_assert(node_at(m.root, "spec.template.metadata.name"));
	vmi_spec_done(&s);
	manifest_done(&m);
}
END_TEST

START_TEST(absent_namespace_and_old_version)
{
	autofree char *text = slurp(FOLDER "good/anchors.yaml");
	struct documents docs = parsed(text);
	struct manifest m;

	ck_assert_uint_eq(docs.n, 2);
	accept(docs.roots[0], &m);
	ck_assert_str_eq(m.ns, "home");
	ck_assert_int_eq(m.kind, KIND_VM);
	ck_assert_str_eq(node_text(m.root, "apiVersion"), "kubevirt.io/v1");
	manifest_done(&m);
	accept(docs.roots[1], &m);
	ck_assert_int_eq(m.kind, KIND_VMI);
	ck_assert_str_eq(node_text(m.root, "spec.domain.memory.guest"), "256Mi");
	manifest_done(&m);
	documents_done(&docs);
}
END_TEST

/* Each field once, whatever is in it; what is wrong there is still wrong. */
START_TEST(what_has_no_effect_is_named)
{
	static const char text[] = "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\n"
				   "metadata: {name: a}\nspec:\n  domain: {memory: {guest: 1Gi}}\n"
				   "  topologySpreadConstraints: [{maxSkew: 1}, {maxSkew: 2}]\n"
				   "  schedulerName: mine\n";
	struct documents docs = parsed(text);
	autofree char *words = NULL, *places = NULL;
	struct manifest m;

	accept(docs.roots[0], &m);
	words = findings_words(m.warnings);
	ck_assert_str_eq(words,
		"spec.topologySpreadConstraints: no effect: on one host runs are spread as evenly as "
		"they can be; spec.schedulerName: no effect: there is no scheduler on one host");
	places = findings_text(m.warnings, "f");
	ck_assert(starts_with(places, "f:6:3: spec.topologySpreadConstraints: no effect"));
	ck_assert(node_at(m.root, "spec.topologySpreadConstraints"));
	manifest_done(&m);
	ck_assert_ptr_null(findings_words(m.warnings));
	documents_done(&docs);
}
END_TEST

START_TEST(findings_are_bounded)
{
	struct findings findings = { 0 };
	struct node at = { .line = 3, .column = 4 };
	autofree char *text = NULL;

	for (int i = 0; i < FINDINGS_MAX + 5; i++)
		findings_add(&findings, i ? &at : NULL, "a.b", "number %d", i);
	ck_assert_uint_eq(findings.n, FINDINGS_MAX);
	ck_assert(findings.more);
	text = findings_text(&findings, "f.yaml");
	ck_assert(starts_with(text, "f.yaml: a.b: number 0\nf.yaml:3:4: a.b: number 1\n"));
	ck_assert_ptr_nonnull(strstr(text, "f.yaml: over 100 findings, the rest is left off\n"));
	findings_done(&findings);
}
END_TEST

/* A text that is small, thanks to its alias, but not as JSON. */
static char *with_long_text(int len, const char *rest)
{
	struct buf text = { 0 };

	buf_puts(&text,
		"apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n"
		"  name: a\n  annotations:\n    x: &x ");
	for (int i = 0; i < len; i++)
		buf_puts(&text, "x");
	buf_puts(&text, rest);
	return text.data;
}

START_TEST(large_annotations_are_refused)
{
	autofree char *text = with_long_text(130 * 1024,
		"\n    y: *x\nspec:\n  running: true\n  template:\n"
		"    spec: {domain: {memory: {guest: 1Gi}}}\n");
	autofree char *said = complaints(text);

	ck_assert_str_eq(said,
		"5:3: metadata.annotations: 266245 bytes, at most 262144 are possible\n");
}
END_TEST

/* It could be stored, but not read again. */
START_TEST(large_object_is_refused)
{
	autofree char *text = with_long_text(131030,
		"\n    z: *x\nspec:\n  running: true\n  template:\n"
		"    metadata: {annotations: {a: *x, b: *x, c: unnecessary, d: unnecessary}}\n"
		"    spec: {domain: {memory: {guest: 1Gi}}}\n");
	autofree char *said = complaints(text);

	ck_assert_str_eq(said,
		"1:1: 524390 bytes as JSON, aliases expanded; at most 524288 are possible\n");
}
END_TEST

START_TEST(paths_below_roots)
{
	static const struct {
		const char *path;
		bool below;
	} cases[] = {
		{ "/srv/disks/a", true },
		{ "/srv/disks/a/b", true },
		{ "/var/lib/vmagent/disks/a", true },
		{ "/srv/disks", false },
		{ "/srv/disksa/b", false },
		{ "/srv", false },
		{ "/", false },
	};
	static const char *const everywhere[] = { "/", NULL };
	static const char *const nowhere[] = { NULL };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(path_is_below(cases[i].path, host_disk_roots) == cases[i].below, "%s",
			cases[i].path);
	ck_assert(path_is_below("/a", everywhere));
	ck_assert(!path_is_below("/a", nowhere));
	ck_assert(!path_is_below("/a", NULL));
}
END_TEST

/* ---- the table itself ------------------------------------------------------------------------ */

/* Every row can be found by walking down to it, and lies within a row that can hold it. */
START_TEST(schema_is_a_tree)
{
	const struct schema_field *f;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		autofree char *parent = xstrdup(f->path);
		char *cut = strrchr(parent, '.');
		const char *key = cut ? cut + 1 : parent;

		if (strstr(key, "[]") || strstr(key, "{}"))
			continue;
		if (cut)
			*cut = '\0';
		ck_assert_msg(schema_find(f->scope, cut ? parent : "", key) == f, "%s", f->path);
	}
}
END_TEST

START_TEST(schema_rows_are_complete)
{
	const struct schema_field *f;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		ck_assert_msg(f->note || f->treat == TREAT_USED || f->treat == TREAT_DROPPED, "%s",
			f->path);
		if (f->treat == TREAT_REFUSED)
			continue;
		if (f->type == TYPE_ENUM)
			ck_assert_msg(f->values, "%s", f->path);
		if (f->type == TYPE_LIST)
			ck_assert_msg(f->max && schema_element(f), "%s", f->path);
		if (f->type == TYPE_INTEGER)
			ck_assert_msg(f->max > f->min, "%s", f->path);
		if (f->fallback && f->values)
			ck_assert_msg(schema_value_is_in(f->values, f->fallback), "%s", f->path);
		if (f->rule)
			ck_assert_msg(f->type == TYPE_STRING, "%s", f->path);
	}
}
END_TEST

START_TEST(likeness)
{
	static const struct {
		const char *key, *meant;
	} cases[] = {
		{ "memroy", "memory" }, /* neighbours swapped */
		{ "CPU", "cpu" },       /* case */
		{ "cpus", "cpu" },
		{ "feature", "features" },
		{ "watch", NULL },
		{ "", NULL },
		{ "a word far too long to have been meant as one", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *like = schema_like_key(SCOPE_SPEC, "domain", cases[i].key);

		ck_assert_msg(streq(like, cases[i].meant), "%s: %s", cases[i].key, like);
	}
}
END_TEST

static const struct {
	bool (*holds)(const char *);
	const char *text;
	bool expected;
} grammar[] = {
	{ is_dns_label, "a-1", true },
	{ is_dns_label, "", false },
	{ is_dns_label, "-a", false },
	{ is_dns_label, "a-", false },
	{ is_dns_label, "a.b", false },
	{ is_dns_label, "A", false },
	{ is_dns_subdomain, "a.b-c.1", true },
	{ is_dns_subdomain, "a..b", false },
	{ is_dns_subdomain, "a.-b", false },
	{ is_dns_subdomain, "a-.b", false },
	{ is_dns_subdomain, "a.", false },
	{ is_dns_subdomain, ".", false },
	{ is_dns_subdomain, "../a", false },
	{ is_interface_name, "eth0_A-1", true },
	{ is_interface_name, "a/b", false },
	{ is_label_key, "example.com/a_B.c", true },
	{ is_label_key, "a", true },
	{ is_label_key, "/a", false },
	{ is_label_key, "a/", false },
	{ is_label_key, "a/b/c", false },
	{ is_label_value, "", true },
	{ is_label_value, "a_b", true },
	{ is_label_value, "_b", false },
	{ is_uuid, "5d307ca9-B3EF-428c-8861-06e72d69f223", true },
	{ is_uuid, "5d307ca9b3ef428c886106e72d69f223", false },
	{ is_uuid, "5d307ca9-b3ef-428c-8861-06e72d69f22g", false },
	{ is_mac, "02:00:00:ab:cd:EF", true },
	{ is_mac, "02-00-00-ab-cd-ef", true },
	{ is_mac, "02-00:00-ab-cd-ef", false },
	{ is_mac, "00:00:00:00:00:00", false },
	{ is_mac, "03:00:00:00:00:01", false },
	{ is_mac, "02:00:00:00:00", false },
	{ is_disk_serial, "A_.+-9", true },
	{ is_disk_serial, "a,b", false },
	{ is_disk_serial, "", false },
	{ is_machine_type, "q35", true },
	{ is_machine_type, "pc-q35-rhel9.2.0", true },
	{ is_machine_type, "virt", false },
	{ is_machine_type, "q35'/>", false },
	{ is_kernel_args, "", true },
	{ is_kernel_args, "a\nb", false },
	{ is_clean_path, "/a/b.c/..d", true },
	{ is_clean_path, "/", false },
	{ is_clean_path, "a", false },
	{ is_clean_path, "", false },
	{ is_clean_path, "/a/../b", false },
	{ is_clean_path, "/a/./b", false },
	{ is_clean_path, "/a//b", false },
	{ is_clean_path, "/a/", false },
	{ is_clean_path, "/..", false },
	{ is_inner_path, "a/b", true },
	{ is_inner_path, "/a", true },
	{ is_inner_path, "//a", false },
	{ is_inner_path, "a/..", false },
	{ is_image, "file:///a", true },
	{ is_image, "/a", true },
	{ is_image, "file://a", false },
	{ is_image, "/a/../b", false },
	{ is_image, "quay.io/a:1", true },
	{ is_image, "quay.io/../a", false },
	{ is_dns_subdomain, "web-1.a", true },
	{ is_dns_label, "web-1", true },
	{ is_dns_label, "web.1", false },
};

START_TEST(grammars)
{
	ck_assert_msg(grammar[_i].holds(grammar[_i].text) == grammar[_i].expected, "row %d: '%s'",
		_i, grammar[_i].text ? grammar[_i].text : "NULL");
}
END_TEST

/* Lengths at their bound and one beyond. */
START_TEST(grammar_lengths)
{
	char text[PATH_LEN_MAX + 3];

	memset(text, 'a', sizeof(text));
	text[LABEL_MAX_LEN] = '\0';
	ck_assert(is_dns_label(text) && is_label_value(text) && is_interface_name(text));
	text[LABEL_MAX_LEN] = 'a';
	text[LABEL_MAX_LEN + 1] = '\0';
	ck_assert(!is_dns_label(text) && !is_label_value(text) && !is_interface_name(text));
	text[LABEL_MAX_LEN + 1] = 'a';
	text[NAME_MAX_LEN] = '\0';
	ck_assert(is_dns_subdomain(text));
	text[NAME_MAX_LEN] = 'a';
	text[NAME_MAX_LEN + 1] = '\0';
	ck_assert(!is_dns_subdomain(text));
	text[NAME_MAX_LEN + 1] = 'a';
	text[0] = '/';
	text[PATH_LEN_MAX] = '\0';
	ck_assert(is_clean_path(text));
	text[PATH_LEN_MAX] = 'a';
	text[PATH_LEN_MAX + 1] = '\0';
	ck_assert(!is_clean_path(text));
}
END_TEST

Suite *test_manifest_suite(void)
{
	Suite *suite = suite_create("manifest");
	TCase *tc = tcase_create("manifest");

	tcase_add_test(tc, good_ones_are_accepted);
	tcase_add_test(tc, examples_are_accepted);
	tcase_add_test(tc, bad_ones_are_refused_in_full);
	tcase_add_test(tc, every_field_arrives);
	tcase_add_test(tc, every_device_arrives);
	tcase_add_test(tc, what_the_server_sets_is_dropped);
	tcase_add_test(tc, absent_namespace_and_old_version);
	tcase_add_test(tc, what_has_no_effect_is_named);
	tcase_add_test(tc, findings_are_bounded);
	tcase_add_test(tc, large_annotations_are_refused);
	tcase_add_test(tc, large_object_is_refused);
	tcase_add_test(tc, paths_below_roots);
	tcase_add_test(tc, schema_is_a_tree);
	tcase_add_test(tc, schema_rows_are_complete);
	tcase_add_test(tc, likeness);
	tcase_add_loop_test(tc, grammars, 0, ARRAY_SIZE(grammar));
	tcase_add_test(tc, grammar_lengths);
	suite_add_tcase(suite, tc);
	return suite;
}
