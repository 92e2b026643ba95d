/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of manifest_check() share: where the check stands, and how it reports. */
#ifndef VMAGENT_CORE_CHECK_H
#define VMAGENT_CORE_CHECK_H

#include "core/manifest.h"
#include "core/schema.h"

struct check {
	const struct policy *policy; /* borrowed */
	struct findings *findings;   /* borrowed */
	struct findings *warnings;   /* borrowed */
	bool elsewhere;  /* what is checked will be worked in elsewhere, and judged there */
	struct buf path; /* owned; of the map at hand: "spec.template.spec" */
};

/* Goes one step down; the answer is what check_leave() wants. */
size_t check_enter(struct check *c, const char *key);
size_t check_enter_item(struct check *c, const char *list, size_t index);
void check_leave(struct check *c, size_t mark);

/* A finding about the value `at`; field is relative to the path, "" for the path itself. */
void check_add(struct check *c, const struct node *at, const char *field, const char *fmt, ...)
	PRINTF(4, 5);

/* A finding about the key of `at`: the field itself is wrong, or something is missing in it. */
void check_add_key(struct check *c, const struct node *at, const char *field, const char *fmt, ...)
	PRINTF(4, 5);

/* What is said of a key that has no effect. */
void check_warn_key(struct check *c, const struct node *at, const char *fmt, ...) PRINTF(3, 4);

/* Every field of the map against the table, below the path at hand. */
void schema_check(struct check *c, const struct node *map, enum schema_scope scope);

/* Removes what is null, and what the server sets. */
void schema_prune(struct node *map, enum schema_scope scope, const char *path);

/* Of what a VM's spec says of its instancetype and preference; the path at hand is that spec's. */
void type_rules(struct check *c, const struct node *vm_spec);

/* The rules of semantics §9 between fields, of a VMI's spec. The path at hand is the spec's. */
void spec_rules(struct check *c, const struct node *spec);
void feature_rules(struct check *c, const struct node *spec);
void unique_rules(struct check *c, const struct node *spec);
void pinning_rules(struct check *c, const struct node *spec);
void device_rules(struct check *c, const struct node *spec);
void placement_rules(struct check *c, const struct node *spec);
void image_rules(struct check *c, const struct node *image, const char *field);

#endif
