/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words in which the schema's tables (schema_*.c) are written, one row a field. A row whose
 * type is ANY, or which is refused, stands for all that is below it, too.
 */
#ifndef VMAGENT_CORE_SCHEMA_ROWS_H
#define VMAGENT_CORE_SCHEMA_ROWS_H

#include <vmagent/model.h>

#include "core/schema.h"

#define ONE_OF(c, text) text "|"
#define PULL_POLICIES   "Always|IfNotPresent|Never"
#define PULL_NOTE       "images are local files in this version"

#define F(where, at, what, ...)                                                                 \
	{                                                                                       \
		.scope = SCOPE_##where, .path = at, .len = sizeof(at) - 1, .type = TYPE_##what, \
		__VA_ARGS__                                                                     \
	}
#define REQUIRED        .required = true
#define RULE(name)      .rule = RULE_##name
#define KEY(name)       .key_rule = RULE_##name
#define BELOW(scope)    .below = SCOPE_##scope
#define LIKE(where, at) .below = SCOPE_##where, .as = at
#define RANGE(from, to) .min = from, .max = to
#define ONE(list)       .values = list
#define DEFAULT(text)   .fallback = text
#define NOTE(text)      .note = text
#define DROPPED         .treat = TREAT_DROPPED
#define IGNORED(why)    .treat = TREAT_IGNORED, .note = why
#define REFUSED(cure)   .treat = TREAT_REFUSED, .note = cure

struct schema_table {
	const struct schema_field *rows;
	size_t n;
};

extern const struct schema_kind schema_kinds[]; /* the last has no name */
extern const struct schema_table schema_objects, schema_spec, schema_placement, schema_domain,
	schema_devices, schema_disks, schema_volumes, schema_networks, schema_probe,
	schema_instancetype, schema_preference, schema_claim, schema_policy, schema_migration,
	schema_data_volume;

#endif
