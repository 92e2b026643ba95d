/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a tree of libxml2's in a few words; what the files virt_xml*.c share. */
#ifndef VMAGENT_IO_VIRT_XML_TREE_H
#define VMAGENT_IO_VIRT_XML_TREE_H

#include "core/xml_read.h"
#include "io/virt_xml.h"

#include <libxml/parser.h>
#include <libxml/tree.h>

/* virt_xml.c: the EFI firmware that a live domain's <os> names, as core/firmware.h has it; owned by
 * the caller, NULL: none that could be told. */
char *virt_xml_firmware(xmlNodePtr os);

xmlDocPtr tree_read(const char *xml); /* NULL: it is none */
char *tree_print(xmlDocPtr doc);      /* owned by the caller */

/* virt_xml_nics.c: the interfaces below <devices>, which may be NULL, into *info. */
void virt_xml_nics(xmlNodePtr devices, struct domain_info *info);

#endif
