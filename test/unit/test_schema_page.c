/* SPDX-License-Identifier: Apache-2.0 */
/*
 * man/vmagent-fields.5 is what the schema's table says of each field, by the words of `vmactl
 * explain`, a section a scope; VMAGENT_GOLDEN=write renews it.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/schema_explain.h"
#include "core/schema_rows.h"
#include "test/lib/files.h"

Suite *test_schema_page_suite(void);

#define PAGE "man/vmagent-fields.5"

static const char head[] =
	".\\\" SPDX-License-Identifier: Apache-2.0\n"
	".\\\" Made from the schema's tables: VMAGENT_GOLDEN=write build/test/unit\n"
	".Dd November 30, 2026\n"
	".Dt VMAGENT-FIELDS 5\n"
	".Os\n"
	".Sh NAME\n"
	".Nm vmagent-fields\n"
	".Nd every field of a manifest\n"
	".Sh DESCRIPTION\n"
	"Each field that a manifest may have, with what may stand there, its default, and what is made of it.\n"
	"What machines do with them is told in\n"
	".Xr vmagent-manifest 5 ;\n"
	".Cm vmactl explain\n"
	"says the same of one field.\n"
	".Pp\n"
	"A list's elements are written\n"
	".Li [] ,\n"
	"the keys of a map that may have any\n"
	".Li {} .\n"
	"A field that is not supported stands for all that KubeVirt has below it.\n";

static const char tail[] = ".Sh SEE ALSO\n"
			   ".Xr vmactl 1 ,\n"
			   ".Xr vmagent-manifest 5 ,\n"
			   ".Xr vmagent 8\n";

/* Of scopes that are parts of others; a scope that is a whole object is named by its kinds. */
static const char *const titles[SCOPE_MAX] = {
	[SCOPE_META] = "METADATA",
	[SCOPE_TEMPLATE_META] = "METADATA OF A TEMPLATE",
	[SCOPE_SPEC] = "SPEC OF AN INSTANCE",
	[SCOPE_PROBE] = "PROBE",
	[SCOPE_CLAIM_SPEC] = "SPEC OF A CLAIM",
	[SCOPE_DATA_VOLUME_SPEC] = "SPEC OF A DATAVOLUME",
};

static char *title(enum schema_scope scope)
{
	struct buf text = { 0 };

	if (titles[scope])
		return xstrdup(titles[scope]);
	for (const struct schema_kind *k = schema_kinds; k->kind; k++)
		if (k->scope == scope)
			buf_printf(&text, "%s%s", text.len ? ", " : "", k->kind);
	ck_assert_msg(text.len, "scope %d has no title", (int)scope);
	return text.data;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Words as a line of text, in which nothing is taken for a request. */
static void put_line(struct buf *out, const char *words)
{
	if (strchr(".'", *words))
		buf_puts(out, "\\&");
	for (; *words; words++) {
		if (*words == '\\')
			buf_puts(out, "\\e");
		else
			buf_add(out, words, 1);
	}
	buf_puts(out, "\n");
}

static void put_reference(struct buf *out, const char *before, enum schema_scope scope)
{
	autofree char *name = title(scope);

	buf_printf(out, "%s\n.Sx %s .\n", before, name);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* A list's element says something only when it is no map, whose own fields follow. */
static bool says_something(const struct schema_field *f)
{
	const char *last = f->path + strlen(f->path);

	return f->type != TYPE_MAP || f->note || f->path == last || strcmp(last - 2, "[]") != 0;
}

static void put_field(struct buf *out, const struct schema_field *f)
{
	struct buf words = { 0 };

	schema_words(f, &words);
	buf_printf(out, ".It Li %s\n", f->path);
	put_line(out, words.data);
	if (f->type == TYPE_AS) {
		buf_printf(out, ".br\nAs\n.Li %s ,\n", f->as);
		put_reference(out, "see", f->below);
	}
	if (f->type == TYPE_SCOPE)
		put_reference(out, ".br\nSee", f->below);
	buf_done(&words);
}

/* Where a scope's fields stand, if they are a part of others. */
static void put_places(struct buf *out, enum schema_scope scope)
{
	const struct schema_field *f;
	const char *before = "";

	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));) {
		autofree char *outer = title(f->scope);

		if (f->type != TYPE_SCOPE || f->below != scope)
			continue;
		buf_printf(out, "%s.Li %s\nof\n.Sx %s .\n", before, f->path, outer);
		before = ".br\n";
	}
}

static void put_scope(struct buf *out, enum schema_scope scope)
{
	const struct schema_field *f;
	autofree char *name = title(scope);

	buf_printf(out, ".Sh %s\n", name);
	put_places(out, scope);
	buf_puts(out, ".Bl -tag -width Ds\n");
	for (struct schema_walk walk = { 0 }; (f = schema_walk(&walk));)
		if (f->scope == scope && says_something(f))
			put_field(out, f);
	buf_puts(out, ".El\n");
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static void put_kinds(struct buf *out)
{
	buf_puts(out, ".Sh KINDS\n.Bl -tag -width Ds\n");
	for (const struct schema_kind *k = schema_kinds; k->kind; k++) {
		buf_printf(out, ".It Li %s\n", k->kind);
		if (k->refused)
			buf_printf(out, "not supported by this version; %s\n", k->refused);
		else if (k->unused)
			buf_printf(out, "accepted without effect: %s\n", k->unused);
		else if (k->scope != SCOPE_MAX)
			put_reference(out, "See", k->scope);
		else
			buf_puts(out, "kept as it is given, see\n.Xr vmagent-manifest 5 .\n");
	}
	buf_puts(out, ".El\n");
}

static char *page(void)
{
	struct buf out = { 0 };

	buf_puts(&out, head);
	put_kinds(&out);
	for (int scope = 0; scope < SCOPE_MAX; scope++)
		put_scope(&out, (enum schema_scope)scope);
	buf_puts(&out, tail);
	return out.data;
}

START_TEST(the_page_is_that_of_the_table)
{
	autofree char *text = page(), *is = NULL;

	if (streq(getenv("VMAGENT_GOLDEN"), "write"))
		spill(PAGE, text);
	is = slurp(PAGE);
	ck_assert_msg(streq(is, text), PAGE " is not what the table says: renew it");
}
END_TEST

Suite *test_schema_page_suite(void)
{
	Suite *suite = suite_create("schema page");
	TCase *tc = tcase_create("schema page");

	tcase_add_test(tc, the_page_is_that_of_the_table);
	suite_add_tcase(suite, tc);
	return suite;
}
