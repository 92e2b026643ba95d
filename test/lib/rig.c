/* SPDX-License-Identifier: Apache-2.0 */
/* The rig: turns and answers until nothing is left to do, then time passes to the next deadline. */
#include "rig.h"

#include <check.h>
#include <string.h>

#include "io/store_private.h"

/* By which the change counter of a new database is above the lost one's. */
#define COUNTER_STEP 1000000

/* ---- the domain ------------------------------------------------------------------------------ */

static void on_submit(struct hypervisor *hv, const struct op *op)
{
	struct rig *r = (struct rig *)hv;

	if (r->hung && op_kind_lane(op->kind) == LANE_ERRAND) {
		r->hung_op = op->id;
		return;
	}
	ck_assert_uint_lt(r->n_ops, RIG_OPS_MAX);
	op_copy(&r->ops[r->n_ops++], op);
}

static void on_start(struct hypervisor *hv)
{
	(void)hv;
}

static void show_domain(const struct rig *r, struct op_result *result)
{
	if (r->dom.state == DOMAIN_NONE)
		return;
	result->domains = xcalloc(1, sizeof(*result->domains));
	result->domains[0] = r->dom;
	result->domains[0].name = xstrdup(r->dom.name);
	result->n_domains = 1;
}

static void start_domain(struct rig *r, const struct op *op, struct op_result *result)
{
	result->err = r->refusal;
	if (result->err.code)
		return;
	replace_str(&r->dom.name, op->domain);
	copy_str(r->dom.uuid, UID_SIZE, op->uuid);
	copy_str(r->dom.owner, UID_SIZE, op->vmi_uid);
	rig_domain(r, DOMAIN_RUNNING, REASON_UNKNOWN);
	show_domain(r, result);
}

static void signal_domain(struct rig *r)
{
	if (r->deaf)
		return;
	rig_event(r, DOMAIN_EVENT_SHUTDOWN);
	rig_domain(r, DOMAIN_SHUTOFF, REASON_SHUTDOWN);
}

static void work(struct rig *r, const struct op *op, struct op_result *result)
{
	switch (op->kind) {
	case OP_LIST:
	case OP_READ:
		show_domain(r, result);
		return;
	case OP_START:
		start_domain(r, op, result);
		return;
	case OP_SHUTDOWN:
		signal_domain(r);
		return;
	case OP_DESTROY:
		rig_domain(r, DOMAIN_SHUTOFF, REASON_DESTROYED);
		return;
	case OP_SUSPEND:
		rig_domain(r, DOMAIN_PAUSED, REASON_USER);
		return;
	case OP_RESUME:
		rig_domain(r, DOMAIN_RUNNING, REASON_UNKNOWN);
		return;
	case OP_UNDEFINE:
		rig_domain(r, DOMAIN_NONE, REASON_UNKNOWN);
		return;
	case OP_WORDS:
		result->words = xstrdup(r->words);
		return;
	case OP_NONE:
	case OP_PREPARE:
	case OP_REBOOT:
	case OP_RESET:
	case OP_CLEAN:
	case OP_PURGE:
	case OP_DROP:
	case OP_FILL:
	case OP_CLAIM:
	case OP_AGENT_SHUTDOWN:
	case OP_AGENT_REBOOT:
	case OP_AGENT_TIME:
	case OP_AGENT_INFO:
	case OP_AGENT_CREDENTIALS:
	case OP_AGENT_LOOK:
	case OP_PROBE:
	case OP_DESCRIBE:
	case OP_SCREENSHOT:
	case OP_FORWARD:
	case OP_COMPARE:
	case OP_LOOK:
	case OP_MIGRATE_PREPARE:
	case OP_MIGRATE:
	case OP_MIGRATE_WATCH:
	case OP_MIGRATE_PASS:
	case OP_MIGRATE_RELAY:
	case OP_MIGRATE_SEAL:
	case OP_MIGRATE_ABORT:
	case OP_MIGRATE_ANNOUNCE:
	case OP_MIGRATE_READ_NVRAM:
	case OP_MIGRATE_WRITE_NVRAM:
	case OP_MIGRATE_RESUME:
	case OP_KIND_MAX:
		return;
	}
}

static void answer(struct rig *r)
{
	struct op op = r->ops[0];
	struct op_result result = { .id = op.id, .kind = op.kind };
	struct input input = { .kind = INPUT_RESULT, .result = &result };

	memmove(r->ops, r->ops + 1, --r->n_ops * sizeof(op));
	work(r, &op, &result);
	agent_input(r->agent, &input, r->now);
	op_result_done(&result);
	op_done(&op);
}

static void settle(struct rig *r)
{
	for (unsigned n = 0; agent_turn(r->agent, r->now) || r->n_ops; n++) {
		ck_assert_uint_lt(n, 1000);
		if (r->n_ops)
			answer(r);
	}
}

void rig_run(struct rig *r, unsigned seconds)
{
	msec end = r->now.boot + SECONDS(seconds), before, next;

	settle(r);
	while ((next = agent_wake_at(r->agent)) <= end) {
		before = r->now.boot;
		r->now.boot = MAX(next, before + 1);
		r->now.wall += r->now.boot - before;
		settle(r);
	}
	r->now.wall += MAX(end - r->now.boot, 0);
	r->now.boot = MAX(end, r->now.boot);
}

void rig_domain(struct rig *r, enum domain_state state, enum domain_reason reason)
{
	r->dom.state = state;
	r->dom.reason = reason;
	r->dom.active = state == DOMAIN_RUNNING || state == DOMAIN_PAUSED ||
		state == DOMAIN_CRASHED;
}

void rig_event(struct rig *r, enum domain_event_kind kind)
{
	struct domain_event event = { .kind = kind, .guest = kind == DOMAIN_EVENT_SHUTDOWN };
	struct input input = { .kind = INPUT_EVENT, .event = &event };

	copy_str(event.disk, sizeof(event.disk), "root");
	copy_str(event.io_reason, sizeof(event.io_reason), "enospc");
	copy_str(event.uuid, UID_SIZE, r->dom.uuid);
	copy_str(event.name, sizeof(event.name), r->dom.name);
	agent_input(r->agent, &input, r->now);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void on_answer(void *ctx, const struct answer *a)
{
	(void)ctx;
	(void)a;
}

static void request(struct rig *r, struct input *input)
{
	input->request.actor = (struct actor){ .kind = ACTOR_USER, .uid = 1000 };
	input->request.reply.answer = on_answer;
	input->request.ns = "default";
	input->request.name = "web";
	agent_input(r->agent, input, r->now);
}

void rig_create(struct rig *r, const char *strategy)
{
	autofree char *text =
		xasprintf("{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: web}, "
			  "spec: {runStrategy: %s, template: {spec: {domain: {memory: {guest: 64Mi},"
			  " devices: {panicDevices: [{model: isa}]}}}}}}",
			strategy);
	struct findings findings = { 0 };
	struct documents docs = { 0 };
	struct manifest manifest;
	struct place place;
	struct input input = { .kind = INPUT_CREATE,
		.request = { .kind = KIND_VM, .manifest = &manifest } };

	ck_assert_int_eq(nodes_parse(text, strlen(text), &docs, &place, NULL), 0);
	ck_assert_int_eq(manifest_check(docs.roots[0], &r->options.policy, &manifest, &findings),
		0);
	request(r, &input);
	manifest_done(&manifest);
	findings_done(&findings);
	documents_done(&docs);
}

void rig_verb(struct rig *r, enum verb verb, const struct verb_options *options)
{
	struct input input = { .kind = INPUT_VERB, .request = { .kind = KIND_VM, .verb = verb } };

	if (options)
		input.request.options = *options;
	request(r, &input);
}

void rig_vmi_verb(struct rig *r, enum vmi_verb verb)
{
	struct input input = { .kind = INPUT_VMI_VERB,
		.request = { .kind = KIND_VMI, .vmi_verb = verb } };

	request(r, &input);
}

void rig_delete(struct rig *r, enum object_kind kind)
{
	struct input input = { .kind = INPUT_DELETE,
		.request = { .kind = kind, .grace = GRACE_UNSET } };

	request(r, &input);
}

/* ---- lives ----------------------------------------------------------------------------------- */

static void entropy(void *ctx, void *bytes, size_t n)
{
	struct rig *r = ctx;

	for (size_t i = 0; i < n; i++)
		((unsigned char *)bytes)[i] = r->seed++;
}

static void open_agent(struct rig *r)
{
	struct input up = { .kind = INPUT_CONNECTION, .connection = { true, NULL } };
	struct input folder = { .kind = INPUT_FOLDER, .folder = { .complete = true } };

	r->options.store = r->store;
	r->options.boot_id = r->boot_id;
	ck_assert_int_eq(agent_new(&r->options, r->now, &r->agent, NULL), 0);
	agent_input(r->agent, &folder, r->now);
	agent_input(r->agent, &up, r->now);
	rig_run(r, 10);
}

void rig_begin(struct rig *r)
{
	static const struct hypervisor_ops ops = { on_start, on_submit };

	*r = (struct rig){ .hv.ops = &ops, .boot_id = "a", .dom.state = DOMAIN_NONE };
	r->now = (struct now){ .boot = SECONDS(1000), .wall = SECONDS(1795910400) };
	r->options = (struct agent_options){ .hv = &r->hv,
		.policy.default_namespace = "default",
		.state_dir = "/state",
		.node_name = "node1",
		.tuning = TUNING_DEFAULT,
		.entropy = entropy,
		.entropy_ctx = r };
	ck_assert_int_eq(store_open(":memory:", &r->store, NULL), 0);
	open_agent(r);
}

static void close_agent(struct rig *r)
{
	agent_free(r->agent);
	for (size_t i = 0; i < r->n_ops; i++)
		op_done(&r->ops[i]);
	r->n_ops = 0;
}

void rig_restart(struct rig *r)
{
	close_agent(r);
	open_agent(r);
}

void rig_lose_database(struct rig *r)
{
	int64_t rv = store_current_rv(r->store) + COUNTER_STEP;

	close_agent(r);
	store_close(r->store);
	ck_assert_int_eq(store_open(":memory:", &r->store, NULL), 0);
	r->store->rv = r->store->committed = rv;
	r->options.rebuilt = true;
	open_agent(r);
	r->options.rebuilt = false;
}

void rig_end(struct rig *r)
{
	close_agent(r);
	store_close(r->store);
	free(r->dom.name);
}
