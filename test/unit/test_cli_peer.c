/* SPDX-License-Identifier: Apache-2.0 */
/* vmactl peer: what a bundle must be, where its parts go, and what is not replaced.
 * certtool is not needed. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/peer_pki.h"

Suite *test_cli_peer_suite(void);

#define BLOCK(title, text) "-----BEGIN " title "-----\n" text "\n-----END " title "-----\n"
#define CA                 BLOCK("CERTIFICATE", "Q0E=")
#define CERT               BLOCK("CERTIFICATE", "Tk9ERQ==")
#define KEY                BLOCK("EC PRIVATE KEY", "S0VZ")
#define MARK               "# vmagent peer 'host-b.example.org': and so on\n"

static char folder[64];

static void begin(void)
{
	strcpy(folder, "/tmp/vmagent-pki.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void end(void)
{
	static const char *const names[] = { PKI_CA, PKI_CERT, PKI_KEY, PKI_CA_KEY };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		autofree char *path = xasprintf("%s/%s", folder, names[i]);

		unlink(path);
	}
	rmdir(folder);
}

static void expect_file(const char *name, const char *text, unsigned mode)
{
	autofree char *path = xasprintf("%s/%s", folder, name);
	char got[4096] = "";
	struct stat st;
	FILE *file = fopen(path, "r");

	ck_assert_msg(file != NULL, "%s", path);
	got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
	fclose(file);
	ck_assert_str_eq(got, text);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, mode);
}

START_TEST(parts_go_in_their_places)
{
	struct fault fault = { 0 };

	umask(_i ? 0077 : 0);
	ck_assert_msg(peer_pki_join(folder, MARK CA CERT KEY, &fault) == 0, "%s", fault.text.data);
	expect_file(PKI_CA, CA, 0644);
	expect_file(PKI_CERT, CERT, 0644);
	expect_file(PKI_KEY, KEY, 0600);
	/* A later one of the same authority takes its place. */
	ck_assert_int_eq(peer_pki_join(folder,
				 "Text between.\n" CA "more\n" CERT BLOCK("PRIVATE KEY", "TkVX"),
				 &fault),
		0);
	expect_file(PKI_KEY, BLOCK("PRIVATE KEY", "TkVX"), 0600);
}
END_TEST

static const char *const bad[] = {
	"",
	"-----BEGIN CERTIFICATE-----\n",
	CA,
	CA CERT,
	CA KEY,
	CA KEY CERT,
	KEY CA CERT,
	CA CERT KEY KEY,
	CA CERT CERT KEY,
};

START_TEST(what_is_no_bundle_changes_nothing)
{
	struct fault fault = { 0 };
	autofree char *ca = xasprintf("%s/" PKI_CA, folder);

	ck_assert_int_eq(peer_pki_join(folder, bad[_i], &fault), -1);
	ck_assert_ptr_nonnull(strstr(fault.text.data, "it is no bundle of 'vmactl peer cert'"));
	ck_assert_int_ne(access(ca, F_OK), 0);
	fault_done(&fault);
}
END_TEST

START_TEST(another_authority_is_not_replaced)
{
	struct fault fault = { 0 };

	ck_assert_int_eq(peer_pki_join(folder, CA CERT KEY, &fault), 0);
	ck_assert_int_eq(peer_pki_join(folder, CERT CA KEY, &fault), -1);
	ck_assert_ptr_nonnull(strstr(fault.text.data, "another authority's certificate"));
	fault_done(&fault);
	expect_file(PKI_CA, CA, 0644);
	expect_file(PKI_CERT, CERT, 0644);
}
END_TEST

START_TEST(only_the_authority_issues)
{
	struct fault fault = { 0 };
	struct buf out = { 0 };

	ck_assert_int_eq(peer_pki_join(folder, CA CERT KEY, &fault), 0);
	ck_assert_int_eq(peer_pki_issue(folder, "host-c", &out, &fault), -1);
	ck_assert_ptr_nonnull(strstr(fault.text.data, "where 'vmactl peer init' was run"));
	fault_done(&fault);
	ck_assert_int_eq(peer_pki_init(folder, "host-c", &fault), -1);
	ck_assert_ptr_nonnull(strstr(fault.text.data, "trusts another host's authority"));
	fault_done(&fault);
	buf_done(&out);
}
END_TEST

START_TEST(whose_it_is)
{
	autofree char *node = peer_pki_bundle_node(MARK CA);

	ck_assert_str_eq(node, "host-b.example.org");
	ck_assert_ptr_null(peer_pki_bundle_node(CA CERT KEY));
}
END_TEST

Suite *test_cli_peer_suite(void)
{
	Suite *s = suite_create("cli peer");
	TCase *t = tcase_create("bundles");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_loop_test(t, parts_go_in_their_places, 0, 2);
	tcase_add_loop_test(t, what_is_no_bundle_changes_nothing, 0, ARRAY_SIZE(bad));
	tcase_add_test(t, another_authority_is_not_replaced);
	tcase_add_test(t, only_the_authority_issues);
	tcase_add_test(t, whose_it_is);
	suite_add_tcase(s, t);
	return s;
}
