/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns are as wide as their widest cell, counted in characters. Cells may come from a guest or a
 * stranger's manifest, so nothing in them reaches the terminal as a control sequence.
 */
#include <string.h>

#include "cli/table.h"

#define GAP       3
#define WIDTH_MIN 6 /* with the gap: kubectl's */

static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static char *harmless(const char *text)
{
	char *copy = xstrdup(text ? text : "");

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = strchr("\n\t\r", *c) ? ' ' : '?';
	return copy;
}

void table_add(struct table *t, const char *text)
{
	size_t column = t->n_columns ? t->n_cells % t->n_columns : 0;

	t->cells = xrealloc_array(t->cells, t->n_cells + 1, sizeof(*t->cells));
	t->cells[t->n_cells++] = harmless(text);
	t->width[column] = MAX(t->width[column], width_of(t->cells[t->n_cells - 1]));
}

static void print_cell(const struct table *t, size_t i, FILE *out)
{
	size_t column = i % t->n_columns;
	size_t width = MAX(t->width[column] + GAP, (size_t)WIDTH_MIN);
	bool last = column + 1 == t->n_columns;

	fprintf(out, "%*s%s", column ? 0 : t->indent, "", t->cells[i]);
	for (size_t n = last ? width : width_of(t->cells[i]); n < width; n++)
		fputc(' ', out);
	if (last)
		fputc('\n', out);
}

void table_print(struct table *t, FILE *out)
{
	for (size_t i = 0; i < t->n_cells; i++) {
		print_cell(t, i, out);
		free(t->cells[i]);
	}
	t->n_cells = 0;
}

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct table){ 0 };
}
