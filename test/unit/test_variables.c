/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a guest's EFI firmware on their way: what came of reading and of writing
 * them. */
#include <check.h>
#include <string.h>

#include "daemon/arrivals.h"
#include "daemon/migrations.h"

Suite *test_variables_suite(void);

#define NVRAM  "{\"size\":1,\"blocks\":{}}"
#define COMMIT "{\"name\":\"web\",\"nvram\":" NVRAM "}"

static struct migration g;
static struct vmi vmi;
static struct machine m;

static void set_up(void)
{
	g = (struct migration){ .meta.ns = (char *)"default",
		.vmi = (char *)"web",
		.peer = (char *)"b",
		.role = MIGRATION_SOURCE,
		.state = MIGRATION_RELEASED };
	vmi = (struct vmi){ .owner = "v",
		.typed = { .bootloader = BOOTLOADER_EFI, .efi_persistent = true } };
	m = (struct machine){ .vmi = &vmi };
}

static void tear_down(void)
{
	free(g.commit);
	free(g.nvram);
	free(g.trouble);
}

static void reads(enum err_code code)
{
	struct op_result result = { .err = { code, "why" },
		.text = code ? NULL : (char *)(uintptr_t)NVRAM };

	variables_read(&g, &result);
}

static void writes(enum err_code code)
{
	struct op_result result = { .err = { code, "why" } };

	variables_written(&g, &result);
}

START_TEST(what_was_read_is_sent)
{
	cJSON *json = cJSON_CreateObject();
	autofree char *text = NULL;

	variables_add(json, NULL);
	variables_add(json, &g);
	ck_assert_int_eq(cJSON_GetArraySize(json), 0);
	reads(ERR_OK);
	ck_assert(g.nvram_known);
	variables_add(json, &g);
	text = cJSON_PrintUnformatted(json);
	ck_assert_str_eq(text, "{\"nvram\":" NVRAM "}");
	cJSON_Delete(json);
}
END_TEST

/* A disk may have a bad moment; but the guest does not wait for one that fails. */
START_TEST(what_cannot_be_read_is_left_out)
{
	for (unsigned i = 1; i < NVRAM_TRIES_MAX; i++) {
		reads(ERR_IO);
		ck_assert(!g.nvram_known);
	}
	reads(ERR_IO);
	ck_assert(g.nvram_known && !g.nvram);
	set_up();
	reads(ERR_NOT_FOUND);
	ck_assert(g.nvram_known);
	set_up();
	reads(ERR_TOO_LARGE);
	ck_assert(g.nvram_known);
	set_up();
	g.state = MIGRATION_ABORTED; /* meanwhile */
	reads(ERR_OK);
	ck_assert(!g.nvram_known && !g.nvram);
}
END_TEST

static void comes(const char *commit)
{
	replace_str(&g.commit, commit);
	variables_await(&g, &m);
}

START_TEST(only_what_is_kept_is_taken)
{
	g.role = MIGRATION_TARGET;
	g.state = MIGRATION_COMPLETE;
	comes(COMMIT);
	ck_assert_str_eq(g.nvram, NVRAM);
	comes("{}");
	ck_assert_ptr_null(g.nvram);
	comes("no JSON");
	ck_assert_ptr_null(g.nvram);
	vmi.owner[0] = '\0';
	comes(COMMIT);
	ck_assert_ptr_null(g.nvram);
	variables_await(&g, NULL);
	ck_assert_ptr_null(g.nvram);
}
END_TEST

/* What can be written later is waited for: then it will be said again that the
 * guest is handed over. */
START_TEST(what_was_written)
{
	g.role = MIGRATION_TARGET;
	g.state = MIGRATION_COMPLETE;
	comes(COMMIT);
	writes(ERR_OK);
	ck_assert(g.commit && !g.nvram && !g.trouble);
	comes(COMMIT);
	writes(ERR_INVALID);
	ck_assert(g.commit && !g.nvram);
	ck_assert_str_eq(g.trouble, "why");
	comes(COMMIT);
	writes(ERR_IO);
	ck_assert(!g.commit && !g.nvram);
}
END_TEST

Suite *test_variables_suite(void)
{
	Suite *s = suite_create("variables");
	TCase *tc = tcase_create("way");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, what_was_read_is_sent);
	tcase_add_test(tc, what_cannot_be_read_is_left_out);
	tcase_add_test(tc, only_what_is_kept_is_taken);
	tcase_add_test(tc, what_was_written);
	suite_add_tcase(s, tc);
	return s;
}
