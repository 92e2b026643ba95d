/* SPDX-License-Identifier: Apache-2.0 */
/* A field of the schema's tables in words, for people who write manifests. Pure. */
#ifndef VMAGENT_CORE_SCHEMA_EXPLAIN_H
#define VMAGENT_CORE_SCHEMA_EXPLAIN_H

#include "core/schema.h"

/*
 * What stands at a path such as "spec.template.spec.domain.cpu", "" for the whole object, in a
 * line; and each field within it in a line of its own. Lists are gone into without an index.
 * Errors: ERR_NOT_FOUND, which says what may have been meant.
 */
int schema_explain(enum schema_scope scope, const char *path, struct buf *ret_text,
	struct err *err);

/* Adds what that says of one field: its value, bounds and default, how it is treated, its note. */
void schema_words(const struct schema_field *field, struct buf *out);

#endif
