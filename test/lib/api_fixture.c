/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's loop as small as it can be: a turn in each round, and the
 * hypervisor's answers after it.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "test/lib/api_fixture.h"

static struct now now_read(void)
{
	struct timespec boot, wall;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &wall);
	return (struct now){ .boot = SECONDS(boot.tv_sec) + boot.tv_nsec / 1000000,
		.wall = SECONDS(wall.tv_sec) + wall.tv_nsec / 1000000 };
}

/* ---- the hypervisor that says yes ------------------------------------------------------------ */

static void yes_start(struct hypervisor *hv)
{
	(void)hv;
}

static void yes_submit(struct hypervisor *hv, const struct op *op)
{
	struct yes_hypervisor *yes = (struct yes_hypervisor *)hv;

	ck_assert_uint_lt(yes->n_ops, YES_OPS_MAX);
	op_copy(&yes->ops[yes->n_ops++], op);
}

static struct domain_info *find_domain(struct yes_hypervisor *yes, const char *name)
{
	for (size_t i = 0; i < yes->n; i++)
		if (streq(yes->domains[i].name, name))
			return &yes->domains[i];
	return NULL;
}

static void define(struct yes_hypervisor *yes, const struct op *op)
{
	struct domain_info *d = &yes->domains[yes->n];

	ck_assert_uint_lt(yes->n++, YES_DOMAINS_MAX);
	*d = (struct domain_info){ .name = xstrdup(op->domain),
		.state = op->paused ? DOMAIN_PAUSED : DOMAIN_RUNNING,
		.active = true,
		.agent = yes->looks != NULL,
		.console = xstrdup(yes->console),
		.graphics = xstrdup(yes->graphics) };
	copy_str(d->uuid, sizeof(d->uuid), op->uuid);
	copy_str(d->owner, sizeof(d->owner), op->vmi_uid);
}

static void undefine(struct yes_hypervisor *yes, struct domain_info *d)
{
	free(d->name);
	free(d->console);
	free(d->graphics);
	*d = yes->domains[--yes->n];
}

static void stop(struct domain_info *d, enum domain_reason reason)
{
	d->state = DOMAIN_SHUTOFF;
	d->reason = reason;
	d->active = false;
}

static void execute(struct yes_hypervisor *yes, const struct op *op)
{
	struct domain_info *d = op->domain ? find_domain(yes, op->domain) : NULL;

	if (op->kind == OP_START && !d)
		define(yes, op);
	else if (op->kind == OP_SHUTDOWN && d)
		stop(d, REASON_SHUTDOWN);
	else if ((op->kind == OP_SUSPEND || op->kind == OP_RESUME) && d)
		d->state = op->kind == OP_SUSPEND ? DOMAIN_PAUSED : DOMAIN_RUNNING;
	else if (op->kind == OP_DESTROY && d)
		stop(d, REASON_DESTROYED);
	else if (op->kind == OP_UNDEFINE && d)
		undefine(yes, d);
}

/* Of a guest that accepts and hangs up. */
static int closed_port(void)
{
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	close(pair[1]);
	return pair[0];
}

static void do_errand(struct yes_hypervisor *yes, const struct op *op, struct op_result *result)
{
	yes->errand = *op;
	result->err = yes->refusal;
	if (result->err.code)
		return;
	if (op->kind == OP_FORWARD) {
		result->fd = yes->fd ? yes->fd : closed_port();
		yes->fd = 0;
		return;
	}
	result->image = xcalloc(1, yes->image_len + 1);
	memcpy(result->image, yes->image, yes->image_len);
	result->image_len = yes->image_len;
}

static void answer(struct yes_hypervisor *yes, struct op *op)
{
	struct op_result result = { .id = op->id, .kind = op->kind };
	struct domain_event event = { .kind = DOMAIN_EVENT_STOPPED, .reason = REASON_SHUTDOWN };

	execute(yes, op);
	if (op->kind == OP_LIST) {
		result.domains = yes->domains;
		result.n_domains = yes->n;
	} else if (op->kind == OP_AGENT_LOOK) {
		result.text = (char *)yes->looks;
		yes->n_looks++;
	} else if (op->kind == OP_START || op->kind == OP_READ) {
		result.domains = find_domain(yes, op->domain);
		result.n_domains = result.domains != NULL;
	} else if (op_kind_lane(op->kind) == LANE_ERRAND) {
		do_errand(yes, op, &result);
	}
	yes->hv.sink.result(yes->hv.sink.ctx, &result);
	free(result.image);
	if (result.fd)
		close(result.fd);
	if (op->kind == OP_SHUTDOWN) {
		copy_str(event.uuid, sizeof(event.uuid), op->uuid);
		copy_str(event.name, sizeof(event.name), op->domain);
		yes->hv.sink.event(yes->hv.sink.ctx, &event);
	}
	op_done(op);
}

static void answer_all(struct yes_hypervisor *yes)
{
	struct op ops[YES_OPS_MAX];
	size_t n = yes->n_ops;

	memcpy(ops, yes->ops, n * sizeof(ops[0]));
	yes->n_ops = 0;
	for (size_t i = 0; i < n; i++) {
		bool held = yes->hold && (ops[i].kind == OP_SHUTDOWN || ops[i].kind == OP_DESTROY);

		if (held || (yes->late && op_kind_lane(ops[i].kind) == LANE_ERRAND))
			yes->ops[yes->n_ops++] = ops[i];
		else
			answer(yes, &ops[i]);
	}
}

static void on_result(void *ctx, const struct op_result *result)
{
	struct api_fixture *f = ctx;
	struct input input = { .kind = INPUT_RESULT, .result = result };

	agent_input(f->agent, &input, now_read());
}

static void on_event(void *ctx, const struct domain_event *event)
{
	struct api_fixture *f = ctx;
	struct input input = { .kind = INPUT_EVENT, .event = event };

	agent_input(f->agent, &input, now_read());
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void on_turn(uv_prepare_t *prepare)
{
	struct api_fixture *f = prepare->data;

	for (int i = 0; i < 100 && !f->frozen; i++) {
		bool more = agent_turn(f->agent, now_read());

		answer_all(&f->yes);
		if (!more && !f->yes.n_ops)
			return;
	}
}

static void fake_entropy(void *ctx, void *bytes, size_t n)
{
	static const unsigned char salt = 17;

	(void)ctx;
	for (size_t i = 0; i < n; i++)
		((unsigned char *)bytes)[i] = (unsigned char)(rand() + salt);
}

static void start_agent(struct api_fixture *f)
{
	static const struct hypervisor_ops ops = { .start = yes_start, .submit = yes_submit };
	static const struct peer_config peers[] = { { "b", "host-b" }, { "c", "host-c" } };
	static const char *const roots[] = { "/tmp", NULL };
	struct input up = { .kind = INPUT_CONNECTION, .connection = { .up = true } };
	struct err err;

	f->yes.hv = (struct hypervisor){ .ops = &ops,
		.sink = { .ctx = f, .event = on_event, .result = on_result } };
	f->policy = (struct policy){ .host_disk_roots = roots, .default_namespace = "default" };
	f->options = (struct agent_options){ .policy = f->policy,
		.state_dir = "/tmp/vmagent-test",
		.node_name = "node",
		.boot_id = "boot",
		.tuning = TUNING_DEFAULT,
		.peer_list = peers,
		.n_peers = ARRAY_SIZE(peers),
		.peer_listen = "[::]",
		.capacity = { .cpus = 3, .memory = 1 << 30 },
		.entropy = fake_entropy };
	ck_assert_int_eq(store_open(":memory:", &f->store, &err), 0);
	f->options.store = f->store;
	f->options.hv = &f->yes.hv;
	ck_assert_int_eq(agent_new(&f->options, now_read(), &f->agent, &err), 0);
	agent_input(f->agent, &up, now_read());
}

void api_fixture_start(struct api_fixture *f)
{
	static char disk[] = "disk", ssd[] = "ssd", gpu[] = "gpu", none[] = "",
		    effect[] = "NoSchedule", gpus[] = "x.org/gpu", usb[] = "key", address[] = "";
	static const struct host_place place = { .labels = { { disk, ssd } },
		.n_labels = 1,
		.taints = { { gpu, none, effect } },
		.n_taints = 1 };
	static const struct host_shares shares = { .devices = { { gpus, address }, { usb, address },
							   { gpus, address } },
		.n_devices = 3 };
	struct api_options options = { .loop = &f->loop, .clock = now_read, .bookmark_ms = 200 };
	struct err err;

	*f = (struct api_fixture){ 0 };
	uv_loop_init(&f->loop);
	start_agent(f);
	f->path = xasprintf("/tmp/test_api.%d.%p.sock", (int)getpid(), (void *)f->store);
	options.agent = f->agent;
	options.store = f->store;
	options.policy = &f->policy;
	options.node_name = "node";
	options.place = &place;
	options.shares = &shares;
	options.allocatable = (struct resources){ .memory = 1 << 30, .cpu = 2500 };
	options.socket_path = f->path;
	f->ro_path = xasprintf("%s-ro", f->path);
	options.read_only = (struct http_socket){ .path = f->ro_path, .read_only = true };
	ck_assert_msg(api_new(&options, &f->api, &err) == 0, "%s", err.msg);
	f->turn.data = f;
	uv_prepare_init(&f->loop, &f->turn);
	uv_prepare_start(&f->turn, on_turn);
}

void api_fixture_stop(struct api_fixture *f)
{
	api_free(f->api);
	uv_close((uv_handle_t *)&f->turn, NULL);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&f->loop), 0);
	agent_turn(f->agent, now_read()); /* what it still owes is said to nobody */
	agent_free(f->agent);
	store_close(f->store);
	for (size_t i = 0; i < f->yes.n_ops; i++)
		op_done(&f->yes.ops[i]);
	while (f->yes.n)
		undefine(&f->yes, &f->yes.domains[0]);
	free(f->path);
	free(f->ro_path);
}

int api_ask(struct api_fixture *f, const char *line, const char *body, char **ret_body)
{
	return client_ask(&f->loop, f->path, line, body, ret_body);
}

void api_expect(struct api_fixture *f, const char *line, const char *body, int status,
	const char *text)
{
	autofree char *answered = NULL;
	int got = api_ask(f, line, body, &answered);

	ck_assert_msg(got == status && (!text || strstr(answered, text)),
		"%s: %d and '%s' expected, got %d and '%s'", line, status, text ? text : "", got,
		answered);
}

const char *api_vm(const char *name, const char *strategy)
{
	static char *text;

	free(text);
	text = xasprintf("apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n"
			 "  name: %s\n  labels:\n    app: %s\nspec:\n  runStrategy: %s\n"
			 "  template:\n    spec:\n      domain:\n        memory:\n"
			 "          guest: 64Mi\n        devices: {}\n",
		name, name, strategy);
	return text;
}

void api_until(struct api_fixture *f, const char *line, int status)
{
	time_t deadline = time(NULL) + CLIENT_DEADLINE_MS / 1000;

	while (api_ask(f, line, NULL, NULL) != status)
		ck_assert_msg(time(NULL) < deadline, "%s: never %d", line, status);
}

void api_until_text(struct api_fixture *f, const char *line, const char *text)
{
	time_t deadline = time(NULL) + CLIENT_DEADLINE_MS / 1000;
	bool there = false;

	while (!there) {
		autofree char *body = NULL;

		there = api_ask(f, line, NULL, &body) == 200 && strstr(body, text);
		ck_assert_msg(there || time(NULL) < deadline, "%s: never '%s'", line, text);
	}
}
