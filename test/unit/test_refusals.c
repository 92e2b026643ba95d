/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A refused verb changes nothing at all, and a dry run neither (semantics §5, §14 no. 4): the real
 * agent and store with a machine in every situation of §5.4 and §5.5, asked for everything that is
 * refused there. All that can be seen is compared, the private state and the change counter too;
 * only the refusal's own event may be new.
 */
#include <check.h>
#include <string.h>

#include "core/vmi_verbs.h"
#include "daemon/agent_private.h"

Suite *test_refusals_suite(void);

#define RUN "11111111-2222-3333-4444-555555555555"
#define SPEC                                                                                    \
	"{\"runStrategy\":\"%s\",\"template\":{\"spec\":{\"terminationGracePeriodSeconds\":30," \
	"\"domain\":{\"memory\":{\"guest\":\"64Mi\"},\"devices\":{},\"firmware\":{\"uuid\":"    \
	"\"0d0d0d0d-0000-4000-8000-000000000000\"},\"features\":{\"acpi\":{\"enabled\":%s}}}}}}"

struct situation {
	enum run_strategy strategy;
	int phase; /* -1: no VMI */
	bool deleted, acpi;
	unsigned queued;
	enum pause pause;
	enum domain_state state;
};

struct world {
	struct hypervisor hv;
	struct store *store;
	struct agent_options options;
	struct agent *agent;
	struct machine *m;
	unsigned answers, refused, accepted, sent;
	enum err_code code;
	const char *what; /* that was asked for */
};

static const struct now now = { 1000, 1000000 };

/* ---- the world ------------------------------------------------------------------------------- */

static void nothing(struct hypervisor *hv)
{
	(void)hv;
}

static void count_op(struct hypervisor *hv, const struct op *op)
{
	(void)op;
	((struct world *)hv)->sent++;
}

static void entropy(void *ctx, void *bytes, size_t n)
{
	(void)ctx;
	memset(bytes, 7, n);
}

static void world_begin(struct world *w)
{
	static const struct hypervisor_ops ops = { nothing, count_op };
	struct err err;

	*w = (struct world){ .hv.ops = &ops };
	ck_assert_int_eq(store_open(":memory:", &w->store, &err), 0);
	w->options = (struct agent_options){ .store = w->store,
		.hv = &w->hv,
		.policy.default_namespace = "default",
		.state_dir = "/s",
		.node_name = "node",
		.boot_id = "boot",
		.tuning = TUNING_DEFAULT,
		.entropy = entropy };
	ck_assert_int_eq(agent_new(&w->options, now, &w->agent, &err), 0);
	w->m = machines_get(&w->agent->machines, "default", "web");
}

static void world_end(struct world *w)
{
	agent_free(w->agent);
	store_close(w->store);
}

static struct vm *vm_of(const struct situation *s)
{
	struct vm *vm = xcalloc(1, sizeof(*vm));

	vm->meta = (struct object_meta){ .ns = xstrdup("default"),
		.name = xstrdup("web"),
		.uid = "22222222-2222-3333-4444-555555555555",
		.generation = 3,
		.created = 1 };
	vm->spec = xasprintf(SPEC, run_strategy_name(s->strategy), s->acpi ? "true" : "false");
	vm->strategy = vm->recorded = s->strategy;
	vm->failure = (struct start_failure){ .count = 2, .last_uid = RUN, .retry_at = 5000000 };
	vm->n_requests = s->queued;
	for (unsigned i = 0; i < s->queued; i++)
		vm->requests[i] = (struct state_request){ .action = REQUEST_START };
	return vm;
}

static struct vmi *vmi_of(const struct vm *vm, const struct situation *s)
{
	const struct step_env env = { .now = now, .uid = RUN };
	struct vmi *vmi = vmi_of_vm(vm, &env, NULL);

	vmi->phase = (enum phase)s->phase;
	vmi->meta.deleted = s->deleted ? 900000 : 0;
	vmi->pause = s->pause;
	vmi->retry_at = 7;
	vmi->tries = 3;
	vmi->prepared = true;
	return vmi;
}

/* No turn decides about it: it stays as it is, and rests. */
static void rest(struct world *w)
{
	w->agent->machines.n_queue = 0;
	w->m->dirty = false;
}

static void place(struct world *w, const struct situation *s)
{
	vm_free(take(&w->m->vm));
	vmi_free(take(&w->m->vmi));
	w->m->vm = vm_of(s);
	if (s->phase >= 0)
		w->m->vmi = vmi_of(w->m->vm, s);
	w->m->dom.state = s->state;
	copy_str(w->m->dom.owner, UID_SIZE, RUN);
	w->m->vm_changed = true;
	w->m->vmi_changed = w->m->vmi;
	agent_mark(w->agent, w->m);
	w->agent->uncommitted = true; /* so that this turn saves and decides nothing */
	agent_turn(w->agent, now);
	ck_assert(!w->agent->uncommitted);
	rest(w);
}

/* ---- all that can be seen -------------------------------------------------------------------- */

static int add_row(void *ctx, const struct object_row *row)
{
	buf_printf(ctx, "%lld %s %s\n", (long long)row->rv, row->object, row->state);
	return 0;
}

static void add_text(struct buf *b, char *text)
{
	buf_printf(b, "%s\n", text);
	free(text);
}

static char *picture(struct world *w)
{
	const struct machine *m = w->m;
	struct object_query vms = { .kind = KIND_VM }, vmis = { .kind = KIND_VMI };
	struct buf b = { 0 };

	store_each(w->store, &vms, add_row, &b, NULL);
	store_each(w->store, &vmis, add_row, &b, NULL);
	add_text(&b, vm_document(m));
	add_text(&b, vm_state(m->vm));
	if (m->vmi) {
		add_text(&b, vmi_document(m, "node"));
		add_text(&b, vmi_state(m->vmi));
		buf_printf(&b, "grace %lld\n", (long long)m->vmi->typed.grace);
	}
	buf_printf(&b, "changed %d%d dirty %d gone %d%d machines %zu origins %d ops %zu %u\n",
		m->vm_changed, m->vmi_changed, m->dirty, !!m->gone_vm, !!m->gone_vmi,
		w->agent->machines.n, w->agent->origins.changed, w->agent->n_outbox, w->sent);
	return b.data;
}

static int keep_reason(void *ctx, const struct object_row *row)
{
	replace_str(ctx, row->object);
	return 0;
}

/* The newest event is the refusal's own. */
static void check_event(struct world *w)
{
	struct object_query events = { .kind = KIND_EVENT };
	autofree char *last = NULL;

	store_each(w->store, &events, keep_reason, &last, NULL);
	ck_assert(last && strstr(last, "\"reason\":\"Refused\""));
}

static void on_answer(void *ctx, const struct answer *answer)
{
	struct world *w = ctx;

	w->answers++;
	w->code = answer->err->code;
}

/* Asks, and holds the agent to it. */
static void ask(struct world *w, struct input *input, enum err_code want)
{
	const struct request *request = &input->request;
	bool names_it = machine_meta(w->m, request->kind) && streq(request->name, "web") &&
		input->kind != INPUT_CREATE;
	int64_t rv = store_current_rv(w->store);
	autofree char *before = picture(w), *folded = NULL, *after = NULL;
	bool event = want && names_it && !request->dry_run;
	unsigned answers = w->answers;

	input->request.reply = (struct reply){ w, on_answer };
	agent_input(w->agent, input, now);
	folded = picture(w);
	ck_assert_msg(streq(folded, before), "%s changed\n%.1500s to\n%.1500s", w->what, before,
		folded);
	agent_turn(w->agent, now);
	after = picture(w);
	ck_assert_msg(streq(after, before), "%s saved\n%.1500s as\n%.1500s", w->what, before,
		after);
	ck_assert_uint_eq(w->answers, answers + 1);
	ck_assert_msg(w->code == want, "%s is answered with %d, not %d", w->what, (int)w->code,
		(int)want);
	ck_assert_msg(store_current_rv(w->store) == rv + event, "%s: %lld changes", w->what,
		(long long)(store_current_rv(w->store) - rv));
	if (event)
		check_event(w);
	w->refused += want != ERR_OK;
	w->accepted += want == ERR_OK;
}

static struct input input_of(enum input_kind kind, enum object_kind object)
{
	struct input input = { .kind = kind };

	input.request = (struct request){ .kind = object,
		.ns = "default",
		.name = "web",
		.grace = GRACE_UNSET };
	return input;
}

/* ---- start, stop, restart (§5.1-§5.3, §5.5) -------------------------------------------------- */

static const struct verb_options options[] = {
	{ 0 },
	{ .paused = true },
	{ .has_grace = true, .grace = -1 },
	{ .has_grace = true, .grace = 0 },
	{ .has_grace = true, .grace = 5 },
	{ .has_grace = true, .grace = 30 },
	{ .has_grace = true, .grace = GRACE_FOREVER_S + 1L },
};

/* What is accepted is asked for as a dry run only. */
static void ask_verb(struct world *w, enum verb verb, struct verb_options o)
{
	const struct verb_target target = { w->m->vm, w->m->vmi };
	struct input input = input_of(INPUT_VERB, KIND_VM);
	struct verb_effect effect;
	enum err_code code = (enum err_code) - verb_check(verb, &o, &target, &effect, NULL);

	w->what = verb_name(verb);
	input.request.verb = verb;
	for (int dry = code == ERR_OK; dry < 2; dry++) {
		o.dry_run = input.request.dry_run = dry;
		input.request.options = o;
		ask(w, &input, code);
	}
}

START_TEST(start_stop_restart)
{
	struct situation s = { .strategy = (enum run_strategy)_i, .acpi = true };
	struct world w;

	world_begin(&w);
	for (s.phase = -1; s.phase < PHASE_MAX; s.phase++)
		for (unsigned i = 0; i < 3; i++) {
			s.deleted = i == 1;
			s.queued = i == 2;
			place(&w, &s);
			for (size_t o = 0; o < ARRAY_SIZE(options) * VERB_MAX; o++)
				ask_verb(&w, (enum verb)(o % VERB_MAX), options[o / VERB_MAX]);
		}
	ck_assert_uint_gt(w.refused, 200);
	ck_assert(!_i || w.accepted > 30);
	world_end(&w);
}
END_TEST

/* ---- pause, unpause, softreboot, reset (§5.4) ------------------------------------------------ */

static void ask_vmi_verb(struct world *w, enum vmi_verb verb)
{
	struct vmi_verb_target target = { w->m->vmi, machine_domain_state(w->m), false };
	struct input input = input_of(INPUT_VMI_VERB, KIND_VMI);
	enum err_code code = ERR_NOT_FOUND;
	struct vmi_verb_effect effect;

	if (target.vmi)
		code = (enum err_code) - vmi_verb_check(verb, &target, false, &effect, NULL);
	w->what = vmi_verb_name(verb);
	input.request.vmi_verb = verb;
	for (int dry = code == ERR_OK; dry < 2; dry++) {
		input.request.dry_run = dry;
		ask(w, &input, code);
	}
}

static void ask_vmi_verbs(struct world *w, struct situation *s)
{
	static const enum domain_state states[] = { DOMAIN_UNKNOWN, DOMAIN_RUNNING, DOMAIN_PAUSED };

	for (unsigned i = 0; i < PAUSE_MAX * ARRAY_SIZE(states) * 4; i++) {
		s->pause = (enum pause)(i % PAUSE_MAX);
		s->state = states[i / PAUSE_MAX % ARRAY_SIZE(states)];
		s->acpi = i / (PAUSE_MAX * ARRAY_SIZE(states)) % 2;
		s->deleted = i / (PAUSE_MAX * ARRAY_SIZE(states)) / 2;
		place(w, s);
		for (int verb = 0; verb < VMI_VERB_MAX; verb++)
			ask_vmi_verb(w, (enum vmi_verb)verb);
	}
}

START_TEST(pause_unpause_softreboot_reset)
{
	struct situation s = { .strategy = STRATEGY_ALWAYS, .phase = _i };
	struct world w;

	world_begin(&w);
	ask_vmi_verbs(&w, &s);
	ck_assert_uint_gt(w.refused, 80);
	world_end(&w);
}
END_TEST

/* ---- create, replace, delete ----------------------------------------------------------------- */

static void ask_delete(struct world *w, enum object_kind kind, enum propagation propagation)
{
	struct input input = input_of(INPUT_DELETE, kind);
	bool exists = machine_meta(w->m, kind);

	w->what = "delete";
	input.request.propagation = propagation;
	input.request.grace = 3;
	input.request.dry_run = true;
	ask(w, &input, exists ? ERR_OK : ERR_NOT_FOUND);
	input.request.dry_run = false;
	input.request.if_uid = "of another";
	ask(w, &input, exists ? ERR_CONFLICT : ERR_NOT_FOUND);
	input.request.name = "nosuch";
	ask(w, &input, ERR_NOT_FOUND);
}

/* Beside a VM neither of the two can be created; and nothing is replaced that has changed
 * meanwhile. */
static void ask_write(struct world *w, enum object_kind kind)
{
	struct target t = target_find(w->agent, kind, w->m->ns, w->m->name);
	struct node *root = agent_object_tree(&t);
	struct manifest manifest = { .kind = kind, .ns = "default", .name = "web", .root = root };
	struct input create = input_of(INPUT_CREATE, kind), replace = input_of(INPUT_REPLACE, kind);
	enum err_code code = machine_meta(w->m, kind) ? ERR_EXISTS : ERR_CONFLICT;

	w->what = "create";
	create.request.manifest = replace.request.manifest = &manifest;
	ask(w, &create, code);
	create.request.dry_run = true;
	ask(w, &create, code);
	w->what = "replace";
	replace.request.if_rv = 999999;
	ask(w, &replace, machine_meta(w->m, kind) ? ERR_CONFLICT : ERR_NOT_FOUND);
	node_free(root);
}

START_TEST(create_replace_delete)
{
	struct situation s = { .strategy = STRATEGY_ALWAYS, .acpi = true };
	struct world w;

	world_begin(&w);
	for (s.phase = -1; s.phase < PHASE_MAX; s.phase++)
		for (unsigned i = 0; i < 2; i++) {
			s.deleted = i;
			place(&w, &s);
			for (int p = 0; p < PROPAGATION_MAX; p++) {
				ask_delete(&w, KIND_VM, (enum propagation)p);
				ask_delete(&w, KIND_VMI, (enum propagation)p);
			}
			ask_write(&w, KIND_VM);
			ask_write(&w, KIND_VMI);
		}
	world_end(&w);
}
END_TEST

/* §5.3: 400 comes before 404; and a run without a VM is told from nothing at all. */
START_TEST(no_vm)
{
	struct situation s = { .strategy = STRATEGY_MANUAL, .phase = PHASE_RUNNING };
	struct input input = input_of(INPUT_VERB, KIND_VM);
	struct world w;

	world_begin(&w);
	place(&w, &s);
	input.request.name = "nosuch";
	for (int verb = 0; verb < VERB_MAX; verb++) {
		w.what = verb_name((enum verb)verb);
		input.request.verb = (enum verb)verb;
		input.request.options = (struct verb_options){ 0 };
		ask(&w, &input, ERR_NOT_FOUND);
		input.request.options = (struct verb_options){ .has_grace = true, .grace = -1 };
		ask(&w, &input, verb == VERB_START ? ERR_NOT_FOUND : ERR_BAD_REQUEST);
	}
	world_end(&w);
}
END_TEST

Suite *test_refusals_suite(void)
{
	Suite *s = suite_create("refusals change nothing (§5, §14 no. 4)");
	TCase *t = tcase_create("every cell");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, start_stop_restart, 0, STRATEGY_MAX);
	tcase_add_loop_test(t, pause_unpause_softreboot_reset, 0, PHASE_MAX);
	tcase_add_test(t, create_replace_delete);
	tcase_add_test(t, no_vm);
	suite_add_tcase(s, t);
	return s;
}
