/* SPDX-License-Identifier: Apache-2.0 */
/* The file with the variables of a guest's EFI firmware, read and written by ops. */
#include <check.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/nvram.h"
#include "io/image.h"

Suite *test_image_nvram_suite(void);

static struct world {
	uv_loop_t loop;
	struct image *image;
	char folder[64]; /* the VM's */
	struct err err;
	char *text; /* owned: of the last result */
	unsigned results;
} w;

static void shell(const char *command)
{
	autofree char *all = xasprintf("cd '%s' && (%s)", w.folder, command);

	ck_assert_msg(system(all) == 0, "%s", command);
}

static void on_result(void *ctx, const struct op_result *result)
{
	(void)ctx;
	w.err = result->err;
	replace_str(&w.text, result->text);
	w.results++;
}

static void set_up(void)
{
	static const char *const none[] = { NULL };
	static const struct image_map map;
	struct image_roots roots = { none, none, &map };

	memset(&w, 0, sizeof(w));
	strcpy(w.folder, "/tmp/vmagent-nvram.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(w.folder));
	uv_loop_init(&w.loop);
	w.image = image_new(&w.loop, &roots, (struct hv_sink){ .result = on_result });
}

static void tear_down(void)
{
	ck_assert_uint_eq(image_busy(w.image), 0);
	image_free(w.image);
	ck_assert_int_eq(uv_loop_close(&w.loop), 0);
	free(w.text);
	shell("rm -rf ./*");
	ck_assert_int_eq(rmdir(w.folder), 0);
}

/* To its end, which does not come from within. */
static int run(enum op_kind kind, const char *text)
{
	struct op op = { .id = 7, .kind = kind, .kept = w.folder, .nvram = (char *)(uintptr_t)text };

	w.results = 0;
	image_submit(w.image, &op);
	ck_assert_uint_eq(w.results, 0);
	uv_run(&w.loop, UV_RUN_DEFAULT);
	ck_assert_uint_eq(w.results, 1);
	return w.err.code;
}

static int write_bytes(const char *bytes)
{
	struct nvram nvram = { (uint8_t *)(uintptr_t)bytes, strlen(bytes) };
	cJSON *json = nvram_pack(&nvram);
	autofree char *text = cJSON_PrintUnformatted(json);

	cJSON_Delete(json);
	return run(OP_MIGRATE_WRITE_NVRAM, text);
}

static void check_reads(const char *bytes)
{
	struct nvram nvram;
	cJSON *json;
	struct err err;

	ck_assert_msg(run(OP_MIGRATE_READ_NVRAM, NULL) == ERR_OK, "%s", w.err.msg);
	json = cJSON_Parse(w.text);
	ck_assert_msg(nvram_unpack(json, &nvram, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(nvram.len, strlen(bytes));
	ck_assert_mem_eq(nvram.data, bytes, nvram.len);
	nvram_done(&nvram);
	cJSON_Delete(json);
}

START_TEST(variables_in_a_file)
{
	ck_assert_int_eq(run(OP_MIGRATE_READ_NVRAM, NULL), ERR_NOT_FOUND);
	ck_assert_ptr_null(w.text);
	ck_assert_msg(write_bytes("variables") == ERR_OK, "%s", w.err.msg);
	check_reads("variables");
	ck_assert_int_eq(write_bytes("less"), ERR_OK);
	check_reads("less");
	shell("[ \"$(cat nvram)\" = less ] && [ \"$(stat -c %a nvram)\" = 600 ]");
}
END_TEST

START_TEST(what_makes_no_sense_is_not_written)
{
	ck_assert_int_eq(run(OP_MIGRATE_WRITE_NVRAM, "{\"size\":0}"), ERR_INVALID);
	ck_assert_int_eq(run(OP_MIGRATE_WRITE_NVRAM, "no JSON"), ERR_INVALID);
	shell("[ ! -e nvram ]");
}
END_TEST

/* Whoever runs as QEMU's user may have put something in its place. */
START_TEST(what_is_no_file_is_left_alone)
{
	shell("echo secret >other; ln -s other nvram");
	ck_assert_int_eq(write_bytes("b"), ERR_IO);
	ck_assert_int_eq(run(OP_MIGRATE_READ_NVRAM, NULL), ERR_IO);
	shell("[ \"$(cat other)\" = secret ]; rm nvram; mkdir nvram");
	ck_assert_int_eq(write_bytes("b"), ERR_IO);
	ck_assert_int_eq(run(OP_MIGRATE_READ_NVRAM, NULL), ERR_TOO_LARGE);
	shell("rmdir nvram; mkfifo nvram");
	ck_assert_int_eq(write_bytes("b"), ERR_IO);
	ck_assert_int_eq(run(OP_MIGRATE_READ_NVRAM, NULL), ERR_TOO_LARGE);
	shell("rm nvram; truncate -s 1048577 nvram");
	ck_assert_int_eq(run(OP_MIGRATE_READ_NVRAM, NULL), ERR_TOO_LARGE);
	shell("truncate -s 0 nvram");
	ck_assert_int_eq(run(OP_MIGRATE_READ_NVRAM, NULL), ERR_TOO_LARGE);
}
END_TEST

START_TEST(a_folder_that_is_gone)
{
	ck_assert_int_eq(rmdir(w.folder), 0);
	ck_assert_int_eq(write_bytes("b"), ERR_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(w.err.msg, "open '"));
	ck_assert_int_eq(mkdir(w.folder, 0700), 0);
}
END_TEST

Suite *test_image_nvram_suite(void)
{
	Suite *s = suite_create("image_nvram");
	TCase *tc = tcase_create("file");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, variables_in_a_file);
	tcase_add_test(tc, what_makes_no_sense_is_not_written);
	tcase_add_test(tc, what_is_no_file_is_left_alone);
	tcase_add_test(tc, a_folder_that_is_gone);
	suite_add_tcase(s, tc);
	return s;
}
