/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's life in the world: how it begins, what it commits and lets leave, and how it is
 * killed at a chosen commit or action. A crash is agent_free() with the store kept.
 */
#include <string.h>

#include "io/store_private.h"
#include "sim.h"

#define START_TIME 50 /* from an agent's death to the next one's life */

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

/* The store's own moment of truth: nonzero turns the commit into a rollback. */
static int on_commit(void *ctx)
{
	struct world *w = ctx;
	enum trouble trouble = w->mishap.trouble;

	if (w->store_down)
		return 1;
	w->commits++;
	if (!w->happened && w->commits == w->mishap.n)
		w->dead = trouble == CRASH_BEFORE_COMMIT || trouble == CRASH_AFTER_COMMIT;
	w->happened |= w->dead;
	if (w->dead && trouble == CRASH_BEFORE_COMMIT)
		return 1;
	w->lost = false;
	return 0;
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

	if (!w->dead)
		watch_commit(w, rv);
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
	log_to(transcript_log, w);
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
	w->options.rebuilt = w->lost;
	log_to(transcript_log, w);
	fake_start(w);
	if (agent_new(&w->options, world_now(w), &w->agent, &err) < 0) {
		world_fail(w, "the agent does not start: %s", err.msg);
		return;
	}
	agent_on_commit(w->agent, on_committed, w);
	hv_start(&w->hv);
	folder_scan(w);
	lab_changed(w);
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
	memset(w->told_up, 0, sizeof(w->told_up));
	lab_changed(w);
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

void agent_crash(struct world *w)
{
	agent_end(w);
	fake_drop_ops(w, w->mishap.fate);
	w->dead = false;
	world_later(w, START_TIME, rise);
}

void agent_prepare(struct world *w)
{
	static const char *const roots[] = { "/disks", NULL };
	static char claims[] = "/disks/pvc", ssd[] = "ssd", ssd_claims[] = "/disks/ssd";
	static const struct storage storage = { .directory = claims,
		.classes = { { ssd, ssd_claims } },
		.n_classes = 1 };
	static char hostname[] = "kubernetes.io/hostname";
	struct err err;

	w->options = (struct agent_options){
		.policy = { .host_disk_roots = roots, .default_namespace = "default" },
		.state_dir = "/state",
		.storage = &storage,
		.node_name = w->node,
		.place = { .name = w->node, .labels = { { hostname, w->node } }, .n_labels = 1 },
		.tuning = TUNING_DEFAULT,
		.entropy = entropy,
		.entropy_ctx = w,
		.shares = &w->shares,
	};
	lab_prepare(w);
	w->hv.sink = (struct hv_sink){ w, sink_connection, sink_event, sink_result };
	if (store_open(":memory:", &w->store, &err) < 0)
		world_fail(w, "%s", err.msg);
	else
		sqlite3_commit_hook(w->store->db, on_commit, w);
}
