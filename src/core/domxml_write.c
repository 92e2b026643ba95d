/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XML in a few words. Every call of libxml2's writer is checked at one place: in memory it fails only
 * when there is no memory, and out of memory aborts here as everywhere.
 */
#include "core/domxml_write.h"

#include <inttypes.h>
#include <stdio.h>

static void must(int written)
{
	if (written < 0)
		abort();
}

void xml_open(xmlTextWriterPtr w, const char *element)
{
	must(xmlTextWriterStartElement(w, BAD_CAST element));
}

void xml_close(xmlTextWriterPtr w)
{
	must(xmlTextWriterEndElement(w));
}

void xml_attr(xmlTextWriterPtr w, const char *name, const char *value)
{
	if (value)
		must(xmlTextWriterWriteAttribute(w, BAD_CAST name, BAD_CAST value));
}

void xml_attr_int(xmlTextWriterPtr w, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	xml_attr(w, name, text);
}

void xml_leaf(xmlTextWriterPtr w, const char *element, const char *text)
{
	if (text)
		must(xmlTextWriterWriteElement(w, BAD_CAST element, BAD_CAST text));
}

void xml_empty(xmlTextWriterPtr w, const char *element, ...)
{
	const char *name;
	va_list ap;

	xml_open(w, element);
	va_start(ap, element);
	while ((name = va_arg(ap, const char *)))
		xml_attr(w, name, va_arg(ap, const char *));
	va_end(ap);
	xml_close(w);
}
