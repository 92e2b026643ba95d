/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the XML that a peer's libvirt sends says no more than what this node has prepared. Pure.
 *
 * Both documents are taken apart into facts: that an element is there, the value of an attribute, a
 * text, each with the path of its element. What comes in may have a fact that was not prepared only
 * below an element of the table in relay_xml.c, which reaches nothing of the host (addresses,
 * sizes, CPU features), and no path of a file even there.
 */
#ifndef VMAGENT_CORE_RELAY_XML_H
#define VMAGENT_CORE_RELAY_XML_H

#include <vmagent/err.h>

struct xml_facts; /* of the domain that was prepared */

/* Takes the prepared domain's XML apart. ERR_INVALID when it is none. */
int xml_facts_new(const char *xml, struct xml_facts **ret, struct err *err);
void xml_facts_free(struct xml_facts *facts);
const char *xml_facts_name(const struct xml_facts *facts); /* the domain's */

/* A domain's XML of len bytes from outside: ERR_FORBIDDEN names what was not prepared. */
int xml_facts_check_domain(const struct xml_facts *facts, const char *xml, size_t len,
	struct err *err);

/* The same for a cookie of libvirt's migration, which may carry the domain that shall be
 * persistent. len 0 is none. */
int xml_facts_check_cookie(const struct xml_facts *facts, const char *xml, size_t len,
	struct err *err);

#endif
