/* SPDX-License-Identifier: Apache-2.0 */
#include "io/virt_xml_tree.h"

#include <string.h>

xmlDocPtr tree_read(const char *xml)
{
	return xmlReadMemory(xml, (int)strlen(xml), NULL, NULL,
		XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOBLANKS);
}

xmlNodePtr tree_find(xmlNodePtr from, const char *name)
{
	for (; from; from = from->next)
		if (from->type == XML_ELEMENT_NODE && streq((const char *)from->name, name))
			return from;
	return NULL;
}

xmlNodePtr tree_child(xmlNodePtr parent, const char *name)
{
	return parent ? tree_find(parent->children, name) : NULL;
}

char *tree_attr(xmlNodePtr node, const char *name)
{
	xmlChar *value = node ? xmlGetNoNsProp(node, BAD_CAST name) : NULL;
	char *copy = xstrdup((const char *)value);

	xmlFree(value);
	return copy;
}

char *tree_print(xmlDocPtr doc)
{
	xmlChar *text = NULL;
	char *copy;
	int size;

	xmlDocDumpFormatMemory(doc, &text, &size, 1);
	if (!text)
		abort();
	copy = xstrdup((const char *)text);
	xmlFree(text);
	return copy;
}
