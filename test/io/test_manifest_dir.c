/* SPDX-License-Identifier: Apache-2.0 */
/* A real folder with a real watch: what arrives, in how many batches, and how soon. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "io/manifest_dir_private.h"

#define DEADLINE_MS 20000 /* for what must come */

static char base[PATH_MAX], folder[PATH_MAX + 16];
static uv_loop_t loop;
static struct manifest_dir *dir;
static struct buf got; /* batches as text, `|` after each */
static int batches;
static uint64_t last_at; /* loop time of the last batch, ns */

/* "complete a.yaml=text b.yaml=gone c.yaml!words|" */
static void on_batch(void *ctx, const struct folder_input *in)
{
	(void)ctx;
	last_at = uv_hrtime();
	batches++;
	if (in->missing)
		buf_puts(&got, "missing");
	if (in->complete)
		buf_puts(&got, "complete");
	for (size_t i = 0; i < in->n_files; i++) {
		const struct folder_doc_file *f = &in->files[i];

		if (in->n_files > 20)
			break;
		buf_printf(&got, " %s", f->name);
		if (f->err)
			buf_printf(&got, "!%s", f->err->msg);
		else if (f->content)
			buf_printf(&got, "=%.*s", f->len > 40 ? 0 : (int)f->len, f->content);
		else
			buf_puts(&got, "=gone");
	}
	if (in->n_files > 20)
		buf_printf(&got, " %zu files, last %s", in->n_files,
			in->files[in->n_files - 1].name);
	buf_puts(&got, "|");
}

static void setup(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(base, sizeof(base), "%s/folder-XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(base));
	snprintf(folder, sizeof(folder), "%s/vms", base);
	ck_assert_int_eq(mkdir(folder, 0755), 0);
	uv_loop_init(&loop);
	dir = NULL;
	batches = 0;
}

static void teardown(void)
{
	autofree char *command = xasprintf("rm -rf '%s'", base);

	manifest_dir_close(dir);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	buf_done(&got);
	ck_assert_int_eq(system(command), 0);
}

static void on_wake(uv_timer_t *timer)
{
	(void)timer;
}

/* Runs the loop until n batches came, or, with n 0, for ms. */
static void run(int n, int ms)
{
	uv_timer_t timer;
	uint64_t end = uv_hrtime() + (uint64_t)ms * 1000000;

	uv_timer_init(&loop, &timer);
	uv_timer_start(&timer, on_wake, 2, 2); /* UV_RUN_ONCE may run a timer and then sleep */
	while (uv_hrtime() < end && (n == 0 || batches < n))
		uv_run(&loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(&loop, UV_RUN_NOWAIT);
}

/* The next batches are exactly these; one too many is found here or by the next expectation. */
static void expect(const char *text)
{
	int n = 0;

	for (const char *c = text; *c; c++)
		n += *c == '|';
	if (n)
		run(n, DEADLINE_MS);
	run(0, n ? 2 * FOLDER_BATCH_MS : FOLDER_SETTLE_MS + 100);
	ck_assert_str_eq(got.data ? got.data : "", text);
	buf_done(&got);
	batches = 0;
}

static void begin(const char *text)
{
	struct folder_sink sink = { NULL, on_batch };

	dir = manifest_dir_new(&loop, folder, &sink);
	ck_assert_int_eq(batches, 0);
	expect(text);
}

static int begin_write(const char *name)
{
	autofree char *path = xasprintf("%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static void put_text(int fd, const char *text)
{
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void put(const char *name, const char *text)
{
	int fd = begin_write(name);

	put_text(fd, text);
	close(fd);
}

static void in_folder(const char *command)
{
	autofree char *line = xasprintf("cd '%s' && %s", folder, command);

	ck_assert_int_eq(system(line), 0);
}

START_TEST(names)
{
	static const char *const good[] = { "a.yaml", "a.yml", "a.json", "a.b.yaml", "A-1_x.yaml",
		"\xc3\xa4.yaml" };
	static const char *const bad[] = { ".a.yaml", "a.yaml~", ".a.yaml.swp", "#a.yaml#",
		"#a.yaml", "a.yaml.dpkg-new", "a.yaml.dpkg-old", "a.yaml.rpmnew", "a.yaml.bak",
		"4913", "a", ".yaml", "yaml", "a.YAML", "a.yaml.tmp", "..data", "a\n.yaml" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_msg(manifest_name(good[i]), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!manifest_name(bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(first_is_complete_then_changes)
{
	put("b.yaml", "2");
	put("a.yaml", "1");
	put("note.txt", "x");
	put("empty.json", "");
	begin("complete a.yaml=1 b.yaml=2 empty.json=|");
	put("a.yaml", "1b");
	expect(" a.yaml=1b|");
	in_folder("rm b.yaml");
	expect(" b.yaml=gone|");
	put("note.txt", "y");
	put(".c.yaml.swp", "y");
	in_folder("touch x.yaml~ && mkdir -p sub");
	expect("");
	in_folder("printf 3 >.tmp && mv .tmp c.yaml");
	expect(" c.yaml=3|");
	in_folder("ln c.yaml d.yaml");
	run(1, DEADLINE_MS);
	ck_assert_ptr_nonnull(strstr(got.data, "d.yaml=3"));
}
END_TEST

START_TEST(empty_folder)
{
	begin("complete|");
}
END_TEST

START_TEST(half_written_files_wait)
{
	int fd;

	begin("complete|");
	fd = begin_write("a.yaml");
	put_text(fd, "half ");
	expect("");
	put("b.yaml", "other"); /* does not wait for it */
	expect(" b.yaml=other|");
	manifest_dir_rescan(dir); /* and a scan knows, too */
	expect("");
	put_text(fd, "whole");
	close(fd);
	expect(" a.yaml=half whole|");
}
END_TEST

START_TEST(a_file_in_the_making_at_the_start)
{
	int fd = begin_write("a.yaml");

	put_text(fd, "half");
	begin("complete a.yaml!file 'a.yaml' is being written|");
	close(fd);
	expect(" a.yaml=half|");
}
END_TEST

START_TEST(removals_and_renames_are_one_batch)
{
	for (int i = 0; i < 10; i++) {
		autofree char *name = xasprintf("%d.yaml", i);

		put(name, "x");
	}
	begin("complete 0.yaml=x 1.yaml=x 2.yaml=x 3.yaml=x 4.yaml=x 5.yaml=x 6.yaml=x 7.yaml=x 8.yaml=x 9.yaml=x|");
	in_folder("mv 0.yaml a.yaml");
	expect(" 0.yaml=gone a.yaml=x|");
	in_folder("for i in 1 2 3 4 5; do rm $i.yaml; sleep 0.05; done");
	expect(" 1.yaml=gone 2.yaml=gone 3.yaml=gone 4.yaml=gone 5.yaml=gone|");
	in_folder("mv a.yaml a.yaml~ && printf new >a.yaml"); /* as vim saves */
	expect(" a.yaml=new|");
	in_folder("rm 6.yaml && printf again >6.yaml");
	expect(" 6.yaml=again|");
	in_folder("touch b.yaml && rm b.yaml");
	expect("");
}
END_TEST

START_TEST(folder_missing_and_back)
{
	in_folder("rmdir ../vms");
	begin("missing|");
	run(0, FOLDER_POLL_MS + 200);
	ck_assert_int_eq(batches, 0);
	mkdir(folder, 0755);
	put("a.yaml", "1");
	expect("complete a.yaml=1|");
	put("a.yaml", "2");
	expect(" a.yaml=2|");
	in_folder("rm -rf ../vms"); /* the files first: yet no removals */
	expect("missing|");
	mkdir(folder, 0755);
	put("b.yaml", "1");
	expect("complete b.yaml=1|");
	in_folder("mv ../vms ../old && mkdir ../vms && printf 9 >../vms/c.yaml");
	expect("complete c.yaml=9|");
	put("c.yaml", "10");
	expect(" c.yaml=10|");
}
END_TEST

/* Another folder at the same path, which no event of the old one tells. */
START_TEST(folder_replaced_unseen)
{
	autofree char *aside = xasprintf("%s-aside", base);
	autofree char *command = xasprintf("mv '%s' '%s' && mkdir -p '%s'", base, aside, folder);
	autofree char *removal = xasprintf("rm -rf '%s'", aside);

	put("a.yaml", "1");
	put("b.yaml", "1");
	begin("complete a.yaml=1 b.yaml=1|");
	ck_assert_int_eq(system(command), 0);
	put("b.yaml", "2");
	manifest_dir_rescan(dir);
	expect("complete b.yaml=2|");
	put("b.yaml", "3");
	expect(" b.yaml=3|");
	ck_assert_int_eq(system(removal), 0);
}
END_TEST

/* Without inotify the folder is looked at now and then. */
START_TEST(limits_of_the_system)
{
	struct folder_sink sink = { NULL, on_batch };
	struct rlimit old, none = { 0 };

	put("a.yaml", "1");
	put("b.yaml", "1");
	getrlimit(RLIMIT_NOFILE, &old);
	none.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_NOFILE, &none);
	dir = manifest_dir_new(&loop, folder, &sink);
	setrlimit(RLIMIT_NOFILE, &old);
	expect("complete a.yaml=1 b.yaml=1|");
	put("a.yaml", "2");
	expect(" a.yaml=2|");
	in_folder("rm b.yaml");
	expect(" b.yaml=gone|");
}
END_TEST

START_TEST(not_a_folder)
{
	in_folder("rmdir ../vms && touch ../vms");
	begin("missing|");
}
END_TEST

START_TEST(kubelet_links)
{
	in_folder("mkdir ..1 ..2 && printf one >..1/a.yaml && printf two >..2/a.yaml");
	in_folder("ln -s ..1 ..data && ln -s ..data/a.yaml a.yaml");
	begin("complete a.yaml=one|");
	in_folder("ln -s ..2 ..data_tmp && mv -T ..data_tmp ..data && rm -r ..1");
	run(1, FOLDER_POLL_MS / 2); /* told by the event, not found by looking */
	ck_assert_int_eq(batches, 1);
	expect(" a.yaml=two|");
}
END_TEST

START_TEST(links_elsewhere)
{
	in_folder("printf out >../out && ln -s ../out a.yaml");
	begin("complete a.yaml=out|");
	in_folder("printf changed >../out");
	expect(" a.yaml=changed|");
	in_folder("rm ../out");
	expect(" a.yaml!cannot open 'a.yaml', a link to '../out': No such file or directory|");
	run(0, FOLDER_POLL_MS + 200); /* said once */
	ck_assert_int_eq(batches, 0);
	in_folder("printf back >../out");
	expect(" a.yaml=back|");
}
END_TEST

START_TEST(bad_files_disturb_nothing)
{
	in_folder(
		"mkfifo a.yaml && mkdir b.yaml && ln -s c.yaml c.yaml && head -c 1048577 /dev/zero >d.yaml");
	in_folder("head -c 1048576 /dev/zero >e.yaml; printf good >f.yaml");
	begin("complete a.yaml!'a.yaml' is not a regular file b.yaml!'b.yaml' is not a regular file"
	      " c.yaml!cannot open 'c.yaml', a link to 'c.yaml': Too many levels of symbolic links"
	      " d.yaml!file 'd.yaml' is larger than 1048576 bytes e.yaml= f.yaml=good|");
	in_folder("rm d.yaml");
	expect(" d.yaml=gone|");
}
END_TEST

START_TEST(too_many_files)
{
	in_folder("seq -f 'n%05g.yaml' 4160 | xargs touch");
	begin("complete 4160 files, last n04160.yaml|");
	put("a.yaml", "x");
	expect(""); /* not even room to name it */
	in_folder("rm n00001.yaml");
	run(1, DEADLINE_MS);
	run(0, 2 * FOLDER_SETTLE_MS + 300);
	/* the first of the surplus has its place now, the others are told again */
	ck_assert_ptr_nonnull(strstr(got.data, " n00001.yaml=gone|"));
	ck_assert_ptr_nonnull(strstr(got.data, " 64 files, last n04160.yaml|"));
}
END_TEST

START_TEST(surplus_is_an_error_each)
{
	in_folder("seq -f 'n%05g.yaml' 4095 | xargs touch");
	begin("complete 4095 files, last n04095.yaml|");
	put("x1.yaml", "x");
	expect(" x1.yaml=x|");
	put("x2.yaml", "x");
	expect(" x2.yaml!file 'x2.yaml' is left out: there are more than 4096|");
	put("x1.yaml", "y");
	expect(" x1.yaml=y|");
	in_folder("rm x1.yaml");
	expect(" x1.yaml=gone| x2.yaml=x|");
}
END_TEST

START_TEST(lost_events_mean_a_complete_batch)
{
	put("a.yaml", "1");
	put("z.yaml", "1");
	begin("complete a.yaml=1 z.yaml=1|");
	in_folder(
		"rm a.yaml; n=$(($(cat /proc/sys/fs/inotify/max_queued_events) * 6 / 10)); while [ $n -ge 0 ]; do : >.f; : >.g; n=$((n-1)); done");
	expect("complete z.yaml=1|");
}
END_TEST

START_TEST(unreadable)
{
	if (geteuid() == 0)
		return; /* root reads everything */
	put("a.yaml", "1");
	in_folder("chmod 0 a.yaml");
	begin("complete a.yaml!cannot open 'a.yaml': Permission denied|");
	in_folder("chmod 644 a.yaml");
	expect(" a.yaml=1|");
	in_folder("chmod 0 .");
	expect("missing|");
	chmod(folder, 0755);
	expect("complete a.yaml=1|");
}
END_TEST

/* From close() to the batch: the window and little more. */
START_TEST(soon)
{
	uint64_t took[21];

	begin("complete|");
	for (int i = 0; i < 21; i++) {
		uint64_t from;

		put("a.yaml", "kind: x");
		from = uv_hrtime();
		batches = 0;
		run(1, DEADLINE_MS);
		took[i] = last_at - from;
		for (int j = i; j > 0 && took[j] < took[j - 1]; j--) {
			uint64_t t = took[j];

			took[j] = took[j - 1];
			took[j - 1] = t;
		}
	}
	if (getenv("V"))
		printf("file closed to batch: median %.1f ms, longest %.1f ms\n",
			(double)took[10] / 1e6, (double)took[20] / 1e6);
	ck_assert_uint_lt(took[10], (uint64_t)FOLDER_SETTLE_MS * 1000000);
}
END_TEST

Suite *test_manifest_dir_suite(void);
Suite *test_manifest_dir_suite(void)
{
	Suite *suite = suite_create("manifest_dir");
	TCase *tc = tcase_create("folder");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, names);
	tcase_add_test(tc, first_is_complete_then_changes);
	tcase_add_test(tc, empty_folder);
	tcase_add_test(tc, half_written_files_wait);
	tcase_add_test(tc, a_file_in_the_making_at_the_start);
	tcase_add_test(tc, removals_and_renames_are_one_batch);
	tcase_add_test(tc, folder_missing_and_back);
	tcase_add_test(tc, folder_replaced_unseen);
	tcase_add_test(tc, limits_of_the_system);
	tcase_add_test(tc, not_a_folder);
	tcase_add_test(tc, kubelet_links);
	tcase_add_test(tc, links_elsewhere);
	tcase_add_test(tc, bad_files_disturb_nothing);
	tcase_add_test(tc, too_many_files);
	tcase_add_test(tc, surplus_is_an_error_each);
	tcase_add_test(tc, lost_events_mean_a_complete_batch);
	tcase_add_test(tc, unreadable);
	tcase_add_test(tc, soon);
	suite_add_tcase(suite, tc);
	return suite;
}
