/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in the form that -o asks for: a table (plain or wide), json, yaml, name, jsonpath=…,
 * jsonpath-file=…, custom-columns=….
 */
#ifndef VMAGENT_CLI_PRINT_H
#define VMAGENT_CLI_PRINT_H

#include "cli/jsonpath.h"
#include "cli/resource.h"
#include "cli/table.h"

enum format {
	FORMAT_TABLE,
	FORMAT_JSON,
	FORMAT_YAML,
	FORMAT_NAME,
	FORMAT_JSONPATH,
	FORMAT_COLUMNS
};

struct print_column {
	char *title;           /* owned */
	struct jsonpath *path; /* owned */
	enum cell cell;
};

struct printer {
	enum format format;
	bool wide, with_namespace, with_type, no_headers, show_labels;
	struct jsonpath *template;                      /* owned; JSONPATH */
	const struct resource *resource;                /* whose columns are set */
	struct print_column columns[TABLE_COLUMNS_MAX]; /* owned */
	size_t n_columns;
	bool has_header; /* something stands above what comes next */
	struct table table;
};

/* Reads -o, -A, --no-headers. Returns 0 or -1 with a fault. */
int printer_init(struct printer *p, const struct cli *cli, struct fault *fault);
void printer_done(struct printer *p);

/* A new table; before the second one stands an empty line. */
void printer_begin(struct printer *p, const struct resource *resource);

/* One object. Tables: its row, printed with printer_flush(). Other forms are printed at once. */
void printer_add(struct printer *p, const struct resource *resource, const struct node *object);
void printer_flush(struct printer *p);

/* "virtualmachine.kubevirt.io/web", as kubectl calls an object; owned. */
char *object_title(const struct resource *resource, const struct node *object);

#endif
