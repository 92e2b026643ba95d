/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text in columns, as kubectl sets it: three spaces between, the last one not padded. A table
 * can be printed in parts: widths only grow, so that rows of a watch stay below each other.
 * Pure but for out.
 */
#ifndef VMAGENT_CLI_TABLE_H
#define VMAGENT_CLI_TABLE_H

#include <stdio.h>

#include <vmagent/base.h>

#define TABLE_COLUMNS_MAX 24

struct table {        /* zero-initialised is empty */
	char **cells; /* owned; row by row */
	size_t n_cells;
	size_t n_columns;
	int indent; /* spaces before each row */
	size_t width[TABLE_COLUMNS_MAX];
};

/* The cells of a row come one after the other. Control characters are replaced. */
void table_add(struct table *t, const char *text);
void table_print(struct table *t, FILE *out); /* and forgets the rows */
void table_done(struct table *t);

#endif
