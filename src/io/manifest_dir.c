/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches the manifest folder with inotify (which says when a writer has closed a file; libuv's own
 * watcher does not) and decides when to make a batch of what changed. It owns the watch and one
 * timer, and must not know what a manifest is.
 *
 * A batch waits until the folder is quiet: shortly after whole files, longer after removals, so
 * that `rm *.yaml`, a rename and an editor's replacing each arrive as one. A folder that is removed
 * with its files is then told as missing, not as so many removals.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>
#include "io/manifest_dir_private.h"

#define CHANGED          (IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_ATTRIB)
#define REMOVED          (IN_MOVED_FROM | IN_DELETE)
#define FOLDER_GONE      (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)
#define READS_PER_WAKEUP 64 /* of events, before the loop gets its turn */

enum scan { SCAN_NO, SCAN_CHANGES, SCAN_COMPLETE };

struct manifest_dir {
	uv_poll_t poll;
	uv_timer_t timer;
	int handles; /* not closed yet */
	char *path;  /* owned */
	struct folder_sink sink;
	int inotify;    /* -1: none to be had */
	int watch;      /* -1: the folder is not watched */
	char *missing;  /* owned; why the folder was told missing, NULL: it is there */
	enum scan scan; /* what the next batch needs */
	bool settle;    /* it waits longer */
	bool waiting;   /* the timer runs for a batch */
	uint64_t first; /* loop time of its first event */
	struct entries entries;
};

static void on_timer(uv_timer_t *timer);

/* Something happened: a batch comes when it has been quiet for a while. */
static void expect_batch(struct manifest_dir *dir, bool settle)
{
	uint64_t now = uv_now(dir->timer.loop), quiet;

	if (!dir->waiting)
		dir->first = now;
	dir->waiting = true;
	dir->settle |= settle;
	quiet = dir->settle ? FOLDER_SETTLE_MS : FOLDER_BATCH_MS;
	uv_timer_start(&dir->timer, on_timer,
		MIN(quiet, dir->first + FOLDER_DELAY_MS - MIN(now, dir->first + FOLDER_DELAY_MS)),
		0);
}

static void need_scan(struct manifest_dir *dir, enum scan scan, bool settle)
{
	dir->scan = MAX(dir->scan, scan);
	expect_batch(dir, settle);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void on_file(struct manifest_dir *dir, const char *name, uint32_t mask)
{
	struct entry *entry;

	if (starts_with(name, "..")) { /* ..data: where kubelet's links lead */
		need_scan(dir, SCAN_CHANGES, false);
		return;
	}
	if (!manifest_name(name))
		return;
	entry = entries_at(&dir->entries, name);
	if (!entry)
		return;
	if (mask & REMOVED)
		entry->whole = false;
	else if (mask & (IN_CLOSE_WRITE | IN_MOVED_TO))
		entry->whole = true;
	entry->pending = mask & REMOVED ? PENDING_SETTLE : PENDING_SOON;
	expect_batch(dir, mask & REMOVED);
}

static void on_event(struct manifest_dir *dir, const struct inotify_event *event)
{
	if (event->mask & IN_Q_OVERFLOW) {
		need_scan(dir, SCAN_COMPLETE, true);
	} else if (event->wd != dir->watch) {
		return; /* of a folder that was here before */
	} else if (event->mask & FOLDER_GONE) {
		if (!(event->mask & IN_IGNORED))
			inotify_rm_watch(dir->inotify, dir->watch);
		dir->watch = -1;
		need_scan(dir, SCAN_COMPLETE, true);
	} else if (!event->len) {
		need_scan(dir, SCAN_CHANGES, true); /* the folder's own mode changed */
	} else if (event->mask & (CHANGED | REMOVED)) {
		on_file(dir, event->name, event->mask);
	}
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct manifest_dir *dir = poll->data;
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	(void)events;
	for (int i = 0; status == 0 && i < READS_PER_WAKEUP; i++) {
		ssize_t n = read(dir->inotify, buffer, sizeof(buffer));

		if (n <= 0)
			return;
		for (char *at = buffer; at < buffer + n;) {
			const struct inotify_event *event =
				(const struct inotify_event *)(void *)at;

			on_event(dir, event);
			at += sizeof(*event) + event->len;
		}
	}
}

/* ---- batches --------------------------------------------------------------------------------- */

/* The open folder, watched; -1 and errno when it is not to be had. A folder that was replaced gets
 * a watch of another number. */
static int open_folder(struct manifest_dir *dir)
{
	int folder = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), watch;

	if (folder < 0 || dir->inotify < 0)
		return folder;
	watch = inotify_add_watch(dir->inotify, dir->path,
		CHANGED | REMOVED | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
	if (dir->watch >= 0 && watch != dir->watch) {
		inotify_rm_watch(dir->inotify, dir->watch);
		dir->scan = SCAN_COMPLETE;
	}
	dir->watch = watch;
	return folder;
}

/* Said once for each reason. Whatever was waiting is void: what comes back is scanned whole. */
static void tell_missing(struct manifest_dir *dir, int why)
{
	autofree char *words = xasprintf("cannot read folder '%s': %s", dir->path, strerror(why));
	struct folder_input input = { .missing = true, .why = words };
	bool known = streq(dir->missing, words);

	dir->scan = SCAN_COMPLETE;
	for (size_t i = 0; i < dir->entries.n; i++)
		dir->entries.list[i].pending = PENDING_NO;
	if (known)
		return;
	replace_str(&dir->missing, words);
	dir->sink.batch(dir->sink.ctx, &input);
}

static void tell_batch(struct manifest_dir *dir, int folder)
{
	bool complete = dir->scan == SCAN_COMPLETE;
	struct batch batch = { 0 };

	if (dir->scan != SCAN_NO && entries_scan(&dir->entries, folder, complete)) {
		tell_missing(dir, errno);
		return;
	}
	dir->scan = SCAN_NO;
	replace_str(&dir->missing, NULL);
	entries_tell(&dir->entries, folder, complete, &batch);
	if (complete || batch.n) {
		struct folder_input input = { .complete = complete,
			.files = batch.files,
			.n_files = batch.n };

		dir->sink.batch(dir->sink.ctx, &input);
	}
	batch_done(&batch);
}

/* A batch is due, or it is time to look whether something changed without an event. */
static void on_timer(uv_timer_t *timer)
{
	struct manifest_dir *dir = timer->data;
	int folder;

	if (!dir->waiting)
		dir->scan = MAX(dir->scan, SCAN_CHANGES);
	dir->waiting = dir->settle = false;
	folder = open_folder(dir);
	if (folder < 0)
		tell_missing(dir, errno);
	else
		tell_batch(dir, folder);
	if (folder >= 0)
		close(folder);
	if (entries_pending(&dir->entries))
		expect_batch(dir, true);
	else if (dir->missing || dir->watch < 0 || entries_links(&dir->entries))
		uv_timer_start(timer, on_timer, FOLDER_POLL_MS, 0);
}

/* ---- life ------------------------------------------------------------------------------------ */

struct manifest_dir *manifest_dir_new(uv_loop_t *loop, const char *path,
	const struct folder_sink *sink)
{
	struct manifest_dir *dir = xcalloc(1, sizeof(*dir));

	dir->path = xstrdup(path);
	dir->sink = *sink;
	dir->scan = SCAN_COMPLETE;
	dir->watch = -1;
	dir->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	dir->timer.data = dir->poll.data = dir;
	uv_timer_init(loop, &dir->timer);
	dir->handles = 1;
	if (dir->inotify >= 0 && uv_poll_init(loop, &dir->poll, dir->inotify) == 0) {
		dir->handles++;
		uv_poll_start(&dir->poll, UV_READABLE, on_readable);
	} else if (dir->inotify >= 0) {
		close(dir->inotify);
		dir->inotify = -1;
	}
	dir->waiting = true;
	uv_timer_start(&dir->timer, on_timer, 0, 0);
	return dir;
}

void manifest_dir_rescan(struct manifest_dir *dir)
{
	need_scan(dir, SCAN_CHANGES, false);
}

static void on_closed(uv_handle_t *handle)
{
	struct manifest_dir *dir = handle->data;

	if (--dir->handles)
		return;
	if (dir->inotify >= 0)
		close(dir->inotify);
	entries_done(&dir->entries);
	free(dir->missing);
	free(dir->path);
	free(dir);
}

void manifest_dir_close(struct manifest_dir *dir)
{
	if (!dir)
		return;
	if (dir->inotify >= 0)
		uv_close((uv_handle_t *)&dir->poll, on_closed);
	uv_close((uv_handle_t *)&dir->timer, on_closed);
}
