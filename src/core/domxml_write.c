/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XML in a few words. Every call of libxml2's writer is checked at one place: in memory it fails
 * only when there is no memory, and out of memory aborts here as everywhere.
 */
#include "core/domxml_write.h"

#include <inttypes.h>
#include <stdio.h>

static void must(int written)
{
	if (written < 0)
		abort();
}

struct xml_text xml_begin(void)
{
	struct xml_text text = { .buffer = xmlBufferCreate() };

	text.w = text.buffer ? xmlNewTextWriterMemory(text.buffer, 0) : NULL;
	if (!text.w)
		abort();
	xmlTextWriterSetIndent(text.w, 1);
	xmlTextWriterSetIndentString(text.w, BAD_CAST "  ");
	return text;
}

char *xml_end(struct xml_text *text)
{
	char *xml;

	xmlFreeTextWriter(take(&text->w)); /* flushes */
	xml = xstrdup((const char *)xmlBufferContent(text->buffer));
	xmlBufferFree(take(&text->buffer));
	return xml;
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

void xml_put(xmlTextWriterPtr w, const char *text)
{
	must(xmlTextWriterWriteString(w, BAD_CAST text));
}

void xml_leaf(xmlTextWriterPtr w, const char *element, const char *text)
{
	if (text)
		must(xmlTextWriterWriteElement(w, BAD_CAST element, BAD_CAST text));
}

void xml_bytes(xmlTextWriterPtr w, const char *element, int64_t value)
{
	autofree char *text = xasprintf("%" PRId64, value);

	xml_open(w, element);
	xml_attr(w, "unit", "b");
	xml_put(w, text);
	xml_close(w);
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

void xml_boot_order(xmlTextWriterPtr w, unsigned order)
{
	if (!order)
		return;
	xml_open(w, "boot");
	xml_attr_int(w, "order", order);
	xml_close(w);
}

/* libvirt keeps an alias of ours through the domain's life, and events about the device name it. */
void xml_alias(xmlTextWriterPtr w, const char *name)
{
	autofree char *text = xasprintf(ALIAS_PREFIX "%s", name);

	xml_empty(w, "alias", "name", text, NULL);
}

/* dddd:bb:ss.f, as the manifest's grammar has it */
static void pci_address(xmlTextWriterPtr w, const char *text, bool typed)
{
	unsigned domain, bus, slot, function;
	autofree char *domain_text = NULL, *bus_text = NULL, *slot_text = NULL;
	char function_text[4];

	if (!text || sscanf(text, "%4x:%2x:%2x.%1u", &domain, &bus, &slot, &function) != 4)
		return;
	domain_text = xasprintf("0x%04x", domain);
	bus_text = xasprintf("0x%02x", bus);
	slot_text = xasprintf("0x%02x", slot);
	snprintf(function_text, sizeof(function_text), "0x%u", function & 7);
	xml_open(w, "address");
	xml_attr(w, "type", typed ? "pci" : NULL);
	xml_attr(w, "domain", domain_text);
	xml_attr(w, "bus", bus_text);
	xml_attr(w, "slot", slot_text);
	xml_attr(w, "function", function_text);
	xml_close(w);
}

void xml_pci_address(xmlTextWriterPtr w, const char *text)
{
	pci_address(w, text, true);
}

void xml_pci_source(xmlTextWriterPtr w, const char *text)
{
	pci_address(w, text, false);
}
