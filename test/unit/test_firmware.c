/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which EFI firmware a guest has, as another host tells it and as this one's packages describe it;
 * the file with its variables, as it travels.
 */
#include <check.h>
#include <string.h>

#include "core/firmware.h"
#include "core/json.h"
#include "core/nvram.h"

Suite *test_firmware_suite(void);

#define CODE "/usr/share/OVMF/OVMF_CODE_4M.ms.fd"
#define VARS "/usr/share/OVMF/OVMF_VARS_4M.ms.fd"
#define TEXT(loader, variables, format)                                                   \
	"{\"loader\":\"" loader "\",\"variables\":\"" variables "\",\"format\":\"" format \
	"\",\"secure\":true}"

/* As Debian's package ovmf has it, but for what is of no use. */
#define MAPPING(device, mode)                                                                 \
	"\"mapping\":{\"device\":\"" device "\"," mode "\"executable\":{\"filename\":\"" CODE \
	"\",\"format\":\"raw\"},\"nvram-template\":{\"filename\":\"" VARS                     \
	"\",\"format\":\"raw\"}}"
#define DESCRIPTION(type, mapping, features)                                       \
	"{\"description\":\"UEFI\",\"interface-types\":[\"" type "\"]," mapping    \
	",\"targets\":[{\"architecture\":\"x86_64\",\"machines\":[\"pc-q35-*\"]}]" \
	",\"features\":[" features "],\"tags\":[]}"
#define SECURE "\"acpi-s3\",\"requires-smm\",\"secure-boot\""

/* ---- told ------------------------------------------------------------------------------------ */

static const char *const refused[] = {
	NULL,
	"",
	"nonsense",
	"[]",
	"{}",
	"{\"loader\":1,\"variables\":2,\"format\":3}",
	TEXT("", VARS, "raw"),
	TEXT(CODE, "", "raw"),
	TEXT("etc/shadow", VARS, "raw"),
	TEXT(CODE, "relative", "raw"),
	TEXT(CODE, VARS, "vmdk"),
	TEXT(CODE, VARS, ""),
	TEXT("/a\\nb", VARS, "raw"),
	TEXT("/\\u00e9", VARS, "raw"),
};

START_TEST(what_is_none_is_refused)
{
	struct firmware f;
	struct err err;

	ck_assert_int_eq(firmware_read(refused[_i], &f, &err), -ERR_INVALID);
}
END_TEST

START_TEST(long_texts_are_refused)
{
	autofree char *path = xcalloc(1, FIRMWARE_PATH_MAX + 2), *text = NULL, *longer = NULL;
	struct firmware f;
	struct err err;

	memset(path, 'x', FIRMWARE_PATH_MAX);
	path[0] = '/';
	text = xasprintf(TEXT("%s", VARS, "raw"), path);
	ck_assert_int_eq(firmware_read(text, &f, &err), 0);
	firmware_done(&f);
	path[FIRMWARE_PATH_MAX] = 'x';
	longer = xasprintf(TEXT("%s", VARS, "raw"), path);
	ck_assert_int_eq(firmware_read(longer, &f, &err), -ERR_INVALID);
}
END_TEST

START_TEST(it_is_read_as_it_was_written)
{
	struct firmware f;
	struct err err;
	autofree char *text = NULL;

	ck_assert_int_eq(firmware_read(TEXT(CODE, VARS, "qcow2"), &f, &err), 0);
	ck_assert_str_eq(f.loader, CODE);
	ck_assert_str_eq(f.variables, VARS);
	ck_assert_str_eq(f.format, "qcow2");
	ck_assert(f.secure);
	text = firmware_write(&f);
	ck_assert_str_eq(text, TEXT(CODE, VARS, "qcow2"));
	firmware_done(&f);
}
END_TEST

/* ---- described ------------------------------------------------------------------------------- */

static const char *const other_descriptions[] = {
	"",
	"{}",
	DESCRIPTION("bios", MAPPING("flash", ""), SECURE),
	DESCRIPTION("uefi", MAPPING("memory", ""), SECURE),
	DESCRIPTION("uefi", MAPPING("flash", "\"mode\":\"stateless\","), SECURE),
	DESCRIPTION("uefi", "\"mapping\":{\"device\":\"flash\"}", SECURE),
	DESCRIPTION("uefi",
		"\"mapping\":{\"device\":\"flash\",\"executable\":{\"filename\":\"" CODE
		"\",\"format\":\"raw\"}}",
		SECURE),
};

START_TEST(what_describes_none)
{
	struct firmware f;

	ck_assert(!firmware_described(other_descriptions[_i], &f));
}
END_TEST

START_TEST(a_description)
{
	struct firmware f;
	autofree char *text = NULL;

	ck_assert(firmware_described(DESCRIPTION("uefi", MAPPING("flash", ""), SECURE), &f));
	text = firmware_write(&f);
	ck_assert_str_eq(text, TEXT(CODE, VARS, "raw"));
	firmware_done(&f);
	ck_assert(firmware_described(DESCRIPTION("uefi", MAPPING("flash", "\"mode\":\"split\","),
					     "\"acpi-s3\""),
		&f));
	ck_assert(!f.secure);
	firmware_done(&f);
}
END_TEST

/* All of it must be the same: no part of one goes with a part of another. */
START_TEST(which_a_host_has)
{
	static const char list[] = TEXT("/a", "/av", "raw") "\n" TEXT("/b", "/bv", "raw") "\n";
	static const struct {
		const char *text;
		bool has;
	} rows[] = {
		{ TEXT("/a", "/av", "raw"), true },
		{ TEXT("/b", "/bv", "raw"), true },
		{ TEXT("/a", "/bv", "raw"), false },
		{ TEXT("/c", "/av", "raw"), false },
		{ TEXT("/a", "/av", "qcow2"), false },
		{ TEXT("/a", "/a", "raw"), false },
		{ "{\"loader\":\"/a\",\"variables\":\"/av\",\"format\":\"raw\"}", false },
		{ "{\"secure\":true,\"format\":\"raw\",\"variables\":\"/av\",\"loader\":\"/a\"}",
			true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct firmware f;
		struct err err;

		ck_assert_int_eq(firmware_read(rows[i].text, &f, &err), 0);
		ck_assert_msg(firmwares_have(list, &f) == rows[i].has, "%s", rows[i].text);
		ck_assert(!firmwares_have("", &f) && !firmwares_have(NULL, &f));
		firmware_done(&f);
	}
}
END_TEST

/* ---- variables ------------------------------------------------------------------------------- */

START_TEST(variables_travel)
{
	static const size_t sizes[] = { 1, NVRAM_BLOCK - 1, NVRAM_BLOCK, 540672, NVRAM_MAX };
	struct nvram there, here = { .len = sizes[_i], .data = xcalloc(1, sizes[_i]) };
	struct err err;
	cJSON *json;
	autofree char *text = NULL;

	memset(here.data, 0xff, here.len);
	here.data[0] = 0;
	here.data[here.len - 1] = 'x';
	json = nvram_pack(&here);
	text = cJSON_PrintUnformatted(json);
	ck_assert_msg(strlen(text) < 3 * NVRAM_BLOCK, "what is blank does not travel");
	ck_assert_msg(nvram_unpack(json, &there, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(there.len, here.len);
	ck_assert_mem_eq(there.data, here.data, here.len);
	nvram_done(&there);
	nvram_done(&here);
	cJSON_Delete(json);
}
END_TEST

static const char *const no_variables[] = {
	"{}",
	"[]",
	"{\"size\":0,\"blocks\":{}}",
	"{\"size\":-1,\"blocks\":{}}",
	"{\"size\":1048577,\"blocks\":{}}",
	"{\"size\":1e300,\"blocks\":{}}",
	"{\"size\":4}",
	"{\"size\":4,\"blocks\":[\"AAAAAA==\"]}",
	"{\"size\":4,\"blocks\":{\"\":\"AAAAAA==\"}}",
	"{\"size\":4,\"blocks\":{\"x\":\"AAAAAA==\"}}",
	"{\"size\":4,\"blocks\":{\"-0x\":\"AAAAAA==\"}}",
	"{\"size\":4,\"blocks\":{\"1\":\"AAAAAA==\"}}",
	"{\"size\":4,\"blocks\":{\"4096\":\"AAAAAA==\"}}",
	"{\"size\":4,\"blocks\":{\"-4096\":\"AAAAAA==\"}}",
	"{\"size\":4,\"blocks\":{\"18446744073709551616\":\"AAAAAA==\"}}",
	"{\"size\":4,\"blocks\":{\"0\":\"AAAAAAA=\"}}",
	"{\"size\":4,\"blocks\":{\"0\":\"AAAA\"}}",
	"{\"size\":4,\"blocks\":{\"0\":\"no base64\"}}",
	"{\"size\":4,\"blocks\":{\"0\":7}}",
	"{\"size\":4,\"blocks\":{\"0\":\"AAAAAA==\",\"4096\":\"AAAAAA==\"}}",
};

START_TEST(what_are_no_variables)
{
	cJSON *json = cJSON_Parse(no_variables[_i]);
	struct nvram nvram;
	struct err err;

	ck_assert_ptr_nonnull(json);
	ck_assert_int_eq(nvram_unpack(json, &nvram, &err), -ERR_INVALID);
	cJSON_Delete(json);
}
END_TEST

Suite *test_firmware_suite(void)
{
	Suite *s = suite_create("firmware");
	TCase *tc = tcase_create("firmware");

	tcase_add_loop_test(tc, what_is_none_is_refused, 0, ARRAY_SIZE(refused));
	tcase_add_test(tc, long_texts_are_refused);
	tcase_add_test(tc, it_is_read_as_it_was_written);
	tcase_add_loop_test(tc, what_describes_none, 0, ARRAY_SIZE(other_descriptions));
	tcase_add_test(tc, a_description);
	tcase_add_test(tc, which_a_host_has);
	tcase_add_loop_test(tc, variables_travel, 0, 5);
	tcase_add_loop_test(tc, what_are_no_variables, 0, ARRAY_SIZE(no_variables));
	suite_add_tcase(s, tc);
	return s;
}
