/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads, a queue of jobs to do for each pool and one of jobs that are done. One mutex guards all
 * of it; the loop hears of finished jobs by uv_async. A worker that hangs in a call harms nobody
 * but its pool: the program ends by _exit() then.
 */
#include "io/virt_workers.h"

#include <pthread.h>
#include <signal.h>

struct queue {
	struct job *first;
	struct job **last; /* where the next is hung in */
	size_t length;
};

struct pool {
	struct workers *workers;
	struct queue todo;
	pthread_cond_t wake;
	pthread_t threads[WORKERS_NORMAL_THREADS];
	size_t n_threads, idle, max;
};

struct workers {
	pthread_mutex_t lock; /* guards all below but async */
	struct pool pools[WORKERS_MAX];
	struct queue finished;
	size_t busy;
	bool stop;
	uv_async_t async;
};

static void queue_init(struct queue *q)
{
	q->first = NULL;
	q->last = &q->first;
	q->length = 0;
}

static void queue_push(struct queue *q, struct job *job)
{
	job->next = NULL;
	*q->last = job;
	q->last = &job->next;
	q->length++;
}

static struct job *queue_pop(struct queue *q)
{
	struct job *job = q->first;

	if (!job)
		return NULL;
	q->first = job->next;
	q->length--;
	if (!q->first)
		q->last = &q->first;
	return job;
}

/* ---- on a worker ----------------------------------------------------------------------------- */

static struct job *next_job(struct pool *pool)
{
	struct workers *w = pool->workers;

	while (!pool->todo.first && !w->stop) {
		pool->idle++;
		pthread_cond_wait(&pool->wake, &w->lock);
		pool->idle--;
	}
	return w->stop ? NULL : queue_pop(&pool->todo);
}

static void *worker(void *arg)
{
	struct pool *pool = arg;
	struct workers *w = pool->workers;
	struct job *job;

	pthread_mutex_lock(&w->lock);
	while ((job = next_job(pool))) {
		w->busy++;
		pthread_mutex_unlock(&w->lock);
		job->run(job);
		pthread_mutex_lock(&w->lock);
		w->busy--;
		queue_push(&w->finished, job);
		uv_async_send(&w->async);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---- on the loop ----------------------------------------------------------------------------- */

static void on_finished(uv_async_t *async)
{
	struct workers *w = async->data;
	struct job *job, *next;

	pthread_mutex_lock(&w->lock);
	job = w->finished.first;
	queue_init(&w->finished);
	pthread_mutex_unlock(&w->lock);
	for (; job; job = next) {
		next = job->next;
		job->done(job);
	}
}

struct workers *workers_new(uv_loop_t *loop)
{
	static const size_t max[WORKERS_MAX] = { WORKERS_NORMAL_THREADS, WORKERS_URGENT_THREADS,
		WORKERS_AGENT_THREADS, WORKERS_ERRAND_THREADS, WORKERS_PROBE_THREADS,
		WORKERS_MIGRATE_THREADS };
	struct workers *w = xcalloc(1, sizeof(*w));

	pthread_mutex_init(&w->lock, NULL);
	queue_init(&w->finished);
	for (int i = 0; i < WORKERS_MAX; i++) {
		w->pools[i].workers = w;
		w->pools[i].max = max[i];
		queue_init(&w->pools[i].todo);
		pthread_cond_init(&w->pools[i].wake, NULL);
	}
	w->async.data = w;
	if (uv_async_init(loop, &w->async, on_finished))
		abort();
	return w;
}

/* Signals are the loop's; a worker that got one would only be interrupted in its call. */
static void start_thread(struct pool *pool)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&pool->threads[pool->n_threads], NULL, worker, pool))
		pool->n_threads++;
	else if (!pool->n_threads)
		abort();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void workers_submit(struct workers *w, enum worker_pool which, struct job *job)
{
	struct pool *pool = &w->pools[which];

	pthread_mutex_lock(&w->lock);
	if (!job->run) {
		queue_push(&w->finished, job);
		uv_async_send(&w->async);
	} else {
		queue_push(&pool->todo, job);
		if (pool->todo.length > pool->idle && pool->n_threads < pool->max)
			start_thread(pool);
		pthread_cond_signal(&pool->wake);
	}
	pthread_mutex_unlock(&w->lock);
}

size_t workers_busy(const struct workers *workers)
{
	struct workers *w = (struct workers *)workers; /* the lock is not part of what is const */
	size_t busy;

	pthread_mutex_lock(&w->lock);
	busy = w->busy;
	pthread_mutex_unlock(&w->lock);
	return busy;
}

static void drop_queued(struct workers *w)
{
	struct job *job;

	for (int i = 0; i < WORKERS_MAX; i++)
		while ((job = queue_pop(&w->pools[i].todo)))
			queue_push(&w->finished, job);
	on_finished(&w->async);
}

static void on_closed(uv_handle_t *handle)
{
	struct workers *w = handle->data;

	for (int i = 0; i < WORKERS_MAX; i++)
		pthread_cond_destroy(&w->pools[i].wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void workers_free(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	for (int i = 0; i < WORKERS_MAX; i++)
		pthread_cond_broadcast(&w->pools[i].wake);
	pthread_mutex_unlock(&w->lock);
	for (int i = 0; i < WORKERS_MAX; i++)
		for (size_t t = 0; t < w->pools[i].n_threads; t++)
			pthread_join(w->pools[i].threads[t], NULL);
	drop_queued(w);
	uv_close((uv_handle_t *)&w->async, on_closed);
}
