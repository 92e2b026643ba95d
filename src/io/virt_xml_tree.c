/* SPDX-License-Identifier: Apache-2.0 */
#include "io/virt_xml_tree.h"

#include <string.h>

xmlDocPtr tree_read(const char *xml)
{
	return xmlReadMemory(xml, (int)strlen(xml), NULL, NULL,
		XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOBLANKS);
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
