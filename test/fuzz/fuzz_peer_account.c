/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what a peer tells of a guest that it would send here: a real agent, with a store in
 * memory, is asked whether it could come, then to make ready for it, and told that it is its own.
 * Whatever it says, the agent answers or does not; nothing of another name is there afterwards, and
 * what is there can be read again.
 */
#include "daemon/agent_private.h"
#include "test/lib/bare_agent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MIGRATION "5e1f0000-0000-4000-8000-000000000001"
#define DATABASE  "5e1f0000-0000-4000-8000-000000000002"
#define TURNS_MAX 40

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

/* libvirt has done it at once, and has nothing to tell; so it is asked again and again. */
static void answer(struct bare_agent *a)
{
	struct op op = bare_agent_take(a, 0);
	struct op_result result = { .id = op.id, .kind = op.kind };
	struct input input = { .kind = INPUT_RESULT, .result = &result };

	agent_input(a->agent, &input, a->now);
	op_done(&op);
}

static void settle(struct bare_agent *a)
{
	for (unsigned n = 0; n < TURNS_MAX && (agent_turn(a->agent, a->now) || a->n_ops); n++)
		if (a->n_ops)
			answer(a);
	require(a->n_ops < BARE_OPS_MAX);
	a->now.boot += SECONDS(1);
	a->now.wall += SECONDS(1);
}

static void hear(struct bare_agent *a, const struct input *input)
{
	agent_input(a->agent, input, a->now);
	settle(a);
}

static void hear_peer(struct bare_agent *a, const struct peer_event *event)
{
	hear(a, &(struct input){ .kind = INPUT_PEER, .peer = event });
}

static void start(struct bare_agent *a)
{
	static const struct peer_hello hello = { .version = 2, .node = "b" };

	bare_agent_start(a);
	hear(a, &(struct input){ .kind = INPUT_FOLDER, .folder = { .complete = true } });
	hear(a, &(struct input){ .kind = INPUT_CONNECTION, .connection = { true, NULL } });
	hear_peer(a,
		&(struct peer_event){ .kind = PEER_UP,
			.name = "b",
			.hello = &hello,
			.expires = NEVER });
}

static void say(struct bare_agent *a, enum handover_kind kind, const char *document)
{
	struct handover h = { .kind = kind,
		.migration = MIGRATION,
		.database = DATABASE,
		.epoch = 2,
		.document = document };

	hear_peer(a, &(struct peer_event){ .kind = PEER_HANDOVER, .name = "b", .handover = &h });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct peer_port_ops ops = { .publish = publish, .send = send };
	static const struct peer_config peers[] = { { .name = "b", .address = "b:1" } };
	static struct peer_port port = { .ops = &ops };
	autofree char *document = xstrndup((const char *)data, size);
	struct bare_agent a = { .n_ops = 0 };

	bare_agent_init(&a, (struct now){ SECONDS(1000), SECONDS(1795910400) });
	a.options.peers = &port;
	a.options.peer_list = peers;
	a.options.n_peers = ARRAY_SIZE(peers);
	a.options.migrations = true;
	start(&a);
	say(&a, HANDOVER_CHECK, document);
	require(a.agent->machines.n == 0); /* nothing is made */
	say(&a, HANDOVER_PREPARE, document);
	require(a.agent->machines.n <= 1);
	require(a.agent->migrations.n == a.agent->machines.n);
	say(&a, HANDOVER_COMMIT, document);
	require(a.agent->machines.n <= 1);
	start(&a); /* what was stored is read again */
	say(&a, HANDOVER_ABORT, NULL);
	bare_agent_done(&a);
	return 0;
}
