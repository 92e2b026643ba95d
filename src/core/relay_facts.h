/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a domain's XML says, as facts: elements, attributes and texts, each with its path. A device
 * is a set of its own: what was prepared for one is not so for another, and what bounds one belongs
 * to it. Pure; relay_xml.c alone includes this.
 */
#ifndef VMAGENT_CORE_RELAY_FACTS_H
#define VMAGENT_CORE_RELAY_FACTS_H

#include <vmagent/err.h>

#define FACTS_AMOUNT_MAX ((uint64_t)1 << 48)

enum facts_amount { /* of memory in KiB */
	FACTS_MEMORY,
	FACTS_NUMA, /* the same, by node */
	FACTS_CPUS,
	FACTS_IOTHREADS,
	FACTS_IOTHREAD_IDS, /* the same, one by one */
	FACTS_AMOUNTS
};

struct facts_set {   /* of a device */
	char *path;  /* owned: "domain/devices/disk" */
	char **list; /* owned */
	size_t n, cap;
};

struct xml_facts {
	struct facts_set *sets; /* owned; the first one is what is no device's */
	size_t n, cap;
	uint64_t amounts[FACTS_AMOUNTS];
	char *name, *uuid; /* owned */
};

struct xml_facts *facts_new(void);
/* Of a device, by its index, or 0: of none. */
void facts_add(struct xml_facts *facts, size_t device, const char *fact);
size_t facts_add_device(struct xml_facts *facts, const char *path); /* its index */
void facts_sort(struct xml_facts *facts);                           /* what is compared must be */

/* Whether libvirt adds, drops and spells out the element of that path by itself, with all
 * that is below it. */
bool facts_harmless(const char *path);
/* Whether an attribute of that name may name something of the host, wherever it stands. */
bool facts_reaches(const char *attribute);

/* Whether what is told is no other domain than the one that was prepared. ERR_FORBIDDEN with
 * words. */
int facts_compare(const struct xml_facts *prepared, const struct xml_facts *told, struct err *err);

#endif
