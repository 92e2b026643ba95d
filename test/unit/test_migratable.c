/* SPDX-License-Identifier: Apache-2.0 */
/* LiveMigratable, StorageLiveMigratable and migrationMethod against semantics
 * §1.3: order, reasons, method. */
#include <check.h>

#include "core/migratable.h"

Suite *test_migratable_suite(void);

#define ALLOWED "{\"kubevirt.io/allow-pod-bridge-network-live-migration\":\"\"}"

/* clang-format off */
static const struct {
	const char *annotations;
	int bridge; /* -1: no interface */
	const char *volumes; /* h hostDisk, s shared hostDisk, c containerDisk, e emptyDisk; upper case: read only */
	const char *reason; /* NULL: LiveMigratable */
	bool storage, block;
} rows[] = {
	{ NULL,    -1, "",   NULL,                         true,  false },
	{ NULL,     0, "",   NULL,                         true,  false },
	{ NULL,     1, "",   "InterfaceNotLiveMigratable", false, false },
	{ ALLOWED,  1, "",   NULL,                         true,  false },
	{ "{\"a\":\"b\"}", 1, "", "InterfaceNotLiveMigratable", false, false },
	{ NULL,     0, "h",  "DisksNotLiveMigratable",     true,  true },
	{ NULL,     0, "H",  "DisksNotLiveMigratable",     true,  true },
	{ NULL,     0, "s",  NULL,                         true,  false },
	{ NULL,     0, "c",  NULL,                         true,  true },
	{ NULL,     0, "e",  NULL,                         true,  true },
	{ NULL,     0, "C",  NULL,                         true,  false },
	{ NULL,     0, "se", NULL,                         true,  true },
	{ NULL,     0, "sh", "DisksNotLiveMigratable",     true,  true },
	{ NULL,     1, "h",  "InterfaceNotLiveMigratable", false, true }, /* the first one is the reason */
};
/* clang-format on */

static void add_volume(struct vmi_spec *spec, char letter)
{
	static const char kinds[] = { [VOLUME_HOST_DISK] = 'h',
		[VOLUME_CONTAINER_DISK] = 'c',
		[VOLUME_EMPTY_DISK] = 'e' };
	bool readonly = letter < 'a';
	struct volume *volume = &spec->volumes[spec->n_volumes++];
	char lower = (char)(readonly ? letter + 'a' - 'A' : letter);

	volume->name = xasprintf("v%zu", spec->n_volumes);
	volume->shared = lower == 's';
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i] == lower)
			volume->kind = (enum volume_kind)i;
	}
	spec->disks[spec->n_disks].name = xstrdup(volume->name);
	spec->disks[spec->n_disks++].readonly = readonly;
}

START_TEST(row)
{
	struct vmi vmi = { .meta.annotations = (char *)rows[_i].annotations };
	struct migratable m;

	vmi.typed.volumes = xcalloc(4, sizeof(*vmi.typed.volumes));
	vmi.typed.disks = xcalloc(4, sizeof(*vmi.typed.disks));
	vmi.typed.interfaces = xcalloc(1, sizeof(*vmi.typed.interfaces));
	vmi.typed.interfaces[0].name = xstrdup("default");
	vmi.typed.interfaces[0].binding = rows[_i].bridge > 0 ? BINDING_BRIDGE : BINDING_MASQUERADE;
	vmi.typed.n_interfaces = rows[_i].bridge >= 0;
	for (const char *v = rows[_i].volumes; *v; v++)
		add_volume(&vmi.typed, *v);
	migratable_of(&vmi, &m);
	ck_assert_pstr_eq(m.reason, rows[_i].reason);
	ck_assert_int_eq(m.message != NULL, rows[_i].reason != NULL);
	ck_assert_int_eq(m.storage == NULL, rows[_i].storage);
	ck_assert_int_eq(m.block, rows[_i].block);
	migratable_done(&m);
	vmi.typed.n_interfaces = 1;
	vmi_spec_done(&vmi.typed);
}
END_TEST

/* Neither its disks nor its filesystems can be without this host. */
START_TEST(a_folder)
{
	struct volume folder = { .name = (char *)"f",
		.as_folder = true,
		.kind = VOLUME_CLAIM,
		.shared = true };
	struct vmi vmi = { .typed = { .volumes = &folder, .n_volumes = 1 } };
	struct migratable m;

	migratable_of(&vmi, &m);
	ck_assert_str_eq(m.reason, "DisksNotLiveMigratable");
	ck_assert_str_eq(m.message, "filesystem 'f' is served by this host (virtiofs)");
	ck_assert_ptr_nonnull(m.storage);
	ck_assert(!m.block);
	migratable_done(&m);
}
END_TEST

/* Reasons that lie in one field of the spec. */
START_TEST(features_of_one_host)
{
	struct vmi vmi = { .typed.features.hyperv.passthrough = true };
	struct migratable m;

	migratable_of(&vmi, &m);
	ck_assert_str_eq(m.reason, "HypervPassthroughNotLiveMigratable");
	migratable_done(&m);
	vmi.typed.features.hyperv.features[HYPERV_REENLIGHTENMENT] = TOGGLE_ON;
	migratable_of(&vmi, &m);
	ck_assert_str_eq(m.reason, "NoTSCFrequencyNotLiveMigratable");
	ck_assert_ptr_nonnull(m.storage);
	migratable_done(&m);
	vmi.typed.features.hyperv.features[HYPERV_REENLIGHTENMENT] = TOGGLE_OFF;
	vmi.typed.features.hyperv.passthrough = false;
	migratable_of(&vmi, &m);
	ck_assert_ptr_null(m.reason);
	migratable_done(&m);
}
END_TEST

/* One that runs must be known; what the target makes of it is the target's. */
START_TEST(firmware_that_can_be_told)
{
	struct vmi vmi = { .phase = PHASE_SCHEDULED, .typed.bootloader = BOOTLOADER_EFI };
	struct migratable m;

	migratable_of(&vmi, &m);
	ck_assert_ptr_null(m.reason);
	migratable_done(&m);
	vmi.phase = PHASE_RUNNING;
	migratable_of(&vmi, &m);
	ck_assert_str_eq(m.reason, "FirmwareNotLiveMigratable");
	ck_assert_ptr_nonnull(m.storage);
	migratable_done(&m);
	vmi.firmware = (char *)"{}";
	migratable_of(&vmi, &m);
	ck_assert_ptr_null(m.reason);
	migratable_done(&m);
}
END_TEST

/* What is allocated here is not there. */
START_TEST(shares_of_one_host)
{
	struct device_ask ask = { .name = (char *)"gpu", .gpu = true };
	struct vmi vmi = { .typed = { .dedicated = true, .vsock = true } };
	struct migratable m;

	migratable_of(&vmi, &m);
	ck_assert_str_eq(m.reason, "HostDeviceNotLiveMigratable");
	ck_assert_str_eq(m.message, "autoattachVSOCK: its CID is this host's");
	migratable_done(&m);
	vmi.typed.devices = &ask;
	vmi.typed.n_devices = 1;
	migratable_of(&vmi, &m);
	ck_assert_str_eq(m.reason, "HostDeviceNotLiveMigratable");
	ck_assert_str_eq(m.message, "gpu 'gpu' is a device of this host");
	ck_assert_ptr_nonnull(m.storage);
	migratable_done(&m);
	vmi.typed.n_devices = 0;
	vmi.typed.vsock = false;
	migratable_of(&vmi, &m);
	ck_assert_str_eq(m.reason, "DedicatedCPUNotLiveMigratable");
	migratable_done(&m);
}
END_TEST

Suite *test_migratable_suite(void)
{
	Suite *s = suite_create("migratable");
	TCase *table = tcase_create("§1.3 LiveMigratable");

	tcase_add_test(table, a_folder);
	tcase_add_loop_test(table, row, 0, ARRAY_SIZE(rows));
	tcase_add_test(table, features_of_one_host);
	tcase_add_test(table, firmware_that_can_be_told);
	tcase_add_test(table, shares_of_one_host);
	suite_add_tcase(s, table);
	return s;
}
