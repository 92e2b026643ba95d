/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what a peer tells of a guest that it would send here: a real agent, with a store in
 * memory, is asked whether it could come, then to make ready for it, and told that it is its own.
 * Whatever it says, the agent answers or does not; nothing of another name is there afterwards, and
 * what is there can be read again.
 */
#include <string.h>

#include "daemon/agent_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MIGRATION "5e1f0000-0000-4000-8000-000000000001"
#define DATABASE  "5e1f0000-0000-4000-8000-000000000002"
#define OPS_MAX   32
#define TURNS_MAX 40

struct world {
	struct hypervisor hv; /* first */
	struct now now;
	uint8_t seed;
	struct agent_options options;
	struct agent *agent;
	struct op ops[OPS_MAX]; /* submitted, not answered */
	size_t n_ops;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void publish(struct peer_port *port, const struct peer_status *status)
{
	(void)port;
	(void)status;
}

static void send(struct peer_port *port, const char *peer, const struct handover *handover)
{
	(void)port;
	(void)peer;
	require(handover->kind < HANDOVER_MAX);
}

static void entropy(void *ctx, void *bytes, size_t n)
{
	struct world *w = ctx;

	for (size_t i = 0; i < n; i++)
		((uint8_t *)bytes)[i] = w->seed = (uint8_t)(w->seed * 29 + 13);
}

static void hv_start_nothing(struct hypervisor *hv)
{
	(void)hv;
}

static void keep_op(struct hypervisor *hv, const struct op *op)
{
	struct world *w = (struct world *)hv;

	require(w->n_ops < OPS_MAX);
	op_copy(&w->ops[w->n_ops++], op);
}

/* libvirt has done it at once, and has nothing to tell; so it is asked again and again. */
static void answer(struct world *w)
{
	struct op op = w->ops[0];
	struct op_result result = { .id = op.id, .kind = op.kind };
	struct input input = { .kind = INPUT_RESULT, .result = &result };

	memmove(w->ops, w->ops + 1, --w->n_ops * sizeof(op));
	agent_input(w->agent, &input, w->now);
	op_done(&op);
}

static void settle(struct world *w)
{
	for (unsigned n = 0; n < TURNS_MAX && (agent_turn(w->agent, w->now) || w->n_ops); n++)
		if (w->n_ops)
			answer(w);
	w->now.boot += SECONDS(1);
	w->now.wall += SECONDS(1);
}

static void hear(struct world *w, const struct input *input)
{
	agent_input(w->agent, input, w->now);
	settle(w);
}

static void hear_peer(struct world *w, const struct peer_event *event)
{
	hear(w, &(struct input){ .kind = INPUT_PEER, .peer = event });
}

static void start(struct world *w)
{
	static const struct peer_hello hello = { .version = 2, .node = "b" };

	require(agent_new(&w->options, w->now, &w->agent, NULL) == 0);
	hear(w, &(struct input){ .kind = INPUT_FOLDER, .folder = { .complete = true } });
	hear(w, &(struct input){ .kind = INPUT_CONNECTION, .connection = { true, NULL } });
	hear_peer(w,
		&(struct peer_event){ .kind = PEER_UP,
			.name = "b",
			.hello = &hello,
			.expires = NEVER });
}

static void stop(struct world *w)
{
	agent_free(w->agent);
	while (w->n_ops)
		op_done(&w->ops[--w->n_ops]);
}

static void say(struct world *w, enum handover_kind kind, const char *document)
{
	struct handover h = { .kind = kind,
		.migration = MIGRATION,
		.database = DATABASE,
		.epoch = 2,
		.document = document };

	hear_peer(w, &(struct peer_event){ .kind = PEER_HANDOVER, .name = "b", .handover = &h });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct hypervisor_ops hv_ops = { hv_start_nothing, keep_op };
	static const struct peer_port_ops ops = { .publish = publish, .send = send };
	static const struct peer_config peers[] = { { .name = "b", .address = "b:1" } };
	static struct peer_port port = { .ops = &ops };
	autofree char *document = xstrndup((const char *)data, size);
	struct world w = { .hv.ops = &hv_ops, .now = { SECONDS(1000), SECONDS(1795910400) } };
	struct store *store;

	require(store_open(":memory:", &store, NULL) == 0);
	w.options = (struct agent_options){ .hv = &w.hv,
		.store = store,
		.boot_id = "a",
		.policy.default_namespace = "default",
		.state_dir = "/state",
		.node_name = "node1",
		.tuning = TUNING_DEFAULT,
		.peers = &port,
		.peer_list = peers,
		.n_peers = ARRAY_SIZE(peers),
		.migrations = true,
		.entropy = entropy,
		.entropy_ctx = &w };
	start(&w);
	say(&w, HANDOVER_CHECK, document);
	require(w.agent->machines.n == 0); /* nothing is made */
	say(&w, HANDOVER_PREPARE, document);
	require(w.agent->machines.n <= 1);
	require(w.agent->migrations.n == w.agent->machines.n);
	say(&w, HANDOVER_COMMIT, document);
	require(w.agent->machines.n <= 1);
	stop(&w);
	start(&w); /* what was stored is read again */
	say(&w, HANDOVER_ABORT, NULL);
	stop(&w);
	store_close(store);
	return 0;
}
