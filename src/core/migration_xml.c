/* SPDX-License-Identifier: Apache-2.0 */
/* Two trees, walked side by side; parts of the first one replace the second one's. */
#include "core/migration_xml.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

/* The guest sees them, and nothing of the host stands in them. */
static const char *const guests[] = { "cpu", "vcpu" };

static xmlDocPtr parse(const char *xml, const char *whose, struct err *err)
{
	xmlDocPtr doc = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL,
		XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOBLANKS);
	xmlNodePtr top = doc ? xmlDocGetRootElement(doc) : NULL;

	if (top && !doc->intSubset && streq((const char *)top->name, "domain"))
		return doc;
	err_set(err, ERR_INVALID, "the domain as %s has it is none", whose);
	xmlFreeDoc(doc);
	return NULL;
}

static xmlNodePtr find(xmlNodePtr from, const char *name)
{
	while (from && !(from->type == XML_ELEMENT_NODE && streq((const char *)from->name, name)))
		from = from->next;
	return from;
}

static xmlNodePtr child(xmlNodePtr parent, const char *name)
{
	return parent ? find(parent->children, name) : NULL;
}

/* Of parent, in place of `old`, or beside what is there; without a new one it goes. */
static void put(xmlNodePtr parent, xmlNodePtr old, xmlNodePtr new)
{
	xmlNodePtr copy = new ? xmlDocCopyNode(new, parent->doc, 1) : NULL;

	if (old && copy)
		xmlReplaceNode(old, copy);
	else if (old)
		xmlUnlinkNode(old);
	else if (copy)
		xmlAddChild(parent, copy);
	if (old)
		xmlFreeNode(old);
}

static void replace(xmlNodePtr here, xmlNodePtr there, const char *name)
{
	if (there)
		put(there, child(there, name), child(here, name));
}

/* One that the target has and the guest does not see is not there. */
static void replace_controllers(xmlNodePtr here, xmlNodePtr there)
{
	xmlNodePtr c;

	while ((c = child(there, "controller")))
		put(there, c, NULL);
	for (c = child(here, "controller"); c; c = find(c->next, "controller"))
		put(there, NULL, c);
}

/* Devices of a kind are in the same order in both. */
static int replace_addresses(xmlNodePtr here, xmlNodePtr there, struct err *err)
{
	for (xmlNodePtr to = there->children; to; to = to->next) {
		const char *name = (const char *)to->name;
		xmlNodePtr from, before;
		unsigned n = 0;

		if (to->type != XML_ELEMENT_NODE || streq(name, "controller"))
			continue;
		for (before = child(there, name); before != to; before = find(before->next, name))
			n++;
		for (from = child(here, name); from && n; n--)
			from = find(from->next, name);
		if (!from)
			return err_set(err, ERR_INVALID,
				"the target has made ready a <%s> that the guest does not have",
				name);
		replace(from, to, "address");
	}
	return 0;
}

/* libvirt executes it to learn what it can do, as soon as it reads this domain: on this host. */
static int check_emulator(xmlNodePtr here, xmlNodePtr there, struct err *err)
{
	xmlChar *ours = xmlNodeGetContent(child(here, "emulator"));
	int rc = 0;

	for (xmlNodePtr e = child(there, "emulator"); e && rc == 0; e = find(e->next, "emulator")) {
		xmlChar *theirs = xmlNodeGetContent(e);

		if (!xmlStrEqual(ours, theirs))
			rc = err_set(err, ERR_INVALID,
				"the target would have the guest run by '%.150s', not by '%.150s'",
				theirs ? (const char *)theirs : "", ours ? (const char *)ours : "");
		xmlFree(theirs);
	}
	xmlFree(ours);
	return rc;
}

static int merge(xmlNodePtr here, xmlNodePtr there, struct err *err)
{
	xmlNodePtr from = child(here, "devices"), to = child(there, "devices");

	if (!from || !to)
		return err_set(err, ERR_INVALID, "a domain without devices cannot be moved");
	if (find(to->next, "devices"))
		return err_set(err, ERR_INVALID,
			"the domain as the target has it has more than one <devices>");
	if (check_emulator(from, to, err) < 0)
		return -ERR_INVALID;
	for (size_t i = 0; i < ARRAY_SIZE(guests); i++)
		replace(here, there, guests[i]);
	replace(child(here, "os"), child(there, "os"), "type");
	replace_controllers(from, to);
	return replace_addresses(from, to, err);
}

static char *print(xmlDocPtr doc)
{
	xmlChar *text = NULL;
	char *copy;
	int size;

	xmlDocDumpMemory(doc, &text, &size);
	if (!text)
		abort();
	copy = xstrdup((const char *)text);
	xmlFree(text);
	return copy;
}

int migration_xml(const char *here, const char *there, char **ret, struct err *err)
{
	xmlDocPtr ours = parse(here, "this host", err);
	xmlDocPtr theirs = ours ? parse(there, "the target", err) : NULL;
	int rc = theirs ? merge(xmlDocGetRootElement(ours), xmlDocGetRootElement(theirs), err)
			: -ERR_INVALID;

	if (rc == 0)
		*ret = print(theirs);
	xmlFreeDoc(ours);
	xmlFreeDoc(theirs);
	return rc;
}
