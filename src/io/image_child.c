/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qemu-img, and xorriso for media, as a child: with explicit formats, limits of its own, and a
 * signal that ends it when the agent dies. What it says on stderr goes into the error.
 */
#include <signal.h>
#include <string.h>

#include "io/image_private.h"

struct child { /* a job's data while qemu-img runs */
	struct job *job;
	void (*done)(struct job *job);
};

#define QEMU_IMG "qemu-img"
#define XORRISO  "xorriso"

static const char *tool_of(const struct volume_work *work)
{
	return work->kind == VOLUME_WORK_MEDIUM ? XORRISO : QEMU_IMG;
}

static void child_done(struct child *child)
{
	struct job *job = child->job;
	const struct volume_work *work = &job->op.work[job->next];
	void (*done)(struct job * job) = child->done;

	free(child);
	if (job->status != 0 && job->err.code == ERR_OK)
		err_set(&job->err, strstr(job->tail, "No space left") ? ERR_NO_SPACE : ERR_IO,
			"volume '%s': %s cannot make '%s': %s", work->volume, tool_of(work),
			work->target,
			job->n_tail ? job->tail : "it was ended by a signal or a limit");
	job->next++;
	done(job);
}

static void on_closed(uv_handle_t *handle)
{
	struct child *child = handle->data;

	if (--child->job->open == 0)
		child_done(child);
}

static void on_child_exit(uv_process_t *process, int64_t status, int signal)
{
	struct child *child = process->data;

	child->job->status = status ? status : signal;
	uv_close((uv_handle_t *)process, on_closed);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	(void)suggested;
	*buf = uv_buf_init(xcalloc(1, CHILD_WORDS_MAX), CHILD_WORDS_MAX);
	(void)handle;
}

/* The first line says most; what comes after it, and what is too long, is dropped. */
static void keep_words(struct job *job, const char *data, size_t len)
{
	size_t room = CHILD_WORDS_MAX - job->n_tail;

	if (job->line_ended)
		return;
	memcpy(job->tail + job->n_tail, data, MIN(len, room));
	job->tail[job->n_tail + MIN(len, room)] = '\0';
	job->line_ended = strchr(job->tail, '\n') != NULL;
	job->n_tail = strcspn(job->tail, "\n");
	job->tail[job->n_tail] = '\0';
}

static void on_words(uv_stream_t *stream, ssize_t len, const uv_buf_t *buf)
{
	struct child *child = stream->data;

	if (len > 0)
		keep_words(child->job, buf->base, (size_t)len);
	else if (len < 0)
		uv_close((uv_handle_t *)stream, on_closed);
	free(buf->base);
}

static void spawn_failed(struct child *child, int error)
{
	struct job *job = child->job;
	const struct volume_work *work = &job->op.work[job->next];

	err_set(&job->err, error == UV_ENOENT ? ERR_NOT_FOUND : ERR_IO,
		"volume '%s': %s cannot be started: %s", work->volume, tool_of(work),
		uv_strerror(error));
	uv_close((uv_handle_t *)&job->child, on_closed);
	uv_close((uv_handle_t *)&job->words, on_closed);
}

static int spawn(struct child *child, char **args)
{
	struct job *job = child->job;
	uv_stdio_container_t stdio[3] = {
		{ .flags = UV_IGNORE },
		{ .flags = UV_IGNORE },
		{ .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE,
			.data.stream = (uv_stream_t *)&job->words },
	};
	uv_process_options_t options = { .exit_cb = on_child_exit,
		.file = args[0],
		.args = args,
		.stdio_count = 3,
		.stdio = stdio };

	return uv_spawn(job->image->loop, &job->child, &options);
}

#define LIMITED(cpu) \
	"prlimit", "--as=" IMAGE_CHILD_MEMORY, "--cpu=" cpu, "setpriv", "--pdeathsig", "KILL"
#define LIMITS   LIMITED(IMAGE_CHILD_CPU)
#define COPY     LIMITED(IMAGE_FILL_CPU), QEMU_IMG, "convert", "-q", "-O", "raw"
#define QCOW2    LIMITS, QEMU_IMG, "create", "-q", "-f", "qcow2"
/* Of the same files there is the same medium, to the byte, wherever and whenever it is made. */
#define ISO_TIME "2001010100000000"
#define ISO                                                                                 \
	LIMITS, XORRISO, "-no_rc", "-as", "mkisofs", "-quiet", "-joliet", "-rational-rock", \
		"--modification-date=" ISO_TIME, "--set_all_file_dates", ISO_TIME

static int spawn_work(struct child *child)
{
	struct job *job = child->job;
	const struct volume_work *work = &job->op.work[job->next];
	autofree char *tmp = work_tmp(work), *stage = work_stage(work), *capacity = NULL;
	char *format = (char *)job->formats[job->next];

	capacity = xasprintf("%lld", (long long)work->capacity);
	if (work->kind == VOLUME_WORK_OVERLAY)
		return spawn(child, (char *[]){ QCOW2, "-F", format, "-b", work->link, tmp, NULL });
	if (work->kind == VOLUME_WORK_EMPTY)
		return spawn(child, (char *[]){ QCOW2, tmp, capacity, NULL });
	if (work->kind == VOLUME_WORK_FILL) /* link: what was found to be copied */
		return spawn(child, (char *[]){ COPY, "-f", format, work->link, tmp, NULL });
	return spawn(child, (char *[]){ ISO, "-volid", work->label, "-output", tmp, stage, NULL });
}

void image_child(struct job *job, void (*done)(struct job *job))
{
	struct child *child = xcalloc(1, sizeof(*child));
	int error;

	*child = (struct child){ job, done };
	job->status = 0;
	job->n_tail = 0;
	job->tail[0] = '\0';
	job->line_ended = false;
	job->open = 2;
	uv_pipe_init(job->image->loop, &job->words, 0);
	job->words.data = job->child.data = child;
	error = spawn_work(child);
	job->words.data = job->child.data = child;
	if (error < 0)
		spawn_failed(child, error);
	else
		uv_read_start((uv_stream_t *)&job->words, on_room, on_words);
}
