/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From anybody's manifest to libvirt: what is accepted becomes a domain that libvirt's own schema
 * and parser take, in which each path lies below a folder that the node allows, in the run's own,
 * or is one of those that are ours to name.
 */
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <stdio.h>
#include <string.h>

#include "core/domxml.h"
#include "core/instancetype.h"
#include "core/manifest.h"
#include "core/names.h"
#include "fuzz/manifest_mutator.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

#define FUZZ_UUID "5d307ca9-b3ef-428c-8861-06e72d69f223"
#define SCHEMA    "/usr/share/libvirt/schemas/domain.rng"
#define DISKS     "/var/lib/vmagent/disks"
#define CLAIMS    DISKS "/pvc"
#define IMAGES    "/var/lib/vmagent/images"
#define RUN       "/run/a"

static const char *const disk_roots[] = { DISKS, NULL };
static const char *const image_roots[] = { IMAGES, NULL };
static const struct policy policy = { disk_roots, image_roots, "default" };

static struct judge { /* set up once: libFuzzer knows no context */
	virConnectPtr conn;
	xmlRelaxNGPtr schema;
} judge;

static void ignore_error(void *ctx, virErrorPtr error)
{
	(void)ctx;
	(void)error;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	xmlRelaxNGParserCtxtPtr parser = xmlRelaxNGNewParserCtxt(SCHEMA);

	(void)argc;
	(void)argv;
	virSetErrorFunc(NULL, ignore_error);
	judge.schema = xmlRelaxNGParse(parser);
	xmlRelaxNGFreeParserCtxt(parser);
	judge.conn = virConnectOpen("test:///default");
	if (!judge.schema || !judge.conn)
		abort();
	return 0;
}

static void refuse(const char *why, const char *what, const char *xml)
{
	fprintf(stderr, "%s: %s\n%s\n", why, what, xml);
	abort();
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Where a text of the manifest's stands that is none of a file, whatever it looks like. */
static const char *const free_texts[] = { "cmdline", "entry", "vendor_id", NULL };

static const char *const allowed[] = { DISKS "/", IMAGES "/", RUN "/", NULL };

/* Files that the agent itself names. */
static const char *const ours[] = { "/dev/urandom", NULL };

static bool is_among(const char *text, const char *const *list, bool by_prefix)
{
	for (; *list; list++)
		if (by_prefix ? starts_with(text, *list) : streq(text, *list))
			return true;
	return false;
}

static bool is_clean(const char *path)
{
	autofree char *whole = xasprintf("%s/", path);

	return !strstr(whole, "//") && !strstr(whole, "/../") && !strstr(whole, "/./");
}

static void check_text(const char *text, const char *xml)
{
	if (*text != '/' || is_among(text, ours, false))
		return;
	if (!is_among(text, allowed, true) || !is_clean(text))
		refuse("a path outside", text, xml);
}

static void check_paths(xmlNodePtr node, const char *xml)
{
	for (; node; node = node->next) {
		if (node->type != XML_ELEMENT_NODE ||
			is_among((const char *)node->name, free_texts, false))
			continue;
		for (xmlAttrPtr a = node->properties; a; a = a->next) {
			xmlChar *value = xmlNodeListGetString(node->doc, a->children, 1);

			check_text(value ? (const char *)value : "", xml);
			xmlFree(value);
		}
		if (node->children && node->children->type == XML_TEXT_NODE)
			check_text((const char *)node->children->content, xml);
		check_paths(node->children, xml);
	}
}

/* What is looked at, made or linked before the start. */
static void check_work(const struct volume_work *work)
{
	static const char *const targets[] = { DISKS "/", RUN "/", NULL };
	static const char *const links[] = { RUN "/", NULL };
	static const char *const bases[] = { IMAGES "/", NULL },
				 *const claims[] = { CLAIMS "/", NULL };

	if (!is_among(work->target, targets, true) || !is_clean(work->target))
		refuse("a path outside is made", work->target, "");
	if (work->link && (!is_among(work->link, links, true) || !is_clean(work->link)))
		refuse("a link outside is made", work->link, "");
	if (work->inner && !is_inner_path(work->inner))
		refuse("a path leads out of its image", work->inner, "");
	if (work->base && (!is_clean(work->base) || *work->base == '-'))
		refuse("an image of a bad name", work->base, "");
	if (work->base && *work->base == '/' &&
		!is_among(work->base, work->claimed ? claims : bases, true))
		refuse("an image outside", work->base, "");
}

static void check_works(const struct vmi_spec *spec)
{
	struct op op = { .kind = OP_PREPARE };

	volume_works(spec, RUN, &op.work, &op.n_work);
	for (size_t i = 0; i < op.n_work; i++)
		check_work(&op.work[i]);
	op_done(&op);
}

/* ---- libvirt --------------------------------------------------------------------------------- */

static bool has_format(xmlNodePtr backing)
{
	for (xmlNodePtr child = backing->children; child; child = child->next)
		if (streq((const char *)child->name, "format"))
			return true;
	return false;
}

/* What only the adapter can know, once it has looked at the file. */
static void complete(xmlNodePtr node)
{
	for (; node; node = node->next) {
		bool backing = node->type == XML_ELEMENT_NODE &&
			streq((const char *)node->name, "backingStore") && node->children &&
			!has_format(node);

		if (backing) {
			xmlNodePtr format = xmlNewDocNode(node->doc, NULL, BAD_CAST "format", NULL);

			xmlNewProp(format, BAD_CAST "type", BAD_CAST "raw");
			xmlAddPrevSibling(node->children, format);
		}
		complete(node->children);
	}
}

static void keep_words(void *ctx, const char *fmt, ...)
{
	struct buf *words = ctx;
	char part[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(part, sizeof(part), fmt, ap);
	va_end(ap);
	if (words->len < 2000)
		buf_puts(words, part);
}

static void check_schema(xmlDocPtr doc, const char *xml)
{
	xmlRelaxNGValidCtxtPtr valid = xmlRelaxNGNewValidCtxt(judge.schema);
	struct buf words = { 0 };

	xmlRelaxNGSetValidErrors(valid, keep_words, keep_words, &words);
	if (xmlRelaxNGValidateDoc(valid, doc) != 0)
		refuse("not by libvirt's schema", words.data, xml);
	buf_done(&words);
	xmlRelaxNGFreeValidCtxt(valid);
}

static void check_parser(const char *xml)
{
	virDomainPtr domain = virDomainDefineXML(judge.conn, xml);

	if (!domain)
		refuse("not for libvirt's parser", virGetLastErrorMessage(), xml);
	virDomainUndefine(domain);
	virDomainFree(domain);
}

static void check_xml(const char *xml)
{
	xmlChar *whole;
	int size;
	xmlDocPtr doc = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET);

	if (!doc)
		refuse("not XML", "", xml);
	check_paths(xmlDocGetRootElement(doc), xml);
	complete(xmlDocGetRootElement(doc));
	check_schema(doc, xml);
	xmlDocDumpMemory(doc, &whole, &size);
	check_parser((const char *)whole);
	xmlFree(whole);
	xmlFreeDoc(doc);
}

/* ---- manifests ------------------------------------------------------------------------------- */

static void make_domain(const struct manifest *m, const struct vmi_spec *spec, bool kvm)
{
	struct domain_context context = { .ns = m->ns,
		.name = m->name,
		.vmi_uid = FUZZ_UUID,
		.vm_uid = m->kind == KIND_VM ? FUZZ_UUID : "",
		.epoch = 1,
		.directory = RUN,
		.kvm = kvm,
		.pvpanic = false };
	autofree char *xml = domain_xml(spec, &context);

	check_xml(xml);
}

/* As the agent does it: where the files of its claims lie. */
static void bind_claims(const char *ns, struct vmi_spec *spec)
{
	for (size_t i = 0; i < spec->n_volumes; i++)
		if (spec->volumes[i].claim)
			spec->volumes[i].path =
				xasprintf(CLAIMS "/%s/%s/disk.img", ns, spec->volumes[i].claim);
}

static void accepted(struct manifest *m)
{
	struct vmi_spec spec;
	struct node *tree;
	struct err err;

	if (m->kind == KIND_VM && types_are_named(node_get(m->root, "spec")))
		return; /* its run is made of more than is there */
	manifest_default(m->kind, m->root, FUZZ_UUID);
	tree = m->kind == KIND_VM ? vmi_spec_tree(node_get(m->root, "spec"))
				  : node_copy(node_get(m->root, "spec"));
	if (spec_parse(tree, &spec, &err))
		refuse("what was checked cannot be typed", err.msg, "");
	bind_claims(m->ns, &spec);
	check_works(&spec);
	make_domain(m, &spec, false);
	make_domain(m, &spec, true);
	vmi_spec_done(&spec);
	node_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct documents docs = { 0 };
	struct place place;

	if (nodes_parse((const char *)data, size, &docs, &place, NULL))
		return 0;
	for (size_t i = 0; i < docs.n; i++) {
		struct findings findings = { 0 };
		struct manifest m = { 0 };

		if (manifest_check(docs.roots[i], &policy, &m, &findings) == 0 &&
			object_kind_home(m.kind) == HOME_MACHINE)
			accepted(&m);
		manifest_done(&m);
		findings_done(&findings);
	}
	documents_done(&docs);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return manifest_mutate(data, size, max, seed);
}
