/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose domain it is: our metadata element, read back from libvirt. It comes either within a
 * domain's XML or alone, and alone libvirt hands it out without its namespace. Documents from
 * outside: no network, no entities, a DOCTYPE ends it.
 */
#include "core/domxml.h"

#include <libxml/xmlreader.h>
#include <string.h>

/* A libvirt domain's own root element is also called <domain>, but has no attribute `vmi`. */
static bool is_ours(xmlTextReaderPtr reader)
{
	const char *name = (const char *)xmlTextReaderConstLocalName(reader);
	const char *uri = (const char *)xmlTextReaderConstNamespaceUri(reader);

	if (xmlTextReaderNodeType(reader) != XML_READER_TYPE_ELEMENT || !streq(name, "domain"))
		return false;
	return uri ? streq(uri, DOMAIN_METADATA_URI) : xmlTextReaderDepth(reader) == 0;
}

struct element {
	char vmi_uid[UID_SIZE];
	int64_t epoch;
	char *held; /* owned or NULL */
};

static bool read_element(xmlTextReaderPtr reader, struct element *ret)
{
	char *vmi = (char *)xmlTextReaderGetAttribute(reader, BAD_CAST "vmi");
	char *epoch = (char *)xmlTextReaderGetAttribute(reader, BAD_CAST "epoch");
	char *held = (char *)xmlTextReaderGetAttribute(reader, BAD_CAST "held");
	bool good = vmi && *vmi && strlen(vmi) < UID_SIZE;

	if (good) {
		copy_str(ret->vmi_uid, UID_SIZE, vmi);
		ret->epoch = epoch ? strtoll(epoch, NULL, 10) : 0;
		ret->held = xstrdup(held);
	}
	xmlFree(vmi);
	xmlFree(epoch);
	xmlFree(held);
	return good;
}

static bool find_element(const char *xml, struct element *ret)
{
	xmlTextReaderPtr reader = xmlReaderForMemory(xml, (int)strlen(xml), NULL, NULL,
		XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	bool found = false;

	if (!reader)
		return false;
	while (!found && xmlTextReaderRead(reader) == 1) {
		if (xmlTextReaderNodeType(reader) == XML_READER_TYPE_DOCUMENT_TYPE)
			break;
		found = is_ours(reader) && read_element(reader, ret);
	}
	xmlFreeTextReader(reader);
	return found;
}

bool domain_metadata_parse(const char *xml, char ret_vmi_uid[UID_SIZE], int64_t *ret_epoch)
{
	struct element element = { .held = NULL };

	if (!find_element(xml, &element))
		return false;
	copy_str(ret_vmi_uid, UID_SIZE, element.vmi_uid);
	if (ret_epoch)
		*ret_epoch = element.epoch;
	free(element.held);
	return true;
}

char *domain_metadata_held(const char *xml)
{
	struct element element = { .held = NULL };

	find_element(xml, &element);
	return element.held;
}
