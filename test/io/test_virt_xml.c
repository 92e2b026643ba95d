/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host adds to a domain's disks, what is read out of libvirt's XML; and that libvirt's
 * parser takes all of the XML that core makes, once completed.
 */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/domxml.h"
#include "io/virt_xml.h"
#include "test/lib/files.h"

static char dir[] = "/tmp/vmagent-xml-XXXXXX";
static char raw[64], qcow2[64];

static void make_file(char *path, const char *name, const char *content)
{
	int fd;

	snprintf(path, 64, "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, content, strlen(content)), (int)strlen(content));
	close(fd);
}

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	make_file(raw, "raw.img", "not an image header");
	make_file(qcow2, "q.img",
		"QFI\xfb, followed by as many bytes as the header of such an image has at the least, 80");
}

static void teardown(void)
{
	autofree char *command = xasprintf("rm -r %s", dir);

	ck_assert_int_eq(system(command), 0);
}

static char *domain_of(const char *disk)
{
	return xasprintf("<domain><devices>%s</devices></domain>", disk);
}

static char *overlay_on(const char *base)
{
	return xasprintf("<disk type='file'><source file='%s/none.qcow2'/><backingStore type='file'>"
			 "<source file='%s'/><backingStore/></backingStore></disk>",
		dir, base);
}

static int complete(const char *disk, const struct virt_host *host, char **ret_xml, char **ret_kept)
{
	autofree char *xml = domain_of(disk);
	struct err err = { 0 };
	int rc = virt_xml_complete(xml, host, ret_xml, ret_kept, &err);

	if (rc)
		*ret_xml = xstrdup(err.msg);
	return rc;
}

static const struct virt_host as_it_is = { 0 };

START_TEST(backing_format)
{
	const char *base = _i ? qcow2 : raw;
	autofree char *disk = overlay_on(base), *xml = NULL, *kept = NULL;

	ck_assert_int_eq(complete(disk, &as_it_is, &xml, &kept), 0);
	ck_assert_ptr_nonnull(
		strstr(xml, _i ? "<format type=\"qcow2\"/>" : "<format type=\"raw\"/>"));
	ck_assert_ptr_null(strstr(xml, "seclabel"));
	ck_assert_ptr_null(kept);
}
END_TEST

START_TEST(backing_is_missing)
{
	autofree char *disk = overlay_on("/nonexistent/base.img"), *words = NULL, *kept = NULL;

	ck_assert_int_eq(complete(disk, &as_it_is, &words, &kept), -ERR_IO);
	ck_assert_str_eq(words, "backing image '/nonexistent/base.img': No such file or directory");
}
END_TEST

START_TEST(backing_keeps_its_owner)
{
	struct virt_host host = { .switches_user = true, .qemu_uid = 64055 };
	autofree char *disk = overlay_on(raw), *xml = NULL, *kept = NULL;

	ck_assert_int_eq(complete(disk, &host, &xml, &kept), 0);
	ck_assert_ptr_nonnull(strstr(xml, "<seclabel model=\"dac\" relabel=\"no\"/>"));
	ck_assert_str_eq(kept, raw);
}
END_TEST

/* A file of root's or QEMU's is libvirt's to hand over, an ordinary user's is not. */
START_TEST(owners)
{
	struct virt_host host = { .switches_user = _i != 3, .qemu_uid = 64055 };
	static const uid_t uids[] = { 0, 64055, 1000, 1000 };
	autofree char *disk = xasprintf("<disk type='file'><source file='%s'/></disk>", raw);
	autofree char *xml = NULL, *kept = NULL;

	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(raw, uids[_i], 0), 0);
	ck_assert_int_eq(complete(disk, &host, &xml, &kept), 0);
	ck_assert((strstr(xml, "relabel=\"no\"") != NULL) == (_i == 2));
	ck_assert((kept != NULL) == (_i == 2));
}
END_TEST

START_TEST(block_device)
{
	autofree char *path = xasprintf("%s/dev", dir);
	autofree char *disk = xasprintf("<disk type='file'><source file='%s'/></disk>", path);
	autofree char *xml = NULL, *kept = NULL;

	if (mknod(path, S_IFBLK | 0600, 7 << 8 | 250))
		return; /* not allowed here */
	ck_assert_int_eq(complete(disk, &as_it_is, &xml, &kept), 0);
	unlink(path);
	ck_assert_ptr_nonnull(strstr(xml, "<disk type=\"block\">"));
	ck_assert_ptr_nonnull(strstr(xml, "<source dev=\""));
	ck_assert_ptr_null(strstr(xml, "file="));
}
END_TEST

/* What is to have its volume's block sizes; SATA knows sectors of 512 bytes only. */
START_TEST(block_size)
{
	autofree char *disk =
		xasprintf("<disk type='file'><source file='%s'/><target bus='%s'/><blockio/></disk>",
			raw, _i ? "sata" : "virtio");
	autofree char *xml = NULL, *kept = NULL, *want = NULL;
	struct stat st;

	ck_assert_int_eq(stat(raw, &st), 0);
	ck_assert_int_eq(complete(disk, &as_it_is, &xml, &kept), 0);
	want = xasprintf("<blockio logical_block_size=\"%d\" physical_block_size=\"%d\"/>",
		_i ? 512 : (int)st.st_blksize, (int)st.st_blksize);
	ck_assert_msg(strstr(xml, want) != NULL, "%s in %s", want, xml);
}
END_TEST

START_TEST(given_block_size)
{
	static const char given[] = "<blockio logical_block_size=\"512\"/>";
	autofree char *disk =
		xasprintf("<disk type='file'><source file='%s'/>%s</disk>", raw, given);
	autofree char *xml = NULL, *kept = NULL;

	ck_assert_int_eq(complete(disk, &as_it_is, &xml, &kept), 0);
	ck_assert_ptr_nonnull(strstr(xml, given));
}
END_TEST

START_TEST(lun_of_a_file)
{
	autofree char *disk =
		xasprintf("<disk type='block' device='lun'><source dev='%s'/></disk>", raw);
	autofree char *words = NULL, *kept = NULL, *want = NULL;

	ck_assert_int_eq(complete(disk, &as_it_is, &words, &kept), -ERR_INVALID);
	want = xasprintf("a lun needs a block device, and '%s' is a file: make it a disk", raw);
	ck_assert_str_eq(words, want);
}
END_TEST

#define CHANNEL(name, state)                                                                      \
	"<channel type='unix'><source mode='bind' path='/a/b'/><target type='virtio' name='" name \
	"' " state "/></channel>"

START_TEST(live)
{
	struct domain_info efi = { 0 },
			   none = { .console = (char *)"", .graphics = (char *)"", .agent = true };

	/* clang-format off */
	static const struct { const char *devices, *path; bool agent; const char *graphics; } cases[] = {
		{ "<serial type='pty'><source path='/dev/pts/3'/></serial>", "/dev/pts/3", 0, NULL },
		{ "<serial type='unix'><source mode='bind' path='/a/s'/></serial>"
		  "<serial type='unix'><source mode='bind' path='/a/t'/></serial>", "/a/s", 0, NULL },
		{ "<serial type='null'/>", NULL, 0, NULL },
		{ "<channel type='unix'><source path='/a/b'/></channel>", NULL, 0, NULL },
		{ CHANNEL("org.qemu.guest_agent.0", "state='connected'"), NULL, 1, NULL },
		{ CHANNEL("org.qemu.guest_agent.0", "state='disconnected'"), NULL, 0, NULL },
		{ CHANNEL("org.qemu.guest_agent.0", ""), NULL, 0, NULL },
		{ CHANNEL("com.redhat.spice.0", "state='connected'"), NULL, 0, NULL },
		{ CHANNEL("com.redhat.spice.0", "state='connected'")
		  CHANNEL("org.qemu.guest_agent.0", "state='connected'"), NULL, 1, NULL },
		{ CHANNEL("org.qemu.guest_agent.0", "state='connected'")
		  CHANNEL("com.redhat.spice.0", "state='disconnected'"), NULL, 1, NULL },
		{ "<graphics type='vnc' socket='/a/v'><listen type='socket' socket='/a/v'/></graphics>", NULL, 0, "/a/v" },
		{ "<graphics type='spice'><listen type='socket' socket='/a/p'/></graphics>"
		  "<graphics type='vnc'><listen type='socket' socket='/a/w'/></graphics>", NULL, 0, "/a/w" },
		{ "<graphics type='vnc' port='5900'><listen type='address' address='127.0.0.1'/></graphics>", NULL, 0, NULL },
	};
	/* clang-format on */
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *xml = domain_of(cases[i].devices);
		struct domain_info info = { .agent = !cases[i].agent };

		virt_xml_live(xml, &info);
		ck_assert(streq(info.console, cases[i].path));
		ck_assert_msg(streq(info.graphics, cases[i].graphics), "%s", xml);
		ck_assert_msg(info.agent == cases[i].agent, "%s", xml);
		free(info.console);
		free(info.graphics);
	}
	virt_xml_live("<domain><os><loader readonly='yes' secure='yes' type='pflash'>/c.fd</loader>"
		      "<nvram template='/v.fd'>/n</nvram></os></domain>",
		&efi);
	ck_assert_str_eq(efi.firmware,
		"{\"loader\":\"/c.fd\",\"variables\":\"/v.fd\",\"format\":\"raw\",\"secure\":true}");
	free(efi.firmware);
	virt_xml_live("<domain><os firmware='efi'><type>hvm</type></os></domain>", &none);
	ck_assert_ptr_null(none.firmware);
	virt_xml_live("<domain", &none);
	ck_assert_ptr_null(none.console);
	ck_assert_ptr_null(none.graphics);
	ck_assert(!none.agent);
}
END_TEST

START_TEST(qemu_uid)
{
	unsigned uid = 7;

	ck_assert(!virt_xml_qemu_uid("<capabilities><host><secmodel><model>none</model></secmodel>"
				     "</host></capabilities>",
		&uid));
	ck_assert(!virt_xml_qemu_uid("", &uid));
	ck_assert_uint_eq(uid, 7);
	ck_assert(virt_xml_qemu_uid("<capabilities><host><secmodel><model>none</model></secmodel>"
				    "<secmodel><model>dac</model><baselabel type='kvm'>+64055:+108"
				    "</baselabel></secmodel></host></capabilities>",
		&uid));
	ck_assert_uint_eq(uid, 64055);
}
END_TEST

static struct disk disks[] = {
	{ .name = "a", .bus = DISK_BUS_VIRTIO, .boot_order = 1, .serial = "S-1" },
	{ .name = "b", .bus = DISK_BUS_SATA, .cache = DISK_CACHE_NONE },
	{ .name = "c", .bus = DISK_BUS_SCSI },
	{ .name = "d", .bus = DISK_BUS_SATA, .device = DISK_DEVICE_CDROM, .readonly = true },
	{ .name = "e", .bus = DISK_BUS_USB },
	{ .name = "f", .bus = DISK_BUS_SATA, .device = DISK_DEVICE_CDROM },
};
static struct volume volumes[] = {
	{ .name = "a", .kind = VOLUME_CONTAINER_DISK, .path = raw },
	{ .name = "b", .kind = VOLUME_HOST_DISK, .path = raw },
	{ .name = "c", .kind = VOLUME_CONTAINER_DISK, .path = qcow2 },
	{ .name = "d", .kind = VOLUME_HOST_DISK, .path = raw },
	{ .name = "e", .kind = VOLUME_EMPTY_DISK, .capacity = 1 << 20 },
};
static struct interface nics[] = {
	{ .name = "x", .model = "virtio" },
	{ .name = "y", .model = "e1000e", .mac = "02:00:00:00:00:07", .boot_order = 2 },
};

static struct vmi_spec spec_with(enum bootloader bootloader)
{
	return (struct vmi_spec){ .cores = 2,
		.sockets = 1,
		.threads = 1,
		.cpu_model = "host-model",
		.memory = 64 << 20,
		.machine_type = "q35",
		.uuid = "5d307ca9-b3ef-428c-8861-06e72d69f224",
		.bootloader = bootloader,
		.disks = disks,
		.n_disks = ARRAY_SIZE(disks),
		.volumes = volumes,
		.n_volumes = ARRAY_SIZE(volumes),
		.interfaces = nics,
		.n_interfaces = ARRAY_SIZE(nics),
		.panic_devices = { PANIC_MODEL_PVPANIC, PANIC_MODEL_HYPERV },
		.n_panic_devices = 2,
		.serial_console = true,
		.acpi = true };
}

/* As PREPARE leaves them. */
static void link_bases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(volumes); i++) {
		autofree char *base = xasprintf("%s/%s.base", dir, volumes[i].name);

		if (volumes[i].kind == VOLUME_CONTAINER_DISK)
			ck_assert_int_eq(symlink(volumes[i].path, base), 0);
	}
}

/* By libvirt's own parser and schema; _i runs over the boot loaders. */
START_TEST(libvirt_takes_it)
{
	struct virt_host host = { .switches_user = true, .qemu_uid = 64055 };
	struct domain_context context = { .ns = "ns",
		.name = "n",
		.vmi_uid = "u",
		.vm_uid = "",
		.epoch = 1,
		.directory = dir };
	struct vmi_spec spec = spec_with((enum bootloader)_i);
	autofree char *xml = domain_xml(&spec, &context), *full = NULL, *kept = NULL;
	virConnectPtr conn = virConnectOpen("test:///default");
	struct err err = { 0 };
	virDomainPtr dom;

	link_bases();
	ck_assert_msg(!virt_xml_complete(xml, &host, &full, &kept, &err), "%s", err.msg);
	dom = virDomainDefineXMLFlags(conn, full, VIR_DOMAIN_DEFINE_VALIDATE);
	ck_assert_msg(dom != NULL, "%s\n%s", virGetLastErrorMessage(), full);
	virDomainUndefine(dom);
	virDomainFree(dom);
	virConnectClose(conn);
}
END_TEST

/* What test/unit makes of manifests, by the same judge. */
START_TEST(libvirt_takes_the_golden_ones)
{
	static const char folder[] = "test/unit/golden/manifests";
	virConnectPtr conn = virConnectOpen("test:///default");
	DIR *files = opendir(folder);
	struct dirent *file;
	size_t n = 0;

	ck_assert_ptr_nonnull(files);
	while ((file = readdir(files))) {
		autofree char *path = xasprintf("%s/%s", folder, file->d_name);
		autofree char *xml = strstr(file->d_name, ".xml") ? slurp(path) : NULL;
		virDomainPtr dom;

		if (!xml)
			continue;
		dom = virDomainDefineXMLFlags(conn, xml, VIR_DOMAIN_DEFINE_VALIDATE);
		ck_assert_msg(dom != NULL, "%s: %s", path, virGetLastErrorMessage());
		virDomainUndefine(dom);
		virDomainFree(dom);
		n++;
	}
	closedir(files);
	virConnectClose(conn);
	ck_assert_uint_gt(n, 0);
}
END_TEST

Suite *test_virt_xml_suite(void);
#define LIMITED                                                                              \
	"<domain><memtune><hard_limit>5</hard_limit></memtune><cputune><shares>512</shares>" \
	"<vcpupin vcpu='0' cpuset='1'/><global_period>100000</global_period>"                \
	"<global_quota>5</global_quota></cputune><name>a</name></domain>"

static const struct {
	bool unified;
	const char *shares, *text;
} shares[] = {
	{ false, "512", "<shares>512</shares>" },
	{ true, "1024", "<shares>100</shares>" },
	{ true, "512", "<shares>50</shares>" },
	{ true, "2", "<shares>1</shares>" },
	{ true, "262144", "<shares>10000</shares>" },
};

START_TEST(shares_become_weights)
{
	struct virt_host host = { .unified_cgroups = shares[_i].unified };
	autofree char *xml = xasprintf("<domain><cputune><shares>%s</shares></cputune></domain>",
		shares[_i].shares);
	autofree char *full = NULL, *kept = NULL;
	struct err err;

	ck_assert_int_eq(virt_xml_complete(xml, &host, &full, &kept, &err), 0);
	ck_assert_msg(strstr(full, shares[_i].text) != NULL, "%s", full);
}
END_TEST

START_TEST(limits_can_be_left_away)
{
	autofree char *without = virt_xml_without_limits(LIMITED);
	char *again = without ? virt_xml_without_limits(without) : NULL;

	ck_assert(without &&
		strstr(without, "<cputune><vcpupin vcpu=\"0\" cpuset=\"1\"/></cputune><name>"));
	ck_assert_ptr_null(strstr(without, "memtune"));
	ck_assert_ptr_null(again);
	ck_assert_ptr_null(virt_xml_without_limits("<domain><name>a</name></domain>"));
	ck_assert_ptr_null(virt_xml_without_limits("no XML"));
}
END_TEST

START_TEST(refused_limits_are_known)
{
	/* what libvirt 9.0 says, without the means to set limits up */
	ck_assert(virt_limits_are_refused(
		"start domain 'a_b': internal error: Process exited prior to exec: libvirt:  error : "
		"cannot limit locked memory of process 1 to 2: Operation not permitted"));
	ck_assert(virt_limits_are_refused(
		"unsupported configuration: Memory cgroup is not available on this host"));
	ck_assert(virt_limits_are_refused(
		"unsupported configuration: Memory tuning is not available in session mode"));
	ck_assert(virt_limits_are_refused("cgroup CPU is required for scheduler tuning"));
	ck_assert(!virt_limits_are_refused("internal error: process exited while connecting"));
	ck_assert(!virt_limits_are_refused(NULL));
}
END_TEST

Suite *test_virt_xml_suite(void)
{
	Suite *suite = suite_create("virt_xml");
	TCase *tc = tcase_create("xml");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, backing_format, 0, 2);
	tcase_add_test(tc, backing_is_missing);
	tcase_add_test(tc, backing_keeps_its_owner);
	tcase_add_loop_test(tc, owners, 0, 4);
	tcase_add_test(tc, block_device);
	tcase_add_loop_test(tc, block_size, 0, 2);
	tcase_add_test(tc, given_block_size);
	tcase_add_test(tc, lun_of_a_file);
	tcase_add_test(tc, live);
	tcase_add_test(tc, qemu_uid);
	tcase_add_loop_test(tc, libvirt_takes_it, 0, BOOTLOADER_MAX);
	tcase_add_test(tc, libvirt_takes_the_golden_ones);
	tcase_add_loop_test(tc, shares_become_weights, 0, (int)ARRAY_SIZE(shares));
	tcase_add_test(tc, limits_can_be_left_away);
	tcase_add_test(tc, refused_limits_are_known);
	suite_add_tcase(suite, tc);
	return suite;
}
