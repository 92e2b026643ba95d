/* SPDX-License-Identifier: Apache-2.0 */
/* What a host lacks for a domain, in words, by what libvirt says of it. */
#include <check.h>

#include "io/virt_needs.h"

Suite *test_virt_needs_suite(void);

#define EFI "<os firmware='efi'/>"
#define SECURE \
	"<os firmware='efi'><firmware><feature enabled='yes' name='secure-boot'/></firmware></os>"
#define TPM "<devices><tpm model='tpm-tis'/></devices>"

#define CAN(what)         "<domainCapabilities>" what "</domainCapabilities>"
#define ENUM(name, value) "<enum name='" name "'><value>" value "</value></enum>"
#define CAN_EFI           CAN("<os>" ENUM("firmware", "efi") "<loader>" ENUM("secure", "no") "</loader></os>")
#define CAN_SECURE \
	CAN("<os>" ENUM("firmware", "efi") "<loader>" ENUM("secure", "yes") "</loader></os>")
#define CAN_TPM \
	CAN("<devices><tpm supported='yes'>" ENUM("backendModel", "emulator") "</tpm></devices>")

/* clang-format off */
static const struct {
	const char *domain, *host;
	const char *words; /* NULL: nothing is missing */
} cases[] = {
	{ "",     CAN(""),    NULL },
	{ EFI,    CAN_EFI,    NULL },
	{ EFI,    CAN_SECURE, NULL },
	{ EFI,    CAN(""),    "this host cannot run it: it has no EFI firmware: install the package ovmf" },
	{ EFI,    NULL,       NULL }, /* what it has is not known */
	{ SECURE, CAN_SECURE, NULL },
	{ SECURE, CAN_EFI,    "this host cannot run it: it has no EFI firmware with secure boot: install the "
		"package ovmf, or set bootloader.efi.secureBoot: false" },
	{ TPM,    CAN_TPM,    NULL },
	{ TPM,    CAN(""),    "this host cannot run it: it cannot make a TPM: install the packages swtpm and swtpm-tools" },
};
/* clang-format on */

START_TEST(words)
{
	autofree char *xml = xasprintf("<domain>%s</domain>", cases[_i].domain);
	struct err err = { 0 };
	int rc = virt_needs_check(xml, cases[_i].host, &err);

	ck_assert_int_eq(rc, cases[_i].words ? -ERR_INVALID : 0);
	ck_assert_str_eq(err.msg, cases[_i].words ? cases[_i].words : "");
}
END_TEST

Suite *test_virt_needs_suite(void)
{
	Suite *suite = suite_create("virt_needs");
	TCase *tc = tcase_create("words");

	tcase_add_loop_test(tc, words, 0, ARRAY_SIZE(cases));
	suite_add_tcase(suite, tc);
	return suite;
}
