/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory and on files: windows, reopening, migrations, damage, a full disk, every
 * fault. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "io/store_private.h"

static char folder[PATH_MAX], path[PATH_MAX + 64];
static struct err err;

static void make_folder(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/store-XXXXXX", base ? base : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/agent.db", folder);
}

static void remove_folder(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(folder);
}

/* The name of a file in the folder that contains part, "" if there is none. */
static const char *file_like(const char *part)
{
	static char found[NAME_MAX + 1];
	DIR *dir = opendir(folder);
	struct dirent *entry;

	found[0] = '\0';
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, part) && !found[0])
			copy_str(found, sizeof(found), entry->d_name);
	closedir(dir);
	return found;
}

static struct store *open_store(const char *where)
{
	struct store *store = NULL;

	ck_assert_msg(store_open(where, &store, &err) == 0, "%s", err.msg);
	return store;
}

static int put(struct store *store, enum object_kind kind, const char *name, const char *labels)
{
	autofree char *object = xasprintf("{\"metadata\":{\"name\":\"%s\"}}", name);
	struct object_row row = { kind, "default", name, "uid-1", store_next_rv(store), object,
		labels, "{}" };

	return store_put(store, &row, &err);
}

static void put_all(struct store *store, enum object_kind kind, int from, int to)
{
	ck_assert_int_eq(store_begin(store, &err), 0);
	for (int i = from; i < to; i++) {
		autofree char *name = xasprintf("n%06d", i);

		ck_assert_msg(put(store, kind, name, NULL) == 0, "%s", err.msg);
	}
	ck_assert_msg(store_commit(store, &err) == 0, "%s", err.msg);
}

static int drop(struct store *store, enum object_kind kind, const char *name)
{
	struct object_row row = { kind, "default", name, "uid-1", store_next_rv(store),
		"{\"gone\":1}", NULL, NULL };

	return store_remove(store, &row, &err);
}

static int print_change(void *ctx, const struct change_row *row)
{
	buf_printf(ctx, "%lld %s %s/%s %s;", (long long)row->rv, row->type, row->ns, row->name,
		row->labels_before ? row->labels_before : "-");
	return 0;
}

static int print_object(void *ctx, const struct object_row *row)
{
	buf_printf(ctx, "%s/%s %lld %s %s;", row->ns, row->name, (long long)row->rv,
		row->labels ? row->labels : "-", row->state ? row->state : "-");
	return 0;
}

static int count_object(void *ctx, const struct object_row *row)
{
	(void)row;
	++*(int *)ctx;
	return 0;
}

static int count_objects(struct store *store, enum object_kind kind)
{
	struct object_query query = { kind, NULL, NULL };
	int n = 0;

	ck_assert_int_eq(store_each(store, &query, count_object, &n, &err), 0);
	return n;
}

static void expect_changes(struct store *store, struct change_query query, const char *expected)
{
	struct buf got = { 0 };

	ck_assert_msg(store_changes(store, &query, print_change, &got, &err) == 0, "%s", err.msg);
	ck_assert_str_eq(got.data ? got.data : "", expected);
	buf_done(&got);
}

static void expect_objects(struct store *store, struct object_query query, const char *expected)
{
	struct buf got = { 0 };

	ck_assert_int_eq(store_each(store, &query, print_object, &got, &err), 0);
	ck_assert_str_eq(got.data ? got.data : "", expected);
	buf_done(&got);
}

START_TEST(objects_and_changes)
{
	struct store *store = open_store(":memory:");

	ck_assert_int_eq(store_begin(store, &err), 0);
	ck_assert_int_eq(put(store, KIND_VM, "b", "{\"a\":\"1\"}"), 0);
	ck_assert_int_eq(put(store, KIND_VM, "a", NULL), 0);
	ck_assert_int_eq(put(store, KIND_VMI, "b", NULL), 0);
	ck_assert_int_eq(put(store, KIND_VM, "b", "{\"a\":\"2\"}"), 0);
	ck_assert_int_eq(drop(store, KIND_VM, "b"), 0);
	ck_assert_int_eq(drop(store, KIND_VM, "never-was"), 0);
	ck_assert_int_eq(store_current_rv(store), 0);
	ck_assert_int_eq(store_commit(store, &err), 0);
	ck_assert_int_eq(store_current_rv(store), 6);

	expect_changes(store, (struct change_query){ KIND_VM, NULL, 0, 100 },
		"1 ADDED default/b -;2 ADDED default/a -;4 MODIFIED default/b {\"a\":\"1\"};"
		"5 DELETED default/b {\"a\":\"2\"};");
	expect_changes(store, (struct change_query){ KIND_VM, "default", 2, 1 },
		"4 MODIFIED default/b {\"a\":\"1\"};");
	expect_changes(store, (struct change_query){ KIND_VM, "other", 0, 100 }, "");
	expect_changes(store, (struct change_query){ KIND_VM, NULL, 6, 100 }, "");
	expect_objects(store, (struct object_query){ KIND_VM, NULL, NULL }, "default/a 2 - {};");
	expect_objects(store, (struct object_query){ KIND_VMI, "default", NULL },
		"default/b 3 - {};");
	expect_objects(store, (struct object_query){ KIND_VMI, NULL, "b" }, "default/b 3 - {};");
	expect_objects(store, (struct object_query){ KIND_VMI, "default", "b" },
		"default/b 3 - {};");
	expect_objects(store, (struct object_query){ KIND_VMI, "other", "b" }, "");
	store_close(store);
}
END_TEST

static int stop_at_once(void *ctx, const struct object_row *row)
{
	(void)row;
	++*(int *)ctx;
	return 42;
}

/* Reads the same kind while it is being read. */
static int read_within(void *ctx, const struct object_row *row)
{
	(void)row;
	*(int *)ctx += count_objects(*(struct store **)((char *)ctx + sizeof(void *)), KIND_VM);
	return 0;
}

START_TEST(callbacks_may_end_and_read)
{
	struct {
		int n;
		struct store *store;
	} within = { 0, open_store(":memory:") };
	struct object_query query = { KIND_VM, NULL, NULL };

	put_all(within.store, KIND_VM, 0, 3);
	ck_assert_int_eq(store_each(within.store, &query, stop_at_once, &within.n, &err), 42);
	ck_assert_int_eq(within.n, 1);
	within.n = 0;
	ck_assert_int_eq(store_each(within.store, &query, read_within, &within, &err), 0);
	ck_assert_int_eq(within.n, 9);
	store_close(within.store);
}
END_TEST

START_TEST(counter_outlives_rollback_and_reopening)
{
	struct store *store = open_store(path);

	put_all(store, KIND_VM, 0, 3);
	ck_assert_int_eq(store_begin(store, &err), 0);
	ck_assert_int_eq(put(store, KIND_VM, "x", NULL), 0);
	store_rollback(store);
	ck_assert_int_eq(store_current_rv(store), 3);
	ck_assert_int_eq(count_objects(store, KIND_VM), 3);
	ck_assert_int_eq(store_next_rv(store), 5);
	put_all(store, KIND_VM, 3, 4);
	store_close(store);

	store = open_store(path);
	ck_assert_int_eq(store_current_rv(store), 6);
	ck_assert_int_eq(store_next_rv(store), 7);
	ck_assert_int_eq(count_objects(store, KIND_VM), 4);
	expect_changes(store, (struct change_query){ KIND_VM, NULL, 3, 9 },
		"6 ADDED default/n000003 -;");
	store_close(store);
}
END_TEST

START_TEST(changes_leave_the_window)
{
	struct store *store = open_store(path);
	struct change_query query = { KIND_VM, NULL, 0, 1 };

	put_all(store, KIND_VM, 0, 10);
	for (int i = 0; i < 10; i++)
		put_all(store, KIND_VMI, i * CHANGE_WINDOW / 10, (i + 1) * CHANGE_WINDOW / 10);
	query.since = 9;
	ck_assert_int_eq(store_changes(store, &query, print_change, NULL, &err), -ERR_GONE);
	query.since = 10;
	expect_changes(store, query, "");
	query.kind = KIND_VMI;
	expect_changes(store, query, "11 ADDED default/n000000 -;");
	store_close(store);

	store = open_store(path);
	query.since = 9;
	ck_assert_int_eq(store_changes(store, &query, print_change, NULL, &err), -ERR_GONE);
	put_all(store, KIND_VM, 20, 22);
	query.since = 11;
	ck_assert_int_eq(store_changes(store, &query, print_change, NULL, &err), -ERR_GONE);
	query.since = 12;
	expect_changes(store, query, "13 ADDED default/n000002 -;");
	query.since = store_current_rv(store) + 1; /* of another database */
	ck_assert_int_eq(store_changes(store, &query, print_change, NULL, &err), -ERR_GONE);
	store_close(store);
}
END_TEST

static int keep_object(void *ctx, const struct change_row *row)
{
	buf_puts(ctx, row->object);
	return 0;
}

START_TEST(old_events_go_and_are_seen_to_go)
{
	struct store *store = open_store(":memory:");
	struct change_query query = { KIND_EVENT, NULL, 0, 9 };
	struct buf object = { 0 };
	int64_t before;

	put_all(store, KIND_EVENT, 0, EVENT_WINDOW);
	ck_assert_int_eq(count_objects(store, KIND_EVENT), EVENT_WINDOW);
	before = store_current_rv(store);
	put_all(store, KIND_EVENT, 0, 1); /* again: the youngest now */
	put_all(store, KIND_EVENT, EVENT_WINDOW, EVENT_WINDOW + 1);
	ck_assert_int_eq(count_objects(store, KIND_EVENT), EVENT_WINDOW);
	query.since = before;
	expect_changes(store, query,
		"10001 MODIFIED default/n000000 -;10002 ADDED default/n010000 -;10003 DELETED default/n000001 -;");
	query.since = before + 2;
	ck_assert_int_eq(store_changes(store, &query, keep_object, &object, &err), 0);
	ck_assert_str_eq(object.data,
		"{\"metadata\":{\"name\":\"n000001\",\"resourceVersion\":\"10003\"}}");
	buf_done(&object);
	store_close(store);
}
END_TEST

static int print_provenance(void *ctx, const struct provenance_row *row)
{
	buf_printf(ctx, "%s %s %s/%s %s %s %lld %s;", row->file, object_kind_name(row->kind),
		row->ns, row->name, row->uid, row->base, (long long)row->epoch,
		provenance_name(row->state));
	return 0;
}

START_TEST(provenance_and_values)
{
	struct store *store = open_store(":memory:");
	struct provenance_row row = { "b.yaml", KIND_VM, "default", "x", "u", "{}", 1,
		PROVENANCE_LIVE };
	struct buf got = { 0 };
	char *value;

	ck_assert_int_eq(store_begin(store, &err), 0);
	ck_assert_int_eq(store_put_provenance(store, &row, &err), 0);
	row.file = "a.yaml";
	ck_assert_int_eq(store_put_provenance(store, &row, &err), 0);
	row.state = PROVENANCE_DELETED;
	row.epoch = 2;
	ck_assert_int_eq(store_put_provenance(store, &row, &err), 0);
	row.file = "b.yaml";
	ck_assert_int_eq(store_remove_provenance(store, &row, &err), 0);
	ck_assert_int_eq(store_put_value(store, "k", "1", &err), 0);
	ck_assert_int_eq(store_put_value(store, "k", "2", &err), 0);
	ck_assert_int_eq(store_commit(store, &err), 0);
	ck_assert_int_eq(store_each_provenance(store, print_provenance, &got, &err), 0);
	ck_assert_str_eq(got.data, "a.yaml VirtualMachine default/x u {} 2 deleted;");
	value = store_get_value(store, "k");
	ck_assert_str_eq(value, "2");
	ck_assert_ptr_null(store_get_value(store, "other"));
	free(value);
	buf_done(&got);
	store_close(store);
}
END_TEST

START_TEST(writing_needs_a_transaction)
{
	struct store *store = open_store(":memory:");

	ck_assert_int_eq(put(store, KIND_VM, "a", NULL), -ERR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, "no transaction is open"));
	ck_assert_int_eq(store_commit(store, &err), -ERR_IO);
	store_close(store);
}
END_TEST

START_TEST(file_is_private_and_locked)
{
	struct store *store = open_store(path), *second = NULL;
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert_str_eq(file_like(".ballast"), "agent.db.ballast");
	ck_assert_str_eq(file_like("-shm"), "");
	if (fork() == 0) /* in one process POSIX locks do not bite */
		_exit(store_open(path, &second, &err) == -ERR_IO &&
					strstr(err.msg, "another vmagent")
				? 0
				: 1);
	else {
		int status;

		wait(&status);
		ck_assert_int_eq(status, 0);
	}
	store_close(store);
}
END_TEST

/* ---- faults ---------------------------------------------------------------------------------- */

/* Five writes of its own, then the counter's and the commit. */
static int one_turn(struct store *store)
{
	struct provenance_row row = { "f", KIND_VM, "default", "x", "u", "{}", 1, PROVENANCE_LIVE };
	int rc = store_begin(store, &err);

	if (!rc)
		rc = put(store, KIND_VM, "x", NULL);
	if (!rc)
		rc = store_put_provenance(store, &row, &err);
	if (!rc)
		rc = drop(store, KIND_VM, "n000000");
	if (rc)
		store_rollback(store);
	return rc ? rc : store_commit(store, &err);
}

START_TEST(a_fault_at_every_write)
{
	enum { WRITES = 7 };

	for (unsigned n = 1; n <= WRITES + 1; n++) {
		struct store *store = open_store(":memory:");

		put_all(store, KIND_VM, 0, 2);
		store_fail_after(store, n);
		ck_assert_int_eq(one_turn(store), n <= WRITES ? -ERR_IO : 0);
		if (n <= WRITES) {
			expect_objects(store, (struct object_query){ KIND_VM, NULL, NULL },
				"default/n000000 1 - {};default/n000001 2 - {};");
			ck_assert_int_eq(store_current_rv(store), 2);
			ck_assert_int_eq(one_turn(store), 0); /* the fault comes once */
		}
		ck_assert_int_eq(count_objects(store, KIND_VM), 2);
		store_fail_after(store, 0);
		ck_assert_int_eq(store->now.changes, 4);
		store_close(store);
	}
}
END_TEST

/* One transaction of some rows, about 4 KiB each with their change. */
static bool put_big(struct store *store, int first, int rows)
{
	bool failed = store_begin(store, &err) != 0;

	for (int i = first; !failed && i < first + rows; i++) {
		autofree char *name = xasprintf("n%d", i);
		autofree char *big = xasprintf("{\"x\":\"%02000d\"}", i);
		struct object_row row = { KIND_VM, "default", name, "u", store_next_rv(store), big,
			NULL, NULL };

		failed = store_put(store, &row, &err) != 0;
	}
	if (failed)
		store_rollback(store);
	return !failed && store_commit(store, &err) == 0;
}

/* In a mount namespace of its own, on a file system of 6 MiB. Returns an exit
 * status; 77: not allowed. */
static int fill_the_disk(int rows)
{
	struct store *store = NULL;
	bool released = false, good = true;
	int n = 0;

	if (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("none", folder, "tmpfs", 0, "size=6m"))
		return 77;
	if (store_open(path, &store, &err))
		return 1;
	while (n < 3000 && good) {
		good = put_big(store, n, rows);
		n += good ? rows : 0;
		if (!released && !file_like(".ballast")[0])
			released = good; /* the commit that released it went through */
	}
	if (!released || good || err.code != ERR_NO_SPACE)
		return 2;
	store_close(store);
	if (store_open(path, &store, &err))
		return 3;
	return count_objects(store, KIND_VM) == n ? 0 : 4;
}

START_TEST(the_ballast_makes_room)
{
	int status;

	if (fork() == 0)
		_exit(fill_the_disk(_i ? 230 : 1)); /* 160 overflow the cache before the commit */
	wait(&status);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77)
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* ---- migrations and damage ------------------------------------------------------------------- */

static int open_with(const char *const *schema, struct store **ret_store, bool *ret_unusable)
{
	struct store_source source = { path, schema };

	return store_open_schema(&source, ret_store, ret_unusable, &err);
}

START_TEST(migrations_run_once_and_keep_a_copy)
{
	const char *const two[] = { schema_sql[0], "ALTER TABLE value ADD COLUMN extra TEXT;",
		NULL };
	const char *const three[] = { two[0], two[1],
		"CREATE TABLE more (x TEXT); INSERT INTO nowhere VALUES (1);", NULL };
	struct store *store = open_store(path);
	bool unusable;

	put_all(store, KIND_VM, 0, 3);
	store_close(store);
	ck_assert_str_eq(file_like("before"), "");
	ck_assert_msg(open_with(two, &store, &unusable) == 0, "%s", err.msg);
	ck_assert_int_eq(store_ask_number(store->db, "PRAGMA user_version"), 2);
	ck_assert_int_eq(store_ask_number(store->db, "SELECT count(extra) FROM value"), 0);
	ck_assert_int_eq(count_objects(store, KIND_VM), 3);
	store_close(store);
	ck_assert_str_eq(file_like("before"), "agent.db.before-2");

	ck_assert_int_eq(open_with(three, &store, &unusable), -ERR_IO);
	ck_assert(unusable);
	ck_assert_ptr_nonnull(strstr(err.msg, "migration to schema 3: "));
	ck_assert_str_eq(file_like("before-3"), "agent.db.before-3");
	ck_assert_int_eq(open_with(two, &store, &unusable), 0); /* nothing of it stayed */
	ck_assert_int_eq(store_ask_number(store->db, "SELECT count(*) FROM more"), -1);
	store_close(store);

	ck_assert_int_eq(store_open(path, &store, &err), -ERR_IO); /* newer than the program */
	ck_assert_ptr_nonnull(strstr(err.msg, "has schema 2, this vmagent knows up to 1"));
	snprintf(path, sizeof(path), "%s/agent.db.before-2", folder);
	store = open_store(path);
	ck_assert_int_eq(count_objects(store, KIND_VM), 3);
	store_close(store);
}
END_TEST

static void damage(off_t from, size_t len)
{
	int fd = open(path, O_WRONLY);

	for (size_t i = 0; i < len; i++)
		ck_assert_int_eq(pwrite(fd, "\xa5", 1, from + (off_t)i), 1);
	close(fd);
}

static struct store *rebuild(msec wall, bool lost)
{
	struct now now = { 0, wall };
	struct store *store = NULL;
	struct err why;

	ck_assert_msg(store_open_or_rebuild(path, now, &store, &why, &err) == 0, "%s", err.msg);
	ck_assert_msg((why.code != ERR_OK) == lost, "%s", why.msg);
	return store;
}

START_TEST(a_damaged_file_moves_aside)
{
	static const char *const what[] = { "",
		"SELECT rootpage - 1 FROM sqlite_schema WHERE name = 'object'",
		"SELECT rootpage - 1 FROM sqlite_schema WHERE name = 'provenance'" };
	struct store *store = rebuild(SECONDS(1000), false);
	int64_t rv, page;

	put_all(store, KIND_VM, 0, 500);
	page = _i ? store_ask_number(store->db, what[_i]) : 0;
	rv = store_current_rv(store);
	ck_assert_int_eq(rv, SECONDS(1000) + 500);
	store_close(store);
	damage(page * 4096, 4096);

	store = rebuild(SECONDS(900), true); /* the clock went back */
	ck_assert_int_eq(count_objects(store, KIND_VM), 0);
	ck_assert_str_eq(file_like("broken"), "agent.db.broken-900");
	if (_i) /* where the counter can still be read */
		ck_assert_int_gt(store_current_rv(store), rv);
	store_close(store);

	store = rebuild(SECONDS(2000), true); /* said until a commit has gone through */
	ck_assert_int_eq(store_begin(store, &err), 0);
	store_fail_after(store, 3); /* the commit itself */
	ck_assert_int_eq(store_put_value(store, "k", "v", &err), 0);
	ck_assert_int_eq(store_commit(store, &err), -ERR_IO);
	store_close(store);
	store = rebuild(SECONDS(2000), true);
	put_all(store, KIND_VM, 0, 1);
	store_close(store);
	store_close(rebuild(SECONDS(2000), false));
}
END_TEST

START_TEST(a_lost_file_is_told)
{
	struct store *store = rebuild(SECONDS(1000), false);
	struct change_query query = { KIND_VM, NULL, SECONDS(1000), 9 };

	put_all(store, KIND_VM, 0, 5);
	store_close(store);
	store_close(rebuild(SECONDS(1001), false));
	unlink(path);
	store = rebuild(SECONDS(1002), true);
	ck_assert_int_eq(store_next_rv(store), SECONDS(1002) + 1);
	ck_assert_int_eq(store_changes(store, &query, print_change, NULL, &err), -ERR_GONE);
	store_close(store);
}
END_TEST

START_TEST(trouble_is_not_damage)
{
	const char *const two[] = { schema_sql[0], "SELECT 1;", NULL };
	struct now now = { 0, 1 };
	struct store *store = NULL;
	struct err why;
	bool unusable;

	ck_assert_int_eq(open_with(two, &store, &unusable), 0);
	store_close(store);
	ck_assert_int_eq(store_open_or_rebuild(path, now, &store, &why, &err), -ERR_IO);
	ck_assert_str_eq(file_like("broken"), "");
	snprintf(path, sizeof(path), "%s/missing/agent.db", folder);
	ck_assert_int_eq(store_open_or_rebuild(path, now, &store, &why, &err), -ERR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, "/missing/agent.db': No such file or directory"));
}
END_TEST

Suite *test_store_suite(void);
Suite *test_store_suite(void)
{
	Suite *suite = suite_create("store");
	TCase *memory = tcase_create("memory"), *file = tcase_create("file");

	tcase_set_timeout(memory, 60);
	tcase_set_timeout(file, 60);
	tcase_add_test(memory, objects_and_changes);
	tcase_add_test(memory, callbacks_may_end_and_read);
	tcase_add_test(memory, old_events_go_and_are_seen_to_go);
	tcase_add_test(memory, provenance_and_values);
	tcase_add_test(memory, writing_needs_a_transaction);
	tcase_add_test(memory, a_fault_at_every_write);
	tcase_add_checked_fixture(file, make_folder, remove_folder);
	tcase_add_test(file, counter_outlives_rollback_and_reopening);
	tcase_add_test(file, changes_leave_the_window);
	tcase_add_test(file, file_is_private_and_locked);
	tcase_add_loop_test(file, the_ballast_makes_room, 0, 2);
	tcase_add_test(file, migrations_run_once_and_keep_a_copy);
	tcase_add_loop_test(file, a_damaged_file_moves_aside, 0, 3);
	tcase_add_test(file, a_lost_file_is_told);
	tcase_add_test(file, trouble_is_not_damage);
	suite_add_tcase(suite, memory);
	suite_add_tcase(suite, file);
	return suite;
}
