/* SPDX-License-Identifier: Apache-2.0 */
/* What a plain YAML scalar means. Pure. */
#ifndef VMAGENT_CORE_SCALAR_H
#define VMAGENT_CORE_SCALAR_H

#include "core/node.h"

/*
 * As go-yaml v2 (which Kubernetes uses) resolves it. *ret_text is owned: "true" or "false", a
 * number as JSON allows it (its source text wherever that is JSON already), the string, or NULL for
 * null. Errors: ERR_BAD_REQUEST for .inf and .nan, which JSON has not.
 */
int scalar_resolve(const char *text, enum node_kind *ret_kind, char **ret_text, struct err *err);

#endif
