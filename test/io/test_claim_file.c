/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of claims, with the image adapter, a real file system and the real qemu-img: made once,
 * grown, never probed, and no link below the storage folder leads anywhere.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/image.h"

Suite *test_claim_file_suite(void);

#define MIB (1 << 20)

static struct world {
	uv_loop_t loop;
	struct image *image;
	char folder[64], run[80], images[80], claim[160], file[200];
	const char *roots[2];
	struct err err;
	bool kept;
	unsigned results;
} w;

static void on_result(void *ctx, const struct op_result *result)
{
	(void)ctx;
	w.err = result->err;
	w.kept = result->text != NULL;
	w.results++;
}

static void set_up(void)
{
	static const char *const none[] = { NULL };
	static const struct image_map map = { 0 };
	struct hv_sink sink = { .result = on_result };
	struct image_roots roots = { none, w.roots, &map };

	memset(&w, 0, sizeof(w));
	strcpy(w.folder, "/tmp/vmagent-claim.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(w.folder));
	snprintf(w.run, sizeof(w.run), "%s/run", w.folder);
	snprintf(w.images, sizeof(w.images), "%s/images", w.folder);
	w.roots[0] = w.images;
	snprintf(w.claim, sizeof(w.claim), "%s/pvc/shop/db", w.folder);
	snprintf(w.file, sizeof(w.file), "%s/disk.img", w.claim);
	uv_loop_init(&w.loop);
	w.image = image_new(&w.loop, &roots, sink);
}

/* In the world's folder. */
static void shell(const char *command)
{
	autofree char *all = xasprintf("cd '%s' && (%s)", w.folder, command);

	ck_assert_msg(system(all) == 0, "%s", command);
}

static void tear_down(void)
{
	image_free(w.image);
	ck_assert_int_eq(uv_loop_close(&w.loop), 0);
	shell("rm -rf \"$PWD\"");
}

static int run_op(const struct op *op)
{
	image_submit(w.image, op);
	uv_run(&w.loop, UV_RUN_DEFAULT);
	return w.err.code;
}

static int make(int64_t capacity)
{
	struct volume_work work = { .kind = VOLUME_WORK_CLAIM,
		.volume = (char *)"data",
		.target = w.file,
		.capacity = capacity };
	struct op op = { .kind = OP_PREPARE, .directory = w.run, .work = &work, .n_work = 1 };

	return run_op(&op);
}

static int make_over(void)
{
	autofree char *target = xasprintf("%s/data.qcow2", w.run);
	autofree char *link = xasprintf("%s/data.base", w.run);
	struct volume_work work = { .kind = VOLUME_WORK_OVERLAY,
		.volume = (char *)"data",
		.target = target,
		.base = w.file,
		.link = link,
		.claimed = true,
		.capacity = 4 * MIB };
	struct op op = { .kind = OP_PREPARE, .directory = w.run, .work = &work, .n_work = 1 };

	return run_op(&op);
}

static int drop(void)
{
	struct op op = { .kind = OP_DROP, .directory = w.claim };

	return run_op(&op);
}

/* base: NULL, an image, or another claim's file. */
static int fill(const char *base, bool claimed, int64_t capacity)
{
	autofree char *from = base ? xasprintf("%s/%s", w.folder, base) : NULL;
	struct volume_work work = { .kind = VOLUME_WORK_FILL,
		.volume = (char *)"data",
		.target = w.file,
		.base = from,
		.claimed = claimed,
		.preallocate = !base,
		.capacity = capacity };
	struct op op = { .kind = OP_FILL, .directory = w.claim, .work = &work, .n_work = 1 };

	return run_op(&op);
}

START_TEST(test_it_is_made_once_and_grows)
{
	struct stat st;

	ck_assert_msg(make(4 * MIB) == ERR_OK, "%s", w.err.msg);
	ck_assert_int_eq(stat(w.file, &st), 0);
	ck_assert_int_eq(st.st_size, 4 * MIB);
	ck_assert_int_eq(st.st_blocks, 0); /* sparse */
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(stat(w.claim, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0711); /* whatever the umask */
	shell("printf precious | dd of=pvc/shop/db/disk.img conv=notrunc status=none");
	ck_assert_int_eq(make(8 * MIB), ERR_OK);
	ck_assert_int_eq(stat(w.file, &st), 0);
	ck_assert_int_eq(st.st_size, 8 * MIB);
	ck_assert_int_eq(make(MIB), ERR_OK); /* never smaller */
	ck_assert_int_eq(stat(w.file, &st), 0);
	ck_assert_int_eq(st.st_size, 8 * MIB);
	shell("test \"$(head -c 8 pvc/shop/db/disk.img)\" = precious");
}
END_TEST

static int share(void)
{
	autofree char *target = xasprintf("%s/files", w.claim);
	struct volume_work work = { .kind = VOLUME_WORK_CLAIM_FOLDER,
		.volume = (char *)"data",
		.target = target };
	struct op op = { .kind = OP_PREPARE, .directory = w.run, .work = &work, .n_work = 1 };

	return run_op(&op);
}

/* Beside the disk; what guests put there stays, and goes with the claim however deep it lies. */
START_TEST(test_a_folder_of_it)
{
	struct stat st;

	ck_assert_msg(share() == ERR_OK, "%s", w.err.msg);
	ck_assert_int_eq(make(MIB), ERR_OK);
	shell("cd pvc/shop/db/files && echo kept >file && for i in $(seq 100); do mkdir -p a/b && cd a; done; echo x >f");
	ck_assert_int_eq(share(), ERR_OK);
	shell("test \"$(cat pvc/shop/db/files/file)\" = kept");
	shell("chmod 700 pvc/shop/db/files");
	ck_assert_int_eq(share(), ERR_OK);
	shell("test \"$(stat -c %a pvc/shop/db/files)\" = 700"); /* it is the guests' */
	ck_assert_msg(drop() == ERR_OK, "%s", w.err.msg);
	ck_assert_int_ne(stat(w.claim, &st), 0);
}
END_TEST

START_TEST(test_a_folder_that_is_a_link)
{
	shell("mkdir -p pvc/shop/db secret && ln -s ../../../secret pvc/shop/db/files");
	ck_assert_int_eq(share(), ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(w.err.msg, "links are not followed"));
}
END_TEST

/* A guest may write into its claim what looks like an image that names another file. */
START_TEST(test_an_overlay_takes_it_for_raw)
{
	ck_assert_msg(make_over() == ERR_OK, "%s", w.err.msg); /* … and makes it */
	shell("test \"$(stat -c %s pvc/shop/db/disk.img)\" = 4194304");
	shell("echo secret >secret; qemu-img create -q -f qcow2 -F raw -b \"$PWD/secret\" pvc/shop/db/disk.img 9M");
	ck_assert_msg(make_over() == ERR_OK, "%s", w.err.msg);
	shell("qemu-img info run/data.qcow2 | grep -q 'backing file format: raw'");
	shell("qemu-img info run/data.qcow2 | grep -q 'virtual size: 4 MiB'");
	shell("test \"$(readlink run/data.base)\" = \"$PWD/pvc/shop/db/disk.img\"");
}
END_TEST

START_TEST(test_it_is_removed_with_its_folder)
{
	ck_assert_int_eq(drop(), ERR_OK); /* it was never made */
	ck_assert_int_eq(make(MIB), ERR_OK);
	shell("mkdir pvc/shop/other && touch pvc/shop/other/disk.img");
	ck_assert_int_eq(drop(), ERR_OK);
	shell("test ! -e pvc/shop/db -a -e pvc/shop/other/disk.img");
	ck_assert_int_eq(drop(), ERR_OK);
}
END_TEST

/* clang-format off */
static const struct { const char *made; enum err_code code; const char *words; } bad[] = {
	{ "mkdir -p pvc outside; ln -s ../outside pvc/shop", ERR_INVALID, "links are not followed" },
	{ "mkdir -p pvc/shop outside; ln -s ../../outside pvc/shop/db", ERR_INVALID, "links are not followed" },
	{ "mkdir -p pvc/shop/db; ln -s ../../../secret pvc/shop/db/disk.img", ERR_FORBIDDEN, "disk.img'" },
	{ "mkdir -p pvc/shop/db; ln -s ../../../new pvc/shop/db/disk.img", ERR_FORBIDDEN, "disk.img'" },
	{ "mkdir -p pvc/shop/db/disk.img", ERR_IO, "disk.img'" },
	{ "mkdir -p pvc/shop/db; mkfifo pvc/shop/db/disk.img", ERR_IO, "disk.img'" },
	{ "mkdir -p pvc; echo >pvc/shop", ERR_INVALID, "pvc/shop/db/disk.img'" },
	{ "echo >pvc", ERR_INVALID, "pvc/shop/db/disk.img'" },
};
/* clang-format on */

START_TEST(test_no_link_leads_out)
{
	shell("echo precious >secret");
	shell(bad[_i].made);
	ck_assert_msg(make(MIB) == (int)bad[_i].code, "%s: %d %s", bad[_i].made, w.err.code,
		w.err.msg);
	ck_assert_msg(strstr(w.err.msg, bad[_i].words), "%s: %s", bad[_i].made, w.err.msg);
	shell("test ! -e new -a ! -e outside/db -a ! -e outside/disk.img");
	shell("test \"$(cat secret)\" = precious");
}
END_TEST

/* clang-format off */
static const struct { const char *made; enum err_code code; const char *words; } shared[] = {
	{ "mkdir -p pvc/shop/db; truncate -s 1M pvc/shop/db/disk.img", ERR_OK, "" },
	{ "mkdir -p pvc/shop", ERR_NOT_FOUND, "pvc/shop/db/disk.img': No such file" },
	{ "mkdir -p pvc/shop/db", ERR_NOT_FOUND, "pvc/shop/db/disk.img': No such file" },
	{ "true", ERR_NOT_FOUND, "pvc/shop/db/disk.img': No such file" },
	{ "mkdir -p pvc outside/db; touch outside/db/disk.img; ln -s ../outside pvc/shop", ERR_INVALID, "links are not followed" },
	{ "mkdir -p pvc/shop/db; touch secret; ln -s ../../../secret pvc/shop/db/disk.img", ERR_INVALID, "is no file" },
	{ "mkdir -p pvc/shop/db/disk.img", ERR_INVALID, "is no file" },
};
/* clang-format on */

/* At the target of a migration: no hostDisk's folder has to have it, and nothing is made. */
START_TEST(test_a_shared_one_is_there)
{
	struct volume_work work = { .kind = VOLUME_WORK_CHECK,
		.volume = (char *)"data",
		.target = w.file,
		.claimed = true };
	struct op op = { .kind = OP_PREPARE, .directory = w.run, .work = &work, .n_work = 1 };

	shell(shared[_i].made);
	shell("ls -R pvc >before 2>&1 || true");
	ck_assert_msg(run_op(&op) == (int)shared[_i].code, "%s: %d %s", shared[_i].made, w.err.code,
		w.err.msg);
	ck_assert_msg(strstr(w.err.msg, shared[_i].words), "%s: %s", shared[_i].made, w.err.msg);
	shell("ls -R pvc >after 2>&1 || true; cmp before after");
}
END_TEST

/* ---- filled ---------------------------------------------------------------------------------- */

START_TEST(test_it_is_filled_once)
{
	shell("mkdir images; echo precious >raw; truncate -s 2M raw; qemu-img convert -O qcow2 raw images/a.qcow2");
	shell("mkdir -p pvc/shop/db; echo half >pvc/shop/db/disk.img.tmp");
	ck_assert_msg(fill("images/a.qcow2", false, 4 * MIB) == ERR_OK, "%s", w.err.msg);
	ck_assert(!w.kept);
	shell("test \"$(head -c 8 pvc/shop/db/disk.img)\" = precious");
	shell("test \"$(stat -c '%s %a' pvc/shop/db/disk.img)\" = '4194304 600'");
	shell("test \"$(ls pvc/shop/db)\" = disk.img");
	shell("echo written | dd of=pvc/shop/db/disk.img conv=notrunc status=none");
	ck_assert_int_eq(fill("images/a.qcow2", false, 8 * MIB), ERR_OK);
	ck_assert(w.kept); /* what is there is somebody's */
	shell("test \"$(head -c 7 pvc/shop/db/disk.img)\" = written");
	shell("test \"$(stat -c %s pvc/shop/db/disk.img)\" = 8388608");
}
END_TEST

/* What a guest wrote into the other claim is no image's header. */
START_TEST(test_it_is_copied_as_it_is)
{
	shell("mkdir -p pvc/shop/from; echo secret >secret");
	shell("qemu-img create -q -f qcow2 -F raw -b \"$PWD/secret\" pvc/shop/from/disk.img 9M");
	shell("truncate -s 2M pvc/shop/from/disk.img");
	ck_assert_msg(fill("pvc/shop/from/disk.img", true, 2 * MIB) == ERR_OK, "%s", w.err.msg);
	shell("cmp pvc/shop/from/disk.img pvc/shop/db/disk.img");
}
END_TEST

START_TEST(test_an_empty_one_may_have_all_its_blocks)
{
	struct stat st;

	ck_assert_msg(fill(NULL, false, MIB) == ERR_OK, "%s", w.err.msg);
	ck_assert_int_eq(stat(w.file, &st), 0);
	ck_assert_int_eq(st.st_size, MIB);
	ck_assert_int_ge(st.st_blocks * 512, MIB);
}
END_TEST

/* clang-format off */
static const struct { const char *made; const char *base; bool claimed; enum err_code code; const char *words; } unfilled[] = {
	{ "true", "images/a", false, ERR_NOT_FOUND, "images/a" },
	{ "truncate -s 3M images/a", "images/a", false, ERR_INVALID, "a larger one is required" },
	{ "qemu-img create -q -f qcow2 images/a 3M", "images/a", false, ERR_INVALID, "has 3145728 bytes" },
	{ "echo x >secret; ln -s ../secret images/a", "images/a", false, ERR_FORBIDDEN, "imageRoots" },
	{ "echo x >secret; qemu-img create -q -f qcow2 -F raw -b \"$PWD/secret\" images/a 1M", "images/a", false, ERR_INVALID, "refers to another file" },
	{ "qemu-img create -q -f qcow2 images/a 1M; printf '\\377\\377\\377\\377' | dd of=images/a bs=1 seek=40 conv=notrunc status=none", "images/a", false, ERR_IO, "qemu-img" },
	{ "ln -s /etc/passwd pvc-link", "pvc-link", true, ERR_INVALID, "is no file" },
	{ "true", "pvc/shop/from/disk.img", true, ERR_NOT_FOUND, "from/disk.img" },
};
/* clang-format on */

START_TEST(test_no_half_of_one_is_taken_for_it)
{
	shell("mkdir images");
	shell(unfilled[_i].made);
	ck_assert_msg(fill(unfilled[_i].base, unfilled[_i].claimed, 2 * MIB) ==
			(int)unfilled[_i].code,
		"%s: %d %s", unfilled[_i].made, w.err.code, w.err.msg);
	ck_assert_msg(strstr(w.err.msg, unfilled[_i].words), "%s: %s", unfilled[_i].made,
		w.err.msg);
	shell("test ! -e pvc/shop/db/disk.img");
}
END_TEST

/* A folder that somebody put elsewhere is theirs. */
START_TEST(test_what_is_removed_is_no_link)
{
	shell("mkdir -p pvc/shop outside; touch outside/kept; ln -s ../../outside pvc/shop/db");
	ck_assert_int_eq(drop(), ERR_IO);
	ck_assert_msg(strstr(w.err.msg, "the claim's folder"), "%s", w.err.msg);
	shell("test -e outside/kept");
	shell("rm -r pvc/shop; mkdir outside/db; mv outside/kept outside/db; ln -s ../outside pvc/shop");
	ck_assert_int_eq(drop(), ERR_IO);
	shell("test -e outside/db/kept");
}
END_TEST

Suite *test_claim_file_suite(void)
{
	Suite *suite = suite_create("files of claims");
	TCase *tcase = tcase_create("files of claims");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_it_is_made_once_and_grows);
	tcase_add_test(tcase, test_a_folder_of_it);
	tcase_add_test(tcase, test_a_folder_that_is_a_link);
	tcase_add_test(tcase, test_an_overlay_takes_it_for_raw);
	tcase_add_test(tcase, test_it_is_removed_with_its_folder);
	tcase_add_loop_test(tcase, test_no_link_leads_out, 0, ARRAY_SIZE(bad));
	tcase_add_loop_test(tcase, test_a_shared_one_is_there, 0, ARRAY_SIZE(shared));
	tcase_add_test(tcase, test_what_is_removed_is_no_link);
	tcase_add_test(tcase, test_it_is_filled_once);
	tcase_add_test(tcase, test_it_is_copied_as_it_is);
	tcase_add_test(tcase, test_an_empty_one_may_have_all_its_blocks);
	tcase_add_loop_test(tcase, test_no_half_of_one_is_taken_for_it, 0, ARRAY_SIZE(unfilled));
	suite_add_tcase(suite, tcase);
	return suite;
}
