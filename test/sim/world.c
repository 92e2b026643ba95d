/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual time: what is due next happens next, and the agent takes its turns until nothing is
 * dirty, as the loop has it do.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/agent_private.h"
#include "sim.h"

#define TURNS_MAX 200 /* in a row at one moment: more is a loop */

void world_fail(struct world *w, const char *fmt, ...)
{
	char text[900];
	const struct world *at = w;
	va_list ap;

	w = world_main(w);
	if (w->failure[0])
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(w->failure, sizeof(w->failure), "at %.3f s: %s%s%s", (double)w->t / 1000,
		w->lab ? at->node : "", w->lab ? ": " : "", text);
}

struct now world_now(const struct world *w)
{
	return (struct now){ .boot = w->t - w->boot_base, .wall = WALL_START + w->t + w->set };
}

/* ---- what is due ----------------------------------------------------------------------------- */

struct pending *world_later(struct world *w, msec delay,
	void (*fire)(struct world *w, struct pending *p))
{
	struct pending *p = LIST_ADD(w->queue, w->n_queue, w->cap_queue);

	p->at = w->t + delay;
	p->seq = ++w->seq;
	p->fire = fire;
	return p;
}

static bool is_before(const struct pending *a, const struct pending *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static struct pending *queue_first(struct world *w)
{
	struct pending *first = NULL;

	for (size_t i = 0; i < w->n_queue; i++) {
		if (!first || is_before(&w->queue[i], first))
			first = &w->queue[i];
	}
	return first;
}

static void pending_done(struct pending *p)
{
	op_done(&p->op);
	op_result_done(&p->result);
	free(p->document);
}

static bool fire_due(struct world *w)
{
	struct pending *first = queue_first(w), now;

	if (!first || first->at > w->t)
		return false;
	now = *first;
	*first = w->queue[--w->n_queue];
	if (now.fire)
		now.fire(w, &now);
	pending_done(&now);
	return true;
}

/* ---- time ------------------------------------------------------------------------------------ */

void world_settle(struct world *w)
{
	bool dirty = true;

	log_to(transcript_log, w);
	for (int turns = 0; dirty || fire_due(w); turns++) {
		dirty = w->agent && agent_turn(w->agent, world_now(w));
		if (w->dead) {
			agent_crash(w);
			dirty = false;
		}
		if (turns == TURNS_MAX) {
			world_fail(w, "the agent goes on and on");
			return;
		}
	}
	if (w->agent)
		watch_quiet(w);
	client_submit(w);
}

static msec next_time(struct world *w)
{
	const struct pending *first = queue_first(w);
	msec at = first ? first->at : NEVER;

	if (w->agent && agent_wake_at(w->agent) != NEVER)
		at = MIN(at, agent_wake_at(w->agent) + w->boot_base);
	if (w->client.waiting)
		at = MIN(at, w->client.retry_at);
	return at;
}

/* The host whose turn is next: the first one of those at the same time. */
static struct world *next_host(struct world *w)
{
	struct world *next = world_host(w, 0), *host;

	for (unsigned i = 1; (host = world_host(w, i)); i++) {
		if (next_time(host) < next_time(next))
			next = host;
	}
	return next;
}

static void set_time(struct world *w, msec t)
{
	struct world *host;

	for (unsigned i = 0; (host = world_host(w, i)); i++)
		host->t = t;
}

bool world_step(struct world *w, msec until)
{
	msec at;

	w = next_host(w);
	at = next_time(w);
	if (at > until || world_main(w)->failure[0])
		return false;
	if (at < w->t)
		at = w->t;
	set_time(w, at);
	world_settle(w);
	if (at == next_time(w) && !w->agent)
		return true;
	if (next_time(w) <= at && ++w->spins > TURNS_MAX)
		world_fail(w, "the agent wants to be woken again and again at the same time");
	if (next_time(w) > at)
		w->spins = 0;
	return true;
}

void world_run(struct world *w, msec until)
{
	while (world_step(w, until))
		;
	set_time(w, MAX(w->t, until));
}

/* ---- birth and death ------------------------------------------------------------------------- */

void world_init(struct world *w, const struct mishap *mishap)
{
	memset(w, 0, sizeof(*w));
	w->mishap = *mishap;
	w->seed = 1;
	copy_str(w->node, sizeof(w->node), "node1");
	w->boot_base = -BOOT_START;
	copy_str(w->boot_id, sizeof(w->boot_id), "A-boot");
	log_to(transcript_log, w);
	agent_prepare(w);
	if (mishap->trouble == FAULT_STORE && w->store)
		store_fail_after(w->store, mishap->n);
}

void world_done(struct world *w)
{
	lab_close(w);
	if (w->agent)
		agent_free(take(&w->agent));
	store_close(w->store);
	for (size_t i = 0; i < w->n_queue; i++)
		pending_done(&w->queue[i]);
	for (size_t i = 0; i < w->n_files; i++)
		free(w->files[i].content);
	fake_forget_lanes(w);
	client_done(&w->client);
	host_shares_done(&w->shares);
	free(w->queue);
	free(w->counted);
	buf_done(&w->log);
	log_to(NULL, NULL);
}
