/* SPDX-License-Identifier: Apache-2.0 */
/* What a migration's target tells its source, which disks go along, and whose part of
 * the domain is whose. */
#include <check.h>
#include <string.h>

#include "core/migration_offer.h"
#include "core/migration_xml.h"
#include "core/node.h"

Suite *test_migration_offer_suite(void);

static struct err err;

#define TOKEN "00112233445566778899aabbccddeeff"

START_TEST(offers)
{
	struct migration_offer offer = { .token = { 0x01, 0xfe }, .folder = NULL, .plain = true },
			       back;
	autofree char *text = NULL;

	offer.folder = xstrdup("/run/vmagent/mig/x");
	offer.xml = xstrdup("<domain a=\"1\"/>");
	text = migration_offer_write(&offer);
	ck_assert_msg(migration_offer_read(text, &back, &err) == 0, "%s", err.msg);
	ck_assert_mem_eq(back.token, offer.token, sizeof(offer.token));
	ck_assert_str_eq(back.folder, offer.folder);
	ck_assert(back.plain);
	ck_assert_str_eq(back.xml, offer.xml);
	migration_offer_done(&back);
	migration_offer_done(&offer);
}
END_TEST

static const struct {
	const char *json, *why;
} bad[] = {
	{ "", "the target's offer is no JSON object" },
	{ "[]", "the target's offer is no JSON object" },
	{ "{} x", "the target's offer is no JSON object" },
	{ "{}", "the target's offer: 'token': expected 32 hex digits" },
	{ "{\"token\":\"00\"}", "the target's offer: 'token': expected 32 hex digits" },
	{ "{\"token\":7}", "the target's offer: 'token': expected 32 hex digits" },
	{ "{\"token\":\"" TOKEN "\"}", "the target's offer: 'folder': expected text" },
	{ "{\"token\":\"" TOKEN "\",\"folder\":\"\"}",
		"the target's offer: 'folder': expected text" },
	{ "{\"token\":\"" TOKEN "\",\"folder\":\"/f\",\"xml\":{}}",
		"the target's offer: 'xml': expected text" },
};

START_TEST(offers_that_make_no_sense)
{
	struct migration_offer offer;

	ck_assert_int_eq(migration_offer_read(bad[_i].json, &offer, &err), -ERR_BAD_REQUEST);
	ck_assert_str_eq(err.msg, bad[_i].why);
}
END_TEST

/* ---- disks ----------------------------------------------------------------------------------- */

START_TEST(disks_that_are_copied)
{
	struct volume volumes[] = { { .name = "root", .kind = VOLUME_CONTAINER_DISK },
		{ .name = "shared", .kind = VOLUME_HOST_DISK, .shared = true },
		{ .name = "tools", .kind = VOLUME_CONTAINER_DISK },
		{ .name = "scratch", .kind = VOLUME_EMPTY_DISK },
		{ .name = "fixed", .kind = VOLUME_EMPTY_DISK } };
	struct disk disks[] = { { .name = "root", .bus = DISK_BUS_VIRTIO },
		{ .name = "shared", .bus = DISK_BUS_VIRTIO },
		{ .name = "tools", .bus = DISK_BUS_SATA, .device = DISK_DEVICE_CDROM },
		{ .name = "scratch", .bus = DISK_BUS_VIRTIO },
		{ .name = "fixed", .bus = DISK_BUS_VIRTIO, .readonly = true } };
	struct vmi_spec spec = { .disks = disks,
		.n_disks = ARRAY_SIZE(disks),
		.volumes = volumes,
		.n_volumes = ARRAY_SIZE(volumes) };
	autofree char *list = migration_copies(&spec), *none = NULL;

	ck_assert_pstr_eq(list, "vda,vdc");
	ck_assert(!migration_copies_all(&spec));
	disks[0].readonly = disks[3].readonly = true;
	none = migration_copies(&spec);
	ck_assert_ptr_null(none);
	ck_assert(!migration_copies_all(&spec));
	disks[1].readonly = true;
	ck_assert(migration_copies_all(&spec));
}
END_TEST

/* ---- domains --------------------------------------------------------------------------------- */

#define DOMAIN(machine, cpu, controller, slot, path, more)                                       \
	"<domain type='kvm'><name>web</name><os><type machine='" machine "'>hvm</type></os>" cpu \
	"<devices>" controller "<disk><source file='" path "'/><address slot='" slot             \
	"'/></disk><disk><source file='" path "2'/></disk>" more "</devices></domain>"

static const char here[] = DOMAIN("pc-q35-7.2", "<cpu mode='custom'><model>Skylake</model></cpu>",
	"<controller index='0'/><controller index='1'/>", "0x02", "/a/root", "");
static const char there[] = DOMAIN("pc-q35-8.0", "<cpu mode='host-model'/>",
	"<controller index='7'/>", "0x05", "/b/root", "");

static bool says(const char *xml, const char *part)
{
	return strstr(xml, part) != NULL;
}

START_TEST(what_the_guest_sees_stays)
{
	autofree char *xml = NULL;

	ck_assert_msg(migration_xml(here, there, &xml, &err) == 0, "%s", err.msg);
	ck_assert(says(xml, "pc-q35-7.2") && !says(xml, "pc-q35-8.0"));
	ck_assert(says(xml, "Skylake") && !says(xml, "host-model"));
	ck_assert(says(xml, "<controller index=\"0\"/><controller index=\"1\"/>"));
	ck_assert(!says(xml, "index=\"7\""));
	ck_assert(says(xml, "slot=\"0x02\"") && !says(xml, "0x05"));
	ck_assert(says(xml, "\"/b/root\"") && says(xml, "\"/b/root2\"") && !says(xml, "/a/"));
}
END_TEST

START_TEST(what_cannot_be_matched)
{
	autofree char *xml = NULL;
	static const char more[] =
		DOMAIN("m", "", "", "0x02", "/b/root", "<disk><source file='/etc/shadow'/></disk>");

	ck_assert_int_eq(migration_xml(here, more, &xml, &err), -ERR_INVALID);
	ck_assert_str_eq(err.msg,
		"the target has made ready a <disk> that the guest does not have");
	ck_assert_int_eq(migration_xml(here, "<network/>", &xml, &err), -ERR_INVALID);
	ck_assert_str_eq(err.msg, "the domain as the target has it is none");
	ck_assert_int_eq(migration_xml("", there, &xml, &err), -ERR_INVALID);
	ck_assert_str_eq(err.msg, "the domain as this host has it is none");
	ck_assert_int_eq(migration_xml("<domain/>", there, &xml, &err), -ERR_INVALID);
	ck_assert_ptr_null(xml);
}
END_TEST

/* libvirt executes it here, as soon as it reads the domain that the target has made ready. */
START_TEST(no_other_emulator)
{
#define QEMU(path) "<emulator>" path "</emulator>"
	static const char ours[] = DOMAIN("m", "", QEMU("/usr/bin/qemu"), "0x02", "/a", "");
	static const struct {
		const char *theirs, *words;
	} rows[] = {
		{ DOMAIN("m", "", QEMU("/usr/bin/qemu"), "0x02", "/b", ""), NULL },
		{ DOMAIN("m", "", QEMU("/shared/evil"), "0x02", "/b", ""),
			"the target would have the guest run by '/shared/evil', not by '/usr/bin/qemu'" },
		{ DOMAIN("m", "", QEMU("/usr/bin/qemu") QEMU("/shared/evil"), "0x02", "/b", ""),
			"by '/shared/evil'" },
		{ DOMAIN("m", "", "", "0x02", "/b", "</devices><devices>" QEMU("/shared/evil")),
			"more than one <devices>" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		autofree char *xml = NULL;
		int rc = migration_xml(ours, rows[i].theirs, &xml, &err);

		ck_assert_msg(rows[i].words ? rc < 0 && says(err.msg, rows[i].words) : rc == 0,
			"%s: %s", rows[i].theirs, rc ? err.msg : "passes");
	}
}
END_TEST

Suite *test_migration_offer_suite(void)
{
	Suite *suite = suite_create("migration_offer");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, offers);
	tcase_add_loop_test(tc, offers_that_make_no_sense, 0, ARRAY_SIZE(bad));
	tcase_add_test(tc, disks_that_are_copied);
	tcase_add_test(tc, what_the_guest_sees_stays);
	tcase_add_test(tc, what_cannot_be_matched);
	tcase_add_test(tc, no_other_emulator);
	suite_add_tcase(suite, tc);
	return suite;
}
