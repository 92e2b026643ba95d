/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the logs lie, and their last bytes. What they mean is core/qemu_output.c's.
 */
#include "io/qemu_log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/qemu_output.h"

#define SYSTEM_FOLDER "/var/log/libvirt/qemu"

struct qemu_log {
	uv_loop_t *loop; /* borrowed */
	char *folder;    /* owned or NULL */
	struct hv_sink sink;
	size_t busy;
};

struct reading {
	struct qemu_log *log;
	uv_work_t work;
	struct op op; /* owned copy */
	char *words;  /* owned or NULL */
};

/* ---- where ----------------------------------------------------------------------------------- */

static char *session_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache)
		return xasprintf("%s/libvirt/qemu/log", cache);
	return home ? xasprintf("%s/.cache/libvirt/qemu/log", home) : NULL;
}

char *qemu_log_folder(const char *uri)
{
	static const char embed[] = "qemu:///embed?root=";
	const char *path;

	if (starts_with(uri, embed))
		return xasprintf("%s/log/qemu", uri + strlen(embed));
	if (!starts_with(uri, "qemu:///") && !starts_with(uri, "qemu+unix:///"))
		return NULL; /* another driver, or another host */
	path = strstr(uri, ":///") + 4;
	if (starts_with(path, "system"))
		return xstrdup(SYSTEM_FOLDER);
	return starts_with(path, "session") ? session_folder() : NULL;
}

/* ---- reading: on the pool -------------------------------------------------------------------- */

static msec written_at(const struct stat *st)
{
	return SECONDS(st->st_mtim.tv_sec) + st->st_mtim.tv_nsec / 1000000;
}

static char *words_in(int fd, msec since)
{
	char text[QEMU_LOG_TAIL];
	struct qemu_log_tail tail = { .text = text, .since = since };
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	tail.cut = st.st_size > QEMU_LOG_TAIL;
	tail.written = written_at(&st);
	got = pread(fd, text, sizeof(text), tail.cut ? st.st_size - QEMU_LOG_TAIL : 0);
	if (got <= 0)
		return NULL;
	tail.len = (size_t)got;
	return qemu_output(&tail);
}

static void on_read(uv_work_t *work)
{
	struct reading *r = work->data;
	autofree char *path = NULL;
	int fd;

	if (!r->log->folder)
		return;
	path = xasprintf("%s/%s.log", r->log->folder, r->op.domain);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	r->words = words_in(fd, r->op.since);
	close(fd);
}

static void after_read(uv_work_t *work, int status)
{
	struct reading *r = work->data;
	struct qemu_log *log = r->log;
	struct op_result result = { .id = r->op.id, .kind = r->op.kind, .words = r->words };

	(void)status;
	log->busy--;
	log->sink.result(log->sink.ctx, &result);
	op_result_done(&result);
	op_done(&r->op);
	free(r);
}

/* ---- lifetime -------------------------------------------------------------------------------- */

void qemu_log_submit(struct qemu_log *log, const struct op *op)
{
	struct reading *r = xcalloc(1, sizeof(*r));

	r->log = log;
	r->work.data = r;
	op_copy(&r->op, op);
	log->busy++;
	uv_queue_work(log->loop, &r->work, on_read, after_read);
}

struct qemu_log *qemu_log_new(uv_loop_t *loop, const char *uri, struct hv_sink sink)
{
	struct qemu_log *log = xcalloc(1, sizeof(*log));

	log->loop = loop;
	log->folder = qemu_log_folder(uri);
	log->sink = sink;
	return log;
}

size_t qemu_log_busy(const struct qemu_log *log)
{
	return log->busy;
}

void qemu_log_free(struct qemu_log *log)
{
	free(log->folder);
	free(log);
}
