/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents, and the walk that takes one apart into facts, device by device. Elements of other
 * name spaces (QEMU's command line among them) keep theirs in their path, so nothing passes for
 * what it is not.
 */
#include "core/relay_xml.h"

#include <libxml/parser.h>
#include <string.h>

#include "core/relay_facts.h"

#define DEPTH_MAX    32
#define ELEMENTS_MAX 20000
#define DEVICES_MAX  1000
#define SHOWN        "%.120s" /* of what comes from outside, in words */
#define DEVICES      "domain/devices"
#define UNIT         "KiB" /* in which libvirt tells memory */

struct walk {
	struct xml_facts *into;
	bool prepared; /* all of it is kept; else not what is harmless */
	size_t device; /* the one that it is in; 0: none */
	unsigned elements;
	struct err *err;
};

/* ---- amounts --------------------------------------------------------------------------------- */

static const struct {
	const char *path, *attribute; /* NULL: its text */
	enum facts_amount amount;
	bool adds; /* to those of its kind that were met before */
} amounts[] = {
	{ "domain/memory", NULL, FACTS_MEMORY, false },
	{ "domain/cpu/numa/cell", "memory", FACTS_NUMA, true },
	{ "domain/vcpu", NULL, FACTS_CPUS, false },
	{ "domain/iothreads", NULL, FACTS_IOTHREADS, false },
};

static char *text_of(xmlChar *taken)
{
	char *ret = xstrdup(taken ? (const char *)taken : "");

	xmlFree(taken);
	return ret;
}

/* libvirt reads nothing that is longer than a number either. */
static uint64_t number_of(const char *text)
{
	unsigned long long n = strtoull(text, NULL, 10);

	return strchr(text, '-') ? FACTS_AMOUNT_MAX : MIN(n, (unsigned long long)FACTS_AMOUNT_MAX);
}

static int check_unit(const struct walk *w, const char *path, xmlNodePtr node)
{
	autofree char *unit = text_of(xmlGetNoNsProp(node, BAD_CAST "unit"));

	if (!*unit || streq(unit, UNIT))
		return 0;
	return err_set(w->err, ERR_FORBIDDEN,
		"the XML has '%s@unit=%.40s', and libvirt tells memory in " UNIT, path, unit);
}

static int meet_amount(const struct walk *w, const char *path, const xmlNode *const_node)
{
	xmlNodePtr node = (xmlNodePtr)(uintptr_t)const_node;
	uint64_t *total = w->into->amounts;

	total[FACTS_IOTHREAD_IDS] += streq(path, "domain/iothreadids/iothread");
	for (size_t i = 0; i < ARRAY_SIZE(amounts); i++) {
		const char *attribute = amounts[i].attribute;
		uint64_t *at = &total[amounts[i].amount], n;
		autofree char *text = NULL;

		if (!streq(path, amounts[i].path))
			continue;
		text = text_of(attribute ? xmlGetNoNsProp(node, BAD_CAST attribute)
					 : xmlNodeGetContent(node));
		n = number_of(text);
		*at = amounts[i].adds ? *at + n : MAX(*at, n);
		return check_unit(w, path, node);
	}
	return 0;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* value: of an attribute or a text, NULL for an element itself. What is free may
 * still name no path. */
static void meet(struct walk *w, const char *fact, const char *value, bool free_here)
{
	if (w->prepared || !free_here || (value && value[0] == '/'))
		facts_add(w->into, w->device, fact);
}

/* libvirt shows the first serial line as a console, too. */
static char *path_of(const char *parent, const xmlNode *node)
{
	const char *name = (const char *)node->name;
	const char *space = node->ns && node->ns->href ? (const char *)node->ns->href : "";

	if (streq(name, "console") && streq(parent, DEVICES))
		name = "serial";
	return xasprintf("%s%s%s%s%s%s", parent, *parent ? "/" : "", *space ? "{" : "", space,
		*space ? "}" : "", name);
}

static void meet_attributes(struct walk *w, const char *path, const xmlNode *node, bool free_here)
{
	for (const xmlAttr *a = node->properties; a; a = a->next) {
		autofree char *text = text_of(xmlNodeListGetString(node->doc, a->children, 1));
		autofree char *fact = xasprintf("%s@%s=%s", path, (const char *)a->name, text);

		if (!(streq(path, "domain") && streq((const char *)a->name, "id")))
			meet(w, fact, text, free_here && !facts_reaches((const char *)a->name));
	}
}

static void meet_text(struct walk *w, const char *path, const xmlNode *node, bool free_here)
{
	struct buf text = { 0 };
	const char *from = "";

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

		meet(w, fact, from, free_here);
	}
	buf_done(&text);
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
	bool is_device = streq(parent, DEVICES);
	int ret;

	if (depth > DEPTH_MAX || ++w->elements > ELEMENTS_MAX)
		return err_set(w->err, ERR_TOO_LARGE, "the XML is too deep or too large");
	if (is_device && w->into->n > DEVICES_MAX)
		return err_set(w->err, ERR_TOO_LARGE, "the XML has more than %d devices",
			DEVICES_MAX);
	if (is_device)
		w->device = facts_add_device(w->into, path);
	free_here = free_here || facts_harmless(path);
	meet(w, path, NULL, free_here);
	meet_attributes(w, path, node, free_here);
	meet_text(w, path, node, free_here);
	ret = meet_amount(w, path, node);
	for (const xmlNode *n = node->children; n && ret == 0; n = n->next) {
		if (n->type == XML_ELEMENT_NODE)
			ret = visit(w, n, persistent(n) ? "" : path, free_here && depth, depth + 1);
	}
	if (is_device)
		w->device = 0;
	return ret;
}

/* ---- documents ------------------------------------------------------------------------------- */

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
	struct xml_facts *told = facts_new();
	struct walk w = { .into = told, .err = err };
	int rc = check_identity(facts, top, err);

	if (rc == 0)
		rc = visit(&w, top, "", false, 0);
	facts_sort(told);
	if (rc == 0)
		rc = facts_compare(facts, told, err);
	xml_facts_free(told);
	return rc;
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
	struct walk w = { .prepared = true, .err = err };
	int rc;

	if (!doc)
		return err_set(err, ERR_INVALID, "the prepared XML is no domain's");
	facts = w.into = facts_new();
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
	facts_sort(facts);
	*ret = facts;
	return 0;
}

const char *xml_facts_name(const struct xml_facts *facts)
{
	return facts->name;
}
