/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules about lists of named elements share (rules_lists.c), and which parts there are. */
#ifndef VMAGENT_CORE_RULES_PRIVATE_H
#define VMAGENT_CORE_RULES_PRIVATE_H

#include "core/check.h"

#define DISKS       "domain.devices.disks"
#define INTERFACES  "domain.devices.interfaces"
#define FILESYSTEMS "domain.devices.filesystems"

size_t list_count(const struct node *list); /* 0 for what is no list */
const struct node *list_find(const struct node *list, size_t n, const char *name); /* or NULL */
bool list_has(const struct node *list, const char *name);

/* How many of the keys an element has; *ret_last is the last one's value. */
size_t element_count_keys(const struct node *element, const char *const *keys,
	const struct node **ret_last);

/* Whether every field of an element is one that this version has: else the schema spoke already. */
bool element_is_known(const struct node *element, const char *path);

/* The name of an element, unless it is no string or was there before, which is reported. */
const struct node *element_name(struct check *c, const struct node *list, size_t i);

void disk_rules(struct check *c, const struct node *spec);       /* rules_disks.c */
void volume_rules(struct check *c, const struct node *spec);     /* rules_volumes.c */
void folder_rules(struct check *c, const struct node *spec);     /* rules_folders.c */
void medium_rules(struct check *c, const struct node *volume);   /* rules_media.c */
void credential_rules(struct check *c, const struct node *spec); /* … */
void network_rules(struct check *c, const struct node *spec);    /* rules_networks.c */
void probe_rules(struct check *c, const struct node *spec);      /* rules_probes.c */

#endif
