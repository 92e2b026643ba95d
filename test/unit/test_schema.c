/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema's tables against KubeVirt's own definitions (test/fixtures/kubevirt): each
 * property that KubeVirt has is implemented, accepted without effect, or refused with a
 * reason, and the README says how many. And KubeVirt's example manifests against
 * examples.expected. VMAGENT_GOLDEN=write renews both.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "core/manifest.h"
#include "core/schema_explain.h"
#include "test/lib/files.h"

Suite *test_schema_suite(void);

#define FIXTURES    "test/fixtures/kubevirt/"
#define README_MARK "KubeVirt's manifests have "

/* ---- the walk -------------------------------------------------------------------------------- */

#define KEYS_MAX 3000

struct walk {
	const struct node *definitions;
	char *keys[KEYS_MAX]; /* owned; what was counted already */
	size_t n_keys;
	unsigned counts[TREAT_REFUSED + 1];
	struct buf missing;
};

struct spot {
	enum schema_scope scope;
	const char *path;
	const struct schema_field *cover; /* the row that stands for all below it, or NULL */
};

static void walk_definition(struct walk *w, const char *name, const struct spot *at);

static void count(struct walk *w, const char *key, enum schema_treat treat)
{
	for (size_t i = 0; i < w->n_keys; i++) {
		if (streq(w->keys[i], key))
			return;
	}
	ck_assert_uint_lt(w->n_keys, KEYS_MAX);
	w->keys[w->n_keys++] = xstrdup(key);
	w->counts[treat]++;
}

static bool is_cover(const struct schema_field *field)
{
	return field->type == TYPE_ANY || field->treat == TREAT_REFUSED ||
		field->treat == TREAT_DROPPED;
}

/* A row is of the type that KubeVirt says. */
static bool has_type(const struct schema_field *field, const struct node *property)
{
	static const char *const types[] = {
		[TYPE_MAP] = "object",
		[TYPE_LIST] = "array",
		[TYPE_STRING] = "string",
		[TYPE_BOOL] = "boolean",
		[TYPE_INTEGER] = "integer",
		[TYPE_ENUM] = "string",
		[TYPE_SCOPE] = "object",
	};
	const char *ref = node_text(property, "$ref"), *type = node_text(property, "type");

	if (field->type == TYPE_ANY || field->treat == TREAT_REFUSED)
		return true;
	if (!ref && !type) /* a string or a number: a name or the number of a port */
		return field->type == TYPE_INTEGER;
	if (field->type == TYPE_QUANTITY)
		return streq(type, "string") || (ref && strstr(ref, ".Quantity"));
	return streq(types[field->type], ref ? "object" : type);
}

/* What a property holds: another definition, a list or a map of them, or nothing that has
 * properties. */
static void walk_below(struct walk *w, const struct node *property, const struct spot *at)
{
	const struct node *items = node_get(property, "items");
	const struct node *entries = node_get(property, "additionalProperties");
	const char *ref = node_text(property, "$ref");
	autofree char *path = xasprintf("%s%s", at->path, items ? "[]" : (entries ? "{}" : ""));
	struct spot below = { .scope = at->scope, .path = path, .cover = at->cover };

	if (entries && !at->cover && !schema_find(at->scope, at->path, ""))
		buf_printf(&w->missing, "%s\n", path);
	if (ref)
		walk_definition(w, ref, at);
	if (items || entries)
		walk_below(w, items ? items : entries, &below);
}

/* Where the walk goes on below a property that stands at path and has the row f. */
static struct spot spot_below(const struct schema_field *f, const struct spot *at, const char *path)
{
	const struct schema_field *is = schema_meaning(f);
	struct spot next = { .scope = at->scope, .path = path, .cover = at->cover };

	if (!at->cover && is_cover(is))
		next.cover = is;
	if (f->type == TYPE_SCOPE)
		next.path = "";
	if (f->type == TYPE_AS)
		next.path = f->as;
	if (f->type == TYPE_SCOPE || f->type == TYPE_AS)
		next.scope = f->below;
	return next;
}

static void walk_property(struct walk *w, const char *definition, const struct node *property,
	const struct spot *at)
{
	const struct schema_field *f = at->cover ? at->cover
						 : schema_find(at->scope, at->path, property->key);
	autofree char *path = xasprintf("%s%s%s", at->path, *at->path ? "." : "", property->key);
	autofree char *key = NULL;
	struct spot next;

	if (!f) {
		buf_printf(&w->missing, "%s (%s)\n", path, definition);
		return;
	}
	if (!at->cover && !has_type(schema_meaning(f), property))
		buf_printf(&w->missing, "%s has another type\n", path);
	key = at->cover ? xasprintf("%d %s %s", (int)f->treat, definition, property->key)
			: xasprintf("%d:%s", (int)f->scope, f->path);
	count(w, key, schema_meaning(f)->treat);
	next = spot_below(f, at, path);
	walk_below(w, property, &next);
}

static void walk_definition(struct walk *w, const char *name, const struct spot *at)
{
	const struct node *properties = NULL;

	for (size_t i = 0; i < w->definitions->n_children; i++) {
		if (streq(w->definitions->children[i]->key, name))
			properties = w->definitions->children[i];
	}
	ck_assert_msg(properties, "%s is not in the fixture", name);
	for (size_t i = 0; i < properties->n_children; i++)
		walk_property(w, name, properties->children[i], at);
}

static const struct {
	const char *kind;
	const char *definition;
	const char *path; /* of what is defined, in the kind */
} kinds[] = {
	{ "VirtualMachine", "v1.VirtualMachine", "" },
	{ "VirtualMachineInstance", "v1.VirtualMachineInstance", "" },
	{ "VirtualMachineInstanceMigration", "v1.VirtualMachineInstanceMigration", "" },
	{ "VirtualMachineInstancetype", "v1beta1.VirtualMachineInstancetype", "" },
	{ "VirtualMachineClusterInstancetype", "v1beta1.VirtualMachineClusterInstancetype", "" },
	{ "VirtualMachinePreference", "v1beta1.VirtualMachinePreference", "" },
	{ "VirtualMachineClusterPreference", "v1beta1.VirtualMachineClusterPreference", "" },
	{ "DataVolume", "v1beta1.DataVolumeSpec", "spec" },
	{ "PersistentVolumeClaim", "k8s.io.api.core.v1.PersistentVolumeClaimSpec", "spec" },
};

static void walk_kind(struct walk *w, const char *kind, const char *definition, const char *path)
{
	const struct schema_kind *known = schema_kind(kind);
	struct schema_field whole = { .treat = TREAT_REFUSED };
	struct spot at = { .path = path };

	ck_assert_msg(known, "%s is not known", kind);
	at.scope = known->scope;
	if (*path) {
		at.scope = schema_find(known->scope, "", path)->below;
		at.path = "";
	}
	whole.treat = known->unused ? TREAT_IGNORED : TREAT_REFUSED;
	whole.note = known->unused ? known->unused : known->refused;
	at.cover = whole.note ? &whole : NULL;
	walk_definition(w, definition, &at);
}

/* The sentence that the README has. */
static char *sentence(const struct walk *w)
{
	const unsigned *n = w->counts;

	return xasprintf(README_MARK
		"%u properties: %u are implemented, %u accepted without effect, "
		"%u refused by name.",
		n[TREAT_USED] + n[TREAT_IGNORED] + n[TREAT_REFUSED], n[TREAT_USED],
		n[TREAT_IGNORED], n[TREAT_REFUSED]);
}

static void renew(const char *path, const char *line)
{
	autofree char *text = slurp(path);
	char *at = strstr(text, README_MARK);
	autofree char *whole = NULL;

	ck_assert_msg(at, "%s has no line '" README_MARK "'", path);
	whole = xasprintf("%.*s%s%s", (int)(at - text), text, line, at + strcspn(at, "\n"));
	spill(path, whole);
}

START_TEST(every_property_of_kubevirt_is_known)
{
	autofree char *text = slurp(FIXTURES "definitions.json"), *readme = NULL, *line = NULL;
	struct documents docs = { 0 };
	struct place place;
	struct walk w = { .n_keys = 0 };
	struct err err;

	ck_assert_msg(!nodes_parse(text, strlen(text), &docs, &place, &err), "%s", err.msg);
	w.definitions = docs.roots[0];
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		walk_kind(&w, kinds[i].kind, kinds[i].definition, kinds[i].path);
	ck_assert_msg(!w.missing.len, "no row of the schema for\n%s", w.missing.data);
	line = sentence(&w);
	puts(line);
	if (streq(getenv("VMAGENT_GOLDEN"), "write"))
		renew("README.md", line);
	readme = slurp("README.md");
	ck_assert_msg(strstr(readme, line), "README.md should say: %s", line);
	for (size_t i = 0; i < w.n_keys; i++)
		free(w.keys[i]);
	buf_done(&w.missing);
	documents_done(&docs);
}
END_TEST

/* A row that is as another one finds it, or what stands for it, and that one is no such row
 * again. */
START_TEST(rows_that_are_as_others)
{
	const struct schema_field *f;
	unsigned n = 0;

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		const struct schema_field *is = schema_meaning(f);

		if (f->type != TYPE_AS)
			continue;
		n++;
		ck_assert_msg(is && is->type != TYPE_AS, "%s", f->path);
		ck_assert_msg(streq(is->path, f->as) || is_cover(is), "%s: %s", f->path, f->as);
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

/* ---- fields in words ------------------------------------------------------------------------- */

#define DOMAIN "spec.template.spec.domain."

static const struct {
	enum schema_scope scope;
	const char *path;
	const char *words; /* how they begin; an error's for a path that is not there */
} explained[] = {
	{ SCOPE_VM, "", "map\n  apiVersion  string; required\n  kind        string; required\n" },
	{ SCOPE_VM, DOMAIN "cpu.cores", "whole number from 0 to 1024; default: 1\n" },
	{ SCOPE_VM, DOMAIN "cpu.numa.guestMappingPassthrough", "map\n" },
	{ SCOPE_VM, DOMAIN "devices.clientPassthrough",
		"not supported by this version; a client's" },
	{ SCOPE_VM, DOMAIN "devices.disks[].cache", "one of none, writethrough, writeback\n" },
	{ SCOPE_VM, DOMAIN "devices.disks.disk",
		"map\n  bus         one of virtio, sata, scsi, usb; default: sata\n" },
	{ SCOPE_VM, DOMAIN "memory", "map\n  guest             quantity such as 2Gi\n" },
	{ SCOPE_VM, "spec.template.spec.topologySpreadConstraints",
		"anything; accepted without effect: on one host runs are spread" },
	{ SCOPE_VM, "spec.template.spec.affinity.podAffinity",
		"map\n  preferredDuringSchedulingIgnoredDuringExecution  anything; accepted without effect" },
	{ SCOPE_VM, "spec.template.spec.volumes", "list of at most 256\n" },
	{ SCOPE_CLAIM, "spec.resources.requests.storage",
		"quantity such as 2Gi, at least 1048576; required; it may grow" },
	{ SCOPE_VM, "status.conditions", "set by the agent\n" },
	{ SCOPE_VM, "metadata.labels", "map\n  any  string: letters" },
	{ SCOPE_VM, "spec.tepmlate", "field 'tepmlate' is not known, did you mean 'template'?" },
	{ SCOPE_VM, "spec.x.y", "field 'x' is not known" },
	{ SCOPE_INSTANCETYPE, "spec.memory.overcommitPercent",
		"whole number from 0 to 100; requests.memory is" },
	{ SCOPE_INSTANCETYPE, "spec.cpu.model", "string: host-model, host-passthrough or" },
	{ SCOPE_PREFERENCE, "spec.features.preferredHyperv.spinlocks.spinlocks",
		"whole number from 4096 to" },
	{ SCOPE_PREFERENCE, "spec.cpu.preferredCPUFeatures[].policy", "one of force, require" },
};

START_TEST(a_field_in_words)
{
	struct buf text = { 0 };
	struct err err = { 0 };
	int rc = schema_explain(explained[_i].scope, explained[_i].path, &text, &err);
	const char *said = rc ? err.msg : text.data;

	ck_assert_msg(starts_with(said, explained[_i].words), "%s: %s", explained[_i].path, said);
	buf_done(&text);
}
END_TEST

/* ---- KubeVirt's examples --------------------------------------------------------------------- */

#define EXAMPLES_MAX 100

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names, owned, in order; the list ends with NULL. */
static size_t list_examples(char *ret[EXAMPLES_MAX])
{
	DIR *dir = opendir(FIXTURES "examples");
	struct dirent *entry;
	size_t n = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		ck_assert_uint_lt(n, EXAMPLES_MAX);
		ret[n++] = xstrdup(entry->d_name);
	}
	closedir(dir);
	qsort(ret, n, sizeof(*ret), by_name);
	return n;
}

/* Adds what validation says of one; whether it is accepted. */
static bool judge(const char *name, struct buf *out)
{
	static const char *const anywhere[] = { "/", NULL };
	static const struct policy policy = { .host_disk_roots = anywhere };
	autofree char *path = xasprintf(FIXTURES "examples/%s", name);
	autofree char *text = slurp(path), *words = NULL;
	struct findings findings = { 0 };
	struct documents docs = { 0 };
	struct manifest m = { 0 };
	struct place place;
	struct err err;
	bool accepted;

	ck_assert_msg(!nodes_parse(text, strlen(text), &docs, &place, &err), "%s", err.msg);
	ck_assert_uint_eq(docs.n, 1);
	accepted = !manifest_check(docs.roots[0], &policy, &m, &findings);
	words = findings_text(accepted && m.warnings ? m.warnings : &findings, name);
	buf_printf(out, "%s%s%s", accepted ? name : "", accepted ? ": accepted\n" : "", words);
	manifest_done(&m);
	findings_done(&findings);
	documents_done(&docs);
	return accepted;
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

START_TEST(examples_of_kubevirt_are_accepted_or_refused_so)
{
	struct buf verdicts = { 0 };
	autofree char *now = NULL, *expected = NULL;
	char *names[EXAMPLES_MAX];
	size_t n = list_examples(names), accepted = 0;

	for (size_t i = 0; i < n; i++) {
		accepted += judge(names[i], &verdicts);
		free(names[i]);
	}
	now = xasprintf("%zu of %zu accepted\n\n%s", accepted, n, verdicts.data);
	buf_done(&verdicts);
	if (streq(getenv("VMAGENT_GOLDEN"), "write"))
		spill(FIXTURES "examples.expected", now);
	expected = slurp(FIXTURES "examples.expected");
	ck_assert_msg(streq(now, expected),
		"examples.expected differs; now it goes on with\n%.200s",
		first_difference(now, expected));
}
END_TEST

Suite *test_schema_suite(void)
{
	Suite *suite = suite_create("schema");
	TCase *tc = tcase_create("kubevirt");

	tcase_add_test(tc, every_property_of_kubevirt_is_known);
	tcase_add_test(tc, rows_that_are_as_others);
	tcase_add_test(tc, examples_of_kubevirt_are_accepted_or_refused_so);
	tcase_add_loop_test(tc, a_field_in_words, 0, ARRAY_SIZE(explained));
	suite_add_tcase(suite, tc);
	return suite;
}
