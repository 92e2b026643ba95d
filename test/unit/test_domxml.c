/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domain XML against golden files (VMAGENT_GOLDEN=write renews them; read the diff), the volume
 * work, and the metadata element on its way back.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "core/domxml.h"
#include "core/holding.h"
#include "core/netconfig.h"
#include "core/manifest.h"
#include "test/lib/files.h"

#define GOLDEN_DIR "test/unit/golden/"
#define VM_UID     "7a0e0f60-0f5e-4c50-9f1f-3d1c8e6c0a01"
#define VMI_UID    "b1d5c6de-6a4c-4f0c-8f0e-0d8f6f2b7c02"

/* As good/pinned.yaml needs it; the others pass it over. */
static unsigned held_cpus[] = { 4, 5, 6 };
static char *held_devices[] = { "mdev:5d307ca9-b3ef-428c-8861-06e72d69f223",
	"mdev:5d307ca9-b3ef-428c-8861-06e72d69f224", "pci:0000:65:00.1", "usb:1234:abcd" };
static const struct holding holding = { .cpus = held_cpus,
	.n_cpus = ARRAY_SIZE(held_cpus),
	.node = 1,
	.devices = held_devices,
	.n_devices = ARRAY_SIZE(held_devices),
	.cid = 1024 };

static const struct domain_context context = {
	.ns = "default",
	.name = "web1",
	.vmi_uid = VMI_UID,
	.vm_uid = VM_UID,
	.epoch = 1,
	.directory = "/run/a",
	.kept = "/vm/a",
};

static struct vmi_spec small(void)
{
	return (struct vmi_spec){
		.cores = 1,
		.sockets = 1,
		.threads = 1,
		.cpu_model = "host-model",
		.memory = 128 << 20,
		.machine_type = "q35",
		.uuid = "5d307ca9-b3ef-428c-8861-06e72d69f223",
		.acpi = true,
		.grace = GRACE_UNSET,
	};
}

static void check_golden(const char *name, const char *xml)
{
	autofree char *path = xasprintf(GOLDEN_DIR "%s.xml", name);
	autofree char *want = NULL;

	if (streq(getenv("VMAGENT_GOLDEN"), "write"))
		spill(path, xml);
	want = slurp(path);
	ck_assert_msg(streq(want, xml), "%s: differs; now it is\n%s", path, xml);
}

/* §8.3 */
START_TEST(a_paused_start_has_a_boot_menu)
{
	struct vmi_spec spec = small();
	autofree char *plain = domain_xml(&spec, &context), *xml = NULL;

	ck_assert_ptr_null(strstr(plain, "bootmenu"));
	spec.start_paused = true;
	xml = domain_xml(&spec, &context);
	ck_assert_ptr_nonnull(strstr(xml, "<bootmenu enable=\"yes\" timeout=\"10000\"/>"));
}
END_TEST

START_TEST(bare)
{
	struct vmi_spec spec = small();
	autofree char *xml = NULL;

	spec.acpi = false;
	xml = domain_xml(&spec, &context);
	check_golden("bare", xml);
}
END_TEST

static struct disk disks[] = {
	{ .name = "root", .bus = DISK_BUS_VIRTIO, .boot_order = 1, .serial = "ROOT.1" },
	{ .name = "data", .bus = DISK_BUS_SATA, .cache = DISK_CACHE_NONE },
	{ .name = "scratch", .bus = DISK_BUS_SCSI, .cache = DISK_CACHE_WRITETHROUGH },
	{ .name = "media", .bus = DISK_BUS_SATA, .device = DISK_DEVICE_CDROM, .readonly = true },
	{ .name = "stick", .bus = DISK_BUS_USB, .readonly = true },
	{ .name = "tray", .bus = DISK_BUS_SATA, .device = DISK_DEVICE_CDROM },
	{ .name = "seed", .bus = DISK_BUS_VIRTIO },
};
static struct media_source seed = { .label = "cidata" };
static struct volume volumes[] = {
	{ .name = "root",
		.kind = VOLUME_CONTAINER_DISK,
		.path = "/images/guest.img",
		.inner = "disk/b" },
	{ .name = "data",
		.kind = VOLUME_HOST_DISK,
		.path = "/disks/data.img",
		.create = true,
		.capacity = (8 << 20) + 4095 },
	{ .name = "scratch", .kind = VOLUME_EMPTY_DISK, .capacity = 64 << 20 },
	{ .name = "media", .kind = VOLUME_HOST_DISK, .path = "/disks/cd.iso" },
	{ .name = "stick", .kind = VOLUME_EMPTY_DISK, .capacity = 1000 },
	{ .name = "seed", .kind = VOLUME_NO_CLOUD, .media = &seed },
};
static struct interface interfaces[] = {
	{ .name = "default", .model = "virtio" },
	{ .name = "second", .model = "e1000e", .mac = "02:00:00:00:00:07", .boot_order = 2 },
};

static struct vmi_spec full(void)
{
	struct vmi_spec spec = small();

	spec.cores = 2;
	spec.sockets = 3;
	spec.threads = 2;
	spec.serial = "web1 & <co>";
	spec.disks = disks;
	spec.n_disks = ARRAY_SIZE(disks);
	spec.volumes = volumes;
	spec.n_volumes = ARRAY_SIZE(volumes);
	spec.interfaces = interfaces;
	spec.n_interfaces = ARRAY_SIZE(interfaces);
	spec.serial_console = true;
	spec.graphics = true;
	spec.rng = true;
	spec.panic_devices[0] = PANIC_MODEL_PVPANIC;
	spec.panic_devices[1] = PANIC_MODEL_ISA;
	spec.n_panic_devices = 2;
	return spec;
}

START_TEST(everything)
{
	struct vmi_spec spec = full();
	autofree char *xml = domain_xml(&spec, &context);

	check_golden("everything", xml);
}
END_TEST

START_TEST(kvm)
{
	struct domain_context with_kvm = context;
	struct vmi_spec spec = small();
	autofree char *xml = NULL;

	with_kvm.kvm = true;
	with_kvm.pvpanic = true;
	with_kvm.vm_uid = "";
	spec.cpu_model = "host-passthrough";
	spec.bootloader = BOOTLOADER_EFI_SECURE;
	spec.panic_devices[0] = PANIC_MODEL_PVPANIC;
	spec.n_panic_devices = 1;
	xml = domain_xml(&spec, &with_kvm);
	check_golden("kvm", xml);
}
END_TEST

START_TEST(kernel)
{
	struct vmi_spec spec = small();
	autofree char *xml = NULL;

	spec.cpu_model = "Nehalem";
	spec.bootloader = BOOTLOADER_EFI;
	spec.kernel_boot = (struct kernel_boot){ .image = "/boot/k",
		.kernel = "/vmlinuz",
		.initrd = "initrd.img",
		.args = "quiet" };
	xml = domain_xml(&spec, &context);
	check_golden("kernel", xml);
}
END_TEST

/* Manifests of test/unit/manifests/good, and what becomes of them. */
static const char *const manifests[] = { "features", "passthrough", "devices", "tablets", "growth",
	"luns", "quotas", "efi-tpm", "tpm", "sev", "pinned", "folders" };

/* Twice each: on KVM, and without. */
START_TEST(of_a_manifest)
{
	bool with_kvm = _i % 2 == 0;
	const char *manifest = manifests[_i / 2];
	struct domain_context here = context;
	autofree char *path = xasprintf("test/unit/manifests/good/%s.yaml", manifest);
	autofree char *name = xasprintf("manifests/%s%s", manifest, with_kvm ? "" : "-tcg");
	autofree char *text = slurp(path), *xml = NULL;
	struct findings findings = { 0 };
	static const char *const roots[] = { "/srv/disks", NULL };
	struct policy policy = { .host_disk_roots = roots };
	struct documents docs;
	struct vmi_spec spec;
	struct manifest m;
	struct err err;

	ck_assert_int_eq(nodes_parse(text, strlen(text), &docs, &(struct place){ 0 }, &err), 0);
	ck_assert_int_eq(manifest_check(docs.roots[0], &policy, &m, &findings), 0);
	manifest_default(m.kind, m.root, NULL);
	ck_assert_msg(!spec_parse(node_get(m.root, "spec"), &spec, &err), "%s", err.msg);
	here.kvm = with_kvm;
	here.holding = &holding;
	xml = domain_xml(&spec, &here);
	check_golden(name, xml);
	vmi_spec_done(&spec);
	manifest_done(&m);
	documents_done(&docs);
}
END_TEST

/* What is removed with a VM: all that any run of it may have kept. */
START_TEST(purge)
{
	autofree char *xml = domain_purge_xml("5d307ca9-b3ef-428c-8861-06e72d69f223", &context);

	check_golden("manifests/purge", xml);
}
END_TEST

/* A VMI without a VM has nobody to keep anything for. */
START_TEST(bare_vmi_keeps_nothing)
{
	struct domain_context bare_vmi = context;
	struct vmi_spec spec = small();
	autofree char *xml = NULL;

	bare_vmi.kept = NULL;
	spec.bootloader = BOOTLOADER_EFI;
	spec.efi_persistent = true;
	spec.tpm = TPM_PERSISTENT;
	xml = domain_xml(&spec, &bare_vmi);
	ck_assert_ptr_null(strstr(xml, "nvram"));
	ck_assert_ptr_null(strstr(xml, "persistent_state"));
	ck_assert_ptr_nonnull(strstr(xml, "tpm-crb"));
}
END_TEST

/* One that comes from another host has the firmware that it has there, and libvirt
 * has nothing to choose. */
START_TEST(a_guest_that_comes_keeps_its_firmware)
{
	static char code[] = "/usr/share/OVMF/CODE.fd", vars[] = "/usr/share/OVMF/VARS.fd",
		    raw[] = "raw", qcow2[] = "qcow2";
	struct firmware firmware = { code, vars, raw, true };
	struct domain_context there = context;
	struct vmi_spec spec = small();
	autofree char *bios = NULL, *of_run = NULL, *kept = NULL, *other = NULL;

	there.firmware = &firmware;
	bios = domain_xml(&spec, &there);
	ck_assert_ptr_null(strstr(bios, "OVMF"));
	spec.bootloader = BOOTLOADER_EFI_SECURE;
	of_run = domain_xml(&spec, &there);
	ck_assert_ptr_null(strstr(of_run, "firmware"));
	ck_assert_ptr_nonnull(strstr(of_run,
		"<loader readonly=\"yes\" secure=\"yes\" type=\"pflash\">/usr/share/OVMF/CODE.fd</loader>"));
	ck_assert_ptr_nonnull(
		strstr(of_run, "<nvram template=\"/usr/share/OVMF/VARS.fd\">/run/a/nvram</nvram>"));
	spec.efi_persistent = true;
	kept = domain_xml(&spec, &there);
	ck_assert_ptr_nonnull(
		strstr(kept, "<nvram template=\"/usr/share/OVMF/VARS.fd\">/vm/a/nvram</nvram>"));
	firmware.format = qcow2;
	firmware.secure = false;
	other = domain_xml(&spec, &there);
	ck_assert_ptr_nonnull(strstr(other,
		"<loader readonly=\"yes\" secure=\"no\" type=\"pflash\" format=\"qcow2\">"));
	ck_assert_ptr_nonnull(strstr(other,
		"<nvram template=\"/usr/share/OVMF/VARS.fd\" templateFormat=\"qcow2\" format=\"qcow2\">"));
}
END_TEST

/* Each interface of good/networks.yaml attached in another way; the one that is
 * absent is not there. */
static struct attachment attachments[] = {
	{ .kind = ATTACH_USER },
	{ .kind = ATTACH_BRIDGE, .source = "br0" },
	{ .kind = ATTACH_OVS, .source = "ovs0", .vlan = 20 },
	{ .kind = ATTACH_MACVTAP, .source = "eth1", .mode = "vepa" },
	{ .kind = ATTACH_SRIOV, .source = "intel.com/fast", .vlan = 7 },
	{ .kind = ATTACH_NETWORK, .source = "lab" },
	{ .kind = ATTACH_BRIDGE, .source = "br0" },
	{ .kind = ATTACH_USER },
};

START_TEST(networks)
{
	autofree char *text = slurp("test/unit/manifests/good/networks.yaml"), *xml = NULL;
	struct domain_context here = context;
	struct findings findings = { 0 };
	struct policy policy = { 0 };
	struct documents docs;
	struct vmi_spec spec;
	struct manifest m;
	struct err err;

	ck_assert_int_eq(nodes_parse(text, strlen(text), &docs, &(struct place){ 0 }, &err), 0);
	ck_assert_int_eq(manifest_check(docs.roots[0], &policy, &m, &findings), 0);
	manifest_default(m.kind, m.root, NULL);
	ck_assert_msg(!spec_parse(node_get(m.root, "spec"), &spec, &err), "%s", err.msg);
	ck_assert_uint_eq(spec.n_interfaces, ARRAY_SIZE(attachments));
	here.attachments = attachments;
	xml = domain_xml(&spec, &here);
	check_golden("manifests/networks", xml);
	ck_assert_ptr_null(strstr(xml, "passt"));
	attachments[0].kind =
		/* Debian's libvirt is built without, and would refuse the golden file. */
		ATTACH_PASST;
	replace_str(&xml, NULL);
	xml = domain_xml(&spec, &here);
	attachments[0].kind = ATTACH_USER;
	ck_assert_ptr_nonnull(strstr(xml, "<backend type=\"passt\"/>"));
	vmi_spec_done(&spec);
	manifest_done(&m);
	documents_done(&docs);
}
END_TEST

/* Who has no CPUs of its own keeps off those that are set aside; what is not
 * allocated is not written. */
START_TEST(shares_cpus)
{
	struct domain_context here = context;
	struct device_ask ask = { .name = "gpu", .resource = "x/gpu", .gpu = true };
	struct vmi_spec spec = small();
	autofree char *shared = NULL, *alone = NULL;

	here.shared_cpus = "0-1";
	shared = domain_xml(&spec, &here);
	ck_assert_ptr_nonnull(strstr(shared, "<vcpu placement=\"static\" cpuset=\"0-1\">1</vcpu>"));
	spec.dedicated = spec.vsock = spec.numa_passthrough = true;
	spec.devices = &ask;
	spec.n_devices = 1;
	here.kvm = true;
	alone = domain_xml(&spec, &here);
	ck_assert_ptr_nonnull(strstr(alone, "<vcpu>1</vcpu>"));
	ck_assert_ptr_null(strstr(alone, "cputune"));
	ck_assert_ptr_null(strstr(alone, "numatune"));
	ck_assert_ptr_null(strstr(alone, "hostdev"));
	ck_assert_ptr_null(strstr(alone, "vsock"));
}
END_TEST

/* Should the database be lost, the domain says what it has. */
START_TEST(held_comes_back)
{
	struct domain_context here = context;
	struct vmi_spec spec = small();
	autofree char *xml = NULL, *held = NULL;

	here.held = "cpu:2 pci:0000:65:00.0 cid:1024";
	xml = domain_xml(&spec, &here);
	held = domain_metadata_held(xml);
	ck_assert_str_eq(held, here.held);
}
END_TEST

START_TEST(networks_of_ours)
{
	struct sriov_pool of_pf = { .name = "intel.com/fast", .pf = "eth2" };
	struct sriov_pool of_vfs = { .name = "slow",
		.vfs = { "0000:81:01.0", "0000:81:01.1" },
		.n_vfs = 2 };
	autofree char *nat = nat_network_xml(NULL), *pf = pool_network_xml(&of_pf);
	autofree char *vfs = pool_network_xml(&of_vfs);

	check_golden("networks/nat", nat);
	check_golden("networks/pool", pf);
	check_golden("networks/pool-vfs", vfs);
}
END_TEST

/* A text from a manifest never becomes markup (users.md 79). */
START_TEST(escapes)
{
	struct vmi_spec spec = small();
	struct interface nic = { .name = "a'/><b", .model = "x'/><evil a=\"" };
	autofree char *xml = NULL;

	spec.interfaces = &nic;
	spec.n_interfaces = 1;
	spec.serial = "</entry><evil/>";
	xml = domain_xml(&spec, &context);
	ck_assert_ptr_null(strstr(xml, "<evil"));
	ck_assert_ptr_null(strstr(xml, "<b"));
}
END_TEST

START_TEST(target_names)
{
	static struct disk many[60];
	struct vmi_spec spec = small();
	autofree char *xml = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct disk){ .name = "d", .bus = DISK_BUS_VIRTIO };
	spec.disks = many;
	spec.n_disks = ARRAY_SIZE(many);
	xml = domain_xml(&spec, &context);
	ck_assert_ptr_nonnull(strstr(xml, "dev=\"vdz\""));
	ck_assert_ptr_nonnull(strstr(xml, "dev=\"vdaa\""));
	ck_assert_ptr_nonnull(strstr(xml, "dev=\"vdbh\""));
	ck_assert_ptr_null(strstr(xml, "dev=\"vdbi\""));
}
END_TEST

START_TEST(works)
{
	/* clang-format off */
	static const struct {
		enum volume_work_kind kind;
		const char *volume, *target, *base, *inner, *link, *label;
		int64_t capacity;
	} want[] = {
		{ VOLUME_WORK_LINK, "kernelBoot", "/run/a/kernel", "/boot/k", "vmlinuz", NULL, NULL, 0 },
		{ VOLUME_WORK_TABLE, "seed", "/run/a/slic.bin", NULL, "slic.bin", NULL, NULL, 0 },
		{ VOLUME_WORK_OVERLAY, "root", "/run/a/root.qcow2", "/images/guest.img", "disk/b",
			"/run/a/root.base", NULL, 0 },
		{ VOLUME_WORK_CREATE_RAW, "data", "/disks/data.img", NULL, NULL, NULL, NULL, 8 << 20 },
		{ VOLUME_WORK_EMPTY, "scratch", "/run/a/scratch.qcow2", NULL, NULL, NULL, NULL, 64 << 20 },
		{ VOLUME_WORK_CHECK, "media", "/disks/cd.iso", NULL, NULL, NULL, NULL, 0 },
		{ VOLUME_WORK_EMPTY, "stick", "/run/a/stick.qcow2", NULL, NULL, NULL, NULL, 1000 },
		{ VOLUME_WORK_MEDIUM, "seed", "/run/a/seed.iso", NULL, NULL, NULL, "cidata", 0 },
	};
	/* clang-format on */
	struct vmi_spec spec = full();
	struct op op = { .kind = OP_PREPARE };

	spec.kernel_boot = (struct kernel_boot){ .image = "/boot/k", .kernel = "vmlinuz" };
	volumes[ARRAY_SIZE(volumes) - 1].slic = true;
	volume_works(&spec, "/run/a", &op.work, &op.n_work);
	volumes[ARRAY_SIZE(volumes) - 1].slic = false;
	ck_assert_uint_eq(op.n_work, ARRAY_SIZE(want));
	for (size_t i = 0; i < op.n_work; i++) {
		ck_assert_int_eq(op.work[i].kind, want[i].kind);
		ck_assert_str_eq(op.work[i].volume, want[i].volume);
		ck_assert_str_eq(op.work[i].target, want[i].target);
		ck_assert(streq(op.work[i].base, want[i].base));
		ck_assert(streq(op.work[i].inner, want[i].inner));
		ck_assert(streq(op.work[i].link, want[i].link));
		ck_assert(streq(op.work[i].label, want[i].label));
		ck_assert_int_eq(op.work[i].capacity, want[i].capacity);
	}
	op_done(&op);
}
END_TEST

START_TEST(metadata_round)
{
	struct vmi_spec spec = full();
	autofree char *xml = domain_xml(&spec, &context);
	char uid[UID_SIZE] = "";
	int64_t epoch = 0;

	ck_assert(domain_metadata_parse(xml, uid, &epoch));
	ck_assert_ptr_null(domain_metadata_held(xml));
	ck_assert_str_eq(uid, VMI_UID);
	ck_assert_int_eq(epoch, 1);
}
END_TEST

/* clang-format off */
static const struct { const char *xml, *uid; } elements[] = {
	{ "<domain vmi='u1' vm='' epoch='7'/>", "u1" }, /* as libvirt hands it out alone */
	{ "<v:domain xmlns:v='" DOMAIN_METADATA_URI "' vmi='u2'/>", "u2" },
	{ "<domain><metadata><x:domain xmlns:x='http://other' vmi='u3'/></metadata></domain>", NULL },
	{ "<domain><metadata><domain vmi='u4'/></metadata></domain>", NULL },
	{ "<domain type='kvm'><name>a</name></domain>", NULL },
	{ "<domain vmi=''/>", NULL },
	{ "<domain vmi='0123456789012345678901234567890123456'/>", NULL }, /* too long for a UID */
	{ "<!DOCTYPE domain [<!ENTITY e 'u5'>]><domain vmi='&e;'/>", NULL },
	{ "<domain vmi='u6", NULL },
	{ "", NULL },
};
/* clang-format on */

START_TEST(metadata_element)
{
	char uid[UID_SIZE] = "before";

	ck_assert(domain_metadata_parse(elements[_i].xml, uid, NULL) == (elements[_i].uid != NULL));
	ck_assert_str_eq(uid, elements[_i].uid ? elements[_i].uid : "before");
}
END_TEST

START_TEST(names)
{
	autofree char *name = domain_name("default", "web1");

	ck_assert_str_eq(name, "default_web1");
}
END_TEST

Suite *test_domxml_suite(void);
Suite *test_domxml_suite(void)
{
	Suite *suite = suite_create("domxml");
	TCase *tc = tcase_create("domxml");

	tcase_add_test(tc, bare);
	tcase_add_test(tc, a_paused_start_has_a_boot_menu);
	tcase_add_test(tc, everything);
	tcase_add_test(tc, kvm);
	tcase_add_test(tc, kernel);
	tcase_add_loop_test(tc, of_a_manifest, 0, 2 * ARRAY_SIZE(manifests));
	tcase_add_test(tc, purge);
	tcase_add_test(tc, bare_vmi_keeps_nothing);
	tcase_add_test(tc, a_guest_that_comes_keeps_its_firmware);
	tcase_add_test(tc, networks);
	tcase_add_test(tc, shares_cpus);
	tcase_add_test(tc, held_comes_back);
	tcase_add_test(tc, networks_of_ours);
	tcase_add_test(tc, escapes);
	tcase_add_test(tc, target_names);
	tcase_add_test(tc, works);
	tcase_add_test(tc, metadata_round);
	tcase_add_loop_test(tc, metadata_element, 0, (int)ARRAY_SIZE(elements));
	tcase_add_test(tc, names);
	suite_add_tcase(suite, tc);
	return suite;
}
