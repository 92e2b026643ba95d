/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema's table as a JSON Schema, in the dialect that OpenAPI and Kubernetes use: what
 * `kubectl explain` shows. Refused fields are left out. Pure.
 */
#ifndef VMAGENT_CORE_SCHEMA_JSON_H
#define VMAGENT_CORE_SCHEMA_JSON_H

#include <vmagent/model.h>

#include "core/schema.h"

/* The schema of a whole object of that kind; owned by the caller. Kinds beside VM and VMI are open:
 * their parts are named, and what is in them is anybody's. */
struct node *schema_json(enum object_kind kind);

/* The same of what is in a scope alone. */
struct node *schema_json_scope(enum schema_scope scope);

/*
 * The schema of that kind as a document of its own, for editors and other checkers (JSON Schema,
 * draft 7): a key that is in no table is refused by it, as the agent does. Owned by the caller.
 */
struct node *schema_json_document(enum object_kind kind);

#endif
