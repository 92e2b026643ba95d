/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the adoption share. Elements are gone through by tables: what stands in none of
 * them is a loss, so that nothing is passed over in silence.
 */
#ifndef VMAGENT_CORE_ADOPT_PRIVATE_H
#define VMAGENT_CORE_ADOPT_PRIVATE_H

#include <libxml/tree.h>

#include "core/xml_read.h"
#include "core/adopt.h"

#define BOOT_DEVICES_MAX 4

struct adopting {
	struct adoption *out;
	const struct adopt_wish *wish;
	struct node *spec; /* borrowed: spec.template.spec of the manifest */
	int64_t memory;    /* bytes */
	int64_t vcpus;
	bool acpi, smbios, efi, secure, topology, cpu_model, serial, display;
	char *boot[BOOT_DEVICES_MAX]; /* owned: <boot dev>, in order */
	size_t n_boot;
	char *loader, *nvram, *kernel, *initrd, *cmdline; /* owned or NULL */
};

typedef void element_fn(struct adopting *a, xmlNodePtr element);

struct element {
	const char *name;
	element_fn *read; /* NULL: it says nothing that would be lost */
};

/* adopt_xml.c */
char *xml_text(xmlNodePtr node); /* its content, trimmed; owned or NULL */
bool xml_is(xmlNodePtr node, const char *attribute, const char *value);
int64_t xml_number(xmlNodePtr node, const char *attribute, int64_t absent);
/* Each child by its row in the table; one without is a loss. */
void xml_each(struct adopting *a, xmlNodePtr parent, const struct element *table, size_t n);
#define XML_EACH(a, parent, table) xml_each((a), (parent), (table), ARRAY_SIZE(table))

/* A loss: the element as it stands in the XML, and why. */
void lose(struct adopting *a, xmlNodePtr element, const char *why);
#define LOST_UNKNOWN "a manifest cannot say this"

void set_text(struct node *map, const char *path, const char *text); /* no text: no field */
void set_int(struct node *map, const char *path, int64_t value);
void set_bool(struct node *map, const char *path, bool value);
void set_map(struct node *map, const char *path);
struct node *list_of(struct node *map, const char *path); /* made if it is not there */

/* adopt_domain.c: all of it into a->spec. */
void adopt_domain(struct adopting *a, xmlNodePtr root);

/* Whether the node allows it: else a reason that says what to add to its configuration. */
bool adopt_check_root(struct adopting *a, const char *path, const char *const *roots,
	const char *setting);

/* adopt_devices.c */
void adopt_devices(struct adopting *a, xmlNodePtr devices);
void adopt_boot_order(struct adopting *a); /* of <os><boot dev> */

#endif
