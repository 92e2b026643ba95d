/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubectl's JSONPath templates: text, and paths in braces: {.a.b} {.a['b.c']} {.a\.b} {[0]} {[-1]}
 * {[1:3]} {[*]} {[0,2]} {..a} {.l[?(@.type=="Ready")].status} {range .items[*]}…{end} {"\n"} {@}
 * {$}. What a path does not find prints nothing. Pure.
 */
#ifndef VMAGENT_CLI_JSONPATH_H
#define VMAGENT_CLI_JSONPATH_H

#include "core/node.h"

struct jsonpath;

/* Errors: ERR_BAD_REQUEST, naming the template and what is wrong in it. */
int jsonpath_parse(const char *template, struct jsonpath **ret, struct err *err);

/* A path alone, as --sort-by, custom-columns and wait take it: {.a.b}, .a.b or a.b. */
int jsonpath_parse_path(const char *path, struct jsonpath **ret, struct err *err);

void jsonpath_free(struct jsonpath *path); /* NULL is fine */

/* Appends what the template gives for root. */
void jsonpath_print(const struct jsonpath *path, const struct node *root, struct buf *out);

/* The first node that the template's first path finds, or NULL; borrowed from root. */
const struct node *jsonpath_first(const struct jsonpath *path, const struct node *root);

/* A node as jsonpath prints it: a string as it is, all else as JSON. */
void jsonpath_print_node(const struct node *node, struct buf *out);

/* Sorts a list's children by what the path finds in each: numbers by value, all else as text. */
void jsonpath_sort(const struct jsonpath *path, struct node *list);

#endif
