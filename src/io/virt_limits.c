/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of a domain and the control groups that they need: whether libvirt's refusal was about
 * those, which it says in words only, and the domain without them.
 */
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

#include "io/virt_xml.h"

bool virt_limits_are_refused(const char *message)
{
	static const char *const words[] = {
		"cgroup",
		"tuning is not available",
		"limit locked memory",
		"not available in session mode",
	};

	for (size_t i = 0; message && i < ARRAY_SIZE(words); i++) {
		if (strcasestr(message, words[i]))
			return true;
	}
	return false;
}

/* Pinning is in <cputune> as well, and stays. */
static bool is_limit(xmlNodePtr node)
{
	static const char *const names[] = { "memtune", "shares", "global_period", "global_quota" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (node->type == XML_ELEMENT_NODE && streq((const char *)node->name, names[i]))
			return true;
	}
	return false;
}

static bool remove_limits(xmlNodePtr parent)
{
	xmlNodePtr next, node;
	bool removed = false;

	for (node = parent->children; node; node = next) {
		next = node->next;
		if (node->type == XML_ELEMENT_NODE && streq((const char *)node->name, "cputune")) {
			removed |= remove_limits(node);
		} else if (is_limit(node)) {
			xmlUnlinkNode(node);
			xmlFreeNode(node);
			removed = true;
		}
	}
	return removed;
}

char *virt_xml_without_limits(const char *xml)
{
	xmlDocPtr doc = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL,
		XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	xmlNodePtr root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlChar *text = NULL;
	char *copy;

	if (root && remove_limits(root))
		xmlDocDumpMemory(doc, &text, NULL);
	copy = xstrdup((const char *)text);
	xmlFree(text);
	xmlFreeDoc(doc);
	return copy;
}
