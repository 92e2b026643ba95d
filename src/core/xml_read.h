/* SPDX-License-Identifier: Apache-2.0 */
/* Finding one's way in a tree of libxml2's, in a few words. Pure. */
#ifndef VMAGENT_CORE_XML_READ_H
#define VMAGENT_CORE_XML_READ_H

#include <libxml/tree.h>

/* The next element of that name: at from or after it among its siblings; or NULL. */
xmlNodePtr xml_next(xmlNodePtr from, const char *name);
xmlNodePtr xml_child(xmlNodePtr parent, const char *name); /* or NULL; parent may be NULL */
char *xml_get(xmlNodePtr node, const char *name); /* an attribute; owned by the caller, or NULL */

#endif
