/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that mean no good, below the folders that a node allows: links that lead out, loops, pipes,
 * images that name other files. Each is made by its row's words in the shell, in a folder with
 * disks/, images/ and outside/secret; whatever is said of it, nothing outside is made or changed.
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/image.h"

Suite *test_hostile_files_suite(void);

#define MIB (1 << 20)

static struct world {
	uv_loop_t loop;
	struct image *image;
	char folder[64], disks[80], images[80], run[80];
	const char *disk_roots[2], *image_roots[2];
	struct image_map map;
	struct err err;
	unsigned results;
} w;

static char *path_in(const char *name)
{
	return name ? xasprintf("%s/%s", w.folder, name) : NULL;
}

/* In the folder. */
static void shell(const char *words)
{
	autofree char *command = xasprintf("cd '%s' && { %s; }", w.folder, words);

	ck_assert_msg(system(command) == 0, "%s", command);
}

static void on_result(void *ctx, const struct op_result *result)
{
	(void)ctx;
	w.err = result->err;
	w.results++;
}

static void set_up(void)
{
	struct hv_sink sink = { .result = on_result };
	struct image_roots roots = { w.disk_roots, w.image_roots, &w.map };

	w = (struct world){ .map = { .directory = w.images } };
	strcpy(w.folder, "/tmp/vmagent-hostile.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(w.folder));
	snprintf(w.disks, sizeof(w.disks), "%s/disks", w.folder);
	snprintf(w.images, sizeof(w.images), "%s/images", w.folder);
	snprintf(w.run, sizeof(w.run), "%s/run", w.folder);
	w.disk_roots[0] = w.disks;
	w.image_roots[0] = w.images;
	shell("mkdir disks images outside && echo precious >outside/secret");
	uv_loop_init(&w.loop);
	w.image = image_new(&w.loop, &roots, sink);
}

static void tear_down(void)
{
	image_free(w.image);
	ck_assert_int_eq(uv_loop_close(&w.loop), 0);
	shell("cd / && rm -rf \"$OLDPWD\"");
}

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
	const char *made;             /* by the shell */
	enum volume_work_kind kind;
	const char *file;             /* the disk, or the image */
	const char *inner;            /* of an image that is a folder */
	enum err_code code;
	const char *words;            /* of the refusal; accepted: what the shell must then find */
} rows[] = {
	{ "ln -s ../outside/secret disks/a", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "ln -s ../outside disks/d", VOLUME_WORK_CHECK, "disks/d/secret", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "ln -s b disks/a; ln -s ../outside/secret disks/b", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "ln -s b disks/a; ln -s a disks/b", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_FORBIDDEN, "Too many levels" },
	{ "ln -s /proc/self/root/etc/passwd disks/a", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "ln -s /proc/self/cwd disks/d", VOLUME_WORK_CHECK, "disks/d/README.md", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "ln -s /proc/self/exe disks/a", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "ln -s /dev/zero disks/a", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "ln -s ../outside/none disks/a", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_NOT_FOUND, "No such file" },
	{ "touch images/i; ln -s ../images/i disks/a", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "mv disks disks-of-others; ln -s disks-of-others disks; touch disks/a", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_OK, "test -f disks/a" },
	{ "mkfifo disks/a", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_INVALID, "neither a file nor" },
	{ "mkdir disks/a", VOLUME_WORK_CHECK, "disks/a", NULL, ERR_INVALID, "neither a file nor" },

	{ "ln -s ../outside disks/d", VOLUME_WORK_CREATE_RAW, "disks/d/new.img", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "mkdir outside/d; ln -s ../outside disks/up", VOLUME_WORK_CREATE_RAW, "disks/up/d/new.img", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "ln -s ../outside/new disks/a.img", VOLUME_WORK_CREATE_RAW, "disks/a.img", NULL, ERR_NOT_FOUND, "No such file" },
	{ "ln -s ../outside/secret disks/a.img", VOLUME_WORK_CREATE_RAW, "disks/a.img", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "ln -s ../outside/secret disks/a.img.tmp", VOLUME_WORK_CREATE_RAW, "disks/a.img", NULL, ERR_OK, "test -f disks/a.img -a ! -e disks/a.img.tmp" },
	{ "ln -s ../images disks/d", VOLUME_WORK_CREATE_RAW, "disks/d/new.img", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "ln -s /proc/self/cwd disks/d", VOLUME_WORK_CREATE_RAW, "disks/d/new.img", NULL, ERR_FORBIDDEN, "hostDiskRoots" },
	{ "touch disks/f", VOLUME_WORK_CREATE_RAW, "disks/f/new.img", NULL, ERR_NOT_FOUND, "disks/f" },

	{ "ln -s ../outside/secret images/a", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_FORBIDDEN, "imageRoots" },
	{ "ln -s ../outside images/d", VOLUME_WORK_OVERLAY, "images/d/secret", NULL, ERR_FORBIDDEN, "imageRoots" },
	{ "touch disks/a; ln -s ../disks/a images/a", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_FORBIDDEN, "imageRoots" },
	{ "mkfifo images/a", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_INVALID, "neither a file nor" },
	{ "qemu-img create -q -f qcow2 -F raw -b \"$PWD/outside/secret\" images/a", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_INVALID, "refers to another file" },
	{ "qemu-img create -q -f qcow2 -o compat=0.10 -F raw -b ../outside/secret images/a", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_INVALID, "refers to another file" },
	{ "qemu-img create -q -f qcow2 -u -F raw -b 'json:{\"driver\":\"file\",\"filename\":\"/etc/passwd\"}' images/a 1M", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_INVALID, "refers to another file" },
	{ "qemu-img create -q -f qcow2 -u -F raw -b nbd://192.0.2.1/a images/a 1M", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_INVALID, "refers to another file" },
	{ "qemu-img create -q -f qcow2 -o data_file=images/data images/a 1M", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_INVALID, "refers to another file" },
	{ "qemu-img create -q -f qcow2 -o data_file=images/data,data_file_raw=on images/a 1M", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_INVALID, "refers to another file" },
	{ "qemu-img create -q -f vmdk images/a 1M", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_INVALID, "neither a raw nor a qcow2" },
	{ "qemu-img create -q -f vhdx images/a 1M", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_INVALID, "neither a raw nor a qcow2" },
	/* What only a format that is guessed would follow stays bytes of a disk. */
	{ "qemu-img create -q -f vmdk -o subformat=monolithicFlat images/a 1M", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_OK, "qemu-img info --output=json run/root.qcow2 | grep -q '\"backing-filename-format\": \"raw\"'" },
	{ "printf 'QED\\0' >images/a; truncate -s 1M images/a", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_OK, "qemu-img info --output=json run/root.qcow2 | grep -q '\"backing-filename-format\": \"raw\"'" },

	{ "mkdir images/a; ln -s ../../outside/secret images/a/k", VOLUME_WORK_LINK, "images/a", "k", ERR_FORBIDDEN, "imageRoots" },
	{ "mkdir images/a; ln -s ../../outside images/a/boot", VOLUME_WORK_LINK, "images/a", "/boot/secret", ERR_FORBIDDEN, "imageRoots" },
	{ "mkdir images/a; ln -s /proc/self/root/etc images/a/boot", VOLUME_WORK_LINK, "images/a", "boot/passwd", ERR_FORBIDDEN, "imageRoots" },
	{ "mkdir images/a; mkfifo images/a/k", VOLUME_WORK_LINK, "images/a", "k", ERR_INVALID, "neither a file nor" },
	{ "ln -s ../outside images/a", VOLUME_WORK_LINK, "images/a", "secret", ERR_FORBIDDEN, "imageRoots" },
	{ "mkdir -p images/a/disk; ln -s ../../../outside/secret images/a/disk/one", VOLUME_WORK_OVERLAY, "images/a", NULL, ERR_FORBIDDEN, "imageRoots" },
};
/* clang-format on */

static void run(size_t i)
{
	bool image = rows[i].kind == VOLUME_WORK_OVERLAY || rows[i].kind == VOLUME_WORK_LINK;
	autofree char *file = path_in(rows[i].file), *target = path_in("run/root.qcow2");
	autofree char *link = path_in("run/root.base");
	struct volume_work work = { .kind = rows[i].kind,
		.volume = (char *)"root",
		.target = image ? target : file,
		.base = image ? file : NULL,
		.inner = (char *)rows[i].inner,
		.link = image ? link : NULL,
		.capacity = MIB };
	struct op op = { .id = 7,
		.kind = OP_PREPARE,
		.directory = w.run,
		.work = &work,
		.n_work = 1 };

	image_submit(w.image, &op);
	uv_run(&w.loop, UV_RUN_DEFAULT);
	ck_assert_uint_eq(w.results, 1);
}

START_TEST(test_nothing_leads_out)
{
	shell(rows[_i].made);
	run((size_t)_i);
	ck_assert_msg(w.err.code == rows[_i].code, "%s: %d: %s", rows[_i].made, w.err.code,
		w.err.msg);
	if (rows[_i].code == ERR_OK)
		shell(rows[_i].words);
	else
		ck_assert_msg(strstr(w.err.msg, rows[_i].words), "%s: %s", rows[_i].made,
			w.err.msg);
	shell("test ! -e outside/new -a ! -e outside/new.img -a ! -e outside/d/new.img -a ! -e images/new.img");
	shell("test \"$(cat outside/secret)\" = precious");
	if (rows[_i].code != ERR_OK)
		shell("test ! -e run/root.qcow2 -a ! -e run/root.base");
}
END_TEST

/* ---- between a look and its use -------------------------------------------------------------- */

#define RACES 400

/* A neighbour that makes disks/d a folder and a link to outside in turn, as fast as it can. */
static pid_t swapper(void)
{
	autofree char *d = path_in("disks/d"), *other = path_in("disks/e");
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			renameat2(AT_FDCWD, d, AT_FDCWD, other, RENAME_EXCHANGE);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

START_TEST(test_a_folder_is_judged_that_is_open)
{
	autofree char *file = path_in("disks/d/new.img"), *escaped = path_in("outside/new.img");
	struct volume_work work = { .kind = VOLUME_WORK_CREATE_RAW,
		.volume = (char *)"root",
		.target = file,
		.capacity = MIB };
	struct op op = { .id = 7,
		.kind = OP_PREPARE,
		.directory = w.run,
		.work = &work,
		.n_work = 1 };
	unsigned refused = 0;
	pid_t pid;

	shell("mkdir disks/d; ln -s ../outside disks/e");
	pid = swapper();
	for (unsigned i = 0; i < RACES; i++) {
		image_submit(w.image, &op);
		uv_run(&w.loop, UV_RUN_DEFAULT);
		refused += w.err.code == ERR_FORBIDDEN;
		ck_assert_msg(access(escaped, F_OK) < 0, "made outside, after %u", i);
		unlink(file);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_uint_gt(refused, 0);
}
END_TEST

Suite *test_hostile_files_suite(void)
{
	Suite *suite = suite_create("hostile files");
	TCase *tcase = tcase_create("hostile files");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_nothing_leads_out, 0, ARRAY_SIZE(rows));
	tcase_add_test(tcase, test_a_folder_is_judged_that_is_open);
	suite_add_tcase(suite, tcase);
	return suite;
}
