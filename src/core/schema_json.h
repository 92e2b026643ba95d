/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema's table as a JSON Schema, in the dialect that OpenAPI and Kubernetes use: what `kubectl explain`
 * shows. Refused fields are left out. Pure.
 */
#ifndef VMAGENT_CORE_SCHEMA_JSON_H
#define VMAGENT_CORE_SCHEMA_JSON_H

#include <vmagent/model.h>

#include "core/schema.h"

/* The schema of a whole object of that kind (VM or VMI); owned by the caller. */
struct node *schema_json(enum object_kind kind);

#endif
