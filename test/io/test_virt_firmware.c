/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware that a host describes, in folders as QEMU has them. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/virt_firmware.h"

Suite *test_virt_firmware_suite(void);

static char folder[64], etc[96], usr[96];
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

Suite *test_virt_firmware_suite(void)
{
	Suite *s = suite_create("virt_firmware");
	TCase *tc = tcase_create("firmware");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, what_is_described);
	tcase_add_test(tc, an_earlier_folder_hides);
	tcase_add_test(tc, what_anybody_may_write_is_passed_over);
	tcase_add_test(tc, a_domain_that_comes);
	suite_add_tcase(s, tc);
	return s;
}
