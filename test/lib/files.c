/* SPDX-License-Identifier: Apache-2.0 */
/* Files of tests, as a whole. */
#include "test/lib/files.h"

#include <check.h>
#include <stdio.h>

struct buf slurp_buf(const char *path)
{
	struct buf text = { 0 };
	FILE *file = fopen(path, "re");
	char piece[4096];
	size_t n;

	buf_puts(&text, "");
	while (file && (n = fread(piece, 1, sizeof(piece), file)))
		buf_add(&text, piece, n);
	if (file)
		fclose(file);
	return text;
}

char *slurp(const char *path)
{
	return slurp_buf(path).data;
}

void spill(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	ck_assert_msg(file, "cannot write %s", path);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}
