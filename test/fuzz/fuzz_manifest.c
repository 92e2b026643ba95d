/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manifest from anybody: text → trees → check → defaults → typed spec. Whatever comes in, it ends
 * in an answer; what was checked can be typed; what is written as JSON reads back the same.
 */
#include <stdint.h>
#include <string.h>

#include "core/instancetype.h"
#include "core/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_UUID "5d307ca9-b3ef-428c-8861-06e72d69f223"

static const char *const roots[] = { "/var/lib/vmagent/disks", "/srv", NULL };
static const struct policy policy = { .host_disk_roots = roots, .default_namespace = "default" };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void reads_back(const struct node *root)
{
	autofree char *json = node_json(root);
	struct documents docs = { 0 };
	struct place place;

	if (strlen(json) > NODE_TEXT_MAX)
		return;
	require(nodes_parse(json, strlen(json), &docs, &place, NULL) == 0);
	require(docs.n == 1 && node_equal(docs.roots[0], root));
	documents_done(&docs);
}

static void typed(const struct node *vmi_spec)
{
	struct vmi_spec spec;
	struct err err;

	require(spec_parse(vmi_spec, &spec, &err) == 0);
	require(spec.memory > 0 && spec.cores && spec.sockets && spec.threads);
	vmi_spec_done(&spec);
}

static void merged(const struct node *base, const struct manifest *m)
{
	struct node *same = merge_three(base, base, m->root);
	struct node *news = merge_three(base, m->root, m->root);

	require(node_equal(same, m->root));
	require(node_equal(news, m->root));
	node_free(same);
	node_free(news);
}

static void applied(const struct node *doc, struct manifest *m)
{
	struct node *spec;

	merged(doc, m);
	if (object_kind_home(m->kind) != HOME_MACHINE) {
		reads_back(m->root);
		return;
	}
	manifest_default(m->kind, m->root, FUZZ_UUID);
	reads_back(m->root);
	if (m->kind == KIND_VM && types_are_named(node_get(m->root, "spec")))
		return; /* its run is made of more than is there */
	if (m->kind == KIND_VM)
		spec = vmi_spec_tree(node_get(m->root, "spec"));
	else
		spec = node_copy(node_get(m->root, "spec"));
	typed(spec);
	reads_back(spec);
	node_free(spec);
}

static void checked(const struct node *doc)
{
	struct findings findings = { 0 };
	struct manifest m;

	if (manifest_check(doc, &policy, &m, &findings) == 0) {
		require(findings.n == 0);
		applied(doc, &m);
		manifest_done(&m);
	} else {
		autofree char *text = findings_text(&findings, "fuzz");

		require(findings.n > 0 && text[0]);
	}
	findings_done(&findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct documents docs = { 0 };
	struct place place;
	struct err err;

	if (nodes_parse((const char *)data, size, &docs, &place, &err))
		return 0;
	for (size_t i = 0; i < docs.n; i++) {
		reads_back(docs.roots[i]);
		checked(docs.roots[i]);
	}
	documents_done(&docs);
	return 0;
}
