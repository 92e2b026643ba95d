/* SPDX-License-Identifier: Apache-2.0 */
#include "test/lib/bare_agent.h"

static void start_nothing(struct hypervisor *hv)
{
	(void)hv;
}

static void keep_op(struct hypervisor *hv, const struct op *op)
{
	struct bare_agent *a = (struct bare_agent *)hv;

	if (a->n_ops < BARE_OPS_MAX)
		op_copy(&a->ops[a->n_ops++], op);
}

/* The same each time. */
static void entropy(void *ctx, void *bytes, size_t n)
{
	struct bare_agent *a = ctx;

	for (size_t i = 0; i < n; i++)
		((uint8_t *)bytes)[i] = a->seed = (uint8_t)(a->seed * 29 + 13);
}

void bare_agent_init(struct bare_agent *a, struct now now)
{
	static const struct hypervisor_ops ops = { start_nothing, keep_op };

	a->hv.ops = &ops;
	a->now = now;
	if (store_open(":memory:", &a->store, NULL) < 0)
		abort();
	a->options = (struct agent_options){ .store = a->store,
		.hv = &a->hv,
		.policy.default_namespace = "default",
		.state_dir = "/state",
		.node_name = "node",
		.boot_id = "boot",
		.tuning = TUNING_DEFAULT,
		.entropy = entropy,
		.entropy_ctx = a };
}

static void stop(struct bare_agent *a)
{
	agent_free(take(&a->agent));
	while (a->n_ops)
		op_done(&a->ops[--a->n_ops]);
}

void bare_agent_start(struct bare_agent *a)
{
	stop(a);
	if (agent_new(&a->options, a->now, &a->agent, NULL) < 0)
		abort();
}

struct op bare_agent_take(struct bare_agent *a, size_t i)
{
	struct op op = a->ops[i];

	a->ops[i] = a->ops[--a->n_ops];
	return op;
}

void bare_agent_done(struct bare_agent *a)
{
	stop(a);
	store_close(a->store);
}
