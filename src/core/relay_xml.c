/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk that collects, and the same walk that compares. Elements of other name spaces (QEMU's command line among them)
 * keep theirs in their path, so nothing passes for what it is not.
 */
#include "core/relay_xml.h"

#include <libxml/parser.h>
#include <string.h>

#define DEPTH_MAX    32
#define ELEMENTS_MAX 20000
#define SHOWN        "%.120s" /* of what comes from outside, in words */

struct xml_facts {
	char **list; /* sorted */
	size_t n, cap;
	char *name, *uuid;
};

struct walk {
	struct xml_facts *collect;     /* or NULL: compare … */
	const struct xml_facts *known; /* … with these */
	unsigned elements;
	struct err *err;
};

/* ---- what reaches nothing of the host ------------------------------------------------------------------ */

/* Elements with all that is below them; * is any one element. libvirt adds, drops and spells out these by itself. */
static const char *const harmless[] = {
	"domain/title",
	"domain/description",
	"domain/genid",
	"domain/memory",
	"domain/currentMemory",
	"domain/maxMemory",
	"domain/vcpu",
	"domain/vcpus",
	"domain/cputune",
	"domain/iothreads",
	"domain/iothreadids",
	"domain/os/type",
	"domain/os/boot",
	"domain/os/bootmenu",
	"domain/features",
	"domain/cpu",
	"domain/clock",
	"domain/pm",
	"domain/devices/controller",
	"domain/devices/memballoon",
	"domain/devices/video",
	"domain/devices/panic",
	"domain/devices/hub",
	"domain/devices/*/address",
	"domain/devices/*/alias",
	"domain/devices/*/boot",
	"domain/devices/*/protocol",
	"domain/devices/disk/target",
	"domain/devices/disk/iotune",
	"domain/devices/disk/blockio",
	"domain/devices/disk/geometry",
	"domain/devices/disk/serial",
	"domain/devices/disk/wwn",
	"domain/devices/serial/target",
	"domain/devices/channel/target",
	"domain/devices/parallel/target",
	"domain/devices/interface/mac",
	"domain/devices/interface/model",
	"domain/devices/interface/bandwidth",
	"domain/devices/interface/mtu",
	"domain/devices/interface/link",
};

/* Attributes that may name a file, a device or a place in the network: prepared, or not there, wherever they stand. */
static const char *const reaching[] = { "file", "dev", "path", "dir", "rendernode", "evdev",
	"script", "uri", "socket", "host", "bridge", "network" };

/* Of a cookie: all but the domain. Their texts are names of hosts, numbers, and what the CPU can do. */
static const char *const cookie_parts[] = {
	"qemu-migration/name",
	"qemu-migration/uuid",
	"qemu-migration/hostname",
	"qemu-migration/hostuuid",
	"qemu-migration/feature",
	"qemu-migration/graphics",
	"qemu-migration/lockstate",
	"qemu-migration/network",
	"qemu-migration/nbd",
	"qemu-migration/statistics",
	"qemu-migration/cpu",
	"qemu-migration/capabilities",
	"qemu-migration/blockDirtyBitmaps",
};

/* Single facts that libvirt adds to every domain. */
static const char *const added[] = {
	"domain",
	"domain/os",
	"domain/devices",
	"domain/os/boot@dev=hd",
	"domain/on_poweroff",
	"domain/on_poweroff=destroy",
	"domain/on_reboot",
	"domain/on_reboot=restart",
	"domain/on_crash",
	"domain/on_crash=destroy",
	"domain/devices/input",
	"domain/devices/input@type=mouse",
	"domain/devices/input@type=keyboard",
	"domain/devices/input@bus=ps2",
	"domain/devices/audio",
	"domain/devices/audio@id=1",
	"domain/devices/audio@type=none",
	"domain/devices/disk/backingStore",
	"domain/resource",
	"domain/resource/partition",
	"domain/resource/partition=/machine",
};

static bool matches(const char *pattern, const char *path)
{
	for (; *pattern; pattern++) {
		if (*pattern == '*') {
			path += strcspn(path, "/");
			continue;
		}
		if (*pattern != *path++)
			return false;
	}
	return *path == '\0';
}

static bool is_in(const char *const *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (matches(list[i], path))
			return true;
	return false;
}

static bool is_harmless(const char *path)
{
	return is_in(harmless, ARRAY_SIZE(harmless), path) ||
		is_in(cookie_parts, ARRAY_SIZE(cookie_parts), path) ||
		streq(path, "qemu-migration");
}

/* ---- facts ----------------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void collect(struct xml_facts *facts, const char *fact)
{
	if (facts->n == facts->cap) {
		facts->cap = facts->cap ? 2 * facts->cap : 64;
		facts->list = xrealloc_array(facts->list, facts->cap, sizeof(*facts->list));
	}
	facts->list[facts->n++] = xstrdup(fact);
}

static bool is_known(const struct xml_facts *facts, const char *fact)
{
	for (size_t i = 0; i < ARRAY_SIZE(added); i++)
		if (streq(added[i], fact))
			return true;
	return facts->n && bsearch(&fact, facts->list, facts->n, sizeof(*facts->list), by_text);
}

/* value: of an attribute or a text, NULL for an element itself. */
static int meet(struct walk *w, const char *fact, const char *value, bool free_here)
{
	if (w->collect) {
		collect(w->collect, fact);
		return 0;
	}
	if ((free_here && !(value && value[0] == '/')) || is_known(w->known, fact))
		return 0;
	return err_set(w->err, ERR_FORBIDDEN, "the XML has '" SHOWN "', which was not prepared",
		fact);
}

/* ---- the walk --------------------------------------------------------------------------------------------- */

/* libvirt shows the first serial line as a console, too. */
static char *path_of(const char *parent, const xmlNode *node)
{
	const char *name = (const char *)node->name;
	const char *space = node->ns && node->ns->href ? (const char *)node->ns->href : "";

	if (streq(name, "console") && streq(parent, "domain/devices"))
		name = "serial";
	return xasprintf("%s%s%s%s%s%s", parent, *parent ? "/" : "", *space ? "{" : "", space,
		*space ? "}" : "", name);
}

static int meet_attributes(struct walk *w, const char *path, const xmlNode *node, bool free_here)
{
	int ret = 0;

	for (const xmlAttr *a = node->properties; a && ret == 0; a = a->next) {
		xmlChar *value = xmlNodeListGetString(node->doc, a->children, 1);
		const char *text = value ? (const char *)value : "";
		autofree char *fact = xasprintf("%s@%s=%s", path, (const char *)a->name, text);

		if (!(streq(path, "domain") && streq((const char *)a->name, "id")))
			ret = meet(w, fact, text,
				free_here &&
					!is_in(reaching, ARRAY_SIZE(reaching),
						(const char *)a->name));
		xmlFree(value);
	}
	return ret;
}

static int meet_text(struct walk *w, const char *path, const xmlNode *node, bool free_here)
{
	struct buf text = { 0 };
	const char *from = "";
	int ret = 0;

	for (const xmlNode *n = node->children; n; n = n->next)
		if ((n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE) && n->content)
			buf_puts(&text, (const char *)n->content);
	if (text.data) {
		while (text.len && strchr(" \t\r\n", text.data[text.len - 1]))
			text.data[--text.len] = '\0';
		from = text.data + strspn(text.data, " \t\r\n");
	}
	if (*from) {
		autofree char *fact = xasprintf("%s=%s", path, from);

		ret = meet(w, fact, from, free_here);
	}
	buf_done(&text);
	return ret;
}

/* The domain in a cookie is one like that of a document of its own. */
static bool persistent(const xmlNode *node)
{
	return streq((const char *)node->name, "domain") && !node->parent->ns &&
		node->parent == xmlDocGetRootElement(node->doc) &&
		streq((const char *)node->parent->name, "qemu-migration");
}

static int visit(struct walk *w, const xmlNode *node, const char *parent, bool free_here,
	unsigned depth)
{
	autofree char *path = path_of(parent, node);
	int ret;

	if (depth > DEPTH_MAX || ++w->elements > ELEMENTS_MAX)
		return err_set(w->err, ERR_TOO_LARGE, "the XML is too deep or too large");
	free_here = free_here || is_harmless(path);
	ret = meet(w, path, NULL, free_here);
	if (ret == 0)
		ret = meet_attributes(w, path, node, free_here);
	if (ret == 0)
		ret = meet_text(w, path, node, free_here);
	for (const xmlNode *n = node->children; n && ret == 0; n = n->next) {
		if (n->type == XML_ELEMENT_NODE)
			ret = visit(w, n, persistent(n) ? "" : path, free_here && depth, depth + 1);
	}
	return ret;
}

/* ---- documents ----------------------------------------------------------------------------------------- */

static xmlDocPtr parse(const char *xml, size_t len, const char *root, struct err *err)
{
	xmlDocPtr doc = xmlReadMemory(xml, (int)len, NULL, NULL,
		XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	xmlNodePtr top = doc ? xmlDocGetRootElement(doc) : NULL;

	if (top && !doc->intSubset && !top->ns && streq((const char *)top->name, root))
		return doc;
	err_set(err, ERR_FORBIDDEN, "what should be the XML of <%s> is none", root);
	xmlFreeDoc(doc);
	return NULL;
}

/* The text of the child of that name, which is there exactly once; else NULL. */
static char *child_text(const xmlNode *node, const char *name)
{
	char *ret = NULL;
	unsigned n = 0;

	for (const xmlNode *c = node->children; c; c = c->next) {
		xmlChar *text;

		if (c->type != XML_ELEMENT_NODE || !streq((const char *)c->name, name) || n++)
			continue;
		text = xmlNodeGetContent(c);
		ret = xstrdup((const char *)text);
		xmlFree(text);
	}
	if (n == 1)
		return ret;
	free(ret);
	return NULL;
}

static int check_identity(const struct xml_facts *facts, const xmlNode *node, struct err *err)
{
	autofree char *name = child_text(node, "name"), *uuid = child_text(node, "uuid");

	if (streq(name, facts->name) && streq(uuid, facts->uuid))
		return 0;
	return err_set(err, ERR_FORBIDDEN,
		"it is about the domain '" SHOWN
		"' with the UUID '%.40s', not about '%s' with '%s'",
		name ? name : "?", uuid ? uuid : "?", facts->name, facts->uuid);
}

static int compare(const struct xml_facts *facts, const xmlNode *top, struct err *err)
{
	struct walk w = { .known = facts, .err = err };
	int rc = check_identity(facts, top, err);

	return rc < 0 ? rc : visit(&w, top, "", false, 0);
}

int xml_facts_check_domain(const struct xml_facts *facts, const char *xml, size_t len,
	struct err *err)
{
	xmlDocPtr doc = parse(xml, len, "domain", err);
	int ret;

	if (!doc)
		return -ERR_FORBIDDEN;
	ret = compare(facts, xmlDocGetRootElement(doc), err);
	xmlFreeDoc(doc);
	return ret;
}

int xml_facts_check_cookie(const struct xml_facts *facts, const char *xml, size_t len,
	struct err *err)
{
	xmlDocPtr doc;
	int ret;

	if (len && xml[len - 1] == '\0') /* libvirt counts it */
		len--;
	if (!len)
		return 0;
	doc = parse(xml, len, "qemu-migration", err);
	if (!doc)
		return -ERR_FORBIDDEN;
	ret = compare(facts, xmlDocGetRootElement(doc), err);
	xmlFreeDoc(doc);
	return ret;
}

int xml_facts_new(const char *xml, struct xml_facts **ret, struct err *err)
{
	xmlDocPtr doc = parse(xml, strlen(xml), "domain", err);
	struct xml_facts *facts;
	struct walk w = { .err = err };
	int rc;

	if (!doc)
		return err_set(err, ERR_INVALID, "the prepared XML is no domain's");
	facts = w.collect = xcalloc(1, sizeof(*facts));
	facts->name = child_text(xmlDocGetRootElement(doc), "name");
	facts->uuid = child_text(xmlDocGetRootElement(doc), "uuid");
	rc = visit(&w, xmlDocGetRootElement(doc), "", false, 0);
	xmlFreeDoc(doc);
	if (rc == 0 && !(facts->name && facts->uuid))
		rc = err_set(err, ERR_INVALID, "the prepared XML has no name or no UUID");
	if (rc < 0) {
		xml_facts_free(facts);
		return rc;
	}
	qsort(facts->list, facts->n, sizeof(*facts->list), by_text);
	*ret = facts;
	return 0;
}

void xml_facts_free(struct xml_facts *facts)
{
	if (!facts)
		return;
	for (size_t i = 0; i < facts->n; i++)
		free(facts->list[i]);
	free(facts->list);
	free(facts->name);
	free(facts->uuid);
	free(facts);
}

const char *xml_facts_name(const struct xml_facts *facts)
{
	return facts->name;
}
