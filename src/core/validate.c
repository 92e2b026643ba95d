/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_check(): from one document to an object that may be applied. Which kind it is, its
 * fields (schema_check.c), the rules between them (rules*.c), its metadata.
 *
 * Owns the order of these steps. It must not know where the document came from, nor what is stored.
 */
#include <string.h>

#include "core/check.h"
#include "core/host_ports.h"
#include "core/instancetype.h"
#include "core/data_volume.h"
#include "core/names.h"
#include "core/record.h"
#include "core/start_order.h"

#define SHOWN_MAX 64

#define API_VERSIONS "kubevirt.io/v1 or kubevirt.io/v1alpha3"

/* Labels that KubeVirt keeps for itself on a VMI. */
static const char *const reserved_labels[] = {
	"kubevirt.io/created-by",
	"kubevirt.io/install-strategy",
	"kubevirt.io/migrationJobUID",
	"kubevirt.io/migrationTargetNodeName",
	"kubevirt.io/nodeName",
	"kubevirt.io/schedulable",
};

void manifest_done(struct manifest *m)
{
	free(m->ns);
	free(m->name);
	node_free(m->root);
	if (m->warnings)
		findings_done(m->warnings);
	free(m->warnings);
	*m = (struct manifest){ 0 };
}

/* ---- kind and apiVersion --------------------------------------------------------------------- */

static void refuse_kind(struct check *c, const struct node *kind)
{
	const struct schema_kind *known = schema_kind(kind->text);
	const char *like = known ? NULL : schema_like_kind(kind->text);

	if (known)
		check_add(c, kind, "kind", "kind '%s' is not supported by this version; %s",
			kind->text, known->refused);
	else if (like)
		check_add(c, kind, "kind", "kind '%.*s' is not known, did you mean '%s'?",
			SHOWN_MAX, kind->text, like);
	else
		check_add(c, kind, "kind", "kind '%.*s' is not supported by this version",
			SHOWN_MAX, kind->text);
}

static bool check_kind(struct check *c, const struct node *doc, enum object_kind *ret_kind)
{
	const struct node *kind = node_get(doc, "kind");
	const struct schema_kind *known;

	if (doc->kind != NODE_MAP) {
		check_add(c, doc, "", "expected a map with apiVersion, kind, metadata and spec");
		return false;
	}
	if (!kind || kind->kind != NODE_STRING) {
		check_add_key(c, kind ? kind : doc, "kind",
			"kind is required: VirtualMachine or "
			"VirtualMachineInstance");
		return false;
	}
	known = schema_kind(kind->text);
	if (!known || known->refused) {
		refuse_kind(c, kind);
		return false;
	}
	return object_kind_parse(kind->text, ret_kind);
}

/* The older version becomes the present one; their fields are the same. */
static void check_api_version(struct check *c, struct node *root)
{
	struct node *version = node_get(root, "apiVersion");

	if (!version || version->kind != NODE_STRING)
		return; /* the schema says so */
	if (streq(version->text, "kubevirt.io/v1alpha3"))
		replace_str(&version->text, "kubevirt.io/v1");
	else if (!streq(version->text, "kubevirt.io/v1"))
		check_add(c, version, "apiVersion", "expected " API_VERSIONS ", not '%.*s'",
			SHOWN_MAX, version->text);
}

/* ---- metadata -------------------------------------------------------------------------------- */

enum meta_of { META_OF_VM, META_OF_TEMPLATE, META_OF_VMI };

/* In a template they would say nothing: machines start in order, not runs. */
static void start_rules(struct check *c, const struct node *one, bool of_template)
{
	unsigned max, value;
	size_t mark;

	if (!one->key || !start_annotation_find(one->key, &max))
		return;
	mark = check_enter(c, "annotations");
	if (of_template)
		check_add_key(c, one, one->key,
			"this annotation belongs to the VirtualMachine's own metadata");
	else if (!start_annotation_parse(one->text, max, &value))
		check_add(c, one, one->key, "expected a whole number from 0 to %u in quotes", max);
	check_leave(c, mark);
}

static void host_port_rules(struct check *c, const struct node *one, enum meta_of of)
{
	struct host_ports ports;
	struct err err;
	size_t mark;

	if (!streq(one->key, HOST_PORTS_ANNOTATION))
		return;
	mark = check_enter(c, "annotations");
	if (of == META_OF_VM)
		check_add_key(c, one, one->key,
			"this annotation belongs to the template's metadata");
	else if (one->kind == NODE_STRING && host_ports_parse(one->text, &ports, &err))
		check_add(c, one, one->key, "%s", err.msg);
	check_leave(c, mark);
}

static void annotation_rules(struct check *c, const struct node *meta, enum meta_of of)
{
	const struct node *annotations = node_get(meta, "annotations");
	size_t total = 0;

	for (size_t i = 0; annotations && i < annotations->n_children; i++) {
		const struct node *one = annotations->children[i];

		total += one->text && one->key ? strlen(one->key) + strlen(one->text) : 0;
		start_rules(c, one, of == META_OF_TEMPLATE);
		host_port_rules(c, one, of);
	}
	if (total > ANNOTATIONS_LEN_MAX)
		check_add_key(c, annotations, "annotations", "%zu bytes, at most %d are possible",
			total, ANNOTATIONS_LEN_MAX);
}

static void label_rules(struct check *c, const struct node *meta)
{
	const struct node *labels = node_get(meta, "labels");

	for (size_t i = 0; i < ARRAY_SIZE(reserved_labels); i++) {
		const struct node *label = node_get(labels, reserved_labels[i]);
		size_t mark;

		if (!label)
			continue;
		mark = check_enter(c, "labels");
		check_add_key(c, label, label->key, "this label is set by the agent only");
		check_leave(c, mark);
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void strategy_rules(struct check *c, const struct node *spec)
{
	const struct node *running = node_get(spec, "running");
	const struct node *strategy = node_get(spec, "runStrategy");

	if (!spec || spec->kind != NODE_MAP)
		return;
	if (running && strategy)
		check_add_key(c, running, "spec.running", "give runStrategy or running, not both");
	else if (!running && !strategy)
		check_add_key(c, spec, "spec.runStrategy",
			"field 'runStrategy' is required: Always, RerunOnFailure, Manual, Halted or Once");
}

static void named_rules(struct check *c, const struct node *spec)
{
	size_t mark = check_enter(c, "spec");

	type_rules(c, spec);
	data_volume_template_rules(c, spec);
	check_leave(c, mark);
}

/* Not of a template that is to be filled: what is missing in it may come from what it names. */
static void vmi_rules(struct check *c, const char *path, const struct node *spec)
{
	size_t mark;

	if (!spec || spec->kind != NODE_MAP)
		return;
	mark = check_enter(c, path);
	spec_rules(c, spec);
	feature_rules(c, spec);
	pinning_rules(c, spec);
	unique_rules(c, spec);
	device_rules(c, spec);
	placement_rules(c, spec);
	check_leave(c, mark);
}

static void meta_rules(struct check *c, const char *path, const struct node *meta, enum meta_of of)
{
	size_t mark;

	if (!meta)
		return;
	mark = check_enter(c, path);
	annotation_rules(c, meta, of);
	if (of != META_OF_VM)
		label_rules(c, meta);
	check_leave(c, mark);
}

/* What is stored must be readable again (NODE_TEXT_MAX), with its status and defaults. */
static void check_size(struct check *c, const struct node *root)
{
	autofree char *json = node_json(root);

	if (strlen(json) > OBJECT_LEN_MAX)
		check_add(c, root, "",
			"%zu bytes as JSON, aliases expanded; at most %d are possible",
			strlen(json), OBJECT_LEN_MAX);
}

static void check_machine(struct check *c, struct node *root, enum object_kind kind)
{
	bool vm = kind == KIND_VM;
	enum schema_scope scope = vm ? SCOPE_VM : SCOPE_VMI;
	const char *spec = vm ? "spec.template.spec" : "spec";

	schema_prune(root, scope, "");
	check_api_version(c, root);
	schema_check(c, root, scope);
	meta_rules(c, "metadata", node_get(root, "metadata"), vm ? META_OF_VM : META_OF_VMI);
	if (vm) {
		strategy_rules(c, node_get(root, "spec"));
		named_rules(c, node_get(root, "spec"));
		meta_rules(c, "spec.template.metadata", node_at(root, "spec.template.metadata"),
			META_OF_TEMPLATE);
	}
	if (!vm || !types_are_named(node_get(root, "spec")))
		vmi_rules(c, spec, node_at(root, spec));
}

static void check_object(struct check *c, struct node *root, enum object_kind kind)
{
	const struct schema_kind *known = schema_kind(object_kind_name(kind));

	if (object_kind_home(kind) == HOME_MACHINE)
		check_machine(c, root, kind);
	else
		record_check(c, root, kind);
	if (known->unused)
		check_warn_key(c, node_get(root, "kind"),
			"kept, without effect in this version; %s", known->unused);
	check_size(c, root);
}

static bool stands_after(const struct finding *a, const struct finding *b)
{
	return a->line > b->line || (a->line == b->line && a->column > b->column);
}

/* By place; those of one place keep their order. */
static void sort_findings(struct findings *f, size_t from)
{
	for (size_t i = from + 1; i < f->n; i++) {
		struct finding one = f->list[i];
		size_t j = i;

		for (; j > from && stands_after(&f->list[j - 1], &one); j--)
			f->list[j] = f->list[j - 1];
		f->list[j] = one;
	}
}

int manifest_check(const struct node *doc, const struct policy *policy, struct manifest *ret,
	struct findings *findings)
{
	struct manifest m = { .kind = KIND_VM, .warnings = xcalloc(1, sizeof(*m.warnings)) };
	struct check c = { .policy = policy, .findings = findings, .warnings = m.warnings };
	size_t before = findings->n;
	bool good;

	if (check_kind(&c, doc, &m.kind)) {
		m.root = node_copy(doc);
		check_object(&c, m.root, m.kind);
	}
	buf_done(&c.path);
	good = m.root && findings->n == before && !findings->more;
	sort_findings(findings, before);
	sort_findings(m.warnings, 0);
	if (!good) {
		manifest_done(&m);
		return -ERR_INVALID;
	}
	if (!m.warnings->n)
		free(take(&m.warnings));
	m.name = xstrdup(node_text(m.root, "metadata.name"));
	m.ns = xstrdup(
		object_kind_is_namespaced(m.kind) ? node_text(m.root, "metadata.namespace") : "");
	if (!m.ns)
		m.ns = xstrdup(policy->default_namespace ? policy->default_namespace : "default");
	*ret = m;
	return 0;
}
