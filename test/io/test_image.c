/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image adapter with real files and the real qemu-img: what is made, what is refused and in
 * which words, and that nothing outside the run's folder is ever touched.
 */
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/migration_check.h"
#include "io/image.h"

Suite *test_image_suite(void);

#define MIB (1 << 20)

static struct world {
	uv_loop_t loop;
	struct image *image;
	char folder[64], disks[80], images[80], run[80];
	const char *disk_roots[2], *image_roots[2];
	struct image_map map;
	char map_folder[80];
	struct err err;
	char text[2048]; /* of the result */
	unsigned results;
} w;

static char *path_in(const char *folder, const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

static void shell(const char *fmt, const char *a, const char *b)
{
	autofree char *command = NULL;

	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"")
		command = xasprintf(fmt, a, b);
	_Pragma("GCC diagnostic pop") ck_assert_msg(system(command) == 0, "%s", command);
}

static void on_result(void *ctx, const struct op_result *result)
{
	(void)ctx;
	w.err = result->err;
	copy_str(w.text, sizeof(w.text), result->text ? result->text : "");
	w.results++;
}

static void set_up(void)
{
	struct hv_sink sink = { .result = on_result };
	struct image_roots roots = { w.disk_roots, w.image_roots, &w.map };

	memset(&w.err, 0, sizeof(w.err));
	w.results = 0;
	strcpy(w.folder, "/tmp/vmagent-image.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(w.folder));
	snprintf(w.disks, sizeof(w.disks), "%s/disks", w.folder);
	snprintf(w.images, sizeof(w.images), "%s/images", w.folder);
	snprintf(w.run, sizeof(w.run), "%s/run", w.folder);
	mkdir(w.disks, 0755);
	mkdir(w.images, 0755);
	snprintf(w.map_folder, sizeof(w.map_folder), "%s/mapped", w.folder);
	w.map = (struct image_map){ .directory = w.map_folder };
	w.disk_roots[0] = w.disks;
	w.image_roots[0] = w.images;
	uv_loop_init(&w.loop);
	w.image = image_new(&w.loop, &roots, sink);
}

static void tear_down(void)
{
	ck_assert_uint_eq(image_busy(w.image), 0);
	image_free(w.image);
	ck_assert_int_eq(uv_loop_close(&w.loop), 0);
	shell("rm -rf '%s'%s", w.folder, "");
}

/* Runs one op to its end and returns the code of its result. */
static int run_op(enum op_kind kind, struct volume_work *work, size_t n)
{
	struct op op = { .id = 7, .kind = kind, .directory = w.run, .work = work, .n_work = n };
	unsigned before = w.results;

	image_submit(w.image, &op);
	ck_assert_uint_eq(w.results, before);
	uv_run(&w.loop, UV_RUN_DEFAULT);
	ck_assert_uint_eq(w.results, before + 1);
	return w.err.code;
}

static int prepare(enum volume_work_kind kind, const char *target, const char *base,
	int64_t capacity)
{
	autofree char *link = path_in(w.run, "root.base");
	struct volume_work work = { .kind = kind,
		.volume = (char *)"root",
		.target = (char *)target,
		.base = (char *)base,
		.link = link,
		.capacity = capacity };

	return run_op(OP_PREPARE, &work, 1);
}

/* An overlay over an image, of which that file is meant. */
static int overlay(const char *image, const char *inner)
{
	autofree char *target = path_in(w.run, "root.qcow2"), *link = path_in(w.run, "root.base");
	struct volume_work work = { .kind = VOLUME_WORK_OVERLAY,
		.volume = (char *)"root",
		.target = target,
		.base = (char *)image,
		.inner = (char *)inner,
		.link = link };

	return run_op(OP_PREPARE, &work, 1);
}

static void assert_link_is(const char *link, const char *file)
{
	autofree char *path = path_in(w.run, link);
	char real[4096] = "";

	ck_assert_ptr_nonnull(realpath(path, real));
	ck_assert_str_eq(real, file);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void assert_said(const char *words)
{
	ck_assert_msg(strstr(w.err.msg, words) != NULL, "'%s' does not say '%s'", w.err.msg, words);
}

START_TEST(test_overlay_of_raw_and_qcow2)
{
	static const char *const formats[] = { "raw", "qcow2" };
	autofree char *base = path_in(w.images, "base"), *target = path_in(w.run, "root.qcow2");
	autofree char *tmp = path_in(w.run, "root.qcow2.tmp");

	shell("qemu-img create -q -f %s '%s' 8M", formats[_i], base);
	ck_assert_int_eq(prepare(VOLUME_WORK_OVERLAY, target, base, 0), ERR_OK);
	ck_assert(exists(target) && !exists(tmp));
	shell("qemu-img info --output=json '%s' | grep -q '\"backing-filename-format\": \"%s\"'",
		target, formats[_i]);
}
END_TEST

START_TEST(test_overlay_is_made_anew)
{
	autofree char *base = path_in(w.images, "base"), *target = path_in(w.run, "root.qcow2");

	shell("qemu-img create -q -f raw '%s' 8M%s", base, "");
	ck_assert_int_eq(prepare(VOLUME_WORK_OVERLAY, target, base, 0), ERR_OK);
	shell("echo spoilt > '%s'; echo left > '%s.tmp'", target, target);
	ck_assert_int_eq(prepare(VOLUME_WORK_OVERLAY, target, base, 0), ERR_OK);
	shell("qemu-img info -f qcow2 '%s' >/dev/null%s", target, "");
}
END_TEST

START_TEST(test_empty)
{
	autofree char *target = path_in(w.run, "scratch.qcow2");
	struct stat st;

	ck_assert_int_eq(prepare(VOLUME_WORK_EMPTY, target, NULL, 64 * MIB), ERR_OK);
	shell("qemu-img info --output=json '%s' | grep -q '\"virtual-size\": 67108864'%s", target,
		"");
	ck_assert_int_eq(stat(w.run, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0711);
}
END_TEST

START_TEST(test_raw_is_made_once)
{
	autofree char *target = path_in(w.disks, "data.img");
	struct stat st;

	ck_assert_int_eq(prepare(VOLUME_WORK_CREATE_RAW, target, NULL, 3 * MIB), ERR_OK);
	ck_assert_int_eq(stat(target, &st), 0);
	ck_assert_int_eq(st.st_size, 3 * MIB);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	shell("printf precious > '%s'%s", target, "");
	ck_assert_int_eq(prepare(VOLUME_WORK_CREATE_RAW, target, NULL, 5 * MIB), ERR_OK);
	shell("test \"$(cat '%s')\" = precious%s", target, "");
}
END_TEST

START_TEST(test_raw_appears_whole)
{
	autofree char *target = path_in(w.disks, "data.img"),
		      *tmp = path_in(w.disks, "data.img.tmp");
	autofree char *out = path_in(w.folder, "out");

	shell("printf left > '%s'%s", tmp, ""); /* by a process that was killed */
	ck_assert_int_eq(prepare(VOLUME_WORK_CREATE_RAW, target, NULL, 3 * MIB), ERR_OK);
	ck_assert(!exists(tmp));
	shell("rm '%s'%s", target, "");
	shell("ln -s '%s' '%s'", out, target); /* dangling: neither made nor followed */
	ck_assert_int_eq(prepare(VOLUME_WORK_CREATE_RAW, target, NULL, 3 * MIB), ERR_NOT_FOUND);
	ck_assert(!exists(out));
}
END_TEST

/* A link from one root into the other is no way to write to the images that others are made of. */
START_TEST(test_a_disk_is_no_image)
{
	autofree char *base = path_in(w.images, "base"), *link = path_in(w.disks, "link");

	shell("echo x > '%s'%s", base, "");
	shell("ln -s '%s' '%s'", base, link);
	ck_assert_int_eq(prepare(VOLUME_WORK_CHECK, link, NULL, 0), ERR_FORBIDDEN);
	ck_assert_int_eq(prepare(VOLUME_WORK_CREATE_RAW, link, NULL, MIB), ERR_FORBIDDEN);
}
END_TEST

START_TEST(test_kernel_is_linked)
{
	autofree char *kernel = path_in(w.images, "boot/vmlinuz"),
		      *target = path_in(w.run, "kernel");
	struct volume_work boot = { .kind = VOLUME_WORK_LINK,
		.volume = (char *)"kernelBoot",
		.target = target,
		.base = w.images,
		.inner = (char *)"/boot/vmlinuz" };

	ck_assert_int_eq(run_op(OP_PREPARE, &boot, 1), ERR_NOT_FOUND);
	assert_said("images/boot/vmlinuz");
	shell("mkdir '%s/boot' && echo x > '%s'", w.images, kernel);
	ck_assert_int_eq(run_op(OP_PREPARE, &boot, 1), ERR_OK);
	assert_link_is("kernel", kernel);
	boot.inner = (char *)"out";
	shell("ln -s /etc/passwd '%s/out'%s", w.images, "");
	ck_assert_int_eq(run_op(OP_PREPARE, &boot, 1), ERR_FORBIDDEN);
	assert_said("imageRoots");
	assert_link_is("kernel", kernel);
}
END_TEST

/* Nothing stands for a reference: that is no failure of the run. Then something does. */
START_TEST(test_reference_by_the_folder)
{
	autofree char *file = path_in(w.map_folder, "cirros.img"),
		      *better = path_in(w.map_folder, "cirros:1.qcow2");

	ck_assert_int_eq(overlay("quay.io/k/cirros:1", NULL), ERR_NO_IMAGE);
	assert_said("image 'quay.io/k/cirros:1'");
	assert_said("has no file 'cirros:1' or 'cirros'");
	shell("mkdir '%s' && qemu-img create -q -f raw '%s' 8M", w.map_folder, file);
	ck_assert_int_eq(overlay("quay.io/k/cirros:1", NULL), ERR_OK);
	assert_link_is("root.base", file);
	shell("qemu-img create -q -f qcow2 '%s' 8M%s", better, "");
	ck_assert_int_eq(overlay("quay.io/k/cirros:1", NULL), ERR_OK);
	assert_link_is("root.base", better);
	shell("ln -sf /etc/passwd '%s'%s", better, "");
	ck_assert_int_eq(overlay("quay.io/k/cirros:1", NULL), ERR_FORBIDDEN);
}
END_TEST

START_TEST(test_reference_by_a_rule)
{
	autofree char *file = path_in(w.folder, "elsewhere.img");

	w.map.rules[0] = (struct image_rule){ (char *)"quay.io/*", file };
	w.map.n_rules = 1;
	ck_assert_int_eq(overlay("quay.io/a", NULL), ERR_NO_IMAGE);
	assert_said("(match: 'quay.io/*')");
	assert_said(file);
	shell("qemu-img create -q -f raw '%s' 8M%s", file, "");
	/* The configuration's word is enough. */
	ck_assert_int_eq(overlay("quay.io/a", NULL), ERR_OK);
	assert_link_is("root.base", file);
}
END_TEST

/* A folder is an image unpacked: the only file in disk/, or the one that is named. */
START_TEST(test_image_that_is_a_folder)
{
	autofree char *disk = path_in(w.images, "k/disk"), *one = path_in(disk, "one"),
		      *two = path_in(disk, "two"), *folder = path_in(w.images, "k");

	shell("mkdir -p '%s'%s", disk, "");
	ck_assert_int_eq(overlay(folder, NULL), ERR_NOT_FOUND);
	assert_said("k/disk' has no file");
	shell("qemu-img create -q -f raw '%s' 8M%s", one, "");
	ck_assert_int_eq(overlay(folder, NULL), ERR_OK);
	assert_link_is("root.base", one);
	shell("qemu-img create -q -f raw '%s' 8M%s", two, "");
	ck_assert_int_eq(overlay(folder, NULL), ERR_INVALID);
	assert_said("more than one file");
	ck_assert_int_eq(overlay(folder, "/disk/two"), ERR_OK);
	assert_link_is("root.base", two);
	shell("ln -sf /etc/passwd '%s'%s", two, "");
	ck_assert_int_eq(overlay(folder, "disk/two"), ERR_FORBIDDEN);
}
END_TEST

START_TEST(test_the_part_that_fails_is_named)
{
	autofree char *target = path_in(w.disks, "a/b/c.img"), *words = NULL;

	ck_assert_int_eq(prepare(VOLUME_WORK_CHECK, target, NULL, 0), ERR_NOT_FOUND);
	words = xasprintf("'%s': No such file or directory: it fails at '%s/a'", target, w.disks);
	assert_said(words);
}
END_TEST

START_TEST(test_missing_files_are_named)
{
	autofree char *target = path_in(w.disks, "none.img"), *base = path_in(w.images, "none");
	autofree char *overlay = path_in(w.run, "root.qcow2");

	ck_assert_int_eq(prepare(VOLUME_WORK_CHECK, target, NULL, 0), ERR_NOT_FOUND);
	assert_said("volume 'root'");
	assert_said(target);
	ck_assert_int_eq(prepare(VOLUME_WORK_OVERLAY, overlay, base, 0), ERR_NOT_FOUND);
	ck_assert(!exists(overlay));
}
END_TEST

START_TEST(test_links_do_not_lead_out)
{
	autofree char *secret = path_in(w.folder, "secret"), *link = path_in(w.disks, "link");
	autofree char *image = path_in(w.images, "link"), *overlay = path_in(w.run, "root.qcow2");
	autofree char *inside = path_in(w.disks, "real"), *in_link = path_in(w.disks, "in");

	shell("echo x > '%s'%s", secret, "");
	shell("ln -s '%s' '%s'", secret, link);
	shell("ln -s '%s' '%s'", secret, image);
	shell("echo y > '%s'; ln -s real '%s'", inside, in_link);
	ck_assert_int_eq(prepare(VOLUME_WORK_CHECK, link, NULL, 0), ERR_FORBIDDEN);
	assert_said("hostDiskRoots");
	ck_assert_int_eq(prepare(VOLUME_WORK_OVERLAY, overlay, image, 0), ERR_FORBIDDEN);
	assert_said("imageRoots");
	ck_assert_int_eq(prepare(VOLUME_WORK_CHECK, in_link, NULL, 0), ERR_OK);
}
END_TEST

START_TEST(test_only_files_and_devices)
{
	ck_assert_int_eq(prepare(VOLUME_WORK_CHECK, w.disks, NULL, 0), ERR_INVALID);
	autofree char *folder = path_in(w.disks, "folder");

	mkdir(folder, 0755);
	ck_assert_int_eq(prepare(VOLUME_WORK_CHECK, folder, NULL, 0), ERR_INVALID);
	assert_said("neither a file nor a block device");
}
END_TEST

START_TEST(test_images_that_name_other_files_are_refused)
{
	autofree char *below = path_in(w.images, "below"), *base = path_in(w.images, "base");
	autofree char *data = path_in(w.images, "data"), *overlay = path_in(w.run, "root.qcow2");

	shell("qemu-img create -q -f raw '%s' 8M%s", below, "");
	shell("qemu-img create -q -f qcow2 -F raw -b '%s' '%s'", below, base);
	ck_assert_int_eq(prepare(VOLUME_WORK_OVERLAY, overlay, base, 0), ERR_INVALID);
	assert_said("refers to another file");
	shell("qemu-img create -q -f qcow2 -o data_file='%s' '%s' 8M", data, base);
	ck_assert_int_eq(prepare(VOLUME_WORK_OVERLAY, overlay, base, 0), ERR_INVALID);
	ck_assert(!exists(overlay));
}
END_TEST

START_TEST(test_other_formats_are_refused)
{
	autofree char *base = path_in(w.images, "base"), *overlay = path_in(w.run, "root.qcow2");

	shell("qemu-img create -q -f vmdk '%s' 8M%s", base, "");
	ck_assert_int_eq(prepare(VOLUME_WORK_OVERLAY, overlay, base, 0), ERR_INVALID);
	assert_said("neither a raw nor a qcow2 image");
	shell("head -c 4096 /dev/zero | gzip -c >'%s'%s", base, "");
	ck_assert_int_eq(prepare(VOLUME_WORK_OVERLAY, overlay, base, 0), ERR_INVALID);
}
END_TEST

START_TEST(test_words_of_qemu_img_arrive)
{
	autofree char *target = path_in(w.run, "scratch.qcow2");

	ck_assert_int_eq(prepare(VOLUME_WORK_EMPTY, target, NULL, INT64_MAX), ERR_IO);
	assert_said("qemu-img cannot make");
	ck_assert_msg(strlen(w.err.msg) > strlen(target) + 40, "%s", w.err.msg);
	ck_assert(!exists(target));
}
END_TEST

START_TEST(test_many_works_stop_at_the_first_error)
{
	autofree char *first = path_in(w.run, "a.qcow2"), *second = path_in(w.disks, "none");
	struct volume_work work[] = {
		{ .kind = VOLUME_WORK_EMPTY,
			.volume = (char *)"a",
			.target = first,
			.capacity = MIB },
		{ .kind = VOLUME_WORK_CHECK, .volume = (char *)"b", .target = second },
	};

	ck_assert_int_eq(run_op(OP_PREPARE, work, 2), ERR_NOT_FOUND);
	assert_said("volume 'b'");
	ck_assert(!exists(first));
}
END_TEST

/* Read back by the tool that others read media with. */
START_TEST(test_medium)
{
	autofree char *target = path_in(w.run, "seed.iso"),
		      *stage = path_in(w.run, "seed.iso.files");
	struct media_file files[] = {
		{ (char *)"meta-data", (char *)"{}", 2, 0 },
		{ (char *)"openstack/latest/user_data", (char *)"a\0b", 3, 0 },
		{ (char *)"A-long.name_With-UPPER.case.and.dots", (char *)"", 0, 0 },
	};
	struct volume_work work = { .kind = VOLUME_WORK_MEDIUM,
		.volume = (char *)"seed",
		.target = target,
		.label = (char *)"config-2",
		.files = files,
		.n_files = ARRAY_SIZE(files) };
	struct stat st;

	ck_assert_msg(run_op(OP_PREPARE, &work, 1) == ERR_OK, "%s", w.err.msg);
	ck_assert_int_eq(stat(target, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600); /* whatever the umask */
	ck_assert(!exists(stage));
	shell("xorriso -no_rc -osirrox on -indev '%s' -extract / '%s/out' 2>&1 | "
	      "grep -q \"Volume id    : 'config-2'\"",
		target, w.folder);
	shell("test \"$(cat '%s/out/meta-data')\" = {}%s", w.folder, "");
	shell("printf 'a\\000b' | cmp - '%s/out/openstack/latest/user_data'%s", w.folder, "");
	shell("test -e '%s/out/A-long.name_With-UPPER.case.and.dots'%s", w.folder, "");
	work.n_files = 1; /* made anew: nothing of before is left on it */
	ck_assert_int_eq(run_op(OP_PREPARE, &work, 1), ERR_OK);
	shell("xorriso -no_rc -osirrox on -indev '%s' -extract / '%s/out2' 2>/dev/null", target,
		w.folder);
	shell("test \"$(ls '%s/out2')\" = meta-data%s", w.folder, "");
}
END_TEST

/* While it is made, and when that fails, nobody else can read it; nothing is left of
 * it after a clean. */
START_TEST(test_medium_that_fails)
{
	autofree char *target = path_in(w.run, "seed.iso"),
		      *stage = path_in(w.run, "seed.iso.files");
	struct media_file files[] = { { (char *)"key", (char *)"secret", 6, 0 },
		{ (char *)"key/below", (char *)"", 0, 0 } };
	struct volume_work work = { .kind = VOLUME_WORK_MEDIUM,
		.volume = (char *)"seed",
		.target = target,
		.label = (char *)"cidata",
		.files = files,
		.n_files = ARRAY_SIZE(files) };
	struct stat st;

	ck_assert_int_eq(run_op(OP_PREPARE, &work, 1), ERR_NOT_FOUND); /* a file is no folder */
	assert_said("volume 'seed'");
	ck_assert(!exists(target));
	ck_assert_int_eq(stat(stage, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(run_op(OP_CLEAN, NULL, 0), ERR_OK);
	ck_assert(!exists(w.run));
}
END_TEST

/* Its users may read what is in it, and nobody but the agent's user gets there on the host. */
START_TEST(test_folder)
{
	autofree char *above = path_in(w.run, "folders"), *target = path_in(above, "settings");
	struct media_file files[] = { { (char *)"key", (char *)"a\0b", 3, 0 },
		{ (char *)"below/it", (char *)"", 0, 0400 } };
	struct volume_work work = { .kind = VOLUME_WORK_FOLDER,
		.volume = (char *)"settings",
		.target = target,
		.files = files,
		.n_files = ARRAY_SIZE(files) };

	ck_assert_msg(run_op(OP_PREPARE, &work, 1) == ERR_OK, "%s", w.err.msg);
	shell("printf 'a\\000b' | cmp - '%s/key'%s", target, "");
	shell("cd '%s' && test \"$(stat -c %%a . key below below/it | tr '\\n' ' ')\" = '755 644 755 400 '%s",
		target, "");
	shell("test \"$(stat -c %%a '%s')\" = 700%s", above, "");
	work.n_files = 1; /* made anew */
	ck_assert_int_eq(run_op(OP_PREPARE, &work, 1), ERR_OK);
	shell("test \"$(ls '%s')\" = key%s", target, "");
	work.n_files = 2;
	files[1].path = (char *)"key/below";
	ck_assert_int_eq(run_op(OP_PREPARE, &work, 1), ERR_NOT_FOUND); /* a file is no folder */
	assert_said("volume 'settings'");
	ck_assert_int_eq(run_op(OP_CLEAN, NULL, 0), ERR_OK);
	ck_assert(!exists(w.run));
}
END_TEST

/* Only QEMU's user may read it, which libvirt makes its owner. */
START_TEST(test_table)
{
	autofree char *target = path_in(w.run, "slic.bin");
	struct media_file files[] = { { (char *)"other", (char *)"x", 1, 0 },
		{ (char *)"slic.bin", (char *)"SLIC\0\1", 6, 0444 } };
	struct volume_work work = { .kind = VOLUME_WORK_TABLE,
		.volume = (char *)"licence",
		.target = target,
		.inner = (char *)"slic.bin",
		.files = files,
		.n_files = ARRAY_SIZE(files) };

	for (int i = 0; i < 2; i++) /* made anew */
		ck_assert_msg(run_op(OP_PREPARE, &work, 1) == ERR_OK, "%s", w.err.msg);
	shell("printf 'SLIC\\0\\1' | cmp - '%s'%s", target, "");
	shell("test \"$(stat -c %%a '%s')\" = 600%s", target, "");
	shell("test ! -e '%s/other'%s", w.run, "");
}
END_TEST

/* Of a protocol; what another program has is said with the port. */
START_TEST(test_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	autofree char *tcp = NULL, *udp = NULL, *words = NULL;
	struct volume_work work = { .kind = VOLUME_WORK_PORT, .volume = (char *)"host-ports" };

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, size), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	getsockname(fd, (struct sockaddr *)&address, &size);
	tcp = xasprintf("tcp:%u", ntohs(address.sin_port));
	udp = xasprintf("udp:%u", ntohs(address.sin_port));
	words = xasprintf("port %u/tcp of this host", ntohs(address.sin_port));
	work.target = tcp;
	ck_assert_int_eq(run_op(OP_PREPARE, &work, 1), ERR_IO);
	assert_said(words);
	work.target = udp;
	ck_assert_int_eq(run_op(OP_PREPARE, &work, 1), ERR_OK);
	close(fd);
	work.target = tcp;
	ck_assert_int_eq(run_op(OP_PREPARE, &work, 1), ERR_OK);
}
END_TEST

/* A guest had it. */
START_TEST(test_clean_goes_as_deep_as_it_takes)
{
	shell("mkdir -p '%s' && cd '%s' && "
	      "for i in $(seq 300); do mkdir -p folder/b && touch folder/f && cd folder; done",
		w.run, w.run);
	ck_assert_msg(run_op(OP_CLEAN, NULL, 0) == ERR_OK, "%s", w.err.msg);
	ck_assert(!exists(w.run));
}
END_TEST

START_TEST(test_clean_takes_all_and_only_that)
{
	autofree char *precious = path_in(w.folder, "precious"), *kept = path_in(precious, "kept");

	shell("mkdir -p '%s/sub' && touch '%s/sub/file'", w.run, w.run);
	shell("mkdir '%s'; touch '%s'", precious, kept);
	shell("ln -s '%s' '%s/link'", precious, w.run);
	ck_assert_int_eq(run_op(OP_CLEAN, NULL, 0), ERR_OK);
	ck_assert(!exists(w.run) && exists(kept));
	ck_assert_int_eq(run_op(OP_CLEAN, NULL, 0), ERR_OK);
}
END_TEST

START_TEST(test_clean_does_not_follow_a_link_itself)
{
	autofree char *precious = path_in(w.folder, "precious"), *kept = path_in(precious, "kept");

	shell("mkdir '%s'; touch '%s'", precious, kept);
	shell("ln -s '%s' '%s'", precious, w.run);
	ck_assert_int_eq(run_op(OP_CLEAN, NULL, 0), ERR_IO);
	ck_assert(exists(kept));
}
END_TEST

static int keep_aside(const char *name)
{
	struct op op = { .id = 7,
		.kind = OP_CLEAN,
		.directory = w.run,
		.aside = (char *)(uintptr_t)name };

	image_submit(w.image, &op);
	uv_run(&w.loop, UV_RUN_DEFAULT);
	return w.err.code;
}

/* All of it, once; what was kept before stays; and a crash after it was done changes nothing. */
START_TEST(test_kept_aside)
{
	autofree char *lost = path_in(w.folder, "lost"), *name = path_in(lost, "default_web.uid"),
		      *disk = path_in(name, "root.qcow2"), *second = xasprintf("%s.2", name);

	shell("mkdir '%s'; echo first >'%s/root.qcow2'", w.run, w.run);
	ck_assert_msg(keep_aside(name) == ERR_OK, "%s", w.err.msg);
	ck_assert(!exists(w.run) && exists(disk));
	shell("test \"$(stat -c %%a '%s')\" = 700%s", lost, "");
	ck_assert_int_eq(keep_aside(name), ERR_OK);
	ck_assert(exists(disk) && !exists(second));
	shell("mkdir '%s'; echo second >'%s/root.qcow2'", w.run, w.run);
	ck_assert_int_eq(keep_aside(name), ERR_OK);
	ck_assert(!exists(w.run) && exists(second));
	shell("grep -q first '%s' && grep -q second '%s/root.qcow2'", disk, second);
}
END_TEST

START_TEST(test_what_is_empty_is_not_kept)
{
	autofree char *lost = path_in(w.folder, "lost"), *name = path_in(lost, "default_web.uid");

	shell("mkdir '%s'%s", w.run, "");
	ck_assert_msg(keep_aside(name) == ERR_OK, "%s", w.err.msg);
	ck_assert(!exists(w.run) && !exists(lost));
}
END_TEST

START_TEST(test_cannot_be_kept_aside)
{
	autofree char *lost = path_in(w.folder, "lost"), *name = path_in(lost, "default_web.uid");

	shell("mkdir '%s'; touch '%s'", w.run, lost);
	shell("touch '%s/%s'", w.run, "root.qcow2");
	ck_assert_int_eq(keep_aside(name), ERR_IO);
	assert_said("cannot keep the folder");
	ck_assert(exists(w.run));
}
END_TEST

/* Of the host, as devices are: what is not there is named, with what to do about it. */
START_TEST(test_paths_of_the_host)
{
	autofree char *device = path_in(w.folder, "0000:65:00.0");

	ck_assert_int_eq(prepare(VOLUME_WORK_PATH, device, NULL, 0), ERR_IO);
	assert_said("which this host does not have: mend hostDevices");
	ck_assert_int_eq(prepare(VOLUME_WORK_PATH, "/dev/no-vsock", NULL, 0), ERR_IO);
	assert_said("'/dev/no-vsock', which this host does not have: load the kernel's module");
	shell("touch '%s'%s", device, "");
	ck_assert_int_eq(prepare(VOLUME_WORK_PATH, device, NULL, 0), ERR_OK);
	ck_assert(exists(device));
}
END_TEST

/* ---- looked for, for a peer that asks -------------------------------------------------------- */

#define OUT "leads to nothing below a folder that the configuration allows"

/* clang-format off */
static const struct looked {
	const char *made;                    /* in the world's folder */
	enum volume_work_kind kind;
	const char *path, *inner;            /* the path is below that folder */
	const char *words;                   /* NULL: nothing is missing */
	const char *or_made;                 /* what makes no difference to whoever asks; or NULL */
} looked[] = {
	{ "touch disks/a",                          VOLUME_WORK_CHECK, "disks/a", NULL, NULL, "touch disks/b; ln -s b disks/a" },
	{ "true",                                   VOLUME_WORK_CHECK, "disks/a", NULL, "disks/a': No such file or directory", NULL },
	{ "true",                                   VOLUME_WORK_CHECK, "disks/a/b", NULL, "it fails at", NULL },
	{ "mkdir disks/a",                          VOLUME_WORK_CHECK, "disks/a", NULL, "neither a file nor a block device", "mkfifo disks/a" },
	{ "ln -s ../secret disks/a",                VOLUME_WORK_CHECK, "disks/a", NULL, OUT " (hostDiskRoots)", "ln -s ../secret disks/a; touch secret" },
	{ "ln -s .. disks/up",                      VOLUME_WORK_CHECK, "disks/up/secret", NULL, OUT, "ln -s .. disks/up; touch secret" },
	{ "ln -s .. disks/up; mkdir out",           VOLUME_WORK_CHECK, "disks/up/out/a", NULL, OUT, "ln -s .. disks/up" },
	{ "true",                                   VOLUME_WORK_CHECK, "secret", NULL, OUT, "touch secret" },
	{ "true",                                   VOLUME_WORK_CHECK, "images/a", NULL, OUT, "touch images/a" },
	{ "truncate -s 1M images/a",                VOLUME_WORK_OVERLAY, "images/a", NULL, NULL, "qemu-img create -q -f qcow2 images/a 1M" },
	{ "true",                                   VOLUME_WORK_OVERLAY, "images/a", NULL, "images/a': No such file or directory", NULL },
	{ "echo secret >secret; qemu-img create -q -f qcow2 -F raw -b ../secret images/a 1M", VOLUME_WORK_OVERLAY, "images/a", NULL, "refers to another file", NULL },
	{ "ln -s ../secret images/a",               VOLUME_WORK_OVERLAY, "images/a", NULL, OUT " (imageRoots)", "ln -s ../secret images/a; touch secret" },
	{ "mkdir images/a out; touch out/a out/b; ln -s ../../out images/a/disk", VOLUME_WORK_OVERLAY, "images/a", NULL, OUT, "mkdir images/a; ln -s ../../out images/a/disk" },
	{ "mkdir -p images/a/disk",                 VOLUME_WORK_OVERLAY, "images/a", NULL, "no file", "mkdir images/a" },
	{ "mkdir images/a",                         VOLUME_WORK_OVERLAY, "images/a", "../../secret", OUT, "mkdir images/a; touch secret" },
	{ "mkdir images/a; touch images/a/vmlinuz", VOLUME_WORK_LINK, "images/a", "/vmlinuz", NULL, NULL },
	{ "mkdir images/a",                         VOLUME_WORK_LINK, "images/a", "/vmlinuz", "images/a/vmlinuz': No such file or directory", NULL },
	{ "ln -s .. images/a",                      VOLUME_WORK_LINK, "images/a", "/secret", OUT, "ln -s .. images/a; touch secret" },
};
/* clang-format on */

static void in_folder(const char *command)
{
	shell("cd '%s' && (%s)", w.folder, command);
}

/* Nothing is made for it, not even the run's folder. */
static void look_for(const struct looked *row)
{
	autofree char *path = path_in(w.folder, row->path), *target = path_in(w.run, "root"),
		      *link = path_in(w.run, "root.base");
	bool check = row->kind == VOLUME_WORK_CHECK;
	struct volume_work work = { .kind = row->kind,
		.volume = (char *)"root",
		.target = check ? path : target,
		.base = check ? NULL : path,
		.inner = (char *)row->inner,
		.link = link };

	in_folder("find * >.before");
	ck_assert_int_eq(run_op(OP_LOOK, &work, 1), ERR_OK);
	in_folder("find * >.after; cmp .before .after");
}

START_TEST(test_looked_for)
{
	const struct looked *row = &looked[_i];
	char first[sizeof(w.text)];

	in_folder(row->made);
	look_for(row);
	copy_str(first, sizeof(first), w.text);
	ck_assert_msg(row->words ? strstr(first, row->words) != NULL : streq(first, "[]"), "%s: %s",
		row->made, first);
	if (!row->or_made)
		return;
	in_folder("rm -rf disks/* images/* secret out");
	in_folder(row->or_made);
	look_for(row);
	ck_assert_str_eq(w.text, first);
}
END_TEST

/* What a start makes is not looked for. */
START_TEST(test_all_that_is_missing)
{
	autofree char *disk = path_in(w.disks, "a"), *made = path_in(w.disks, "b"),
		      *image = path_in(w.images, "c"), *target = path_in(w.run, "root");
	struct volume_work work[] = {
		{ .kind = VOLUME_WORK_CHECK, .volume = (char *)"one", .target = disk },
		{ .kind = VOLUME_WORK_CREATE_RAW, .volume = (char *)"two", .target = made },
		{ .kind = VOLUME_WORK_EMPTY, .volume = (char *)"three", .target = target },
		{ .kind = VOLUME_WORK_OVERLAY,
			.volume = (char *)"four",
			.target = target,
			.base = image },
		{ .kind = VOLUME_WORK_BRIDGE, .volume = (char *)"lan", .target = (char *)"no-br0" },
		{ .kind = VOLUME_WORK_PROGRAM,
			.volume = (char *)"pod",
			.target = (char *)"no-passt" },
	};
	struct findings missing = { 0 };

	ck_assert_int_eq(run_op(OP_LOOK, work, ARRAY_SIZE(work)), ERR_OK);
	migration_findings_read(w.text, &missing);
	ck_assert_uint_eq(missing.n, 4);
	ck_assert_str_eq(missing.list[0].field, "volumes");
	ck_assert_ptr_nonnull(strstr(missing.list[0].message, "volume 'one'"));
	ck_assert_ptr_nonnull(strstr(missing.list[1].message, "volume 'four'"));
	ck_assert_str_eq(missing.list[2].field, "networks");
	ck_assert_ptr_nonnull(strstr(missing.list[2].message, "no network device 'no-br0'"));
	ck_assert_ptr_nonnull(strstr(missing.list[3].message, "'no-passt', which is not there"));
	findings_done(&missing);
	ck_assert(!exists(made) && !exists(w.run));
}
END_TEST

Suite *test_image_suite(void)
{
	Suite *suite = suite_create("image");
	TCase *tcase = tcase_create("volumes");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_overlay_of_raw_and_qcow2, 0, 2);
	tcase_add_test(tcase, test_overlay_is_made_anew);
	tcase_add_test(tcase, test_empty);
	tcase_add_test(tcase, test_paths_of_the_host);
	tcase_add_test(tcase, test_raw_is_made_once);
	tcase_add_test(tcase, test_raw_appears_whole);
	tcase_add_test(tcase, test_a_disk_is_no_image);
	tcase_add_test(tcase, test_kernel_is_linked);
	tcase_add_test(tcase, test_reference_by_the_folder);
	tcase_add_test(tcase, test_reference_by_a_rule);
	tcase_add_test(tcase, test_image_that_is_a_folder);
	tcase_add_test(tcase, test_the_part_that_fails_is_named);
	tcase_add_test(tcase, test_missing_files_are_named);
	tcase_add_test(tcase, test_links_do_not_lead_out);
	tcase_add_test(tcase, test_only_files_and_devices);
	tcase_add_test(tcase, test_images_that_name_other_files_are_refused);
	tcase_add_test(tcase, test_other_formats_are_refused);
	tcase_add_test(tcase, test_words_of_qemu_img_arrive);
	tcase_add_test(tcase, test_many_works_stop_at_the_first_error);
	tcase_add_test(tcase, test_medium);
	tcase_add_test(tcase, test_medium_that_fails);
	tcase_add_test(tcase, test_folder);
	tcase_add_test(tcase, test_table);
	tcase_add_test(tcase, test_port);
	tcase_add_test(tcase, test_clean_goes_as_deep_as_it_takes);
	tcase_add_test(tcase, test_clean_takes_all_and_only_that);
	tcase_add_test(tcase, test_clean_does_not_follow_a_link_itself);
	tcase_add_test(tcase, test_kept_aside);
	tcase_add_test(tcase, test_what_is_empty_is_not_kept);
	tcase_add_test(tcase, test_cannot_be_kept_aside);
	tcase_add_loop_test(tcase, test_looked_for, 0, ARRAY_SIZE(looked));
	tcase_add_test(tcase, test_all_that_is_missing);
	suite_add_tcase(suite, tcase);
	return suite;
}
