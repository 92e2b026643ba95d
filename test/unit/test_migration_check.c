/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a guest can come: each check alone, all at once, what is told of it; what belongs to a
 * guest; what libvirt says of a host. */
#include <check.h>
#include <string.h>

#include "core/belongings.h"
#include "core/edit.h"
#include "core/host_report.h"
#include "core/migration_check.h"

Suite *test_migration_check_suite(void);

/* Of a host that takes the guest. */
static struct migration_facts fine(void)
{
	return (struct migration_facts){ .enabled = true,
		.connected = true,
		.their_host = "a",
		.our_host = "b",
		.needs_kvm = true,
		.has_kvm = true,
		.their_qemu = 7002005,
		.our_qemu = 7002000,
		.machine = "pc-q35-7.2",
		.has_machine = true,
		.copies = 1 << 20,
		.space = 1 << 20,
		.folder = "/var/lib/vmagent" };
}

static void is_enabled(struct migration_facts *f)
{
	f->enabled = false;
}
static void is_same_host(struct migration_facts *f)
{
	f->our_host = "a";
}
static void goes_down(struct migration_facts *f)
{
	f->going_down = true;
}
static void has_no_libvirt(struct migration_facts *f)
{
	f->connected = false;
}
static void is_stale(struct migration_facts *f)
{
	f->stale = true;
}
static void has_name(struct migration_facts *f)
{
	f->has_name = true;
}
static void was_adopted(struct migration_facts *f)
{
	f->adopted = true;
}
static void sends_in_the_clear(struct migration_facts *f)
{
	f->they_disable_tls = true;
}
static void takes_in_the_clear(struct migration_facts *f)
{
	f->we_disable_tls = true;
}
static void has_no_kvm(struct migration_facts *f)
{
	f->has_kvm = false;
}
static void is_emulated(struct migration_facts *f)
{
	f->needs_kvm = false;
	f->needs_tcg = true;
}
static void has_old_qemu(struct migration_facts *f)
{
	f->our_qemu = 7001999;
}
static void has_no_machine(struct migration_facts *f)
{
	f->has_machine = false;
}
static void has_no_cpu(struct migration_facts *f)
{
	f->cpu = "missing features: avx512f";
}
static void is_full(struct migration_facts *f)
{
	f->copies = 2 << 20;
}
#define FIRMWARE(code) \
	"{\"loader\":\"" code "\",\"variables\":\"/v\",\"format\":\"raw\",\"secure\":true}"
static void has_other_firmware(struct migration_facts *f)
{
	f->firmware = FIRMWARE("/a");
	f->firmwares = FIRMWARE("/b") "\n";
}
static void has_no_firmware(struct migration_facts *f)
{
	f->firmware = FIRMWARE("/a");
	f->firmwares = "";
}
static void tells_no_firmware(struct migration_facts *f)
{
	f->firmware = "{\"loader\":\"../a\"}";
	f->firmwares = FIRMWARE("/a") "\n";
}
static void has_no_network(struct migration_facts *f)
{
	f->words[MIGRATION_CHECK_NETWORKS] = xstrdup("there is no 'lan'");
}

/* clang-format off */
static const struct {
	void (*change)(struct migration_facts *f);
	const char *field, *message;
} rows[] = {
	{ is_enabled,     "migrations",     "it takes no guests from other hosts: say 'migrations: {enabled: true}' in its configuration" },
	{ is_same_host,   "host",           "it is the same host, by its UUID: give each a 'host_uuid' of its own in libvirtd.conf" },
	{ goes_down,      "hostShutdown",   "it is shutting down" },
	{ has_no_libvirt, "libvirt",        "its libvirt cannot be reached at the moment" },
	{ is_stale,       "epoch",          "it had that guest later than the one who wants to send it" },
	{ has_name,       "name",           "it has a virtual machine of that name" },
	{ was_adopted,    "domain",         "its domain was made by somebody else and adopted: restart it first" },
	{ sends_in_the_clear, "encryption", "it takes only guests that are encrypted on their way: 'migrations.disableTLS' is for both hosts or none" },
	{ takes_in_the_clear, "encryption", "it takes only guests that are not encrypted on their way: 'migrations.disableTLS' is for both hosts or none" },
	{ has_no_kvm,     "virtualization", "the guest runs on KVM, which does not work there" },
	{ is_emulated,    "virtualization", "the guest is emulated, and guests run on KVM there" },
	{ has_old_qemu,   "qemu",           "its QEMU is 7.1.999, older than that of the guest, 7.2.5: upgrade it" },
	{ has_no_machine, "machine",        "its QEMU has no machine type 'pc-q35-7.2', which the guest has" },
	{ has_no_cpu,     "cpu",            "the guest's CPU cannot be had there: missing features: avx512f" },
	{ has_other_firmware, "firmware",   "it does not have the guest's EFI firmware, '/a' with variables as in '/v': install the package that it is of" },
	{ has_no_firmware, "firmware",      "it does not have the guest's EFI firmware, '/a' with variables as in '/v': install the package that it is of" },
	{ tells_no_firmware, "firmware",    "it is not told which EFI firmware the guest has" },
	{ is_full,        "disk",           "copies of its disks may take 2Mi, and 1Mi are free in '/var/lib/vmagent'" },
	{ has_no_network, "networks",       "there is no 'lan'" },
};
/* clang-format on */

START_TEST(each_check)
{
	struct migration_facts f = fine();
	struct findings found = { 0 };

	migration_check(&f, &found);
	ck_assert_uint_eq(found.n, 0);
	rows[_i].change(&f);
	migration_check(&f, &found);
	ck_assert_uint_eq(found.n, 1);
	ck_assert_str_eq(found.list[0].field, rows[_i].field);
	ck_assert_str_eq(found.list[0].message, rows[_i].message);
	findings_done(&found);
	migration_facts_done(&f);
}
END_TEST

START_TEST(all_at_once)
{
	struct migration_facts f = fine();
	struct findings found = { 0 }, heard = { 0 };
	autofree char *json = NULL, *words = NULL;

	is_full(&f);
	has_no_cpu(&f);
	has_no_network(&f);
	migration_check(&f, &found);
	ck_assert_uint_eq(found.n, 3);
	json = migration_findings_write(&found);
	migration_findings_read(json, &heard);
	words = migration_findings_words(&heard);
	ck_assert_str_eq(words,
		"the guest's CPU cannot be had there: missing features: avx512f; copies of its disks may "
		"take 2Mi, and 1Mi are free in '/var/lib/vmagent'; there is no 'lan'");
	findings_done(&found);
	findings_done(&heard);
	migration_facts_done(&f);
}
END_TEST

START_TEST(what_is_not_known_is_not_compared)
{
	struct migration_facts f = fine();
	struct findings found = { 0 };

	f.their_host = f.our_host = "";
	f.our_qemu = 0;
	f.machine = NULL;
	f.has_machine = false;
	f.space = -1;
	f.firmware = FIRMWARE("/a");
	f.needs_kvm = f.has_kvm = false;
	migration_check(&f, &found);
	ck_assert_uint_eq(found.n, 0);
}
END_TEST

START_TEST(what_others_say_is_harmless)
{
	static const char *const texts[] = { "", "{}", "[1]", "[{}]", "nonsense", "[[[" };
	struct findings found = { 0 };

	migration_findings_read(NULL, &found);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		migration_findings_read(texts[i], &found);
	ck_assert_uint_eq(found.n, 2);
	migration_findings_read("[{\"check\":\"a\",\"message\":\"b\\u001b[2J\\n\"}]", &found);
	ck_assert_str_eq(found.list[2].message, "b?[2J?");
	findings_done(&found);
}
END_TEST

START_TEST(many_findings_stay_bounded)
{
	struct findings found = { 0 };
	autofree char *long_text = xcalloc(1, 4001), *json = NULL;

	memset(long_text, '"', 4000);
	for (int i = 0; i < FINDINGS_MAX; i++)
		findings_add(&found, NULL, "x", "%s", long_text);
	json = migration_findings_write(&found);
	ck_assert_uint_lt(2 * strlen(json), 1 << 17);
	findings_done(&found);
}
END_TEST

START_TEST(belongings_of_a_spec)
{
	struct node *spec = text_tree(
		"{\"template\":{\"spec\":{\"accessCredentials\":[{\"sshPublicKey\":{\"source\":{\"secret\":"
		"{\"secretName\":\"keys\"}}}}],\"volumes\":["
		"{\"cloudInitNoCloud\":{\"secretRef\":{\"name\":\"seed\"},"
		"\"networkDataSecretRef\":{\"name\":\"net\"}}},"
		"{\"secret\":{\"secretName\":\"seed\"}},{\"sysprep\":{\"configMap\":{\"name\":\"answers\"}}},"
		"{\"configMap\":{\"name\":\"conf\"}},{\"containerDisk\":{\"image\":\"x\"}},"
		"{\"persistentVolumeClaim\":{\"claimName\":\"data\"}},{\"dataVolume\":{\"name\":\"root\"}}]}}}");
	struct belongings b = { .n = 0 };

	belongings_add(&b, spec);
	belongings_add(&b, spec);
	belongings_add(&b, NULL);
	ck_assert_uint_eq(b.n, 7);
	ck_assert(belongings_have(&b, KIND_SECRET, "keys"));
	ck_assert(belongings_have(&b, KIND_SECRET, "seed"));
	ck_assert(belongings_have(&b, KIND_SECRET, "net"));
	ck_assert(belongings_have(&b, KIND_CONFIG_MAP, "answers"));
	ck_assert(belongings_have(&b, KIND_CONFIG_MAP, "conf"));
	ck_assert(belongings_have(&b, KIND_PVC, "data"));
	ck_assert(belongings_have(&b, KIND_PVC, "root"));
	ck_assert(!belongings_have(&b, KIND_SECRET, "conf"));
	belongings_done(&b);
	node_free(spec);
}
END_TEST

START_TEST(a_host_report)
{
	struct host_report report = { .libvirt = 9000000,
		.qemu = 7002022,
		.cpu = xstrdup("<cpu/>"),
		.machines = xstrdup("pc=pc-i440fx-7.2,q35=pc-q35-7.2,pc-q35-7.2=pc-q35-7.2,"),
		.space = 42 };
	autofree char *text = host_report_write(&report), *q35 = NULL, *exact = NULL, *none = NULL;
	struct host_report read;

	host_report_read(text, &read);
	ck_assert_int_eq(read.qemu, 7002022);
	ck_assert_int_eq(read.space, 42);
	ck_assert_str_eq(read.cpu, "<cpu/>");
	ck_assert_ptr_null(read.misfit);
	q35 = host_report_machine(&read, "q35");
	exact = host_report_machine(&read, "pc-q35-7.2");
	none = host_report_machine(&read, "pc-q35-7");
	ck_assert_str_eq(q35, "pc-q35-7.2");
	ck_assert_str_eq(exact, "pc-q35-7.2");
	ck_assert_ptr_null(none);
	host_report_done(&report);
	host_report_done(&read);
	host_report_read(NULL, &read);
	ck_assert_int_eq(read.space, -1);
	ck_assert_ptr_null(host_report_machine(&read, "q35"));
	host_report_done(&read);
}
END_TEST

Suite *test_migration_check_suite(void)
{
	Suite *suite = suite_create("migration_check");
	TCase *tc = tcase_create("migration_check");

	tcase_add_loop_test(tc, each_check, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, all_at_once);
	tcase_add_test(tc, what_is_not_known_is_not_compared);
	tcase_add_test(tc, what_others_say_is_harmless);
	tcase_add_test(tc, many_findings_stay_bounded);
	tcase_add_test(tc, belongings_of_a_spec);
	tcase_add_test(tc, a_host_report);
	suite_add_tcase(suite, tc);
	return suite;
}
