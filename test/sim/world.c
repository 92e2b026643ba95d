/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual time and the agent's life: what is due next happens next, and the agent takes its turns until
 * nothing is dirty, as the loop has it do. A crash is agent_free() with the store kept.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/agent_private.h"
#include "io/store_private.h"
#include "sim.h"

#define TURNS_MAX  200 /* in a row at one moment: more is a loop */
#define START_TIME 50  /* from an agent's death to the next one's life */

void world_fail(struct world *w, const char *fmt, ...)
{
	char text[900];
	va_list ap;

	if (w->failure[0])
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(w->failure, sizeof(w->failure), "at %.3f s: %s", (double)w->t / 1000, text);
}

struct now world_now(const struct world *w)
{
	return (struct now){ .boot = w->t - w->boot_base, .wall = WALL_START + w->t };
}

/* splitmix64 */
static void entropy(void *ctx, void *bytes, size_t n)
{
	struct world *w = ctx;
	unsigned char *out = bytes;

	for (size_t i = 0; i < n; i++) {
		uint64_t z = w->seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		out[i] = (unsigned char)(z >> 56);
	}
}

/* ---- what is due --------------------------------------------------------------------------------- */

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

/* ---- the agent ------------------------------------------------------------------------------------ */

/* The store's own moment of truth: nonzero turns the commit into a rollback. */
static int on_commit(void *ctx)
{
	struct world *w = ctx;
	enum trouble trouble = w->mishap.trouble;

	if (w->store_down)
		return 1;
	w->commits++;
	if (w->happened || w->commits != w->mishap.n)
		return 0;
	if (trouble != CRASH_BEFORE_COMMIT && trouble != CRASH_AFTER_COMMIT)
		return 0;
	w->dead = w->happened = true;
	return trouble == CRASH_BEFORE_COMMIT;
}

bool world_action(struct world *w)
{
	if (w->dead)
		return false;
	w->actions++;
	if (w->mishap.trouble == CRASH_AFTER_ACTION && w->actions == w->mishap.n && !w->happened)
		w->dead = w->happened = true;
	return true;
}

static void on_committed(void *ctx, int64_t rv)
{
	struct world *w = ctx;

	(void)rv;
	if (!w->dead)
		watch_commit(w);
}

static void sink_connection(void *ctx, bool up, const char *why)
{
	struct input input = { .kind = INPUT_CONNECTION, .connection = { up, why } };

	world_input(ctx, &input);
}

static void sink_event(void *ctx, const struct domain_event *event)
{
	struct input input = { .kind = INPUT_EVENT, .event = event };

	world_input(ctx, &input);
}

static void sink_result(void *ctx, const struct op_result *result)
{
	struct input input = { .kind = INPUT_RESULT, .result = result };

	world_input(ctx, &input);
}

void world_input(struct world *w, const struct input *input)
{
	if (w->agent)
		agent_input(w->agent, input, world_now(w));
}

static void start_agent(struct world *w)
{
	struct err err;

	w->life++;
	w->dead = false;
	w->options.store = w->store;
	w->options.hv = &w->hv;
	w->options.boot_id = w->boot_id;
	fake_start(w);
	if (agent_new(&w->options, world_now(w), &w->agent, &err) < 0) {
		world_fail(w, "the agent does not start: %s", err.msg);
		return;
	}
	agent_on_commit(w->agent, on_committed, w);
	hv_start(&w->hv);
	folder_scan(w);
}

void agent_up(struct world *w)
{
	w->wanted = true;
	if (!w->agent)
		start_agent(w);
	world_settle(w);
}

void agent_end(struct world *w)
{
	if (w->agent)
		agent_free(take(&w->agent));
	w->life++;
	w->fake.linked = false;
	w->client.lost |= w->client.waiting && w->client.sent;
}

/* kill -9 by the scenario: its ops go on. */
void agent_down(struct world *w)
{
	w->wanted = false;
	agent_end(w);
	fake_drop_ops(w, FATE_FINISH);
}

static void rise(struct world *w, struct pending *p)
{
	(void)p;
	if (w->wanted && !w->agent)
		start_agent(w);
}

static void crash(struct world *w)
{
	agent_end(w);
	fake_drop_ops(w, w->mishap.fate);
	w->dead = false;
	world_later(w, START_TIME, rise);
}

/* ---- time ------------------------------------------------------------------------------------------ */

void world_settle(struct world *w)
{
	bool dirty = true;

	for (int turns = 0; dirty || fire_due(w); turns++) {
		dirty = w->agent && agent_turn(w->agent, world_now(w));
		if (w->dead) {
			crash(w);
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

bool world_step(struct world *w, msec until)
{
	msec at = next_time(w);

	if (at > until || w->failure[0])
		return false;
	if (at < w->t)
		at = w->t;
	w->t = at;
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
	w->t = MAX(w->t, until);
}

/* ---- birth and death -------------------------------------------------------------------------------- */

void world_init(struct world *w, const struct mishap *mishap)
{
	static const char *const roots[] = { "/disks", NULL };
	struct err err;

	memset(w, 0, sizeof(*w));
	w->mishap = *mishap;
	w->seed = 1;
	w->boot_base = -BOOT_START;
	copy_str(w->boot_id, sizeof(w->boot_id), "A-boot");
	w->options = (struct agent_options){
		.policy = { .host_disk_roots = roots, .default_namespace = "default" },
		.state_dir = "/state",
		.node_name = "node1",
		.entropy = entropy,
		.entropy_ctx = w,
	};
	w->hv.sink = (struct hv_sink){ w, sink_connection, sink_event, sink_result };
	log_to(transcript_log, w);
	if (store_open(":memory:", &w->store, &err) < 0) {
		world_fail(w, "%s", err.msg);
		return;
	}
	sqlite3_commit_hook(w->store->db, on_commit, w);
	if (mishap->trouble == FAULT_STORE)
		store_fail_after(w->store, mishap->n);
}

void world_done(struct world *w)
{
	if (w->agent)
		agent_free(take(&w->agent));
	store_close(w->store);
	for (size_t i = 0; i < w->n_queue; i++)
		pending_done(&w->queue[i]);
	for (size_t i = 0; i < w->n_files; i++)
		free(w->files[i].content);
	fake_forget_lanes(w);
	client_done(&w->client);
	free(w->queue);
	buf_done(&w->log);
	log_to(NULL, NULL);
}
