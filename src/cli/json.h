/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON from the agent, as the tree that manifests are: numbers keep their text, and the size of a
 * list is not bounded as a manifest's is. Pure.
 */
#ifndef VMAGENT_CLI_JSON_H
#define VMAGENT_CLI_JSON_H

#include "core/node.h"

#define JSON_DEPTH_MAX 200

/* Errors: ERR_BAD_REQUEST, naming the offset. */
int json_parse(const char *text, size_t len, struct node **ret, struct err *err);

/* The whole number at path, or absent where there is none. */
int64_t json_number_at(const struct node *object, const char *path, int64_t absent);

/* Compact JSON text, as node_json() writes it, set out in lines as kubectl does. */
void json_indent(const char *json, struct buf *out);

#endif
