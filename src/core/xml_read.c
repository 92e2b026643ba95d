/* SPDX-License-Identifier: Apache-2.0 */
/* Finding one's way in a tree of libxml2's. */
#include "core/xml_read.h"

#include <vmagent/base.h>

xmlNodePtr xml_next(xmlNodePtr from, const char *name)
{
	for (; from; from = from->next)
		if (from->type == XML_ELEMENT_NODE && streq((const char *)from->name, name))
			return from;
	return NULL;
}

xmlNodePtr xml_child(xmlNodePtr parent, const char *name)
{
	return parent ? xml_next(parent->children, name) : NULL;
}

char *xml_get(xmlNodePtr node, const char *name)
{
	xmlChar *value = node ? xmlGetNoNsProp(node, BAD_CAST name) : NULL;
	char *copy = xstrdup((const char *)value);

	xmlFree(value);
	return copy;
}
