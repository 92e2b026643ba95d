/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The course of an op: PREPARE is checked on the pool, then qemu-img makes one image after the
 * other, then the pool gives them their names; all others are one piece of work on the pool.
 */
#include "io/image_private.h"

#include <string.h>

static void job_answer(struct job *job)
{
	struct image *image = job->image;
	struct op_result result = { .id = job->op.id,
		.kind = job->op.kind,
		.err = job->err,
		.text = job->kept ? job->op.work[0].target : job->text };

	image->busy--;
	image->sink.result(image->sink.ctx, &result);
	op_done(&job->op);
	free(job->formats);
	free(job->text);
	free(job);
}

static void on_finish(uv_work_t *work)
{
	image_finish(work->data);
}

static void after_finish(uv_work_t *work, int status)
{
	(void)status;
	job_answer(work->data);
}

static void make_next(struct job *job)
{
	while (job->next < job->op.n_work && !work_needs_child(&job->op.work[job->next]))
		job->next++;
	if (job->err.code == ERR_OK && job->next < job->op.n_work)
		image_child(job, make_next);
	else if (job->err.code == ERR_OK)
		uv_queue_work(job->image->loop, &job->work, on_finish, after_finish);
	else
		job_answer(job);
}

static void on_check(uv_work_t *work)
{
	image_check(work->data);
}

static void after_check(uv_work_t *work, int status)
{
	(void)status;
	make_next(work->data);
}

static void on_clean(uv_work_t *work)
{
	image_clean(work->data);
}

static void on_look(uv_work_t *work)
{
	image_look(work->data);
}

static void on_read_nvram(uv_work_t *work)
{
	image_read_nvram(work->data);
}

static void on_write_nvram(uv_work_t *work)
{
	image_write_nvram(work->data);
}

/* What there is to it. */
static uv_work_cb piece_of(enum op_kind kind)
{
	if (kind == OP_LOOK)
		return on_look;
	if (kind == OP_MIGRATE_READ_NVRAM)
		return on_read_nvram;
	return kind == OP_MIGRATE_WRITE_NVRAM ? on_write_nvram : on_clean;
}

void image_submit(struct image *image, const struct op *op)
{
	struct job *job = xcalloc(1, sizeof(*job));

	job->image = image;
	op_copy(&job->op, op);
	job->formats = xcalloc(op->n_work + 1, sizeof(*job->formats));
	job->work.data = job;
	image->busy++;
	if (op->kind == OP_PREPARE || op->kind == OP_FILL)
		uv_queue_work(image->loop, &job->work, on_check, after_check);
	else
		uv_queue_work(image->loop, &job->work, piece_of(op->kind), after_finish);
}

struct image *image_new(uv_loop_t *loop, const struct image_roots *roots, struct hv_sink sink)
{
	struct image *image = xcalloc(1, sizeof(*image));

	image->loop = loop;
	image->roots = *roots;
	image->sink = sink;
	return image;
}

size_t image_busy(const struct image *image)
{
	return image->busy;
}

void image_free(struct image *image)
{
	free(image);
}
