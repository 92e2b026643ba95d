/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware that a host describes, in folders as QEMU has them; the file with a firmware's variables. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/nvram_file.h"
#include "io/virt_firmware.h"

Suite *test_virt_firmware_suite(void);

static char folder[64], etc[96], usr[96], file[96];
static const char *const folders[] = { etc, usr };

static void shell(const char *command)
{
	autofree char *all = xasprintf("cd '%s' && (%s)", folder, command);

	ck_assert_msg(system(all) == 0, "%s", command);
}

static void set_up(void)
{
	strcpy(folder, "/tmp/vmagent-fw.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(etc, sizeof(etc), "%s/etc", folder);
	snprintf(usr, sizeof(usr), "%s/usr", folder);
	snprintf(file, sizeof(file), "%s/nvram", folder);
	shell("mkdir etc usr && : >code && : >vars");
}

static void tear_down(void)
{
	shell("rm -r *");
	ck_assert_int_eq(rmdir(folder), 0);
}

static void describe(const char *where, const char *code)
{
	autofree char *path = xasprintf("%s/%s", folder, where);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f,
		"{\"interface-types\":[\"uefi\"],\"mapping\":{\"device\":\"flash\",\"executable\":{\"filename\":"
		"\"%s/%s\",\"format\":\"raw\"},\"nvram-template\":{\"filename\":\"%s/vars\",\"format\":\"raw\"}},"
		"\"features\":[\"requires-smm\"]}",
		folder, code, folder);
	fclose(f);
}

static bool is_there(const char *code)
{
	autofree char *list = virt_firmwares_in(folders, 2),
		      *loader = xasprintf("\"loader\":\"%s/%s\"", folder, code);

	return strstr(list, loader) != NULL;
}

START_TEST(what_is_described)
{
	ck_assert(!is_there("code"));
	describe("usr/50-one.json", "code");
	ck_assert(is_there("code"));
	describe("usr/60-two.json", "missing");
	ck_assert(!is_there("missing"));
	describe("usr/readme.txt", "vars");
	describe("usr/.hidden.json", "vars");
	ck_assert(!is_there("vars"));
	shell("echo nonsense >usr/10-bad.json; mkdir usr/20-folder.json; ln -s nowhere usr/30-link.json");
	ck_assert(is_there("code"));
}
END_TEST

START_TEST(an_earlier_folder_hides)
{
	describe("usr/50-one.json", "code");
	shell(": >etc/50-one.json");
	ck_assert(!is_there("code"));
	describe("etc/50-one.json", "vars");
	ck_assert(is_there("vars") && !is_there("code"));
}
END_TEST

START_TEST(what_anybody_may_write_is_passed_over)
{
	describe("usr/50-one.json", "code");
	shell("chmod g+w usr/50-one.json");
	ck_assert(!is_there("code"));
	shell("chmod g-w,o+w usr/50-one.json");
	ck_assert(!is_there("code"));
}
END_TEST

#define OS(attributes, inside) "<domain><os" attributes "><type>hvm</type>" inside "</os></domain>"

static void check_is(const char *xml, const char *words)
{
	autofree char *list = virt_firmwares_in(folders, 2);
	struct err err = { 0 };
	int rc = virt_firmware_check(xml, list, &err);

	ck_assert_msg(words ? rc < 0 && strstr(err.msg, words) : rc == 0, "%s: %s", xml, err.msg);
}

START_TEST(a_domain_that_comes)
{
	autofree char *good =
		xasprintf(OS("",
				  "<loader readonly='yes' secure='yes' type='pflash'>%s/code</loader>"
				  "<nvram template='%s/vars'>/n</nvram>"),
			folder, folder);

	describe("usr/50-one.json", "code");
	check_is(OS("", ""), NULL);
	check_is(good, NULL);
	check_is(OS(" firmware='efi'", ""), "does not say which firmware");
	check_is(OS("", "<loader type='pflash'>/etc/shadow</loader><nvram template='/etc/passwd'/>"),
		"no firmware '/etc/shadow' with variables as in '/etc/passwd'");
	check_is(OS("", "<loader type='rom'>/etc/shadow</loader>"), "none");
	check_is("<domain", "not XML");
	shell("rm vars");
	check_is(good, "has no firmware");
}
END_TEST

START_TEST(variables_in_a_file)
{
	uint8_t bytes[] = { 1, 2, 3, 4, 5 };
	struct nvram out = { bytes, sizeof(bytes) }, in;
	struct err err;

	ck_assert_int_eq(nvram_file_read(file, &in, &err), -ERR_NOT_FOUND);
	ck_assert_msg(nvram_file_write(file, &out, &err) == 0, "%s", err.msg);
	ck_assert_msg(nvram_file_read(file, &in, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(in.len, sizeof(bytes));
	ck_assert_mem_eq(in.data, bytes, sizeof(bytes));
	nvram_done(&in);
	out.len = 2;
	ck_assert_int_eq(nvram_file_write(file, &out, &err), 0);
	ck_assert_int_eq(nvram_file_read(file, &in, &err), 0);
	ck_assert_uint_eq(in.len, 2);
	nvram_done(&in);
}
END_TEST

/* Whoever runs as QEMU's user may have put something in its place. */
START_TEST(what_is_no_file_is_left_alone)
{
	uint8_t byte = 1;
	struct nvram out = { &byte, 1 }, in;
	struct err err;

	shell("echo secret >other; ln -s other nvram");
	ck_assert_int_lt(nvram_file_write(file, &out, &err), 0);
	ck_assert_int_lt(nvram_file_read(file, &in, &err), 0);
	shell("[ \"$(cat other)\" = secret ]; rm nvram; mkdir nvram");
	ck_assert_int_lt(nvram_file_write(file, &out, &err), 0);
	ck_assert_int_eq(nvram_file_read(file, &in, &err), -ERR_TOO_LARGE);
	shell("rmdir nvram; mkfifo nvram");
	ck_assert_int_lt(nvram_file_write(file, &out, &err), 0);
	ck_assert_int_eq(nvram_file_read(file, &in, &err), -ERR_TOO_LARGE);
	shell("rm nvram; truncate -s 1048577 nvram");
	ck_assert_int_eq(nvram_file_read(file, &in, &err), -ERR_TOO_LARGE);
	shell("truncate -s 0 nvram");
	ck_assert_int_eq(nvram_file_read(file, &in, &err), -ERR_TOO_LARGE);
}
END_TEST

Suite *test_virt_firmware_suite(void)
{
	Suite *s = suite_create("virt_firmware");
	TCase *tc = tcase_create("firmware");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, what_is_described);
	tcase_add_test(tc, an_earlier_folder_hides);
	tcase_add_test(tc, what_anybody_may_write_is_passed_over);
	tcase_add_test(tc, a_domain_that_comes);
	tcase_add_test(tc, variables_in_a_file);
	tcase_add_test(tc, what_is_no_file_is_left_alone);
	suite_add_tcase(s, tc);
	return s;
}
